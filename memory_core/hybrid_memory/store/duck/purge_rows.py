"""Erases memories from a database file, with all that refers to them; the bytes go when the file is copied afterwards."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from string import Template
from typing import TYPE_CHECKING, Any, TypeAlias

from hybrid_memory.model import Kind, MemoryId, Origin
from hybrid_memory.store.base import ChangeType, LogEntry
from hybrid_memory.store.duck import tables
from hybrid_memory.store.duck.memory_table import existing_ids, memories_by_id, update_memory
from hybrid_memory.store.encoding import from_json, to_json
from hybrid_memory.store.memory_fields import texts_from_json
from hybrid_memory.store.transfer import PurgePlan, PurgeSelection

if TYPE_CHECKING:
    from datetime import datetime

    from hybrid_memory.model import Memory
    from hybrid_memory.store.duck.sql_session import SqlSession

_ALL = "SELECT id FROM memory WHERE namespace = ?"
_OF_SESSION = "SELECT id FROM memory WHERE namespace = ? AND session = ?"
_FORGOTTEN = "SELECT id FROM memory WHERE namespace = ? AND forgotten_at IS NOT NULL"
_EDGES = """
    SELECT id, kind, origin, superseded_by, supersedes, parents FROM memory
    WHERE namespace = ? AND (superseded_by IS NOT NULL OR supersedes IS NOT NULL OR parents IS NOT NULL)
"""
_SAME_WORDS = """
    SELECT id FROM memory WHERE namespace = $1 AND content_hash IN (
        SELECT content_hash FROM memory WHERE namespace = $1 AND id IN (SELECT unnest(from_json($2, '["VARCHAR"]')))
    ) ORDER BY id
"""
_ENTRIES = "SELECT count(*) FROM entry WHERE namespace = $1 AND coalesce(conversation = $2, true)"
_BUFFERS = "SELECT count(*) FROM buffer WHERE namespace = $1 AND coalesce(session = $2, true)"

_REFERRING = """
    SELECT id FROM memory WHERE namespace = $1 AND (
        superseded_by IN (SELECT unnest(from_json($2, '["VARCHAR"]')))
        OR supersedes IN (SELECT unnest(from_json($2, '["VARCHAR"]')))
        OR duplicate_of IN (SELECT unnest(from_json($2, '["VARCHAR"]')))
        OR list_has_any(from_json(parents, '["VARCHAR"]'), from_json($2, '["VARCHAR"]')))
    ORDER BY id
"""
_REVS = """
    SELECT id, rev FROM memory WHERE namespace = ? AND id IN (SELECT unnest(from_json(?, '["VARCHAR"]'))) ORDER BY id
"""
_ERASE = Template("DELETE FROM $table WHERE namespace = ? AND id IN (SELECT unnest(from_json(?, '[\"VARCHAR\"]')))")
_VECTOR_TABLES = "SELECT table_name FROM duckdb_tables() WHERE regexp_full_match(table_name, 'vector_[0-9]+')"
_BLANK = """
    UPDATE log SET digest = '' WHERE namespace = ? AND id IN (SELECT unnest(from_json(?, '["VARCHAR"]')))
"""
_REQUESTS = "SELECT relay, number, result FROM request WHERE namespace = ?"
_ERASE_REQUEST = "DELETE FROM request WHERE relay = ? AND number = ?"
_STATES = "SELECT session, agent, state FROM buffer WHERE namespace = ?"
_SET_STATE = "UPDATE buffer SET state = ? WHERE namespace = ? AND session = ? AND agent = ?"
_ERASE_STATE = "DELETE FROM buffer WHERE namespace = ? AND session = ? AND agent = ?"
_ERASE_SESSION = (
    "DELETE FROM buffer WHERE namespace = ? AND session = ?",
    "DELETE FROM entry WHERE namespace = ? AND conversation = ?",
    "DELETE FROM conversation WHERE namespace = ? AND name = ?",
)
_ERASE_NAMESPACE = (
    "DELETE FROM memory WHERE namespace = ?",
    "DELETE FROM usage WHERE namespace = ?",
    "DELETE FROM log WHERE namespace = ?",
    "DELETE FROM buffer WHERE namespace = ?",
    "DELETE FROM request WHERE namespace = ?",
    "DELETE FROM conversation WHERE namespace = ?",
    "DELETE FROM entry WHERE namespace = ?",
    "DELETE FROM namespace WHERE name = ?",
)
_ERASE_VECTORS = Template("DELETE FROM $table WHERE namespace = ?")

Ids: TypeAlias = frozenset[MemoryId]
RemainingState: TypeAlias = Callable[[str, Ids], str | None]
"""Returns a buffer's state without some memories, None when nothing is left of it."""


