"""Some of what comes in, spread evenly over all of it, without holding all of it."""

from __future__ import annotations

from typing import Final, Generic, TypeVar

SAMPLES: Final = 6  # shown of what comes in
T = TypeVar("T")


class SpreadSamples(Generic[T]):
    """Keeps some of many things, spread evenly: each time there are twice as many as wanted, every second one goes."""

    def __init__(self) -> None:
        self._kept: list[T] = []
        self._step = 1
        self._count = 0

    def add(self, one: T) -> None:
        """Take the next one."""
        if self._count % self._step == 0:
            self._kept.append(one)
            if len(self._kept) >= 2 * SAMPLES:
                del self._kept[1::2]
                self._step *= 2
        self._count += 1

    def kept(self) -> tuple[T, ...]:
        """Return those that are shown."""
        return tuple(self._kept[:SAMPLES])
