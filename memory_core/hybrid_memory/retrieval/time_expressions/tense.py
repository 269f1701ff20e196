"""Whether a question asks about the past, the present or the first of several states, and which way its wording looks."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from hybrid_memory.language import lexicon
from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory.retrieval.time_expressions.calendar_math import Period
from hybrid_memory.retrieval.time_expressions.expressions import Phrase
from hybrid_memory.retrieval.time_expressions.lexer import Direction

AskedState = Literal["past", "current", "first", "any"]


def direction_of(text: str, words: list[str]) -> Direction:
    """Return where a question in lower case looks for a name without a year: "either" way in the plain present tense."""
    if _FUTURE.search(text) and not _PAST_TENSE.search(text):
        return "future"
    return "either" if is_present(text, words) or _PRESENT_VERB.search(text) else "past"


def stated_direction_of(text: str, words: list[str]) -> Direction:
    """Return where a statement in lower case looks for a name without a year: ``stated`` where its tense does not tell."""
    if _PLANNED.search(text) and not _PAST_TENSE.search(text):
        return "future"
    is_past = not _PAST_VERBS.isdisjoint(words) or any(word.endswith("ed") and word not in _NO_PAST for word in words)
    # "Booked for 13 July", "moved to Friday": what was done then is no matter of the date.
    return "past" if is_past and _AIMED.search(text) is None else "stated"


def asked_state_of(
    text: str, words: list[str], phrases: list[Phrase], relations: set[str], now: datetime
) -> tuple[AskedState, list[tuple[int, int]]]:
    """Return what a question in lower case asks about, and where the words that say so are.

    What is said outright counts most: the first, then an earlier state, then the current one. Else times that are over, or
    "before" an event, tell of the past, and the plain present tense of the current state.
    """
    first, past, current = (_found(pattern, text) for pattern in (_FIRST, _EARLIER, _CURRENT))
    places = first + past + current
    periods = [period for phrase in phrases for period in phrase.periods]
    state = _stated_outright(text, first=bool(first), past=bool(past) or "before" in relations) or _by_times(
        periods, now
    )
    return state or _by_tense(text, words, said_now=bool(current), related=not relations <= {"since"}), places


def _stated_outright(text: str, *, first: bool, past: bool) -> AskedState | None:
    if first or past:
        return "first" if first else "past"
    return "current" if _NEWEST.search(text) else None


def _by_times(periods: list[Period], now: datetime) -> AskedState | None:
    if periods and all(period.end < now for period in periods):
        return "past"
    return None if all(period.start <= now <= period.end for period in periods) else "any"


def _by_tense(text: str, words: list[str], *, said_now: bool, related: bool) -> AskedState:
    if related or _PAST_TENSE.search(text):
        return "any"
    return "current" if said_now or is_present(text, words) else "any"


def is_present(text: str, words: list[str]) -> bool:
    """Return True if a question is wholly in the plain present tense, as "What is my name?", "Where does she work?"."""
    distinct = set(words)
    if _PRESENT.isdisjoint(distinct) and not _CONTRACTED.search(text):
        return False
    if not _NOT_PRESENT.isdisjoint(distinct) or any(word.endswith("ed") and word not in _NO_PAST for word in distinct):
        return False
    return not ("you" in distinct and not _MEMORY.isdisjoint(distinct)) and _FUTURE.search(text) is None


def _found(pattern: LazyPattern, text: str) -> list[tuple[int, int]]:
    return [match.span() for match in pattern.finditer(text)]


def _tense(key: str) -> LazyPattern:
    return LazyPattern(lambda: lexicon.pattern(f"tense.{key}", "en"))


_FUTURE = _tense("future")
_PRESENT_VERB = _tense("present_verb")
_PLANNED = _tense("planned")
_AIMED = _tense("aimed")
_PAST_TENSE = _tense("past")
_CONTRACTED = _tense("contracted")
_FIRST = _tense("first")
_EARLIER = _tense("earlier")
_NEWEST = _tense("newest")
_CURRENT = _tense("current")
_NO_PAST = lexicon.words("tense.no_past", "en")
_IRREGULAR = lexicon.words("tense.irregular_past", "en")
_PAST_VERBS = _IRREGULAR - {"sat", "read", "paid"}  # Sat 5 Dec; "is paid"
_NOT_PRESENT = _IRREGULAR | {"been", "will", "would"}
_PRESENT = lexicon.words("tense.present", "en")
_MEMORY = lexicon.words("tense.memory", "en")
