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
        self._inside = 0
        self._wanting = 0
        self._taken = False
        self._own = threading.local()

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Hold the lock beside other shared holders; a thread that holds it already goes straight on."""
        if getattr(self._own, "inside", False):
            yield
            return
        with self._changed:
            self._changed.wait_for(lambda: not self._wanting and not self._taken)
            self._inside += 1
        self._own.inside = True
        try:
            yield
        finally:
            self._own.inside = False
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold the lock alone, once everybody else has let go; not for a thread that holds it already."""
        with self._changed:
            self._wanting += 1
            try:
                self._changed.wait_for(lambda: not self._inside and not self._taken)
                self._taken = True
            finally:
                self._wanting -= 1
                self._changed.notify_all()
        self._own.inside = True
        try:
            yield
        finally:
            self._own.inside = False
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
    def inside(self: G, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self.lock.shared():
            return method(self, *args, **kwargs)

    return inside
