"""The other tables, a function for each thing that is done with them: log, requests, usage, buffers, messages and plans.

``session`` is the one that changes rows, ``reads`` one that sees the state before the transaction. The statements come first.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from hybrid_memory.clock import to_micros
from hybrid_memory.errors import LogTrimmed
from hybrid_memory.model import MemoryId, Usage
from hybrid_memory.moments import nearest_moment
from hybrid_memory.store.audit_chain import (
    SALT_BYTES,
    ChainCheck,
    ChainedEntry,
    LogHead,
    anchored,
    chained,
    check_chain,
)
from hybrid_memory.store.base import ConversationEntry
from hybrid_memory.store.duck.sql_session import SqlSession
from hybrid_memory.store.duck.writer_cache import Head, PinnedEmbedder, WriterCache
from hybrid_memory.store.encoding import check_moment, check_number, check_text, to_json
from hybrid_memory.store.memory_fields import MOST
from hybrid_memory.store.snapshots import NO_LIMIT
from hybrid_memory.store.sql.rows import StoredRequest, buffer_of, entry_of, existing_ids, readable_object
from hybrid_memory.store.writing import BufferState, ChangeType, LogEntry, RecordUse, RequestKey

# A position that no counting reaches is none: the next one could not be counted.
_HEAD = """
    SELECT (SELECT coalesce(max(position), 0) FROM log WHERE namespace = $1 AND position < 4611686018427387904),
        (SELECT coalesce(max(trimmed_before), 0) FROM namespace WHERE name = $1)
"""
_NEW_TRIM = "INSERT INTO namespace (trimmed_before, name) VALUES (?, ?)"
_SET_TRIM = "UPDATE namespace SET trimmed_before = ? WHERE name = ?"

_LOG_INSERT = """
    INSERT INTO log (namespace, position, change, id, rev, made_at, actor, action, digest, note, salt, link)
    VALUES ($1, $5, $6, $7, $8, $2, $3, $4, $9, $10, $11, $12)
"""
_LOG_INSERT_TWO = """
    INSERT INTO log (namespace, position, change, id, rev, made_at, actor, action, digest, note, salt, link)
    VALUES ($1, $5, $6, $7, $8, $2, $3, $4, $9, $10, $11, $12), ($1, $13, $14, $15, $16, $2, $3, $4, $17, $18, $19, $20)
"""
_LOG_INSERT_THREE = """
    INSERT INTO log (namespace, position, change, id, rev, made_at, actor, action, digest, note, salt, link)
    VALUES ($1, $5, $6, $7, $8, $2, $3, $4, $9, $10, $11, $12), ($1, $13, $14, $15, $16, $2, $3, $4, $17, $18, $19, $20),
        ($1, $21, $22, $23, $24, $2, $3, $4, $25, $26, $27, $28)
"""
_LOG = """
    SELECT position, change, id, rev, made_at, actor, action, digest, coalesce(note, '') FROM log
    WHERE namespace = ? AND position > ? AND position < 4611686018427387904 ORDER BY position LIMIT ?
"""
_LOG_OF_IDS = """
    SELECT position, change, id, rev, made_at, actor, action, digest, coalesce(note, '') FROM log
    WHERE namespace = ? AND id IN (SELECT unnest(from_json(?, '["VARCHAR"]'))) ORDER BY position
"""
_CHAIN = """
    SELECT position, change, id, rev, made_at, actor, action, digest, coalesce(note, ''), salt, link FROM log
    WHERE namespace = ? AND position > ? ORDER BY position LIMIT ?
"""
_CHAIN_ROWS = 10_000  # entries read at once, a few megabytes
_LAST_LINK = """
    SELECT coalesce(arg_max(link, position), '') FROM log WHERE namespace = ? AND position < 4611686018427387904
"""
_HEAD_UPDATE = "UPDATE log_head SET position = ?, link = ? WHERE namespace = ?"
_HEAD_INSERT = "INSERT INTO log_head (position, link, namespace) VALUES (?, ?, ?)"
_STORED_HEAD = """
    SELECT position, link FROM mark WHERE namespace = $1
    UNION ALL SELECT position, link FROM log_head WHERE namespace = $1 AND NOT EXISTS (SELECT 1 FROM mark WHERE namespace = $1)
