"""Notifying clients of both protocol eras that the most recent memories changed. `MemoryServer` has a `ChangeNotifier`.

Up to 2025-11-25 a client sends ``resources/subscribe`` and hears on its own connection; from 2026-07-28 on it holds a
``subscriptions/listen`` stream, which the SDK serves from a bus. The news comes from the thread that wrote.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote, unquote

import anyio
import anyio.abc
from anyio.from_thread import BlockingPortal
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourceUpdated, ServerEvent
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, EmptyResult, SubscribeRequestParams, UnsubscribeRequestParams

from hybrid_memory_mcp.mcp_api.sdk import connection_of
from hybrid_memory_mcp.runtime import client_place
from hybrid_memory_mcp.runtime.client_place import ClientPlace
from hybrid_memory_mcp.runtime.error_log import log_and_continue
from hybrid_memory_mcp.runtime.provider import MemoryAccess

RECENT = "memory://most_recent_memories"

MAX_SUBSCRIPTIONS = 1000  # of the clients of one server: a bound for their memory, far above what a client asks for
MAX_URI_LENGTH = 2000  # characters; a session's name has 200, escaped at most nine times as long
# After that a client that does not read loses its subscriptions, so that others hear in time.
NOTIFY_TIMEOUT_SECONDS = 5.0
_SHORTEST_PAUSE_SECONDS = 0.01


def session_uri(session: str) -> str:
    """Return the URI of a session's most recent memories."""
    return f"{RECENT}/{quote(session, safe='')}"


def _nothing() -> None:
    pass


