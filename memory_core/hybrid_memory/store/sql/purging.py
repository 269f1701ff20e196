"""What a purge deletes: what a selection comes to, and the rows and references that go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hybrid_memory.clock import to_micros
from hybrid_memory.model import MemoryId
from hybrid_memory.store.purge_rules import Links, expand, plan_of, without_references
from hybrid_memory.store.sql.readings import forget_readings_in, forget_readings_of
from hybrid_memory.store.sql.rows import existing_ids, list_names, object_mentions
from hybrid_memory.store.sql.undo import forget_undos_about
from hybrid_memory.store.writing import ChangeType, LogEntry

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from hybrid_memory.model import Memory
    from hybrid_memory.store.erasing import RemainingState
    from hybrid_memory.store.sql.own import Own
    from hybrid_memory.store.sql.session import Session
    from hybrid_memory.store.transfer import PurgePlan, PurgeSelection

_ALL_IDS = "SELECT id FROM memory WHERE namespace = $1"
_SESSION_IDS = "SELECT id FROM memory WHERE namespace = $1 AND session = $2"
_FORGOTTEN_IDS = "SELECT id FROM memory WHERE namespace = $1 AND forgotten_at IS NOT NULL"
_LINKS = """
    SELECT id, kind, origin, trust, superseded_by, supersedes, parents FROM memory
    WHERE namespace = $1 AND (superseded_by IS NOT NULL OR supersedes IS NOT NULL OR parents IS NOT NULL
        OR id IN (SELECT superseded_by FROM memory WHERE namespace = $1))
"""
_SAME_CONTENT = """
    SELECT id FROM memory WHERE namespace = $1 AND content_hash IN (
        SELECT content_hash FROM memory WHERE namespace = $1 AND id = ANY ($2::text[])
    ) ORDER BY id
"""
_PARENTS_ELSEWHERE = """
    SELECT namespace, id, parents FROM memory WHERE namespace <> $1 AND parents IS NOT NULL ORDER BY namespace, id
"""
_REFERENCES = """
    SELECT id, superseded_by, supersedes, duplicate_of, disputes, parents FROM memory WHERE namespace = $1 AND (
        superseded_by = ANY ($2::text[]) OR supersedes = ANY ($2::text[]) OR duplicate_of = ANY ($2::text[])
        OR disputes = ANY ($2::text[]) OR parents IS NOT NULL)
    ORDER BY id
"""
_ENTRIES = "SELECT count(*) FROM entry WHERE namespace = $1 AND coalesce(conversation = $2::text, true)"
_BUFFERS = "SELECT count(*) FROM buffer WHERE namespace = $1 AND coalesce(session = $2::text, true)"
_REVS = "SELECT id, rev FROM memory WHERE namespace = $1 AND id = ANY ($2::text[]) ORDER BY id"
_DELETE = (
    "DELETE FROM memory WHERE namespace = $1 AND id = ANY ($2::text[])",
    "DELETE FROM usage WHERE namespace = $1 AND id = ANY ($2::text[])",
    "DELETE FROM sync_usage WHERE namespace = $1 AND id = ANY ($2::text[])",
)
_REQUESTS = "SELECT relay, number, result FROM request WHERE namespace = $1"
_DELETE_REQUEST = "DELETE FROM request WHERE relay = $1 AND number = $2"
_BUFFER_STATES = "SELECT session, agent, state FROM buffer WHERE namespace = $1"
_SET_BUFFER_STATE = "UPDATE buffer SET state = $4 WHERE namespace = $1 AND session = $2 AND agent = $3"
_DELETE_BUFFER = "DELETE FROM buffer WHERE namespace = $1 AND session = $2 AND agent = $3"
# Its name would stay behind: attention is nothing without memories.
_DELETE_EMPTY_BUFFERS = """
    DELETE FROM buffer WHERE namespace = $1 AND session = ANY ($2::text[])
        AND session NOT IN (SELECT session FROM memory WHERE namespace = $1)
