"""The rows of a file that this program did not write: found by `doctor`, refused by `restore`, put aside by a repair.

Bad rows are those that no reader takes (`find_bad_rows` decodes every memory, and looks at what is stored with them); odd rows are
memories that a reader takes but that do not fit. A repair writes both to quarantine as JSON lines (`put_aside`). Bad rows leave the store;
odd ones stay where that can be, untrusted, with an entry in the log that says why.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from string import Template
from typing import TYPE_CHECKING, Any

from hybrid_memory.clock import to_micros
from hybrid_memory.language.text import content_hash
from hybrid_memory.model import MemoryId
from hybrid_memory.private_files import write_private
from hybrid_memory.store.audit_chain import SALT_BYTES, LogHead, chained
from hybrid_memory.store.duck import tables
from hybrid_memory.store.duck.duckdb_errors import translated
from hybrid_memory.store.duck.memory_table import UNREADABLE, memory_of
from hybrid_memory.store.duck.recovery import quarantine
from hybrid_memory.store.duck.recovery.quarantine import RecoveryReport
from hybrid_memory.store.encoding import to_json
from hybrid_memory.store.memory_fields import MEMORY_FIELDS, MOST, PLAIN_TYPES, TEXT
from hybrid_memory.store.odd_rows import OddRows, RowKey, find_odd_rows
from hybrid_memory.store.sql.rows import readable_object
from hybrid_memory.store.writing import ChangeType, LogEntry

if TYPE_CHECKING:
    from pathlib import Path

    from hybrid_memory.model import Memory
    from hybrid_memory.store.duck.sql_session import SqlSession
    from hybrid_memory.store.transfer import Refusal

ROWS = "rows.jsonl"
SPAN_ROWS = 2048
"""What DuckDB reads at once: damage in one row takes the others along, and a smaller span would not find more readable rows."""
_FIRST = to_micros(datetime.min.replace(tzinfo=UTC))  # what the calendar holds
_LAST = to_micros(datetime.max.replace(tzinfo=UTC))

# Only names of tables and columns that are this program's own, and numbers of embedders, are put into these.
_COLUMNS = """
    SELECT column_name FROM system.main.duckdb_columns() WHERE table_name = 'memory'
        AND database_name = CASE WHEN $1 = '' THEN system.main.current_database() ELSE $1 END
"""
_THERE = """
    SELECT table_name FROM system.main.duckdb_tables()
    WHERE database_name = CASE WHEN $1 = '' THEN system.main.current_database() ELSE $1 END
"""
_NUMBERS = Template("SELECT abs(number) FROM ${prefix}embedder")
_BOUNDS = Template("SELECT min(rowid), max(rowid) FROM ${prefix}memory")
_MEMORIES = Template("SELECT rowid, $columns FROM ${prefix}memory WHERE rowid BETWEEN $$1 AND $$2")
_TEXTS = Template("SELECT rowid, $column FROM ${prefix}$table")
_IMPOSSIBLE = Template("SELECT rowid FROM ${prefix}$table WHERE $condition")
_MOMENT = f"BETWEEN {_FIRST} AND {_LAST}"
_BESIDE: Mapping[str, str] = {
    "usage": f"accessed_at NOT {_MOMENT} OR count < 0",
    "log": (
        f"change NOT IN ('put', 'patch', 'purge') OR made_at NOT {_MOMENT} OR position NOT BETWEEN 1 AND {MOST}"
        f" OR rev NOT BETWEEN {-MOST} AND {MOST}"
    ),
    "buffer": f"touched_at NOT {_MOMENT}",
    "request": f"made_at NOT {_MOMENT} OR position NOT BETWEEN 0 AND {MOST}",
    "namespace": f"trimmed_before NOT BETWEEN 0 AND {MOST}",
    "conversation": f"last NOT BETWEEN {-MOST} AND {MOST}",
    "reading": (
        f"number NOT BETWEEN 1 AND {MOST} OR read_at NOT {_MOMENT} OR matched NOT BETWEEN 0 AND {MOST} OR tokens NOT BETWEEN 0 AND {MOST}"
        " OR way NOT IN ('tool', 'hook', 'resource', 'prompt') OR asked NOT IN ('question', 'more', 'brief', 'ids', 'latest')"
        " OR outcome NOT IN ('found', 'weak', 'unknown', 'nothing')"
        " OR json_type(CASE WHEN json_valid(shown) THEN shown END) IS DISTINCT FROM 'ARRAY'"
    ),
    "undo": f"made_at NOT {_MOMENT}",
}
_VECTOR = "NOT isfinite(list_sum(vec::FLOAT[])) OR list_count(vec::FLOAT[]) <> len(vec::FLOAT[])"
_JSON_COLUMNS = {"request": "result", "entry": "body", "reading": "filters", "undo": "body"}
_ADDED_LATER = frozenset({"reading", "undo"})  # tables that a file of an earlier schema lacks

_ROWS = Template("""
    SELECT * FROM $table WHERE rowid IN (SELECT unnest(from_json(?, '["BIGINT"]')))
