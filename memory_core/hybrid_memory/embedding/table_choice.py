"""Which of the two built-in tables fits a store for which nobody chose an embedder. Pure.

`hybrid_memory.background` asks `is_due` and `fitting_table`, the status and the commands `reason`. A store begins with `static` and
goes to `multilingual` at most once; there is no way back by itself, so that it does not swing between the two.
"""

from __future__ import annotations

from hybrid_memory.embedding.registry import MULTILINGUAL, STATIC, setting_for
from hybrid_memory.names import language_entry

LANGUAGES = (
    *("chinese", "dutch", "french", "german", "italian", "japanese", "korean", "portuguese", "russian", "spanish"),
)
"""What `multilingual` was fitted to beside English."""

LANGUAGE_ENTRIES = frozenset(map(language_entry, LANGUAGES))
"""What memories in these languages have among their ``names``."""

LEAST_MEMORIES = 12  # in those languages: a few foreign quotations tell nothing of a user
LEAST_SHARE = 0.25
NAMED = "a setting names the embedder"
KEPT = "the store's own, since no setting names one"
_PERCENT = 100
_CHANGED = 10  # a tenth


def fitting_table(memories: int, in_other_languages: int) -> str:
    """Return the setting of the table for a store with so many live memories, of which some are in `LANGUAGES`."""
    enough = in_other_languages >= max(LEAST_MEMORIES, LEAST_SHARE * memories)
    return MULTILINGUAL if enough else STATIC


def is_due(memories: int, looked_at: int | None) -> bool:
    """Return True if a tenth of the memories came or went since there were ``looked_at``; None: nobody has looked yet."""
    if looked_at is None:
        return True
    return memories != looked_at and abs(memories - looked_at) * _CHANGED >= looked_at


def reason(pinned: str | None, memories: int, in_other_languages: int) -> str:
    """Say why a store has its embedder where no setting names one; ``pinned`` is the embedder's identity."""
    if pinned is None:
        return "a new store begins with it"
    spec = setting_for(pinned)
    if spec not in (STATIC, MULTILINGUAL):
        return KEPT
    share = f"{_PERCENT * in_other_languages // max(memories, 1)} % of the memories are in other languages"
    fitting = fitting_table(memories, in_other_languages)
    if spec == MULTILINGUAL:
        return f"chosen by itself: {share}" if fitting == spec else KEPT
    return f"the default: {share}" if fitting == STATIC else f"to be replaced by {MULTILINGUAL}: {share}"