"""
_IS_MARKED = "SELECT count(*) FROM mark WHERE namespace = ?"
_MARK_HEAD = "UPDATE mark SET position = ?, link = ? WHERE namespace = ?"
_HEADS_OF = "SELECT namespace FROM log_head UNION SELECT namespace FROM mark WHERE namespace IS NOT NULL UNION SELECT namespace FROM log"

_REQUEST = "SELECT namespace, result, position, made_at FROM request WHERE relay = ? AND number = ?"
_REQUEST_INSERT = """
    INSERT INTO request (relay, number, namespace, position, made_at, result) VALUES (?, ?, ?, ?, ?, ?)
"""
_REQUESTS_BEFORE = "SELECT relay, number FROM request WHERE made_at < ?"
_REQUESTS_FORGET = "DELETE FROM request WHERE made_at < ?"
_REQUEST_FORGET = "DELETE FROM request WHERE relay = ? AND number <= ?"

_BUFFER = "SELECT session, agent, state, touched_at FROM buffer WHERE namespace = ? AND session = ? AND agent = ?"
_BUFFERS = "SELECT session, agent, state, touched_at FROM buffer WHERE namespace = ?"
_BUFFER_INSERT = "INSERT INTO buffer (state, touched_at, namespace, session, agent) VALUES (?, ?, ?, ?, ?)"
_BUFFER_UPDATE = """
    UPDATE buffer SET state = ?, touched_at = ? WHERE namespace = ? AND session = ? AND agent = ?
"""
_BUFFER_DELETE = "DELETE FROM buffer WHERE namespace = ? AND session = ? AND agent = ?"

_EMBEDDER_INSERT = "INSERT INTO embedder (number, identity, dimensions, pinned_at) VALUES (?, ?, ?, ?)"

_USAGE = """
    SELECT id, accessed_at, count FROM usage
    WHERE namespace = ? AND id IN (SELECT unnest(from_json(?, '["VARCHAR"]')))
"""
_USAGE_ADD = """
    UPDATE usage SET accessed_at = greatest(usage.accessed_at, item.seen),
        count = least(greatest(usage.count, 0), 4611686018427387904) + item.times
    FROM (SELECT unnest(from_json($2, '[{"id": "VARCHAR", "seen": "BIGINT", "times": "BIGINT"}]')) AS item) AS added
    WHERE usage.namespace = $1 AND usage.id = item.id
"""
_USAGE_INSERT = """
    INSERT INTO usage (namespace, id, accessed_at, count)
    SELECT $1, item.id, item.seen, item.times
    FROM (SELECT unnest(from_json($2, '[{"id": "VARCHAR", "seen": "BIGINT", "times": "BIGINT"}]')) AS item) AS added
"""

_CONVERSATION_LAST = "SELECT last FROM conversation WHERE namespace = ? AND name = ? AND kind = ?"
_CONVERSATION_INSERT = "INSERT INTO conversation (last, namespace, name, kind) VALUES (?, ?, ?, ?)"
_CONVERSATION_UPDATE = "UPDATE conversation SET last = ? WHERE namespace = ? AND name = ? AND kind = ?"
_ENTRY_UPDATE = "UPDATE entry SET body = ? WHERE namespace = ? AND conversation = ? AND kind = ? AND number = ?"
_ENTRY_INSERT = "INSERT INTO entry (body, namespace, conversation, kind, number) VALUES (?, ?, ?, ?, ?)"
_ENTRIES = "SELECT number, body FROM entry WHERE namespace = ? AND conversation = ? AND kind = ? ORDER BY number"
_NUMBERS = "SELECT number FROM entry WHERE namespace = ? AND conversation = ? AND kind = ? AND number < ?"
_ENTRIES_DELETE = "DELETE FROM entry WHERE namespace = ? AND conversation = ? AND kind = ?"


def read_head(session: SqlSession, namespace: str) -> Head:
    """Return the head of a namespace; that of a new one is 0."""
    row = session.row(_HEAD, namespace)
    return Head.of(*row) if row else Head()


def advance(cache: WriterCache, namespace: str, position: int, at: int) -> None:
    """Note a namespace's head and the time of its last write: the log that is written along with them holds both."""
    known = cache.heads.get(namespace, Head())
    cache.heads[namespace] = Head(position, known.trimmed_before, known.link)
    cache.last_at = at


