"""Periods of the calendar in wall-clock time without a zone, and which one is meant of those that recur.

Pure arithmetic that never raises. Weeks begin on Monday, seasons are those of the northern hemisphere by whole months, and
years run from 1 to 9999: a period that would leave them is cut off or None. A `TimeSpec` is what a rule of the grammar has
read; `resolve` says which period of one that recurs is meant.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import NamedTuple

LOWEST = datetime.min  # noqa: DTZ901 - wall-clock time throughout
HIGHEST = datetime(9999, 12, 31)  # noqa: DTZ001 - wall-clock time throughout
DAY = timedelta(days=1)
_FIRST_YEAR, _LAST_YEAR = 1, 9998
_MONTHS_PER_YEAR = 12


class Period(NamedTuple):
    """From ``start`` up to ``end``; ``grain`` is the unit by which it was named."""

    start: datetime
    end: datetime
    grain: str
    certainty: float = 1.0


def shift(moment: datetime, amount: float, unit: str) -> datetime:
    """Return the moment ``amount`` units later, the last day of the month where its day does not exist."""
    months = amount * _MONTHS_OF[unit] if unit in _MONTHS_OF else 0.0
    whole = int(months)
    rest = timedelta(days=round((months - whole) * 30)) if unit in _MONTHS_OF else None
    try:
        if rest is None:
            return min(moment + amount * _LENGTHS[unit], HIGHEST)
        return min(_add_months(moment, whole) + rest, HIGHEST)
    except (OverflowError, ValueError):
        return LOWEST if amount < 0 else HIGHEST


def midnight(moment: datetime) -> datetime:
    """Return the beginning of the moment's day."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)


def span(start: datetime, amount: float, unit: str, grain: str | None = None) -> Period:
    """Return the period of that length."""
    return Period(start, shift(start, amount, unit), grain or unit)


def day(year: int, month: int, number: int) -> Period | None:
    """Return a day, None if there is none."""
    try:
        return span(datetime(year, month, number), 1, "day")  # noqa: DTZ001 - as above
    except (ValueError, OverflowError):
        return None


def months(year: int, month: int, count: int = 1, grain: str = "month") -> Period | None:
    """Return ``count`` months from a month on."""
    first = day(year, month, 1)
    return span(first.start, count, "month", grain) if first else None


def years(year: int, count: int = 1) -> Period | None:
    """Return ``count`` calendar years, ten of which have the grain of a decade."""
    return months(year, 1, _MONTHS_PER_YEAR * count, "year" if count == 1 else "decade")


def week(index: int, weekday: int = 0, days: int = 7, grain: str = "week") -> Period | None:
    """Return days of the week with that index (`week_index`)."""
    try:
        first = datetime.combine(date.fromordinal(index * 7 + 1 + weekday), datetime.min.time())
    except (ValueError, OverflowError):
        return None
    return span(first, days, "day", grain)


def week_index(moment: datetime) -> int:
    """Return the number of Mondays from the year 1 up to the moment, less one."""
    return (moment.toordinal() - 1) // 7


def iso_week(year: int, number: int) -> Period | None:
    """Return a week by its ISO number."""
    fourth = day(year, 1, 4)
    return week(week_index(fourth.start) + number - 1) if fourth and 1 <= number <= 53 else None  # noqa: PLR2004 - the most


