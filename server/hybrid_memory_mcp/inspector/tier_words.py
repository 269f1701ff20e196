"""The parts of memory in plain words, as the page, the log's entries and the terminal have them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hybrid_memory.model import Tier


@dataclass(frozen=True, slots=True)
class TierWords:
    """How a part of memory is called: ``short`` in a remark, ``full`` in a sentence; ``means`` explains it."""

    short: str
    full: str
    means: str


TIER_WORDS: Mapping[Tier, TierWords] = {
    Tier.SENSORY: TierWords(
        "just heard",
        "sensory memory",
        "Sensory memory: heard a moment ago. It is weighed as soon as more comes in.",
    ),
    Tier.SHORT_TERM: TierWords(
        "in mind",
        "short-term memory",
        "Short-term memory: what the present conversation turns on. Repetition and use carry it further.",
    ),
    Tier.LONG_TERM: TierWords(
        "kept",
        "long-term memory",
        "Long-term memory: what has earned its place, by importance, repetition, use or a pin.",
    ),
    Tier.FADED: TierWords(
        "faded",
        "faded memory",
        "Faded: it left the buffers without earning a place. It is still found when asked for.",
    ),
    Tier.WORKING: TierWords(
        "at work",
        "working memory",
        "Working memory: a task of the present conversation; it is over when that ends.",
    ),
    Tier.EPISODIC: TierWords(
        "episode",
        "episodic memory",
        "Episodic memory: something that happened, kept with its time.",
    ),
}
"""`chat_app/state.js` and `page/static/map.js` say the same."""

TIER_NAMES: Mapping[str, str] = {tier.value: words.short for tier, words in TIER_WORDS.items()}
"""The short words by the tier's name in JSON."""
