"""The other tables, a function for each thing that is done with them: heads, log, requests, usage, buffers, embedders, messages and plans.

What is `send`-ed goes out with the next statement that is waited for, mostly COMMIT. The statements come first.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from hybrid_memory.clock import to_micros
from hybrid_memory.errors import LogTrimmed
from hybrid_memory.model import MemoryId, Usage
from hybrid_memory.moments import nearest_moment
from hybrid_memory.store.audit_chain import SALT_BYTES, ChainCheck, ChainedEntry, LogHead, chained, check_chain
from hybrid_memory.store.base import ConversationEntry
from hybrid_memory.store.encoding import check_moment, check_number, check_text
from hybrid_memory.store.memory_fields import MOST
from hybrid_memory.store.snapshots import NO_LIMIT
from hybrid_memory.store.sql.rows import StoredRequest, buffer_of, entry_of, readable_object
from hybrid_memory.store.sql.session import Row
from hybrid_memory.store.writing import BufferState, LogEntry, RecordUse, RequestKey
from hybrid_memory_postgres.sql_session import PgSession, Statement
from hybrid_memory_postgres.vector_table import PinnedEmbedder

# The first statement of every write: from here to the end of the transaction nobody else writes this namespace. The number of the
# transaction comes along, by which it can be found out later whether it was committed.
_LOCK = """
    SELECT position, trimmed_before, link, last_at, pg_current_xact_id()::text FROM namespace WHERE name = $1 FOR UPDATE
"""
# The id of the store, and the pinned embedder if there is one. Asked behind the lock: a statement that waits may answer as of before.
_STORE_AND_PINNED = """
    SELECT (SELECT id FROM store), pinned.* FROM (SELECT) AS one LEFT JOIN (
        SELECT number, identity, dimensions FROM embedder WHERE number > 0 ORDER BY number DESC LIMIT 1
    ) AS pinned ON true
"""
_NEW_HEAD = "INSERT INTO namespace (name) VALUES ($1) ON CONFLICT (name) DO NOTHING"
HEAD = "SELECT position, trimmed_before, link, last_at FROM namespace WHERE name = $1"
_ADVANCE = "UPDATE namespace SET position = $2, link = $3, last_at = $4 WHERE name = $1"

_LOG_INSERT = """
    INSERT INTO log (namespace, position, change, id, rev, made_at, actor, action, digest, note, salt, link)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
"""
# A position that no counting reaches is none: the next one could not be counted.
LOG = """
    SELECT position, change, id, rev, made_at, actor, action, digest, coalesce(note, '') FROM log
    WHERE namespace = $1 AND position > $2 AND position < 4611686018427387904 ORDER BY position LIMIT $3
"""
TRIMMED = "the change log no longer reaches back that far; load a snapshot"
_LOG_OF_IDS = """
    SELECT position, change, id, rev, made_at, actor, action, digest, coalesce(note, '') FROM log
    WHERE namespace = $1 AND id = ANY($2::text[]) ORDER BY position
"""
_CHAIN = """
    SELECT position, change, id, rev, made_at, actor, action, digest, coalesce(note, ''), salt, link FROM log
    WHERE namespace = $1 AND position > $2 ORDER BY position LIMIT $3
"""
_LINK = "SELECT link FROM log WHERE namespace = $1 AND position = $2"
_CHAIN_ROWS = 10_000  # entries read at once, a few megabytes

_REQUESTS = """
    SELECT request.relay, request.number, request.namespace, request.result, request.position, request.made_at
    FROM unnest($1::text[], $2::bigint[]) AS asked (relay, number) JOIN request USING (relay, number)
"""
_REQUEST_INSERT = """
    INSERT INTO request (relay, number, namespace, position, made_at, result) VALUES ($1, $2, $3, $4, $5, $6)
"""
_REQUESTS_FORGET = "DELETE FROM request WHERE made_at < $1"
_REQUEST_FORGET = "DELETE FROM request WHERE relay = $1 AND number <= $2"

BUFFER = "SELECT session, agent, state, touched_at FROM buffer WHERE namespace = $1 AND session = $2 AND agent = $3"
_BUFFERS = "SELECT session, agent, state, touched_at FROM buffer WHERE namespace = $1 ORDER BY session, agent"
_BUFFER_PUT = """
    INSERT INTO buffer (namespace, session, agent, state, touched_at) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (namespace, session, agent) DO UPDATE SET state = excluded.state, touched_at = excluded.touched_at
