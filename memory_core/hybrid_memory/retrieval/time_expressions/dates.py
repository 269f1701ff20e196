"""Dates written in digits: ISO dates and times, and day, month and year with strokes, dots or slashes between them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone

from hybrid_memory.retrieval.time_expressions import calendar_math
from hybrid_memory.retrieval.time_expressions.calendar_math import Period
from hybrid_memory.retrieval.time_expressions.token_cursor import Parsed, TimeSpec, TokenCursor, fixed
from hybrid_memory.retrieval.time_expressions.vocabulary import NUMBERED, PAPERS

CENTURY = 100
_AHEAD = 10
_DAY_MINUTES = 24 * 60


def written_date(cursor: TokenCursor, at: int) -> Parsed | None:
    """Return the date of a token that is `WRITTEN`, None behind words like "version"."""
    kind = cursor.token(at).kind
    named = NUMBERED if kind == "slashed" else NUMBERED - PAPERS
    if kind not in _UNMISTAKABLE and cursor.word(at - 1) in named:
        return None
    return _READINGS[kind](cursor, at), at + 1


def full_year(short: int, now: datetime) -> int:
    """Return the year of which the last two digits are written: at most ten years ahead."""
    year = now.year - now.year % CENTURY + short
    return year - CENTURY if year > now.year + _AHEAD else year


def softer(period: Period | None, factor: float) -> Period | None:
    """Return the period with its sharpness multiplied."""
    return period._replace(certainty=round(period.certainty * factor, 3)) if period else None


def _iso(cursor: TokenCursor, at: int) -> TimeSpec:
    return fixed(calendar_math.day(*cursor.token(at).numbers[:3]))


def _instant(cursor: TokenCursor, at: int) -> TimeSpec:
    """Read an ISO time: the hour from then on, in the moment's zone if it names another."""
    year, month, number, hour, minute, *zone = cursor.token(at).numbers
    whole = calendar_math.day(year, month, number)
    if whole is None or hour > 23 or minute > 59:  # noqa: PLR2004 - the clock's
        return TimeSpec()
    moment = whole.start.replace(hour=hour, minute=minute)
    if zone and abs(zone[0]) < _DAY_MINUTES:
        there = timezone(timedelta(minutes=zone[0]))
        moment = moment.replace(tzinfo=there).astimezone(cursor.zone).replace(tzinfo=None)
    return fixed(calendar_math.span(moment, 1, "hour"))


def _numeric(cursor: TokenCursor, at: int) -> TimeSpec:
    """Read day, month and year with slashes or dashes; where both orders are dates, both, day first."""
    first, second, year = cursor.token(at).numbers
    year = year if year >= CENTURY else full_year(year, cursor.now)
    day_first, month_first = calendar_math.day(year, second, first), calendar_math.day(year, first, second)
    if day_first and month_first and first != second:
        return fixed(softer(day_first, 0.7), softer(month_first, 0.5))
    return fixed(day_first or month_first)


def _dotted(cursor: TokenCursor, at: int) -> TimeSpec:
    first, second, year = cursor.token(at).numbers
    year = year if year >= CENTURY else full_year(year, cursor.now)
    return fixed(calendar_math.day(year, second, first) or calendar_math.day(year, first, second))


def _week_of_year(cursor: TokenCursor, at: int) -> TimeSpec:
    year, number = cursor.token(at).numbers
    return fixed(calendar_math.iso_week(year, number))


def _iso_range(cursor: TokenCursor, at: int) -> TimeSpec:
    numbers = cursor.token(at).numbers
    first, last = calendar_math.day(*numbers[:3]), calendar_math.day(*numbers[3:])
    return fixed(Period(first.start, last.end, "day") if first and last and first.start < last.end else None)


def _slashed_month(cursor: TokenCursor, at: int) -> TimeSpec:
    month, year = cursor.token(at).numbers
    return fixed(calendar_math.months(year, month))


def _month_of(cursor: TokenCursor, at: int) -> TimeSpec:
    year, month = cursor.token(at).numbers
    return fixed(calendar_math.months(year, month))


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
