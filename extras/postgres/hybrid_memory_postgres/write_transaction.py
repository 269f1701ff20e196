"""One write inside its transaction: `replayed` returns the stored result of a repeated request, `decide_and_apply` does a new one.

Called by `writers`, which holds the transaction and the lock of the namespace. The order: the decision looks at `PgWriteView` and
returns a `WriteBatch`; `store.batch` works out what that changes; then rows, vectors, log, buffers, usage and the request's result are
sent. They go out together with COMMIT, or with the next look of a decision that follows in the same transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from hybrid_memory.clock import to_micros
from hybrid_memory.errors import ConstraintViolation, LogTrimmed
from hybrid_memory.model import Memory, MemoryId, Tier, Usage
from hybrid_memory.store.batch import ChangeSet, build_change_set
from hybrid_memory.store.encoding import object_to_json
from hybrid_memory.store.snapshots import NO_LIMIT
from hybrid_memory.store.sql.rows import StoredRequest, result_of
from hybrid_memory.store.sql.session import Row
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
from hybrid_memory_postgres import tables
from hybrid_memory_postgres.memory_table import (
    BY_ID,
    insert_memory,
    read_members,
    readable,
    set_tiers,
    update_memory,
)
from hybrid_memory_postgres.prefetched import Prefetched
from hybrid_memory_postgres.sql_session import PgSession, Statement
from hybrid_memory_postgres.tables import Head
from hybrid_memory_postgres.vector_table import PinnedEmbedder, passages_by_id, put_vector, vectors_by_id

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_FEW = 50  # memories
# Rows are never changed, and who inserts one holds the head of its namespace: a lower place is an older row.
_PRUNE_UNDOS = """
    DELETE FROM undo WHERE namespace = $1
        AND place IN (SELECT place FROM undo WHERE namespace = $1 ORDER BY place DESC OFFSET $2)
        AND (SELECT count(*) FROM undo WHERE namespace = $1) > $3
"""


@dataclass(slots=True)
class LockedNamespace:
    """A namespace whose lock is held: the session of the transaction, and what it has come to so far.

    ``prefetched`` is what was read of it along with the lock. ``sending`` says that a write has been sent in part; left so by an error, the
    transaction cannot go on. ``done`` are the requests that were done in it. ``is_another_store`` says that a backup took the place of the
    store for which words were encoded.
    """

    session: PgSession
    name: str
    head: Head
    embedder: PinnedEmbedder | None
    requests: dict[RequestKey, StoredRequest]
    prefetched: Prefetched = field(default_factory=Prefetched)
    sending: bool = False
    is_another_store: bool = False
    done: list[tuple[RequestKey, StoredRequest]] = field(default_factory=list)


class PgWriteView:
    """One moment of one namespace; see `hybrid_memory.store.writing.WriteView`.

    What was read is kept: decisions, and what follows from them, ask for the same again, and each time would be a round trip.
    """

    def __init__(self, locked: LockedNamespace, now: datetime) -> None:
        self._session = locked.session
        self._embedder = locked.embedder
        self._namespace = locked.name
        self._head = locked.head
        self._now = now
        self._prefetched = locked.prefetched
        self._memories = dict(locked.prefetched.memories)
        self._buffers = dict(locked.prefetched.buffers)
        self._usage: dict[MemoryId, Usage | None] = {}

    @property
    def now(self) -> datetime:
        """The store's time of this write."""
        return self._now

    @property
    def head(self) -> int:
        """The position of the last change before this write."""
        return self._head.position

    @property
    def embedder(self) -> str | None:
        """The identity of the store's embedder at this moment."""
        return self._embedder.identity if self._embedder else None

    def get(self, ids: Iterable[MemoryId]) -> dict[MemoryId, Memory]:
        """Return the memories that exist."""
        wanted = list(dict.fromkeys(ids))
        self._read([one for one in wanted if one not in self._memories])
        return {one: memory for one in wanted if (memory := self._memories[one]) is not None}

    def usage(self, ids: Iterable[MemoryId]) -> dict[MemoryId, Usage]:
        """Return how the memories were used."""
        wanted = list(dict.fromkeys(ids))
        missing = [one for one in wanted if one not in self._usage]
        self._take_usage(missing, self._session.rows(tables.USAGE, self._namespace, missing) if missing else ())
        return {one: usage for one in wanted if (usage := self._usage[one]) is not None}

    def _read(self, ids: list[MemoryId]) -> None:
        """Read memories; where they are few also how they, and those known already, were used: who weighs memories asks for that next."""
        if not ids:
            return
        self._memories.update(dict.fromkeys(ids))
        unweighed = [one for one in self._memories if one not in self._usage]
        statements: list[Statement] = [(BY_ID, (self._namespace, ids))]
        if len(unweighed) <= _FEW:
            statements.append((tables.USAGE, (self._namespace, unweighed)))
        rows, *used = self._session.together(*statements)
        self._memories.update((memory.id, memory) for memory in readable(self._session, rows))
        for one in used:
            self._take_usage(unweighed, one)

    def _take_usage(self, ids: list[MemoryId], rows: Sequence[Row]) -> None:
        self._usage.update(dict.fromkeys(ids))
        self._usage.update(tables.usage_of(rows))

    def vectors(self, ids: Iterable[MemoryId]) -> dict[MemoryId, NDArray[np.float32]]:
        """Return the vectors of those memories that have one."""
        return vectors_by_id(self._session, self._embedder, self._namespace, ids) if self._embedder else {}

    def passages(self, ids: Iterable[MemoryId]) -> dict[MemoryId, bytes]:
        """Return the passages of those memories that have some."""
        return passages_by_id(self._session, self._embedder, self._namespace, ids) if self._embedder else {}

    def members(self, session: str, agent: str, tier: Tier) -> Sequence[Memory]:
        """Return the live memories of a session's agent in a tier, oldest first."""
        known = self._prefetched.members.get((session, agent)) if tier is Tier.SENSORY else None
        return read_members(self._session, self._namespace, session, agent, tier) if known is None else known

    def buffer(self, session: str, agent: str) -> BufferState | None:
        """Return the attention buffers of a session's agent."""
        place = (session, agent)
        if place not in self._buffers:
            self._buffers[place] = tables.read_buffer(self._session, self._namespace, session, agent)
        return self._buffers[place]

    def buffers(self) -> Sequence[BufferState]:
        """Return all attention buffers of the namespace."""
        return tables.read_buffers(self._session, self._namespace)

    def changes(self, after: int) -> Sequence[LogEntry]:
        """Return all log entries behind ``after``; raises `LogTrimmed`."""
        if after + 1 < self._head.trimmed_before:
            raise LogTrimmed(tables.TRIMMED)
        read_after = self._prefetched.log_after
        if read_after is not None and read_after <= after:
            return [entry for entry in self._prefetched.log if entry.position > after]
        return tables.read_entries_of_log(self._session, self._namespace, after, NO_LIMIT)

    def undo_record(self, undo: str) -> UndoRecord | None:
        """Return what undoes an act."""
        return read_undo(self._session, self._namespace, undo)


