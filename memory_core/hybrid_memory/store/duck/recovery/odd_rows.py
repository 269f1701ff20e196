"""Rows that every reader takes, but that do not fit: told by `doctor`, mended by a repair, refused by `restore` where words were changed.

Nothing of them is trusted silently: a repair writes each such row into quarantine as it stood, and what stays in the store is untrusted,
with an entry in the log that says why.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from string import Template
from typing import TYPE_CHECKING

from hybrid_memory.language.text import content_hash
from hybrid_memory.model import MemoryId
from hybrid_memory.store.audit_chain import SALT_BYTES, LogHead, chained
from hybrid_memory.store.duck import tables
from hybrid_memory.store.encoding import to_json
from hybrid_memory.store.odd_rows import OddRows, RowKey
from hybrid_memory.store.writing import ChangeType, LogEntry

if TYPE_CHECKING:
    from datetime import datetime

    from hybrid_memory.store.duck.sql_session import SqlSession


# Only constants and prefixes of databases are put into these.
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


def mend_importance(session: SqlSession, odd: OddRows) -> None:
    """Put the importance of rows that an import would refuse into its range."""
    if odd.refused:
        session.change(_CLAMP, to_json(sorted(odd.refused)))


def mend_odd_rows(session: SqlSession, odd: OddRows, numbers: Sequence[int], now: datetime) -> list[str]:
    """Take the trust of what was changed, make what belongs to its words again, and say so in the log; returns what was done in words.

    It runs inside a transaction of the caller. Of a memory with more than one vector all go; a new one is made when the store is idle.
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
