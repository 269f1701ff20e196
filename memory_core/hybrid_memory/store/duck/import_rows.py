"""Which rows came in with which import, as the log tells it, and how all rows of one leave the store again.

An import writes its own action into the log (`hybrid_memory.admin.imports.action_of`): nothing else has to be kept, a copy of the
store knows it too, and an import that was killed and done again has the same one.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from hybrid_memory.clock import from_micros, to_micros
from hybrid_memory.model import MemoryId, Trust
from hybrid_memory.moments import nearest_moment
from hybrid_memory.store.duck import tables
from hybrid_memory.store.duck.memory_table import memories_by_id, update_memory
from hybrid_memory.store.duck.own import delete_vectors
from hybrid_memory.store.duck.writer_cache import Head, LruCache
from hybrid_memory.store.encoding import to_json
from hybrid_memory.store.memory_fields import texts_from_json
from hybrid_memory.store.purge_rules import without_references
from hybrid_memory.store.sql.readings import forget_readings_of
from hybrid_memory.store.sql.undo import forget_undos_about
from hybrid_memory.store.transfer import ExistingMemory, ImportRows, UndoneImport
from hybrid_memory.store.writing import BufferState, ChangeType, LogEntry

if TYPE_CHECKING:
    from hybrid_memory.model import Memory
    from hybrid_memory.store.duck.engine import Transaction
    from hybrid_memory.store.duck.sql_session import SqlSession
    from hybrid_memory.store.erasing import RemainingState

_IMPORTS = """
    WITH put AS (
        SELECT namespace, id, arg_max(action, position) AS action, max(made_at) AS made_at FROM log
        WHERE change = 'put' GROUP BY namespace, id
    )
    SELECT put.action, put.namespace, min(put.made_at), count(*), min(memory.created_at), max(memory.created_at)
    FROM put JOIN memory USING (namespace, id) WHERE starts_with(put.action, 'import ')
    GROUP BY put.action, put.namespace ORDER BY min(put.made_at), put.action, put.namespace
"""
_KNOWN = "SELECT DISTINCT action FROM log WHERE change = 'put' AND starts_with(action, 'import ') ORDER BY action"
_ROWS = """
    WITH put AS (
        SELECT namespace, id, arg_max(action, position) AS action FROM log WHERE change = 'put' GROUP BY namespace, id
    )
    SELECT namespace, id, rev FROM put JOIN memory USING (namespace, id) WHERE put.action = ? ORDER BY namespace, id
"""
_SAME_WORDS = """
    SELECT content_hash, id, created_at, trust, superseded_by FROM memory
    WHERE concat(namespace) = $1 AND content_hash IN (SELECT unnest(from_json($2, '["VARCHAR"]')))
"""
_LINKS = """
    SELECT id, superseded_by, supersedes, duplicate_of, disputes, parents FROM memory WHERE concat(namespace) = ? AND
        (superseded_by IS NOT NULL OR supersedes IS NOT NULL OR duplicate_of IS NOT NULL OR disputes IS NOT NULL OR parents IS NOT NULL)
