"""Who is connected to the hub."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hybrid_memory_mcp.hub.connection import Connection, Presence


class Company:
    """The connections of the moment, oldest first."""

    def __init__(self) -> None:
        self._connections: dict[int, Connection] = {}
        self._others: list[Callable[[], list[dict[str, Any]]]] = []
        self.guests = 0

    @contextmanager
    def beside(self, others: Callable[[], list[dict[str, Any]]]) -> Iterator[None]:
        """Name others too while the body runs, who come to the same memory by another way."""
        self._others.append(others)
        try:
            yield
        finally:
            self._others.remove(others)

    @contextmanager
    def joined(self, connection: Connection) -> Iterator[None]:
        """Count a connection in while the body runs."""
        self._connections[id(connection)] = connection
        try:
            yield
        finally:
            del self._connections[id(connection)]

    @contextmanager
    def visited(self) -> Iterator[None]:
        """Count somebody in, relay or command, for whom the hub must stay."""
        self.guests += 1
        try:
            yield
        finally:
            self.guests -= 1

    def __iter__(self) -> Iterator[Connection]:
        return iter(list(self._connections.values()))

    def described(self, namespace: str | None = None) -> list[dict[str, Any]]:
        """Return who is there: all, or those of one namespace."""
        present = [_described(one.presence) for one in self]
        present += [one for others in self._others for one in others()]
        return [one for one in present if namespace in (None, one["namespace"])]


def _described(presence: Presence) -> dict[str, Any]:
    guest = presence.guest
    return {
        "client": presence.name,
        "pid": guest.pid,
        "version": guest.version,
        "namespace": guest.options.namespace,
        "session": guest.options.session or guest.session,
        "since": presence.since.isoformat(timespec="seconds"),
        "requests": presence.calls,
    }
