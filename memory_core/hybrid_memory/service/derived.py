"""What is made of a store's contents and kept until these change: values of a scope, and parts that extras add to a service."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

if TYPE_CHECKING:
    from hybrid_memory.model import Scope
    from hybrid_memory.service.memory_service import MemoryService
    from hybrid_memory.store.base import Store

T = TypeVar("T")
_MOST_KEPT = 4  # values; each belongs to a scope


class Part(Protocol):
    """Something over a service that keeps what it makes of the store."""

    def forget(self) -> None:
        """Drop everything: the store is no longer the one that it was made of."""
        ...

    def close(self) -> None:
        """Stop working, without waiting; the store is about to be closed."""
        ...


P = TypeVar("P", bound=Part)


class Derived:
    """The derived values and parts of one service; safe in several threads."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._values: dict[tuple[str, ...], tuple[str, Any]] = {}
        self._parts: dict[Callable[[MemoryService], Any], Part] = {}

    def version(self, scope: Scope) -> str:
        """Return what changes whenever something of what a scope reads does."""
        return "-".join(str(self._store.head(one)) for one in scope.namespaces)

    def value(self, scope: Scope, what: str, make: Callable[[], T]) -> T:
        """Return what ``make`` returns, made again only after something of what the scope reads has changed; ``what`` names it."""
        key, version = (what, *scope.namespaces), self.version(scope)
        with self._lock:
            known, value = self._values.pop(key, ("", None))
        if known != version:
            value = make()
        with self._lock:
            self._values[key] = (version, value)
            while len(self._values) > _MOST_KEPT:
                self._values.pop(next(iter(self._values)))
        return cast("T", value)

    def part(self, kind: Callable[[MemoryService], P], service: MemoryService) -> P:
        """Return the part of a kind, made at the first call; it forgets and is closed with the service."""
        with self._lock:
            if kind not in self._parts:
                self._parts[kind] = kind(service)
            return cast("P", self._parts[kind])

    def forget(self) -> None:
        """Drop all values, also those of the parts."""
        with self._lock:
            self._values.clear()
            parts = [*self._parts.values()]
        for one in parts:
            one.forget()

    def close(self) -> None:
        """Close the parts."""
        for one in (*self._parts.values(),):
            one.close()
