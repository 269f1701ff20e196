"""How an application is served over HTTP at a socket: uvicorn with a strict parser, limits of time and size, and an end that waits.

Used by ``http/server.py`` (MCP) and ``page/server.py`` (the page that a person opens).
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import anyio
import h11
import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from hybrid_memory.errors import InvalidInput
from hybrid_memory_mcp.runtime.http_heads import BAD_REQUEST, TOO_LARGE, head_problem

_BACKLOG = 128  # connections that are not accepted yet
_KEEP_ALIVE_SECONDS = 30  # an idle connection counts against the limit; its client opens another when it needs one


class ServedApp(Protocol):
    """An application that knows when it begins and ends."""

    def running(self) -> AbstractAsyncContextManager[None]:
        """Serve while the body runs."""
        ...

    async def leave(self) -> None:
        """Take nothing new, end streams, and wait a while for what is being answered."""
        ...

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingLimits:
    """What one listening socket bears. ``may_connect`` is asked of each connection that is accepted; where it says no, it is closed."""

    connections: int
    max_head_bytes: int
    head_timeout_seconds: float
    may_connect: Callable[[socket.socket], bool] = lambda _: True


def listen_at(host: str, port: int) -> socket.socket:
    """Return a socket that listens.

    Raises:
        InvalidInput: somebody else listens there, or it is no address of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG, reuse_port=False)
    except OSError as error:
        problem = os.strerror(error.errno) if error.errno else "is not an address"
        raise InvalidInput("port", f"cannot listen there: {problem}; choose another with --host and --port") from None


async def serve_app(
    app: ServedApp, limits: ServingLimits, listening: socket.socket, ready: Callable[[], None] = lambda: None
) -> None:
    """Serve an application at a socket, which is closed in the end; runs until cancelled."""
    server = _Server(_config(app, limits))
    leaving, done = anyio.Event(), anyio.Event()

    async def run() -> None:
        await server.serve(sockets=[listening])
        done.set()
        leaving.set()

    async def serve() -> None:
        # Shielded: whoever ends this must not end with it what is being answered.
        with anyio.CancelScope(shield=True):
            async with app.running(), anyio.create_task_group() as group:
                group.start_soon(run)
                ready()
                await leaving.wait()
                await app.leave()
                server.should_exit = True
                await done.wait()

    async with anyio.create_task_group() as group:
        group.start_soon(serve)
        try:
            await leaving.wait()
        finally:
            leaving.set()


def _config(app: ServedApp, limits: ServingLimits) -> uvicorn.Config:
    class Protocol(_TimeoutProtocol):
        head_timeout_seconds = limits.head_timeout_seconds
        max_head_bytes = limits.max_head_bytes
        may_connect = staticmethod(limits.may_connect)

    logging.getLogger("uvicorn.access").disabled = True
    return uvicorn.Config(
        app,
        http=Protocol,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=limits.connections,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=1,
        h11_max_incomplete_event_size=limits.max_head_bytes,
    )


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers: when to leave is decided outside."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _StrictConnection(h11.Connection):
    """h11's parser behind `head_problem`; ``refused`` is the status of the refusal, which uvicorn's protocol calls 400 always."""

    def __init__(self, limit: int) -> None:
        super().__init__(h11.SERVER, limit)
        self._limit = limit
        self.refused = BAD_REQUEST

    def next_event(self) -> Any:
        """Return what comes next, after a look at a head that is not read yet."""
        if self.their_state is h11.IDLE:
            problem = head_problem(self.trailing_data[0], self._limit)
            if problem is not None:
                self.refused = problem
                raise h11.RemoteProtocolError("refused", error_status_hint=problem)
        return super().next_event()


class _TimeoutProtocol(H11Protocol):
    """uvicorn's protocol, which by itself would wait forever for the head of a request, with a parser that is strict about heads."""

    head_timeout_seconds: float
    max_head_bytes: int
    may_connect: Callable[[socket.socket], bool]
    _waiting: Any = None

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.conn: _StrictConnection = _StrictConnection(self.max_head_bytes)

    def send_400_response(self, msg: str) -> None:
        """Answer what is no request, and end the connection."""
        if self.conn.our_state is not h11.IDLE and self.conn.our_state is not h11.SEND_RESPONSE:
            self.transport.close()  # an answer is on its way already
            return
        del msg
        status = self.conn.refused
        said = b"the head is too large" if status == TOO_LARGE else b"this is no valid HTTP request"
        headers = [
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"content-length", b"%d" % len(said)),
            (b"connection", b"close"),
        ]
        for event in (h11.Response(status_code=status, headers=headers), h11.Data(data=said), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event))
        self.transport.close()

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        stream = transport.get_extra_info("socket")
        if stream is not None and stream.family in (socket.AF_INET, socket.AF_INET6):
            # asyncio does this only where the listening socket names its protocol; without it every answer waits 40 ms.
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if stream is not None and not self.may_connect(stream):
            transport.abort()
            return
        self._wait(self.head_timeout_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        if self._waiting is not None:
            self._waiting.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        self._wait(_KEEP_ALIVE_SECONDS + self.head_timeout_seconds)
        super().on_response_complete()

    def _wait(self, seconds: float) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
        self._waiting = self.loop.call_later(seconds, self._give_up)

    def _give_up(self) -> None:
        current: Any = self.cycle
        if (current is None or current.response_complete) and not self.transport.is_closing():
            self.transport.close()
