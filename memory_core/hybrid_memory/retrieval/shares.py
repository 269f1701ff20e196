"""Where hits stand that are trusted less than who asks: behind the first one that is trusted, and few of the first five. Pure.

Two rankings are made (``rank.py``): of what is trusted as if there were nothing else, so that no word of a tool or of an imported
file changes an order, a score or a mark of it; and of all, from which the rest takes its places. `joined` lays one into the other;
`in_shares` lets those of the rest wait that would stand too far in front. Nothing is left out: what waits comes later.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.retrieval.arrays import Floats
from hybrid_memory.retrieval.query import Below, Ranking

BLOCK = 5  # hits, the first that a reader looks at,
UNTRUSTED_IN_BLOCK = 2  # of which so many may be untrusted, and of any other five in a row;
UNTRUSTED_IF_UNANSWERED = 3  # so many where nothing trusted answers, and the first may be
ALIKE = 0.7  # of the words of two texts, from which they are one flood
ARRANGED = 200  # hits, some pages
COMPARED_UNTRUSTED = 32  # of the best; they are read for that


def below(trusted: Ranking, everything: Ranking, untrusted: NDArray[np.bool_]) -> Ranking:
    """Return the ranking of what is trusted with the rest as its ``below``.

    ``everything`` ranks both, ``untrusted`` marks its hits. A memory of the rest has its place by the scores in there; of equals the
    trusted one comes first.
    """
    rest = taken(everything, np.flatnonzero(untrusted))
    least = np.minimum.accumulate(_scores_in(everything, trusted.ids.rows))
    places = np.searchsorted(-least, -rest.scores, side="right")
    return replace(trusted, below=Below(ranking=rest, places=places))


def _scores_in(ranking: Ranking, rows: NDArray[np.intp]) -> Floats:
    """Return the scores of rows in a ranking, less than any other where they are not in it."""
    ranked = ranking.ids.rows
    order = np.argsort(ranked)
    at = order[np.minimum(np.searchsorted(ranked, rows, sorter=order), len(order) - 1)]
    return np.where(ranked[at] == rows, ranking.scores[at], np.float32(-np.inf))


def taken(ranking: Ranking, order: NDArray[np.intp]) -> Ranking:
    """Return some hits of a ranking, in another order."""
    return replace(
        ranking,
        ids=ranking.ids[order],
        scores=ranking.scores[order],
        weak=ranking.weak[order],
        has_vector=ranking.has_vector[order],
        positions=ranking.positions[order],
    )


def joined(ranking: Ranking) -> Ranking:
    """Return one ranking of the trusted hits and those ``below``, each at its place; a ranking without such as it is."""
    if ranking.below is None:
        return ranking
    rest = ranking.below.ranking
    order = np.argsort(np.concatenate((np.arange(len(ranking)), ranking.below.places - 0.5)), kind="stable")
    size = len(next(iter(ranking.parts.values())))
    other_size = len(next(iter(rest.parts.values())))
    nothing, other_nothing = np.zeros(size, np.float32), np.zeros(other_size, np.float32)
    parts = {
        name: np.concatenate((ranking.parts.get(name, nothing), rest.parts.get(name, other_nothing)))
        for name in dict.fromkeys((*ranking.parts, *rest.parts))
    }
    return replace(
        ranking,
        ids=ranking.ids.followed_by(rest.ids)[order],
        scores=np.concatenate((ranking.scores, rest.scores))[order],
        weak=np.concatenate((ranking.weak, rest.weak))[order],
        has_vector=np.concatenate((ranking.has_vector, rest.has_vector))[order],
        positions=np.concatenate((ranking.positions, rest.positions + size))[order],
        parts=parts,
        repeats={**rest.repeats, **ranking.repeats},
        newer={**rest.newer, **ranking.newer},
        below=None,
        untrusted=order >= len(ranking),
    )


@dataclass(frozen=True, slots=True)
class Shares:
    """Hits in their shares: ``order`` are positions, ``first_page`` how many of them a first page holds at most."""

    order: NDArray[np.intp]
    first_page: int


def in_shares(
    trusted: NDArray[np.intp], untrusted: NDArray[np.intp], alike: Collection[int] = (), *, answered: bool = True
) -> Shares:
    """Return trusted and untrusted positions, both rising, as one order in which none of the untrusted stands too far in front.

    Each keeps its place by position, or waits: of any five hits in a row two at most are untrusted, and not the first of all. Those
    at the places ``alike`` say nearly what a better one says; they are not among the first five. Where there are too few trusted
    ones to go on, the first page ends before the first five are filled, and the rest follows. Looked at are the first `ARRANGED`
    hits; those behind come as they are. Where what is trusted has not ``answered``, the first of all may be untrusted, three of any
    five while there are others, and a page ends early only before what says nearly the same.
    """
    doubled = np.isin(np.arange(len(untrusted)), list(alike))
    kinds = tuple(map(deque, (trusted.tolist(), untrusted[~doubled].tolist(), untrusted[doubled].tolist())))
    shown: list[int] = []
    marks: list[bool] = []
    while len(shown) < ARRANGED:
        full = _is_full(marks, others=bool(kinds[0]), answered=answered)
        allowed = kinds[:1] if full else kinds[: 2 if len(shown) < BLOCK else 3]
        chosen = min((kind for kind in allowed if kind), key=itemgetter(0), default=None)
        if chosen is None:
            break
        shown.append(chosen.popleft())
        marks.append(chosen is not kinds[0])
    end = len(shown)
    rest = sorted((*kinds[0], *kinds[1], *kinds[2])) if kinds[0] else [*kinds[1], *kinds[2]]
    return Shares(np.array([*shown, *rest], np.intp), end if end < BLOCK else end + len(rest))


def _is_full(marks: Sequence[bool], *, others: bool, answered: bool) -> bool:
    """Return True if the next of some hits may not be untrusted, as ``marks`` says of those before; ``others``: trusted ones wait."""
    before = sum(marks[1 - BLOCK :])
    return not marks or before >= UNTRUSTED_IN_BLOCK if answered else others and before >= UNTRUSTED_IF_UNANSWERED


def few_untrusted(untrusted: NDArray[np.bool_], every: int) -> tuple[NDArray[np.intp], int]:
    """Return an order of places in which the untrusted are at most every fourth (``every``) of each beginning, while others follow.

    Also how many stand before the first that others no longer follow. All keep their place that may.
    """
    others, strangers = np.flatnonzero(~untrusted), np.flatnonzero(untrusted)
    behind = (every - 1) * np.arange(1, len(strangers) + 1)
    natural = np.searchsorted(others, strangers)
    places = np.maximum(natural, np.minimum(behind, len(others)))
    order = np.argsort(np.concatenate((np.arange(len(others)), places - 0.5)), kind="stable")
    certain = len(others) + int(np.count_nonzero(behind <= len(others)))
    return np.concatenate((others, strangers))[order], certain


def floods(texts: Sequence[frozenset[Hashable]]) -> list[int]:
    """Return the places of texts, as sets of words, that say nearly what an earlier one says."""
    kept: list[frozenset[Hashable]] = []
    found: list[int] = []
    for place, words in enumerate(texts):
        if any(2 * len(words & other) >= ALIKE * (len(words) + len(other)) for other in kept):
            found.append(place)
        else:
            kept.append(words)
    return found