"""
_BUFFER_DELETE = "DELETE FROM buffer WHERE namespace = $1 AND session = $2 AND agent = $3"

_EMBEDDER_INSERT = """
    INSERT INTO embedder (number, identity, dimensions, pinned_at) VALUES ($1, $2, $3, $4) ON CONFLICT (number) DO NOTHING
"""

USAGE = "SELECT id, accessed_at, count FROM usage WHERE namespace = $1 AND id = ANY($2::text[])"
_USAGE_SINCE = "SELECT id, accessed_at, count FROM usage WHERE namespace = $1 AND accessed_at >= $2"
# In the order of ids, so that two hubs that count the same memories wait for each other instead of failing.
_USAGE_ADD = """
    INSERT INTO usage AS known (namespace, id, accessed_at, count)
    SELECT $1, added.id, added.seen, added.times
    FROM unnest($2::text[], $3::bigint[], $4::bigint[]) AS added (id, seen, times)
    WHERE EXISTS (SELECT 1 FROM memory WHERE memory.namespace = $1 AND memory.id = added.id)
    ORDER BY added.id
    ON CONFLICT (namespace, id) DO UPDATE SET accessed_at = greatest(known.accessed_at, excluded.accessed_at),
        count = least(greatest(known.count, 0), 4611686018427387904) + excluded.count
"""

# Locks the counter of the conversation, so that two hubs give two numbers.
_CONVERSATION = """
    INSERT INTO conversation AS known (namespace, name, kind, last) VALUES ($1, $2, $3, 0)
    ON CONFLICT (namespace, name, kind) DO UPDATE SET last = known.last RETURNING last
"""
_CONVERSATION_UPDATE = "UPDATE conversation SET last = $4 WHERE namespace = $1 AND name = $2 AND kind = $3"
_ENTRY_PUT = """
    INSERT INTO entry (namespace, conversation, kind, number, body) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (namespace, conversation, kind, number) DO UPDATE SET body = excluded.body
"""
_ENTRY_THERE = """
    SELECT number FROM entry WHERE namespace = $1 AND conversation = $2 AND kind = $3 AND number = ANY ($4::bigint[]) AND body = $5
"""
_ENTRIES = """
    SELECT number, body FROM entry WHERE namespace = $1 AND conversation = $2 AND kind = $3 ORDER BY number
"""
_LAST_NUMBER = """
    SELECT coalesce(max(number), 0) FROM entry WHERE namespace = $1 AND conversation = $2 AND kind = $3 AND number < $4
"""
_ENTRIES_DELETE = "DELETE FROM entry WHERE namespace = $1 AND conversation = $2 AND kind = $3 RETURNING number"


@dataclass(frozen=True, slots=True)
class Head:
    """Where a namespace's log ends, from where it is still told, the link of its last entry, and when it was last written."""

    position: int = 0
    trimmed_before: int = 0
    link: str = ""
    last_at: int = 0


@dataclass(frozen=True, slots=True)
class Locked:
    """What is in the store as a write begins: ``transaction`` is the server's number of the write, ``store`` the id of the store.

    ``others`` are the rows of what else was asked.
    """

    store: str
    head: Head
    embedder: PinnedEmbedder | None
    requests: Mapping[RequestKey, StoredRequest]
    transaction: str
    others: Sequence[Sequence[Row]]


def lock_namespace(
    session: PgSession, namespace: str, keys: Sequence[RequestKey], others: Sequence[Statement] = ()
) -> Locked:
    """Take the lock of a namespace, and read what every write must know, and what ``others`` ask.

    It takes one round trip where the namespace is known. What is asked behind the lock is answered as of after it was taken.
    """
    check_text(namespace, *(key.relay for key in keys))
    requests = ((_REQUESTS, _columns_of(keys)),) if keys else ()
    while True:
        head, here, *rest = session.together((_LOCK, (namespace,)), (_STORE_AND_PINNED, ()), *requests, *others)
        if head:
            *known, transaction = head[0]
            store, *embedder = here[0]
            pinned = None if embedder[0] is None else PinnedEmbedder(*embedder)
            done = _requests_of(rest.pop(0)) if requests else {}
            return Locked(store or "", Head(*known), pinned, done, transaction, rest)
        session.send(_NEW_HEAD, namespace)


def advance(session: PgSession, namespace: str, head: Head) -> None:
    """Store a namespace's new head."""
    session.send(_ADVANCE, namespace, head.position, head.link, head.last_at)


