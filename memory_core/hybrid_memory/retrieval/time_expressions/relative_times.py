"""Rules for times counted from now or named by their distance to it: "two weeks ago", "last month", "recently"."""

from __future__ import annotations

from typing import NamedTuple

from hybrid_memory.language import lexicon
from hybrid_memory.retrieval.time_expressions import calendar_math
from hybrid_memory.retrieval.time_expressions.calendar_math import (
    Parsed,
    Period,
    TimeSpec,
    known_times,
    past_ones,
    resolve,
)
from hybrid_memory.retrieval.time_expressions.calendar_names import parse_within_year, parse_yearly
from hybrid_memory.retrieval.time_expressions.lexer import (
    CALENDAR_UNITS,
    DAY_PARTS,
    DAY_WORDS,
    NUMBERS,
    RELATIVES,
    SEASONS,
    UNITS,
    VAGUE_COUNTS,
    WEEKDAYS,
    TokenCursor,
)

_HOW = {"last": "last", "this": "this", "next": "next", "coming": "coming"}
_OWNERS = lexicon.words("time.owners", "en")
_OFFSET = {"last": -1, "this": 0, "next": 1, "coming": 1}
_SMALLER = {
    "year": ("month", 12),
    "month": ("day", 30),
    "week": ("day", 7),
    "day": ("hour", 24),
    "hour": ("minute", 60),
}
_MARGINS = {"week": 3, "weekend": 3, "fortnight": 5, "month": 15, "quarter": 45, "year": 183, "decade": 1000}
"""Half of each unit in days: how far a time counted in it may be off."""


class Quantity(NamedTuple):
    """Between ``low`` and ``high`` units; ``vague`` if the words give no number."""

    low: float
    high: float
    unit: str
    vague: bool


def parse_quantity(cursor: TokenCursor, at: int) -> tuple[Quantity, int] | None:
    """Read a number with a unit of time: "two weeks", "a couple of months", "half a year", "1.5 years", "2 or 3 days"."""
    if cursor.word(at) == "half" and cursor.word(at + 1) in {"a", "an"} and cursor.word(at + 2) in UNITS:
        return _halved(UNITS[cursor.word(at + 2)], 0), at + 3
    counted = _count(cursor, at)
    if counted is None:
        return None
    low, high, vague, place = counted
    unit = UNITS.get(cursor.word(place))
    if unit is None:
        return None
    place += 1
    if cursor.words(place, 3) == ("and", "a", "half") and low == high:
        return _halved(unit, low), place + 3
    if low != int(low):
        return _halved(unit, int(low)), place
    return Quantity(low, high, unit, vague), place


def _halved(unit: str, whole: float) -> Quantity:
    smaller, parts = _SMALLER.get(unit, ("day", 5 if unit == "fortnight" else 0))
    count = whole * parts + parts // 2
    return Quantity(count, count, smaller, vague=False)


def _count(cursor: TokenCursor, at: int) -> tuple[float, float, bool, int] | None:
    token, place = cursor.token(at), at
    if token.text in {"a", "an"} and cursor.word(at + 1) in VAGUE_COUNTS:
        place, token = at + 1, cursor.token(at + 1)
    if token.text in VAGUE_COUNTS:
        low, high = VAGUE_COUNTS[token.text]
        return low, high, low != high, cursor.skip(place + 1, "of")
    if token.kind == "days":
        return token.numbers[0], token.numbers[1], False, place + 1
    number = _number(cursor, place)
    if number is None:
        return None
    value, place = number
    if cursor.words(place, 4) == ("and", "a", "half") or cursor.words(place, 3) == ("and", "a", "half"):
        return value + 0.5, value + 0.5, False, place + 3
    other = _number(cursor, place + 1) if cursor.word(place) in {"or", "to", "-", "–"} else None
    if other is not None and other[0] > value:
        return value, other[0], False, other[1]
    return value, value, False, place