""")
_DELETE = Template("""
    DELETE FROM $table WHERE rowid IN (SELECT unnest(from_json(?, '["BIGINT"]')))
""")
# A line of the log is kept where its place can be told: the log has no gaps.
_MEND: Mapping[str, str] = {
    "log": """
        UPDATE log SET change = CASE WHEN change IN ('put', 'patch', 'purge') THEN change ELSE 'patch' END,
            made_at = greatest(least(made_at, 253370764799000000), -62104060800000000),
            rev = greatest(least(rev, 4611686018427387902), -4611686018427387902)
        WHERE position BETWEEN 1 AND 4611686018427387902
            AND rowid IN (SELECT unnest(from_json(?, '["BIGINT"]')))
    """,
    "conversation": """
        UPDATE conversation SET last = coalesce((SELECT max(number) FROM entry WHERE entry.namespace = conversation.namespace
            AND entry.conversation = conversation.name AND entry.kind = conversation.kind
            AND number < 4611686018427387902), 0)
        WHERE rowid IN (SELECT unnest(from_json(?, '["BIGINT"]')))
    """,
}
DELETE_ORPHANS = Template("""
    DELETE FROM $table AS v
    WHERE NOT EXISTS (SELECT 1 FROM memory AS m WHERE m.namespace = v.namespace AND m.id = v.id)
""")
OTHER_DIGESTS = Template("""
    SELECT DISTINCT l.namespace, l.id FROM ${prefix}log AS l JOIN ${prefix}memory AS m USING (namespace, id)
    WHERE l.digest <> m.content_hash AND l.digest <> '' AND l.position > coalesce((SELECT max(r.position) FROM ${prefix}log AS r
        WHERE r.namespace = l.namespace AND r.id = l.id AND r.action = 'repair'), 0)
""")
"""The memories of which the log noted another digest since the last repair of them."""
OTHER_REVISIONS = """
    SELECT m.namespace, m.id FROM memory AS m
    LEFT JOIN (SELECT namespace, id, arg_max(rev, position) AS rev FROM log GROUP BY namespace, id) AS l USING (namespace, id)
    WHERE l.rev IS DISTINCT FROM m.rev
"""
"""The memories of which the log does not have the newest revision."""
IMPORTED_AS_TOLD = Template("""
    SELECT DISTINCT namespace, id FROM ${prefix}log
    WHERE change = 'put' AND (action = 'sync' OR starts_with(action, 'import ') AND ends_with(note, 'trust agent'))
""")
"""The memories that came in as what the person told other assistants, here or on another machine."""
CONFIRMED_BY_A_PERSON = Template("""
    SELECT DISTINCT namespace, id FROM ${prefix}log
    WHERE contains(note, 'to confirmed')
        OR change = 'put' AND (action = 'sync' OR starts_with(action, 'import') AND ends_with(note, 'trust confirmed'))
""")
"""The memories of which a person said that they are true, here or where they come from."""
_CLAMP = """
    UPDATE memory SET importance = greatest(least(importance, 1), 0)
    WHERE importance NOT BETWEEN 0 AND 1 AND rowid IN (SELECT unnest(from_json(?, '["BIGINT"]')))
"""
_NEXT_REVISION = """
    SELECT greatest(m.rev, coalesce((SELECT max(rev) FROM log AS l WHERE l.namespace = m.namespace AND l.id = m.id), 0)) + 1
    FROM memory AS m WHERE concat(m.namespace) = ? AND m.id = ?
"""
_SET_REVISION = "UPDATE memory SET rev = ? WHERE concat(namespace) = ? AND id = ?"
_DISTRUST = "UPDATE memory SET trust = 'untrusted', pinned = false WHERE concat(namespace) = ? AND id = ?"
# Terms and the like are made again when the file is opened: encoding 0 asks for it.
_RENEW = """
    UPDATE memory SET content_hash = ?, terms = [], names = NULL, days = NULL, aspects = 0, encoding = 0
    WHERE concat(namespace) = ? AND id = ?
