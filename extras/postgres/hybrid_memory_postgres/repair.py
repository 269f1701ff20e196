"""Puts rows aside that no version of this program writes, and mends what only a note needs: ``doctor --repair`` over PostgreSQL.

Last, the chain of a log that does not fit begins again: the entry that is appended says what did not. All of it is one transaction, while
the heads of all namespaces are locked: no hub writes meanwhile. What is put aside stands as JSON lines in the quarantine of this hub's
folder. Damaged files of the server are not mended here: that takes a backup.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from hybrid_memory.language.text import content_hash
from hybrid_memory.model import MemoryId
from hybrid_memory.private_files import FOLDER_MODE, write_private
from hybrid_memory.settings import DATABASE
from hybrid_memory.store.audit_chain import SALT_BYTES, anchored
from hybrid_memory.store.findings import Finding, Report, Severity, report_of
from hybrid_memory.store.home_files import QUARANTINE
from hybrid_memory.store.memory_fields import MOST
from hybrid_memory.store.writing import ChangeType, LogEntry
from hybrid_memory_postgres.appending import LockedHead, append_chained, append_entries, lock_head
from hybrid_memory_postgres.check import (
    NAMESPACES_WITH_LOG,
    USAGE_ORPHANS,
    VECTOR_ORPHANS,
    bad_rows,
    check_store,
    odd_rows,
    other_revisions,
)
from hybrid_memory_postgres.connections import EVERYTHING
from hybrid_memory_postgres.migrating import refuse_later
from hybrid_memory_postgres.own import COUNT_ERASURE
from hybrid_memory_postgres.rewriting import is_unwritten, rewrite_tables
from hybrid_memory_postgres.tables import check_log

if TYPE_CHECKING:
    from hybrid_memory.store.odd_rows import OddRows, RowKey
    from hybrid_memory.store.transfer import Refusal
    from hybrid_memory_postgres.connections import Connections
    from hybrid_memory_postgres.eraser import Told
    from hybrid_memory_postgres.sql_session import PgSession

ROWS = "rows.jsonl"
_LOCK_HEADS = "SELECT name FROM namespace ORDER BY name FOR UPDATE"
_TABLES = ("memory", "vector", "usage", "buffer", "request", "entry", "undo", "reading")
"""Those whose rows may be taken out; those of the log and the heads stay: others count on them."""
_SELECT = Template("""
    SELECT jsonb_build_object('table', '$table', 'row', to_jsonb(r))::text FROM $table AS r WHERE r.ctid = ANY ($$1::text[]::tid[])
""")
_TAKE = Template("DELETE FROM $table AS r WHERE r.ctid = ANY ($$1::text[]::tid[])")
_WRITTEN = {table: _SELECT.substitute(table=table) for table in _TABLES}
_DELETE = {table: _TAKE.substitute(table=table) for table in _TABLES}
_KEYS_AT = "SELECT namespace, id, rev FROM memory WHERE ctid = ANY ($1::text[]::tid[]) ORDER BY namespace, id"
_STATE = """
    SELECT m.content, m.content_hash, greatest(m.rev, coalesce((
        SELECT max(l.rev) FROM log AS l WHERE l.namespace = m.namespace AND l.id = m.id AND l.rev < 4611686018427387902), 0)) + 1
    FROM memory AS m WHERE m.namespace = $1 AND m.id = $2
"""
_SET_REVISION = "UPDATE memory SET rev = $3 WHERE namespace = $1 AND id = $2"
_DISTRUST = "UPDATE memory SET trust = 'untrusted', pinned = false WHERE namespace = $1 AND id = $2"
# Terms and the like are made again at the next idle time: encoding 0 asks for it.
_RENEW = """
    UPDATE memory SET content_hash = $3, terms = '', names = NULL, days = NULL, aspects = 0, encoding = 0
    WHERE namespace = $1 AND id = $2
