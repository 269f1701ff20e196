"""Which moments can be kept, asked for and calculated with: the one rule for every time that comes in, from wherever.

A year is left free at both ends of the calendar, so that no later step (another zone, a month more, the end of a day) leaves it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from hybrid_memory.clock import from_micros, to_micros

EARLIEST = datetime(2, 1, 1, tzinfo=UTC)
LATEST = datetime(9998, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
EARLIEST_MICROS = to_micros(EARLIEST)
LATEST_MICROS = to_micros(LATEST)
OUT_OF_RANGE = "lies outside the years 2 to 9998; leave it out where no time is meant"
NO_OFFSET = "has an offset of more than 14 hours from UTC, which no place has; write +02:00 or Z"
NO_SECOND = "has a second beyond 59; write the second before or behind it"

_LARGEST_OFFSET = timedelta(hours=14)
_WRITTEN_OFFSET = re.compile(r"\d[:.T]?\d\d *[+-](\d{2}):?(\d{2})?(?::?\d{2})? *$")
_WRITTEN_SECOND = re.compile(r"\d{1,2}:\d{2}:(\d{2})(?!\d)")
_WRITTEN_TIME = re.compile(r"\d[T :]")


def is_in_range(moment: datetime) -> bool:
    """Return True if an aware moment lies between `EARLIEST` and `LATEST`, in UTC, whatever its own zone says."""
    try:
        return EARLIEST <= moment.astimezone(UTC) <= LATEST
    except (OverflowError, ValueError):
        return False


def has_real_offset(moment: datetime) -> bool:
    """Return True if an aware moment, as somebody wrote it, lies at most 14 hours from UTC, as all places do."""
    offset = moment.utcoffset()
    return offset is not None and -_LARGEST_OFFSET <= offset <= _LARGEST_OFFSET


def wrong_clock(text: str) -> str | None:
    """Return what is wrong with the clock of a written moment: an offset or a second that there is not; None where nothing is.

    A reader of words would leave such a part out and take another moment than was written.
    """
    second = _WRITTEN_SECOND.search(text)
    if second and int(second[1]) > 59:  # noqa: PLR2004 - the last second of a minute
        return NO_SECOND
    offset = _WRITTEN_OFFSET.search(text) if _WRITTEN_TIME.search(text) else None
    if offset and (int(offset[1]), int(offset[2] or 0)) > (14, 0):
        return NO_OFFSET
    if offset and int(offset[2] or 0) > 59:  # noqa: PLR2004 - the last minute of an hour
        return NO_OFFSET
    return None


def stored_moment(micros: int) -> datetime:
    """Return the moment of a stored number of microseconds.

    What lies in the years 1 and 9999, which earlier versions accepted, becomes the nearest moment that is in range.

    Raises:
        OverflowError: the calendar does not hold it.
    """
    if EARLIEST_MICROS <= micros <= LATEST_MICROS:
        return from_micros(micros)
    return max(EARLIEST, min(from_micros(micros), LATEST))


def nearest_moment(micros: int) -> datetime:
    """Return the moment of a number of microseconds, or the nearest one that is in range: for what is only a note alongside a memory."""
    return from_micros(max(EARLIEST_MICROS, min(micros, LATEST_MICROS)))
