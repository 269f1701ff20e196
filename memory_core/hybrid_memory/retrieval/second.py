"""The second look at a ranking: what its best hits bring in, and which of them are the newer word."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.retrieval import ranking
from hybrid_memory.retrieval.matching import by_word
from hybrid_memory.retrieval.succession import CHANGE_TERMS, LOOK, Likeness, lifted, replaces
from hybrid_memory.retrieval.timing import asks_about_now
from hybrid_memory.text import ASKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hybrid_memory.retrieval.ask import Ask
    from hybrid_memory.retrieval.candidates import Candidates
    from hybrid_memory.retrieval.lexical import LexicalIndex
    from hybrid_memory.retrieval.matching import Matches
    from hybrid_memory.retrieval.rows import Rows
    from hybrid_memory.retrieval.vectors import Matrix

_DATE_TERMS = 3
"""The lexical text of a memory begins with its date: day, month, year."""
_COMMON = 0.1
_YEAR = 365 * ranking.DAY


def echo(
    chosen: Candidates, query: Sequence[int], lexical: LexicalIndex, counted: NDArray[np.bool_]
) -> None:
    """Add what rows share with the best hit beyond the question, so that its continuation is found.

    The rarest words of the hit that are held by others too form a second question (pseudo-relevance feedback as in Lavrenko
    and Croft, "Relevance-Based Language Models", 2001, with one document). The best hit itself keeps its lead.
    """
    if len(chosen) < 2:  # noqa: PLR2004 - one hit has no others
        return
    best = int(chosen.total().argmax())
    own = set(lexical.terms_of(int(chosen.rows[best]))[_DATE_TERMS:].tolist())
    number, mean_length = lexical.statistics(counted)
    rare = []
    for term in own - set(query) - {ASKS}:
        holding = lexical.document_frequency(term)
        if 2 <= holding <= _COMMON * number + 2:
            rare.append((ranking.idf(number, holding), term))
    rare = sorted(rare, reverse=True)[: ranking.ECHO_WORDS]
    if not rare:
        return
    shared = np.zeros(len(lexical), np.float32)
    postings = lexical.postings([term for _, term in rare])
    for weight, term in rare:
        for held_by, counts in postings[term]:
            relative = lexical.lengths[held_by] / np.float32(mean_length)
            shared[held_by] += np.float32(weight) * ranking.saturation(counts.astype(np.float32), relative)
    part = shared[chosen.rows] * np.float32(ranking.ECHO / sum(weight for weight, _ in rare))
    part[best] = max(float(part.max()), ranking.ECHO)
    chosen.add("echo", part)


def find_newer(
    ask: Ask,
    chosen: Candidates,
    matches: Matches,
    rows: Rows,
    lexical: LexicalIndex,
    matrix: Matrix,
) -> dict[int, int]:
    """Lift the newer word on a thing above the older where the question is about now; return row by row what is newer."""
    if len(chosen) < 2 or not matches.words.terms:  # noqa: PLR2004 - one hit has no others
        return {}
    scores = chosen.total()
    first = np.argsort(-scores, kind="stable")[:LOOK]
    times = rows.created_at.values[chosen.rows[first]].tolist()
    pairs = _newer_pairs(chosen.rows[first], times, matches, rows, lexical, matrix)
    if asks_about_now(ask.when, ask.asked_at or ask.now):
        lift = np.zeros(len(chosen), np.float32)
        lift[first] = lifted(scores[first].tolist(), times, pairs) - scores[first]
        if lift.any():
            chosen.add("newer", lift)
    latest: dict[int, int] = {}
    for earlier, later in sorted(pairs, key=lambda pair: times[pair[1]]):
        latest[int(chosen.rows[first[earlier]])] = int(chosen.rows[first[later]])
    return latest


def _newer_pairs(
    first: NDArray[np.intp],
    times: list[int],
    matches: Matches,
    rows: Rows,
    lexical: LexicalIndex,
    matrix: Matrix,
) -> list[tuple[int, int]]:
    """Return the pairs of places in ``first`` whose later one is taken for the newer word, each (earlier, later)."""
    words = [lexical.terms_of(int(row)).tolist() for row in first]
    by_words = np.array([by_word(matches.words, held) for held in words])
    shares = np.array(matches.words.shares)
    covered = by_words @ shares
    vectors = matrix.gather(first)
    cosines = vectors @ vectors.T
    asked = frozenset(matches.words.terms)
    own = _rarities(words, lexical)
    exact = matches.exact[first]
    pairs = []
    for earlier in range(len(first)):
        for later in range(len(first)):
            if times[later] <= times[earlier]:
                continue
            likeness = Likeness(
                cosine=float(cosines[earlier, later]),
                common=float(np.minimum(by_words[earlier], by_words[later]) @ shares),
                change=not CHANGE_TERMS.isdisjoint(words[later]),
                tags=rows.share_tag(int(first[earlier]), int(first[later])),
                words=_shared(own[earlier], own[later], asked),
                years=(times[later] - times[earlier]) / _YEAR,
                ratio=min(1.0, float(covered[later]) / max(float(covered[earlier]), 1e-6)),
            )
            spoken = bool((rows.speaker.values[first[[earlier, later]]] >= 0).all())
            if replaces(
                likeness, both_spoken=spoken, earlier_exact=float(exact[earlier]), later_exact=float(exact[later])
            ):
                pairs.append((earlier, later))
    return pairs


def _rarities(words: Sequence[Sequence[int]], lexical: LexicalIndex) -> list[dict[int, float]]:
    """Return for rows of terms how rare each of them is, the row's date apart."""
    known = [set(held[_DATE_TERMS:]) - {ASKS} for held in words]
    postings = lexical.postings(set().union(*known))
    rarity = {
        term: ranking.idf(len(lexical), sum(len(rows) for rows, _ in parts)) for term, parts in postings.items()
    }
    return [{term: rarity[term] for term in held} for held in known]


def _shared(one: dict[int, float], other: dict[int, float], asked: frozenset[int]) -> float:
    """Return the weight of the terms that two rows share beyond the question, as a share of the lighter row's."""
    common = sum(weight for term, weight in one.items() if term in other and term not in asked)
    return common / (min(sum(one.values()), sum(other.values())) or 1.0)