"""
_DELETE_VECTORS = "DELETE FROM vector WHERE namespace = $1 AND id = $2"
_LAST_ENTRY = "SELECT coalesce(max(position), 0) FROM log WHERE namespace = $1"


def repair_store(connections: Connections, home: Path, now: datetime, refusal: Refusal, told: Told) -> Report:
    """Put aside and mend; returns what was done, and what a check finds afterwards.

    Raises:
        OSError: the rows cannot be written aside; nothing was changed.
        SchemaTooNew: a later version has added to the store what this one does not know.
    """
    done: list[Finding] = []
    with connections.filling(EVERYTHING) as session:
        refuse_later(session)
        session.rows(_LOCK_HEADS)
        bad = {table: places for table, places in bad_rows(session).items() if table in _DELETE}
        odd, places = odd_rows(session, refusal)
        notes = _notes(session, odd)
        refused = [places[number] for number in odd.refused]
        written = {**bad, "memory": sorted({*bad.get("memory", ()), *refused, *_places_of(odd, places)})}
        written = {table: rows for table, rows in written.items() if rows}
        if written:
            folder = _put_aside(session, home, now, written)
            for table, rows in written.items():
                count = "1 row" if len(rows) == 1 else f"{len(rows)} rows"
                where = f"{QUARANTINE}/{folder}/{ROWS}"
                done.append(Finding(Severity.NOTE, f"{count} of the table {table}: put aside in {where}"))
        gone = {*bad.get("memory", ()), *refused}
        lost = [(namespace, MemoryId(id_), rev) for namespace, id_, rev in session.rows(_KEYS_AT, sorted(gone))]
        for table, rows in bad.items():
            session.send(_DELETE[table], rows)
        session.send(_DELETE["memory"], refused)
        session.send(_DELETE["vector"], [place for (place,) in session.rows(VECTOR_ORPHANS)])
        session.send(_DELETE["usage"], [place for (place,) in session.rows(USAGE_ORPHANS)])
        named = {(namespace, id_) for namespace, id_, _ in lost}
        notes = {key: note for key, note in notes.items() if key not in named}
        heads = [
            _mend(session, namespace, notes, [one for one in lost if one[0] == namespace], odd, now)
            for namespace in sorted({key[0] for key in (*notes, *named)})
        ]
        if notes:
            done.append(Finding(Severity.NOTE, f"{len(notes)} memories were mended; `repair` in the log says how"))
        if heads:
            session.send(COUNT_ERASURE)
        heads += _begin_chains_anew(session, now)
    for head in heads:
        told(head.namespace, head.position)
    if is_unwritten(connections):
        done += [Finding(Severity.WARNING, one) for one in rewrite_tables(connections)]
    found = check_store(connections, now, refusal)
    return report_of([*done, *found.findings], found.rows)


def _places_of(odd: OddRows, places: Sequence[str]) -> list[str]:
    return [places[number] for number in (*odd.changed.values(), *odd.raised.values())]


def _notes(session: PgSession, odd: OddRows) -> dict[RowKey, str]:
    notes = dict.fromkeys(other_revisions(session), "its revision was another than the log's")
    notes |= dict.fromkeys(odd.raised, "it was trusted as more than a tool or an import is; now it is untrusted")
    changed = "its words or their digest were changed outside of this program; now it is untrusted"
    return notes | dict.fromkeys(odd.changed, changed)


def _put_aside(session: PgSession, home: Path, now: datetime, rows: Mapping[str, Sequence[str]]) -> str:
    from hybrid_memory.store.duck.recovery import quarantine

    home.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
    folder = quarantine.create_folder(home / DATABASE, "rows", now)
    lines = [line for table, places in rows.items() for (line,) in session.rows(_WRITTEN[table], list(places))]
    write_private(folder / ROWS, "".join(f"{line}\n" for line in lines).encode())
    report = quarantine.RecoveryReport(
        at=quarantine.report_time(now),
        damaged=f"{len(lines)} rows that no version of this program writes were put aside ({ROWS})",
        folder=folder.name,
        lost=0,
    )
    quarantine.write_report(folder, report)
    return folder.name


def _mend(
    session: PgSession,
    namespace: str,
    notes: Mapping[RowKey, str],
    lost: Sequence[tuple[str, MemoryId, int]],
    odd: OddRows,
    now: datetime,
) -> LockedHead:
    head = lock_head(session, namespace)
    changes = [(ChangeType.PURGE, id_, rev, "", "it could not be read") for _, id_, rev in lost]
    for key, note in sorted(notes.items()):
        row = session.row(_STATE, *key) if key[0] == namespace else None
        if row is None:
            continue
        content, digest, rev = row
        if key in odd.changed:
            digest = content_hash(content)
            session.send(_RENEW, *key, digest)
            session.send(_DELETE_VECTORS, *key)
        if key in odd.changed or key in odd.raised:
            session.send(_DISTRUST, *key)
        session.send(_SET_REVISION, *key, rev)
        changes.append((ChangeType.UPDATE, MemoryId(key[1]), rev, digest, note))
    log = [
        LogEntry(
            position=position,
            change=change,
            id=id_,
            rev=rev,
            at=head.time_of_write(now),
            actor="doctor",
            action="repair",
            digest=digest,
            note=note,
        )
        for position, (change, id_, rev, digest, note) in enumerate(changes, head.position + 1)
    ]
    return append_entries(session, head, log)


def _begin_chains_anew(session: PgSession, now: datetime) -> list[LockedHead]:
    """Let the chains that do not fit begin again; returns the new heads of their logs."""
    heads = []
    for (namespace,) in session.rows(NAMESPACES_WITH_LOG):
        problem = check_log(session, namespace).problem
        if problem is None:
            continue
        head = lock_head(session, namespace)
        position = max(head.position, session.rows(_LAST_ENTRY, namespace)[0][0]) + 1
        if position >= MOST:
            continue  # nothing can stand behind that; a check tells it
        entry = LogEntry(
            position=position,
            change=ChangeType.UPDATE,
            id=MemoryId(""),
            rev=0,
            at=head.time_of_write(now),
            actor="doctor",
            action="repair",
            digest="",
            note=f"the chain begins anew: {problem}",
        )
        heads.append(append_chained(session, head, [anchored(namespace, entry, os.urandom(SALT_BYTES))]))
    return heads
