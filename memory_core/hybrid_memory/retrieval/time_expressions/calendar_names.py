"""Rules for dates in digits and for names: days, months, weekdays, seasons, feasts, quarters, years, decades."""

from __future__ import annotations

import functools
from collections.abc import Callable
from datetime import datetime, timedelta, timezone

from hybrid_memory.retrieval.time_expressions import calendar_math
from hybrid_memory.retrieval.time_expressions.calendar_math import Each, Parsed, Period, TimeSpec, known_times
from hybrid_memory.retrieval.time_expressions.lexer import (
    CLEAR_MONTHS,
    COUNTED,
    DECADES,
    DOUBTFUL_DAYS,
    HOLIDAY_HEADS,
    HOLIDAY_PHRASES,
    MONTHS,
    NUMBERED,
    NUMBERS,
    ORDINALS,
    PAPERS,
    SEASONS,
    STREETS,
    WEEKDAYS,
    TokenCursor,
)

CENTURY = 100
_MAX_YEARS_AHEAD = 10  # of a year with two digits: '34 is to come, '45 was
_MINUTES_PER_DAY = 24 * 60


def parse_written_date(cursor: TokenCursor, at: int) -> Parsed | None:
    """Return the date of a token that is `WRITTEN`, None behind words like "version"."""
    kind = cursor.token(at).kind
    named = NUMBERED if kind == "slashed" else NUMBERED - PAPERS
    if kind not in _UNMISTAKABLE and cursor.word(at - 1) in named:
        return None
    return _READINGS[kind](cursor, at), at + 1


def full_year(short: int, now: datetime) -> int:
    """Return the year of which the last two digits are written: at most ten years ahead."""
    year = now.year - now.year % CENTURY + short
    return year - CENTURY if year > now.year + _MAX_YEARS_AHEAD else year


def scale_certainty(period: Period | None, factor: float) -> Period | None:
    """Return the period with its sharpness multiplied."""
    return period._replace(certainty=round(period.certainty * factor, 3)) if period else None


def _iso(cursor: TokenCursor, at: int) -> TimeSpec:
    return known_times(calendar_math.day(*cursor.token(at).numbers[:3]))


def _instant(cursor: TokenCursor, at: int) -> TimeSpec:
    """Read an ISO time: the hour from then on, in the moment's zone if it names another."""
    year, month, number, hour, minute, *zone = cursor.token(at).numbers
    whole = calendar_math.day(year, month, number)
    if whole is None or hour > 23 or minute > 59:  # noqa: PLR2004 - the clock's
        return TimeSpec()
    moment = whole.start.replace(hour=hour, minute=minute)
    if zone and abs(zone[0]) < _MINUTES_PER_DAY:
        there = timezone(timedelta(minutes=zone[0]))
        moment = moment.replace(tzinfo=there).astimezone(cursor.zone).replace(tzinfo=None)
    return known_times(calendar_math.span(moment, 1, "hour"))


def _numeric(cursor: TokenCursor, at: int) -> TimeSpec:
    """Read day, month and year with slashes or dashes; where both orders are dates, both, day first."""
    first, second, year = cursor.token(at).numbers
    year = year if year >= CENTURY else full_year(year, cursor.now)
    day_first, month_first = calendar_math.day(year, second, first), calendar_math.day(year, first, second)
    if day_first and month_first and first != second:
        return known_times(scale_certainty(day_first, 0.7), scale_certainty(month_first, 0.5))
    return known_times(day_first or month_first)


def _dotted(cursor: TokenCursor, at: int) -> TimeSpec:
    first, second, year = cursor.token(at).numbers
    year = year if year >= CENTURY else full_year(year, cursor.now)
    return known_times(calendar_math.day(year, second, first) or calendar_math.day(year, first, second))


def _week_of_year(cursor: TokenCursor, at: int) -> TimeSpec:
    year, number = cursor.token(at).numbers
    return known_times(calendar_math.iso_week(year, number))


def _iso_range(cursor: TokenCursor, at: int) -> TimeSpec:
    numbers = cursor.token(at).numbers
    first, last = calendar_math.day(*numbers[:3]), calendar_math.day(*numbers[3:])
    return known_times(Period(first.start, last.end, "day") if first and last and first.start < last.end else None)


