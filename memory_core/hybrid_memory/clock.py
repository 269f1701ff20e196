"""The clock and the source of random bits: the two inputs that the core is handed instead of reaching for them."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """Return the current moment, aware and in UTC."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the current moment, aware and in UTC."""
        return datetime.now(UTC)  # noqa: TID251 - the one place that reads the clock


class RandomSource(Protocol):
    """Gives random bits for new ids."""

    def bits(self, count: int) -> int:
        """Return ``count`` random bits as a non-negative integer."""
        ...


class SystemRandomSource:
    """The machine's cryptographic randomness, so that an id cannot be guessed."""

    def bits(self, count: int) -> int:
        """Return ``count`` random bits as a non-negative integer."""
        return secrets.randbits(count)


MOST_CARRIED = timedelta(minutes=5)
"""How far the time of the last write may lie ahead of the clock and still be believed: a clock is set back by so much in passing."""

LONGEST_GAP = timedelta(days=30)
"""A clock that is further ahead of what was last known may be wrong: nothing is swept away in a process that has seen that."""


def never_back(now: datetime, last: datetime) -> datetime:
    """Return the time of what happens now: the clock's, or that of the last write where the clock was set back by a little.

    Further back the clock is believed: the last write was made while it was wrong.
    """
    return last if now < last <= now + MOST_CARRIED else now


def ahead_of_clock(count: int) -> tuple[str, str]:
    """Return what to say of memories with times ahead of the clock, and what can be done about it."""
    memories = "1 memory has a time" if count == 1 else f"{count} memories have times"
    return (
        f"{memories} in the future, by this machine's clock",
        "see that the clock is right; what was written while it was ahead is found all the same",
    )


SystemDice = SystemRandomSource
"""The former name, for programs that use it."""


def to_micros(moment: datetime) -> int:
    """Return microseconds since 1970 of an aware moment, exactly."""
    delta = moment - EPOCH
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds


def from_micros(micros: int) -> datetime:
    """Return the aware UTC moment of ``micros``, the inverse of `to_micros`."""
    return EPOCH + _MICROSECOND * micros


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC) - EPOCH
