"""The vectors of the rows as one matrix: exact search by a matrix product, and the top k of many scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.embedding.passages import unpacked
from hybrid_memory.retrieval.passage_matrix import PassageMatrix

_GROUP_SIZE = 64  # scores of which only the best is looked at first
_MIN_GROUPS_PER_HIT = 4  # fewer groups would leave out little
SAMPLED_ROWS = 1_024  # so many rows tell the mean of all to 3 hundredths of a deviation, and cost .3 ms
_FIRST_CAPACITY = 64  # rows for which there is room from the beginning
_SPARE_SHARE = 8  # a matrix that is made for rows in bulk has room for an eighth more
_GATHER_BELOW_SHARE = 4  # a selective filter pays for copying rows: below a quarter of them


class CandidateSource(Protocol):
    """What a matrix needs of an approximate index (`hybrid_memory.retrieval.approximate_search`)."""

    def candidates(self, vector: NDArray[np.float32], count: int, mask: NDArray[np.bool_]) -> NDArray[np.intp] | None:
        """Return rows of the mask among which are most of the ``count`` nearest; None where only a scan is sure enough."""
        ...

    def mark_changed(self, row: int) -> None:
        """Note that a row has another vector than it had, or none."""
        ...


class Matrix:
    """Float32 rows that grow at the end; a row without a vector is zero, so that it is like nothing.

    ``dimensions`` None is decided by the first vector. A vector of another length comes from another embedder: it is left
    out, and the row counts as one whose vector is still to come.
    """

    def __init__(self, dimensions: int | None) -> None:
        self._dimensions = dimensions
        self._buffer = np.zeros((0, dimensions or 0), np.float32)
        self._has = np.zeros(_FIRST_CAPACITY, np.bool_)
        self._size = 0
        self.approximate: CandidateSource | None = None
        self._samples: tuple[tuple[NDArray[np.bool_], int, NDArray[np.intp]], ...] = ()
        self._passages: PassageMatrix | None = None

    @property
    def dimensions(self) -> int:
        """The length of a vector, 0 while it is unknown."""
        return self._dimensions or 0

    @property
    def values(self) -> NDArray[np.float32]:
        """(rows, dimensions), a view that is valid until rows are added."""
        return self._buffer[: self._size]

    @property
    def has(self) -> NDArray[np.bool_]:
        """Which rows have a vector."""
        return self._has[: self._size]

    def fits(self, vector: NDArray[np.float32] | None) -> bool:
        """Return True if a vector is one of those kept here."""
        return vector is not None and self._size > 0 and vector.shape == (self.dimensions,) and self.dimensions > 0

    def add_rows(self, count: int) -> None:
        """Add rows without vectors."""
        wanted = self._size + count
        if wanted > len(self._has):
            has = np.zeros(max(wanted, 2 * len(self._has)), np.bool_)
            has[: self._size] = self.has
            self._has = has
        if self.dimensions and wanted > len(self._buffer):
            self._grow(max(wanted + wanted // _SPARE_SHARE, 2 * len(self._buffer), _FIRST_CAPACITY))
        self._size = wanted

    def fill(self, first: int, vectors: NDArray[np.float32]) -> None:
        """Set the vectors of the rows from ``first`` on."""
        if self._adopt(vectors.shape[1]):
            self._drop_passages(np.arange(first, first + len(vectors)))
            self._buffer[first : first + len(vectors)] = vectors
            self._samples = ()
            self._has[first : first + len(vectors)] = True

    def scatter(self, rows: NDArray[np.intp], vectors: NDArray[np.float32]) -> None:
        """Set the vectors of some rows."""
        if self._adopt(vectors.shape[1]):
            self._drop_passages(rows)
            self._buffer[rows] = vectors
            self._has[rows] = True
            self._samples = ()

    def put(self, row: int, vector: NDArray[np.float32], passages: bytes | None = None) -> None:
        """Set the vector of one row, and its passages."""
        if self._adopt(len(vector)):
            self._drop_passages(np.array([row]))
            self._buffer[row] = vector
            self._has[row] = True
            self._mark_changed(row)
            if passages is not None:
                self.add_passages(np.array([row]), [passages])

    def add_passages(self, rows: NDArray[np.intp], passages: Sequence[bytes]) -> None:
        """Add the passages of rows whose vectors were set last, as they are stored (`hybrid_memory.embedding.passages`)."""
        if len(rows) and self.dimensions:
            found = unpacked(passages, self.dimensions)
            if self._passages is None:
                self._passages = PassageMatrix(self.dimensions)
            self._passages.add(rows[found.owners], found)

    def best_passages(self, vector: NDArray[np.float32]) -> NDArray[np.float32] | None:
        """Return for each row the product of a vector and the row's best passage, not-a-number where it has none.

        None where no row has any: then there is nothing to work out.
        """
        if self._passages is None or not self.fits(vector):
            return None
        return self._passages.best(np.asarray(vector, np.float32), self._size)

    def clear(self, row: int) -> None:
        """Take a row's vector and passages away, bytes and all."""
        self._drop_passages(np.array([row]))
        if self.dimensions:
            self._buffer[row] = 0
        self._has[row] = False
        self._mark_changed(row)

    def scores(self, vector: NDArray[np.float32], rows: NDArray[np.intp] | None = None) -> NDArray[np.float32]:
        """Return the dot products with a vector, of all rows or of some."""
        matrix = self.values if rows is None else self.gather(rows)
        found: NDArray[np.float32] = matrix @ np.asarray(vector, np.float32)
        return found

    def sample(self, mask: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Return at most `SAMPLED_ROWS` rows of a mask that have a vector, evenly spread.

        Kept for the last two masks; whoever changes a mask makes a new one.
        """
        kept = next((rows for of, size, rows in self._samples if of is mask and size == self._size), None)
        if kept is None:
            kept = np.flatnonzero(mask & self.has)
            if len(kept) > SAMPLED_ROWS:
                kept = kept[np.linspace(0, len(kept) - 1, SAMPLED_ROWS).astype(np.intp)]
            self._samples = ((mask, self._size, kept), *self._samples[:1])
        return kept

    def top(
        self, vector: NDArray[np.float32], count: int, mask: NDArray[np.bool_]
    ) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        """Return the ``count`` rows of a mask that are nearest to a vector, nearest first, and their exact products.

        A scan finds just these. With an index of very many vectors (`approximate`) a few may be missing.
        """
        mask = mask & self.has
        if not self.fits(vector):
            return np.zeros(0, np.intp), np.zeros(0, np.float32)
        rows = self.approximate.candidates(vector, count, mask) if self.approximate is not None else None
        if rows is None and _GATHER_BELOW_SHARE * np.count_nonzero(mask) < len(mask):
            rows = np.flatnonzero(mask)
        if rows is not None:
            found = self.scores(vector, rows)
            places = top_k(found, count)
            return rows[places], found[places]
        found = self.scores(vector)
        if not mask.all():
            found[~mask] = -np.inf
        rows = top_k(found, min(count, int(np.count_nonzero(mask))))
        return rows, found[rows]

    def proposed(self, vector: NDArray[np.float32], count: int, mask: NDArray[np.bool_]) -> NDArray[np.intp] | None:
        """Return rows of a mask, rising, among which are most of the ``count`` nearest; None where all are to be scanned."""
        if self.approximate is None or not self.fits(vector):
            return None
        return self.approximate.candidates(vector, count, mask & self.has)

    def gather(self, rows: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return a copy of the vectors of some rows."""
        return self._buffer[rows] if self.dimensions else np.zeros((len(rows), 0), np.float32)

    def _drop_passages(self, rows: NDArray[np.intp]) -> None:
        if self._passages is not None and self._has[rows].any():
            self._passages.drop(rows)

    def _mark_changed(self, row: int) -> None:
        self._samples = ()
        if self.approximate is not None:
            self.approximate.mark_changed(row)

    def _adopt(self, length: int) -> bool:
        if self._dimensions is None:
            self._dimensions = length
            self._buffer = np.zeros((max(self._size, _FIRST_CAPACITY), length), np.float32)
        return length == self._dimensions

    def _grow(self, rows: int) -> None:
        # Zeros come from the system page by page, so that room takes no memory before it is used.
        buffer = np.zeros((rows, self.dimensions), np.float32)
        buffer[: self._size] = self._buffer[: self._size]
        self._buffer = buffer


def top_k(scores: NDArray[Any], count: int) -> NDArray[np.intp]:
    """Return the places of the ``count`` highest scores, highest first; of equal ones the earlier place first."""
    if count <= 0:
        return np.zeros(0, np.intp)
    places: NDArray[np.intp]
    if count < len(scores):
        least = _at_least(scores, count)
        places = np.flatnonzero(scores >= least)
    else:
        places = np.arange(len(scores))
    return places[np.argsort(-scores[places], kind="stable")][:count]


def _at_least(scores: NDArray[Any], count: int) -> Any:
    """Return a figure that at least ``count`` scores reach, and not many more.

    Very many are dealt out to groups first: ``count`` groups have a best that reaches the ``count``-th best of these.
    """
    groups = len(scores) // _GROUP_SIZE
    if groups > _MIN_GROUPS_PER_HIT * count:
        scores = scores[: groups * _GROUP_SIZE].reshape(_GROUP_SIZE, groups).max(axis=0)
    return np.partition(scores, len(scores) - count)[len(scores) - count]
