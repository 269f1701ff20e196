"""Dates written in digits: ISO dates and times, and day, month and year with strokes, dots or slashes between them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone

from hybrid_memory.retrieval.when import almanac
from hybrid_memory.retrieval.when.almanac import Period
from hybrid_memory.retrieval.when.reader import Found, Reader, Thing, fixed
from hybrid_memory.retrieval.when.words import NUMBERED, PAPERS

CENTURY = 100
_AHEAD = 10
_DAY_MINUTES = 24 * 60


def written_date(reader: Reader, at: int) -> Found | None:
    """Return the date of a token that is `WRITTEN`, None behind words like "version"."""
    kind = reader.token(at).kind
    named = NUMBERED if kind == "slashed" else NUMBERED - PAPERS
    if kind not in _UNMISTAKABLE and reader.word(at - 1) in named:
        return None
    return _READINGS[kind](reader, at), at + 1


def full_year(short: int, now: datetime) -> int:
    """Return the year of which the last two digits are written: at most ten years ahead."""
    year = now.year - now.year % CENTURY + short
    return year - CENTURY if year > now.year + _AHEAD else year


def softer(period: Period | None, factor: float) -> Period | None:
    """Return the period with its sharpness multiplied."""
    return period._replace(sharp=round(period.sharp * factor, 3)) if period else None


def _iso(reader: Reader, at: int) -> Thing:
    return fixed(almanac.day(*reader.token(at).numbers[:3]))


def _instant(reader: Reader, at: int) -> Thing:
    """Read an ISO time: the hour from then on, in the moment's zone if it names another."""
    year, month, number, hour, minute, *zone = reader.token(at).numbers
    whole = almanac.day(year, month, number)
    if whole is None or hour > 23 or minute > 59:  # noqa: PLR2004 - the clock's
        return Thing()
    moment = whole.start.replace(hour=hour, minute=minute)
    if zone and abs(zone[0]) < _DAY_MINUTES:
        there = timezone(timedelta(minutes=zone[0]))
        moment = moment.replace(tzinfo=there).astimezone(reader.zone).replace(tzinfo=None)
    return fixed(almanac.span(moment, 1, "hour"))


def _numeric(reader: Reader, at: int) -> Thing:
    """Read day, month and year with slashes or dashes; where both orders are dates, both, day first."""
    first, second, year = reader.token(at).numbers
    year = year if year >= CENTURY else full_year(year, reader.now)
    day_first, month_first = almanac.day(year, second, first), almanac.day(year, first, second)
    if day_first and month_first and first != second:
        return fixed(softer(day_first, 0.7), softer(month_first, 0.5))
    return fixed(day_first or month_first)


def _dotted(reader: Reader, at: int) -> Thing:
    first, second, year = reader.token(at).numbers
    year = year if year >= CENTURY else full_year(year, reader.now)
    return fixed(almanac.day(year, second, first) or almanac.day(year, first, second))


def _week_of_year(reader: Reader, at: int) -> Thing:
    year, number = reader.token(at).numbers
    return fixed(almanac.iso_week(year, number))


def _iso_range(reader: Reader, at: int) -> Thing:
    numbers = reader.token(at).numbers
    first, last = almanac.day(*numbers[:3]), almanac.day(*numbers[3:])
    return fixed(Period(first.start, last.end, "day") if first and last and first.start < last.end else None)


def _slashed_month(reader: Reader, at: int) -> Thing:
    month, year = reader.token(at).numbers
    return fixed(almanac.months(year, month))


def _month_of(reader: Reader, at: int) -> Thing:
    year, month = reader.token(at).numbers
    return fixed(almanac.months(year, month))


_UNMISTAKABLE = frozenset({"iso", "isos", "ymd", "instant"})
_READINGS: dict[str, Callable[[Reader, int], Thing]] = {
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
