"""How many of the first hits are worth showing: those before the scores fall off. Pure.

A list of a fixed length holds what helps and then what is merely next. Where the scores fall off differs from question to question,
so two signs are looked at: a hit below a share of the best score, and a drop between two neighbours that is large alongside the best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CutRules:
    """Where an answer ends.

    ``least``: hits that are always shown. Behind them the answer ends before the first hit whose score is below ``share`` of the best,
    and before one that lies more than ``gap`` of the best below its predecessor. Both are shares from 0 to 1.
    """

    least: int = 4
    share: float = 0.3
    gap: float = 0.5


# Fitted by `python -m benchmarks.cutoff --fit` on twelve sets, each one vote: the fewest hits that lose at most 2 % of the right ones.
CUT_RULES = CutRules()


def hits_worth_showing(scores: Sequence[float], weak: Sequence[bool], rules: CutRules = CUT_RULES) -> int:
    """Return how many of the hits with these falling scores are shown.

    A weak hit behind ``least`` is not. Hits with equal scores are shown together or left out together, unless ``least`` falls among them:
    then all are shown, because nothing tells which of them helps. Scores that are not above zero tell nothing, and nothing is cut.
    """
    if len(scores) <= rules.least or scores[0] <= 0:
        return len(scores)
    best = scores[0]
    for at in range(rules.least, len(scores)):
        before, here = scores[at - 1], scores[at]
        if (here, weak[at]) == (before, weak[at - 1]):
            continue
        if weak[at] or here < rules.share * best or before - here > rules.gap * best:
            return at
    return len(scores)
