"""What a purge deletes from a database file: what a selection comes to, and the rows and references that go.

`plan_purge` is called for a preview and for each file, `purge_rows` for each file by `erase_files`. The bytes of the rows
go when the file is copied afterwards.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from string import Template
from typing import TYPE_CHECKING

from hybrid_memory.clock import to_micros
from hybrid_memory.model import MemoryId
from hybrid_memory.store.audit_chain import SALT_BYTES, LogHead, chained, erased_salt
from hybrid_memory.store.duck import tables
from hybrid_memory.store.duck.memory_table import existing_ids, memories_by_id, update_memory
from hybrid_memory.store.encoding import to_json
from hybrid_memory.store.purge_rules import Links, expand, mentions, plan_of, without_references
from hybrid_memory.store.sql.readings import forget_readings_in, forget_readings_of
from hybrid_memory.store.sql.rows import readable_object
from hybrid_memory.store.sql.undo import forget_undos_about
from hybrid_memory.store.transfer import PurgePlan, PurgeSelection
from hybrid_memory.store.writing import ChangeType, LogEntry

if TYPE_CHECKING:
    from datetime import datetime

    from hybrid_memory.store.duck.sql_session import SqlSession
    from hybrid_memory.store.erasing import RemainingState

_ALL_IDS = "SELECT id FROM memory WHERE namespace = ?"
_SESSION_IDS = "SELECT id FROM memory WHERE namespace = ? AND session = ?"
_FORGOTTEN_IDS = "SELECT id FROM memory WHERE namespace = ? AND forgotten_at IS NOT NULL"
_LINKS = """
    SELECT id, kind, origin, trust, superseded_by, supersedes, parents FROM memory
    WHERE namespace = $1 AND (superseded_by IS NOT NULL OR supersedes IS NOT NULL OR parents IS NOT NULL
        OR id IN (SELECT superseded_by FROM memory WHERE namespace = $1))
"""
_SAME_CONTENT = """
    SELECT id FROM memory WHERE namespace = $1 AND content_hash IN (
        SELECT content_hash FROM memory WHERE namespace = $1 AND id IN (SELECT unnest(from_json($2, '["VARCHAR"]')))
    ) ORDER BY id
"""
_DERIVED_ELSEWHERE = """
    SELECT namespace, id FROM memory WHERE namespace <> $1
        AND CASE WHEN json_type(CASE WHEN json_valid(parents) THEN parents END) = 'ARRAY'
            THEN list_has_any(from_json(parents, '["VARCHAR"]'), from_json($2, '["VARCHAR"]')) END
    ORDER BY namespace, id
"""
_ENTRIES = "SELECT count(*) FROM entry WHERE namespace = $1 AND coalesce(conversation = $2, true)"
_BUFFERS = "SELECT count(*) FROM buffer WHERE namespace = $1 AND coalesce(session = $2, true)"

_REFERRING = """
    SELECT id FROM memory WHERE namespace = $1 AND (
        superseded_by IN (SELECT unnest(from_json($2, '["VARCHAR"]')))
        OR supersedes IN (SELECT unnest(from_json($2, '["VARCHAR"]')))
        OR duplicate_of IN (SELECT unnest(from_json($2, '["VARCHAR"]')))
        OR disputes IN (SELECT unnest(from_json($2, '["VARCHAR"]')))
        OR CASE WHEN json_type(CASE WHEN json_valid(parents) THEN parents END) = 'ARRAY'
            THEN list_has_any(from_json(parents, '["VARCHAR"]'), from_json($2, '["VARCHAR"]')) END)
    ORDER BY id
"""
_REVS = """
    SELECT id, rev FROM memory WHERE namespace = ? AND id IN (SELECT unnest(from_json(?, '["VARCHAR"]'))) ORDER BY id
"""
_DELETE = Template("DELETE FROM $table WHERE namespace = ? AND id IN (SELECT unnest(from_json(?, '[\"VARCHAR\"]')))")
_VECTOR_TABLES = "SELECT table_name FROM duckdb_tables() WHERE regexp_full_match(table_name, 'vector_[0-9]+')"
_DIGESTS = """
    SELECT position, salt, digest FROM log
    WHERE namespace = ? AND digest <> '' AND id IN (SELECT unnest(from_json(?, '["VARCHAR"]')))
