"""The journal of readings of a store in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from hybrid_memory.store.encoding import check_moment
from hybrid_memory.store.memory.data import StoreData

if TYPE_CHECKING:
    from hybrid_memory.store.readings import Reading


class MemoryReadings:
    """The journal of readings of a `MemoryStore`; see `hybrid_memory.store.readings.ReadingStore`."""

    def __init__(self, data: StoreData) -> None:
        self._data = data
        self._kept: list[Reading] = []
        self._last = 0

    def add(self, readings: Sequence[Reading], *, keep: int, since: datetime) -> None:
        """Store readings, and let those go that are too many or too old."""
        check_moment(since, *(one.at for one in readings))
        with self._data.writing():
            added = [replace(one, number=self._last + at) for at, one in enumerate(readings, 1)]
            self._last += len(added)
            kept = [*self._kept, *added][-keep:] if keep > 0 else []
            self._kept = [one for one in kept if one.at >= since]

    def latest(self, namespaces: Sequence[str] | None = None) -> list[Reading]:
        """Return the readings of some namespaces, the latest first."""
        with self._data.reading():
            return [one for one in reversed(self._kept) if namespaces is None or one.namespace in namespaces]
