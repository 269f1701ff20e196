"""Whether a question asks for one thing as it is now, so that a later memory may stand in for an earlier one.

Not where it asks for an order, a count of times, a comparison, a history, a list or the past: there the earlier memory is part of
the answer. Plain words of English, German, French and Spanish; what is not understood counts as a question about now.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

from hybrid_memory.language import lexicon
from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory.retrieval.ranking_signals import asks_about_now

if TYPE_CHECKING:
    from hybrid_memory.retrieval.question import Question

MAX_QUESTION_WORDS = 25
"""A longer text is a message or a task, of which no one thing is asked."""


def asks_for_current_state(question: Question, now: datetime) -> bool:
    """Return True if a question wants one thing as it is at ``now``: short, about the present, and nothing that needs both values."""
    text = question.text
    return (
        max(len(text.split()), len(question.words)) <= MAX_QUESTION_WORDS
        and asks_about_now(question.time, now)
        and _NEEDS_BOTH.search(text) is None
        and (_PAST.search(text) is None or _FINALLY.search(text) is not None)
    )


def asks_for_several(text: str) -> bool:
    """Return True if a question wants all of a kind: "Which of my friends play chess?", "list my allergies"."""
    return _SEVERAL.search(text) is not None


def _asking(key: str, more: str = "") -> LazyPattern:
    def source() -> str:
        characters = f"|{lexicon.any_of(lexicon.words(more))}" if more else ""
        return rf"\b(?:{lexicon.pattern(f'asking.{key}')})\b{characters}"

    return LazyPattern(source, re.IGNORECASE)


_SEVERAL = _asking("several", "asking.several_characters")
_FINALLY = _asking("finally")
_NEEDS_BOTH = _asking("needs_both")
_PAST = _asking("past")