"""
_BLANK_DIGESTS = """
    UPDATE log SET digest = '', salt = one.salt
    FROM (SELECT unnest(from_json($2, '[{"position": "BIGINT", "salt": "VARCHAR"}]')) AS one)
    WHERE log.namespace = $1 AND log.position = one.position
"""
_REQUESTS = "SELECT relay, number, result FROM request WHERE namespace = ?"
_DELETE_REQUEST = "DELETE FROM request WHERE relay = ? AND number = ?"
_BUFFER_STATES = "SELECT session, agent, state FROM buffer WHERE namespace = ?"
_SET_BUFFER_STATE = "UPDATE buffer SET state = ? WHERE namespace = ? AND session = ? AND agent = ?"
_DELETE_BUFFER = "DELETE FROM buffer WHERE namespace = ? AND session = ? AND agent = ?"
_DELETE_BUFFERS = "DELETE FROM buffer WHERE namespace = ? AND session = ?"
_SESSIONS_OF = """
    SELECT DISTINCT session FROM memory WHERE namespace = ? AND id IN (SELECT unnest(from_json(?, '["VARCHAR"]')))
"""
_HAS_MEMORIES = "SELECT count(*) FROM memory WHERE namespace = ? AND session = ?"
_DELETE_SESSION = (
    _DELETE_BUFFERS,
    "DELETE FROM entry WHERE namespace = ? AND conversation = ?",
    "DELETE FROM conversation WHERE namespace = ? AND name = ?",
)
_DELETE_NAMESPACE = (
    "DELETE FROM memory WHERE namespace = ?",
    "DELETE FROM usage WHERE namespace = ?",
    "DELETE FROM log WHERE namespace = ?",
    "DELETE FROM buffer WHERE namespace = ?",
    "DELETE FROM request WHERE namespace = ?",
    "DELETE FROM conversation WHERE namespace = ?",
    "DELETE FROM entry WHERE namespace = ?",
    "DELETE FROM namespace WHERE name = ?",
    "DELETE FROM log_head WHERE namespace = ?",
    "UPDATE mark SET namespace = NULL, position = NULL, link = NULL WHERE namespace = ?",
    "DELETE FROM sync_usage WHERE namespace = ?",
    "DELETE FROM reading WHERE namespace = ?",
    "DELETE FROM undo WHERE namespace = ?",
)
# What others are to be told: ids without words, with the moment of the purge, so that it reaches what was known here by then and
# nothing else. Only where the namespace was synchronised; elsewhere nothing stays.
_TELL_PURGED = (
    "DELETE FROM sync_row WHERE namespace = $1 AND gone <= born",
    """
    INSERT INTO sync_row (namespace, id, born, gone, fields)
    SELECT $1, known.id, 0, greatest($2, s.clock + 1), NULL FROM sync_log AS s, (
        SELECT id FROM memory WHERE namespace = $1 UNION SELECT id FROM log WHERE namespace = $1 AND id <> ''
    ) AS known WHERE s.namespace = $1 AND known.id NOT IN (SELECT id FROM sync_row WHERE namespace = $1)
    """,
)
_TELL_REMOVED = """
    UPDATE sync_item SET stamp = greatest($2, s.clock + 1), digest = NULL, own = true, written = (SELECT max(number) + 1 FROM mark)
    FROM sync_log AS s WHERE s.namespace = $1 AND sync_item.namespace = $1 AND digest IS NOT NULL AND first = coalesce($3, first)
