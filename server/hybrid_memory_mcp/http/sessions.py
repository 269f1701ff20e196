"""The sessions over HTTP: which MCP server each client speaks to, and when its session ends. Called by ``app.py``.

Up to 2025-11-25 a client begins with ``initialize`` and is known by a session id from then on, which works only with the token
that it began with. Such an id is good for longer than its session: some clients never begin a new one, so whoever brings an id that
this server gave to his token, before a restart or before the session was idle for long, goes on with it in a new conversation, with his
subscriptions, unless he ended it himself (``session_notes.py``). From 2026-07-28 on every request is alone; those of one token
share a session, and with it a conversation.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from hashlib import blake2b
from hmac import compare_digest
from typing import Any
from weakref import WeakValueDictionary

import anyio
import anyio.abc
from mcp.server.runner import serve_loop
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import JSONRPCMessage, JSONRPCRequest

from hybrid_memory.clock import Clock, RandomSource
from hybrid_memory.errors import StoreClosed
from hybrid_memory.ids import new_session
from hybrid_memory.model import Scope
from hybrid_memory.requests import Lag
from hybrid_memory_mcp.http.access_tokens import Grant
from hybrid_memory_mcp.http.responses import FULL, TOO_MANY_SESSIONS, Refusal
from hybrid_memory_mcp.http.session_notes import SessionNotes
from hybrid_memory_mcp.http.settings import HttpSettings
from hybrid_memory_mcp.hub.connection_registry import ConnectionRegistry
from hybrid_memory_mcp.mcp_api.memory_server import UNKNOWN, MemoryServer, client_name_of
from hybrid_memory_mcp.mcp_api.sdk import lowlevel_server_of
from hybrid_memory_mcp.mcp_api.views import Views
from hybrid_memory_mcp.runtime.error_log import log_and_continue, log_failure
from hybrid_memory_mcp.runtime.provider import ClientLimiter, ServiceProvider

_SESSION_ID_BITS = 64  # one half of an id, 16 hex digits; the other half seals them, so that nobody guesses one
_ID_DIGITS = _SESSION_ID_BITS // 4
_SEAL_BYTES = 8
_CLOSE_TIMEOUT_SECONDS = 2.0  # for ending a transport and a conversation: a commit, and a margin for a busy disk
_POLL_SECONDS = 0.02  # only while the server is about to leave
# Methods that ask the memory; a session that made none of them has no conversation to end.
_CALLS = ("tools/call", "resources/read", "prompts/get")


@dataclass(eq=False)
class HttpSession:
    """One client's session. ``transport`` is there for a client of the older protocols; ``state`` once its server runs.

    ``calls`` and ``streams`` are what is being served, ``called`` tells whether the memory was ever asked, ``used_at`` is a time of
    the clock ``now``. ``missed_news`` tells a client that was without a stream for a while, so that its next one begins with news.
    """

    id: str
    grant: Grant
    scope: Scope
    server: MemoryServer
    transport: StreamableHTTPServerTransport | None
    now: Callable[[], float]
    used_at: float
    since: datetime
    name: str = UNKNOWN
    requests: int = 0
    called: bool = False
    missed_news: bool = False
    state: Any = None
    lifetime: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    calls: set[anyio.CancelScope] = field(default_factory=set)
    streams: set[anyio.CancelScope] = field(default_factory=set)

    @property
    def idle(self) -> bool:
        """Whether nothing is being served."""
        return not self.calls and not self.streams

    def count_request(self, message: JSONRPCMessage | None) -> None:
        """Count a request, and remember what the client calls itself."""
        if not isinstance(message, JSONRPCRequest):
            return
        self.requests += 1
        self.called = self.called or message.method in _CALLS
        self.name = client_name_of(message) or self.name

    def describe(self) -> dict[str, Any]:
        """Return who this is, as status shows it."""
        return {
            "client": self.name,
            "token": self.grant.name,
            "namespace": self.grant.namespace,
            "session": self.scope.session,
            "since": self.since.isoformat(timespec="seconds"),
            "requests": self.requests,
        }

    @contextmanager
    def serving(self, *, stream: bool) -> Iterator[None]:
        """Serve a request in the body, which is left when the session ends; a stream lasts as long as the client wants."""
        requests = self.streams if stream else self.calls
        with anyio.CancelScope() as scope:
            requests.add(scope)
            try:
                yield
            finally:
                requests.discard(scope)
                self.used_at = self.now()

    async def tell_subscribers(self) -> None:
        """Tell the client about everything to which it is subscribed."""
        with log_and_continue("announcing what may have changed"):
            await self.server.tell_subscribers()

    def end(self) -> None:
        """End the session and whatever is being served."""
        self.end_streams()
        for scope in list(self.calls):
            scope.cancel()
        self.lifetime.cancel()

    def end_streams(self) -> None:
        """End what would last as long as the client wants."""
        for scope in list(self.streams):
            scope.cancel()


class HttpSessions:
    """All clients over one provider. ``now`` is a clock in seconds, by which a session is idle."""

    def __init__(
        self,
        provider: ServiceProvider,
        settings: HttpSettings,
        security: TransportSecuritySettings,
        random_source: RandomSource,
        clock: Clock,
        now: Callable[[], float],
        notes: SessionNotes,
        registry: ConnectionRegistry | None = None,
    ) -> None:
        self._notes = notes
        self._provider = provider
        self._settings = settings
        self._security = security
        self._random_source = random_source
        self._clock = clock
        self._now = now
        self._registry = ConnectionRegistry() if registry is None else registry
        self._sessions: dict[str, HttpSession] = {}
        self._shared: dict[str, HttpSession] = {}
        self._limiters: WeakValueDictionary[str, ClientLimiter] = WeakValueDictionary()
        self._opening = anyio.Lock()
        self._group: anyio.abc.TaskGroup | None = None

    @property
    def count(self) -> int:
        """How many sessions there are."""
        return len(self._sessions) + len(self._shared)

    def __iter__(self) -> Iterator[HttpSession]:
        return iter([*self._sessions.values(), *self._shared.values()])

    def behind_seconds(self) -> float:
        """Return how long ago the store last knew for certain what others wrote; endless where it could not be opened."""
        return self._provider.behind_seconds()

    def lag(self) -> Lag | None:
        """Return how far the open store is behind other hubs; None where there can be none."""
        return self._provider.lag()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve while the body runs; then every session ends."""
        with self._registry.include(self._describe_all):
            async with self._running_sessions():
                yield

    @asynccontextmanager
    async def _running_sessions(self) -> AsyncIterator[None]:
        async with anyio.create_task_group() as group:
            self._group = group
            try:
                yield
            finally:
                self._group = None
                for session in self:
                    session.end()
        self._sessions.clear()
        self._shared.clear()

    def find_session(self, session_id: str, grant: Grant) -> HttpSession | None:
        """Return the session with an id; None when there is none, or when it is another token's."""
        found = self._sessions.get(session_id)
        return found if found is not None and found.grant == grant else None

    def may_resume(self, session_id: str, grant: Grant) -> bool:
        """Return True if an id is one that this server gave to a token, and whose session is over though its client did not end it."""
        return (
            session_id not in self._sessions
            and not self._notes.is_ended(session_id)
            and compare_digest(session_id.encode(), self._sealed(session_id[:_ID_DIGITS], grant).encode())
        )

    async def open_session(self, grant: Grant, session_id: str | None = None) -> HttpSession | Refusal:
        """Begin a session; if the token has its full number of them, the longest idle one ends. ``session_id`` resumes one that is over."""
        mine = [one for one in self._sessions.values() if one.grant == grant]
        if len(mine) >= self._settings.sessions:
            idle = [one for one in mine if one.idle]
            if not idle:
                return TOO_MANY_SESSIONS
            self.remove(min(idle, key=lambda one: one.used_at))
        if len(self._sessions) >= self._settings.all_sessions:
            return FULL
        return await self._start(self._make_session(grant, lasting=True, session_id=session_id), self._sessions)

    async def shared_session(self, grant: Grant) -> HttpSession | Refusal:
        """Return the session that all requests without a session share which show one token."""
        async with self._opening:
            found = self._shared.get(grant.digest)
            if found is not None and found.grant == grant:
                return found
            return await self._start(self._make_session(grant, lasting=False), self._shared)

    def subscriptions(self, session_id: str) -> tuple[str, ...]:
        """Return to what the client of a session was subscribed when it was over."""
        return self._notes.subscriptions(session_id)

    def note_end(self, session_id: str) -> None:
        """Note that a client ended its session, there or not: its id means nothing from now on."""
        self._notes.note_end(session_id)

    def tell_missed_news(self, session: HttpSession) -> None:
        """Tell a client whose stream of news has just begun what it may have missed while it had none."""
        if session.missed_news and self._group is not None:
            session.missed_news = False
            self._group.start_soon(session.tell_subscribers)

    def remove(self, session: HttpSession) -> None:
        """End one session; whoever has its id may go on with it, unless its end was noted."""
        for known, key in ((self._sessions, session.id), (self._shared, session.grant.digest)):
            if known.get(key) is session:
                del known[key]
        session.end()

    def end_stale(self, still_good: Callable[[Grant], bool]) -> None:
        """End every session that was idle too long, or whose token is not good any more."""
        now = self._now()
        for session in self:
            over = session.idle and now - session.used_at >= self._settings.session_idle_seconds
            if over or not still_good(session.grant):
                self.remove(session)

    async def leave(self) -> None:
        """End every stream at once, and every session when all is answered or the time is over that the settings grant."""
        for session in self:
            session.end_streams()
        with anyio.move_on_after(self._settings.shutdown_timeout_seconds):
            while any(session.calls for session in self):  # noqa: ASYNC110 - of many, any may be the last
                await anyio.sleep(_POLL_SECONDS)
        for session in self:
            session.end()

    def _describe_all(self) -> list[dict[str, Any]]:
        return [one.describe() for one in self]

    def _sealed(self, digits: str, grant: Grant) -> str:
        """Return the session id that begins with some digits: a seal that only this server can make for one token follows."""
        told = f"{digits} {grant.digest}".encode("utf-8", "replace")
        seal = blake2b(told, key=self._settings.state_key, digest_size=_SEAL_BYTES, person=b"session id")
        return digits + seal.hexdigest()

    def _make_session(self, grant: Grant, *, lasting: bool, session_id: str | None = None) -> HttpSession:
        provider, settings = self._provider, self._settings
        scope = Scope(
            namespace=grant.namespace,
            session=new_session(self._random_source),
            agent=grant.agent,
            actor=f"token {grant.name}",
        )
        limiter = self._limiters.get(grant.digest) or ClientLimiter(provider, settings.calls)
        self._limiters[grant.digest] = limiter
        clients = partial(self._registry.describe, grant.namespace)
        views = Views(limiter, scope, settings.zone, self._random_source, settings.prompts, clients=clients)
        # A key for each token: what one client carries for the server means nothing when another brings it.
        key = blake2b(grant.digest.encode("ascii"), key=settings.state_key, digest_size=32).digest()
        server = MemoryServer(limiter, scope, settings.zone, views, state_key=key, measure=provider.measure)
        session_id = session_id or self._sealed(f"{self._random_source.bits(_SESSION_ID_BITS):0{_ID_DIGITS}x}", grant)
        transport = StreamableHTTPServerTransport(session_id, security_settings=self._security) if lasting else None
        if lasting:
            server.on_subscriptions(partial(self._notes.note_subscriptions, session_id))
        return HttpSession(session_id, grant, scope, server, transport, self._now, self._now(), self._clock.now())

    async def _start(self, session: HttpSession, known: dict[str, HttpSession]) -> HttpSession | Refusal:
        if self._group is None:
            return FULL
        known[session.id if session.transport is not None else session.grant.digest] = session
        await self._group.start(self._run, session)
        return session

    async def _run(self, session: HttpSession, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        low = lowlevel_server_of(session.server)
        transport = session.transport
        try:
            async with low.lifespan(low) as state:
                session.state = state
                if transport is None:
                    task_status.started()
                    with session.lifetime:
                        await anyio.sleep_forever()
                else:
                    async with transport.connect() as (reading, writing):
                        task_status.started()
                        with session.lifetime:
                            await serve_loop(low, reading, writing, lifespan_state=state, session_id=session.id)
        except Exception as error:  # noqa: BLE001 - one client's failure is not the others'
            log_failure("serving a client", error)
        finally:
            self.remove(session)
            with anyio.move_on_after(_CLOSE_TIMEOUT_SECONDS, shield=True):
                if transport is not None and not transport.is_terminated:
                    await transport.terminate()
                await self._end_session(session)

    async def _end_session(self, session: HttpSession) -> None:
        """End the conversation in the memory, if there was one."""
        if session.called:
            with log_and_continue("ending the session"), suppress(StoreClosed):
                await self._provider.call(lambda service: service.end_session(session.scope))
