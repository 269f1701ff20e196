"""Memories that say the same in the same words, shown as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

DEDUPLICATED_HITS = 64  # how many of the best hits are compared; more are hardly ever read


def group_duplicates(
    rows: NDArray[np.intp], contents_of: Callable[[NDArray[np.intp]], Sequence[Hashable]]
) -> tuple[NDArray[np.bool_], dict[int, list[int]]]:
    """Return which positions of ``rows`` (best first) stay, and the rows that each kept row with duplicates stands for.

    Two rows are duplicates when ``contents_of`` gives equal values for them. It must tell apart what a reader does: the terms of
    search do not, because "not", "yes" and "before" are no terms. The best of several duplicates stays.
    """
    stays = np.ones(len(rows), np.bool_)
    first_with: dict[Hashable, int] = {}
    grouped: dict[int, list[int]] = {}
    compared = rows[:DEDUPLICATED_HITS]
    for position, (row, content) in enumerate(zip(compared.tolist(), contents_of(compared), strict=True)):
        first = first_with.setdefault(content, row)
        if first != row:
            stays[position] = False
            grouped.setdefault(first, []).append(row)
    return stays, grouped
