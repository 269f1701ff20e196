"""A shared/exclusive lock with writer preference. Calls of `MemoryService` share it; a change of the embedder has it exclusively."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class ReadWriteLock:
    """A reentrant shared/exclusive lock: a waiting exclusive holder goes before shared ones that come later."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._sharing = 0  # threads that hold it shared
        self._waiting = 0  # threads that want it exclusively
        self._taken = False  # whether a thread holds it exclusively
        self._this_thread = threading.local()

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Hold the lock alongside other shared holders; a thread that holds it already goes straight on."""
        if getattr(self._this_thread, "holds", False):
            yield
            return
        with self._changed:
            self._changed.wait_for(lambda: not self._waiting and not self._taken)
            self._sharing += 1
        self._this_thread.holds = True
        try:
            yield
        finally:
            self._this_thread.holds = False
            with self._changed:
                self._sharing -= 1
                self._changed.notify_all()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the lock alone, once everybody else has let go; not for a thread that holds it already."""
        with self._changed:
            self._waiting += 1
            try:
                self._changed.wait_for(lambda: not self._sharing and not self._taken)
                self._taken = True
            finally:
                self._waiting -= 1
                self._changed.notify_all()
        self._this_thread.holds = True
        try:
            yield
        finally:
            self._this_thread.holds = False
            with self._changed:
                self._taken = False
                self._changed.notify_all()


class Locked(Protocol):
    """An object with a lock."""

    lock: ReadWriteLock


G = TypeVar("G", bound=Locked)


def shared(method: Callable[Concatenate[G, P], R]) -> Callable[Concatenate[G, P], R]:
    """Run a method under its object's shared lock."""

    @wraps(method)
    def locked(self: G, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self.lock.shared():
            return method(self, *args, **kwargs)

    return locked
