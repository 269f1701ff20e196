"""Memories at hand: values of those lately read, kept as new as the index."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence

from hybrid_memory.model import Memory, MemoryId

_LIMIT = 16_384
_LONG = 2_000


class MemoryCache:
    """At most so many memories, the oldest make room; never one that is older than what `follow` was told.

    Safe to use from several threads.
    """

    def __init__(self, limit: int = _LIMIT) -> None:
        self._limit = limit
        self._held: dict[MemoryId, Memory] = {}
        self._changes = 0
        self._lock = threading.Lock()

    @property
    def room(self) -> int:
        """How many more fit in."""
        return self._limit - len(self._held)

    def get(
        self, ids: Sequence[MemoryId], read: Callable[[Sequence[MemoryId]], Mapping[MemoryId, Memory]]
    ) -> dict[MemoryId, Memory]:
        """Return the memories that exist, in the order of ``ids``; those not at hand come from ``read``."""
        with self._lock:
            found = {one: self._held[one] for one in ids if one in self._held}
            before = self._changes
        missing = [one for one in ids if one not in found]
        if missing:
            fresh = read(missing)
            found.update(fresh)
            with self._lock:
                # What was read beside a change may be older than the change.
                if self._changes == before:
                    self._keep(fresh.values())
        return {one: found[one] for one in ids if one in found}

    def follow(self, ids: Iterable[MemoryId], memories: Mapping[MemoryId, Memory]) -> None:
        """Take over changes of some memories; those that are missing in ``memories`` exist no longer."""
        with self._lock:
            self._changes += 1
            for one in ids:
                known = self._held.pop(one, None)
                memory = memories.get(one)
                if memory is not None and (known is None or known.rev <= memory.rev):
                    self._keep([memory])

    def clear(self) -> None:
        """Keep nothing."""
        with self._lock:
            self._changes += 1
            self._held.clear()

    def _keep(self, memories: Iterable[Memory]) -> None:
        for memory in memories:
            if len(memory.content) <= _LONG:
                self._held[memory.id] = memory
        while len(self._held) > self._limit:
            del self._held[next(iter(self._held))]
