"""BM25: the inverted index of terms, and how well each row covers the terms of a question.

Rows that came with the snapshot stand in one sorted array of postings; later rows in an array for each of their terms. Terms
of a row never change, and rows are never taken out: whoever searches says by a mask which of them count. `score` is the first
step of a search (``rank.py``); `per_term_scores` looks closely at few rows.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.language.languages import languages
from hybrid_memory.language.names import OTHER_SCRIPT, language_entry, undecided
from hybrid_memory.language.terms import QUESTION_TERM, TermHasher
from hybrid_memory.retrieval.arrays import Floats, GrowableArray, Mask
from hybrid_memory.retrieval.name_counts import NameCounts

Posting = tuple[NDArray[np.int32], NDArray[np.uint16]]

_NO_NAMES = np.zeros(0, np.int32)
_MAX_COUNT = 65_535  # the most a 16-bit count holds; a term that occurs oftener in one memory is as good as this
# How soon further occurrences of a term count less, and how much a long row is damped. The same as Anserini's defaults for short
# passages; no comparison with other values is recorded.
K1 = 0.9
B = 0.4
MIN_TERM_FACTOR = 0.6  # what a term counts at least, however long the row; see `saturation`


class LexicalIndex:
    """Postings of the 32-bit terms that ``hasher`` makes. Row numbers are given by the caller and rise from 0 without gaps.

    Between `load` and `sort` a term's rows are found by looking through all terms, which is as exact and slower.
    """

    def __init__(self, hasher: TermHasher) -> None:
        self.hasher = hasher
        self._sorted: _Postings | None = None
        self._added: dict[int, tuple[GrowableArray[np.int32], GrowableArray[np.uint16]]] = {}
        self._terms = GrowableArray(np.int32)
        self._ends = GrowableArray(np.int64)
        self._lengths = GrowableArray(np.float32)
        self._asks = GrowableArray(np.bool_)
        self._names = NameCounts()
        self._untrusted_names = NameCounts()
        self._kept_alone: tuple[Mask, LexicalIndex] | None = None
        self._loaded = 0
        self._counted: tuple[_Counted, ...] = ()

    def __len__(self) -> int:
        return len(self._ends)

    @property
    def asks(self) -> Mask:
        """Which rows ask something."""
        return self._asks.values

    def load(
        self,
        terms: NDArray[np.int32],
        offsets: NDArray[np.int64],
        names: NDArray[np.int32] = _NO_NAMES,
        untrusted_names: NDArray[np.int32] = _NO_NAMES,
    ) -> None:
        """Add rows before the first `add`: row i of them holds ``terms[offsets[i]:offsets[i + 1]]``.

        ``names`` are the entries of all rows' names, end to end, ``untrusted_names`` those of the rows that are not trusted.
        """
        self._names.load(names)
        self._untrusted_names.load(untrusted_names)
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
        """Sort the postings of all loaded rows, which may happen alongside searches."""
        count = self._loaded
        if count and self._sorted is None:
            ends = self._ends.values[:count]
            self._sorted = _Postings(self._terms.values[: ends[-1]], ends)
            self._names.sort()
            self._untrusted_names.sort()
            self._kept_alone = None

    def alone(self, counted: Mask, rows: Callable[[], Mask]) -> LexicalIndex:
        """Return an index in which only the trusted ``rows`` tell how rare words are, which are names, and what languages there are.

        It holds what this one does. Kept for the same mask ``counted``, and until the next row comes.
        """
        kept = self._kept_alone
        if kept is None or kept[0] is not counted:
            kept = self._kept_alone = (counted, _TrustedAlone(self, rows()))
        return kept[1]

    def trust_names(self, names: Sequence[int], *, trusted: bool) -> None:
        """Note that a row with these names is trusted now, or is not."""
        self._untrusted_names.add(names, -1 if trusted else 1)

    def add(self, terms: Sequence[int], names: Sequence[int] = (), *, trusted: bool = True) -> None:
        """Add the next row; ``names`` are the entries of its names."""
        self._names.add(names)
        if not trusted:
            self._untrusted_names.add(names)
        row = len(self)
        counted = Counter(terms)
        asks = counted.pop(QUESTION_TERM, 0) > 0
        for term, count in counted.items():
            rows, counts = self._added.setdefault(term, (GrowableArray(np.int32), GrowableArray(np.uint16)))
            rows.append(row)
            counts.append(min(count, _MAX_COUNT))
        self._terms.extend(np.array(terms, np.int32))
        self._ends.append(len(self._terms))
        self._lengths.append(counted.total())
        self._asks.append(asks)

    def terms_of(self, row: int) -> NDArray[np.int32]:
        """Return the terms of a row in order, `QUESTION_TERM` included."""
        first = int(self._ends.values[row - 1]) if row else 0
        return self._terms.values[first : int(self._ends.values[row])]

    def terms_of_rows(self, rows: NDArray[np.intp]) -> list[NDArray[np.int32]]:
        """Return the terms of some rows, each as `terms_of` does."""
        values, ends = self._terms.values, self._ends.values
        firsts = np.where(rows > 0, ends[rows - 1], 0)
        return [values[first:end] for first, end in zip(firsts.tolist(), ends[rows].tolist(), strict=True)]

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
        if statistics.number == len(self):
            found: list[int] = self.frequencies(terms).tolist()  # the lengths of the postings, without looking at them
            return found
        return statistics.frequencies(terms, self.postings)

    def frequencies(self, terms: Collection[int]) -> NDArray[np.int64]:
        """Return how many rows hold each of some terms."""
        if self._sorted is None:
            postings = self.postings(terms)
            return np.array([sum(len(rows) for rows, _ in postings[term]) for term in terms], np.int64)
        sizes = self._sorted.sizes(terms)
        if self._added:
            sizes = sizes + np.array(
                [len(self._added[term][0]) if term in self._added else 0 for term in terms], np.int64
            )
        return sizes

    def name_frequencies(self, terms: Collection[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return for some terms how many rows hold each in a way that tells whether it is a name, and in how many it is one.

        Rows where it only opens sentences, or stands with a capital in a German one, are in neither number. Rows count
        whether they are live or not.
        """
        wanted = np.fromiter(terms, np.int32, len(terms))
        held = self.frequencies(terms) - self._named(undecided(wanted))
        return np.maximum(held, 0), self._named(wanted)

    def languages(self) -> tuple[str, ...]:
        """Return the languages other than English that any row is in."""
        entries = np.array([language_entry(language) for language in languages()], np.int32)
        return tuple(itertools.compress(languages(), self._named(entries).tolist()))

    def in_other_scripts(self) -> bool:
        """Return True if most letters of any row are not Latin ones."""
        return bool(self._named(np.array([OTHER_SCRIPT], np.int32)).any())

    def _named(self, entries: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return how many rows have each entry among their names."""
        return self._names.of(entries)

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

    def blocks(self, terms: Sequence[int]) -> list[PostingBlock]:
        """Return the postings of terms, which may repeat, laid end to end; each row is in one block only.

        One array for all terms, because a pasted page has hundreds of terms, and a call of numpy for each
        would take longer than the work itself.
        """
        if self._sorted is None:
            found = self.postings(terms)
            return [_block([found[term] for term in terms])]
        blocks = [self._sorted.block(terms)]
        if not self._added.keys().isdisjoint(terms):
            added = (self._added.get(term) for term in terms)
            blocks.append(_block([[(one[0].values, one[1].values)] if one else [] for one in added]))
        return blocks

    def _statistics(self, counted: Mask) -> _Counted:
        """Return the statistics of a mask; those of the same array are kept, so whoever changes a mask makes a new one.

        Of the last two, because a search may look at all that is visible, and at what of it is trusted.
        """
        kept = next((one for one in self._counted if one.mask is counted), None)
        if kept is None:
            kept = _Counted(counted, self._lengths.values)
            self._counted = (kept, *self._counted[:1])
        return kept


class _TrustedAlone(LexicalIndex):
    """A lexical index as its trusted rows alone would have it, with the rows of the whole."""

    def __init__(self, whole: LexicalIndex, trusted: Mask) -> None:
        vars(self).update(vars(whole))
        self._counted = ()
        self._trusted = trusted

    def frequencies(self, terms: Collection[int]) -> NDArray[np.int64]:
        held = self.postings(terms)
        counts = (sum(int(np.count_nonzero(self._trusted[rows])) for rows, _ in held[term]) for term in terms)
        return np.fromiter(counts, np.int64, len(terms))

    def _named(self, entries: NDArray[np.int32]) -> NDArray[np.int64]:
        return super()._named(entries) - self._untrusted_names.of(entries)


class _Counted:
    """What a mask says about terms, found out term by term."""

    def __init__(self, mask: Mask, lengths: NDArray[np.float32]) -> None:
        self.mask = mask
        self.number = int(np.count_nonzero(mask))
        total = lengths.sum(dtype=np.float64) if self.number == len(mask) else lengths[mask].sum(dtype=np.float64)
        self.mean_length = float(total) / max(self.number, 1)
        self._frequencies: dict[int, int] = {}

    def frequencies(
        self, terms: Collection[int], postings: Callable[[Collection[int]], Mapping[int, Sequence[Posting]]]
    ) -> list[int]:
        """Return how many rows of the mask hold each term; ``postings`` gives those of terms not asked for before."""
        known = self._frequencies
        missing = [term for term in terms if term not in known]
        if missing:
            for term, parts in postings(missing).items():
                known[term] = sum(int(np.count_nonzero(self.mask[rows])) for rows, _ in parts)
        return [known[term] for term in terms]


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
        self._counts = np.minimum(np.diff(first, append=len(pairs)), _MAX_COUNT).astype(np.uint16)
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

    def block(self, terms: Sequence[int]) -> PostingBlock:
        """Return the postings of terms laid end to end."""
        begins, ends = self._spans(terms)
        sizes = ends - begins
        places = np.repeat(begins - np.cumsum(sizes) + sizes, sizes) + np.arange(int(sizes.sum()))
        return PostingBlock(self._rows[places], self._counts[places].astype(np.float32), sizes)

    def sizes(self, terms: Collection[int]) -> NDArray[np.int64]:
        """Return how many rows hold each term."""
        begins, ends = self._spans(terms)
        return ends - begins

    def _spans(self, terms: Collection[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where the postings of terms begin and end; an unknown one's are empty."""
        wanted = np.fromiter(terms, np.int32, len(terms))
        begins = np.searchsorted(self._terms, wanted)
        known = (
            np.take(self._terms, begins, mode="clip") == wanted if len(self._terms) else np.zeros(len(wanted), np.bool_)
        )
        return self._starts[begins], self._starts[begins + known]


@dataclass(frozen=True, slots=True)
class PostingBlock:
    """The postings of several terms laid end to end: of term i ``sizes[i]`` rows (each once) with the counts in them."""

    rows: NDArray[np.int32]
    counts: Floats
    sizes: NDArray[np.intp]


def _block(postings: Sequence[Sequence[Posting]]) -> PostingBlock:
    """Lay postings, which hold several parts for a term, end to end."""
    rows = [part[0] for parts in postings for part in parts]
    counts = [part[1] for parts in postings for part in parts]
    sizes = np.array([sum(len(part[0]) for part in parts) for parts in postings], np.intp)
    return PostingBlock(
        np.concatenate(rows) if rows else np.zeros(0, np.int32),
        np.concatenate(counts).astype(np.float32) if counts else np.zeros(0, np.float32),
        sizes,
    )


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
        found[term].append((rows.astype(np.int32), np.minimum(counts, _MAX_COUNT).astype(np.uint16)))
    return found


def idf(rows: int, holding: int) -> float:
    """Return the weight of a term that ``holding`` of ``rows`` rows hold; always positive.

    The probabilistic inverse document frequency with 1 added inside the logarithm, as Lucene has it (Robertson and
    Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009).
    """
    return math.log1p((rows - holding + 0.5) / (holding + 0.5))


def idfs(rows: int, holding: NDArray[np.int64]) -> Floats:
    """Return the `idf` of many terms."""
    return np.log1p((rows - holding + 0.5) / (holding + 0.5)).astype(np.float32)


def saturation(counts: Floats, relative_lengths: Floats) -> Floats:
    """Return BM25's factor of a term that occurs ``counts`` times (Robertson and Zaragoza, 2009).

    It is 1 for one occurrence in a row of mean length and at most ``K1 + 1``. ``relative_lengths`` are the rows' lengths
    divided by the mean. However long a row is, a term it holds counts at least `MIN_TERM_FACTOR`; otherwise a long text among short
    ones is not found by the very word that it alone holds (Lv and Zhai, "Lower-Bounding Term Frequency Normalization",
    2011, with a bound in place of their added constant). `MIN_TERM_FACTOR` acts from five times the mean length on.
    """
    damping = np.float32(K1) * (np.float32(1 - B) + np.float32(B) * relative_lengths)
    factors = counts * np.float32(K1 + 1) / (counts + damping)
    return np.maximum(factors, np.float32(MIN_TERM_FACTOR)).astype(np.float32, copy=False)


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """The distinct terms of a question and their shares of its weight, which sum to 1; none for an empty question.

    ``mean_length`` is that of a row, in terms.
    """

    terms: tuple[int, ...]
    shares: tuple[float, ...]
    mean_length: float


@dataclass(frozen=True, slots=True)
class Coverage:
    """For every row how far it covers a question by its words.

    0 without a common word; about 1 when every word occurs once in a row of common length.
    """

    query_terms: QueryTerms
    scores: Floats


def score(lexical: LexicalIndex, words: QueryTerms) -> Coverage:
    """Score all rows against the terms of a question."""
    scores = np.zeros(len(lexical), np.float32)
    shares = np.array(words.shares, np.float32)
    for block in lexical.blocks(words.terms):
        found = saturation(block.counts, lexical.lengths[block.rows] / np.float32(words.mean_length))
        found *= np.repeat(shares, block.sizes)
        # A row occurs once among those of a term.
        for begin, end in itertools.pairwise(np.cumsum(np.append(0, block.sizes)).tolist()):
            scores[block.rows[begin:end]] += found[begin:end]
    return Coverage(words, scores)


def per_term_scores(words: QueryTerms, held: TermCounts) -> Floats:
    """Return (rows, words of the question): how well each row has each word, at most 1."""
    column = {term: at for at, term in enumerate(held.terms)}
    found = np.zeros((len(held.lengths), len(words.terms)), np.float32)
    owners = [at for at, term in enumerate(words.terms) if term in column]
    counts = held.counts[:, [column[words.terms[at]] for at in owners]]
    factors = saturation(counts, held.lengths[:, None] / np.float32(words.mean_length))
    found[:, owners] = np.where(counts > 0, factors, np.float32(0))
    return np.minimum(found, np.float32(1))


@dataclass(frozen=True, slots=True)
class TermCounts:
    """How often some rows hold each of the terms that occur in them: ``counts`` is (rows, terms) float32.

    ``lengths`` are the rows' lengths in terms.
    """

    terms: list[int]
    counts: Floats
    lengths: Floats


def count_terms(held: Sequence[NDArray[np.int32]]) -> TermCounts:
    """Count the terms of rows; a question mark is no term."""
    flat = np.concatenate(held) if held else np.zeros(0, np.int32)
    owner = np.repeat(np.arange(len(held)), [len(terms) for terms in held])
    kept = flat != QUESTION_TERM
    terms, columns = np.unique(flat[kept], return_inverse=True)
    shape = len(held), len(terms)
    counts = (
        np.bincount(owner[kept] * len(terms) + columns, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float32)
    )
    return TermCounts(terms.tolist(), counts, counts.sum(axis=1))
