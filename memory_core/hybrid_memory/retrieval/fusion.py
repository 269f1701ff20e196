"""Words and vectors as one score. Pure functions of numbers, called by ``pipeline.py``.

The words' part is relative to the best row, that of the vectors in standard deviations from the mean over the memory; how much
the vectors count grows with the share of the question that no memory holds in words. Ranks would throw away how far the best
stands out, and fixed weights suit either questions that repeat the memory's words or those that do not (docs/benchmarks.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.retrieval.arrays import Floats, Mask

if TYPE_CHECKING:
    from hybrid_memory.retrieval.ranking_parameters import RankingParameters

_MIN_DEVIATION = 1e-6  # less is rounding; what is alike throughout is at the mean
SAMPLED_ROWS = 1_024  # so many rows tell the mean of all to 3 hundredths of a deviation, and cost .3 ms


def relative(scores: Floats) -> Floats:
    """Return the scores divided by the greatest; as they are if none is positive."""
    greatest = scores.max(initial=np.float32(0))
    return scores / greatest if greatest > 0 else scores


def sample(rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return at most `SAMPLED_ROWS` of the rows, evenly spread."""
    if len(rows) <= SAMPLED_ROWS:
        return rows
    return rows[np.linspace(0, len(rows) - 1, SAMPLED_ROWS).astype(np.intp)]


def standardized(likeness: Floats, population: Floats) -> Floats:
    """Return by how many standard deviations of ``population`` each likeness lies above its mean; 0 where all are alike."""
    if not len(population):
        return np.zeros_like(likeness)
    deviation = float(population.std())
    above = likeness - population.mean()
    return np.asarray(above / max(deviation, _MIN_DEVIATION), np.float32)


def known_weight(known_share: float, parameters: RankingParameters) -> float:
    """Return how far vectors count for a question of which the embedder knows this share, from 0 to 1."""
    rising = (known_share - parameters.known_from) / (parameters.known_to - parameters.known_from)
    return min(max(rising, 0.0), 1.0)


def dense_weights(
    unknown_share: float, known: float, spoken: Mask, parameters: RankingParameters, *, multilingual: bool = False
) -> Floats:
    """Return for each row which share of its score the vectors decide.

    ``unknown_share`` is that of the question which no memory holds, ``known`` the weight of `known_weight`.
    """
    noted = parameters.dense_weight + parameters.dense_weight_unknown * unknown_share
    if multilingual:
        noted = parameters.multilingual_dense_weight + parameters.multilingual_dense_weight_unknown * unknown_share
    said = parameters.spoken_dense_weight + parameters.spoken_dense_weight_unknown * unknown_share
    most = parameters.max_dense_weight
    return np.where(spoken, np.float32(known * min(said, most)), np.float32(known * min(noted, most)))
