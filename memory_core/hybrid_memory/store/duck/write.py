"""One write: look, decide, apply."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from hybrid_memory.clock import to_micros
from hybrid_memory.errors import ConcurrentModification, ConstraintViolation
from hybrid_memory.model import Memory, MemoryId, Tier, Usage
from hybrid_memory.store.applying import Applied, apply_ops
from hybrid_memory.store.checks import check_number, check_text
from hybrid_memory.store.duck import ledger
from hybrid_memory.store.duck.engine import Transaction
from hybrid_memory.store.duck.ledger import Done
from hybrid_memory.store.duck.memo import Head, Memo
from hybrid_memory.store.duck.records import insert_memory, memories_by_id, move_memories, read_members, replace_memory
from hybrid_memory.store.duck.session import Session
from hybrid_memory.store.duck.vectors import VectorTable
from hybrid_memory.store.interface import NO_LIMIT, BufferState, Decide, LogEntry, RequestKey, Written

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class DuckView:
    """One moment of one namespace; see `hybrid_memory.store.interface.View`."""

    def __init__(self, transaction: Transaction, namespace: str, head: int, now: datetime) -> None:
        self._session = transaction.reads
        self._memo = transaction.memo
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

    def get(self, ids: Iterable[MemoryId]) -> dict[MemoryId, Memory]:
        """Return the memories that exist."""
        wanted = list(dict.fromkeys(ids))
        recent = self._memo.recent_memories
        found = {id_: memory for id_ in wanted if (memory := recent.get((self._namespace, id_)))}
        for memory in memories_by_id(
            self._session, self._namespace, [id_ for id_ in wanted if id_ not in found]
        ).values():
            found[memory.id] = memory
            self._memo.note(memory)
        return {id_: found[id_] for id_ in wanted if id_ in found}

    def usage(self, ids: Iterable[MemoryId]) -> dict[MemoryId, Usage]:
        """Return how the memories were used."""
        return ledger.read_usage(self._session, self._namespace, ids)

    def vectors(self, ids: Iterable[MemoryId]) -> dict[MemoryId, NDArray[np.float32]]:
        """Return the vectors of those memories that have one."""
        pinned = self._memo.embedder
        return VectorTable(pinned).by_id(self._session, self._namespace, ids) if pinned else {}

    def members(self, session: str, agent: str, tier: Tier) -> Sequence[Memory]:
        """Return the live memories of a session's agent in a tier, oldest first."""
        key = (self._namespace, session, agent, tier)
        known = self._memo.recent_members.get(key)
        if known is None:
            found = read_members(self._session, self._namespace, session, agent, tier)
            known = {memory.id: memory for memory in found}
            self._memo.recent_members.put(key, known)
        return tuple(known.values())

    def buffer(self, session: str, agent: str) -> BufferState | None:
        """Return the attention buffers of a session's agent."""
        key = (self._namespace, session, agent)
        if key not in self._memo.buffers:
            return None
        found = self._memo.recent_buffers.get(key) or ledger.read_buffer(self._session, *key)
        if found is not None:
            self._memo.recent_buffers.put(key, found)
        return found

    def buffers(self) -> Sequence[BufferState]:
        """Return all attention buffers of the namespace."""
        return ledger.read_buffers(self._session, self._namespace)

    def changes(self, after: int) -> Sequence[LogEntry]:
        """Return all log entries behind ``after``; raises `MarkExpired`."""
        return ledger.read_log(self._session, self._namespace, after, NO_LIMIT)


def replay(transaction: Transaction, namespace: str, key: RequestKey) -> Written | None:
    """Return the stored outcome of a request that was done before.

    Raises:
        ConstraintViolation: it was done for another namespace.
    """
    check_text(key.relay)
    check_number(key.number)
    if key.number not in transaction.memo.requests.get(key.relay, ()):
        return None
    done = ledger.read_request(transaction.reads, key)
    if done is None:
        return None
    if done.namespace != namespace:
        raise ConstraintViolation("this request was made for another namespace")
    return Written(result=ledger.object_of(done.result), position=done.position, at=done.at, replayed=True)


def decide_and_apply(
    transaction: Transaction, namespace: str, key: RequestKey | None, decide: Decide, now: datetime
) -> Written:
    """Run ``decide`` on the namespace and write what it says; the caller commits."""
    session, _, memo = transaction
    head = memo.heads.get(namespace, Head()).position
    view = DuckView(transaction, namespace, head, now)
    ops = decide(view)
    applied = apply_ops(
        ops,
        namespace=namespace,
        head=head,
        at=now,
        dimensions=memo.embedder.dimensions if memo.embedder else None,
        stored=view.get,
    )
    position = head + len(applied.log)
    _write_memories(session, memo, namespace, applied)
    ledger.append_log(session, namespace, applied.log)
    for buffer in ops.buffers:
        ledger.write_buffer(session, memo, namespace, buffer)
    ledger.add_touches(session, transaction.reads, namespace, ops.touches, [memory.id for memory in applied.put])
    if applied.log or ops.buffers or ops.touches or key is not None:
        ledger.advance(memo, namespace, position, to_micros(now))
    if key is not None:
        ledger.insert_request(session, memo, key, Done(namespace, applied.result, position, now))
    return Written(
        result=ledger.object_of(applied.result),
        position=position,
        at=now,
        log=applied.log,
        memories=applied.memories,
        vectors=applied.vectors,
    )


def _write_memories(session: Session, memo: Memo, namespace: str, applied: Applied) -> None:
    for memory in applied.put:
        insert_memory(session, memory)
    if memo.embedder is not None:
        table = VectorTable(memo.embedder)
        for id_ in applied.attached:
            table.remove(session, namespace, id_)
        for id_, vector in applied.vectors.items():
            table.insert(session, namespace, id_, vector)
    for memory in applied.replaced:
        if replace_memory(session, memory, applied.before[memory.id].rev) != 1:
            raise ConcurrentModification("a memory changed since it was read; read it again and repeat")
    if move_memories(session, namespace, applied.moved) != len(applied.moved):
        raise ConcurrentModification("a memory to be moved does not exist here; read again and repeat")
    for memory in applied.memories.values():
        memo.note(memory)
