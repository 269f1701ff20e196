"""The page that a person opens with ``inspect``: the hub serves it as long as an ``inspect`` is connected.

The command's connection stays open. It is sent where the page is (`RESULT`), and later why it ended (`RESULT` again). The first one
starts the page's server, each further one gets a token of its own for it; with the last one the server ends, and all tokens and
cookies with it.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.abc
import anyio.to_thread
from pydantic import BaseModel, Field, ValidationError
from starlette.types import ASGIApp

from hybrid_memory.clock import RandomSource
from hybrid_memory.errors import InvalidInput, StoreClosed
from hybrid_memory.ids import new_session
from hybrid_memory.model import Scope
from hybrid_memory_inspector.page.access import Door
from hybrid_memory_inspector.page.app import PageResources, build_page_app, compile_first, warm_up
from hybrid_memory_inspector.page.events import Events
from hybrid_memory_inspector.page.listening import listen_for_page, user_check
from hybrid_memory_inspector.page.passes import Passes
from hybrid_memory_mcp.admin.acting import PERSON_ON_PAGE
from hybrid_memory_mcp.admin.operations import OperationRequest, run_operation
from hybrid_memory_mcp.relay import protocol
from hybrid_memory_mcp.relay.protocol import pack
from hybrid_memory_mcp.runtime.error_log import log_and_continue
from hybrid_memory_mcp.runtime.http_serving import ServingLimits, serve_app
from hybrid_memory_mcp.runtime.provider import ClientLimiter, ServiceProvider
from hybrid_memory_mcp.views.view import zone_named

IDLE, HUB_LEAVES, PAGE_ENDED = "idle", "hub", "page"  # why a page ended

_LARGEST_PORT = 65535
_LOOK_SECONDS = 1.0  # how often it is looked whether a page is open
_PAGE_PLACES = 3  # calls of all pages at once, as of one client
_CONNECTIONS = 256  # a browser opens six, and streams of events of several browsers hold one each
_MAX_HEAD_BYTES = 32 * 1024  # a long question is in the address
_HEAD_SECONDS = 10.0


class InspectRequest(BaseModel):
    """What ``inspect`` asks for: whose memories, in which zone, where to listen, and after how long without a page it ends (0: never).

    ``former`` is an address that is taken if it is free, where none is asked for: that of the page before the hub was another one.
    """

    namespace: str = "default"
    personal: str | None = None
    zone: str | None = None
    host: str | None = Field(default=None, max_length=100)
    port: int = Field(default=0, ge=0, le=_LARGEST_PORT)
    former: tuple[str, int] | None = None
    idle_seconds: float = Field(default=600.0, ge=0)
    path: str = "/"

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> InspectRequest:
        """Return the request of an operation's arguments.

        Raises:
            InvalidInput: it is none.
        """
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            first = error.errors()[0]
            raise InvalidInput(str(first["loc"][0] if first["loc"] else "inspect"), "cannot be used") from None


@dataclass(frozen=True, slots=True)
class Looker:
    """Whose memories a browser shows, and in which zone."""

    namespace: str
    personal: str | None
    zone: str | None


@dataclass(frozen=True)
class _Serving:
    """The server of the page, while it runs: ``ended`` is set when it has ended, ``cancel`` ends it."""

    door: Door[Looker]
    scope: anyio.CancelScope
    ended: anyio.Event


class Inspection:
    """Serves the page to whom ``inspect`` opened it. All methods belong to the hub's event loop.

    ``clients`` describes who is connected to the hub.
    """

    def __init__(
        self,
        home: Path,
        provider: ServiceProvider,
        random_source: RandomSource,
        clients: Callable[[], list[dict[str, Any]]],
    ) -> None:
        self._home = home
        self._provider = provider
        self._random_source = random_source
        self._clients = clients
        self._memory = ClientLimiter(provider, _PAGE_PLACES)
        self._apps: dict[Looker, ASGIApp] = {}
        self._serving: _Serving | None = None
        self._starting = anyio.Lock()
        self._commands = 0
        self._leaving = anyio.Event()

    async def serve(
        self,
        group: anyio.abc.TaskGroup,
        stream: socket.socket,
        given: Mapping[str, Any],
        send: Callable[[bytes], Awaitable[None]],
    ) -> None:
        """Serve one ``inspect`` until it leaves, no page was open for as long as it said, or this hub leaves.

        Raises:
            HybridMemoryError: what it asks for cannot be had, or the store cannot be opened.
        """
        asked = InspectRequest.of(given)
        await anyio.to_thread.run_sync(self._provider.ensure_open)
        self._commands += 1
        try:
            async with self._starting:
                if self._serving is not None and self._serving.scope.cancel_called:
                    await self._serving.ended.wait()
                joined = self._serving is not None
                serving = self._serving or await self._start(group, asked)
                looker = Looker(asked.namespace, asked.personal, asked.zone)
                await self._app(looker)
            address, token = serving.door.address(looker, asked.path)
            told = {"url": address, "origin": serving.door.origin, "joined": joined}
            await send(pack(protocol.RESULT, json.dumps(told).encode()))
            try:
                reason = await self._why_it_ends(stream, serving, asked.idle_seconds)
            finally:
                serving.door.passes.withdraw(token)
            if reason is not None:
                await send(pack(protocol.RESULT, json.dumps({"ended": reason}).encode()))
        finally:
            self._commands -= 1
            if not self._commands and self._serving is not None:
                # The command's connection ends after the server: who typed Ctrl-C finds the page gone when the prompt is back.
                ending = self._serving
                ending.scope.cancel()
                with anyio.CancelScope(shield=True):
                    await ending.ended.wait()

    async def leave(self) -> None:
        """Tell all pages and commands that this hub leaves, and end the server; returns when that has answered what was asked."""
        self._leaving.set()
        serving = self._serving
        if serving is not None:
            serving.door.events.leave("restarting")
            serving.scope.cancel()
            await serving.ended.wait()

    async def _start(self, group: anyio.abc.TaskGroup, asked: InspectRequest) -> _Serving:
        """Begin to serve the page.

        Raises:
            InvalidInput: it cannot listen where it is asked to.
        """
        socket_, host = await anyio.to_thread.run_sync(_listen, asked)
        port = socket_.getsockname()[1]
        first = await self._app(Looker(asked.namespace, asked.personal, asked.zone))
        door: Door[Looker] = Door(
            self._apps.__getitem__,
            first,
            Events(self._memory),
            Passes(anyio.current_time),
            host=host,
            port=port,
        )
        serving = _Serving(door, anyio.CancelScope(), anyio.Event())
        self._serving = serving

        async def run() -> None:
            try:
                with serving.scope, log_and_continue("serving the page"):
                    await _serve_page(door, socket_)
            finally:
                self._serving = None
                serving.ended.set()

        group.start_soon(run)
        return serving

    async def _app(self, looker: Looker) -> ASGIApp:
        """Return the page of somebody's memories; made in a thread, where it has to be."""
        if looker not in self._apps:
            self._apps[looker] = await anyio.to_thread.run_sync(self._build, looker)
        return self._apps[looker]

    def _build(self, looker: Looker) -> ASGIApp:
        session = new_session(self._random_source)  # of its own: what is done on the page is no client's conversation
        scope = Scope(namespace=looker.namespace, personal=looker.personal, session=session, actor=PERSON_ON_PAGE)
        resources = PageResources(
            memory=self._memory,
            scope=scope,
            home=self._home,
            zone=zone_named(looker.zone),
            clients=self._clients,
            operation=self._operate,
        )
        built = build_page_app(resources)
        compile_first()
        threading.Thread(target=self._warm_up, args=(scope,), name="page", daemon=True).start()
        return built

    def _warm_up(self, scope: Scope) -> None:
        """Do what the first question and the first look at a view would else wait for."""
        with log_and_continue("warming up the page"), suppress(StoreClosed):
            self._provider.run(lambda service: service.warm_up(scope))
            warm_up(self._provider.run, scope, self._home)

    async def _operate(self, name: str, arguments: Mapping[str, Any], scope: Scope) -> dict[str, Any]:
        """Do an operation, as a command has it done.

        Raises:
            HybridMemoryError: what the operation says.
        """
        request = OperationRequest(self._provider, self._home, scope, dict(arguments), lambda *_: None, self._clients)
        return await anyio.to_thread.run_sync(run_operation, name, request)

    async def _why_it_ends(self, stream: socket.socket, serving: _Serving, idle_seconds: float) -> str | None:
        """Wait until the page ends for one command; return why, None where the command itself left."""
        found: list[str | None] = []

        async with anyio.create_task_group() as waiting:

            async def wait(what: Callable[[], Awaitable[object]], reason: str | None) -> None:
                await what()
                found.append(reason)
                waiting.cancel_scope.cancel()

            waiting.start_soon(wait, partial(_until_closed, stream), None)
            waiting.start_soon(wait, self._leaving.wait, HUB_LEAVES)
            waiting.start_soon(wait, serving.ended.wait, PAGE_ENDED)
            if idle_seconds:
                waiting.start_soon(wait, partial(_until_unused, serving.door, idle_seconds), IDLE)
        return found[0]


