"""Blocking work in threads, several awaitables at once, and the clock of an object that begins at a given time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import Executor
from datetime import UTC, datetime
from typing import TypeVar

import anyio
import anyio.to_thread

from hybrid_memory.clock import Clock, SystemClock
from hybrid_memory.errors import InvalidInput
from hybrid_memory.moments import OUT_OF_RANGE, is_in_range

_Result = TypeVar("_Result")


async def run_blocking(executor: Executor | None, work: Callable[[], _Result]) -> _Result:
    """Run ``work`` in the executor if there is one, else in the event loop's worker threads, and return its result."""
    if executor is None:
        return await anyio.to_thread.run_sync(work)
    return await anyio.to_thread.run_sync(lambda: executor.submit(work).result())


def to_utc(moment: datetime) -> datetime:
    """Return a moment in UTC; a naive one is local time, as ``datetime.now()`` gives it.

    Raises:
        InvalidInput: it lies outside of what a memory can keep.
    """
    try:
        found = moment.astimezone(UTC)
    except (OverflowError, ValueError, OSError):
        raise InvalidInput("a time", OUT_OF_RANGE) from None
    if not is_in_range(found):
        raise InvalidInput("a time", OUT_OF_RANGE)
    return found


async def gather(calls: Iterable[Callable[[], Awaitable[_Result]]]) -> list[_Result]:
    """Await all calls at once and return their results in order; the first failure cancels the rest and is raised."""
    results: dict[int, _Result] = {}

    async def run(number: int, call: Callable[[], Awaitable[_Result]]) -> None:
        results[number] = await call()

    try:
        async with anyio.create_task_group() as group:
            for number, call in enumerate(calls):
                group.start_soon(run, number, call)
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return [results[number] for number in sorted(results)]


class ShiftedClock:
    """Time that starts at a given moment and passes as the clock's does. Without a moment it is the clock itself."""

    def __init__(self, start: datetime | None, clock: Clock | None) -> None:
        self._clock: Clock = clock or SystemClock()
        self._shift = None if start is None else to_utc(start) - self._clock.now()

    @property
    def clock(self) -> Clock:
        """The clock that it follows."""
        return self._clock

    def at(self, given: datetime | None) -> datetime:
        """Return the given moment in UTC, or the present one."""
        if given is not None:
            return to_utc(given)
        now = self._clock.now()
        return now if self._shift is None else now + self._shift
