"""The best few of many, without sorting them all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def best(scores: NDArray[Any], count: int) -> NDArray[np.intp]:
    """Return the places of the ``count`` highest scores, highest first; of equal ones the earlier place first."""
    if count <= 0:
        return np.zeros(0, np.intp)
    places: NDArray[np.intp]
    if count < len(scores):
        least = np.partition(scores, len(scores) - count)[len(scores) - count]
        places = np.flatnonzero(scores >= least)
    else:
        places = np.arange(len(scores))
    return places[np.argsort(-scores[places], kind="stable")][:count]
