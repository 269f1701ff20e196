"""The numbers of the ranking, in one place; ``tools/fit_ranking.py`` fits them, ``benchmarks/ablation.py`` judges each step.

BM25's own two constants are in ``bm25.py``, those of the newer word on a thing in ``newer.py``; how time is understood, in
``time_expressions``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingParameters:
    """What each step of a search adds. A step whose weights are 0 is off; `STEPS` names them."""

    # Words
    time_word_weight: float = 0.5  # of one that occurs only where the question names a time, which counts as a period
    # English words count by how rare they are in English too, the commonest this much, to this power: a store of ten memories does
    # not tell which words are rare
    rarity_floor: float = 0.3
    rarity_power: float = 0.5
    name_weight: float = 0.5  # more, for a name

    # Vectors: their share of the score, the greater, the more of the question no memory holds
    dense_weight: float = 0.4
    dense_weight_unknown: float = 0.5
    spoken_dense_weight: float = 0.2  # turns of a conversation repeat the words of what they answer
    spoken_dense_weight_unknown: float = 0.3
    max_dense_weight: float = 0.9
    dense_spread: float = 4.0  # standard deviations of likeness that are worth as much as the best match by words
    passage_share: float = 0.5  # of a long text's likeness, what its best passage decides

    # Conversation: what the turns around say, for memories with a speaker
    context_floor: float = 0.2  # scores below it lend nothing
    reply_weight: float = 0.6  # from the turn before, if that asks something
    followed_weight: float = 0.2  # from the turn behind
    session_weight: float = 0.6  # from the two best turns of the session
    speaker_weight: float = 0.4  # if the question names who speaks

    episode_share: float = 0.6  # of its score, what an episode keeps: what was promoted is preferred

    period_weight: float = 0.5  # for what happened in the period that the question names
    updates: bool = True  # the newer word on a thing is put above the older one

    def without(self, *steps: str) -> RankingParameters:
        """Return these parameters with some of the `STEPS` switched off."""
        changes: dict[str, Any] = {name: value for step in steps for name, value in STEPS[step].items()}
        return replace(self, **changes)


STEPS: Mapping[str, Mapping[str, float | bool]] = {
    "rarity in English": {"rarity_power": 0.0},
    "names": {"name_weight": 0.0},
    "time words": {"time_word_weight": 1.0},
    "vectors": {"max_dense_weight": 0.0},
    "unknown words": {"dense_weight_unknown": 0.0, "spoken_dense_weight_unknown": 0.0},
    "passages": {"passage_share": 0.0},
    "period": {"period_weight": 0.0},
    "conversation": {"reply_weight": 0.0, "followed_weight": 0.0, "session_weight": 0.0, "speaker_weight": 0.0},
    "episodes": {"episode_share": 1.0},
    "newer": {"updates": False},
}
"""What switches a step off, by the step's name, in the order of the steps."""

FITTED = RankingParameters()
