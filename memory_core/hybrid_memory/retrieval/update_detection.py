"""Which of two memories about the same thing is the later word on it, and how that reorders a ranking.

Nothing says so but the memories themselves. That the later one changes what the earlier one told is the more likely the more
of the question both cover by the same words, the more alike they are, the more rare words and tags they share, the later it
is, and if it uses a word of change. The likelihood is a logistic regression fitted on pairs of a development set (57 true and
1,450 false pairs for each of two embedders, regularised; leaving each store out in turn, the figures of the whole ranking
were the same to 2 points). The idea of moving the later of two similar hits up is common; the features are ours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.retrieval.ranking_signals import Floats
from hybrid_memory.text import terms

Mask = NDArray[np.bool_]

COMPARED_HITS = 12
"""How many of the best hits are compared with each other."""

_CHANGE = (
    "now longer anymore moved moves changed change switched switch raised instead new replaced replace replaces again back "
    "closed dropped drop rolled slips slipped lengthened shortened retires retired leaves becomes became updated update "
    "postponed cancelled canceled rather fell rose passed satisfactory finally stopped stops quit joined upgraded revised "
    "correction corrected actually increased reduced lowered extended renewed previously formerly since gives gave takes "
    "took left went"
)
CHANGE_TERMS = frozenset(terms(_CHANGE))
"""Terms of English words that tell of a change."""

_VERBATIM, _PARTIAL = 0.8, 0.5
_UTTERANCES = 3.0
_STEP = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class PairFeatures:
    """What speaks for later memories being the newer word on what earlier ones told: arrays of one shape.

    Each is from 0 to 1 but ``years``. ``cosine`` of their vectors; ``common``: how much of the question both cover by the
    same words; ``change``: whether the later one has a word of change; ``tags``: whether they share one; ``words``: the
    share of rare words that they have in common beyond the question; ``years`` between them, counted up to 2; ``ratio`` of
    the question covered by the later to that by the earlier, at most 1.
    """

    cosine: Floats
    common: Floats
    change: Mask
    tags: Mask
    words: Floats
    years: Floats
    ratio: Floats


def log_odds(likeness: PairFeatures) -> Floats:
    """Return the logarithm of the odds that the later memory changes what the earlier one told."""
    odds: Floats = (
        5.5 * likeness.cosine
        + 10.0 * likeness.common
        + 2.2 * likeness.change
        + 2.9 * likeness.tags
        + 8.7 * likeness.words
        + 3.3 * np.minimum(likeness.years, 2.0)
        + 0.8 * likeness.ratio
        - 12.5
    )
    return odds


def is_update(likeness: PairFeatures, *, both_spoken: Mask, earlier_exact: Floats, later_exact: Floats) -> Mask:
    """Say where the later of two memories is taken for the newer word on the same thing.

    Between two utterances of conversations, which repeat each other's words all the time, the odds must be better. A memory
    that holds nearly all words of the question themselves (``earlier_exact``) gives way to none with less than half of them.
    """
    verbatim = (earlier_exact >= _VERBATIM) & (later_exact < _PARTIAL)
    later: Mask = (likeness.years > 0) & ~verbatim & (log_odds(likeness) > np.where(both_spoken, _UTTERANCES, 0.0))
    return later


def boosted(scores: Sequence[float], times: Sequence[int], newer: Sequence[tuple[int, int]]) -> NDArray[np.float32]:
    """Return the scores with every later place raised just above the earlier ones that it replaces.

    ``newer`` holds pairs (earlier place, later place). Chains are followed in the order of ``times``.
    """
    raised = [float(score) for score in scores]
    for later in sorted(range(len(raised)), key=lambda place: times[place]):
        for earlier, follower in newer:
            if follower == later and raised[earlier] >= raised[later]:
                raised[later] = raised[earlier] + max(_STEP, math.ulp(raised[earlier]) * 2**30)
    return np.array(raised, np.float32)
