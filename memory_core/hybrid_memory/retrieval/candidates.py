"""The rows that a search weighs closely: all that were found, or in a large memory the best by words, vector and time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.retrieval.arrays import Floats

# Of more rows only so many, the best by words, vector and time (by recency and importance too, where these weigh much), are
# ranked, so that the later steps take as long in a large memory as in a small one.
MAX_CANDIDATES = 2_048
# The rows whose neighbours in their sessions are ranked too: an answer need not resemble the question, but then the turn before
# it does.
NEIGHBOUR_SEEDS = 512


@dataclass(frozen=True, slots=True)
class SessionNeighbours:
    """For each row the row before and after it in its session, -1 for none."""

    before: NDArray[np.int32]
    after: NDArray[np.int32]


@dataclass(slots=True)
class Candidates:
    """Rows by rising number, with the summands of their scores so far, aligned with ``rows``.

    ``before`` and ``after`` are the places in ``rows`` of the neighbours, -1 where there is none among them.
    """

    rows: NDArray[np.intp]
    cosine: Floats
    parts: dict[str, Floats]
    before: NDArray[np.int32]
    after: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.rows)

    def add(self, name: str, part: Floats) -> None:
        """Add to a summand."""
        held = self.parts.get(name)
        self.parts[name] = part if held is None else held + part

    def scale(self, factor: float) -> None:
        """Multiply all summands."""
        if factor == 1:
            return
        self.parts = {name: np.float32(factor) * part for name, part in self.parts.items()}

    def weaken(self, which: NDArray[np.bool_], share: float) -> None:
        """Leave of the summands of some rows a share."""
        if share != 1 and which.any():
            factors = np.where(which, np.float32(share), np.float32(1))
            self.parts = {name: factors * part for name, part in self.parts.items()}

    def total(self) -> Floats:
        """Return the sums."""
        return total(self.parts)


def total(parts: Mapping[str, Floats]) -> Floats:
    """Return the sum of summands, of which there is at least one."""
    first, *others = parts.values()
    result = first.copy()
    for part in others:
        result += part
    return result


def select_candidates(
    found: NDArray[np.intp],
    cosine: Floats,
    parts: dict[str, Floats],
    neighbours: SessionNeighbours,
    most: int = MAX_CANDIDATES,
    prefilter: Callable[[], Floats] | None = None,
) -> Candidates:
    """Return the candidates among the rows that were found; of equal ones at the cut the later rows.

    ``prefilter`` gives what the best ``most`` are chosen by, the sum of ``parts`` otherwise; asked for only if there are more.
    """
    before, after = neighbours.before, neighbours.after
    place = np.full(len(before), -1, np.int32)
    place[found] = np.arange(len(found), dtype=np.int32)
    if len(found) > most:
        scores = total(parts) if prefilter is None else prefilter()
        taken = _highest(scores, most)
        chosen = np.flatnonzero(taken)
        first = found[chosen[_highest(scores[chosen], min(NEIGHBOUR_SEEDS, most))]]
        beside = np.concatenate((before[first], after[first]))
        beside = place[beside[beside >= 0]]
        taken[beside[beside >= 0]] = True
        kept = np.flatnonzero(taken)
        place[found] = -1
        found, cosine = found[kept], cosine[kept]
        parts = {name: part[kept] for name, part in parts.items()}
        place[found] = np.arange(len(found), dtype=np.int32)
    return Candidates(found, cosine, parts, _places(place, before[found]), _places(place, after[found]))


def _highest(scores: Floats, count: int) -> NDArray[np.bool_]:
    """Return which are the ``count`` highest scores, of equal ones at the cut the later; faster than sorting them."""
    if count >= len(scores):
        return np.ones(len(scores), np.bool_)
    least = np.partition(scores, len(scores) - count)[len(scores) - count]
    taken: NDArray[np.bool_] = scores > least
    equal = np.flatnonzero(scores == least)
    taken[equal[len(equal) - (count - int(np.count_nonzero(taken))) :]] = True
    return taken


def _places(place: NDArray[np.int32], rows: NDArray[np.int32]) -> NDArray[np.int32]:
    return np.where(rows >= 0, place[rows], np.int32(-1))
