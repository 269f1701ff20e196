"""Everything that names a time, with its parts: "early June", "the first week of March", "the morning of 8 May", "8 May, 5 pm"."""

from __future__ import annotations

from hybrid_memory.retrieval.time_expressions import calendar_math
from hybrid_memory.retrieval.time_expressions.calendar_math import Period
from hybrid_memory.retrieval.time_expressions.calendar_names import calendar_name
from hybrid_memory.retrieval.time_expressions.relative_times import counted, day_word, quantity, relative, vague
from hybrid_memory.retrieval.time_expressions.token_cursor import (
    Parsed,
    TimeSpec,
    TokenCursor,
    choose,
    fixed,
    past_ones,
)
from hybrid_memory.retrieval.time_expressions.vocabulary import (
    CALENDAR_UNITS,
    DAY_PARTS,
    DAY_WORDS,
    EDGES,
    ORDINALS,
    REPEATING,
    THIRDS,
    UNITS,
    WEEKDAYS,
)

_DEEPEST = 6
_LAST_HOUR = 23
_NOON = 12
_MONTHS_A_YEAR = 12


def parse_time(cursor: TokenCursor, at: int, *, time_expected: bool) -> Parsed | None:
    """Return what is named at a place; ``time_expected`` says that a time is expected there, as after "in" or "since"."""
    if (at, time_expected) not in cursor.known:
        if len(cursor.nested) >= _DEEPEST:
            return None
        cursor.nested.append(at)
        cursor.known[at, time_expected] = _read(cursor, at, time_expected=time_expected)
        cursor.nested.pop()
    return cursor.known[at, time_expected]


def _read(cursor: TokenCursor, at: int, *, time_expected: bool) -> Parsed | None:
    if cursor.word(at - 1) in REPEATING:
        return None
    place = cursor.skip(at, "the")
    found = (
        _part(cursor, place)
        or day_word(cursor, place)
        or vague(cursor, at)
        or relative(cursor, place, time_expected=time_expected)
        or counted(cursor, place)
        or _part_of_day(cursor, place)
        or _clock_first(cursor, place)
        or (
            calendar_name(cursor, cursor.skip(place, "year"), time_expected=time_expected)
            if place == at or time_expected
            else None
        )
        or (calendar_name(cursor, place, time_expected=False))
        or (_day_of_month(cursor, place) if time_expected and place > at else None)
        or (_present_unit(cursor, place) if time_expected and place > at else None)
    )
    if found is None or not (found[0].periods or found[0].each):
        return None
    if found[0].each and cursor.words(found[1], 2) == ("before", "last"):
        return fixed(*past_ones(found[0], cursor.now)[-2:-1]), found[1] + 2
    return _hour_of(cursor, *found)


def _part(cursor: TokenCursor, at: int) -> Parsed | None:
    """Read a part of a longer time."""
    word = cursor.word(at)
    if word in THIRDS:
        return _changed(cursor, cursor.skip(at + 1, "-", "in", "on"), THIRDS[word])
    if word in EDGES and cursor.word(at + 1) == "of":
        return _changed(cursor, at + 2, EDGES[word])
    if word in {"earlier", "later"}:
        return _beside_now(cursor, at)
    if word in {"week", "weekend", "month"}:
        return _unit_named(cursor, at)
    return _numbered(cursor, at) if word in ORDINALS else None


def _changed(cursor: TokenCursor, at: int, which: str) -> Parsed | None:
    found = parse_time(cursor, at, time_expected=True)
    return (found[0].map(lambda whole: calendar_math.part(whole, which)), found[1]) if found else None


def _unit_named(cursor: TokenCursor, at: int) -> Parsed | None:
    """Read "week 12 of 2024", "week of 10 February" as the week that holds it, and "month of May" as May."""
    word = cursor.word(at)
    place = cursor.skip(at + 2, "of", "in", ",")
    if word == "week" and cursor.token(at + 1).kind == "number" and cursor.token(place).kind == "year":
        return fixed(calendar_math.iso_week(cursor.token(place).numbers[0], cursor.token(at + 1).numbers[0])), place + 1
    found = parse_time(cursor, at + 2, time_expected=True) if cursor.word(at + 1) == "of" else None
    if found is None or word == "month":
        return found
    return (
        (found[0].map(lambda whole: calendar_math.unit_of(whole.start, word)), found[1])
        if _is_day(found[0], cursor)
        else None
    )


def _beside_now(cursor: TokenCursor, at: int) -> Parsed | None:
    """Read "earlier this year" and "later today": what lies before or behind the moment."""
    if cursor.word(at + 1) not in {"this", "today", "in"}:
        return None
    found = parse_time(cursor, cursor.skip(at + 1, "in"), time_expected=True)
    if found is None:
        return None
    if cursor.word(at + 1) == "in":
        half = "first half" if cursor.word(at) == "earlier" else "second half"
        return found[0].map(lambda whole: calendar_math.part(whole, half)), found[1]
    if cursor.word(at) == "earlier":
        return found[0].map(lambda whole: whole._replace(end=min(whole.end, cursor.now))), found[1]
    return found[0].map(lambda whole: whole._replace(start=max(whole.start, cursor.now))), found[1]