def _number(cursor: TokenCursor, at: int) -> tuple[float, int] | None:
    token = cursor.token(at)
    if token.kind == "number":
        return float(token.numbers[0]), at + 1
    if token.kind == "half":
        return token.numbers[0] + 0.5, at + 1
    if token.text in {"a", "an"}:
        return 1.0, at + 1
    if token.text not in NUMBERS:
        return None
    value, place = NUMBERS[token.text], cursor.skip(at + 1, "-")
    ones = NUMBERS.get(cursor.word(place), 0)
    if value >= 20 and 0 < ones < 10:  # noqa: PLR2004 - "twenty-five"
        return float(value + ones), place + 1
    return float(value), at + 1


def parse_counted(cursor: TokenCursor, at: int) -> Parsed | None:
    """Read "two weeks ago", "years ago", "two summers ago", "a month from now"."""
    measured = parse_quantity(cursor, at) or _number_of_names(cursor, at)
    if isinstance(measured, TimeSpec):
        return measured, at + 3
    if measured is None and cursor.word(at) in UNITS and cursor.word(at).endswith("s") and cursor.word(at + 1) == "ago":
        measured = Quantity(2, 8, UNITS[cursor.word(at)], vague=True), at + 1
    if measured is None:
        return None
    amount, place = measured
    if cursor.word(place) in {"ago", "back"} or cursor.words(place, 2) == ("before", "now"):
        return known_times(_distant(cursor, amount, -1)), place + (2 if cursor.word(place) == "before" else 1)
    if cursor.words(place, 2) in {("from", "now"), ("from", "today")}:
        return known_times(_distant(cursor, amount, 1)), place + 2
    return None


def _number_of_names(cursor: TokenCursor, at: int) -> TimeSpec | None:
    """Read "three Fridays ago", "two summers ago", "two Christmases ago"."""
    number, plural = _number(cursor, at), cursor.word(at + 1)
    if number is None or number[1] != at + 1 or cursor.word(at + 2) != "ago":
        return None
    name = plural.removesuffix("es" if plural.endswith("ses") else "s")
    over: tuple[Period, ...] = ()
    if name in WEEKDAYS and name != plural:
        weekday = WEEKDAYS[name]
        over = past_ones(TimeSpec((), lambda index: calendar_math.week(index, weekday, 1, "day"), "week"), cursor.now)
    elif name in SEASONS:
        over = past_ones(TimeSpec((), lambda year: calendar_math.season(year, SEASONS[name])), cursor.now)
    elif name == "christmas":
        over = past_ones(TimeSpec((), calendar_math.HOLIDAYS["christmas"]), cursor.now)
    return known_times(over[-int(number[0])]) if 0 < number[0] <= len(over) else None


def parse_ahead(cursor: TokenCursor, at: int) -> Parsed | None:
    """Read what follows "in" in "in two weeks"."""
    measured = parse_quantity(cursor, at)
    return (known_times(_distant(cursor, measured[0], 1)), measured[1]) if measured else None


def _distant(cursor: TokenCursor, amount: Quantity, sign: int) -> Period | None:
    """Return the time so far away, half a unit more or less; of days the whole days."""
    unit, certainty = amount.unit, 0.4 if amount.vague else 0.8
    if unit == "weekend":
        return calendar_math.unit_of(cursor.now, unit, sign * int(amount.low))
    near, far = (calendar_math.shift(cursor.now, sign * count, unit) for count in (amount.low, amount.high))
    first, last = min(near, far), max(near, far)
    if unit in {"day", "night"}:
        return Period(
            calendar_math.midnight(first),
            calendar_math.shift(calendar_math.midnight(last), 1, "day"),
            "day",
            certainty + 0.1,
        )
    if unit in {"second", "minute", "hour"}:
        smaller, margin = ("minute", 30) if unit == "hour" else ("minute", 5)
        end = calendar_math.shift(last, margin, smaller)
        return Period(
            calendar_math.shift(first, -margin, smaller), min(end, cursor.now) if sign < 0 else end, "hour", certainty
        )
    margin = _MARGINS[unit]
    start = calendar_math.shift(calendar_math.midnight(first), -margin, "day")
    return Period(start, calendar_math.shift(calendar_math.midnight(last), margin + 1, "day"), unit, certainty)


