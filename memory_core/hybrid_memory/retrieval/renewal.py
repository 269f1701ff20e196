"""The vectors of another embedder for an index, brought together while the index goes on with those it has."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from hybrid_memory.retrieval.approximate_search import ApproximateSearch
from hybrid_memory.retrieval.vectors import Matrix

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hybrid_memory.model import MemoryId
    from hybrid_memory.retrieval.approximate_search import VectorIndexFactory
    from hybrid_memory.retrieval.memory_columns import MemoryColumns
    from hybrid_memory.store.base import VectorBatch

_FEW = 4_096

Everything: TypeAlias = "Callable[[], Iterable[VectorBatch]]"
Some: TypeAlias = "Callable[[Sequence[MemoryId]], Mapping[MemoryId, NDArray[np.float32]]]"


class Renewable:
    """The part of `NamespaceIndex` that changes its vectors."""

    _lock: threading.RLock
    _rows: MemoryColumns
    _matrix: Matrix
    _make: VectorIndexFactory | None
    _hnsw_from: int

    def close(self) -> None:
        """Stop what is running in the background. The index remains as it is."""
        approximate = self._matrix.approximate
        if approximate is not None:
            approximate.close()

    def size(self) -> int:
        """Return the number of rows, those of purged memories included."""
        with self._lock:
            return len(self._rows)

    def rows_of(self, ids: NDArray[np.bytes_]) -> NDArray[np.intp]:
        """Return the rows of some ids, a negative number for an unknown one; a row keeps its place."""
        with self._lock:
            return self._rows.ids.rows(ids)

    def named(self, rows: NDArray[np.intp]) -> list[MemoryId]:
        """Return the ids of some rows."""
        with self._lock:
            return self._rows.ids.named(rows)

    def take(self, matrix: Matrix) -> Callable[[], None]:
        """Replace all vectors by those of another embedder, one row for each row here; returns what stops work on the old."""
        with self._lock:
            for row in np.flatnonzero(self._rows.gone.values).tolist():
                matrix.clear(row)
            old = self._matrix.approximate
            self._hold_vectors(matrix)
            self._attend()
        return _nothing if old is None else old.close

    def _hold_vectors(self, matrix: Matrix) -> None:
        self._matrix = matrix
        if self._make is not None:
            matrix.approximate = ApproximateSearch(matrix, self._lock, self._make, self._hnsw_from)

    def _attend(self) -> None:
        raise NotImplementedError


class VectorSwap:
    """One index's next matrix; ``everything`` and ``some`` give the vectors that there are."""

    def __init__(self, index: Renewable, dimensions: int, everything: Everything, some: Some) -> None:
        self.index = index
        self._everything = everything
        self._some = some
        self._matrix = Matrix(dimensions)

    def catch_up(self) -> None:
        """Fetch the vectors of rows that came in since the last time, and of those that had none then."""
        self._matrix.add_rows(self.index.size() - len(self._matrix.has))
        if np.count_nonzero(~self._matrix.has) > _FEW:
            for part in self._everything():
                rows = self.index.rows_of(part.ids)
                known = (rows >= 0) & (rows < len(self._matrix.has))
                self._matrix.scatter(rows[known], part.matrix[known])
        missing = np.flatnonzero(~self._matrix.has)
        for start in range(0, len(missing), _FEW):
            rows = missing[start : start + _FEW]
            ids = self.index.named(rows)
            found = self._some(ids)
            for row, id_ in zip(rows.tolist(), ids, strict=True):
                if id_ in found:
                    self._matrix.put(row, found[id_])

    def finish(self) -> Callable[[], None]:
        """Give the index its new matrix, if nothing was added to it since the last `catch_up`; returns as `Renewable.take`."""
        return self.index.take(self._matrix)


def _nothing() -> None:
    pass
