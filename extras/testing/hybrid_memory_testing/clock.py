"""The clock of a memory under test: it moves when the test says so, and a second at each call."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hybrid_memory.testing import FakeClock

STEP = timedelta(seconds=1)
"""What passes after each call, so that what was said first is older."""


class MovableClock(FakeClock):
    """A clock that begins on 10 January 2026 at noon UTC, or at ``start``, and stands still but for a second after each call.

    ``advance(days=30)`` lets time pass, ``set(moment)`` jumps, ``now()`` tells the time. Times of the memories, "yesterday" in a question,
    what has expired: all go by it.
    """

    def __init__(self, start: datetime | str | None = None) -> None:
        if start is None:
            super().__init__()
        else:
            super().__init__(moment_of(start))

    def advance(
        self, *, weeks: float = 0, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0
    ) -> None:
        """Move on (or back, with negative figures)."""
        self._now += timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)

    def set(self, moment: datetime | str) -> None:
        """Jump to a moment: a date with a zone, or ISO 8601 (``2026-03-01``, without a zone UTC)."""
        super().set(moment_of(moment))


def moment_of(given: datetime | str) -> datetime:
    """Return a moment in UTC; one without a zone is taken for UTC.

    Raises:
        ValueError: a text is not ISO 8601.
    """
    moment = datetime.fromisoformat(given) if isinstance(given, str) else given
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