def _slashed_month(cursor: TokenCursor, at: int) -> TimeSpec:
    month, year = cursor.token(at).numbers
    return known_times(calendar_math.months(year, month))


def _month_of(cursor: TokenCursor, at: int) -> TimeSpec:
    year, month = cursor.token(at).numbers
    return known_times(calendar_math.months(year, month))


_UNMISTAKABLE = frozenset({"iso", "isos", "ymd", "instant"})
_READINGS: dict[str, Callable[[TokenCursor, int], TimeSpec]] = {
    "instant": _instant,
    "iso": _iso,
    "ymd": _iso,
    "isos": _iso_range,
    "month": _month_of,
    "slashed": _slashed_month,
    "week": _week_of_year,
    "dmy": _numeric,
    "dots": _dotted,
}
WRITTEN = frozenset(_READINGS)
"""The kinds of tokens that are dates in digits."""


_MAX_DAY_OF_MONTH = 31


def parse_calendar_name(cursor: TokenCursor, at: int, *, time_expected: bool) -> Parsed | None:
    """Return what is named at a place, with the year that follows it. ``time_expected`` says that a time is expected there."""
    token = cursor.token(at)
    if token.kind in WRITTEN:
        return parse_written_date(cursor, at)
    if token.kind in {"year", "years", "decade", "short"} or token.text in DECADES:
        return _years(cursor, at, time_expected=time_expected)
    if token.text in WEEKDAYS:
        return _weekday(cursor, at, time_expected=time_expected)
    found = parse_yearly(cursor, at, time_expected=time_expected)
    return _with_year(cursor, *found) if found else None


def parse_yearly(cursor: TokenCursor, at: int, *, time_expected: bool) -> tuple[Each, int] | None:
    """Return what is named at a place and comes once a year, without a year that may follow."""
    token = cursor.token(at)
    if token.kind in {"number", "ordinal", "days"} or token.text in ORDINALS or token.text in {"twenty", "thirty"}:
        return _day_month(cursor, at)
    if token.text in MONTHS:
        return _month(cursor, at, time_expected=time_expected)
    if token.text in SEASONS:
        return _season(cursor, at, time_expected=time_expected)
    if token.text in HOLIDAY_HEADS:
        return _holiday(cursor, at, time_expected=time_expected)
    return _part_of_year(cursor, at, time_expected=time_expected)


def parse_within_year(cursor: TokenCursor, spec: TimeSpec, at: int) -> Parsed:
    """Return "last year" as a spec, or what follows it within that year, as in "last year in July"."""
    place = cursor.skip(cursor.skip(at, ","), "in", "at", "on", "over", "during", "around")
    named = parse_yearly(cursor, cursor.skip(place, "the"), time_expected=place > at) if spec.periods else None
    if named is None or cursor.token(named[1]).kind == "year":
        return spec, at
    return known_times(named[0](spec.periods[0].start.year)), named[1]


def year_at(cursor: TokenCursor, at: int) -> int | None:
    """Return the year that is written at a place, with four digits or as in '22."""
    token = cursor.token(at)
    if token.kind == "year":
        return token.numbers[0]
    if token.kind == "short":
        return full_year(token.numbers[0], cursor.now)
    return None


def _with_year(cursor: TokenCursor, each: Each, at: int) -> Parsed:
    abbreviated = cursor.word(at - 1) in MONTHS and len(cursor.word(at - 1)) < len("april")
    place = cursor.skip(cursor.skip(at, "."), ",") if abbreviated else cursor.skip(at, ",", "of", "in")
    place = cursor.skip(place, "of", "in")
    year = year_at(cursor, place)
    if year is None and cursor.token(place).kind == "winter":
        return known_times(each(cursor.token(place).numbers[0])), place + 1
    if year is not None and cursor.word(place + 1) not in COUNTED:
        return _in_year(cursor, at, each, year), place + 1
    if _short_year_follows(cursor, at):
        return known_times(each(full_year(cursor.token(at).numbers[0], cursor.now))), at + 1
    offset = _YEAR_WORDS.get(cursor.words(place, 2))
    if offset is not None:
        return known_times(each(cursor.now.year + offset)), place + 2
    return TimeSpec((), each), at


