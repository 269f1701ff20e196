"""What a question was taken for, in words: its words, its times, and how far meaning decides. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hybrid_memory.retrieval.time_expressions.parsing import Window
    from hybrid_memory.retrieval.understanding import Understanding, UnderstoodWord

_SURE_NAME = 0.8
_LITERAL = 0.9  # the certainty from which a time is meant as it is said
_STATES: Mapping[str, str] = {
    "current": "It asks how things are now, so newer words go before older ones.",
    "past": "It asks how things were.",
    "first": "It asks for the first time.",
}


def understood_in_words(found: Understanding, query: str) -> dict[str, Any]:
    """Return what a question was taken for."""
    words = [_word(one, query) for one in found.words]
    return {
        "words": words,
        "unheld": [one["word"] for one in words if not one["held"] and not one["in_time"]],
        "times": [_time(one) for one in found.windows],
        "asks": _STATES.get(found.asked_state, ""),
        "language": found.language,
        "meaning": round(found.meaning, 2),
        "time_alone": found.time_alone,
        "says": _sentence(found, query),
    }


def as_written(word: str, query: str) -> str:
    """Return a folded word of a question as the question writes it."""
    at = query.casefold().find(word)
    return query[at : at + len(word)] if at >= 0 and len(query.casefold()) == len(query) else word


def _word(one: UnderstoodWord, query: str) -> dict[str, Any]:
    return {
        "word": as_written(one.word, query),
        "share": round(one.share, 3),
        "held": one.held,
        "name": one.name >= _SURE_NAME,
        "in_time": one.in_time,
    }


def _time(window: Window) -> dict[str, Any]:
    """Return a time that a question names; ``until`` is the first moment behind it, ``last`` the last day in it."""
    last = None if window.until is None else window.until - timedelta(microseconds=1)
    return {
        "since": _iso(window.since),
        "until": _iso(window.until),
        "first": None if window.since is None else window.since.date().isoformat(),
        "last": None if last is None else last.date().isoformat(),
        "about": window.certainty < _LITERAL,
    }


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _sentence(found: Understanding, query: str) -> str:
    """Return in a sentence how the question is answered."""
    if found.time_alone:
        return "It asks for a time and nothing else, so what happened then comes first, whatever its words."
    if not found.words:
        return "Nothing in it is a word that is searched for; it is compared by meaning alone." if query else ""
    if not found.meaning:
        return "Words alone decide."
    return f"Words decide {1 - found.meaning:.0%} of a score, meaning {found.meaning:.0%}."
