"""The ASGI application: checks every request, then lets the SDK serve it in its session.

The steps of a request: `_serve` checks address (Host, Origin), path, token, method and the limit of its token, in this order and
before a byte of the body is read; `_read_and_dispatch` reads the body within limits; `_dispatch` finds the session, by the era of the
protocol that the headers tell; `_serve_with_session` or `_serve_without_session` hands the request to the SDK.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import anyio
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp.types import JSONRPCMessage, JSONRPCRequest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from hybrid_memory.clock import RandomSource
from hybrid_memory_mcp.http.access_tokens import Grant, Tokens
from hybrid_memory_mcp.http.bodies import BodyReader
from hybrid_memory_mcp.http.responses import (
    DATABASE_AWAY,
    LATER,
    LEAVING,
    NO_SESSION,
    SESSION_MISSING,
    UNAUTHORISED,
    Refusal,
    Response,
)
from hybrid_memory_mcp.http.resuming import introduce
from hybrid_memory_mcp.http.session_notes import NOTES, SessionNotes
from hybrid_memory_mcp.http.sessions import HttpSession, HttpSessions
from hybrid_memory_mcp.http.settings import HEALTH, PATH, HttpSettings
from hybrid_memory_mcp.hub.connection_registry import ConnectionRegistry
from hybrid_memory_mcp.mcp_api.sdk import handle_modern_request, lowlevel_server_of
from hybrid_memory_mcp.runtime.error_log import log, log_failure
from hybrid_memory_mcp.runtime.http_bodies import replayed
from hybrid_memory_mcp.runtime.provider import ServiceProvider

BEHIND_SECONDS = 3.0
"""A server whose database has not answered for longer is not well; it is asked several times a second."""

_STALE_CHECK_SECONDS = 1.0  # so long an open stream outlives its token

_METHODS = ("POST", "GET", "DELETE")
_OK = 200
_FIRST_ERROR_STATUS = 400


class HttpApp:
    """Serves MCP on one path to anyone who shows a token; `running` must be entered."""

    def __init__(self, sessions: HttpSessions, tokens: Tokens, settings: HttpSettings, port: int) -> None:
        self.sessions = sessions
        self._tokens = tokens
        self.settings = settings
        self._hosts = settings.hosts(port)
        self._origins = settings.origins(port)
        self._security = _security(settings, port)
        self._bodies = BodyReader(settings)
        self._requests_of_token: Counter[str] = Counter()
        self._leaving = False
        self._resuming = anyio.Lock()

    @property
    def idle(self) -> bool:
        """Whether no request is being served, and nothing is held for one."""
        return not self._requests_of_token and not self._bodies.held and all(one.idle for one in self.sessions)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve while the body runs."""
        async with self.sessions.running(), anyio.create_task_group() as group:
            group.start_soon(self._end_stale_sessions)
            try:
                yield
            finally:
                group.cancel_scope.cancel()

    async def leave(self) -> None:
        """Take nothing new, end streams, and wait a while for what is being answered."""
        self._leaving = True
        await self.sessions.leave()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; whatever happens the client gets an answer, and nobody else notices."""
        if scope["type"] != "http":
            return
        response = Response(send, self.settings.write_timeout_seconds)
        try:
            refusal = await self._serve(scope, receive, response)
            if refusal is not None:
                await response.refuse(refusal)
        except (TimeoutError, OSError):
            log.info("a client was given up that did not read its answer")
        except Exception as error:  # noqa: BLE001 - the last line before the client
            log_failure("a request", error)
            await response.refuse(Refusal(500, "the memory server failed inside; its log says where"))

    async def _serve(self, scope: Scope, receive: Receive, response: Response) -> Refusal | None:
        headers = Headers(scope=scope)
        # (1) The address first: a page of a foreign origin must not learn even whether there is such a path.
        refusal = self._refuse_address(headers)
        if refusal is not None:
            return refusal
        if scope["path"] == HEALTH and scope["method"] in ("GET", "HEAD"):
            return await self._tell_health(response)
        # (2) The token; then path, method and the number of its requests.
        grant = self._grant(headers)
        refusal = self._refuse_request(scope, grant)
        if refusal is not None or grant is None:
            return refusal
        # (3) The body, and the session that it is for.
        with self._count(grant):
            return await self._read_and_dispatch(grant, headers, scope, receive, response)

    async def _tell_health(self, response: Response) -> Refusal | None:
        if self.sessions.behind_seconds() > BEHIND_SECONDS:
            return DATABASE_AWAY
        lag = self.sessions.lag()
        if lag is None:
            await response.empty(204)
        else:
            told = {"behind_seconds": round(lag.seconds, 3), "behind_changes": lag.changes}
            await response.json(200, told)
        return None

    async def _read_and_dispatch(
        self, grant: Grant, headers: Headers, scope: Scope, receive: Receive, response: Response
    ) -> Refusal | None:
        if scope["method"] != "POST":
            return await self._dispatch(grant, None, headers, scope, receive, response)
        with self._bodies.reserve(grant.digest) as reservation:
            body = await self._bodies.read(receive, headers.get("content-length"), reservation)
            if body is None or isinstance(body, Refusal):
                return body
            again = replayed(body.content, receive)
            return await self._dispatch(grant, body.message, headers, scope, again, response)

    async def _dispatch(
        self,
        grant: Grant,
        message: JSONRPCMessage | None,
        headers: Headers,
        scope: Scope,
        receive: Receive,
        response: Response,
    ) -> Refusal | None:
        """Let the right session serve the request, whose protocol's era its version header tells."""
        # From 2026-07-28 on there are no sessions: all requests of one token share one.
        version = headers.get(MCP_PROTOCOL_VERSION_HEADER)
        if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
            session = await self.sessions.shared_session(grant)
            if isinstance(session, Refusal):
                return session
            return await self._serve_without_session(session, message, scope, receive, response)
        # Before that a session id says which session; only `initialize` begins one, and one that fails leaves none behind.
        session_id = headers.get("mcp-session-id")
        begins = session_id is None
        session = (
            await self._begin_session(grant, message)
            if session_id is None
            else await self._session(session_id, grant, message, scope)
        )
        if isinstance(session, Refusal):
            return session
        refusal = await self._serve_with_session(session, message, scope, receive, response)
        if begins and response.status >= _FIRST_ERROR_STATUS:
            self.sessions.remove(session)
        return refusal

    async def _begin_session(self, grant: Grant, message: JSONRPCMessage | None) -> HttpSession | Refusal:
        if not isinstance(message, JSONRPCRequest) or message.method != "initialize":
            return SESSION_MISSING
        return await self.sessions.open_session(grant)

    async def _session(
        self, session_id: str, grant: Grant, message: JSONRPCMessage | None, scope: Scope
    ) -> HttpSession | Refusal:
        """Return the session with an id; one that is over, though its client did not end it, goes on in a new conversation."""
        async with self._resuming:
            found = self.sessions.find_session(session_id, grant)
            if found is not None:
                return found
            begins = isinstance(message, JSONRPCRequest) and message.method == "initialize"
            if begins or not self.sessions.may_resume(session_id, grant):
                return NO_SESSION
            if scope["method"] == "DELETE":
                self.sessions.note_end(session_id)
                return NO_SESSION
            resumed = await self.sessions.open_session(grant, session_id)
            if isinstance(resumed, Refusal):
                return resumed
            subscriptions = self.sessions.subscriptions(session_id)
            if not await introduce(resumed, scope, subscriptions):
                self.sessions.remove(resumed)
                return NO_SESSION
            resumed.missed_news = bool(subscriptions)
            return resumed

    async def _serve_without_session(
        self,
        session: HttpSession,
        message: JSONRPCMessage | None,
        scope: Scope,
        receive: Receive,
        response: Response,
    ) -> Refusal | None:
        listening = isinstance(message, JSONRPCRequest) and message.method == "subscriptions/listen"
        session.count_request(message)
        low = lowlevel_server_of(session.server)
        with session.serving(stream=listening):
            await handle_modern_request(
                low,
                self._security,
                json_response=False,
                lifespan_state=session.state,
                scope=scope,
                receive=receive,
                send=response.send,
            )
        return self._refuse_unanswered(response)

    async def _serve_with_session(
        self,
        session: HttpSession,
        message: JSONRPCMessage | None,
        scope: Scope,
        receive: Receive,
        response: Response,
    ) -> Refusal | None:
        transport = session.transport
        if transport is None:
            return NO_SESSION
        session.count_request(message)
        method = scope["method"]

        async def send(part: Message) -> None:
            accepted = part["type"] == "http.response.start" and part["status"] == _OK
            if accepted and method == "DELETE":
                # Before the answer: a server that is killed right after it must not have forgotten.
                self.sessions.note_end(session.id)
            await response.send(part)
            if accepted and method == "GET":
                self.sessions.tell_missed_news(session)

        with session.serving(stream=method == "GET"):
            await transport.handle_request(scope, receive, send)
        session.missed_news |= method == "GET" and response.status == _OK
        if transport.is_terminated:
            self.sessions.remove(session)
        return self._refuse_unanswered(response)

    def _refuse_unanswered(self, response: Response) -> Refusal | None:
        """Return what to say to a client whose session ended before its answer did."""
        if response.ended:
            return None
        return LEAVING if self._leaving else NO_SESSION

    def _refuse_address(self, headers: Headers) -> Refusal | None:
        """Refuse a page of another origin, and a foreign name that was made to lead here (DNS rebinding)."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return Refusal(421, "this server does not go by that Host; `--allow-host` adds a name")
        if any(origin not in self._origins for origin in headers.getlist("origin")):
            return Refusal(403, "pages of that Origin may not use this server; `--allow-origin` adds one")
        return None

    def _refuse_request(self, scope: Scope, grant: Grant | None) -> Refusal | None:
        if scope["path"] != PATH:
            return Refusal(404, f"there is nothing here; MCP is at {PATH}")
        if grant is None:
            return UNAUTHORISED
        if scope["method"] not in _METHODS:
            return Refusal(405, "use POST, GET or DELETE", headers={"allow": ", ".join(_METHODS)})
        if self._leaving:
            return LEAVING
        if self._requests_of_token[grant.digest] >= self.settings.requests:
            return Refusal(429, f"more than {self.settings.requests} requests of this token at once", headers=LATER)
        return None

    def _grant(self, headers: Headers) -> Grant | None:
        given = headers.getlist("authorization")
        if len(given) != 1:
            return None
        scheme, _, token = given[0].partition(" ")
        return self._tokens.grant_of(token.strip()) if scheme.lower() == "bearer" else None

    @contextmanager
    def _count(self, grant: Grant) -> Iterator[None]:
        self._requests_of_token[grant.digest] += 1
        try:
            yield
        finally:
            self._requests_of_token[grant.digest] -= 1
            if not self._requests_of_token[grant.digest]:
                del self._requests_of_token[grant.digest]

    async def _end_stale_sessions(self) -> None:
        while True:
            await anyio.sleep(_STALE_CHECK_SECONDS)
            self.sessions.end_stale(self._tokens.still_good)


def build_http_app(
    provider: ServiceProvider,
    settings: HttpSettings,
    tokens: Tokens,
    random_source: RandomSource,
    *,
    port: int | None = None,
    registry: ConnectionRegistry | None = None,
    now: Callable[[], float] = anyio.current_time,
) -> HttpApp:
    """Return the application; ``port`` is the one that it is reached at, where that is not the setting's.

    ``registry`` lists the hub's relays: all clients see one another in status. ``now`` is a clock in
    seconds, by which sessions are idle.
    """
    port = settings.port if port is None else port
    security = _security(settings, port)
    notes = SessionNotes(tokens.home / NOTES)
    sessions = HttpSessions(provider, settings, security, random_source, tokens.clock, now, notes, registry)
    return HttpApp(sessions, tokens, settings, port)


def _security(settings: HttpSettings, port: int) -> TransportSecuritySettings:
    """Return the same addresses for the SDK's own check, which would be off for addresses that are not loopback."""
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=sorted(settings.hosts(port)),
        allowed_origins=sorted(settings.origins(port)),
    )
