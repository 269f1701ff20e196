"""Which moments can be kept, asked for and calculated with: the one rule for every time that comes in, from wherever.

A year is left free at both ends of the calendar, so that no later step (another zone, a month more, the end of a day) leaves it.
"""

from __future__ import annotations

from datetime import UTC, datetime

from hybrid_memory.clock import from_micros, to_micros

EARLIEST = datetime(2, 1, 1, tzinfo=UTC)
LATEST = datetime(9998, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
EARLIEST_MICROS = to_micros(EARLIEST)
LATEST_MICROS = to_micros(LATEST)
OUT_OF_RANGE = "lies outside the years 2 to 9998; leave it out where no time is meant"


def is_in_range(moment: datetime) -> bool:
    """Return True if an aware moment lies between `EARLIEST` and `LATEST`, in UTC, whatever its own zone says."""
    try:
        return EARLIEST <= moment.astimezone(UTC) <= LATEST
    except (OverflowError, ValueError):
        return False


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
    """Return the moment of a number of microseconds, or the nearest one that is in range: for what is only a note beside a memory."""
    return from_micros(max(EARLIEST_MICROS, min(micros, LATEST_MICROS)))
