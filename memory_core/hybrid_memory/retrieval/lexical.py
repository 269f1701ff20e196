"""The inverted index: which rows hold a term, and how well they cover a question's terms.

Rows that came with the snapshot stand in one sorted array; later rows in an array for each of their terms. Terms of a row
never change, and rows are never taken out: whoever searches says by a mask which of them count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.retrieval.growing import Growing
from hybrid_memory.retrieval.ranking import idf, saturation
from hybrid_memory.text import ASKS


class LexicalIndex:
    """Postings of 32-bit terms. Row numbers are given by the caller and rise from 0 without gaps."""

    def __init__(self) -> None:
        self._terms = np.zeros(0, np.int64)
        self._starts = np.zeros(1, np.int64)
        self._rows = np.zeros(0, np.int32)
        self._counts = np.zeros(0, np.float32)
        self._added: dict[int, tuple[Growing[np.int32], Growing[np.float32]]] = {}
        self._lengths = Growing(np.float32)
        self._asks = Growing(np.bool_)
        self._terms_of: list[list[int]] = []

    @property
    def asks(self) -> NDArray[np.bool_]:
        """Which rows ask something."""
        return self._asks.values

    def load(self, terms: NDArray[np.int32], offsets: NDArray[np.int64]) -> None:
        """Fill an empty index: row i holds ``terms[offsets[i]:offsets[i + 1]]``."""
        sizes = np.diff(offsets)
        self._terms_of.extend(terms[offsets[i]:offsets[i+1]].tolist() for i in range(len(sizes)))
        rows = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
        telling = terms != ASKS
        asks = np.zeros(len(sizes), np.bool_)
        asks[rows[~telling]] = True
        rows, terms = rows[telling], terms[telling]
        pairs = (terms.astype(np.int64) << 32) | rows
        pairs.sort()
        first = np.flatnonzero(np.diff(pairs, prepend=pairs[:1] - 1))
        self._counts = np.diff(first, append=len(pairs)).astype(np.float32)
        pairs = pairs[first]
        self._rows = (pairs & 0xFFFFFFFF).astype(np.int32)
        self._terms, starts = np.unique(pairs >> 32, return_index=True)
        self._starts = np.append(starts, len(pairs))
        self._lengths.extend(np.bincount(rows, minlength=len(sizes)))
        self._asks.extend(asks)

    def add(self, terms: Sequence[int]) -> None:
        """Add the next row."""
        row = len(self._lengths)
        self._terms_of.append(list(terms))
        counted = Counter(terms)
        asks = counted.pop(ASKS, 0) > 0
        for term, count in counted.items():
            rows, counts = self._added.setdefault(term, (Growing(np.int32), Growing(np.float32)))
            rows.append(row)
            counts.append(count)
        self._lengths.append(counted.total())
        self._asks.append(asks)

    def coverage(self, query: Sequence[int], counted: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Return for every row its BM25 score divided by the sum of the query's weights; repeats in the query count once.

        ``counted`` are the rows that make up the statistics (how many rows, their mean length, how rare a term is); the
        others are scored by the same measure. The quotient is 0 without a common term and about 1 when every term occurs
        once in a row of common length.
        """
        distinct = [term for term in dict.fromkeys(query) if term != ASKS]
        scores = np.zeros(len(self._lengths), np.float32)
        number = int(np.count_nonzero(counted))
        if not distinct or not number:
            return scores
        lengths = self._lengths.values
        relative = lengths / max(float(lengths[counted].mean()), 1.0)
        weights = 0.0
        for term in distinct:
            postings = list(self.postings(term))
            weight = idf(number, sum(int(np.count_nonzero(counted[rows])) for rows, _ in postings))
            weights += weight
            for rows, counts in postings:
                scores[rows] += np.float32(weight) * saturation(counts, relative[rows])
        return scores / np.float32(weights)

    @property
    def lengths(self) -> NDArray[np.float32]:
        """How many terms each row has."""
        return self._lengths.values

    def statistics(self, counted: NDArray[np.bool_]) -> tuple[int, float]:
        """Return how many rows count and their mean length, at least 1."""
        number = int(np.count_nonzero(counted))
        return number, max(float(self._lengths.values[counted].mean()), 1.0) if number else 1.0

    def document_frequency(self, term: int, counted: NDArray[np.bool_] | None = None) -> int:
        """Return how many rows hold a term, of all or of those that count."""
        if counted is None:
            return sum(len(rows) for rows, _ in self.postings(term))
        return sum(int(np.count_nonzero(counted[rows])) for rows, _ in self.postings(term))

    def terms_of(self, row: int) -> list[int]:
        """Return the terms of a row in order, `ASKS` included."""
        return self._terms_of[row]

    def postings(self, term: int) -> Iterator[tuple[NDArray[np.int32], NDArray[np.float32]]]:
        at = int(np.searchsorted(self._terms, term))
        if at < len(self._terms) and self._terms[at] == term:
            owned = slice(self._starts[at], self._starts[at + 1])
            yield self._rows[owned], self._counts[owned]
        if term in self._added:
            rows, counts = self._added[term]
            yield rows.values, counts.values