def parse_relative(cursor: TokenCursor, at: int, *, time_expected: bool) -> Parsed | None:
    """Read "last month", "this morning", "next May", "the past three weeks", "last Tuesday"."""
    how = RELATIVES.get(cursor.word(at))
    if how is None or (how == "last" and cursor.word(at - 1) in _OWNERS):
        return None
    if cursor.words(at, 3) == ("this", "time", "last") and cursor.word(at + 3) in CALENDAR_UNITS:
        unit = UNITS[cursor.word(at + 3)]
        then, margin = calendar_math.midnight(calendar_math.shift(cursor.now, -1, unit)), _MARGINS[unit] // 4
        whole = Period(
            calendar_math.shift(then, -margin, "day"), calendar_math.shift(then, margin + 1, "day"), "day", 0.8
        )
        return known_times(whole), at + 4
    place = at + 1
    if cursor.word(at) == "this" and cursor.word(place) in {"past", "last", "coming", "next"}:
        how, place = RELATIVES[cursor.word(place)], place + 1
    if how in {"last", "next", "coming"}:
        rolling = _rolling(cursor, at, place, how, time_expected=time_expected)
        if rolling is not None:
            return rolling
    word = cursor.word(place)
    if word in CALENDAR_UNITS:
        return _unit(cursor, place, how)
    if word in DAY_PARTS:
        return _part_of_today(cursor, place, how)
    return _recurring(cursor, place, how)


def _rolling(cursor: TokenCursor, at: int, place: int, how: str, *, time_expected: bool) -> Parsed | None:
    """Read "the last three months" and "the past year": they reach up to the moment, or begin with it."""
    bare = UNITS.get(cursor.word(place))
    measured = parse_quantity(cursor, place)
    if cursor.words(place, 2) == ("half", "year"):
        measured = Quantity(6, 6, "month", vague=False), place + 2
    if measured is None and cursor.word(place) in UNITS and cursor.word(place).endswith("s") and bare:
        measured = Quantity(2, 5, bare, vague=True), place + 1
    if measured is None and bare and (cursor.word(at) == "past" or (time_expected and cursor.word(at - 1) == "the")):
        measured = Quantity(1, 1, bare, vague=False), place + 1
    if measured is None or cursor.word(place) in {"a", "an", "one"} or cursor.word(measured[1]) == "of":
        return None
    amount, end = measured
    moment = calendar_math.shift(cursor.now, amount.high * (-1 if how == "last" else 1), amount.unit)
    if amount.unit not in {"second", "minute", "hour"}:
        moment = calendar_math.midnight(moment)
    certainty = 0.6 if amount.vague else 0.9
    start, until = (moment, cursor.now) if how == "last" else (cursor.now, moment)
    return known_times(Period(start, until, amount.unit, certainty)), end


def _unit(cursor: TokenCursor, place: int, how: str) -> Parsed | None:
    unit = UNITS[cursor.word(place)]
    offset = _OFFSET[how]
    if cursor.word(place - 2) == "the" and how == "last" and cursor.word(place + 1) in {"of", "in", "at"}:
        return None
    if how == "coming" and unit == "weekend":
        offset = 0
    period = calendar_math.unit_of(cursor.now, unit, offset)
    if unit == "year":
        return parse_within_year(cursor, known_times(period), place + 1)
    certainty = 1.0 if unit in {"month", "quarter"} else 0.9
    return known_times(period._replace(certainty=certainty) if period else None), place + 1


def _part_of_today(cursor: TokenCursor, place: int, how: str) -> Parsed | None:
    name = DAY_PARTS[cursor.word(place)]
    if how in {"coming", "next"} or cursor.word(place - 2) == "the":
        return None
    today = calendar_math.unit_of(cursor.now, "day", -1 if how == "last" else 0)
    return (known_times(calendar_math.part_of_day(today, name)), place + 1) if today else None


