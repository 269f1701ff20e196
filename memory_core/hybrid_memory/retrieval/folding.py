"""Memories that say the same in the same words, shown as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable

LOOK = 64
"""How many of the best hits are compared."""


def fold(
    rows: NDArray[np.intp], words_of: Callable[[int], NDArray[np.int32]]
) -> tuple[NDArray[np.bool_], dict[int, list[int]]]:
    """Return which places of ``rows`` (best first) stay, and the rows folded into each of those that have any.

    Two rows are the same when ``words_of`` gives the same terms in the same order, at least one: they differ at most in
    endings, punctuation, case and words that say nothing. The best of them stays.
    """
    stays = np.ones(len(rows), np.bool_)
    first_with: dict[bytes, int] = {}
    folded: dict[int, list[int]] = {}
    for place, row in enumerate(rows[:LOOK].tolist()):
        words = words_of(row).tobytes()
        first = first_with.setdefault(words, row) if words else row
        if first != row:
            stays[place] = False
            folded.setdefault(first, []).append(row)
    return stays, folded
