"""How sentences begin that tell something of the person, and those that only look so. Expressions over small letters."""

from __future__ import annotations

import functools

from hybrid_memory.language import lexicon
from hybrid_memory.language.lazy_pattern import LazyPattern


def _history(key: str) -> LazyPattern:
    return LazyPattern(functools.partial(lexicon.pattern, f"history.{key}"))


MINE_NOT = _history("not_of_mine")
I_NOT = _history("not_of_me")
LABELLED = _history("labelled")
SETS_A_SCENE = _history("sets_a_scene")
"""From a message with one of these on, what is said is played, practised, or there to be corrected."""
INTRODUCES = _history("introduces")


def personal_words() -> frozenset[str]:
    """Return words of which a sentence of a language with spaces has one if it tells of the person."""
    return lexicon.words("history.personal_words")
