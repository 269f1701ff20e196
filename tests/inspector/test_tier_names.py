"""A part of memory has the same name and meaning on the page, on the map, in a chat and in the terminal."""

from __future__ import annotations

import json
import re
from pathlib import Path

import hybrid_memory_inspector
from hybrid_memory_mcp.memory_words import TIER_NAMES
from hybrid_memory_mcp.words.tier_words import TIER_WORDS

FOLDER = Path(hybrid_memory_inspector.__file__).parent


def in_script(name, constant):
    """Return the lists of words by tier that a script has in a constant."""
    body = re.search(rf"const {constant} = \{{(.*?)\}};", (FOLDER / name).read_text(encoding="utf-8"), re.DOTALL)[1]
    return {tier: json.loads(words) for tier, words in re.findall(r"(\w+): (\[[^\]]*\])", body)}


def test_the_card_in_a_chat_says_the_same():
    told = {tier.value: [words.short, words.means] for tier, words in TIER_WORDS.items()}
    assert in_script("chat_app/state.js", "WORDS_OF_TIER") == told


def test_the_map_says_the_same():
    assert {tier: words[0] for tier, words in in_script("page/static/map.js", "TIERS").items()} == dict(TIER_NAMES)
