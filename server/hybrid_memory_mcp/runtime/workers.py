"""Worker threads in a fixed number, counting those whose caller no longer waits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import Enum, auto
from typing import Generic, TypeVar

import anyio
import anyio.from_thread
import anyio.to_thread

T = TypeVar("T")


class WorkerPool:
    """Runs blocking work in at most ``most`` threads at once.

    anyio's own limiter lets the next one start as soon as a caller is cancelled, while the thread still works: a client that
    gives up and asks again would fill the process with threads.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._limiter: anyio.CapacityLimiter | None = None

    @property
    def busy(self) -> int:
        """How many threads are at work or about to be."""
        return 0 if self._limiter is None else int(self._limiter.borrowed_tokens)

    async def run(self, work: Callable[[], T], *limiters: anyio.CapacityLimiter) -> T:
        """Run ``work`` in a thread and return what it returns; it takes a place in each of the ``limiters`` too.

        A cancelled caller does not wait: work that has begun is finished all the same, other work is not begun.
        """
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(self._most)
        job = _Job(work)
        held: list[anyio.CapacityLimiter] = []
        try:
            for limiter in (*limiters, self._limiter):
                await limiter.acquire_on_behalf_of(job)
                held.append(limiter)
            return await anyio.to_thread.run_sync(job.do, held, abandon_on_cancel=True)
        finally:
            if job.abandon():
                _release(held, job)


class _Stage(Enum):
    WAITING = auto()
    WORKING = auto()
    DONE = auto()
    LEFT = auto()


class _Job(Generic[T]):
    """One piece of work, shared by its thread and its caller: the later of the two gives the place free."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._stage = _Stage.WAITING
        self._lock = threading.Lock()

    def do(self, held: Sequence[anyio.CapacityLimiter]) -> T:
        """Work, in the thread."""
        with self._lock:
            if self._stage is _Stage.LEFT:
                raise _CallerLeft
            self._stage = _Stage.WORKING
        try:
            return self._work()
        finally:
            with self._lock:
                left, self._stage = self._stage is _Stage.LEFT, _Stage.DONE
            if left:
                with suppress(RuntimeError):  # the event loop has ended, and the limiters with it
                    anyio.from_thread.run_sync(_release, held, self)

    def abandon(self) -> bool:
        """Say, for the caller that goes on, whether it is the one to give the place free."""
        with self._lock:
            working = self._stage is _Stage.WORKING
            self._stage = _Stage.LEFT
            return not working


def _release(held: Sequence[anyio.CapacityLimiter], job: object) -> None:
    for limiter in held:
        limiter.release_on_behalf_of(job)


class _CallerLeft(Exception):
    """The caller went before the work began."""
