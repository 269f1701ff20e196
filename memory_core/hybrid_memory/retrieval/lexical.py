"""The inverted index: which rows hold a term, and how well they cover a question's terms.

Rows that came with the snapshot stand in one sorted array; later rows in an array for each of their terms. Terms of a row
never change, and rows are never taken out: whoever searches says by a mask which of them count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.retrieval.growing import Growing
from hybrid_memory.retrieval.ranking import idf, saturation
from hybrid_memory.text import ASKS

Mask = NDArray[np.bool_]
Posting = tuple[NDArray[np.int32], NDArray[np.uint16]]
_COUNT = 65_535


class LexicalIndex:
    """Postings of 32-bit terms. Row numbers are given by the caller and rise from 0 without gaps.

    Between `load` and `sort` a term's rows are found by looking through all terms, which is as exact and slower.
    """

    def __init__(self) -> None:
        self._sorted: _Postings | None = None
        self._added: dict[int, tuple[Growing[np.int32], Growing[np.uint16]]] = {}
        self._terms = Growing(np.int32)
        self._ends = Growing(np.int64)
        self._lengths = Growing(np.float32)
        self._asks = Growing(np.bool_)
        self._loaded = 0
        self._counted: _Counted | None = None

    def __len__(self) -> int:
        return len(self._ends)

    @property
    def asks(self) -> Mask:
        """Which rows ask something."""
        return self._asks.values

    def load(self, terms: NDArray[np.int32], offsets: NDArray[np.int64]) -> None:
        """Add rows before the first `add`: row i of them holds ``terms[offsets[i]:offsets[i + 1]]``."""
        sizes = np.diff(offsets)
        asking = np.flatnonzero(terms == ASKS)
        at = np.searchsorted(offsets, asking, side="right") - 1
        self._lengths.extend(sizes - np.bincount(at, minlength=len(sizes)))
        asks = np.zeros(len(sizes), np.bool_)
        asks[at] = True
        self._asks.extend(asks)
        self._ends.extend(offsets[1:] + len(self._terms))
        self._terms.extend(terms)
        self._loaded = len(self)
        self._sorted = None

    def sort(self) -> None:
        """Sort the postings of all loaded rows, which may happen beside searches."""
        count = self._loaded
        if count and self._sorted is None:
            ends = self._ends.values[:count]
            self._sorted = _Postings(self._terms.values[: ends[-1]], ends)

    def add(self, terms: Sequence[int]) -> None:
        """Add the next row."""
        row = len(self)
        counted = Counter(terms)
        asks = counted.pop(ASKS, 0) > 0
        for term, count in counted.items():
            rows, counts = self._added.setdefault(term, (Growing(np.int32), Growing(np.uint16)))
            rows.append(row)
            counts.append(min(count, _COUNT))
        self._terms.extend(np.array(terms, np.int32))
        self._ends.append(len(self._terms))
        self._lengths.append(counted.total())
        self._asks.append(asks)

    def terms_of(self, row: int) -> NDArray[np.int32]:
        """Return the terms of a row in order, `ASKS` included."""
        first = int(self._ends.values[row - 1]) if row else 0
        return self._terms.values[first : int(self._ends.values[row])]

    def document_frequency(self, term: int, counted: Mask | None = None) -> int:
        """Return how many rows hold a term, of all or of those that count."""
        if counted is None:
            return sum(len(rows) for rows, _ in self._postings(term))
        return self._statistics(counted).frequency(term, self._postings(term))

    def coverage(self, query: Sequence[int], counted: Mask) -> NDArray[np.float32]:
        """Return for every row its BM25 score divided by the sum of the query's weights; repeats in the query count once.

        ``counted`` are the rows that make up the statistics (how many rows, their mean length, how rare a term is); the
        others are scored by the same measure. The quotient is 0 without a common term and about 1 when every term occurs
        once in a row of common length.
        """
        scores = np.zeros(len(self), np.float32)
        self._cover(query, counted, scores)
        return scores

    def matches(self, query: Sequence[int], counted: Mask) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        """Return the rows that hold a term of the query, rising, and their `coverage`."""
        scores = np.zeros(len(self), np.float32)
        held = np.zeros(len(self), np.bool_)
        for rows in self._cover(query, counted, scores):
            held[rows] = True
        found = np.flatnonzero(held)
        return found, scores[found]

    def _cover(self, query: Sequence[int], counted: Mask, scores: NDArray[np.float32]) -> list[NDArray[np.int32]]:
        """Add the coverage of a query to zeros, and return the rows of each of its terms."""
        statistics = self._statistics(counted)
        distinct = [term for term in dict.fromkeys(query) if term != ASKS]
        if not distinct or not statistics.number:
            return []
        mean = np.float32(max(statistics.mean_length, 1.0))
        found = [(term, self._postings(term)) for term in distinct]
        weights = [idf(statistics.number, statistics.frequency(term, postings)) for term, postings in found]
        total = sum(weights)
        lengths = self._lengths.values
        for weight, (_, postings) in zip(weights, found, strict=True):
            for rows, counts in postings:
                factor = saturation(counts.astype(np.float32), lengths[rows] / mean)
                factor *= np.float32(weight / total)
                scores[rows] += factor
        return [rows for _, postings in found for rows, _ in postings]

    def _statistics(self, counted: Mask) -> _Counted:
        """Return the statistics of a mask; those of the same array are kept, so whoever changes a mask makes a new one."""
        kept = self._counted
        if kept is None or kept.mask is not counted:
            kept = self._counted = _Counted(counted, self._lengths.values)
        return kept

    def _postings(self, term: int) -> list[Posting]:
        if self._sorted is not None:
            found = [self._sorted.of(term)]
        elif self._loaded:
            found = [_looked_through(term, self._terms.values, self._ends.values[: self._loaded])]
        else:
            found = []
        if term in self._added:
            rows, counts = self._added[term]
            found.append((rows.values, counts.values))
        return found


class _Counted:
    """What a mask says about terms, found out term by term."""

    def __init__(self, mask: Mask, lengths: NDArray[np.float32]) -> None:
        self.mask = mask
        self.number = int(np.count_nonzero(mask))
        total = lengths.sum(dtype=np.float64) if self.number == len(mask) else lengths[mask].sum(dtype=np.float64)
        self.mean_length = float(total) / max(self.number, 1)
        self._frequencies: dict[int, int] = {}

    def frequency(self, term: int, postings: Sequence[Posting]) -> int:
        """Return how many rows of the mask hold a term."""
        found = self._frequencies.get(term)
        if found is None:
            found = self._frequencies[term] = sum(int(np.count_nonzero(self.mask[rows])) for rows, _ in postings)
        return found


class _Postings:
    """Rows and counts of every term, sorted by term and then by row."""

    def __init__(self, terms: NDArray[np.int32], ends: NDArray[np.int64]) -> None:
        rows = np.repeat(np.arange(len(ends), dtype=np.int64), np.diff(ends, prepend=0))
        pairs = terms.astype(np.int64)
        pairs <<= 32
        pairs |= rows
        del rows
        pairs.sort()
        first = np.flatnonzero(np.append(np.ones(min(len(pairs), 1), np.bool_), pairs[1:] != pairs[:-1]))
        self._counts = np.minimum(np.diff(first, append=len(pairs)), _COUNT).astype(np.uint16)
        pairs = pairs[first]
        self._rows = (pairs & 0xFFFFFFFF).astype(np.int32)
        pairs >>= 32
        starts = np.flatnonzero(np.append(np.ones(min(len(pairs), 1), np.bool_), pairs[1:] != pairs[:-1]))
        self._terms = pairs[starts].astype(np.int32)
        self._starts = np.append(starts, len(pairs))

    def of(self, term: int) -> Posting:
        """Return the postings of a term."""
        at = int(np.searchsorted(self._terms, np.int32(term)))
        if at == len(self._terms) or self._terms[at] != term:
            return self._rows[:0], self._counts[:0]
        owned = slice(self._starts[at], self._starts[at + 1])
        return self._rows[owned], self._counts[owned]


def _looked_through(term: int, terms: NDArray[np.int32], ends: NDArray[np.int64]) -> Posting:
    """Return the postings of a term by looking at every term of the rows that end there."""
    places = np.flatnonzero(terms[: ends[-1]] == np.int32(term))
    rows, counts = np.unique(np.searchsorted(ends, places, side="right"), return_counts=True)
    return rows.astype(np.int32), np.minimum(counts, _COUNT).astype(np.uint16)
