"""Times and numbers as a person reads them. Pure: the moment and the zone are given.

The script of the page has the same words for times, so that a page that stays open goes on telling how long ago something was.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_MONTH, _YEAR = 30.44 * _DAY, 365.25 * _DAY
_JUST_NOW = 45  # seconds
_UNITS = (  # below how many seconds, one of them in seconds, its name
    (90 * _MINUTE, _MINUTE, "minute"),
    (22 * _HOUR, _HOUR, "hour"),
    (14 * _DAY, _DAY, "day"),
    (60 * _DAY, 7 * _DAY, "week"),
    (2 * _YEAR, _MONTH, "month"),
)


def date_in_words(moment: datetime) -> str:
    """Return the date of a moment in its own zone: "22 Nov 2026"."""
    return f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}"


def as_moment(value: datetime | str) -> datetime:
    """Return a moment with a zone, of a value or its ISO 8601 text.

    Raises:
        ValueError: the text is no moment.
    """
    moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def relative(moment: datetime, now: datetime) -> str:
    """Return how long ago something was, or in what time it will be: "3 days ago", "in 2 hours"."""
    seconds = (now - moment).total_seconds()
    ahead, size = seconds < 0, abs(seconds)
    if size < _JUST_NOW:
        return "just now"
    unit, name = next(((unit, name) for below, unit, name in _UNITS if size < below), (_YEAR, "year"))
    many = max(round(size / unit), 1)
    told = f"{many:,} {name}" + ("" if many == 1 else "s")
    return f"in {told}" if ahead else f"{told} ago"


def exact(moment: datetime, zone: tzinfo | None) -> str:
    """Return a moment to the second with its zone: "Sun 22 Nov 2026, 19:21:43 UTC"."""
    local = _in(moment, zone)
    return f"{day_name(moment, zone)}, {local:%H:%M:%S} {local.tzname() or ''}".rstrip()


def day_name(moment: datetime, zone: tzinfo | None) -> str:
    """Return the day of a moment: "Sun 22 Nov 2026"."""
    local = _in(moment, zone)
    return f"{DAYS[local.weekday()]} {date_in_words(local)}"


def to_the_minute(moment: datetime, zone: tzinfo | None) -> str:
    """Return a moment as it is in a list: "22 Nov 2026, 19:21"."""
    local = _in(moment, zone)
    return f"{date_in_words(local)}, {local:%H:%M}"


def number(value: float) -> str:
    """Return a number with its thousands apart: "12,345"; a fraction to two digits."""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}".rstrip("0").rstrip(".")


def count(many: int, one: str, several: str | None = None) -> str:
    """Return a number with its noun: "1 memory", "3 memories"."""
    return f"{many:,} {one if many == 1 else several or one + 's'}"


def percent(share: float) -> str:
    """Return a share of one: "42 %"; what is more than nothing is never "0 %"."""
    whole = round(share * 100)
    return "less than 1 %" if share > 0 and whole == 0 else f"{whole} %"


def size(octets: float) -> str:
    """Return a size in bytes: "12.3 MB"."""
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if octets >= unit:
            return f"{octets / unit:.1f} {name}"
    return f"{octets:.0f} bytes"


def _in(moment: datetime, zone: tzinfo | None) -> datetime:
    try:
        return moment.astimezone(zone)
    except (OverflowError, ValueError):  # at the ends of the calendar
        return moment if moment.utcoffset() == timedelta(0) else moment.replace(tzinfo=UTC)
