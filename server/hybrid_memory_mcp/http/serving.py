"""Listening: uvicorn with an application of ours, without its signal handlers and logs, and with patience that ends."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import anyio
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from hybrid_memory.clock import RandomSource
from hybrid_memory.errors import InvalidInput
from hybrid_memory_mcp.http.app import HttpApp, build_http_app
from hybrid_memory_mcp.http.settings import PATH, HttpSettings, in_url
from hybrid_memory_mcp.hub.company import Company
from hybrid_memory_mcp.runtime.provider import ServiceProvider
from hybrid_memory_mcp.tokens import Tokens

_BACKLOG = 128
_KEEP_ALIVE = 30


async def serve_http(
    provider: ServiceProvider,
    settings: HttpSettings,
    tokens: Tokens,
    random_source: RandomSource,
    *,
    ready: Callable[[str], None],
    listening: socket.socket | None = None,
    company: Company | None = None,
) -> None:
    """Serve until cancelled; then what is being answered has ``settings.grace`` seconds.

    ``ready`` is told the URL; ``listening`` is a socket that listens already; ``company`` are the guests of the same hub.

    Raises:
        InvalidInput: the address cannot be listened at.
    """
    listening = listening or listen(settings)
    port = listening.getsockname()[1]
    app = build_http_app(provider, settings, tokens, random_source, port=port, company=company)
    await serve_app(app, settings, listening, lambda: ready(f"http://{in_url(settings.host)}:{port}{PATH}"))


async def serve_app(app: HttpApp, settings: HttpSettings, listening: socket.socket, ready: Callable[[], None]) -> None:
    """Serve an application at a socket, which is closed in the end; runs until cancelled."""
    server = _Server(_config(app, settings))
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


def listen(settings: HttpSettings) -> socket.socket:
    """Return a socket that listens at the address of the settings.

    Raises:
        InvalidInput: somebody else listens there, or it is no address of this machine.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family, backlog=_BACKLOG, reuse_port=False)
    except OSError as error:
        problem = os.strerror(error.errno) if error.errno else "is not an address"
        raise InvalidInput("port", f"cannot listen there: {problem}; choose another with --host and --port") from None


def _config(app: HttpApp, settings: HttpSettings) -> uvicorn.Config:
    class Protocol(_Impatient):
        patience = settings.head_patience

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
        limit_concurrency=settings.connections,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=1,
        h11_max_incomplete_event_size=settings.head,
    )


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers: when to leave is decided outside."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _Impatient(H11Protocol):
    """uvicorn's protocol, which by itself would wait for ever for the head of a request."""

    patience: float
    _waiting: Any = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        stream = transport.get_extra_info("socket")
        if stream is not None and stream.family in (socket.AF_INET, socket.AF_INET6):
            # asyncio does this only where the listening socket names its protocol; without it every answer waits 40 ms.
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._wait(self.patience)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        if self._waiting is not None:
            self._waiting.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        self._wait(_KEEP_ALIVE + self.patience)
        super().on_response_complete()

    def _wait(self, seconds: float) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
        self._waiting = self.loop.call_later(seconds, self._give_up)

    def _give_up(self) -> None:
        current: Any = self.cycle
        if (current is None or current.response_complete) and not self.transport.is_closing():
            self.transport.close()