def trim_log(session: SqlSession, cache: WriterCache, namespace: str, before: int) -> None:
    """Set from where a namespace's log is told; a mark never goes back and never lies beyond the log's end."""
    known = cache.heads.get(namespace)
    if known is None:
        return
    mark = min(before, known.position + 1)
    if mark > known.trimmed_before:
        session.change(_SET_TRIM if known.trimmed_before else _NEW_TRIM, mark, namespace)
        cache.heads[namespace] = Head(known.position, mark, known.link)


def append_log(session: SqlSession, cache: WriterCache, namespace: str, log: Sequence[LogEntry]) -> None:
    """Append entries of one write, which share time, actor and action, to a namespace's log and its chain."""
    if not log:
        return
    insert_log(session, namespace, chain_on(session, cache, namespace, log))


def chain_on(session: SqlSession, cache: WriterCache, namespace: str, log: Sequence[LogEntry]) -> list[ChainedEntry]:
    """Return entries with their links behind the namespace's last; its head is from now on the one in the mark.

    The head that stood there goes to the table of heads.
    """
    known = cache.heads.get(namespace, Head())
    entries = chained(namespace, log, known.link, os.urandom(SALT_BYTES * len(log)))
    if cache.marked not in (None, namespace) and (former := cache.heads.get(cache.marked)) is not None and former.link:
        store_head(session, cache.marked, LogHead(former.position, former.link))
    cache.marked = namespace
    last = entries[-1]
    cache.heads[namespace] = Head(last.position, known.trimmed_before, last.link or "")
    return entries


def store_head(session: SqlSession, namespace: str, head: LogHead) -> None:
    """Store the head of a namespace's log in the table of heads."""
    if not session.change(_HEAD_UPDATE, head.position, head.link, namespace):
        session.change(_HEAD_INSERT, head.position, head.link, namespace)


def store_closed_head(session: SqlSession, namespace: str, head: LogHead) -> None:
    """Store the head of a namespace's log in a file that is no open store, in its mark if it is there."""
    if session.rows(_IS_MARKED, namespace)[0][0]:
        session.change(_MARK_HEAD, head.position, head.link, namespace)
    else:
        store_head(session, namespace, head)


def anchor_chains(session: SqlSession, at: datetime) -> list[str]:
    """Let the chains that do not fit begin again, in a file that a repair has mended; returns the namespaces.

    The entry that is appended says what did not fit.
    """
    names = []
    for namespace in namespaces_with_log(session):
        found = check_log(session, namespace)
        if found.problem is None:
            continue
        row = session.row(_STORED_HEAD, namespace)
        position = max(read_head(session, namespace).position, row[0] if row and row[0] is not None else 0) + 1
        entry = LogEntry(
            position=position,
            change=ChangeType.UPDATE,
            id=MemoryId(""),
            rev=0,
            at=at,
            actor="doctor",
            action="repair",
            digest="",
            note=f"the chain begins anew: {found.problem}",
        )
        one = anchored(namespace, entry, os.urandom(SALT_BYTES))
        insert_log(session, namespace, [one])
        store_closed_head(session, namespace, LogHead(position, one.link or ""))
        names.append(namespace)
    return names


def insert_log(session: SqlSession, namespace: str, log: Sequence[ChainedEntry]) -> None:
    """Insert entries of one write, which share time, actor and action, as they are."""
    # Up to three entries a statement: most writes have no more, and a statement costs more than a row.
    done = 0
    while done < len(log):
        part = log[done : done + 3]
        done += len(part)
        first = part[0]
        values: list[Any] = [namespace, first.made_at, first.actor, first.action]
        for one in part:
            values += [one.position, one.change, one.id, one.rev, one.digest, one.note or None, one.salt, one.link]
        session.change((_LOG_INSERT, _LOG_INSERT_TWO, _LOG_INSERT_THREE)[len(part) - 1], *values)