def replayed(locked: LockedNamespace, key: RequestKey, codec: ResultCodec) -> CommitResult | None:
    """Return the stored outcome of a request that was done before, None for a new one.

    Raises:
        ConstraintViolation: it was done for another namespace, or for something else.
    """
    done = locked.requests.get(key)
    if done is None:
        return None
    if done.namespace != locked.name:
        raise ConstraintViolation("this request was made for another namespace")
    return CommitResult(result=codec.decode(result_of(done)), position=done.position, at=done.at, replayed=True)


def decide_and_apply(
    locked: LockedNamespace, key: RequestKey | None, decide: Decision, codec: ResultCodec, now: datetime
) -> CommitResult:
    """Run ``decide`` on the namespace and send what it says; the caller commits.

    What the decision raises, and what it says that no store keeps, leaves before anything is sent.
    """
    session, namespace = locked.session, locked.name
    # 1. The decision, what it comes to for each memory, and the text of its result.
    view = PgWriteView(locked, now)
    batch = decide(view)
    changes = build_change_set(
        batch,
        namespace=namespace,
        head=locked.head.position,
        at=now,
        dimensions=locked.embedder.dimensions if locked.embedder else None,
        stored=view.get,
    )
    if locked.is_another_store:
        changes = _with_words_to_encode(changes)
    stored = None if key is None else object_to_json(codec.encode(batch.result))
    # 2. Memories with their vectors, the log, buffers and usage.
    locked.sending = True
    _send_memories(locked, changes)
    link = tables.append_log(session, namespace, changes.log, locked.head.link)
    for buffer in batch.buffers:
        tables.write_buffer(session, namespace, buffer)
    tables.record_uses(session, namespace, batch.uses)
    if batch.undo is not None or batch.undone is not None:
        keep_undo(session, namespace, batch, now)
        session.send(_PRUNE_UNDOS, namespace, KEPT_UNDOS, KEPT_UNDOS + SPARE_UNDOS)
    # 3. The head, and the result of a request with a key: a repeat finds it exactly if the write happened.
    position = locked.head.position + len(changes.log)
    if changes.log or batch.buffers or batch.uses or key is not None:
        locked.head = Head(position, locked.head.trimmed_before, link, to_micros(now))
        tables.advance(session, namespace, locked.head)
    if key is not None and stored is not None:
        locked.requests[key] = done = StoredRequest(namespace, stored, position, now)
        locked.done.append((key, done))
        tables.insert_request(session, key, done)
    locked.prefetched.let_go(batch, changes)
    locked.sending = False
    return CommitResult(
        result=batch.result,
        position=position,
        at=now,
        log=changes.log,
        memories=changes.memories,
        vectors=changes.vectors,
        passages=changes.passages,
    )


def _with_words_to_encode(changes: ChangeSet) -> ChangeSet:
    """Return changes whose new memories are encoded again at the next idle time: with another store's key nobody would find them."""
    inserted = {memory.id: replace(memory, encoding=0) for memory in changes.inserted}
    return replace(changes, inserted=tuple(inserted.values()), after={**changes.after, **inserted})


def _send_memories(locked: LockedNamespace, changes: ChangeSet) -> None:
    session = locked.session
    for memory in changes.inserted:
        insert_memory(session, memory)
    if locked.embedder is not None:
        for id_, vector in changes.vectors.items():
            put_vector(session, locked.embedder, locked.name, id_, vector, changes.passages.get(id_))
    for memory in changes.updated_rows:
        update_memory(session, memory)
    set_tiers(session, changes.retiered)
    if changes.removed:
        from hybrid_memory.store.sql.purging import remove_rows
        from hybrid_memory_postgres.own import POSTGRES

        remove_rows(session, POSTGRES, locked.name, [memory.id for memory in changes.removed])
