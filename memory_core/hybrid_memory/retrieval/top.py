"""The best few of many, without sorting them all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_BLOCK = 64
_BLOCKS_FOR_ONE = 4


def best(scores: NDArray[Any], count: int) -> NDArray[np.intp]:
    """Return the places of the ``count`` highest scores, highest first; of equal ones the earlier place first."""
    if count <= 0:
        return np.zeros(0, np.intp)
    places: NDArray[np.intp]
    if count < len(scores):
        least = _at_least(scores, count)
        places = np.flatnonzero(scores >= least)
    else:
        places = np.arange(len(scores))
    return places[np.argsort(-scores[places], kind="stable")][:count]


def _at_least(scores: NDArray[Any], count: int) -> Any:
    """Return a figure that at least ``count`` scores reach, and not many more.

    Of very many, the highest of each block: there are ``count`` blocks whose best reaches the ``count``-th best of these.
    """
    blocks = len(scores) // _BLOCK
    if blocks > _BLOCKS_FOR_ONE * count:
        scores = scores[: blocks * _BLOCK].reshape(blocks, _BLOCK).max(axis=1)
    return np.partition(scores, len(scores) - count)[len(scores) - count]
