"""A cache of memories lately read or written, as new as the index that owns it (``index.py``)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence

from hybrid_memory.model import Memory, MemoryId
from hybrid_memory.secret_detection.masking import masked_memory

_MAX_MEMORIES = 16_384  # all of a memory of ordinary size: its reads then ask the store for nothing
_MAX_CHARACTERS = 2_000  # a longer memory is not kept, so that few of them cannot fill the machine


class MemoryCache:
    """At most so many memories, the oldest make room; never one that is older than what `apply_changes` was told.

    What comes in is kept as ``shown`` gives it, so that a secret is looked for once and not at every read. Safe to use from several
    threads.
    """

    def __init__(self, limit: int = _MAX_MEMORIES, shown: Callable[[Memory], Memory] = masked_memory) -> None:
        self._limit = limit
        self._shown = shown
        self._memories: dict[MemoryId, Memory] = {}
        self._changes = 0
        self._lock = threading.Lock()

    @property
    def free(self) -> int:
        """How many more fit in."""
        return self._limit - len(self._memories)

    def get(
        self, ids: Sequence[MemoryId], read: Callable[[Sequence[MemoryId]], Mapping[MemoryId, Memory]]
    ) -> dict[MemoryId, Memory]:
        """Return the memories that exist, in the order of ``ids``; those not at hand come from ``read``."""
        with self._lock:
            found = {one: self._memories[one] for one in ids if one in self._memories}
            before = self._changes
        missing = [one for one in ids if one not in found]
        if missing:
            fresh = {one: self._shown(memory) for one, memory in read(missing).items()}
            found.update(fresh)
            with self._lock:
                # What was read alongside a change may be older than the change.
                if self._changes == before:
                    self._keep(fresh.values())
        return {one: found[one] for one in ids if one in found}

    def apply_changes(self, ids: Iterable[MemoryId], memories: Mapping[MemoryId, Memory]) -> None:
        """Take over changes of some memories; those that are missing in ``memories`` exist no longer."""
        with self._lock:
            self._changes += 1
            for one in ids:
                known = self._memories.pop(one, None)
                memory = memories.get(one)
                if memory is not None and (known is None or known.rev <= memory.rev):
                    self._keep([self._shown(memory)])

    def clear(self) -> None:
        """Keep nothing."""
        with self._lock:
            self._changes += 1
            self._memories.clear()

    def _keep(self, memories: Iterable[Memory]) -> None:
        for memory in memories:
            if len(memory.content) <= _MAX_CHARACTERS:
                self._memories[memory.id] = memory
        while len(self._memories) > self._limit:
            del self._memories[next(iter(self._memories))]
