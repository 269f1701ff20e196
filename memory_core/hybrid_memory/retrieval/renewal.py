"""The vectors of another embedder for an index, brought together while the index goes on with those it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from hybrid_memory.retrieval.vectors import Matrix

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hybrid_memory.model import MemoryId
    from hybrid_memory.retrieval.index import NamespaceIndex

_CHUNK = 65_536

VectorsOf: TypeAlias = "Callable[[Sequence[MemoryId]], Mapping[MemoryId, NDArray[np.float32]]]"


class Renewal:
    """One index's next matrix; ``read`` gives the vectors that there are."""

    def __init__(self, index: NamespaceIndex, dimensions: int, read: VectorsOf) -> None:
        self.index = index
        self._read = read
        self._matrix = Matrix(dimensions)
        self._ids: list[MemoryId] = []

    def catch_up(self) -> None:
        """Fetch the vectors of rows that came in since the last time, and of those that had none then."""
        fresh = self.index.ids_from(len(self._ids))
        self._ids += fresh
        self._matrix.add_rows(len(fresh))
        missing = np.flatnonzero(~self._matrix.has).tolist()
        for start in range(0, len(missing), _CHUNK):
            rows = missing[start : start + _CHUNK]
            found = self._read([self._ids[row] for row in rows])
            for row in rows:
                vector = found.get(self._ids[row])
                if vector is not None:
                    self._matrix.put(row, vector)

    def finish(self) -> None:
        """Give the index its new matrix. Nothing may have been added to it since the last `catch_up`."""
        self.index.take(self._matrix)