def read_head(session: PgSession, namespace: str) -> Head:
    """Return the head of a namespace; that of a new one is 0."""
    row = session.row(HEAD, namespace)
    return Head(*row) if row else Head()


def append_log(session: PgSession, namespace: str, log: Sequence[LogEntry], link: str) -> str:
    """Send entries to a namespace's log and its chain, behind ``link``; returns the link of the last."""
    if not log:
        return link
    entries = chained(namespace, log, link, os.urandom(SALT_BYTES * len(log)))
    insert_log(session, namespace, entries)
    return entries[-1].link or ""


def insert_log(session: PgSession, namespace: str, log: Iterable[ChainedEntry]) -> None:
    """Send entries as they are."""
    session.send_many(
        _LOG_INSERT,
        (
            (
                *(namespace, one.position, one.change, one.id, one.rev, one.made_at, one.actor, one.action),
                *(one.digest, one.note or None, one.salt, one.link),
            )
            for one in log
        ),
    )


def read_chain(session: PgSession, namespace: str) -> Iterator[ChainedEntry]:
    """Yield all entries of a namespace's log in order, with salts and links."""
    after = -NO_LIMIT
    while rows := session.rows(_CHAIN, namespace, after, _CHAIN_ROWS):
        for row in rows:
            yield ChainedEntry(*row)
        after = rows[-1][0]


def read_link(session: PgSession, namespace: str, position: int) -> str | None:
    """Return the link of an entry of a namespace's log, None where there is no such entry."""
    row = session.row(_LINK, namespace, position)
    return row[0] if row else None


def check_log(session: PgSession, namespace: str) -> ChainCheck:
    """Follow the chain of a namespace's log to the head that is stored apart."""
    head = read_head(session, namespace)
    return check_chain(
        namespace, read_chain(session, namespace), LogHead(head.position, head.link) if head.position else None
    )


def read_history(session: PgSession, namespace: str, ids: Iterable[MemoryId]) -> list[LogEntry]:
    """Return all entries of some memories in order."""
    return [entry_of(row) for row in session.rows(_LOG_OF_IDS, namespace, list(ids))]


def read_log(session: PgSession, namespace: str, after: int, limit: int) -> list[LogEntry]:
    """Return entries behind ``after`` in order; raises `LogTrimmed`."""
    if after + 1 < read_head(session, namespace).trimmed_before:
        raise LogTrimmed(TRIMMED)
    return read_entries_of_log(session, namespace, after, limit)


def read_entries_of_log(session: PgSession, namespace: str, after: int, limit: int) -> list[LogEntry]:
    """Return entries behind ``after`` in order, as far as they are there."""
    return [entry_of(row) for row in session.rows(LOG, namespace, after, max(limit, 0))]


def read_requests(session: PgSession, keys: Sequence[RequestKey]) -> dict[RequestKey, StoredRequest]:
    """Return what requests led to that were done."""
    return _requests_of(session.rows(_REQUESTS, *_columns_of(keys))) if keys else {}


def read_requests_and(
    session: PgSession, keys: Sequence[RequestKey], others: Sequence[Statement]
) -> tuple[dict[RequestKey, StoredRequest], Sequence[Sequence[Row]]]:
    """Return what requests led to that were done, and the rows of what ``others`` ask, in one round trip of a transaction."""
    requests = ((_REQUESTS, _columns_of(keys)),) if keys else ()
    if not requests and not others:
        return {}, ()
    rows = session.together(*requests, *others)
    return _requests_of(rows.pop(0)) if requests else {}, rows


def insert_request(session: PgSession, key: RequestKey, done: StoredRequest) -> None:
    """Send what a request led to."""
    session.send(_REQUEST_INSERT, key.relay, key.number, done.namespace, done.position, to_micros(done.at), done.result)


def forget_requests(session: PgSession, relay: str, up_to: int) -> None:
    """Forget what a relay's requests up to a number led to."""
    session.send(_REQUEST_FORGET, relay, up_to)


def forget_old_requests(session: PgSession, before: int) -> None:
    """Forget what requests led to that were made before a time."""
    session.send(_REQUESTS_FORGET, before)


def read_buffer(session: PgSession, namespace: str, name: str, agent: str) -> BufferState | None:
    """Return the buffers of one session's agent."""
    row = session.row(BUFFER, namespace, name, agent)
    return buffer_of(row) if row else None


