"""What a decision may look at in a store in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from hybrid_memory.model import Memory, MemoryId, Tier, Usage
from hybrid_memory.store.batch import is_member
from hybrid_memory.store.memory.data import NamespaceRecords, existing
from hybrid_memory.store.writing import BufferState, LogEntry, UndoRecord

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class MemoryWriteView:
    """One moment of one namespace; see `hybrid_memory.store.writing.WriteView`."""

    def __init__(self, records: NamespaceRecords, now: datetime, embedder: str | None) -> None:
        self._records = records
        self._now = now
        self._embedder = embedder

    @property
    def now(self) -> datetime:
        """The store's time of this write."""
        return self._now

    @property
    def head(self) -> int:
        """The position of the last change before this write."""
        return self._records.head

    @property
    def embedder(self) -> str | None:
        """The identity of the store's embedder, None before the first vector."""
        return self._embedder

    def get(self, ids: Iterable[MemoryId]) -> dict[MemoryId, Memory]:
        """Return the memories that exist, by id."""
        return existing(self._records.memories, ids)

    def usage(self, ids: Iterable[MemoryId]) -> dict[MemoryId, Usage]:
        """Return how the memories were used."""
        return existing(self._records.usage, ids)

    def vectors(self, ids: Iterable[MemoryId]) -> dict[MemoryId, NDArray[np.float32]]:
        """Return the vectors of those memories that have one."""
        return existing(self._records.vectors, ids)

    def passages(self, ids: Iterable[MemoryId]) -> dict[MemoryId, bytes]:
        """Return the passages of those memories that have some."""
        return existing(self._records.passages, ids)

    def members(self, session: str, agent: str, tier: Tier) -> Sequence[Memory]:
        """Return the live memories of a session's agent in a tier, oldest first."""
        memories = self._records.memories.values()
        found = [one for one in memories if is_member(one, session, agent, tier)]
        return sorted(found, key=lambda memory: memory.created_at)

    def buffer(self, session: str, agent: str) -> BufferState | None:
        """Return the attention buffers of a session's agent."""
        return self._records.buffers.get((session, agent))

    def buffers(self) -> Sequence[BufferState]:
        """Return all attention buffers of the namespace."""
        return [self._records.buffers[key] for key in sorted(self._records.buffers)]

    def changes(self, after: int) -> Sequence[LogEntry]:
        """Return all log entries behind a position in order."""
        return self._records.changes_after(after)

    def undo_record(self, undo: str) -> UndoRecord | None:
        """Return what undoes an act, None where it is not kept any more."""
        return self._records.undos.get(undo)
