"""Who is connected to the hub: relays, HTTP sessions, and the number of connections for which the hub stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import anyio

if TYPE_CHECKING:
    from hybrid_memory_mcp.hub.client import ClientConnection, ConnectionStats


class ConnectionRegistry:
    """The relays of the moment, oldest first. ``visitors`` counts every open connection, those of commands too."""

    def __init__(self) -> None:
        self._connections: dict[int, ClientConnection] = {}
        self._others: list[Callable[[], list[dict[str, Any]]]] = []
        self.visitors = 0
        self._operations = 0
        self._operation_over = anyio.Event()

    @contextmanager
    def include(self, others: Callable[[], list[dict[str, Any]]]) -> Iterator[None]:
        """Describe others too while the body runs, who come to the same memory over HTTP."""
        self._others.append(others)
        try:
            yield
        finally:
            self._others.remove(others)

    @contextmanager
    def register(self, connection: ClientConnection) -> Iterator[None]:
        """List a relay's connection while the body runs."""
        self._connections[id(connection)] = connection
        try:
            yield
        finally:
            del self._connections[id(connection)]

    @contextmanager
    def count_visitor(self) -> Iterator[None]:
        """Count a connection, of a relay or a command, for which the hub must stay while the body runs."""
        self.visitors += 1
        try:
            yield
        finally:
            self.visitors -= 1

    @contextmanager
    def operation(self) -> Iterator[None]:
        """Count what a command asked for while the body runs."""
        self._operations += 1
        try:
            yield
        finally:
            self._operations -= 1
            self._operation_over.set()

    async def drain_operations(self, timeout_seconds: float) -> None:
        """Wait until no operation is at work, or the time is over."""
        with anyio.move_on_after(timeout_seconds):
            while self._operations:
                self._operation_over = anyio.Event()
                await self._operation_over.wait()

    def __len__(self) -> int:
        return len(self._connections)

    def __iter__(self) -> Iterator[ClientConnection]:
        return iter(list(self._connections.values()))

    def describe(self, namespace: str | None = None) -> list[dict[str, Any]]:
        """Return who is connected, as status shows it: all, or those of one namespace."""
        present = [_description(one.stats) for one in self]
        present += [one for others in self._others for one in others()]
        return [one for one in present if namespace in (None, one["namespace"])]


def _description(stats: ConnectionStats) -> dict[str, Any]:
    client = stats.client
    return {
        "client": stats.name,
        "pid": client.pid,
        "version": client.version,
        "namespace": client.options.namespace,
        "session": client.options.session or client.session,
        "since": stats.since.isoformat(timespec="seconds"),
        "requests": stats.calls,
    }