def _listen(asked: InspectRequest) -> tuple[socket.socket, str]:
    """Listen where a person asks to, else where the page was before, else anywhere."""
    if asked.former is not None and asked.host is None and not asked.port:
        try:
            return listen_for_page(*asked.former)
        except InvalidInput:
            pass  # somebody else took it meanwhile
    return listen_for_page(asked.host, asked.port)


async def _serve_page(door: Door[Looker], listening: socket.socket) -> None:
    """Serve the page at a socket, which is closed in the end; runs until cancelled."""
    limits = ServingLimits(
        connections=_CONNECTIONS,
        max_head_bytes=_MAX_HEAD_BYTES,
        head_timeout_seconds=_HEAD_SECONDS,
        may_connect=user_check(listening),
    )
    await serve_app(door, limits, listening)


async def _until_closed(stream: socket.socket) -> None:
    """Return when the other end is closed; it has nothing more to say."""
    while True:
        await anyio.wait_readable(stream)
        try:
            if not stream.recv(1 << 16):
                return
        except BlockingIOError:
            continue
        except OSError:
            return


async def _until_unused(door: Door[Looker], seconds: float) -> None:
    while door.unused_seconds < seconds:  # noqa: ASYNC110 - time passing is no event
        await anyio.sleep(min(_LOOK_SECONDS, seconds))