"""
_SESSIONS_OF = "SELECT DISTINCT session FROM memory WHERE namespace = $1 AND id = ANY ($2::text[])"
_DELETE_SESSION = (
    "DELETE FROM buffer WHERE namespace = $1 AND session = $2",
    "DELETE FROM entry WHERE namespace = $1 AND conversation = $2",
    "DELETE FROM conversation WHERE namespace = $1 AND name = $2",
)
_DELETE_NAMESPACE = (
    "DELETE FROM memory WHERE namespace = $1",
    "DELETE FROM usage WHERE namespace = $1",
    "DELETE FROM log WHERE namespace = $1",
    "DELETE FROM buffer WHERE namespace = $1",
    "DELETE FROM request WHERE namespace = $1",
    "DELETE FROM conversation WHERE namespace = $1",
    "DELETE FROM entry WHERE namespace = $1",
    "DELETE FROM sync_usage WHERE namespace = $1",
    "DELETE FROM reading WHERE namespace = $1",
    "DELETE FROM undo WHERE namespace = $1",
    "DELETE FROM namespace WHERE name = $1",
)
# What others are to be told: ids without words, with the moment of the purge, so that it reaches what was known here by then and
# nothing else. Only where the namespace was synchronised; elsewhere nothing stays.
_FORGET_COME_AGAIN = "DELETE FROM sync_row WHERE namespace = $1 AND gone <= born"
_TELL_PURGED = """
    INSERT INTO sync_row (namespace, id, born, gone, fields)
    SELECT $1, known.id, 0, greatest($2::bigint, s.clock + 1), NULL FROM sync_log AS s, (
        SELECT id FROM memory WHERE namespace = $1 UNION SELECT id FROM log WHERE namespace = $1 AND id <> ''
    ) AS known WHERE s.namespace = $1 AND known.id NOT IN (SELECT id FROM sync_row WHERE namespace = $1)
"""
_TELL_REMOVED = """
    UPDATE sync_item SET stamp = greatest($2::bigint, s.clock + 1), digest = NULL, own = true, written = $4
    FROM sync_log AS s WHERE s.namespace = $1 AND sync_item.namespace = $1 AND digest IS NOT NULL AND first = coalesce($3::text, first)