def read_buffers(session: PgSession, namespace: str) -> list[BufferState]:
    """Return all buffers of a namespace by session and agent."""
    return [buffer_of(row) for row in session.rows(_BUFFERS, namespace)]


def write_buffer(session: PgSession, namespace: str, buffer: BufferState) -> None:
    """Send the new state of the buffers of one session's agent, or their removal."""
    place = (namespace, buffer.session, buffer.agent)
    if buffer.state is None:
        session.send(_BUFFER_DELETE, *place)
    else:
        session.send(_BUFFER_PUT, *place, buffer.state, to_micros(buffer.touched_at))


def insert_embedder(session: PgSession, embedder: PinnedEmbedder, at: datetime) -> None:
    """Send an embedder, unless one of this number is there; a negative number hides it from anyone who asks for the pinned one."""
    session.send(_EMBEDDER_INSERT, embedder.number, embedder.identity, embedder.dimensions, to_micros(at))


def read_usage(session: PgSession, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, Usage]:
    """Return how memories were used."""
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        return {}
    return usage_of(session.rows(USAGE, namespace, wanted))


def read_usage_since(session: PgSession, namespace: str, since: int) -> dict[MemoryId, Usage]:
    """Return how memories were used that were recalled since a moment, in microseconds."""
    return usage_of(session.rows(_USAGE_SINCE, namespace, since))


def usage_of(rows: Sequence[Row]) -> dict[MemoryId, Usage]:
    """Return how the memories were used that rows of `USAGE` are about."""
    return {MemoryId(id_): Usage(accessed_at=nearest_moment(at), count=max(count, 0)) for id_, at, count in rows}


def record_uses(session: PgSession, namespace: str, uses: Sequence[RecordUse]) -> None:
    """Send what is to be added to the usage of memories; those that do not exist get none."""
    sums: dict[MemoryId, tuple[int, int]] = {}
    for use in uses:
        check_moment(use.at)
        seen, times = sums.get(use.id, (to_micros(use.at), 0))
        sums[use.id] = (max(seen, to_micros(use.at)), times + use.count)
    if sums:
        seen_at, counts = zip(*sums.values(), strict=True)
        session.send(_USAGE_ADD, namespace, list(sums), list(seen_at), list(counts))


def put_entry(
    session: PgSession, place: tuple[str, str, str], body: str, number: int | None, tried: set[int] | None = None
) -> int:
    """Store an entry at ``place`` (namespace, conversation, kind), replacing one of the same number.

    ``tried`` are the numbers that earlier tries took whose COMMIT was not answered; where the entry is there by now, that is all.
    """
    check_text(*place)
    last = int(session.rows(_CONVERSATION, *place)[0][0])
    if last >= MOST:
        # Nobody counted that far: the numbers that are there tell where to go on.
        last = int(session.rows(_LAST_NUMBER, *place, MOST)[0][0])
        session.send(_CONVERSATION_UPDATE, *place, last)
    tried = set() if tried is None else tried
    if number is None and tried and (there := session.row(_ENTRY_THERE, *place, list(tried), body)):
        return int(there[0])
    number = last + 1 if number is None else number
    check_number(number)
    tried.add(number)
    if number > last:
        session.send(_CONVERSATION_UPDATE, *place, number)
    session.send(_ENTRY_PUT, *place, number, body)
    return number


def read_entries(session: PgSession, place: tuple[str, str, str]) -> list[ConversationEntry]:
    """Return the entries at a place by rising number; one that cannot be read is left out."""
    found = ((number, readable_object(body)) for number, body in session.rows(_ENTRIES, *place))
    return [ConversationEntry(number, body) for number, body in found if body is not None]


def remove_entries(session: PgSession, place: tuple[str, str, str], removed: set[int]) -> None:
    """Remove the entries at a place, and add their numbers to ``removed``; the counter stays, so no number comes twice."""
    removed.update(number for (number,) in session.rows(_ENTRIES_DELETE, *place))


def _columns_of(keys: Sequence[RequestKey]) -> tuple[list[str], list[int]]:
    return [key.relay for key in keys], [key.number for key in keys]


def _requests_of(rows: Iterable[Row]) -> dict[RequestKey, StoredRequest]:
    return {
        RequestKey(relay, number): StoredRequest(namespace, result, position, nearest_moment(made_at))
        for relay, number, namespace, result, position, made_at in rows
    }
