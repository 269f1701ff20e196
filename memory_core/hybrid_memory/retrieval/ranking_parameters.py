"""The numbers of the ranking, in one place: each is fitted by ``tools/fit_ranking.py`` and judged by ``benchmarks/ablation.py``.

The fit goes through the development sets, each one vote, leaves one of them out at a time, and reports the figures of the sets
left out (docs/benchmarks.md). BM25's own two constants are in ``bm25.py``; how time is understood, in ``time_expressions``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class RankingParameters:
    """What each step of a search adds. A step whose weights are 0 is off; `STEPS` names them."""

    # Words: how much a word of the question counts, beside its rarity in the store
    rarity_floor: float = 0.3  # English words count by how rare they are in English too, the commonest this much,
    rarity_power: float = (
        0.5  # to this power: so that a word which a small store happens to hold once is not taken for a rare one
    )
    repeat_weight: float = 0.25  # for each time that the question says it again, up to three
    name_weight: float = 0.5  # for a name
    time_word_weight: float = (
        0.5  # of a word that stands only in a phrase of time, which is understood and counts as a period
    )
    near_weight: float = 0.2  # what a near word counts for one that the memory does not hold
    unknown_near_weight: float = 0.2  # more, where no memory holds it

    # Vectors: their share of the score, the greater, the more of the question no memory holds
    dense_weight: float = 0.3
    dense_weight_unknown: float = 0.5
    spoken_dense_weight: float = 0.2  # turns of a conversation repeat the words of what they answer
    spoken_dense_weight_unknown: float = 0.3
    multilingual_dense_weight: float = 0.2  # a table of many languages says less about each
    multilingual_dense_weight_unknown: float = 0.3
    max_dense_weight: float = 0.9
    dense_spread: float = 4.0  # standard deviations of likeness that are worth as much as the best match by words
    centred_share: float = (
        0.5  # of likeness after the mean of all vectors is subtracted, which tells alike memories apart
    )
    known_from: float = 0.3  # vectors and near words count only as far as the embedder knows the question's words:
    known_to: float = 0.7  # from none below the first share of its letters to fully above the second

    # Conversation: what the turns around say, for memories with a speaker
    context_floor: float = 0.25  # scores below it lend nothing
    reply_weight: float = 0.6  # from the turn before, if that asks something
    followed_weight: float = 0.2  # from the turn behind
    session_weight: float = 0.6  # from the two best turns of the session
    speaker_weight: float = 0.3  # if the question names who speaks

    # Time, names that are missing, the best hit, and age
    period_weight: float = 0.5  # for what happened in the period that the question names
    event_weight: float = 0.2  # for what lies before or after the event that the question names
    missing_name_penalty: float = 0.2  # for holding none of the question's names that the store knows
    feedback_weight: float = 0.2  # for sharing the rare words of the best hit
    feedback_terms: int = 8
    recency: float = 0.02  # settles what is otherwise alike
    updates: float = (
        1.0  # 0: the newer word on a thing is not put above the older one (``update_detection.py`` has its numbers)
    )

    def without(self, *steps: str) -> RankingParameters:
        """Return these parameters with some of the `STEPS` switched off."""
        changes: dict[str, Any] = {name: value for step in steps for name, value in STEPS[step].items()}
        return replace(self, **changes)


STEPS: Mapping[str, Mapping[str, float]] = {
    "rarity in English": {"rarity_power": 0.0},
    "repeats": {"repeat_weight": 0.0},
    "names": {"name_weight": 0.0},
    "time words": {"time_word_weight": 1.0},
    "near words": {"near_weight": 0.0, "unknown_near_weight": 0.0},
    "vectors": {"max_dense_weight": 0.0},
    "unknown words": {
        "dense_weight_unknown": 0.0,
        "spoken_dense_weight_unknown": 0.0,
        "multilingual_dense_weight_unknown": 0.0,
    },
    "centred vectors": {"centred_share": 0.0},
    "known words": {"known_from": -1.0, "known_to": 0.0},
    "conversation": {"reply_weight": 0.0, "followed_weight": 0.0, "session_weight": 0.0, "speaker_weight": 0.0},
    "period": {"period_weight": 0.0},
    "event": {"event_weight": 0.0},
    "missing names": {"missing_name_penalty": 0.0},
    "feedback": {"feedback_weight": 0.0},
    "recency": {"recency": 0.0},
    "updates": {"updates": 0.0},
}
"""What switches a step off, by the step's name."""

FITTED = RankingParameters()