def _recurring(cursor: TokenCursor, place: int, how: str) -> Parsed | None:
    word = cursor.word(place)
    if word in WEEKDAYS:
        if not cursor.token(place).capital and word in {"sun", "sat", "mon", "wed"}:
            return None
        return _weekday(cursor, place, how)
    named = parse_yearly(cursor, place, time_expected=True)
    if named is None:
        return None
    each, end = named
    if how == "this" and word == "winter":
        how = "nearest"
    spec = TimeSpec((), each)
    if word in SEASONS and cursor.token(end).kind == "year":
        return None
    return known_times(*resolve(spec, cursor.now, _HOW.get(how, how))), end


def _weekday(cursor: TokenCursor, place: int, how: str) -> Parsed | None:
    """Read "next Friday" as the coming one or, if that is in this week, perhaps the one after."""
    weekday = WEEKDAYS[cursor.word(place)]
    spec = TimeSpec((), lambda index: calendar_math.week(index, weekday, 1, "day"), "week")
    found = resolve(spec, cursor.now, how)
    index = calendar_math.week_index(cursor.now)
    if how == "next" and found and calendar_math.week_index(found[0].start) == index:
        other = calendar_math.week(index + 1, weekday, 1, "day")
        return known_times(
            found[0]._replace(certainty=0.6), other._replace(certainty=0.7) if other else None
        ), place + 1
    return known_times(*found), place + 1


def parse_day_word(cursor: TokenCursor, at: int) -> Parsed | None:
    """Read "yesterday", "tonight", "the day before yesterday", "the week before last", "the other day"."""
    words = cursor.words(at, 3)
    if words[:2] == ("other", "day") and cursor.word(at - 1) == "the":
        start = calendar_math.midnight(calendar_math.shift(cursor.now, -10, "day"))
        return known_times(Period(start, cursor.now, "day", 0.5)), at + 2
    for phrase, offset in (("before", "yesterday"), -2), (("after", "tomorrow"), 2):
        if words == ("day", *phrase):
            return known_times(calendar_math.unit_of(cursor.now, "day", offset)), at + 3
    if words[:1] and words[0] in UNITS and words[1:] in {("before", "last"), ("after", "next")}:
        offset = -2 if words[1] == "before" else 2
        return known_times(calendar_math.unit_of(cursor.now, UNITS[words[0]], offset)), at + 3
    if cursor.word(at) not in DAY_WORDS:
        return None
    day = calendar_math.unit_of(cursor.now, "day", DAY_WORDS[cursor.word(at)])
    if cursor.word(at) == "tonight" and day:
        day = calendar_math.part_of_day(day, "night")
    return known_times(day), at + 1


_VAGUE: dict[tuple[str, ...], tuple[float | None, float, float]] = {
    tuple(words.split()): (None if most == "-" else float(most), float(least), float(certainty))
    for words, figures in lexicon.meanings("time.vague", "en").items()
    for most, least, certainty in [figures.split()]
}
"""Between how many days ago, and how certainty."""


def parse_vague(cursor: TokenCursor, at: int) -> Parsed | None:
    """Read "recently", "a while ago", "long ago"."""
    if cursor.word(at) not in _VAGUE_HEADS or cursor.word(at - 1) == "how":
        return None
    for length in (5, 4, 3, 2, 1):
        figures = _VAGUE.get(cursor.words(at, length))
        if figures is not None:
            most, least, certainty = figures
            start = calendar_math.shift(cursor.now, -most, "day") if most is not None else calendar_math.LOWEST
            start = calendar_math.midnight(start) if most is not None and most >= 1 else start
            return known_times(
                Period(start, calendar_math.shift(cursor.now, -least, "day"), "vague", certainty)
            ), at + length
    return None


_VAGUE_HEADS = frozenset(words[0] for words in _VAGUE)
