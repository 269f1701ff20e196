"""How likely a question can be answered from the memories at all, told from the shape of its ranking."""

from __future__ import annotations

import math

FLOOR = 0.65
"""Below this confidence nothing is said to be known.

With the built-in embedder on a development set that leaves one in six of the questions without an answer and one in 25 of
those with one below; at 0.75 it is three and one in ten. The chance that an answerable question has the greater confidence
is .77 there (.80 with a contextual model), each store judged by what was fitted on the others.
"""

LOOK = 5


def confidence(*, terms: int, gap: float, best_cosine: float, best_product: float, in_period: bool) -> float:
    """Return the likelihood, from 0 to 1, that the best hits answer a question.

    ``terms``: distinct words of the question, of which a long one has fewer in common with any memory; ``gap``: how far the
    best score lies above the fifth; ``best_cosine``: the greatest; ``best_product``: the greatest product of a row's
    coverage and cosine; ``in_period``: the best hit lies in a period that the question names.

    A logistic regression fitted on a development set in which one question of eight has no answer.
    """
    odds = (
        3.3 * gap
        + 1.9 * math.log1p(terms)
        + 1.2 * in_period
        + 5.8 * best_product
        - 2.8 * best_cosine
        - 2.5
    )
    return 1 / (1 + math.exp(-odds))
