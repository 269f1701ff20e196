"""Memories that say the same in nearly the same words, shown as one. Pure.

`deduplication` knows equal texts. Here two texts are copies of each other when the same words stand in the same order but for case,
quotation marks, commas, full stops, English articles, and an opening such as "Remember that". Every other word counts: no measure of
likeness tells "will return" from "will not return", "opens" from "closes", or the name of one project from another's.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Hashable, Sequence
from functools import lru_cache

from hybrid_memory.language.lazy_pattern import LazyPattern

COMPARED_HITS = 16  # of the best; two pages of what a model is shown
_LONGEST = 2_000  # characters; longer texts are compared as they are

# Articles, and "that" where it opens a clause. English alone: elsewhere the article tells words apart ("an den See", "an die See").
_SILENT = frozenset(("a", "an", "the", "that"))
_OPENINGS = LazyPattern(r"(?:(?:please )?(?:remember|note|reminder|fyi|btw|by the way)\b[\s:,–—-]*)+(?:that\b)?")
# Numbers with what belongs to them, words, and every other sign that is no mere punctuation: "C++", "-5", "50%" and "?" stay what they are.
_TOKENS = LazyPattern(r"\d+(?:[.,:/-]\d+)*|[^\W_]+(?:['’][^\W_]+)*|[^\w\s.,;:!…'\"“”„‚‘’«»。、「」『』()\[\]]|_")


@lru_cache(maxsize=4_096)
def copy_key(text: str) -> Hashable:
    """Return a value that is equal for texts which are copies of each other."""
    if len(text) > _LONGEST:
        return text
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    tokens = _TOKENS.findall(folded[opening.end() :] if (opening := _OPENINGS.match(folded)) else folded)
    return tuple(one for one in tokens if one not in _SILENT) or folded


def fold(keys: Sequence[Hashable], ranks: Sequence[tuple[int, float]]) -> list[tuple[int, ...]]:
    """Return the places of hits with equal keys together, in the order of the first of each group.

    The first of a group is the one to show: the greatest of ``ranks``, which are trust and time of writing, because the newest says
    it best, but what a tool repeats does not take the place of what the user said. The others follow in their order.
    """
    groups: dict[Hashable, list[int]] = {}
    for place, key in enumerate(keys):
        groups.setdefault(key, []).append(place)
    folded = []
    for places in groups.values():
        shown = max(places, key=lambda place: ranks[place])
        folded.append((shown, *(place for place in places if place != shown)))
    return folded
