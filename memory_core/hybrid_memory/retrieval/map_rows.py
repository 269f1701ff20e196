"""`MapRows`: what a map shows of each memory, as columns; `NamespaceIndex.map_rows` makes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.model import MemoryId


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MapRows:
    """The memories that have a vector, live ones and those that others have replaced or that have expired; in the order of writing.

    ``rows`` are their numbers in the index. ``tier``, ``kind`` and ``trust`` are places in `Tier`, `Kind` and `TRUST_ORDER`. Times are
    microseconds: ``written_at``, and ``ended_at`` when a memory was replaced or expires, `NO_TIME` for neither. ``without_vector``
    counts live memories that are not among them.
    """

    rows: NDArray[np.intp]
    ids: NDArray[np.bytes_]
    tier: NDArray[np.int8]
    kind: NDArray[np.int8]
    trust: NDArray[np.int8]
    pinned: NDArray[np.bool_]
    written_at: NDArray[np.int64]
    ended_at: NDArray[np.int64]
    without_vector: int

    def __len__(self) -> int:
        return len(self.rows)

    def id_of(self, place: int) -> MemoryId:
        """Return the id of the memory at a place."""
        return MemoryId(self.ids[place].decode())

    def places_in(self, other: MapRows) -> NDArray[np.intp]:
        """Return for each memory its place in other rows, -1 where it is not there."""
        return _places(self.ids, other.ids)

    def places_of(self, ids: Sequence[MemoryId]) -> list[int]:
        """Return the places of some memories, -1 for what is not here."""
        wanted = np.array([one.encode() for one in ids], np.bytes_) if ids else self.ids[:0]
        found: list[int] = _places(wanted, self.ids).tolist()
        return found


def _places(wanted: NDArray[np.bytes_], ids: NDArray[np.bytes_]) -> NDArray[np.intp]:
    if not len(ids):
        return np.full(len(wanted), -1, np.intp)
    order = np.argsort(ids, kind="stable")
    at = np.minimum(np.searchsorted(ids, wanted, sorter=order), len(order) - 1)
    return np.where(ids[order[at]] == wanted, order[at], -1)


@dataclass(frozen=True, slots=True)
class HoldingRows:
    """The ids of memories that hold something, newest first, and which of them are live."""

    ids: list[MemoryId]
    live: frozenset[MemoryId]
