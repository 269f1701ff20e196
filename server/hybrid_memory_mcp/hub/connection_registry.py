"""Who is connected to the hub."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hybrid_memory_mcp.hub.client import ClientConnection, ConnectionStats


class ConnectionRegistry:
    """The connections of the moment, oldest first."""

    def __init__(self) -> None:
        self._connections: dict[int, ClientConnection] = {}
        self._others: list[Callable[[], list[dict[str, Any]]]] = []
        self.visitors = 0

    @contextmanager
    def include(self, others: Callable[[], list[dict[str, Any]]]) -> Iterator[None]:
        """Name others too while the body runs, who come to the same memory by another way."""
        self._others.append(others)
        try:
            yield
        finally:
            self._others.remove(others)

    @contextmanager
    def register(self, connection: ClientConnection) -> Iterator[None]:
        """Count a connection in while the body runs."""
        self._connections[id(connection)] = connection
        try:
            yield
        finally:
            del self._connections[id(connection)]

    @contextmanager
    def count_visitor(self) -> Iterator[None]:
        """Count somebody in, relay or command, for whom the hub must stay."""
        self.visitors += 1
        try:
            yield
        finally:
            self.visitors -= 1

    def __iter__(self) -> Iterator[ClientConnection]:
        return iter(list(self._connections.values()))

    def describe(self, namespace: str | None = None) -> list[dict[str, Any]]:
        """Return who is there: all, or those of one namespace."""
        present = [_described(one.stats) for one in self]
        present += [one for others in self._others for one in others()]
        return [one for one in present if namespace in (None, one["namespace"])]


def _described(stats: ConnectionStats) -> dict[str, Any]:
    guest = stats.guest
    return {
        "client": stats.name,
        "pid": guest.pid,
        "version": guest.version,
        "namespace": guest.options.namespace,
        "session": guest.options.session or guest.session,
        "since": stats.since.isoformat(timespec="seconds"),
        "requests": stats.calls,
    }
