"""One write inside its transaction: `replay` returns the stored result of a repeated request, `decide_and_apply` does a new one.

Called by `DuckStore.write`, which holds the transaction. The order: the decision looks at `DuckWriteView` and returns a
`WriteBatch`; `store.batch` works out what that changes; then rows, vectors, log, buffers, usage and the request's result are
written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from hybrid_memory.clock import to_micros
from hybrid_memory.errors import ConcurrentModification, ConstraintViolation
from hybrid_memory.model import Memory, MemoryId, Tier, Usage
from hybrid_memory.store.batch import ChangeSet, build_change_set
from hybrid_memory.store.duck import tables
from hybrid_memory.store.duck.engine import Transaction
from hybrid_memory.store.duck.memory_table import insert_memory, memories_by_id, read_members, set_tiers, update_memory
from hybrid_memory.store.duck.sql_session import SqlSession
from hybrid_memory.store.duck.vector_tables import VectorTable
from hybrid_memory.store.duck.writer_cache import Head, LruCache, WriterCache
from hybrid_memory.store.encoding import check_number, check_text, object_to_json
from hybrid_memory.store.snapshots import NO_LIMIT
from hybrid_memory.store.sql.rows import StoredRequest, result_of
from hybrid_memory.store.sql.undo import SPARE_UNDOS, keep_undo, read_undo
from hybrid_memory.store.writing import (
    KEPT_UNDOS,
    BufferState,
    CommitResult,
    Decision,
    LogEntry,
    RequestKey,
    ResultCodec,
    UndoRecord,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_UNDOS = "SELECT count(*) FROM undo WHERE namespace = ?"
# Rows are never changed, so the place of one tells which is older.
_PRUNE_UNDOS = """
    DELETE FROM undo WHERE namespace = $1 AND rowid IN (
        SELECT rowid FROM undo WHERE namespace = $1 ORDER BY rowid LIMIT $2
    )
"""


class DuckWriteView:
    """One moment of one namespace; see `hybrid_memory.store.writing.WriteView`."""

    def __init__(self, transaction: Transaction, namespace: str, head: int, now: datetime) -> None:
        self._session = transaction.reads
        self._cache = transaction.cache
        self._namespace = namespace
        self._head = head
        self._now = now

    @property
    def now(self) -> datetime:
        """The store's time of this write."""
        return self._now

    @property
    def head(self) -> int:
        """The position of the last change before this write."""
        return self._head

    @property
    def embedder(self) -> str | None:
        """The identity of the pinned embedder."""
        pinned = self._cache.embedder
        return pinned.identity if pinned else None

    def get(self, ids: Iterable[MemoryId]) -> dict[MemoryId, Memory]:
        """Return the memories that exist."""
        wanted = list(dict.fromkeys(ids))
        cached = self._cache.memories
        found = {id_: memory for id_ in wanted if (memory := cached.get((self._namespace, id_)))}
        for memory in memories_by_id(
            self._session, self._namespace, [id_ for id_ in wanted if id_ not in found]
        ).values():
            found[memory.id] = memory
            self._cache.note(memory)
        return {id_: found[id_] for id_ in wanted if id_ in found}

    def usage(self, ids: Iterable[MemoryId]) -> dict[MemoryId, Usage]:
        """Return how the memories were used."""
        return tables.read_usage(self._session, self._namespace, ids)

    def vectors(self, ids: Iterable[MemoryId]) -> dict[MemoryId, NDArray[np.float32]]:
        """Return the vectors of those memories that have one."""
        pinned = self._cache.embedder
        return VectorTable(pinned).by_id(self._session, self._namespace, ids) if pinned else {}

    def passages(self, ids: Iterable[MemoryId]) -> dict[MemoryId, bytes]:
        """Return the passages of those memories that have some."""
        pinned = self._cache.embedder
        return VectorTable(pinned).passages(self._session, self._namespace, ids) if pinned else {}

    def members(self, session: str, agent: str, tier: Tier) -> Sequence[Memory]:
        """Return the live memories of a session's agent in a tier, oldest first."""
        key = (self._namespace, session, agent, tier)
        known = self._cache.members.get(key)
        if known is None:
            found = read_members(self._session, self._namespace, session, agent, tier)
            known = {memory.id: memory for memory in found}
            self._cache.members.put(key, known)
        return tuple(known.values())

    def buffer(self, session: str, agent: str) -> BufferState | None:
        """Return the attention buffers of a session's agent."""
        key = (self._namespace, session, agent)
        if key not in self._cache.buffers:
            return None
        found = self._cache.buffers_by_key.get(key) or tables.read_buffer(self._session, *key)
        if found is not None:
            self._cache.buffers_by_key.put(key, found)
        return found

    def buffers(self) -> Sequence[BufferState]:
        """Return all attention buffers of the namespace."""
        return tables.read_buffers(self._session, self._namespace)

    def changes(self, after: int) -> Sequence[LogEntry]:
        """Return all log entries behind ``after``; raises `LogTrimmed`."""
        return tables.read_log(self._session, self._namespace, after, NO_LIMIT)

    def undo_record(self, undo: str) -> UndoRecord | None:
        """Return what undoes an act."""
        return read_undo(self._session, self._namespace, undo)


