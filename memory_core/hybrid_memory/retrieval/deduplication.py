"""Memories that say the same in the same words, shown as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

DEDUPLICATED_HITS = 64
"""How many of the best hits are compared."""


def group_duplicates(
    rows: NDArray[np.intp], said_in: Callable[[int], Hashable]
) -> tuple[NDArray[np.bool_], dict[int, list[int]]]:
    """Return which places of ``rows`` (best first) stay, and the rows folded into each of those that have any.

    Two rows are the same when ``said_in`` is equal. It must tell apart what a reader does: the terms of search do not,
    because "not", "yes" and "before" are no terms. The best of the same rows stays.
    """
    stays = np.ones(len(rows), np.bool_)
    first_with: dict[Hashable, int] = {}
    folded: dict[int, list[int]] = {}
    for place, row in enumerate(rows[:DEDUPLICATED_HITS].tolist()):
        first = first_with.setdefault(said_in(row), row)
        if first != row:
            stays[place] = False
            folded.setdefault(first, []).append(row)
    return stays, folded


def without_duplicate_pairs(newer: Mapping[int, int], folded: Mapping[int, Sequence[int]]) -> dict[int, int]:
    """Return the pairs of an earlier and a newer row that say different things: who says the same again changes nothing."""
    shown_as = {row: first for first, others in folded.items() for row in others}
    return {
        earlier: later
        for earlier, later in newer.items()
        if shown_as.get(earlier, earlier) != shown_as.get(later, later)
    }
