"""How well rows match the words of a question, by the words themselves and by near ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.retrieval.ranking_signals import Floats, idf, saturation
from hybrid_memory.text import QUESTION_TERM

if TYPE_CHECKING:
    from hybrid_memory.retrieval.bm25 import LexicalIndex
    from hybrid_memory.retrieval.query_expansion import ExpansionTable


MAX_EXPANDED_TERMS = 32
"""How many words of a question, the rarest, others may stand in for; a pasted page would else be met by all words there are."""


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """The distinct terms of a question: their shares of its weight (summing to 1, none for an empty question), near terms.

    ``mean_length`` is that of a row, in terms.
    """

    terms: tuple[int, ...]
    shares: tuple[float, ...]
    near: tuple[Mapping[int, float], ...]
    mean_length: float


@dataclass(frozen=True, slots=True)
class Coverage:
    """For every row how far it covers the question: by ``exact`` words alone, and where near words stand in for them.

    0 without a common word; about 1 when every word occurs once in a row of common length.
    """

    words: QueryTerms
    exact: Floats
    covered: Floats


def score(lexical: LexicalIndex, query: Sequence[int], counted: NDArray[np.bool_], near: ExpansionTable) -> Coverage:
    """Match the terms of a question against all rows.

    A term counts by its rarity among the ``counted`` rows; a row has it as well as it has the best of its near terms.
    """
    words = _words(lexical, query, counted, near)
    exact, covered, best = (np.zeros(len(lexical), np.float32) for _ in range(3))
    lengths = lexical.lengths
    postings = lexical.postings({other for expansions in words.near for other in expansions})
    for term, share, expansions in zip(words.terms, words.shares, words.near, strict=True):
        parts = [(rows, counts, weight) for other, weight in expansions.items() for rows, counts in postings[other]]
        if not parts:
            continue
        rows = np.concatenate([part[0] for part in parts])
        counts = np.concatenate([part[1] for part in parts]).astype(np.float32)
        factors = saturation(counts, lengths[rows] / np.float32(words.mean_length))
        factors *= np.float32(share)
        own = sum(len(holding) for holding, _ in postings[term])
        exact[rows[:own]] += factors[:own]
        factors *= np.repeat(np.array([part[2] for part in parts], np.float32), [len(part[0]) for part in parts])
        np.maximum.at(best, rows, factors)
        # A row that stands there twice is assigned the same sum twice.
        covered[rows] = covered[rows] + best[rows]
        best[rows] = 0
    return Coverage(words, exact, covered)


def per_term_scores(words: QueryTerms, held: TermCounts) -> Floats:
    """Return (rows, words of the question): how well each row has each word, at most 1."""
    factors = np.where(
        held.counts > 0, saturation(held.counts, held.lengths[:, None] / np.float32(words.mean_length)), 0
    )
    column = {term: at for at, term in enumerate(held.terms)}
    found = np.zeros((len(held.lengths), len(words.terms)), np.float32)
    for at, expansions in enumerate(words.near):
        # Word by word, because a long question times the words of long memories does not fit in memory.
        there = [(column[term], weight) for term, weight in expansions.items() if term in column]
        if there:
            weights = np.array([weight for _, weight in there], np.float32)
            found[:, at] = (factors[:, [place for place, _ in there]] * weights).max(axis=1)
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
    counts = np.zeros((len(held), len(terms)), np.float32)
    np.add.at(counts, (owner[kept], columns), np.float32(1))
    return TermCounts(terms.tolist(), counts, counts.sum(axis=1))


def _words(lexical: LexicalIndex, query: Sequence[int], counted: NDArray[np.bool_], near: ExpansionTable) -> QueryTerms:
    distinct = tuple(term for term in dict.fromkeys(query) if term != QUESTION_TERM)
    number, mean_length = lexical.statistics(counted)
    if not number:
        return QueryTerms((), (), (), 1.0)
    weights = [idf(number, holding) for holding in lexical.document_frequencies(distinct, counted)]
    total = sum(weights)
    widened = set(sorted(range(len(distinct)), key=lambda at: -weights[at])[:MAX_EXPANDED_TERMS])
    stand_in = tuple(near.of(term) if at in widened else {term: 1.0} for at, term in enumerate(distinct))
    return QueryTerms(distinct, tuple(weight / total for weight in weights), stand_in, mean_length)