def plan_purge(session: SqlSession, selection: PurgeSelection) -> PurgePlan:
    """Return what a selection comes to in a store at this moment."""
    named = _named(session, selection)
    edges = [_Edge(*row) for row in session.rows(_EDGES, selection.namespace)]
    ids, derived, left = _with_what_follows(named, edges, take_derived=selection.derived)
    same = [MemoryId(id_) for (id_,) in session.rows(_SAME_WORDS, selection.namespace, to_json(sorted(ids)))]
    whole = selection.everything or selection.session is not None
    place = (selection.namespace, selection.session)
    return PurgePlan(
        ids=frozenset(ids),
        named=len(named),
        versions=len(ids) - len(named) - len(derived),
        derived=len(derived),
        missing=len(set(selection.ids) - named),
        entries=session.rows(_ENTRIES, *place)[0][0] if whole else 0,
        buffers=session.rows(_BUFFERS, *place)[0][0] if whole else 0,
        newer=tuple(sorted(e.superseded_by for e in edges if e.id in ids and e.superseded_by not in {None, *ids})),
        same_words=tuple(id_ for id_ in same if id_ not in ids),
        kept_derived=tuple(sorted(left)),
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
        if selection.everything:
            count = len(session.rows(_ALL, selection.namespace))
            _erase_namespace(session, selection.namespace)
        else:
            there = frozenset(existing_ids(session, selection.namespace, list(ids)))
            count = len(there)
            _erase_memories(session, selection.namespace, there, at=at, actor=actor)
            _clean_buffers(session, selection.namespace, there, remaining_state)
            if selection.session is not None:
                for statement in _ERASE_SESSION:
                    session.change(statement, selection.namespace, selection.session)
        session.commit()
    except BaseException:
        session.rollback()
        raise
    return count


class _Edge:
    """What a memory has to do with others."""

    __slots__ = ("id", "is_derived", "parents", "superseded_by", "supersedes")

    def __init__(self, *row: Any) -> None:
        self.id, kind, origin, self.superseded_by, self.supersedes, parents = row
        self.parents = frozenset(MemoryId(parent) for parent in texts_from_json(parents))
        self.is_derived = kind in {Kind.INSIGHT.value, Kind.SUMMARY.value} or origin == Origin.DERIVED.value


def _named(session: SqlSession, selection: PurgeSelection) -> set[MemoryId]:
    if selection.ids:
        return existing_ids(session, selection.namespace, selection.ids)
    if selection.everything:
        found = session.rows(_ALL, selection.namespace)
    elif selection.session is not None:
        found = session.rows(_OF_SESSION, selection.namespace, selection.session)
    else:
        found = session.rows(_FORGOTTEN, selection.namespace)
    return {MemoryId(id_) for (id_,) in found}


def _with_what_follows(
    named: set[MemoryId], edges: Sequence[_Edge], *, take_derived: bool
) -> tuple[set[MemoryId], set[MemoryId], set[MemoryId]]:
    """Return all that goes, what of it is derived, and what is derived and stays."""
    older: dict[MemoryId, set[MemoryId]] = defaultdict(set)
    made: dict[MemoryId, set[MemoryId]] = defaultdict(set)
    there = {edge.id for edge in edges}
    for edge in edges:
        older[edge.superseded_by].add(edge.id)
        older[edge.id] |= {edge.supersedes} & there
        for parent in edge.parents if edge.is_derived else ():
            made[parent].add(edge.id)
    ids: set[MemoryId] = set(named)
    derived: set[MemoryId] = set()
    rest = list(named)
    while rest:
        one = rest.pop()
        from_it = made[one] - ids
        derived |= from_it
        new = (older[one] | from_it if take_derived else older[one]) - ids
        ids |= new
        rest += new
    return ids, derived & ids, derived - ids


def _erase_namespace(session: SqlSession, namespace: str) -> None:
    for statement in _ERASE_NAMESPACE:
        session.change(statement, namespace)
    for (table,) in session.rows(_VECTOR_TABLES):
        session.change(_ERASE_VECTORS.substitute(table=table), namespace)


def _erase_memories(session: SqlSession, namespace: str, ids: Ids, *, at: datetime, actor: str) -> None:
    wanted = to_json(sorted(ids))
    head = tables.read_head(session, namespace).position
    gone = session.rows(_REVS, namespace, wanted)
    referring = [MemoryId(id_) for (id_,) in session.rows(_REFERRING, namespace, wanted) if id_ not in ids]
    cleaned = [(was, _unbound(was, ids)) for was in memories_by_id(session, namespace, referring).values()]
    for table in ("memory", "usage", *(name for (name,) in session.rows(_VECTOR_TABLES))):
        session.change(_ERASE.substitute(table=table), namespace, wanted)
    for was, memory in cleaned:
        update_memory(session, memory, was.rev)
    session.change(_BLANK, namespace, wanted)
    changes = [(ChangeType.PURGE, id_, rev, "") for id_, rev in gone]
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
    tables.append_log(session, namespace, log)
    for relay, number, result in session.rows(_REQUESTS, namespace):
        if _names(from_json(result), ids):
            session.change(_ERASE_REQUEST, relay, number)


def _unbound(memory: Memory, ids: Ids) -> Memory:
    """Return a memory that no longer refers to some others."""

    def kept(one: MemoryId | None) -> MemoryId | None:
        return None if one in ids else one

    return replace(
        memory,
        superseded_by=kept(memory.superseded_by),
        supersedes=kept(memory.supersedes),
        duplicate_of=kept(memory.duplicate_of),
        parents=tuple(one for one in memory.parents if one not in ids),
        rev=memory.rev + 1,
    )


def _names(value: Any, ids: Ids) -> bool:
    """Say whether a JSON value holds one of the ids."""
    if isinstance(value, dict):
        return any(_names(one, ids) for one in (*value, *value.values()))
    if isinstance(value, list):
        return any(_names(one, ids) for one in value)
    return value in ids if isinstance(value, str) else False


def _clean_buffers(session: SqlSession, namespace: str, ids: Ids, remaining_state: RemainingState) -> None:
    for name, agent, state in session.rows(_STATES, namespace):
        left = remaining_state(state, ids)
        if left is None:
            session.change(_ERASE_STATE, namespace, name, agent)
        elif left != state:
            session.change(_SET_STATE, left, namespace, name, agent)
