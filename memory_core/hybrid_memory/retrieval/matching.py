"""How well rows match the words of a question, by the words themselves and by near ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.retrieval.ranking import Floats, idf, saturation
from hybrid_memory.text import ASKS

if TYPE_CHECKING:
    from hybrid_memory.retrieval.lexical import LexicalIndex
    from hybrid_memory.retrieval.near import NearWords


@dataclass(frozen=True, slots=True)
class Words:
    """The distinct terms of a question: their shares of its weight (summing to 1, none for an empty question), near terms.

    ``mean_length`` is that of a row, in terms.
    """

    terms: tuple[int, ...]
    shares: tuple[float, ...]
    near: tuple[Mapping[int, float], ...]
    mean_length: float


@dataclass(frozen=True, slots=True)
class Matches:
    """For every row how far it covers the question: by ``exact`` words alone, and where near words stand in for them.

    0 without a common word; about 1 when every word occurs once in a row of common length.
    """

    words: Words
    exact: Floats
    covered: Floats


def match(lexical: LexicalIndex, query: Sequence[int], counted: NDArray[np.bool_], near: NearWords) -> Matches:
    """Match the terms of a question against all rows.

    A term counts by its rarity among the ``counted`` rows; a row has it as well as it has the best of its near terms.
    """
    words = _words(lexical, query, counted, near)
    exact, covered, best = (np.zeros(len(lexical), np.float32) for _ in range(3))
    lengths = lexical.lengths
    postings = lexical.postings({other for stands_in in words.near for other in stands_in})
    for term, share, stands_in in zip(words.terms, words.shares, words.near, strict=True):
        touched = []
        for other, weight in stands_in.items():
            for holding, counts in postings[other]:
                factors = saturation(counts.astype(np.float32), lengths[holding] / np.float32(words.mean_length))
                if other == term:
                    exact[holding] += np.float32(share) * factors
                best[holding] = np.maximum(best[holding], np.float32(weight) * factors)
                touched.append(holding)
        for holding in touched:
            covered[holding] += np.float32(share) * best[holding]
            best[holding] = 0
    return Matches(words, exact, covered)


def by_word(words: Words, terms: Sequence[int]) -> Floats:
    """Return how well a row with these terms has each term of the question, at most 1 each."""
    counts = Counter(terms)
    counts.pop(ASKS, None)
    relative = np.float32(counts.total() / words.mean_length)
    found = np.zeros(len(words.terms), np.float32)
    for at, stands_in in enumerate(words.near):
        held = [(weight, counts[other]) for other, weight in stands_in.items() if other in counts]
        if held:
            weights, numbers = np.array(held, np.float32).T
            found[at] = min(float((weights * saturation(numbers, relative)).max()), 1.0)
    return found


def _words(lexical: LexicalIndex, query: Sequence[int], counted: NDArray[np.bool_], near: NearWords) -> Words:
    distinct = tuple(term for term in dict.fromkeys(query) if term != ASKS)
    number, mean_length = lexical.statistics(counted)
    if not number:
        return Words((), (), (), 1.0)
    weights = [idf(number, lexical.document_frequency(term, counted)) for term in distinct]
    total = sum(weights)
    return Words(
        distinct, tuple(weight / total for weight in weights), tuple(near.of(term) for term in distinct), mean_length
    )