"""
_TOLD_FROM_NEW_LOG = (
    "UPDATE sync_log SET position = 0, link = NULL, clock = greatest($2, clock + 1) WHERE namespace = $1",
    "UPDATE sync_folder SET sent = -1, written = -1 WHERE namespace = $1 AND $2 IS NOT NULL",
)
_CLEAN_FOLDERS = "UPDATE sync_folder SET cleaned = -1 WHERE namespace = ?"
_DELETE_VECTORS = Template("DELETE FROM $table WHERE namespace = ?")


def plan_purge(session: SqlSession, selection: PurgeSelection) -> PurgePlan:
    """Return what a selection comes to in a store at this moment."""
    namespace = selection.namespace
    named = _selected_ids(session, selection)
    links = [Links(*row) for row in session.rows(_LINKS, namespace)]
    chosen = expand(named, links, take_derived=selection.derived)
    wanted = to_json(sorted(chosen.ids))
    whole = selection.everything or selection.session is not None
    place = (namespace, selection.session)
    return plan_of(
        selection,
        chosen,
        links,
        same_words=[MemoryId(id_) for (id_,) in session.rows(_SAME_CONTENT, namespace, wanted)],
        entries=session.rows(_ENTRIES, *place)[0][0] if whole else 0,
        buffers=session.rows(_BUFFERS, *place)[0][0] if whole else 0,
        elsewhere=[(name, MemoryId(id_)) for name, id_ in session.rows(_DERIVED_ELSEWHERE, namespace, wanted)],
    )


def purge_rows(
    session: SqlSession,
    selection: PurgeSelection,
    ids: Iterable[MemoryId],
    *,
    at: datetime,
    actor: str,
    remaining_state: RemainingState,
) -> int:
    """Delete what was chosen, and every reference to it, in one transaction; returns how many memories went.

    The log keeps that there was something, when, and that it was purged; its digests of the words are blanked, because a
    short text can be guessed from one. Of a namespace that is erased as a whole nothing stays.
    """
    session.begin()
    try:
        # A question says what its answer was about: what was asked goes with what was shown, wherever it was asked.
        forget_readings_of(session, {*ids, *_selected_ids(session, selection)})
        if selection.everything:
            count = len(session.rows(_ALL_IDS, selection.namespace))
            _delete_namespace(session, selection.namespace, to_micros(at))
        else:
            existing = frozenset(existing_ids(session, selection.namespace, list(ids)))
            count = len(existing)
            sessions = session.rows(_SESSIONS_OF, selection.namespace, to_json(sorted(existing)))
            _delete_memories(session, selection.namespace, existing, at=at, actor=actor)
            _purge_buffers(session, selection.namespace, existing, remaining_state)
            for (name,) in sessions:
                # Its name would stay behind: attention is nothing without memories.
                if not session.rows(_HAS_MEMORIES, selection.namespace, name)[0][0]:
                    session.change(_DELETE_BUFFERS, selection.namespace, name)
            if selection.session is not None:
                forget_readings_in(session, selection.namespace, selection.session)
                for statement in _DELETE_SESSION:
                    session.change(statement, selection.namespace, selection.session)
                session.change(_TELL_REMOVED, selection.namespace, to_micros(at), selection.session)
                session.change(_CLEAN_FOLDERS, selection.namespace)
        session.commit()
    except BaseException:
        session.rollback()
        raise
    return count


def _selected_ids(session: SqlSession, selection: PurgeSelection) -> set[MemoryId]:
    if selection.ids:
        return existing_ids(session, selection.namespace, selection.ids)
    if selection.everything:
        found = session.rows(_ALL_IDS, selection.namespace)
    elif selection.session is not None:
        found = session.rows(_SESSION_IDS, selection.namespace, selection.session)
    else:
        found = session.rows(_FORGOTTEN_IDS, selection.namespace)
    return {MemoryId(id_) for (id_,) in found}


def _delete_namespace(session: SqlSession, namespace: str, at: int) -> None:
    for statement in _TELL_PURGED:
        session.change(statement, *((namespace, at) if "$2" in statement else (namespace,)))
    session.change(_TELL_REMOVED, namespace, at, None)
    for statement in _TOLD_FROM_NEW_LOG:
        session.change(statement, namespace, at)
    session.change(_CLEAN_FOLDERS, namespace)
    for statement in _DELETE_NAMESPACE:
        session.change(statement, namespace)
    for (table,) in session.rows(_VECTOR_TABLES):
        session.change(_DELETE_VECTORS.substitute(table=table), namespace)


def _delete_memories(
    session: SqlSession, namespace: str, ids: frozenset[MemoryId], *, at: datetime, actor: str
) -> None:
    # Read before anything is deleted: what goes, and which rows refer to it.
    wanted = to_json(sorted(ids))
    head = tables.read_head(session, namespace).position
    deleted = session.rows(_REVS, namespace, wanted)
    referring = [MemoryId(id_) for (id_,) in session.rows(_REFERRING, namespace, wanted) if id_ not in ids]
    cleaned = [
        (before, without_references(before, ids)) for before in memories_by_id(session, namespace, referring).values()
    ]
    for table in ("memory", "usage", "sync_usage"):
        session.change(_DELETE.substitute(table=table), namespace, wanted)
    delete_vectors(session, namespace, wanted)
    for before, memory in cleaned:
        update_memory(session, memory, before.rev)
    # The log keeps that there was something, without the hash of its words.
    erase_digests(session, namespace, wanted)
    changes = [(ChangeType.PURGE, id_, rev, "") for id_, rev in deleted]
    changes += [(ChangeType.UPDATE, memory.id, memory.rev, memory.content_hash) for _, memory in cleaned]
    log = [
        LogEntry(
            position=head + number,
            change=change,
            id=MemoryId(id_),
            rev=rev,
            at=at,
            actor=actor,
            action="purge",
            digest=digest,
        )
        for number, (change, id_, rev, digest) in enumerate(changes, 1)
    ]
    append_to_closed_log(session, namespace, log)
    forget_requests_about(session, namespace, ids)
    forget_undos_about(session, namespace, ids)


def remove_rows(session: SqlSession, namespace: str, ids: Sequence[MemoryId]) -> None:
    """Delete the rows of some memories, with all beside memories that tells of them; the log is left to the caller."""
    wanted = to_json(list(ids))
    for table in ("memory", "usage", "sync_usage"):
        session.change(_DELETE.substitute(table=table), namespace, wanted)
    delete_vectors(session, namespace, wanted)
    erase_digests(session, namespace, wanted)
    forget_requests_about(session, namespace, frozenset(ids))
    forget_readings_of(session, ids)
    forget_undos_about(session, namespace, ids)


def forget_requests_about(session: SqlSession, namespace: str, ids: frozenset[MemoryId]) -> None:
    """Delete the stored answers of requests that name some memories."""
    for relay, number, result in session.rows(_REQUESTS, namespace):
        # A result that cannot be read may name anything.
        answer = readable_object(result)
        if answer is None or mentions(answer, ids):
            session.change(_DELETE_REQUEST, relay, number)


def delete_vectors(session: SqlSession, namespace: str, wanted: str) -> None:
    """Delete the vectors of some memories (ids as JSON) by every embedder."""
    for (table,) in session.rows(_VECTOR_TABLES):
        session.change(_DELETE.substitute(table=table), namespace, wanted)


def erase_digests(session: SqlSession, namespace: str, wanted: str) -> None:
    """Take the digests of some memories' words out of the log (ids as JSON); the seals that its chain is made of stay."""
    found = session.rows(_DIGESTS, namespace, wanted)
    erased = [
        {"position": position, "salt": None if salt is None else erased_salt(salt, digest)}
        for position, salt, digest in found
    ]
    if erased:
        session.change(_BLANK_DIGESTS, namespace, to_json(erased))


def append_to_closed_log(session: SqlSession, namespace: str, log: Sequence[LogEntry]) -> None:
    """Append entries to the log of a file that is no open store, and to its chain and head."""
    if not log:
        return
    entries = chained(namespace, log, tables.read_last_link(session, namespace), os.urandom(SALT_BYTES * len(log)))
    tables.insert_log(session, namespace, entries)
    last = entries[-1]
    tables.store_closed_head(session, namespace, LogHead(last.position, last.link or ""))


def _purge_buffers(
    session: SqlSession, namespace: str, ids: frozenset[MemoryId], remaining_state: RemainingState
) -> None:
    for name, agent, state in session.rows(_BUFFER_STATES, namespace):
        left = remaining_state(state, ids)
        if left is None:
            session.change(_DELETE_BUFFER, namespace, name, agent)
        elif left != state:
            session.change(_SET_BUFFER_STATE, left, namespace, name, agent)
