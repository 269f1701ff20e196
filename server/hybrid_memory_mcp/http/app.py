"""The ASGI application: checks address, token and size of every request, then lets the SDK serve it.

Nothing of a request is believed before its token is, and nothing of its body is read before that.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import anyio
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp.types import JSONRPCMessage, JSONRPCRequest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from hybrid_memory.clock import RandomSource
from hybrid_memory_mcp.http.bodies import BodyReader
from hybrid_memory_mcp.http.responses import (
    LATER,
    LEAVING,
    NO_SESSION,
    SESSION_MISSING,
    UNAUTHORISED,
    Refusal,
    Response,
)
from hybrid_memory_mcp.http.sessions import HttpSession, HttpSessions
from hybrid_memory_mcp.http.settings import HEALTH, PATH, HttpSettings
from hybrid_memory_mcp.hub.connection_registry import ConnectionRegistry
from hybrid_memory_mcp.mcp_api.sdk import handle_modern_request, lowlevel_server_of
from hybrid_memory_mcp.runtime.error_log import location_of
from hybrid_memory_mcp.runtime.provider import ServiceProvider
from hybrid_memory_mcp.tokens import Grant, Tokens

log = logging.getLogger("hybrid_memory_mcp")

LOOK = 1.0

_METHODS = ("POST", "GET", "DELETE")
_WRONG = 400


class HttpApp:
    """Serves MCP on one path to whoever shows a token; `running` must be entered."""

    def __init__(self, connections: HttpSessions, tokens: Tokens, settings: HttpSettings, port: int) -> None:
        self.connections = connections
        self._tokens = tokens
        self.settings = settings
        self._hosts = settings.hosts(port)
        self._origins = settings.origins(port)
        self._security = _security(settings, port)
        self._bodies = BodyReader(settings)
        self._crowd: Counter[str] = Counter()
        self._leaving = False

    @property
    def idle(self) -> bool:
        """Whether no request is being served, and nothing is held for one."""
        return not self._crowd and not self._bodies.held and all(one.idle for one in self.connections)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve while the body runs."""
        async with self.connections.running(), anyio.create_task_group() as group:
            group.start_soon(self._look)
            try:
                yield
            finally:
                group.cancel_scope.cancel()

    async def leave(self) -> None:
        """Take nothing new, end streams, and wait a while for what is being answered."""
        self._leaving = True
        await self.connections.leave()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; whatever happens the client gets an answer, and nobody else notices."""
        if scope["type"] != "http":
            return
        response = Response(send, self.settings.write_patience)
        try:
            refusal = await self._serve(scope, receive, response)
            if refusal is not None:
                await response.refuse(refusal)
        except (TimeoutError, OSError):
            log.info("a client was given up that did not read its answer")
        except Exception as error:  # noqa: BLE001 - the last line before the client
            log.error("a request failed: %s", location_of(error))  # noqa: TRY400 - a traceback could hold stored text
            await response.refuse(Refusal(500, "the memory server failed inside; its log says where"))

    async def _serve(self, scope: Scope, receive: Receive, response: Response) -> Refusal | None:
        headers = Headers(scope=scope)
        refusal = self._wrong_address(headers)
        if refusal is not None:
            return refusal
        if scope["path"] == HEALTH and scope["method"] in ("GET", "HEAD"):
            await response.empty(204)
            return None
        grant = self._grant(headers)
        refusal = self._not_admitted(scope, grant)
        if refusal is not None or grant is None:
            return refusal
        with self._counted(grant):
            return await self._admitted(grant, headers, scope, receive, response)

    async def _admitted(
        self, grant: Grant, headers: Headers, scope: Scope, receive: Receive, response: Response
    ) -> Refusal | None:
        if scope["method"] != "POST":
            return await self._dispatch(grant, None, headers, scope, receive, response)
        with self._bodies.reserve(grant.digest) as reservation:
            body = await self._bodies.read(receive, headers.get("content-length"), reservation)
            if body is None or isinstance(body, Refusal):
                return body
            replayed = body.replayed(receive)
            return await self._dispatch(grant, body.message, headers, scope, replayed, response)

    async def _dispatch(
        self,
        grant: Grant,
        message: JSONRPCMessage | None,
        headers: Headers,
        scope: Scope,
        receive: Receive,
        response: Response,
    ) -> Refusal | None:
        """Let the right connection serve the request, whose protocol's era its version header tells."""
        version = headers.get(MCP_PROTOCOL_VERSION_HEADER)
        if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
            connection = await self.connections.shared(grant)
            if isinstance(connection, Refusal):
                return connection
            return await self._modern(connection, message, scope, receive, response)
        session_id = headers.get("mcp-session-id")
        if session_id is not None:
            found = self.connections.session(session_id, grant)
            return NO_SESSION if found is None else await self._older(found, message, scope, receive, response)
        if not isinstance(message, JSONRPCRequest) or message.method != "initialize":
            return SESSION_MISSING
        connection = await self.connections.open_session(grant)
        if isinstance(connection, Refusal):
            return connection
        refusal = await self._older(connection, message, scope, receive, response)
        if response.status >= _WRONG:
            self.connections.end(connection)
        return refusal

    async def _modern(
        self,
        connection: HttpSession,
        message: JSONRPCMessage | None,
        scope: Scope,
        receive: Receive,
        response: Response,
    ) -> Refusal | None:
        listening = isinstance(message, JSONRPCRequest) and message.method == "subscriptions/listen"
        connection.note(message)
        low = lowlevel_server_of(connection.server)
        with connection.serving(stream=listening):
            await handle_modern_request(
                low,
                self._security,
                json_response=False,
                lifespan_state=connection.state,
                scope=scope,
                receive=receive,
                send=response.send,
            )
        return self._unless_ended(response)

    async def _older(
        self,
        connection: HttpSession,
        message: JSONRPCMessage | None,
        scope: Scope,
        receive: Receive,
        response: Response,
    ) -> Refusal | None:
        transport = connection.transport
        if transport is None:
            return NO_SESSION
        connection.note(message)
        with connection.serving(stream=scope["method"] == "GET"):
            await transport.handle_request(scope, receive, response.send)
        if transport.is_terminated:
            self.connections.end(connection)
        return self._unless_ended(response)

    def _unless_ended(self, response: Response) -> Refusal | None:
        """Return what to say to a client whose stay ended before its answer did."""
        if response.ended:
            return None
        return LEAVING if self._leaving else NO_SESSION

    def _wrong_address(self, headers: Headers) -> Refusal | None:
        """Refuse what was not meant for this server: a page of another origin, or a name that somebody bent to this address."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return Refusal(421, "this server does not go by that Host; `--allow-host` adds a name")
        if any(origin not in self._origins for origin in headers.getlist("origin")):
            return Refusal(403, "pages of that Origin may not use this server; `--allow-origin` adds one")
        return None

    def _not_admitted(self, scope: Scope, grant: Grant | None) -> Refusal | None:
        if scope["path"] != PATH:
            return Refusal(404, f"there is nothing here; MCP is at {PATH}")
        if grant is None:
            return UNAUTHORISED
        if scope["method"] not in _METHODS:
            return Refusal(405, "use POST, GET or DELETE", headers={"allow": ", ".join(_METHODS)})
        if self._leaving:
            return LEAVING
        if self._crowd[grant.digest] >= self.settings.requests:
            return Refusal(429, f"more than {self.settings.requests} requests of this token at once", headers=LATER)
        return None

    def _grant(self, headers: Headers) -> Grant | None:
        given = headers.getlist("authorization")
        if len(given) != 1:
            return None
        scheme, _, token = given[0].partition(" ")
        return self._tokens.grant_of(token.strip()) if scheme.lower() == "bearer" else None

    @contextmanager
    def _counted(self, grant: Grant) -> Iterator[None]:
        self._crowd[grant.digest] += 1
        try:
            yield
        finally:
            self._crowd[grant.digest] -= 1
            if not self._crowd[grant.digest]:
                del self._crowd[grant.digest]

    async def _look(self) -> None:
        while True:
            await anyio.sleep(LOOK)
            self.connections.look(self._tokens.still_good)


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

    ``registry`` are the hub's guests, who see one another in status. ``now`` is a clock in seconds, by which sessions are idle.
    """
    port = settings.port if port is None else port
    security = _security(settings, port)
    connections = HttpSessions(provider, settings, security, random_source, tokens.clock, now, registry)
    return HttpApp(connections, tokens, settings, port)


def _security(settings: HttpSettings, port: int) -> TransportSecuritySettings:
    """Return the same addresses for the SDK's own check, which would be off for addresses that are not loopback."""
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=sorted(settings.hosts(port)),
        allowed_origins=sorted(settings.origins(port)),
    )