class Bus(InMemorySubscriptionBus):
    """The SDK's bus, which also knows whether there are listeners."""

    def __init__(self) -> None:
        super().__init__()
        self._streams = 0
        self.on_listener: Callable[[], None] = _nothing

    @property
    def has_listeners(self) -> bool:
        """True if there is a stream to publish to."""
        return self._streams > 0

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Register a stream; returns what ends that."""
        end = super().subscribe(listener)
        self._streams += 1
        self.on_listener()
        ended = False

        def unsubscribe() -> None:
            nonlocal ended
            if not ended:
                ended = True
                self._streams -= 1
            end()

        return unsubscribe


class ChangeNotifier:
    """Announces changes of what a client reads to everybody who asked one server.

    Changes that come while an announcement is on its way are announced together afterwards. What a client reads depends on where it is
    at work, and one that only listens makes no call that would look there: so the announcement looks, and somebody does now and then.
    """

    def __init__(self, provider: MemoryAccess, where: ClientPlace) -> None:
        self.bus = Bus()
        self._provider = provider
        self._where = where
        where.on_move(self._moved)
        self._asked = anyio.Event()
        self.bus.on_listener = self._note_asked
        self._watchers: dict[tuple[str, int], tuple[str, ServerSession]] = {}
        self._connections: set[int] = set()
        self.on_subscriptions: Callable[[frozenset[str]], object] = lambda _: None
        self._end: Callable[[], None] | None = None
        self._running: list[tuple[BlockingPortal, anyio.abc.TaskGroup]] = []
        self._lock = threading.Lock()
        self._due: dict[str, set[str]] = {}  # URIs, by the namespace in which they changed

    @asynccontextmanager
    async def running(self, _: object) -> AsyncIterator[None]:
        """Announce while the body runs; a server's lifespan."""
        async with BlockingPortal() as portal, anyio.create_task_group() as group:
            with self._lock:
                self._due.clear()
                self._running.append((portal, group))
                if self._end is None:
                    self._end = self._provider.listen(self._committed, self._wanted)
            if self._where.is_followed:
                group.start_soon(self._follow_place)
            try:
                yield
            finally:
                with self._lock:
                    self._running.remove((portal, group))
                    if not self._running and self._end is not None:
                        self._end()
                        self._end = None
                group.cancel_scope.cancel()
                await portal.stop(cancel_remaining=True)

    async def subscribe(self, ctx: ServerRequestContext[Any, Any], params: SubscribeRequestParams) -> EmptyResult:
        """Serve ``resources/subscribe``; subscribing twice is subscribing once.

        Raises:
            MCPError: too many subscriptions, or an endless URI.
        """
        uri = str(params.uri)
        if len(self._watchers) >= MAX_SUBSCRIPTIONS or len(uri) > MAX_URI_LENGTH:
            raise MCPError(code=INVALID_PARAMS, message="too many subscriptions, or too long a URI")
        connection = connection_of(ctx.session)
        if id(connection) not in self._connections:
            self._connections.add(id(connection))
            connection.exit_stack.callback(self._leave, id(connection))
        self._watchers[unquote(uri), id(connection)] = uri, ctx.session
        self._note_subscriptions()
        self._note_asked()
        return EmptyResult()

    async def unsubscribe(self, ctx: ServerRequestContext[Any, Any], params: UnsubscribeRequestParams) -> EmptyResult:
        """Serve ``resources/unsubscribe``; what was not subscribed is no error."""
        connection = connection_of(ctx.session)
        self._watchers.pop((unquote(str(params.uri)), id(connection)), None)
        self._note_subscriptions()
        return EmptyResult()

    async def announce(self, uris: Iterable[str]) -> None:
        """Tell streams of news about some URIs, changed or not: their client may have missed that."""
        for uri in uris:
            await self.bus.publish(ResourceUpdated(uri=uri))

    async def tell_all(self) -> None:
        """Tell clients of older protocols about everything that they are subscribed to."""
        await self._tell([uri for uri, _ in self._watchers])

    def _note_subscriptions(self) -> None:
        self.on_subscriptions(frozenset(asked for asked, _ in self._watchers.values()))

    def _wanted(self) -> bool:
        return bool(self._watchers) or self.bus.has_listeners

    def _note_asked(self) -> None:
        self._asked.set()

    async def _follow_place(self) -> None:
        """Look now and then where a client is at work that waits for news: it may call nothing, and nobody may write."""
        while True:
            await self._asked.wait()
            while self._wanted():
                with log_and_continue("looking where a client is"):
                    await self._where.current()
                await anyio.sleep(client_place.LOOK_AGAIN_SECONDS or _SHORTEST_PAUSE_SECONDS)
            self._asked = anyio.Event()

    def _committed(self, namespace: str, sessions: frozenset[str]) -> None:
        """Note what a commit changed, and have it announced; runs in the provider's thread of news."""
        if namespace not in self._where.scope.namespaces and not self._where.look_is_due:
            return
        with self._lock:
            portal = self._running[-1][0] if self._running and not self._due else None
            self._due.setdefault(namespace, set()).update({RECENT, *map(session_uri, sessions)})
        if portal is not None:
            try:
                portal.start_task_soon(self._announce)
            except RuntimeError:  # the server is just ending, nobody listens any more
                self._due.clear()

    def _moved(self) -> None:
        """Have all that was asked for announced, since other memories are read than before; runs in the event loop."""
        if not self._wanted():
            return
        with self._lock:
            group = self._running[-1][1] if self._running and not self._due else None
            asked = {uri for uri, _ in self._watchers.values()}
            own = session_uri(self._where.scope.session)
            self._due.setdefault(self._where.scope.namespace, set()).update({RECENT, own, *asked})
        if group is not None:
            group.start_soon(self._announce)

    async def _announce(self) -> None:
        with log_and_continue("looking where a client is"):
            await self._where.current()
        with self._lock:
            changed, self._due = self._due, {}
        namespaces = self._where.scope.namespaces
        due = {uri for namespace, uris in changed.items() if namespace in namespaces for uri in uris}
        with log_and_continue("announcing a change"):
            for uri in sorted(due):
                await self.bus.publish(ResourceUpdated(uri=uri))
            await self._tell(due)

    async def _tell(self, due: Iterable[str]) -> None:
        changed = {unquote(uri) for uri in due}
        for (uri, owner), (asked, session) in list(self._watchers.items()):
            if uri not in changed:
                continue
            told = False
            with anyio.move_on_after(NOTIFY_TIMEOUT_SECONDS):
                try:
                    await session.send_resource_updated(asked)
                    told = True
                except (anyio.ClosedResourceError, anyio.BrokenResourceError, MCPError):
                    told = False
            if not told:
                self._drop(owner)

    def _leave(self, owner: int) -> None:
        self._connections.discard(owner)
        self._drop(owner)

    def _drop(self, owner: int) -> None:
        for key in [key for key in self._watchers if key[1] == owner]:
            del self._watchers[key]