def unit_of(moment: datetime, unit: str, offset: int = 0) -> Period | None:
    """Return the calendar unit ``offset`` units from the one that holds the moment."""
    if unit in {"week", "weekend", "fortnight"}:
        return week(week_index(moment) + offset, *((5, 2, "weekend") if unit == "weekend" else ()))
    if unit == "day":
        return span(shift(midnight(moment), offset, "day"), 1, "day")
    if unit == "night":
        return part_of_day(span(shift(midnight(moment), offset, "day"), 1, "day"), "night")
    if unit in _MONTHS_OF:
        size = _MONTHS_OF[unit]
        index = ((moment.year * _MONTHS_PER_YEAR + moment.month - 1) // size + offset) * size
        if unit == "decade":
            return years(moment.year // 10 * 10 + 10 * offset, 10)
        return months(index // _MONTHS_PER_YEAR, index % _MONTHS_PER_YEAR + 1, size, unit)
    return None


def season(year: int, name: str) -> Period | None:
    """Return the season that begins in the year."""
    return months(year, {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}[name], 3, "season")


def easter(year: int) -> Period | None:
    """Return Easter Sunday by the Gregorian computus (Meeus, Jones and Butcher)."""
    century, rest = divmod(year, 100)
    moon = (19 * (year % 19) + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    sunday = (32 + 2 * (century % 4) + 2 * (rest // 4) - moon - rest % 4) % 7
    late = (year % 19 + 11 * moon + 22 * sunday) // 451
    month, number = divmod(moon + sunday - 7 * late + 114, 31)
    return day(year, month, number + 1)


def nth_weekday(within: Period, weekday: int, nth: int) -> Period | None:
    """Return the nth such weekday of a period, counted from its end if negative."""
    if nth > 0:
        ahead = (weekday - within.start.weekday()) % 7 + 7 * (nth - 1)
        found = span(shift(within.start, ahead, "day"), 1, "day")
    else:
        last = shift(within.end, -1, "day")
        back = (last.weekday() - weekday) % 7 + 7 * (-nth - 1)
        found = span(shift(last, -back, "day"), 1, "day")
    return found if within.start <= found.start < within.end else None


def days_from(anchor: Period | None, offset: int, count: int = 1) -> Period | None:
    """Return ``count`` days that begin ``offset`` days from a day's."""
    return span(shift(anchor.start, offset, "day"), count, "day") if anchor else None


def _thanksgiving(year: int) -> Period | None:
    november = months(year, 11)
    return nth_weekday(november, 3, 4) if november else None


HOLIDAYS: dict[str, Callable[[int], Period | None]] = {
    "christmas": lambda year: days_from(day(year, 12, 24), 0, 3),
    "christmas eve": lambda year: day(year, 12, 24),
    "christmas day": lambda year: day(year, 12, 25),
    "boxing day": lambda year: day(year, 12, 26),
    "new year": lambda year: days_from(day(year, 1, 1), -1, 2),
    "new year eve": lambda year: day(year, 12, 31),
    "new year day": lambda year: day(year, 1, 1),
    "valentine": lambda year: day(year, 2, 14),
    "halloween": lambda year: day(year, 10, 31),
    "bonfire night": lambda year: day(year, 11, 5),
    "thanksgiving": _thanksgiving,
    "black friday": lambda year: days_from(_thanksgiving(year), 1),
    "good friday": lambda year: days_from(easter(year), -2),
    "easter": lambda year: days_from(easter(year), -2, 4),
    "easter sunday": easter,
    "easter monday": lambda year: days_from(easter(year), 1),
    "independence day": lambda year: day(year, 7, 4),
    "st patrick day": lambda year: day(year, 3, 17),
}
"""Feasts by name: from a year to their days in it. New Year's begins on the eve in the year before."""


def part(whole: Period, which: str) -> Period:
    """Return the early, mid or late third, the beginning or end quarter, or the first or second half of a period.

    They are cut at whole months in units of a year or more, at whole days below.
    """
    low, high = _PARTS[which]
    length = (whole.end - whole.start).days
    if length > 80:  # noqa: PLR2004 - a quarter and longer has months to cut at
        count = round(length / 30.44)
        start, end = (shift(whole.start, round(count * share), "month") for share in (low, high))
    else:
        start, end = (shift(whole.start, round(length * share), "day") for share in (low, high))
    certainty = 0.8 if which not in {"first half", "second half"} else 1.0
    return Period(start, whole.end if high == 1 else end, whole.grain, min(whole.certainty, certainty))


def part_of_day(whole: Period, which: str) -> Period:
    """Return the morning, afternoon, evening or night of the period's first day."""
    first, last = _HOURS[which]
    begin = midnight(whole.start)
    return Period(shift(begin, first, "hour"), shift(begin, last, "hour"), "hour", min(whole.certainty, 0.9))


def first_or_last(whole: Period, count: float, unit: str, nth: int) -> Period | None:
    """Return the nth ``count`` units of a period, counted from its end if ``nth`` is negative."""
    if unit == "weekend":
        saturday = nth_weekday(whole, 5, nth)
        return days_from(saturday, 0, 2)
    if nth > 0:
        start = shift(whole.start, count * (nth - 1), unit)
        found = span(start, count, unit)
    else:
        start = shift(whole.end, count * nth, unit)
        found = span(start, count, unit)
    start, end = max(found.start, whole.start), min(found.end, whole.end)
    return Period(start, end, unit, whole.certainty) if start < end else None


def widen(whole: Period) -> Period:
    """Return the period with what is around it: half as much again on either side, three days at least."""
    margin = max((whole.end - whole.start) / 2, 3 * DAY)
    margin = timedelta(days=min(margin.days, 366))
    certainty = round(whole.certainty * 0.6, 3)
    return Period(shift(whole.start, -margin.days, "day"), shift(whole.end, margin.days, "day"), whole.grain, certainty)


_MONTHS_OF = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_LENGTHS = {
    "second": timedelta(seconds=1),
    "minute": timedelta(minutes=1),
    "hour": timedelta(hours=1),
    "day": DAY,
    "night": DAY,
    "week": 7 * DAY,
    "weekend": 7 * DAY,
    "fortnight": 14 * DAY,
}
_PARTS = {
    "early": (0, 1 / 3),
    "mid": (1 / 3, 2 / 3),
    "late": (2 / 3, 1),
    "beginning": (0, 1 / 4),
    "end": (3 / 4, 1),
    "first half": (0, 1 / 2),
    "second half": (1 / 2, 1),
}
_HOURS = {"morning": (5, 12), "noon": (11, 14), "afternoon": (12, 18), "evening": (17, 24), "night": (18, 30)}


def _add_months(moment: datetime, count: int) -> datetime:
    index = moment.year * _MONTHS_PER_YEAR + moment.month - 1 + count
    year, month = index // _MONTHS_PER_YEAR, index % _MONTHS_PER_YEAR + 1
    if not _FIRST_YEAR <= year <= _LAST_YEAR + 1:
        raise OverflowError
    longest = 31 if month in {1, 3, 5, 7, 8, 10, 12} else 30
    if month == 2:  # noqa: PLR2004 - February
        longest = 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return moment.replace(year=year, month=month, day=min(moment.day, longest))


Each = Callable[[int], "Period | None"]


class TimeSpec(NamedTuple):
    """Periods that are known, or (``each``) one that recurs every year, month or week."""

    periods: tuple[Period, ...] = ()
    each: Each | None = None
    cycle: str = "year"

    def map(self, change: Callable[[Period], Period | None]) -> TimeSpec:
        """Return the spec with its periods changed, before it is told which one is meant."""
        each = self.each
        if each is not None:
            return TimeSpec((), lambda index: change(whole) if (whole := each(index)) else None, self.cycle)
        return TimeSpec(tuple(found for period in self.periods if (found := change(period))))


Parsed = tuple[TimeSpec, int]
"""A spec and the place behind its last token."""


def known_times(*periods: Period | None) -> TimeSpec:
    """Return a spec of which all is known."""
    return TimeSpec(tuple(period for period in periods if period is not None))


def index_of(now: datetime, cycle: str) -> int:
    """Return the number of the year, month or week that holds the moment."""
    if cycle == "week":
        return week_index(now)
    return now.year * 12 + now.month - 1 if cycle == "month" else now.year


def resolve(spec: TimeSpec, now: datetime, how: str) -> tuple[Period, ...]:
    """Return the periods of a thing; of one that recurs the ``how`` one.

    "past" is the latest that has begun, "last" the latest that is over; where that is only just so, the one before follows
    with less certainty. "this" is the present year's, month's or week's, "future" and "coming" the first that is not over,
    "next" the first that has not begun, "either" the "past" and the "coming" one, "nearest" the one in the middle of which
    the moment is closest; "stated" is the "nearest" of what comes once a year, the "coming" one of what comes more often.
    """
    if spec.each is None:
        return spec.periods
    base = index_of(now, spec.cycle)
    if how == "this":
        found = spec.each(base)
        return (found,) if found else ()
    for reach in _REACHES:
        near = [found for index in range(base - reach, base + reach + 1) if (found := spec.each(index))]
        chosen = _CHOICES[how](near, now)
        if chosen:
            return tuple(chosen)
    return ()


def past_ones(spec: TimeSpec, now: datetime) -> tuple[Period, ...]:
    """Return the latest ten or fewer periods of what recurs that are over, in order."""
    if spec.each is None:
        return ()
    base = index_of(now, spec.cycle)
    near = [found for index in range(base - 10, base + 1) if (found := spec.each(index))]
    return tuple(found for found in near if found.end <= now)


def _softer(periods: list[Period], factor: float) -> list[Period]:
    return [period._replace(certainty=round(period.certainty * factor, 3)) for period in periods]


def _past(near: list[Period], now: datetime) -> list[Period]:
    begun = [period for period in near if period.start <= now]
    latest = begun[-1:]
    if latest and latest[0].grain in _LONG and now - latest[0].start < (latest[0].end - latest[0].start) / 4:
        return latest + _softer(begun[-2:-1], 0.5)
    return latest


def _last(near: list[Period], now: datetime) -> list[Period]:
    over = [period for period in near if period.end <= now]
    if over and over[-1].grain in _RECENT and now - over[-1].end < _RECENT[over[-1].grain]:
        return over[-1:] + _softer(over[-2:-1], 0.5)
    return over[-1:]


def _coming(near: list[Period], now: datetime) -> list[Period]:
    return [period for period in near if period.end > now][:1]


def _next(near: list[Period], now: datetime) -> list[Period]:
    return [period for period in near if period.start > now][:1]


def _nearest(near: list[Period], now: datetime) -> list[Period]:
    return sorted(near, key=lambda period: abs(period.start + (period.end - period.start) / 2 - now))[:1]


def _stated(near: list[Period], now: datetime) -> list[Period]:
    is_yearly = len(near) > 1 and near[1].start - near[0].start > _LONGEST_MONTH
    return (_nearest if is_yearly else _coming)(near, now)


def _either(near: list[Period], now: datetime) -> list[Period]:
    past = _past(near, now)[:1]
    coming = _coming(near, now)
    return past if past == coming else _softer(past + coming, 0.7)


# How many years, months or weeks away is looked: first near, then as far as 29 February and Friday the 13th may be.
_REACHES = (2, 14)
_RECENT = {"month": timedelta(days=31), "day": timedelta(days=2)}
_LONGEST_MONTH = timedelta(days=62)  # between two that have a 31st
_LONG = frozenset({"month", "quarter", "season"})
_CHOICES: dict[str, Callable[[list[Period], datetime], list[Period]]] = {
    "past": _past,
    "last": _last,
    "coming": _coming,
    "future": _coming,
    "next": _next,
    "nearest": _nearest,
    "either": _either,
    "stated": _stated,
}
