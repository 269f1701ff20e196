"""How much a memory will matter: a rule that needs no model.

The reference system gives every memory the same middling importance unless a language model rates it. The rule here
reads what the text itself says. Each signal i has a weight w; together they give

    importance = (1 - (1 - base) * product(1 - w_i)) * damping

so a further signal never lowers the result, nothing leaves 0..1, and no single signal decides alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from hybrid_memory.errors import InvalidInput
from hybrid_memory.language import lexicon
from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory.language.names import calendar_names
from hybrid_memory.model import Kind

# How much each signal says, from 0 (nothing) to 1 (certain to matter). Set by hand, fitted to no set; tests hold their order.
_BASE = 0.25
_CHIT_CHAT_BASE = 0.02
_DIRECTIVE = 0.35
_DECISION = 0.25
_PREFERENCE = 0.3
_PERSONAL = 0.25
_EMOTION = 0.15
_FIGURE = 0.1
_DATE = 0.12
_NAME = 0.12
_ADDRESS = 0.12
_NEW = 0.1
_KIND = {Kind.OBSERVATION: 0.0, Kind.EPISODE: 0.0, Kind.TASK: 0.2, Kind.SUMMARY: 0.25, Kind.INSIGHT: 0.35}
# A question tells less about the asker than a statement.
_QUESTION_DAMPING = 0.6
_NEW_HALF_LIFE = timedelta(days=7)
# A longer text of nothing but greetings and thanks is rare; it counts as a statement.
_CHIT_CHAT_WORDS = 8

_WORD = LazyPattern(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_DATE_PATTERN = LazyPattern(
    lambda: (
        r"\d{4}[-/.年]\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}:\d{2}"
        r"|\b(?:tomorrow|yesterday|tonight|next (?:week|month|year))\b"
        # "May" is a verb too.
        rf"|\b(?!may\b){lexicon.any_of(calendar_names('months', 'en') | calendar_names('weekdays', 'en'))}\b"
    )
)
_ADDRESS_PATTERN = LazyPattern(r"\w@\w|\w://\w|(?:^|\s)[~.]?/\w|\w\.\w+\(|`[^`]+`")
_SENTENCE_END = frozenset(".!?:;\n\u3002\uff01\uff1f")
_QUESTION_MARKS = ("?", "\uff1f", "\u061f", "\u037e", '?"', "?)")


def heuristic_importance(
    text: str, *, explicit: float | None = None, kind: Kind = Kind.OBSERVATION, age: timedelta = timedelta()
) -> float:
    """Return the importance of a statement in 0..1, without a model.

    ``explicit`` is returned unchanged when it is given. Otherwise the signals are, in English words: directives, decisions,
    preferences, facts about the speaker and feelings; in any script: figures, dates, names and addresses; then the
    ``kind`` and how new the statement is (``age``, halved every 7 days; a negative age is new). Greetings and thanks alone
    count almost nothing, questions less than statements. Older is never more important, and a further signal never less.

    Raises:
        InvalidInput: ``explicit`` lies outside 0..1.
    """
    if explicit is not None:
        if not 0 <= explicit <= 1:
            raise InvalidInput("importance", "must be between 0 and 1")
        return explicit
    words = [word.lower().replace("’", "'") for word in _WORD.findall(text)]
    missing = 1 - _base(words, text)
    for weight in (
        *_word_weights(words),
        *_text_weights(text),
        _KIND[kind],
        _NEW * 0.5 ** (max(age, timedelta()) / _NEW_HALF_LIFE),
    ):
        missing *= 1 - weight
    damping = _QUESTION_DAMPING if _is_question(text) else 1.0
    return (1 - missing) * damping


def _base(words: Sequence[str], text: str) -> float:
    if not any(map(str.isalnum, text)):
        return 0.0
    only_courtesy = 0 < len(words) <= _CHIT_CHAT_WORDS and all(
        word in lexicon.words("importance.chit_chat") for word in words
    )
    return _CHIT_CHAT_BASE if only_courtesy else _BASE


def _word_weights(words: Sequence[str]) -> tuple[float, ...]:
    flat = f" {' '.join(words)} "
    vocabulary = frozenset(words)

    def contains(single: str, phrases: str = "") -> bool:
        return not vocabulary.isdisjoint(lexicon.words(f"importance.{single}")) or any(
            f" {phrase} " in flat for phrase in lexicon.phrases(f"importance.{phrases}")
        )

    return (
        _DIRECTIVE if contains("directives", "directive_phrases") else 0.0,
        _DECISION if contains("decisions", "decision_phrases") else 0.0,
        _PREFERENCE if contains("preferences") else 0.0,
        _PERSONAL if contains("", "personal_phrases") else 0.0,
        _EMOTION if contains("emotions") else 0.0,
    )


def _text_weights(text: str) -> tuple[float, ...]:
    return (
        _FIGURE if any(map(str.isnumeric, text)) else 0.0,
        _DATE if _DATE_PATTERN.search(text.lower()) else 0.0,
        _NAME if _has_name(text) else 0.0,
        _ADDRESS if _ADDRESS_PATTERN.search(text) else 0.0,
    )


def _has_name(text: str) -> bool:
    """Return True for a word with a capital inside a sentence; scripts without capitals have no such signal."""
    for match in _WORD.finditer(text):
        word = match.group()
        if word[0].isupper() and len(word) > 1:
            before = text[: match.start()].rstrip(" \t\"'([«“")
            if before != "" and before[-1] not in _SENTENCE_END:
                return True
    return False


def _is_question(text: str) -> bool:
    return text.rstrip().endswith(_QUESTION_MARKS)
