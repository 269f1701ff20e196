"""The parts of memory in plain words, as the page, the log's entries and the terminal have them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hybrid_memory.model import Tier


@dataclass(frozen=True, slots=True)
class TierWords:
    """How a part of memory is called: ``short`` in a remark; ``means`` explains it."""

    short: str
    means: str


TIER_WORDS: Mapping[Tier, TierWords] = {
    Tier.SENSORY: TierWords(
        "just heard",
        "Heard a moment ago. When a few more come in, it is kept in mind or fades.",
    ),
    Tier.SHORT_TERM: TierWords(
        "in mind",
        "From the current conversation. What is repeated or used is kept.",
    ),
    Tier.LONG_TERM: TierWords(
        "kept",
        "Kept because it is important, repeated, used or pinned.",
    ),
    Tier.FADED: TierWords(
        "faded",
        "It did not seem important enough to keep. A search still finds it.",
    ),
    Tier.WORKING: TierWords(
        "at work",
        "A task of the current conversation. It ends with it.",
    ),
    Tier.EPISODIC: TierWords(
        "episode",
        "Something that happened, kept with its time.",
    ),
}
"""The card in a chat and the map say the same (`tests/inspector/test_tier_names.py`)."""

TIER_NAMES: Mapping[str, str] = {tier.value: words.short for tier, words in TIER_WORDS.items()}
"""The short words by the tier's name in JSON."""