def _short_year_follows(cursor: TokenCursor, at: int) -> bool:
    """Return True if a place holds the "23" of "8 May 23"."""
    token, day = cursor.token(at), cursor.token(at - 2)
    dated = cursor.word(at - 1) in MONTHS and day.kind in {"number", "ordinal"}
    return dated and token.kind == "number" and token.end - token.start == len("23") and cursor.name_may_end(at + 1)


def _in_year(cursor: TokenCursor, at: int, each: Each, year: int) -> TimeSpec:
    """Return the year's period; "winter 2024" may be either of two, unless its other year follows."""
    if cursor.word(at - 1) != "winter":
        return known_times(each(year))
    return known_times(*(scale_certainty(each(begun), 0.7) for begun in (year - 1, year)))


def _day_month(cursor: TokenCursor, at: int) -> tuple[Each, int] | None:
    """Read "8 May", "8th of May", "3-7 May", "3 to 7 May"."""
    days = _days(cursor, at)
    if days is None:
        return None
    first, last, place = days
    after = cursor.skip(place, "of", ".", "-", "–")
    month = MONTHS.get(cursor.word(after))
    if month is None or not _is_month(cursor, after) or cursor.word(after + 1) in STREETS:
        return None
    return functools.partial(_in_month, month=month, first=first, last=last), after + 1


def _days(cursor: TokenCursor, at: int) -> tuple[int, int, int] | None:
    """Return the first and last day of the month written at a place, and the place behind them."""
    token = cursor.token(at)
    if token.kind == "days":
        return token.numbers[0], token.numbers[1], at + 1
    first, place = _day_number(cursor, at)
    if not first:
        return None
    if cursor.word(place) in {"to", "-", "–", "until", "till", "and", "or", "through"}:
        last, end = _day_number(cursor, cursor.skip(place + 1, "the"))
        if last > first:
            return first, last, end
    return first, first, place


def _day_number(cursor: TokenCursor, at: int) -> tuple[int, int]:
    """Return the day of the month written at a place, 0 for none, and the place behind it."""
    token = cursor.token(at)
    tens = NUMBERS.get(token.text, 0)
    if tens in {20, 30}:
        ones = ORDINALS.get(cursor.word(cursor.skip(at + 1, "-")), 0)
        number, end = (tens + ones if 0 < ones < 10 else 0), cursor.skip(at + 1, "-") + 1  # noqa: PLR2004 - "twenty-first"
    else:
        number = token.numbers[0] if token.kind in {"number", "ordinal"} else ORDINALS.get(token.text, 0)
        end = at + 1
    return (number if 1 <= number <= _MAX_DAY_OF_MONTH else 0), end


def _in_month(year: int, *, month: int, first: int, last: int) -> Period | None:
    begin, end = calendar_math.day(year, month, first), calendar_math.day(year, month, last)
    return Period(begin.start, end.end, "day") if begin and end else None


def _is_month(cursor: TokenCursor, at: int) -> bool:
    """Return True if "may" or "march" behind a number is the month."""
    token = cursor.token(at)
    if token.text not in {"may", "march"} or token.capital:
        return True
    return (
        cursor.token(at + 1).kind in {"year", "short"}
        or _short_year_follows(cursor, at + 1)
        or (
            cursor.name_may_end(at + 1)
            and cursor.word(at + 1) not in {"be", "have", "not", "i", "we", "you", "he", "she", "they"}
        )
    )


def _month(cursor: TokenCursor, at: int, *, time_expected: bool) -> tuple[Each, int] | None:
    """Read "May 8th", "May 3-7", "May the 8th" and "May"."""
    month = MONTHS[cursor.word(at)]
    place = cursor.skip(cursor.skip(at + 1, ".", "-", "–"), "the")
    days = _days(cursor, place)
    if days is not None and _day_follows(cursor, at, days[2], time_expected=time_expected):
        return functools.partial(_in_month, month=month, first=days[0], last=days[1]), days[2]
    after = at + 2 if cursor.word(at + 1) == "." and len(cursor.word(at)) < len("april") else at + 1
    return (
        (functools.partial(calendar_math.months, month=month), after)
        if _alone(cursor, at, time_expected=time_expected)
        else None
    )


