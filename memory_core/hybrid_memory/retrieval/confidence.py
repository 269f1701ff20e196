"""How likely a question can be answered from the memories at all, told from the shape of its ranking."""

from __future__ import annotations

import math

FLOOR = 0.65
"""Below this confidence nothing is said to be known.

It lies between two points measured on a development set: below 0.6 are 15 % of the questions without an answer and 2 % of the
others, below 0.7 35 and 8 %. The chance that an answerable question has the greater confidence is .80 there with
the built-in embedder and .82 with a contextual one, each store judged by what was fitted on the others.
"""

SAID = 0.5
MEANT = 0.5
"""Where a memory holds this share of the question's words themselves, or is this near to it in meaning, something is known
whatever the confidence."""

CONFIDENCE_HITS = 5


def confidence(*, terms: int, gap: float, rarest: float, best_exact: float, best_product: float) -> float:
    """Return the likelihood, from 0 to 1, that the best hits answer a question.

    ``terms``: distinct words of the question, of which a long one has fewer in common with any memory; ``gap``: how far the
    best score lies above the fifth; ``rarest``: how well the best hit has the question's rarest word; ``best_exact``: the
    greatest coverage of any row by the question's own words, at most 1; ``best_product``: the greatest product of a row's
    coverage and cosine, which must outweigh the coverage alone.

    A logistic regression fitted on a development set in which one question of eight has no answer.
    """
    odds = 4.3 * gap + 1.9 * math.log1p(terms) + 1.5 * rarest + 5.5 * best_product - 2.1 * best_exact - 3.55
    return 1 / (1 + math.exp(-odds))


def is_known(certain: float, best_exact: float, best_cosine: float) -> bool:
    """Say whether anything is known about a question, from its confidence, best coverage by its own words and best cosine."""
    return certain >= FLOOR or best_exact >= SAID or best_cosine >= MEANT
