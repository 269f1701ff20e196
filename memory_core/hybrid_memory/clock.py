"""The clock and the source of random bits: the two inputs that the core is handed instead of reaching for them."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
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
