"""The parts that a picture of time is divided into: hours, days, weeks, months, years and more, by the calendar of a zone. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Any

from hybrid_memory.moments import EARLIEST, LATEST
from hybrid_memory_mcp.words.times_and_numbers import DAYS, MONTHS, date_in_words

if TYPE_CHECKING:
    from hybrid_memory.overview.times import MemoryTimes

MOST_PARTS = 120
"""Bars that a picture has at most: more would be thinner than a finger, and than three points of a phone."""

_FIRST, _LAST = EARLIEST.replace(tzinfo=None), LATEST.replace(tzinfo=None)


@dataclass(frozen=True, slots=True)
class Unit:
    """A length of the calendar: about how many ``seconds``, where the one that holds a moment begins, and how it is called."""

    name: str
    seconds: float
    begin: Callable[[datetime], datetime]
    label: Callable[[datetime], str]


def _hour(moment: datetime) -> datetime:
    return moment.replace(minute=0, second=0, microsecond=0, fold=0)


def _day(moment: datetime) -> datetime:
    return _hour(moment).replace(hour=0)


def _week(moment: datetime) -> datetime:
    return max(_day(moment) - timedelta(days=moment.weekday()), _FIRST)


def _month(moment: datetime) -> datetime:
    return _day(moment).replace(day=1)


def _year(moment: datetime) -> datetime:
    return _month(moment).replace(month=1)


def _years(count: int) -> Callable[[datetime], datetime]:
    def begin(moment: datetime) -> datetime:
        return _year(moment).replace(year=max(moment.year // count * count, _FIRST.year))

    return begin


UNITS: tuple[Unit, ...] = (
    Unit("hour", 3600, _hour, lambda one: f"{date_in_words(one)}, {one:%H:%M}"),
    Unit("day", 86400, _day, lambda one: f"{DAYS[one.weekday()]} {date_in_words(one)}"),
    Unit("week", 7 * 86400, _week, lambda one: f"week of {date_in_words(one)}"),
    Unit("month", 30.44 * 86400, _month, lambda one: f"{MONTHS[one.month - 1]} {one.year}"),
    Unit("year", 365.25 * 86400, _year, lambda one: str(one.year)),
    Unit("decade", 3652.5 * 86400, _years(10), lambda one: f"{one.year} to {one.year + 9}"),
    Unit("century", 36525.0 * 86400, _years(100), lambda one: f"{one.year} to {one.year + 99}"),
)


@dataclass(frozen=True, slots=True)
class Axis:
    """The foot of a picture, from its left to its right end."""

    since: datetime
    until: datetime

    def place(self, moment: datetime | None) -> float:
        """Return where a moment lies, from 0 to 1; None is the right end."""
        if moment is None:
            return 1.0
        share = (moment - self.since) / (self.until - self.since)
        return round(min(max(share, 0.0), 1.0), 5)

    def inside(self, moment: datetime | None) -> float | None:
        """Return where a moment lies, None where it does not lie in the picture."""
        return None if moment is None or not self.since <= moment <= self.until else self.place(moment)

    def spans(self, times: MemoryTimes, now: datetime) -> dict[str, list[float]]:
        """Return from where to where a memory was believed and true; what has no end reaches to the present."""
        true_until = times.true_until or (now if times.true_from <= now else None)
        return {
            "believed": [self.place(times.learned), self.place(times.believed_until or max(now, times.learned))],
            "true": [self.place(times.true_from), self.place(true_until)],
        }

    def marks(self, zone: tzinfo | None) -> list[dict[str, Any]]:
        """Return round moments with short names, each with its place ``x``."""
        return [{"x": self.place(at), "text": text} for at, text in ticks(self.since, self.until, zone)]


def unit_named(name: str) -> Unit | None:
    """Return the unit of a name, None without one."""
    return next((one for one in UNITS if one.name == name), None)


def unit_for(since: datetime, until: datetime, *, at_least: Unit | None = None) -> Unit:
    """Return the finest unit of which no more than `MOST_PARTS` lie between two moments; no finer one than ``at_least``."""
    seconds = (until - since).total_seconds()
    finest = 0 if at_least is None else UNITS.index(at_least)
    return next((one for one in UNITS[finest:] if seconds / one.seconds <= MOST_PARTS - 1), UNITS[-1])


def edges(since: datetime, until: datetime, unit: Unit, zone: tzinfo | None) -> list[datetime]:
    """Return where the parts begin that hold all from ``since`` up to ``until``, and where the last ends: one more than parts; in UTC."""
    local = unit.begin(_local(since, zone))
    end = _local(until, zone)
    found = [local]
    while local < end or len(found) == 1:
        following = _next(local, unit)
        if following <= local:  # the end of the calendar
            break
        local = following
        found.append(local)
    moments = [_utc(one, zone) for one in found]
    if moments[-1] < until:  # the calendar ends there by the zone's clock, and not yet by that of UTC
        moments.append(until)
    # An hour that comes twice, or never: no part is empty, none goes back.
    return [one for at, one in enumerate(moments) if at == 0 or one > moments[at - 1]]


def local_label(moment: datetime, unit: Unit, zone: tzinfo | None) -> str:
    """Return how the part is called that begins at a moment: "Thu 5 Mar 2026", "week of 2 Mar 2026", "Mar 2026"."""
    return unit.label(_local(moment, zone))


def local_day(moment: datetime, zone: tzinfo | None) -> str:
    """Return the day of a moment in a zone, as ISO 8601."""
    return _local(moment, zone).date().isoformat()


def ticks(since: datetime, until: datetime, zone: tzinfo | None, most: int = 7) -> list[tuple[datetime, str]]:
    """Return some round moments between two, each with a short name, for the foot of a picture."""
    seconds = (until - since).total_seconds()
    unit = next((one for one in UNITS if seconds / one.seconds <= most * 4), UNITS[-1])
    begins = [one for one in edges(since, until, unit, zone) if since <= one < until]
    step = max(-(-len(begins) // most), 1)
    locals_ = [_local(one, zone) for one in begins[::step]]
    years = [None, *(one.year for one in locals_)]
    texts = [_short(one, unit, new_year=one.year != before) for one, before in zip(locals_, years, strict=False)]
    return list(zip(begins[::step], texts, strict=True))


def _short(local: datetime, unit: Unit, *, new_year: bool) -> str:
    if unit.name == "hour":
        return f"{local:%H:%M}"
    if unit.name in ("day", "week"):
        return f"{local.day} {MONTHS[local.month - 1]}"
    if unit.name == "month":
        return MONTHS[local.month - 1] + (f" {local.year}" if new_year else "")
    return str(local.year)


def _next(local: datetime, unit: Unit) -> datetime:
    """Return where the following part begins: somewhere in it is what lies one and a half lengths on, however long months are."""
    try:
        return min(unit.begin(local + timedelta(seconds=1.4 * unit.seconds)), _LAST)
    except OverflowError:
        return _LAST


def _local(moment: datetime, zone: tzinfo | None) -> datetime:
    """Return the wall clock's time of a moment."""
    try:
        return min(max(moment.astimezone(zone).replace(tzinfo=None, fold=0), _FIRST), _LAST)
    except (OverflowError, ValueError, OSError):
        return min(max(moment.astimezone(UTC).replace(tzinfo=None), _FIRST), _LAST)


def _utc(local: datetime, zone: tzinfo | None) -> datetime:
    try:
        return (local.astimezone() if zone is None else local.replace(tzinfo=zone)).astimezone(UTC)
    except (OverflowError, ValueError, OSError):
        return local.replace(tzinfo=UTC)