def replay(transaction: Transaction, namespace: str, key: RequestKey, codec: ResultCodec) -> CommitResult | None:
    """Return the stored outcome of a request that was done before, None for a new one, which costs no look at the database.

    Raises:
        ConstraintViolation: it was done for another namespace, or for something else.
    """
    check_text(key.relay)
    check_number(key.number)
    if key.number not in transaction.cache.requests.get(key.relay, ()):
        return None
    done = tables.read_request(transaction.reads, key)
    if done is None:
        return None
    if done.namespace != namespace:
        raise ConstraintViolation("this request was made for another namespace")
    result = codec.decode(result_of(done))
    return CommitResult(result=result, position=done.position, at=done.at, replayed=True)


def decide_and_apply(
    transaction: Transaction,
    namespace: str,
    key: RequestKey | None,
    decide: Decision,
    codec: ResultCodec,
    now: datetime,
) -> CommitResult:
    """Run ``decide`` on the namespace and write what it says; the caller commits."""
    session, _, cache = transaction
    head = cache.heads.get(namespace, Head()).position
    # 1. The decision, and what it comes to for each memory.
    view = DuckWriteView(transaction, namespace, head, now)
    batch = decide(view)
    changes = build_change_set(
        batch,
        namespace=namespace,
        head=head,
        at=now,
        dimensions=cache.embedder.dimensions if cache.embedder else None,
        stored=view.get,
    )
    # 2. Memories with their vectors, the log, buffers and usage.
    position = head + len(changes.log)
    _write_memories(session, cache, namespace, changes)
    tables.append_log(session, cache, namespace, changes.log)
    for buffer in batch.buffers:
        tables.write_buffer(session, cache, namespace, buffer)
    tables.record_uses(session, transaction.reads, namespace, batch.uses, [memory.id for memory in changes.inserted])
    if changes.log or batch.buffers or batch.uses or key is not None:
        tables.advance(cache, namespace, position, to_micros(now))
    if batch.undo is not None or batch.undone is not None:
        keep_undo(session, namespace, batch, now)
        over = transaction.reads.rows(_UNDOS, namespace)[0][0] + 1 - KEPT_UNDOS
        if batch.undo is not None and over > SPARE_UNDOS:
            session.change(_PRUNE_UNDOS, namespace, over)
    # 3. The result of a request with a key, in the same transaction: a repeat finds it exactly if the write happened.
    if key is not None:
        stored = object_to_json(codec.encode(batch.result))
        tables.insert_request(session, cache, key, StoredRequest(namespace, stored, position, now))
    return CommitResult(
        result=batch.result,
        position=position,
        at=now,
        log=changes.log,
        memories=changes.memories,
        vectors=changes.vectors,
        passages=changes.passages,
    )


def _write_memories(session: SqlSession, cache: WriterCache, namespace: str, changes: ChangeSet) -> None:
    for memory in changes.inserted:
        insert_memory(session, memory)
    if cache.embedder is not None:
        table = VectorTable(cache.embedder)
        for id_ in changes.revectored:
            table.remove(session, namespace, id_)
        for id_, vector in changes.vectors.items():
            table.insert(session, namespace, id_, vector, changes.passages.get(id_))
    for memory in changes.updated_rows:
        if update_memory(session, memory, changes.before[memory.id].rev) != 1:
            raise ConcurrentModification("a memory changed since it was read; read it again and repeat")
    if set_tiers(session, namespace, changes.retiered) != len(changes.retiered):
        raise ConcurrentModification("a memory to be moved does not exist here; read again and repeat")
    for memory in changes.memories.values():
        cache.note(memory)
    if changes.removed:
        from hybrid_memory.store.duck.own import DUCK
        from hybrid_memory.store.sql.purging import remove_rows

        remove_rows(session, DUCK, namespace, [memory.id for memory in changes.removed])
        cache.members, cache.memories = LruCache(), LruCache()  # the next write reads what it needs