def read_last_link(session: SqlSession, namespace: str) -> str:
    """Return the link of the last entry of a namespace's log, "" before the chain."""
    return str(session.rows(_LAST_LINK, namespace)[0][0])


def read_chain(session: SqlSession, namespace: str) -> Iterator[ChainedEntry]:
    """Yield all entries of a namespace's log in order, with salts and links."""
    after = -NO_LIMIT
    while rows := session.rows(_CHAIN, namespace, after, _CHAIN_ROWS):
        for row in rows:
            yield ChainedEntry(*row)
        after = rows[-1][0]


def check_log(session: SqlSession, namespace: str) -> ChainCheck:
    """Follow the chain of a namespace's log to the head that is stored apart."""
    row = session.row(_STORED_HEAD, namespace)
    return check_chain(namespace, read_chain(session, namespace), LogHead(*row) if row else None)


def namespaces_with_log(session: SqlSession) -> list[str]:
    """Return the namespaces that have a log, or a head that says so."""
    return sorted(name for (name,) in session.rows(_HEADS_OF))


def read_history(session: SqlSession, namespace: str, ids: Iterable[MemoryId]) -> list[LogEntry]:
    """Return all entries of some memories in order."""
    return [entry_of(row) for row in session.rows(_LOG_OF_IDS, namespace, to_json(list(ids)))]


def read_log(session: SqlSession, namespace: str, after: int, limit: int) -> list[LogEntry]:
    """Return entries behind ``after`` in order; raises `LogTrimmed`."""
    if after + 1 < read_head(session, namespace).trimmed_before:
        raise LogTrimmed("the change log no longer reaches back that far; load a snapshot")
    return [entry_of(row) for row in session.rows(_LOG, namespace, after, max(limit, 0))]


def read_request(session: SqlSession, key: RequestKey) -> StoredRequest | None:
    """Return what a request led to, None if it was never done."""
    row = session.row(_REQUEST, key.relay, key.number)
    return StoredRequest(row[0], row[1], row[2], nearest_moment(row[3])) if row else None


def insert_request(session: SqlSession, cache: WriterCache, key: RequestKey, done: StoredRequest) -> None:
    """Note what a request led to."""
    session.change(
        _REQUEST_INSERT, key.relay, key.number, done.namespace, done.position, to_micros(done.at), done.result
    )
    cache.requests.setdefault(key.relay, set()).add(key.number)


def forget_requests(session: SqlSession, cache: WriterCache, relay: str, up_to: int) -> None:
    """Forget what a relay's requests up to a number led to."""
    session.change(_REQUEST_FORGET, relay, up_to)
    left = {number for number in cache.requests.pop(relay, ()) if number > up_to}
    if left:
        cache.requests[relay] = left


def forget_old_requests(session: SqlSession, reads: SqlSession, cache: WriterCache, before: int) -> None:
    """Forget what requests led to that were made before a time."""
    old = reads.rows(_REQUESTS_BEFORE, before)
    if not old:
        return
    session.change(_REQUESTS_FORGET, before)
    for relay, number in old:
        cache.requests[relay].discard(number)


def read_buffer(session: SqlSession, namespace: str, name: str, agent: str) -> BufferState | None:
    """Return the buffers of one session's agent."""
    row = session.row(_BUFFER, namespace, name, agent)
    return buffer_of(row) if row else None


def read_buffers(session: SqlSession, namespace: str) -> list[BufferState]:
    """Return all buffers of a namespace by session and agent."""
    found = [buffer_of(row) for row in session.rows(_BUFFERS, namespace)]
    return sorted(found, key=lambda buffer: (buffer.session, buffer.agent))