"""
_PARENTS_ELSEWHERE = (
    "SELECT namespace, id, parents FROM memory WHERE namespace <> ? AND parents IS NOT NULL ORDER BY namespace, id"
)
_DELETE = (
    "DELETE FROM memory WHERE namespace = ? AND id IN (SELECT unnest(from_json(?, '[\"VARCHAR\"]')))",
    "DELETE FROM usage WHERE namespace = ? AND id IN (SELECT unnest(from_json(?, '[\"VARCHAR\"]')))",
    "DELETE FROM sync_usage WHERE namespace = ? AND id IN (SELECT unnest(from_json(?, '[\"VARCHAR\"]')))",
)
_BUFFERS = "SELECT session, agent, state, touched_at FROM buffer WHERE namespace = ? ORDER BY session, agent"
_INSERT_LOG = """
    INSERT INTO log (namespace, position, change, id, rev, made_at, actor, action, digest, note, salt, link)
    SELECT one.namespace, one.position, $2, one.id, one.rev, $3, $4, $5, one.digest, one.note, one.salt, one.link
    FROM (SELECT unnest(from_json($1, '[{
        "namespace": "VARCHAR", "position": "BIGINT", "id": "VARCHAR", "rev": "BIGINT", "digest": "VARCHAR",
        "note": "VARCHAR", "salt": "VARCHAR", "link": "VARCHAR"}]')) AS one)
"""


def imports_in(session: SqlSession) -> list[ImportRows]:
    """Return the imports of which memories are in the store, by time and namespace."""
    return [
        ImportRows(action, namespace, from_micros(made_at), count, nearest_moment(first), nearest_moment(last))
        for action, namespace, made_at, count, first, last in session.rows(_IMPORTS)
    ]


def known_imports(session: SqlSession) -> list[str]:
    """Return the actions of all imports that there ever were, also of those that were undone."""
    return [action for (action,) in session.rows(_KNOWN)]


def same_words(session: SqlSession, namespace: str, digests: Sequence[str]) -> list[ExistingMemory]:
    """Return the memories of a namespace whose words have one of some digests."""
    return [
        ExistingMemory(namespace, MemoryId(id_), digest, created_at, trust_of_row(trust), superseded_by)
        for digest, id_, created_at, trust, superseded_by in session.rows(
            _SAME_WORDS, namespace, to_json(list(digests))
        )
    ]


def erase_import(
    transaction: Transaction, action: str, at: datetime, *, actor: str, remaining_state: RemainingState
) -> UndoneImport:
    """Delete the rows that came in with an import, and every reference to them; the log tells each, so that everybody can follow.

    What was made since and rests on them stays: later versions, and insights, which are named.
    """
    gone: dict[str, list[tuple[MemoryId, int]]] = {}
    for namespace, id_, rev in transaction.reads.rows(_ROWS, action):
        gone.setdefault(namespace, []).append((MemoryId(id_), rev))
    kept: list[tuple[str, MemoryId]] = []
    for namespace, rows in gone.items():
        ids = frozenset(id_ for id_, _ in rows)
        cleaned = _referring(transaction.reads, namespace, ids)
        wanted = to_json(sorted(ids))
        for statement in _DELETE:
            transaction.changes.change(statement, namespace, wanted)
        delete_vectors(transaction.changes, namespace, ids)
        forget_readings_of(transaction.changes, ids)
        forget_undos_about(transaction.changes, namespace, ids)
        for before, after in cleaned:
            update_memory(transaction.changes, after, before.rev)
            if before.parents != after.parents:
                kept.append((namespace, after.id))
        kept += _resting_elsewhere(transaction.reads, namespace, ids)
        head = transaction.cache.heads.get(namespace, Head()).position
        purged = [
            _entry(head + number, ChangeType.PURGE, id_, rev, "", at, actor)
            for number, (id_, rev) in enumerate(rows, 1)
        ]
        changed = [
            _entry(head + len(rows) + number, ChangeType.UPDATE, after.id, after.rev, after.content_hash, at, actor)
            for number, (_, after) in enumerate(cleaned, 1)
        ]
        for log in (purged, changed):
            append_many_to_log(transaction, namespace, log)
        _clean_buffers(transaction, namespace, ids, remaining_state)
    cache = transaction.cache
    cache.members, cache.memories = LruCache(), LruCache()
    return UndoneImport(
        memories=sum(map(len, gone.values())), namespaces=tuple(gone), resting_on=tuple(dict.fromkeys(kept))
    )


def append_many_to_log(transaction: Transaction, namespace: str, log: Sequence[LogEntry]) -> None:
    """Append entries of one change, time, actor and action to a namespace's log, by one statement."""
    if not log:
        return
    session, _, cache = transaction
    first = log[0]
    entries = [
        one._asdict() | {"namespace": namespace, "note": one.note or None}
        for one in tables.chain_on(session, cache, namespace, log)
    ]
    tables.advance(cache, namespace, log[-1].position, to_micros(first.at))
    session.change(_INSERT_LOG, to_json(entries), first.change.value, to_micros(first.at), first.actor, first.action)


def trust_of_row(stored: str) -> Trust:
    """Return the trust that a row says."""
    try:
        return Trust(stored)
    except ValueError:
        return Trust.CONFIRMED  # what nobody can read, nothing untrusted may be linked to


def _entry(
    position: int, change: ChangeType, id_: MemoryId, rev: int, digest: str, at: datetime, actor: str
) -> LogEntry:
    return LogEntry(
        position=position, change=change, id=id_, rev=rev, at=at, actor=actor, action="undo import", digest=digest
    )


def _referring(session: SqlSession, namespace: str, ids: frozenset[MemoryId]) -> list[tuple[Memory, Memory]]:
    """Return the memories that stay and refer to some that go, before and after, with their new revision."""
    found = [
        MemoryId(id_)
        for id_, *links, parents in session.rows(_LINKS, namespace)
        if id_ not in ids and (not ids.isdisjoint(links) or not ids.isdisjoint(_texts(parents)))
    ]
    known = memories_by_id(session, namespace, found) if found else {}
    return [(before, without_references(before, ids)) for before in known.values()]


def _resting_elsewhere(session: SqlSession, namespace: str, ids: frozenset[MemoryId]) -> list[tuple[str, MemoryId]]:
    return [
        (other, MemoryId(id_))
        for other, id_, parents in session.rows(_PARENTS_ELSEWHERE, namespace)
        if not ids.isdisjoint(_texts(parents))
    ]


def _texts(parents: str | None) -> Sequence[str]:
    try:
        return texts_from_json(parents)
    except ValueError:
        return ()


def _clean_buffers(
    transaction: Transaction, namespace: str, ids: frozenset[MemoryId], remaining_state: RemainingState
) -> None:
    session, reads, cache = transaction
    for name, agent, state, touched_at in reads.rows(_BUFFERS, namespace):
        left = remaining_state(state, ids)
        if left != state:
            tables.write_buffer(session, cache, namespace, BufferState(name, agent, left, nearest_moment(touched_at)))