def _numbered(cursor: TokenCursor, at: int) -> Parsed | None:
    """Read "first week of March", "last three days of June", "second half of 2024", "first Monday in May"."""
    nth, place = ORDINALS[cursor.word(at)], at + 1
    if cursor.word(place) == "half" and nth in {1, 2, -1} and cursor.word(place + 1) in {"of", "in"}:
        return _changed(cursor, place + 2, "first half" if nth == 1 else "second half")
    if cursor.word(place) in {"half", "quarter"} and nth > 0 and cursor.token(place + 1).kind == "year":
        size = 6 if cursor.word(place) == "half" else 3
        year = cursor.token(place + 1).numbers[0]
        return fixed(calendar_math.months(year, (nth - 1) * size + 1, size, "quarter")), place + 2
    weekday = WEEKDAYS.get(cursor.word(place))
    measured = quantity(cursor, place)
    unit = UNITS.get(cursor.word(place))
    if measured is not None:
        amount, place = measured[0].high, measured[1]
        unit = measured[0].unit
    elif weekday is not None or unit is not None:
        amount, place = 1, place + 1
    if (unit is None and weekday is None) or cursor.word(place) not in {"of", "in"}:
        return None
    whole = parse_time(cursor, place + 1, time_expected=True)
    if whole is None or unit in {"second", "minute", "hour", "night", "fortnight", "decade"}:
        return None

    def change(period: Period) -> Period | None:
        if weekday is not None:
            return calendar_math.nth_weekday(period, weekday, nth)
        return calendar_math.first_or_last(period, amount, unit or "day", nth)

    return whole[0].map(change), whole[1]


def _part_of_day(cursor: TokenCursor, at: int) -> Parsed | None:
    """Read "morning of 8 May", "noon today"."""
    name = DAY_PARTS.get(cursor.word(at))
    if name is None or (cursor.word(at + 1) not in {"of", "on"} and cursor.word(at + 1) not in DAY_WORDS):
        return None
    found = parse_time(cursor, cursor.skip(at + 1, "of", "on"), time_expected=True)
    if found is None or not _is_day(found[0], cursor):
        return None
    return found[0].map(lambda whole: calendar_math.part_of_day(whole, name)), found[1]


def _is_day(named: TimeSpec, cursor: TokenCursor) -> bool:
    periods = choose(named, cursor.now, "past")
    return bool(periods) and all(period.grain == "day" for period in periods)


def _day_of_month(cursor: TokenCursor, at: int) -> Parsed | None:
    """Read "8th" behind "on the" as a day that every month has; "the 8th floor" is none."""
    token = cursor.token(at)
    if token.kind != "ordinal":
        return None
    number = token.numbers[0]
    place = at + 1
    if cursor.words(place, 2) == ("of", "the") or cursor.word(place) == "of":
        for words, offset in (("of last month", -1), ("of this month", 0), ("of the month", 0), ("of next month", 1)):
            if cursor.words(place, 3) == tuple(words.split()):
                month = calendar_math.unit_of(cursor.now, "month", offset)
                return fixed(
                    calendar_math.day(month.start.year, month.start.month, number) if month else None
                ), place + 3
        return None
    if not cursor.ends(place):
        return None
    return (
        TimeSpec((), lambda i: calendar_math.day(i // _MONTHS_A_YEAR, i % _MONTHS_A_YEAR + 1, number), "month"),
        place,
    )


def _present_unit(cursor: TokenCursor, at: int) -> Parsed | None:
    """Read "the weekend" as the latest, and "the month" behind "end of" or "since" as this one."""
    word = cursor.word(at)
    if word == "weekend" and cursor.ends(at + 1) and cursor.word(at + 1) not in {"of", "before", "after"}:
        return TimeSpec((), lambda index: calendar_math.week(index, 5, 2, "weekend"), "week"), at + 1
    if word in CALENDAR_UNITS and cursor.words(at - 2, 2) == ("of", "the") and cursor.ends(at + 1):
        return fixed(calendar_math.unit_of(cursor.now, UNITS[word])), at + 1
    return None


def _hour_of(cursor: TokenCursor, named: TimeSpec, at: int) -> Parsed:
    """Take what follows a day into account: "Monday morning", "8 May in the evening", "yesterday at 5 pm"."""
    if not _is_day(named, cursor):
        return named, at
    place = cursor.skip(at, ",")
    name = DAY_PARTS.get(cursor.word(cursor.skip(cursor.skip(place, "in", "at"), "the")))
    if name is not None and cursor.word(at) != "the":
        end = cursor.skip(cursor.skip(place, "in", "at"), "the") + 1
        return named.map(lambda whole: calendar_math.part_of_day(whole, name)), end
    clock = _clock(cursor, cursor.skip(place, "at", "around", "about"))
    if clock is None:
        return named, at
    hour, minute, end = clock
    return named.map(lambda whole: calendar_math.span(whole.start.replace(hour=hour, minute=minute), 1, "hour")), end


def _clock_first(cursor: TokenCursor, at: int) -> Parsed | None:
    """Read "1:56 pm on 8 May, 2023"."""
    clock = _clock(cursor, at)
    if clock is None:
        return None
    hour, minute, place = clock
    found = parse_time(cursor, cursor.skip(cursor.skip(place, ","), "on"), time_expected=True)
    if found is None or not _is_day(found[0], cursor):
        return None
    return found[0].map(
        lambda whole: calendar_math.span(whole.start.replace(hour=hour, minute=minute), 1, "hour")
    ), found[1]


def _clock(cursor: TokenCursor, at: int) -> tuple[int, int, int] | None:
    """Return hour, minute and the place behind a time of day: "17:30", "5pm", "5 pm", "5 o'clock"."""
    token, after = cursor.token(at), cursor.word(at + 1)
    if token.kind == "clock":
        hour, minute = token.numbers
        if after in {"am", "pm"} and hour <= _NOON:
            return hour % _NOON + (_NOON if after == "pm" else 0), minute, at + 2
        return hour, minute, at + 1
    if token.kind != "number" or token.numbers[0] > _LAST_HOUR:
        return None
    hour = token.numbers[0]
    if after == "o'clock":
        return hour, 0, at + 2
    if after in {"am", "pm"} and 1 <= hour <= _NOON:
        return hour % _NOON + (_NOON if after == "pm" else 0), 0, at + 2
    return None