def write_buffer(session: SqlSession, cache: WriterCache, namespace: str, buffer: BufferState) -> None:
    """Store or remove the buffers of one session's agent."""
    key = (namespace, buffer.session, buffer.agent)
    if buffer.state is None:
        if key in cache.buffers:
            session.change(_BUFFER_DELETE, *key)
            cache.buffers.remove(key)
            cache.buffers_by_key.drop(key)
        return
    statement = _BUFFER_UPDATE if key in cache.buffers else _BUFFER_INSERT
    session.change(statement, buffer.state, to_micros(buffer.touched_at), *key)
    cache.buffers.add(key)
    cache.buffers_by_key.put(key, buffer)


def insert_embedder(session: SqlSession, embedder: PinnedEmbedder, at: datetime) -> None:
    """Note an embedder; a negative number hides it from anyone who asks for the pinned one."""
    session.change(_EMBEDDER_INSERT, embedder.number, embedder.identity, embedder.dimensions, to_micros(at))


def read_usage(session: SqlSession, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, Usage]:
    """Return how memories were used."""
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        return {}
    return {
        MemoryId(id_): Usage(accessed_at=nearest_moment(at), count=max(count, 0))
        for id_, at, count in session.rows(_USAGE, namespace, to_json(wanted))
    }


def record_uses(
    session: SqlSession, reads: SqlSession, namespace: str, uses: Sequence[RecordUse], new: Collection[MemoryId] = ()
) -> None:
    """Add to the usage of memories that exist; ``new`` are those that this transaction has inserted itself.

    ``reads`` looks at the state before the transaction, in which nobody else can have written meanwhile.
    """
    if not uses:
        return
    sums: dict[MemoryId, tuple[int, int]] = {}
    for use in uses:
        check_moment(use.at)
        seen, times = sums.get(use.id, (to_micros(use.at), 0))
        sums[use.id] = (max(seen, to_micros(use.at)), times + use.count)
    used = read_usage(reads, namespace, sums)
    existing = existing_ids(reads, namespace, [id_ for id_ in sums if id_ not in used and id_ not in new])
    items = [{"id": id_, "seen": seen, "times": times} for id_, (seen, times) in sums.items()]
    known = [item for item in items if item["id"] in used]
    fresh = [item for item in items if item["id"] in existing or (item["id"] in new and item["id"] not in used)]
    if known:
        session.change(_USAGE_ADD, namespace, to_json(known))
    if fresh:
        session.change(_USAGE_INSERT, namespace, to_json(fresh))


def put_entry(
    session: SqlSession, reads: SqlSession, place: tuple[str, str, str], body: str, number: int | None
) -> int:
    """Store an entry at ``place`` (namespace, conversation, kind), replacing one of the same number.

    ``reads`` looks at the state before the transaction.
    """
    check_text(*place)
    known = reads.row(_CONVERSATION_LAST, *place)
    last = int(known[0]) if known else 0
    if last >= MOST:
        # Nobody counted that far: the numbers that are there tell where to go on.
        last = max((number for (number,) in reads.rows(_NUMBERS, *place, MOST)), default=0)
        session.change(_CONVERSATION_UPDATE, last, *place)
    number = last + 1 if number is None else number
    check_number(number)
    if known is None:
        session.change(_CONVERSATION_INSERT, max(last, number), *place)
    elif number > last:
        session.change(_CONVERSATION_UPDATE, number, *place)
    if known is None or number > last or not session.change(_ENTRY_UPDATE, body, *place, number):
        session.change(_ENTRY_INSERT, body, *place, number)
    return number


def read_entries(session: SqlSession, place: tuple[str, str, str]) -> list[ConversationEntry]:
    """Return the entries at a place by rising number; one that cannot be read is left out."""
    found = ((number, readable_object(body)) for number, body in session.rows(_ENTRIES, *place))
    return [ConversationEntry(number, body) for number, body in found if body is not None]


def remove_entries(session: SqlSession, place: tuple[str, str, str]) -> int:
    """Remove the entries at a place; the counter stays, so no number comes twice."""
    return session.change(_ENTRIES_DELETE, *place)
