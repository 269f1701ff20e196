"""A question's words for time into windows, anchors and the state that it asks about."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, tzinfo

from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory.retrieval.time_expressions.calendar_math import HIGHEST, LOWEST, Period
from hybrid_memory.retrieval.time_expressions.events import Anchor, Relation, extend_dated_events, find_events
from hybrid_memory.retrieval.time_expressions.expressions import find_phrases
from hybrid_memory.retrieval.time_expressions.foreign_days import in_english
from hybrid_memory.retrieval.time_expressions.lexer import TRIGGERS, Direction, TokenCursor, tokenize
from hybrid_memory.retrieval.time_expressions.tense import AskedState, asked_state_of, direction_of, is_present

__all__ = ["Anchor", "AskedState", "Relation", "TimeExpressions", "Window", "parse_time_expressions"]


@dataclass(frozen=True, slots=True)
class Window:
    """From ``since`` up to, but not including, ``until``; None is open. Both are aware.

    ``certainty`` says how literally to take it: 1.0 for a named day or month, less for "around", about 0.3 for "recently".
    """

    since: datetime | None
    until: datetime | None
    certainty: float


@dataclass(frozen=True, slots=True)
class TimeExpressions:
    """What a question says about time.

    ``windows`` are alternatives: the question is about any of them. ``asked_state`` tells whether it asks about something past
    or an earlier state, the current state, the first one, or does not say. ``spans`` are the places of the time words,
    sorted and apart; the words of anchors' phrases are not among them.
    """

    windows: tuple[Window, ...] = ()
    anchors: tuple[Anchor, ...] = ()
    asked_state: AskedState = "any"
    spans: tuple[tuple[int, int], ...] = ()


def parse_time_expressions(question: str, now: datetime) -> TimeExpressions:
    """Return what a question says about time; ``now`` is aware, and results are in its zone."""
    english = in_english(question)
    if english != question:
        # Where its words stood nobody knows any more; and its tense is not understood.
        found = _parse(english, now, "either")
        return TimeExpressions(found.windows, found.anchors, "any")
    return _parse(question, now)


def _parse(question: str, now: datetime, direction: Direction | None = None) -> TimeExpressions:
    lower = _lower(question)
    words = _WORD.findall(lower)
    zone = _zone(now)
    if not _may_hold_time(lower, words):
        return _PLAIN_PRESENT if is_present(lower, words) else _NOTHING
    local = now.replace(tzinfo=None, fold=0)
    cursor = TokenCursor(tokenize(question), local, zone, direction or direction_of(lower, words))
    found = find_phrases(cursor)
    events = find_events(cursor, question, found)
    found = extend_dated_events(found, events)
    asked_state, places = asked_state_of(lower, words, found, {event.anchor.relation for event in events}, local)
    places += [
        cursor.place(begin, end)
        for begin, end in [
            *((phrase.begin, phrase.end) for phrase in found),
            *((event.begin, event.middle) for event in events),
        ]
    ]
    windows = _windows([period for phrase in found for period in phrase.periods], zone)
    return TimeExpressions(windows, tuple(event.anchor for event in events), asked_state, _merged(places))


_WORD = LazyPattern("[a-z]+")
_DIGIT = LazyPattern(r"\d")
_NOTHING = TimeExpressions()
_PLAIN_PRESENT = TimeExpressions(asked_state="current")


def _lower(text: str) -> str:
    """Return the text in lower case with every character at its place."""
    if text.isascii():
        return text.lower()
    return "".join(low if len(low := character.lower()) == 1 else character for character in text).replace("’", "'")


def _may_hold_time(lower: str, words: list[str]) -> bool:
    return not TRIGGERS.isdisjoint(words) or _DIGIT.search(lower) is not None


def _zone(moment: datetime) -> tzinfo:
    if moment.tzinfo is None:
        raise ValueError("the moment must be aware")
    return moment.tzinfo


def _windows(periods: list[Period], zone: tzinfo) -> tuple[Window, ...]:
    """Return distinct windows of periods; years 1 and 9999, which no other zone may hold, are open ends."""
    found: dict[Window, None] = {}
    for start, end, _, certainty in periods:
        if start >= end or end.year <= LOWEST.year or start.year >= HIGHEST.year:
            continue
        since = start.replace(tzinfo=zone) if start.year > LOWEST.year else None
        until = end.replace(tzinfo=zone) if end.year < HIGHEST.year else None
        if since is not None or until is not None:
            found[Window(since, until, certainty)] = None
    return tuple(found)


def _merged(places: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(places):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((start, end))
    return tuple(merged)
