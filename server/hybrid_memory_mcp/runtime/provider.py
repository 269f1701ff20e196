"""One open memory for all clients of a process: who opens it, in which threads calls run, and when it may be closed.

`ServiceProvider` is made once by a hub, or by a command where no hub runs. Every call of a client goes through it:

1. `ClientLimiter.call`: the client's own places, so that a flood of one client leaves room for others;
2. `WorkerPool.run`: one of the process's threads;
3. `ServiceProvider.run`: the service, opened at the first call, under its shared lock;
4. the work itself, usually one method of `MemoryService`.
"""

from __future__ import annotations

import math
import os
import queue
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from enum import Enum, auto
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeAlias, TypeVar

import anyio
import anyio.from_thread
import anyio.to_thread

from hybrid_memory.clock import RandomSource, SystemClock
from hybrid_memory.errors import HybridMemoryError, SchemaTooNew, StoreClosed, StoreLocked
from hybrid_memory.model import Scope
from hybrid_memory.service.rwlock import ReadWriteLock
from hybrid_memory.store.out_of_resources import check_address_space
from hybrid_memory_mcp.runtime import library_patches
from hybrid_memory_mcp.runtime.error_log import log_and_continue

if TYPE_CHECKING:
    from hybrid_memory.requests import Lag
    from hybrid_memory.service.memory_service import MemoryService
    from hybrid_memory_mcp.runtime.telemetry import Measure, Telemetry

T = TypeVar("T")

CALLS_AT_ONCE = 8  # threads for the calls of all clients: they wait for the disk and DuckDB more than they compute
SKIPPED_STEPS_AFTER_FAILURE = 60  # about a minute, at one step a second: what failed once would fail again at once
OPEN_RETRY_SECONDS = 0.05  # short alongside an opening (30 ms and more), long alongside a look at a lock

CommitListener: TypeAlias = Callable[[str, frozenset[str]], None]
"""Called with the namespace and the sessions that a commit touched."""


class MemoryAccess(Protocol):
    """How the MCP server of one client reaches the memory: a `ServiceProvider`, or a `ClientLimiter` before it."""

    async def call(self, work: Callable[[MemoryService], T]) -> T:
        """Run ``work`` with the service in a worker thread and return what it returns."""
        ...

    def listen(self, listener: CommitListener, wanted: Callable[[], bool]) -> Callable[[], None]:
        """Call ``listener`` soon after each commit; returns what ends that."""
        ...


