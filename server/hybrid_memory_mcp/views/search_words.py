"""A search in words: what a question was taken for, and why a memory was found. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

TITLES: Mapping[str, str] = {
    "lexical": "Words",
    "dense": "Meaning",
    "period": "Time asked about",
    "reply": "Answers a question",
    "session": "Its conversation",
    "speaker": "Who said it",
    "recency": "Newness",
    "importance": "Importance",
    "newer": "Newer word",
    "open": "Still to do",
}
"""What each term of a score is called."""

_MEANINGS: Mapping[str, tuple[str, str]] = {
    "lexical": ("It shares words with the question; rare words and names count more.", ""),
    "dense": (
        "Its meaning is closer to the question than that of most memories, whatever the words.",
        "Its meaning is farther from the question than that of most memories.",
    ),
    "period": ("It happened in the time that the question names, or near it.", ""),
    "reply": ("In its conversation it stands beside a turn that fits: an answer is found by its question.", ""),
    "session": ("The conversation that it is part of speaks of this.", ""),
    "speaker": ("The question names the person who said it.", ""),
    "recency": ("What is newer gets a little more.", ""),
    "importance": ("It was marked as important.", ""),
    "newer": ("It is the newer word on what another memory found says, so it goes before that one.", ""),
    "open": ("The question asks what is still to do, and this is; so it goes first.", ""),
}
_ROUNDING = 1e-3
_TELLING = 0.1  # of the weightiest term: a lighter one need not be named
_NAMED = 4  # words of a memory in one sentence


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


def score_terms(
    terms: Mapping[str, float], score: float, best: float, *, words: Sequence[Mapping[str, Any]] = ()
) -> list[dict[str, Any]]:
    """Return the terms of a score, the weightiest first, each with its title, what it means, and its ``share`` of the best score.

    What the terms do not sum up to is a term of its own. ``words`` are the words found in the memory, with ``word`` and ``said``.
    """
    rest = score - sum(terms.values())
    told = {**terms, **({"open": rest} if abs(rest) > _ROUNDING else {})}
    greatest = max(best, _ROUNDING)
    return [
        {
            "name": name,
            "title": TITLES.get(name, name),
            "value": round(value, 4),
            "share": round(max(min(value / greatest, 1.0), -1.0), 3),
            "means": _meaning(name, value, words),
        }
        for name, value in sorted(told.items(), key=lambda term: -abs(term[1]))
    ]


def _meaning(name: str, value: float, words: Sequence[Mapping[str, Any]]) -> str:
    for_it, against = _MEANINGS.get(name, ("", ""))
    if value < 0:
        return against or "It takes away from the score."
    if name == "lexical" and words:
        return f"It holds {_said(words)}. Rare words and names count more."
    return for_it or "It adds to the score."


def _said(words: Sequence[Mapping[str, Any]]) -> str:
    """Return the words of a question that a memory holds, as it writes them."""
    own = list(dict.fromkeys(f"“{one['said']}”" for one in words))[:_NAMED]
    return _and(own) if own else ""


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def why_found(
    terms: Sequence[Mapping[str, Any]], words: Sequence[Mapping[str, Any]] = (), *, weak: bool = False
) -> str:
    """Return in a few words what brought a memory into an answer; ``words`` as in `score_terms`."""
    if weak:
        return "Weak: it has little to do with the question, and only fills up a short answer."
    helping = [one for one in terms if one["value"] > 0]
    if not helping:
        return "Nothing speaks for it; it only fills up a short answer."
    titles = {
        "lexical": _said(words) or "its words",
        "dense": "its meaning",
        "period": "its time",
        "reply": "its conversation",
        "session": "its conversation",
        "speaker": "who said it",
        "recency": "being new",
        "importance": "its importance",
        "newer": "being the newer word",
        "open": "being still to do",
    }
    telling = [one for one in helping if one["value"] >= _TELLING * helping[0]["value"]]
    named = list(dict.fromkeys(titles.get(one["name"], one["title"].lower()) for one in telling))
    if len(named) == 1:
        return f"Found by {named[0]}."
    return f"Found mostly by {named[0]}, then by {named[1]}."
