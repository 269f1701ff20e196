"""Who opens the memory, when, and in which thread its work is done."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

import anyio

from hybrid_memory.clock import RandomSource, SystemClock
from hybrid_memory.errors import StoreClosed, StoreLocked
from hybrid_memory.model import Scope
from hybrid_memory.rwlock import ReadWriteLock
from hybrid_memory_mcp.runtime import library_patches
from hybrid_memory_mcp.runtime.error_log import log_and_continue
from hybrid_memory_mcp.runtime.workers import WorkerPool

if TYPE_CHECKING:
    from hybrid_memory.service import MemoryService

T = TypeVar("T")


Committed: TypeAlias = Callable[[str, frozenset[str]], None]
"""Called with namespace and touched sessions after a commit, from the thread that wrote."""


class MemoryAccess(Protocol):
    """How a client's server reaches the memory; see `ServiceProvider`."""

    async def call(self, work: Callable[[MemoryService], T]) -> T:
        """Run ``work`` with the service in a worker thread and return what it returns."""
        ...

    def listen(self, callback: Committed, wanted: Callable[[], bool]) -> Callable[[], None]:
        """Call ``callback`` soon after each commit; returns what ends that."""
        ...


CALLS_AT_ONCE = 8
_REST = 60


class ServiceProvider:
    """Opens one service on first use, in a worker thread, and gives it to every call; safe in any thread.

    Opening imports the database engine and reads the store, so it never happens on the event loop. When it fails the
    error goes to the caller, and the next call tries again.
    """

    def __init__(self, open_service: Callable[[], MemoryService], calls_at_once: int = CALLS_AT_ONCE) -> None:
        self._open_service = open_service
        self._opening = threading.Lock()
        self._gate = ReadWriteLock()
        self._service: MemoryService | None = None
        self._closed = False
        self._listeners: dict[object, tuple[Committed, Callable[[], bool]]] = {}
        self._news: queue.SimpleQueue[tuple[str, frozenset[str]] | None] = queue.SimpleQueue()
        self._teller: threading.Thread | None = None
        self.workers = WorkerPool(calls_at_once)
        self._rest = 0
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
        with self._gate.shared():
            return work(self.ensure_open())

    def run_exclusive(self, work: Callable[[], T]) -> T:
        """Close the store, run ``work`` while calls wait, and let the next call open it again; blocks.

        Raises:
            HybridMemoryError: the work failed; `StoreClosed` after `close`.
        """
        with self._gate.exclusive(), self._opening:
            if self._closed:
                raise StoreClosed("the memory server is shutting down; start it again")
            service, self._service = self._service, None
            if service is not None:
                service.close()
            return work()

    def ensure_open(self) -> MemoryService:
        """Return the service, opening it if need be; blocks.

        Raises:
            HybridMemoryError: the store cannot be opened; `StoreClosed` after `close`.
        """
        with self._opening:
            if self._closed:
                raise StoreClosed("the memory server is shutting down; start it again")
            if self._service is None:
                self._service = self._open_service()
                self._service.listen(self._committed)
                if self._teller is None:
                    self._teller = threading.Thread(target=self._tell_news, name="news", daemon=True)
                    self._teller.start()
            return self._service

    def warm_up_in_background(self, scope: Scope) -> None:
        """Begin to open the service in a thread of its own; a failure is left for the first call to report."""
        threading.Thread(target=self._warm, args=(scope,), name="warm-up", daemon=True).start()

    def listen(self, callback: Committed, wanted: Callable[[], bool]) -> Callable[[], None]:
        """Call ``callback`` soon after each commit, in a thread that no writer waits for; returns what ends that.

        A commit while ``wanted`` says no is not told: waking a thread at each write would cost the writer time.
        """
        token = object()
        self._listeners[token] = (callback, wanted)

        def end() -> None:
            self._listeners.pop(token, None)

        return end

    def flush_recalls(self) -> None:
        """Let an open service apply what recalls have queued."""
        with self._gate.shared(), log_and_continue("applying recalls"):
            if self._service is not None:
                self._service.flush_recalls()

    def run_background_step(self) -> bool:
        """Let an open service do a piece of late work; says whether there is more.

        After a failure, which the log tells, the next `_REST` calls do nothing: it would fail again.
        """
        if self._service is None or self._rest > 0:
            self._rest = max(self._rest - 1, 0)
            return False
        self._rest = _REST
        with self._gate.shared(), log_and_continue("late work"), suppress(StoreClosed):
            more = self.ensure_open().run_background_step()
            self._rest = 0
            return more
        return False

    def close(self, scope: Scope | None) -> None:
        """End the session of ``scope`` if one is given, then close the service for good; does nothing when not open."""
        with self._opening:
            service, self._service, self._closed = self._service, None, True
        if service is None:
            return
        self._listeners.clear()
        if scope is not None:
            with log_and_continue("ending the session"):
                service.end_session(scope)
        with log_and_continue("closing the store"):
            service.close()
        self._news.put(None)

    @property
    def is_open(self) -> bool:
        """Whether the service is open at this moment."""
        return self._service is not None

    def announce(self, namespaces: Iterable[str]) -> None:
        """Tell listeners soon that some namespaces changed otherwise than by a write."""
        for namespace in namespaces:
            self._committed(namespace, frozenset())

    def _warm(self, scope: Scope) -> None:
        with log_and_continue("opening the store ahead of the first call"), suppress(StoreClosed):
            self.run(lambda service: service.warm_up(scope))

    def _committed(self, namespace: str, sessions: frozenset[str]) -> None:
        if any(wanted() for _, wanted in list(self._listeners.values())):
            self._news.put((namespace, sessions))

    def _tell_news(self) -> None:
        """A listener may wait for an event loop, so this is no work for the thread that wrote."""
        while (news := self._news.get()) is not None:
            for listener, _ in list(self._listeners.values()):
                with log_and_continue("announcing a change"):
                    listener(*news)


class ClientLimiter:
    """One client's way to the service: at most ``width`` calls at a time, so that a flood of one leaves room for others."""

    def __init__(self, provider: ServiceProvider, width: int) -> None:
        self._provider = provider
        self._limiter = anyio.CapacityLimiter(width)

    async def call(self, work: Callable[[MemoryService], T]) -> T:
        """Run ``work`` with the service in a worker thread, when its turn has come, and return what it returns."""
        return await self._provider.call(work, self._limiter)

    def listen(self, callback: Committed, wanted: Callable[[], bool]) -> Callable[[], None]:
        """Call ``callback`` soon after each commit; returns what ends that."""
        return self._provider.listen(callback, wanted)


_PAUSE = 0.05


def open_service(home: Path, embedder: str | None, random_source: RandomSource, patience: float = 0.0) -> MemoryService:
    """Open the memory in a folder; blocks, and imports everything heavy. ``embedder`` wins over the store's setting.

    Where another process has the store open, that is borne for ``patience`` seconds: a command may just have asked something.

    Raises:
        HybridMemoryError: the store cannot be opened, or a setting is wrong.
    """
    library_patches.install_pandas_stub()
    # What the process makes is for its owner alone, the write-ahead log from its first byte on.
    os.umask(0o077)
    from hybrid_memory.settings import limit_threads, store_settings

    limit_threads()
    from hybrid_memory.service import MemoryService

    settings = store_settings(home, embedder=embedder)
    begun = time.monotonic()
    while True:
        try:
            return MemoryService.open(home, clock=SystemClock(), random_source=random_source, settings=settings)
        except StoreLocked:
            if time.monotonic() - begun >= patience:
                raise
            time.sleep(_PAUSE)