"""
_TOLD_FROM_NEW_LOG = (
    "UPDATE sync_log SET position = 0, link = NULL, clock = greatest($2::bigint, clock + 1) WHERE namespace = $1"
)
_SENT_ANEW = "UPDATE sync_folder SET sent = -1, written = -1 WHERE namespace = $1"
_CLEAN_FOLDERS = "UPDATE sync_folder SET cleaned = -1 WHERE namespace = $1"


def plan_purge(session: Session, selection: PurgeSelection) -> PurgePlan:
    """Return what a selection comes to in a store at this moment."""
    namespace = selection.namespace
    named = selected_ids(session, selection)
    links = [Links(*row) for row in session.rows(_LINKS, namespace)]
    chosen = expand(named, links, take_derived=selection.derived)
    whole = selection.everything or selection.session is not None
    place = (namespace, selection.session)
    return plan_of(
        selection,
        chosen,
        links,
        same_words=[MemoryId(id_) for (id_,) in session.rows(_SAME_CONTENT, namespace, list(chosen.ids))],
        entries=session.rows(_ENTRIES, *place)[0][0] if whole else 0,
        buffers=session.rows(_BUFFERS, *place)[0][0] if whole else 0,
        elsewhere=resting_elsewhere(session, namespace, chosen.ids),
    )


def selected_ids(session: Session, selection: PurgeSelection) -> set[MemoryId]:
    """Return the memories that a selection names."""
    namespace = selection.namespace
    if selection.ids:
        return existing_ids(session, namespace, selection.ids)
    if selection.everything:
        found = session.rows(_ALL_IDS, namespace)
    elif selection.session is not None:
        found = session.rows(_SESSION_IDS, namespace, selection.session)
    else:
        found = session.rows(_FORGOTTEN_IDS, namespace)
    return {MemoryId(id_) for (id_,) in found}


def delete_namespace(session: Session, namespace: str, at: datetime, written: int) -> int:
    """Delete all rows of a namespace but vectors; returns how many memories went.

    ``written`` is the number under which `sync` finds what it has to send.
    """
    count = len(session.rows(_ALL_IDS, namespace))
    session.send(_FORGET_COME_AGAIN, namespace)
    session.send(_TELL_PURGED, namespace, to_micros(at))
    session.send(_TELL_REMOVED, namespace, to_micros(at), None, written)
    session.send(_TOLD_FROM_NEW_LOG, namespace, to_micros(at))
    session.send(_SENT_ANEW, namespace)
    session.send(_CLEAN_FOLDERS, namespace)
    for statement in _DELETE_NAMESPACE:
        session.send(statement, namespace)
    return count


def delete_memories(
    session: Session,
    own: Own,
    selection: PurgeSelection,
    ids: frozenset[MemoryId],
    *,
    position: int,
    at: datetime,
    actor: str,
    remaining_state: RemainingState,
    written: int,
) -> list[LogEntry]:
    """Delete some memories that exist, every reference to them, and what only they kept in the store; returns what the log has to say.

    The log keeps that there was something, when, and that it was purged; its digests of the words are blanked, because a short text can be
    guessed from one. ``position`` is that of its last entry; ``written`` as in `delete_namespace`.
    """
    # Read before anything is deleted: what goes, and which rows refer to it.
    namespace = selection.namespace
    deleted = session.rows(_REVS, namespace, list(ids))
    sessions = [name for (name,) in session.rows(_SESSIONS_OF, namespace, list(ids))]
    cleaned = referring(session, own, namespace, ids)
    remove_rows(session, own, namespace, ids)
    for before, after in cleaned:
        own.replace_memory(session, before, after)
    clean_buffers(session, namespace, ids, remaining_state)
    session.send(_DELETE_EMPTY_BUFFERS, namespace, sessions)
    if selection.session is not None:
        forget_readings_in(session, namespace, selection.session)
        for statement in _DELETE_SESSION:
            session.send(statement, namespace, selection.session)
        session.send(_TELL_REMOVED, namespace, to_micros(at), selection.session, written)
        session.send(_CLEAN_FOLDERS, namespace)
    changes = [(ChangeType.PURGE, id_, rev, "") for id_, rev in deleted]
    changes += [(ChangeType.UPDATE, after.id, after.rev, after.content_hash) for _, after in cleaned]
    return [
        LogEntry(
            position=number,
            change=change,
            id=MemoryId(id_),
            rev=rev,
            at=at,
            actor=actor,
            action="purge",
            digest=digest,
        )
        for number, (change, id_, rev, digest) in enumerate(changes, position + 1)
    ]


def delete_rows(session: Session, own: Own, namespace: str, ids: Collection[MemoryId]) -> None:
    """Delete the rows of some memories, with their vectors and usage."""
    for statement in _DELETE:
        session.send(statement, namespace, list(ids))
    own.delete_vectors(session, namespace, ids)


def remove_rows(session: Session, own: Own, namespace: str, ids: Collection[MemoryId]) -> None:
    """Delete the rows of some memories, with all next to memories that tells of them; the log is left to the caller."""
    delete_rows(session, own, namespace, ids)
    own.erase_digests(session, namespace, ids)
    forget_requests_about(session, namespace, frozenset(ids))
    forget_readings_of(session, ids)
    forget_undos_about(session, namespace, ids)


def forget_requests_about(session: Session, namespace: str, ids: frozenset[MemoryId]) -> None:
    """Delete the stored answers of requests that name some memories; one that cannot be read may name anything."""
    for relay, number, result in session.rows(_REQUESTS, namespace):
        if object_mentions(result, ids):
            session.send(_DELETE_REQUEST, relay, number)


def clean_buffers(session: Session, namespace: str, ids: frozenset[MemoryId], remaining_state: RemainingState) -> None:
    """Take some memories out of the attention of all agents."""
    for name, agent, state in session.rows(_BUFFER_STATES, namespace):
        left = remaining_state(state, ids)
        if left is None:
            session.send(_DELETE_BUFFER, namespace, name, agent)
        elif left != state:
            session.send(_SET_BUFFER_STATE, namespace, name, agent, left)


def referring(session: Session, own: Own, namespace: str, ids: frozenset[MemoryId]) -> list[tuple[Memory, Memory]]:
    """Return the memories that stay and refer to some that go, as they are and as they will be."""
    found = [
        MemoryId(id_)
        for id_, *links, parents in session.rows(_REFERENCES, namespace, list(ids))
        if id_ not in ids and (not ids.isdisjoint(links) or list_names(parents, ids))
    ]
    known = own.memories(session, namespace, found)
    cleaned = [(before, without_references(before, ids)) for before in known.values()]
    # A row that cannot be read at its parents was looked at for nothing.
    return [(before, after) for before, after in cleaned if _has_lost_links(before, after)]


def resting_elsewhere(session: Session, namespace: str, ids: Collection[MemoryId]) -> list[tuple[str, MemoryId]]:
    """Return the memories of other namespaces that were made from some of this one."""
    gone = frozenset(ids)
    return [
        (other, MemoryId(id_))
        for other, id_, parents in session.rows(_PARENTS_ELSEWHERE, namespace)
        if list_names(parents, gone)
    ]


def _has_lost_links(before: Memory, after: Memory) -> bool:
    names: Sequence[str] = ("superseded_by", "supersedes", "duplicate_of", "disputes", "parents")
    return any(getattr(before, name) != getattr(after, name) for name in names)