def _day_follows(cursor: TokenCursor, at: int, after: int, *, time_expected: bool) -> bool:
    """Return True if the number behind a month is its day: "march 5 km" and "may 2 people" count something."""
    if cursor.word(after) in {":", "%"} or cursor.word(after) in COUNTED or cursor.token(after).kind == "junk":
        return False
    return time_expected or cursor.token(at).capital or cursor.word(at) in CLEAR_MONTHS or cursor.name_may_end(after)


def _alone(cursor: TokenCursor, at: int, *, time_expected: bool) -> bool:
    """Return True if a month's name without a day is the month."""
    token = cursor.token(at)
    year = cursor.skip(at + 1, ",", "of", ".")
    if token.text in CLEAR_MONTHS or (year_at(cursor, year) is not None and cursor.word(year + 1) not in COUNTED):
        return True
    if cursor.words(year, 2) in _YEAR_WORDS:
        return time_expected or token.capital or token.text not in {"may", "march"}
    if cursor.word(at + 1) in {"-", "–", "to", "/"} and cursor.word(at + 2) in MONTHS:
        return True
    return time_expected and _expected(cursor, at)


def _expected(cursor: TokenCursor, at: int) -> bool:
    """Return True if a name that is also a word or a person's is a month where a time is expected."""
    token, before = cursor.token(at), cursor.word(at - 1)
    if before == "from":
        return cursor.word(at + 1) in {"to", "until", "till", "through", "on", "onwards", "onward", "-", "–"}
    if token.text == "may" and before == "this" and not token.capital:
        return cursor.token(at + 1).kind in {"none", "mark"}
    plain = token.text not in {"march", "may"} or token.capital or cursor.name_may_end(at + 1)
    return plain and before not in {"the", "for"}


def _season(cursor: TokenCursor, at: int, *, time_expected: bool) -> tuple[Each, int] | None:
    name = cursor.word(at)
    place = cursor.skip(at + 1, "of", ",")
    dated = year_at(cursor, place) is not None or cursor.token(place).kind == "winter"
    told = cursor.words(place, 2) in _YEAR_WORDS or cursor.is_specified(at)
    if name == "fall" and not (dated or told or cursor.words(at - 2, 2) == ("in", "the")):
        time_expected = time_expected and cursor.word(at - 1) == "in"
    if not dated and (cursor.word(at + 1) == "of" or not (told or (time_expected and cursor.name_may_end(at + 1)))):
        return None
    certainty = 0.9 if dated or told else 0.65
    return (lambda year: scale_certainty(calendar_math.season(year, SEASONS[name]), certainty)), at + 1


def _holiday(cursor: TokenCursor, at: int, *, time_expected: bool) -> tuple[Each, int] | None:
    length = next((length for length in (3, 2, 1) if cursor.words(at, length) in HOLIDAY_PHRASES), 0)
    if not length:
        return None
    days = calendar_math.HOLIDAYS[HOLIDAY_PHRASES[cursor.words(at, length)]]
    end = at + length
    year = cursor.skip(end, "of", ",")
    dated = year_at(cursor, year) is not None or cursor.words(year, 2) in _YEAR_WORDS or cursor.is_specified(at)
    if (
        not dated
        and not (cursor.name_may_end(end) and (time_expected or length > 1))
        and not (time_expected and length > 1)
    ):
        return None
    return (lambda each: scale_certainty(days(each), 0.9)), end


def _part_of_year(cursor: TokenCursor, at: int, *, time_expected: bool) -> tuple[Each, int] | None:
    """Read "Q3"; a year glued to it is read with it as a year that every year has."""
    token = cursor.token(at)
    if token.kind not in {"quarter", "halves"} or cursor.word(at - 1) in NUMBERED:
        return None
    if (
        token.kind == "halves"
        and len(token.numbers) == 1
        and not time_expected
        and year_at(cursor, cursor.skip(at + 1, "of", ",")) is None
    ):
        return None
    size = 6 if token.kind == "halves" else 3
    first = (min(token.numbers) - 1) * size + 1
    glued = max(token.numbers) if len(token.numbers) > 1 else None
    return (lambda year: calendar_math.months(glued or year, first, size, "quarter")), at + 1