class ServiceProvider:
    """Opens one service on first use and gives it to every call; safe in any thread.

    Opening imports the database engine and reads the store, so it never happens on the event loop. When it fails the
    error goes to the caller, and the next call tries again.

    A call holds the service's own lock (shared), under which it is neither closed nor its embedder changed. An operation, which
    may last minutes, holds ``_operations`` instead, so that a change of the embedder does not wait for its end.
    `run_exclusive` takes both.
    """

    def __init__(self, open_service: Callable[[], MemoryService], calls_at_once: int = CALLS_AT_ONCE) -> None:
        self._open_service = open_service
        self._opening = threading.Lock()
        self._operations = ReadWriteLock()
        self._service: MemoryService | None = None
        self._closed = False
        self._failure: HybridMemoryError | None = None
        self._failed_at = 0.0
        self._listeners: dict[object, tuple[CommitListener, Callable[[], bool]]] = {}
        self._commits: queue.SimpleQueue[tuple[str, frozenset[str]] | None] = queue.SimpleQueue()
        self._notifying: threading.Thread | None = None
        self._steps_to_skip = 0
        self._on_commit: CommitListener | None = None
        self._stop_measuring: Callable[[], None] | None = None
        self.measure: Measure | None = None
        """Measures calls of tools, where somebody wants figures."""
        self.on_too_new: Callable[[], None] = _do_nothing
        """Called in the thread of a call when this program is too old to open the store, before the call fails."""
        self.workers = WorkerPool(calls_at_once)
        self.calls = 0

    async def call(self, work: Callable[[MemoryService], T], *limiters: anyio.CapacityLimiter) -> T:
        """Run ``work`` with the service in a worker thread and return what it returns; takes a place in the ``limiters`` too.

        A cancelled caller does not wait; work that has begun is finished all the same.

        Raises:
            HybridMemoryError: the store cannot be opened, or the work failed.
        """
        self.calls += 1
        return await self.workers.run(lambda: self.run(work), *limiters)

    def run(self, work: Callable[[MemoryService], T]) -> T:
        """Run ``work`` with the service in this thread; waits while `run_exclusive` has the store closed.

        Raises:
            HybridMemoryError: the store cannot be opened, or the work failed.
        """
        while True:
            service = self.ensure_open()
            with service.lock.shared():
                if self._service is service:  # else it was closed while this call waited for the lock: open it again
                    return work(service)

    def run_operation(self, work: Callable[[MemoryService], T]) -> T:
        """Run ``work`` that may take long with the service in this thread, alongside calls and alongside other operations.

        Raises:
            HybridMemoryError: the store cannot be opened, or the work failed.
        """
        with self._operations.shared():
            return work(self.ensure_open())

    def run_exclusive(self, work: Callable[[], T]) -> T:
        """Close the store, run ``work`` while calls and operations wait, and let the next call open it again; blocks.

        Raises:
            HybridMemoryError: the work failed; `StoreClosed` after `close`.
        """
        with self._operations.exclusive():
            while True:
                service = self._service
                with nullcontext() if service is None else service.lock.exclusive(), self._opening:
                    if self._closed:
                        raise _shutting_down()
                    if self._service is not service:  # a call opened it before this one could keep it from that
                        continue
                    if service is not None:
                        self._service = None
                        service.close()
                    return work()

    def ensure_open(self) -> MemoryService:
        """Return the service, opening it if need be; blocks.

        Of callers that come while it is being opened none tries again what has just failed: a database that cannot be reached is waited
        for once, not once a caller.

        Raises:
            HybridMemoryError: the store cannot be opened; `StoreClosed` after `close`.
        """
        came = time.monotonic()
        with self._opening:
            if self._closed:
                raise _shutting_down()
            if self._service is None:
                if self._failure is not None and came < self._failed_at:
                    raise self._failure
                try:
                    self._service = self._open_service()
                except HybridMemoryError as error:
                    self._failure, self._failed_at = error, time.monotonic()
                    if isinstance(error, SchemaTooNew):
                        self.on_too_new()
                    raise
                self._failure = None
                self._service.listen(self._queue_commit)
                if self._on_commit is not None:
                    self._service.listen(self._on_commit)
                if self._notifying is None:
                    self._notifying = threading.Thread(
                        target=self._notify_listeners, name="commit-listeners", daemon=True
                    )
                    self._notifying.start()
            return self._service

    def warm_up_in_background(self, scope: Scope) -> None:
        """Begin to open the service in a thread of its own; a failure is left for the first call to report."""
        threading.Thread(target=self._warm_up, args=(scope,), name="warm-up", daemon=True).start()

    def listen(self, listener: CommitListener, wanted: Callable[[], bool]) -> Callable[[], None]:
        """Call ``listener`` soon after each commit, in a thread that no writer waits for; returns what ends that.

        A commit while ``wanted`` returns False is not told: waking a thread at each write would cost the writer time.
        """
        token = object()
        self._listeners[token] = (listener, wanted)

        def end() -> None:
            self._listeners.pop(token, None)

        return end

    def flush_recalls(self) -> None:
        """Let an open service store what recalls have queued."""
        if self._service is not None:
            with log_and_continue("applying recalls"), suppress(StoreClosed):
                self.run(lambda service: service.flush_recalls())

    def run_background_step(self) -> bool:
        """Let an open service do a piece of background work; return True if there is more.

        After a failure, which the log tells, the next `SKIPPED_STEPS_AFTER_FAILURE` calls do nothing.
        """
        if self._service is None or self._steps_to_skip > 0:
            self._steps_to_skip = max(self._steps_to_skip - 1, 0)
            return False
        self._steps_to_skip = SKIPPED_STEPS_AFTER_FAILURE
        with log_and_continue("late work"), suppress(StoreClosed):
            # As an operation: a step may change the embedder, which takes the service's lock alone.
            more = self.run_operation(lambda service: service.run_background_step())
            self._steps_to_skip = 0
            return more
        return False

    def close(self, scope: Scope | None) -> None:
        """End the session of ``scope`` if one is given, then close the service for good; does nothing when not open.

        It waits for no call: what is at work then fails with `StoreClosed`.
        """
        with self._opening:
            service, self._service, self._closed = self._service, None, True
        if service is not None:
            self._close_service(service, scope)
        if self._stop_measuring is not None:
            with log_and_continue("sending the last figures"):
                self._stop_measuring()

    def _close_service(self, service: MemoryService, scope: Scope | None) -> None:
        self._listeners.clear()
        if scope is not None:
            with log_and_continue("ending the session"):
                service.end_session(scope)
        with log_and_continue("closing the store"):
            service.close()
        self._commits.put(None)

    @property
    def is_open(self) -> bool:
        """Whether the service is open at this moment."""
        return self._service is not None

    def behind_seconds(self) -> float:
        """Return how long ago the open store last knew for certain what others wrote; endless where it could not be opened."""
        service = self._service
        if service is None:
            return 0.0 if self._failure is None else math.inf
        try:
            return service.store.behind_seconds()
        except HybridMemoryError:
            return math.inf

    def lag(self) -> Lag | None:
        """Return how far the open store is behind other hubs; None where there can be none, or it is not open."""
        return None if self._service is None else self._service.lag()

    def connections(self) -> Mapping[str, int]:
        """Return what the open store tells of its connections, by their state; nothing where it has none."""
        return {} if self._service is None else self._service.store.connection_counts()

    def report_to(self, telemetry: Telemetry) -> None:
        """Let calls and commits be measured; called before the first one."""
        self.measure, self._on_commit, self._stop_measuring = (
            telemetry.measure,
            telemetry.note_commit,
            telemetry.close,
        )

    def announce(self, namespaces: Iterable[str]) -> None:
        """Tell listeners soon that some namespaces changed otherwise than by a write."""
        for namespace in namespaces:
            self._queue_commit(namespace, frozenset())

    def _warm_up(self, scope: Scope) -> None:
        with log_and_continue("opening the store ahead of the first call"), suppress(StoreClosed):
            self.run(lambda service: service.warm_up(scope))

    def _queue_commit(self, namespace: str, sessions: frozenset[str]) -> None:
        if any(wanted() for _, wanted in list(self._listeners.values())):
            self._commits.put((namespace, sessions))

    def _notify_listeners(self) -> None:
        """Call the listeners of queued commits, in a thread of its own: a listener may wait for an event loop, a writer must not."""
        while (commit := self._commits.get()) is not None:
            for listener, _ in list(self._listeners.values()):
                with log_and_continue("announcing a change"):
                    listener(*commit)


