"""How many rows have each term as a name, or where nobody can tell (`hybrid_memory.language.names`): part of the lexical index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

_EMPTY = np.zeros(0, np.int32), np.zeros(0, np.int64)


class NameCounts:
    """Counts the rows for each entry of their ``names``. What came with the snapshot stands sorted, later rows in a counter."""

    def __init__(self) -> None:
        self._loaded: list[NDArray[np.int32]] = []
        self._sorted: tuple[NDArray[np.int32], NDArray[np.int64]] | None = _EMPTY
        self._added: Counter[int] = Counter()

    def load(self, names: NDArray[np.int32]) -> None:
        """Add the names of many rows, end to end; a row has none twice."""
        if self._sorted is not None:
            self._loaded = [np.repeat(*self._sorted)]
        self._loaded.append(np.asarray(names, np.int32))
        self._sorted = None

    def add(self, names: Iterable[int], times: int = 1) -> None:
        """Add the names of one row, so many ``times``."""
        for name in set(names):
            self._added[name] += times

    def sort(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Count what was loaded; the first question does it else."""
        # In this order, because two threads may be here: the parts go only when their sum is there.
        parts, found = self._loaded, self._sorted
        if found is None:
            found = np.unique(np.concatenate(parts), return_counts=True)
            self._sorted = found
            self._loaded = []
        return found

    def of(self, entries: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return how many rows have each entry."""
        terms, counts = self.sort()
        found: NDArray[Any] = np.zeros(len(entries), np.int64)
        if len(terms):
            at = np.minimum(np.searchsorted(terms, entries), len(terms) - 1)
            found[:] = np.where(terms[at] == entries, counts[at], 0)
        if self._added:
            found += np.fromiter(map(self._added.__getitem__, entries.tolist()), np.int64, len(entries))
        return found
