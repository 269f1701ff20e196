"""The parts of memory in plain words, as the page, the log's entries and the terminal have them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hybrid_memory.model import Tier
from hybrid_memory_mcp.memory_words import TIER_NAMES


@dataclass(frozen=True, slots=True)
class TierWords:
    """How a part of memory is called: ``short`` in a remark; ``means`` explains it."""

    short: str
    means: str


_MEANS: Mapping[Tier, str] = {
    Tier.SENSORY: "Heard a moment ago. When a few more come in, it is kept in mind or fades.",
    Tier.SHORT_TERM: "From the current conversation. What is repeated or used is kept.",
    Tier.LONG_TERM: "Kept because it is important, repeated, used or pinned.",
    Tier.FADED: "It did not seem important enough to keep. A search still finds it.",
    Tier.WORKING: "A task of the current conversation. It ends with it.",
    Tier.EPISODIC: "Something that happened, kept with its time.",
}
"""The card in a chat and the map say the same (`tests/inspector/test_tier_names.py`)."""

TIER_WORDS: Mapping[Tier, TierWords] = {
    tier: TierWords(TIER_NAMES[tier.value], means) for tier, means in _MEANS.items()
}
