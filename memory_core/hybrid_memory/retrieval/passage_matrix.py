"""The passages of a matrix's rows, searched alongside the vectors of the whole texts (`vectors.Matrix`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.embedding.passages import PassageRows

_NOBODY = -1  # the owner of a passage that was taken out
_FIRST_CAPACITY = 64
_AT_ONCE = 512  # passages that are made float32 at a time: they stay in the processor's cache


class PassageMatrix:
    """Passages that grow at the end; they stay bytes in memory, a quarter of what their vectors would take."""

    def __init__(self, dimensions: int) -> None:
        self._size = self._dropped = 0
        self._owners = np.zeros(0, np.int32)
        self._steps = np.zeros((0, dimensions), np.int8)
        self._scales = np.zeros(0, np.float32)

    def add(self, owners: NDArray[np.intp], passages: PassageRows) -> None:
        """Add passages; ``owners`` are their rows of the matrix."""
        end = self._size + len(owners)
        if end > len(self._owners):
            self._make_room(len(owners))
            end = self._size + len(owners)
        self._owners[self._size : end] = owners
        self._steps[self._size : end] = passages.steps
        self._scales[self._size : end] = passages.scales
        self._size = end

    def drop(self, rows: NDArray[np.intp]) -> None:
        """Take the passages of some rows out, bytes and all."""
        gone = np.flatnonzero(np.isin(self._owners[: self._size], rows))
        self._owners[gone] = _NOBODY
        self._steps[gone] = 0
        self._dropped += len(gone)

    def best(self, vector: NDArray[np.float32], rows: int) -> NDArray[np.float32]:
        """Return for each of so many rows the best product of a vector and one of its passages; not-a-number for none."""
        found = np.empty(self._size, np.float32)
        for start in range(0, self._size, _AT_ONCE):
            part = slice(start, min(start + _AT_ONCE, self._size))
            np.matmul(self._steps[part].astype(np.float32), vector, out=found[part])
        found *= self._scales[: self._size]
        # One place more, the last, takes what belongs to nobody.
        best = np.full(rows + 1, -np.inf, np.float32)
        np.maximum.at(best, self._owners[: self._size], found)
        best[np.isneginf(best)] = np.nan
        return best[:-1]

    def _make_room(self, count: int) -> None:
        """Make room for so many more, without the places of those that were taken out."""
        kept = np.flatnonzero(self._owners[: self._size] != _NOBODY) if self._dropped else slice(self._size)
        owners, steps, scales = self._owners[kept], self._steps[kept], self._scales[kept]
        self._size, self._dropped = len(owners), 0
        room = max(self._size + count, 2 * self._size, _FIRST_CAPACITY)
        self._owners = np.zeros(room, np.int32)
        self._steps = np.zeros((room, steps.shape[1]), np.int8)
        self._scales = np.zeros(room, np.float32)
        self._owners[: self._size], self._steps[: self._size], self._scales[: self._size] = owners, steps, scales
