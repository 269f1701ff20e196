"""Each part of memory has a name and a meaning in plain words."""

from tests.tables import each

from hybrid_memory.model import Tier
from hybrid_memory_mcp.words.tier_words import TIER_WORDS


@each("tier", Tier)
def test_each_part_of_memory_has_words(tier):
    assert TIER_WORDS[tier].means