def _weekday(cursor: TokenCursor, at: int, *, time_expected: bool) -> Parsed | None:
    """Read "Monday", "Monday, 8 May 2023" (the date alone counts) and "Monday of last week"."""
    token = cursor.token(at)
    place = cursor.skip(cursor.skip(at + 1, ".", ","), "the")
    after = cursor.token(place)
    if after.kind in {"number", "ordinal", *WRITTEN} or after.text in MONTHS:
        dated = parse_calendar_name(cursor, place, time_expected=False)
        if dated is not None and all(period.grain == "day" for period in dated[0].periods):
            return dated
    weekday = WEEKDAYS[token.text]
    if after.kind == "ordinal" and cursor.word(place - 1) == "the" and cursor.name_may_end(place + 1):
        return _weekday_and_day(weekday, after.numbers[0]), place + 1
    offset = _WEEK_WORDS.get(cursor.words(cursor.skip(at + 1, "of", ","), 2))
    doubtful = token.text in DOUBTFUL_DAYS and not token.capital
    if offset is not None and not doubtful:
        index = calendar_math.week_index(cursor.now) + offset
        return known_times(calendar_math.week(index, weekday, 1, "day")), cursor.skip(at + 1, "of", ",") + 2
    told = cursor.is_specified(at)
    full = token.text.endswith("day")
    if doubtful or not (
        told or ((time_expected or (full and cursor.word(at - 1) != "the")) and cursor.name_may_end(at + 1))
    ):
        return None
    return TimeSpec((), lambda index: calendar_math.week(index, weekday, 1, "day"), "week"), at + 1


def _weekday_and_day(weekday: int, number: int) -> TimeSpec:
    """Return "Friday the 13th", which some months have."""

    def each(index: int) -> Period | None:
        found = calendar_math.day(index // 12, index % 12 + 1, number)
        return found if found and found.start.weekday() == weekday else None

    return TimeSpec((), each, "month")


def _years(cursor: TokenCursor, at: int, *, time_expected: bool) -> Parsed | None:
    token = cursor.token(at)
    before = cursor.word(at - 1)
    if cursor.word(at + 1) in COUNTED or before in NUMBERED or cursor.token(at - 1).kind == "junk":
        return None
    if token.kind == "years":
        first, last = token.numbers
        whole = calendar_math.years(first, last - first + 1) if first < last <= first + CENTURY else None
        return (known_times(whole), at + 1) if whole else None
    if token.kind == "decade" or token.text in DECADES:
        return _decade(cursor, at)
    year = year_at(cursor, at)
    if year is None or (token.kind == "short" and not time_expected) or cursor.word(at + 1) in {":", "%"}:
        return None
    certain = time_expected and (cursor.name_may_end(at + 1) or cursor.token(at + 1).capital)
    if not certain and not cursor.now.year - 80 < year <= cursor.now.year + 2:
        return None
    return known_times(scale_certainty(calendar_math.years(year), 1.0 if certain or before == "year" else 0.6)), at + 1


def _decade(cursor: TokenCursor, at: int) -> Parsed | None:
    token = cursor.token(at)
    first = token.numbers[0] if token.numbers else DECADES[token.text]
    if first < CENTURY:
        if cursor.word(at - 1) not in {"the", "early", "mid", "late", "-"} or (
            not token.numbers and not cursor.name_may_end(at + 1)
        ):
            return None
        first = full_year(first, cursor.now)
    return known_times(scale_certainty(calendar_math.years(first, 10), 0.9)), at + 1


_YEAR_WORDS: dict[tuple[str, ...], int] = {
    ("last", "year"): -1,
    ("this", "year"): 0,
    ("next", "year"): 1,
    ("previous", "year"): -1,
}
_WEEK_WORDS: dict[tuple[str, ...], int] = {("last", "week"): -1, ("this", "week"): 0, ("next", "week"): 1}
