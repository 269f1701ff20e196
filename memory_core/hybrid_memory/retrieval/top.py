"""The best few of many, without sorting them all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_GROUP = 64
_GROUPS_FOR_ONE = 4


def top_k(scores: NDArray[Any], count: int) -> NDArray[np.intp]:
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

    Very many are dealt out to groups first: ``count`` groups have a best that reaches the ``count``-th best of these.
    """
    groups = len(scores) // _GROUP
    if groups > _GROUPS_FOR_ONE * count:
        scores = scores[: groups * _GROUP].reshape(_GROUP, groups).max(axis=0)
    return np.partition(scores, len(scores) - count)[len(scores) - count]