"""
_CONTENT = "SELECT content FROM memory WHERE concat(namespace) = ? AND id = ?"
_DIGEST = "SELECT content_hash FROM memory WHERE concat(namespace) = ? AND id = ?"
_DELETE_VECTOR = Template("DELETE FROM vector_$number WHERE namespace = ? AND id = ?")
_DELETE_DOUBLE = Template("""
    DELETE FROM vector_$number AS v WHERE (SELECT count(*) FROM vector_$number AS o WHERE o.namespace = v.namespace AND o.id = v.id) > 1
""")


def find_bad_rows(session: SqlSession, *, prefix: str = "") -> dict[str, list[int]]:
    """Return by table the row ids of what a reader could not take for what it should be; empty where all is well.

    The tables must be those that this program makes, of any schema; ``prefix`` names the database they are in.
    """
    found = {"memory": [rowid for rowid, memory in memories_of(session, prefix) if memory is None]}
    lacking = _ADDED_LATER - {name for (name,) in session.rows(_THERE, _name(prefix))}
    for table, condition in _BESIDE.items():
        if table not in lacking:
            found[table] = _rowids(session, prefix, table, condition)
    for table, column in _JSON_COLUMNS.items():
        if table in lacking:
            continue
        texts = session.rows(_TEXTS.substitute(prefix=prefix, table=table, column=column))
        found.setdefault(table, [])
        found[table] += [rowid for rowid, text in texts if readable_object(text) is None and rowid not in found[table]]
    for (number,) in session.rows(_NUMBERS.substitute(prefix=prefix)):
        table = f"vector_{int(number)}"
        found[table] = _rowids(session, prefix, table, _VECTOR)
    return {table: rowids for table, rowids in found.items() if rowids}


def put_aside(
    session: SqlSession, path: Path, now: datetime, refusal: Refusal
) -> tuple[dict[str, int], str, list[str]]:
    """Write the rows of a store that nobody has open and that are none of ours to quarantine; take them out, or mend them.

    Returns how many of each table were put aside, the name of the folder, and in words what was mended; none and no name where there is
    nothing to do.

    Raises:
        StoreFull, StoreReadOnly: they cannot be written; nothing was changed.
    """
    bad = find_bad_rows(session)
    odd = odd_rows(session, refusal)
    written = {table: list(rowids) for table, rowids in bad.items()}
    if odd.rowids:
        written["memory"] = sorted({*written.get("memory", ()), *odd.rowids})
    folder_name = ""
    if written:
        with translated():
            folder = quarantine.create_folder(path, "rows", now)
            write_private(folder / ROWS, b"".join(_lines(session, written)))
        total = sum(map(len, written.values()))
        report = RecoveryReport(
            at=quarantine.report_time(now),
            damaged=f"{total} {'row' if total == 1 else 'rows'} that no version of this program writes were put aside ({ROWS})",
            folder=folder.name,
            lost=0,
        )
        quarantine.write_report(folder, report)
        folder_name = folder.name
    mended = _take_out(session, bad, odd, now, refusal)
    return {table: len(rowids) for table, rowids in written.items()}, folder_name, mended


def memories_of(session: SqlSession, prefix: str = "") -> Iterator[tuple[int, Memory | None]]:
    """Yield the row id of each memory of a file, with the memory; None for a row that is none."""
    there = {name for (name,) in session.rows(_COLUMNS, _name(prefix))}
    # An earlier schema lacks some columns; they get what a migration would put in.
    columns = ", ".join(
        field.name
        if field.name in there
        else ("0" if field.type in PLAIN_TYPES and field.type.sql != TEXT.sql else "NULL")
        for field in MEMORY_FIELDS
    )
    low, high = session.rows(_BOUNDS.substitute(prefix=prefix))[0]
    for start in range(low or 0, (high or 0) + 1, SPAN_ROWS) if low is not None else ():
        rows = session.rows(_MEMORIES.substitute(prefix=prefix, columns=columns), start, start + SPAN_ROWS - 1)
        for rowid, *row in rows:
            try:
                yield rowid, memory_of(tuple(row))
            except UNREADABLE:
                yield rowid, None


def odd_rows(session: SqlSession, refusal: Refusal, *, prefix: str = "") -> OddRows:
    """Return the memories of a file that a reader takes but that do not fit; of one of the newest schema."""
    memories = ((rowid, memory) for rowid, memory in memories_of(session, prefix) if memory is not None)
    asked = (OTHER_DIGESTS, IMPORTED_AS_TOLD, CONFIRMED_BY_A_PERSON)
    noted, told, confirmed = (session.rows(one.substitute(prefix=prefix)) for one in asked)
    return find_odd_rows(memories, noted, told, confirmed, refusal)


def _name(prefix: str) -> str:
    return prefix.removesuffix(".")


def _rowids(session: SqlSession, prefix: str, table: str, condition: str) -> list[int]:
    found = session.rows(_IMPOSSIBLE.substitute(prefix=prefix, table=table, condition=condition))
    return [rowid for (rowid,) in found]


def _lines(session: SqlSession, bad: Mapping[str, list[int]]) -> Iterator[bytes]:
    """Yield each row as a line of JSON, as it stands; numbers that are not finite as Python writes them."""
    for table, rowids in bad.items():
        for row in session.dictionaries(_ROWS.substitute(table=table), to_json(rowids)):
            yield json.dumps({"table": table, "row": _plain(row)}, default=str).encode() + b"\n"


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in row.items()}


def _take_out(
    session: SqlSession, bad: Mapping[str, list[int]], odd: OddRows, now: datetime, refusal: Refusal
) -> list[str]:
    session.begin()
    try:
        for table, rowids in bad.items():
            statement = _MEND.get(table)
            mended = 0 if statement is None else session.change(statement, to_json(rowids))
            if mended < len(rowids):
                still = set(_rowids(session, "", table, _BESIDE[table])) if mended else set(rowids)
                session.change(_DELETE.substitute(table=table), to_json(sorted(still)))
        if odd.refused:
            session.change(_CLAMP, to_json(sorted(odd.refused)))
        if odd.refused and (left := odd_rows(session, refusal).refused):
            session.change(_DELETE.substitute(table="memory"), to_json(sorted(left)))
        numbers = [int(number) for (number,) in session.rows(_NUMBERS.substitute(prefix=""))]
        done = _mend_odd_rows(session, odd, numbers, now)
        for number in numbers:
            session.change(DELETE_ORPHANS.substitute(table=f"vector_{number}"))
        session.change(DELETE_ORPHANS.substitute(table="usage"))
        session.commit()
    except BaseException:
        with suppress(Exception):
            session.rollback()
        raise
    return done


def _mend_odd_rows(session: SqlSession, odd: OddRows, numbers: Sequence[int], now: datetime) -> list[str]:
    """Take the trust of what was changed, make what belongs to its words again, and say so in the log; returns what was done in words.

    Of a memory with more than one vector all go; a new one is made when the store is idle.
    """
    for number in numbers:
        session.change(_DELETE_DOUBLE.substitute(number=number))
    notes: dict[RowKey, str] = dict.fromkeys(
        map(_key, session.rows(OTHER_REVISIONS)), "its revision was another than the log's"
    )
    notes |= dict.fromkeys(odd.raised, "it was trusted as more than a tool or an import is; now it is untrusted")
    for key in odd.changed:
        notes[key] = "its words or their digest were changed outside of this program; now it is untrusted"
        found = session.rows(_CONTENT, *key)
        if not found:
            continue  # put aside
        session.change(_RENEW, content_hash(found[0][0]), *key)
        for number in numbers:
            session.change(_DELETE_VECTOR.substitute(number=number), *key)
    for key in {*odd.changed, *odd.raised}:
        session.change(_DISTRUST, *key)
    for namespace in sorted({namespace for namespace, _ in notes}):
        _log_repairs(session, namespace, {id_: note for (name, id_), note in notes.items() if name == namespace}, now)
    raised = odd.raised.keys() - odd.changed.keys()
    told = {
        "memories had other words than were written; they are untrusted now": len(odd.changed),
        "memories of tools or imports were trusted as more; they are untrusted again": len(raised),
        "memories had another revision than the log": len(notes.keys() - odd.changed.keys() - raised),
    }
    return [f"{count} {what}" for what, count in told.items() if count]


def _key(row: Sequence[str]) -> RowKey:
    return row[0], row[1]


def _log_repairs(session: SqlSession, namespace: str, notes: Mapping[str, str], now: datetime) -> None:
    position = tables.read_head(session, namespace).position
    log = []
    for id_, note in sorted(notes.items()):
        found = session.rows(_NEXT_REVISION, namespace, id_)
        if not found:
            continue
        rev = found[0][0]
        session.change(_SET_REVISION, rev, namespace, id_)
        position += 1
        log.append(
            LogEntry(
                position=position,
                change=ChangeType.UPDATE,
                id=MemoryId(id_),
                rev=rev,
                at=now,
                actor="doctor",
                action="repair",
                digest=session.rows(_DIGEST, namespace, id_)[0][0],
                note=note,
            )
        )
    if log:
        entries = chained(namespace, log, tables.read_last_link(session, namespace), os.urandom(SALT_BYTES * len(log)))
        tables.insert_log(session, namespace, entries)
        tables.store_closed_head(session, namespace, LogHead(entries[-1].position, entries[-1].link or ""))
