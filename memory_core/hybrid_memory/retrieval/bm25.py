"""The inverted index: which rows hold a term, and how well they cover a question's terms.

Rows that came with the snapshot stand in one sorted array; later rows in an array for each of their terms. Terms of a row
never change, and rows are never taken out: whoever searches says by a mask which of them count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.retrieval.arrays import GrowableArray
from hybrid_memory.text import QUESTION_TERM

Mask = NDArray[np.bool_]
Posting = tuple[NDArray[np.int32], NDArray[np.uint16]]
_COUNT = 65_535


class LexicalIndex:
    """Postings of 32-bit terms. Row numbers are given by the caller and rise from 0 without gaps.

    Between `load` and `sort` a term's rows are found by looking through all terms, which is as exact and slower.
    """

    def __init__(self) -> None:
        self._sorted: _Postings | None = None
        self._added: dict[int, tuple[GrowableArray[np.int32], GrowableArray[np.uint16]]] = {}
        self._terms = GrowableArray(np.int32)
        self._ends = GrowableArray(np.int64)
        self._lengths = GrowableArray(np.float32)
        self._asks = GrowableArray(np.bool_)
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
        asking = np.flatnonzero(terms == QUESTION_TERM)
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
        asks = counted.pop(QUESTION_TERM, 0) > 0
        for term, count in counted.items():
            rows, counts = self._added.setdefault(term, (GrowableArray(np.int32), GrowableArray(np.uint16)))
            rows.append(row)
            counts.append(min(count, _COUNT))
        self._terms.extend(np.array(terms, np.int32))
        self._ends.append(len(self._terms))
        self._lengths.append(counted.total())
        self._asks.append(asks)

    def terms_of(self, row: int) -> NDArray[np.int32]:
        """Return the terms of a row in order, `QUESTION_TERM` included."""
        first = int(self._ends.values[row - 1]) if row else 0
        return self._terms.values[first : int(self._ends.values[row])]

    @property
    def lengths(self) -> NDArray[np.float32]:
        """How many terms each row has, `QUESTION_TERM` apart."""
        return self._lengths.values

    def statistics(self, counted: Mask) -> tuple[int, float]:
        """Return how many rows count and their mean length in terms, at least 1."""
        statistics = self._statistics(counted)
        return statistics.number, max(statistics.mean_length, 1.0)

    def document_frequencies(self, terms: Collection[int], counted: Mask) -> list[int]:
        """Return how many of the rows that count hold each of some distinct terms."""
        statistics = self._statistics(counted)
        return [statistics.frequency(term, postings) for term, postings in self.postings(terms).items()]

    def frequencies(self, terms: Collection[int]) -> NDArray[np.int64]:
        """Return how many rows hold each of some terms."""
        if self._sorted is None:
            postings = self.postings(terms)
            return np.array([sum(len(rows) for rows, _ in postings[term]) for term in terms], np.int64)
        added = [len(self._added[term][0]) if term in self._added else 0 for term in terms]
        return self._sorted.sizes(terms) + np.array(added, np.int64)

    def postings(self, terms: Collection[int]) -> dict[int, list[Posting]]:
        """Return for each term its rows, each once, and how often they hold it, in parts."""
        if self._sorted is not None:
            found = self._sorted.of(terms)
        elif self._loaded:
            found = _looked_through(terms, self._terms.values, self._ends.values[: self._loaded])
        else:
            found = {term: [] for term in terms}
        for term in self._added.keys() & found.keys():
            rows, counts = self._added[term]
            found[term].append((rows.values, counts.values))
        return found

    def _statistics(self, counted: Mask) -> _Counted:
        """Return the statistics of a mask; those of the same array are kept, so whoever changes a mask makes a new one."""
        kept = self._counted
        if kept is None or kept.mask is not counted:
            kept = self._counted = _Counted(counted, self._lengths.values)
        return kept


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

    def of(self, terms: Collection[int]) -> dict[int, list[Posting]]:
        """Return the postings of some terms; none for a term that no row holds."""
        begins, ends = (places.tolist() for places in self._spans(terms))
        return {
            term: [(self._rows[begin:end], self._counts[begin:end])] if begin < end else []
            for term, begin, end in zip(terms, begins, ends, strict=True)
        }

    def sizes(self, terms: Collection[int]) -> NDArray[np.int64]:
        """Return how many rows hold each term."""
        begins, ends = self._spans(terms)
        return ends - begins

    def _spans(self, terms: Collection[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where the postings of terms begin and end; an unknown one's are empty."""
        wanted = np.fromiter(terms, np.int32, len(terms))
        begins = np.searchsorted(self._terms, wanted)
        ends = np.searchsorted(self._terms, wanted, side="right")
        return self._starts[begins], self._starts[ends]


def _looked_through(
    wanted: Collection[int], terms: NDArray[np.int32], ends: NDArray[np.int64]
) -> dict[int, list[Posting]]:
    """Return the postings of terms by looking at every term of the rows that end there, all in one pass."""
    found: dict[int, list[Posting]] = {term: [] for term in wanted}
    maybe = np.zeros(1 << 16, np.bool_)
    maybe[np.array(list(wanted), np.int64) & 0xFFFF] = True
    places = np.flatnonzero(maybe[terms[: ends[-1]].view(np.uint32) & np.uint32(0xFFFF)])
    held = terms[places]
    order = np.argsort(held, kind="stable")
    held, places = held[order], places[order]
    asked = np.fromiter(found, np.int32, len(found))
    begins, finishes = np.searchsorted(held, asked), np.searchsorted(held, asked, side="right")
    for term, begin, finish in zip(found, begins.tolist(), finishes.tolist(), strict=True):
        rows, counts = np.unique(np.searchsorted(ends, places[begin:finish], side="right"), return_counts=True)
        found[term].append((rows.astype(np.int32), np.minimum(counts, _COUNT).astype(np.uint16)))
    return found