class ClientLimiter:
    """One client's way to the service: at most ``places`` calls at a time, so that a flood of one leaves room for others."""

    def __init__(self, provider: ServiceProvider, places: int) -> None:
        self._provider = provider
        self._limiter = anyio.CapacityLimiter(places)

    async def call(self, work: Callable[[MemoryService], T]) -> T:
        """Run ``work`` with the service in a worker thread, when a place is free, and return what it returns."""
        return await self._provider.call(work, self._limiter)

    def listen(self, listener: CommitListener, wanted: Callable[[], bool]) -> Callable[[], None]:
        """Call ``listener`` soon after each commit; returns what ends that."""
        return self._provider.listen(listener, wanted)


class WorkerPool:
    """Runs blocking work in at most ``threads`` threads at once.

    anyio's own limiter lets the next one start as soon as a caller is cancelled, while the thread still works: a client that
    gives up and asks again would fill the process with threads.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._limiter: anyio.CapacityLimiter | None = None  # made in the event loop, which is not there yet

    @property
    def busy(self) -> int:
        """How many threads are at work or about to be."""
        return 0 if self._limiter is None else int(self._limiter.borrowed_tokens)

    async def run(self, work: Callable[[], T], *limiters: anyio.CapacityLimiter) -> T:
        """Run ``work`` in a thread and return what it returns; it takes a place in each of the ``limiters`` too.

        A cancelled caller does not wait: work that has begun is finished all the same, other work is not begun.
        """
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(self._threads)
        job = _Job(work)
        taken: list[anyio.CapacityLimiter] = []
        try:
            for limiter in (*limiters, self._limiter):
                try:
                    limiter.acquire_on_behalf_of_nowait(job)
                except anyio.WouldBlock:  # waiting costs a round of the event loop even where a place is free
                    await limiter.acquire_on_behalf_of(job)
                taken.append(limiter)
            return await anyio.to_thread.run_sync(job.run, taken, abandon_on_cancel=True)
        finally:
            if job.abandon():
                _release(taken, job)


class _JobState(Enum):
    WAITING = auto()
    RUNNING = auto()
    DONE = auto()
    ABANDONED = auto()


class _Job(Generic[T]):
    """One piece of work, shared by its thread and its caller: whichever ends later releases the places."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._state = _JobState.WAITING
        self._lock = threading.Lock()

    def run(self, taken: Sequence[anyio.CapacityLimiter]) -> T:
        """Do the work, in the thread."""
        with self._lock:
            if self._state is _JobState.ABANDONED:
                raise _Abandoned
            self._state = _JobState.RUNNING
        try:
            return self._work()
        finally:
            with self._lock:
                abandoned, self._state = self._state is _JobState.ABANDONED, _JobState.DONE
            if abandoned:
                with suppress(RuntimeError):  # the event loop has ended, and the limiters with it
                    anyio.from_thread.run_sync(_release, taken, self)

    def abandon(self) -> bool:
        """Note that the caller waits no longer; return True if it has to release the places, False if the thread will."""
        with self._lock:
            running = self._state is _JobState.RUNNING
            self._state = _JobState.ABANDONED
            return not running


class _Abandoned(Exception):
    """The caller went before the work began."""


def open_service(
    home: Path, embedder: str | None, random_source: RandomSource, lock_timeout_seconds: float = 0.0
) -> MemoryService:
    """Open the memory in a folder; blocks, and imports everything heavy. ``embedder`` wins over the store's setting.

    Where another process has the store open, try again for ``lock_timeout_seconds``: a command may just have asked something.

    Raises:
        HybridMemoryError: the store cannot be opened, or a setting is wrong.
    """
    check_address_space()
    library_patches.install_pandas_stub()
    # What the process makes is for its owner alone, the write-ahead log from its first byte on.
    os.umask(0o077)
    from hybrid_memory.settings import limit_threads, store_settings

    limit_threads()
    from hybrid_memory.service.memory_service import MemoryService

    settings = store_settings(home, embedder=embedder)
    begun = time.monotonic()
    while True:
        try:
            return MemoryService.open(home, clock=SystemClock(), random_source=random_source, settings=settings)
        except StoreLocked:
            if time.monotonic() - begun >= lock_timeout_seconds:
                raise
            time.sleep(OPEN_RETRY_SECONDS)


def _release(taken: Sequence[anyio.CapacityLimiter], job: object) -> None:
    for limiter in taken:
        limiter.release_on_behalf_of(job)


def _do_nothing() -> None:
    pass


def _shutting_down() -> StoreClosed:
    return StoreClosed("the memory server is shutting down; start it again")


# A conversation asks again within that; a flush is a write that its next call would wait for.
FLUSH_AFTER_IDLE_SECONDS = 5.0
STEP_INTERVAL_SECONDS = 1.0  # looking for work costs nothing where there is none
STEP_PAUSE_SECONDS = 0.05  # left to clients between two steps while they call


async def flush_recalls_when_idle(provider: ServiceProvider) -> None:
    """Store queued recalls whenever nothing was asked for `FLUSH_AFTER_IDLE_SECONDS`."""
    flushed = 0
    while True:
        before = provider.calls
        await anyio.sleep(FLUSH_AFTER_IDLE_SECONDS)
        if provider.calls == before != flushed:
            flushed = before
            await anyio.to_thread.run_sync(provider.flush_recalls, abandon_on_cancel=True)


async def run_background_work(provider: ServiceProvider) -> None:
    """Give memories their missing vectors and change the embedder, a step at a time while there is more to do.

    A step takes some tens of milliseconds. It looks every `STEP_INTERVAL_SECONDS` whether there is something.
    """
    while True:
        await anyio.sleep(STEP_INTERVAL_SECONDS)
        before = provider.calls
        while await anyio.to_thread.run_sync(provider.run_background_step, abandon_on_cancel=True):
            await anyio.sleep(0 if provider.calls == before else STEP_PAUSE_SECONDS)
            before = provider.calls
