"""The hub: lets relays in, gives each a server of its own over the one store, and leaves when nobody needs it."""

from __future__ import annotations

import json
import logging
import socket
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.abc
import anyio.to_thread

from hybrid_memory.clock import Clock, RandomSource
from hybrid_memory.errors import HybridMemoryError, InvalidInput
from hybrid_memory.ids import is_unnamed_session
from hybrid_memory.model import Scope
from hybrid_memory.settings import StoreSettings
from hybrid_memory_mcp import __version__
from hybrid_memory_mcp.admin.operations import OperationRequest, run_operation
from hybrid_memory_mcp.hub.client import ClientConnection, ConnectionStats, RequestQueue, read_frames
from hybrid_memory_mcp.hub.connection_registry import ConnectionRegistry
from hybrid_memory_mcp.hub.handshake import ClientInfo, Hello, authenticate, read_client_info, read_hello
from hybrid_memory_mcp.hub.listener import HubListener
from hybrid_memory_mcp.mcp_api.memory_server import build_server
from hybrid_memory_mcp.mcp_api.views import Views
from hybrid_memory_mcp.relay import protocol
from hybrid_memory_mcp.relay.protocol import BrokenFrame, FrameReader, pack
from hybrid_memory_mcp.runtime.background_tasks import flush_recalls_when_idle, run_background_work
from hybrid_memory_mcp.runtime.error_log import UNEXPECTED_FAILURE, location_of, log_and_continue
from hybrid_memory_mcp.runtime.provider import ClientLimiter, ServiceProvider

if TYPE_CHECKING:
    from hybrid_memory.service import MemoryService

DRAIN_TIMEOUT_SECONDS = 5.0
HANDOVER_PAUSE_MS = 3000

_HELLO_TIMEOUT_SECONDS = 10.0
_LOOK = 1.0
_ACKNOWLEDGE_EVERY_LINES = 256

log = logging.getLogger("hybrid_memory_mcp")


@dataclass(kw_only=True)
class HubResources:
    """What all connections of a hub share. ``limits`` are the settings that say what it bears."""

    home: Path
    provider: ServiceProvider
    clock: Clock
    random_source: RandomSource
    state_key: bytes
    limits: StoreSettings = field(default_factory=StoreSettings)


class Hub:
    """Serves relays, and commands of people, over one store."""

    def __init__(self, resources: HubResources) -> None:
        self._resources = resources
        self.registry = ConnectionRegistry()
        self._changed = anyio.Event()
        self._leaving = anyio.Event()
        self._pause = 0
        self._accepting = anyio.CancelScope()
        self._group: anyio.abc.TaskGroup

    async def serve(
        self, listener: HubListener | None, first: socket.socket | None = None, *, stays: bool = False
    ) -> None:
        """Serve whoever connects to the listener, and ``first``, until nobody was there for the time to linger.

        ``stays`` lets it go on for ever; cancelling ends it at once.
        """
        async with anyio.create_task_group() as group:
            self._group = group
            group.start_soon(flush_recalls_when_idle, self._resources.provider)
            group.start_soon(run_background_work, self._resources.provider)
            if listener is not None:
                group.start_soon(self._accept_loop, listener)
            if first is not None:
                group.start_soon(self._greet, first, None)
            if not stays:
                group.start_soon(self._watch)
            await self._leaving.wait()
            self._accepting.cancel()
            async with anyio.create_task_group() as farewell:
                for connection in self.registry:
                    farewell.start_soon(connection.drain, DRAIN_TIMEOUT_SECONDS, self._pause)
            group.cancel_scope.cancel()

    def leave(self, pause: int = 0) -> None:
        """Let what is at work end, and leave; relays may start another hub after ``pause`` milliseconds."""
        self._pause = pause
        self._leaving.set()

    async def _accept_loop(self, listener: HubListener) -> None:
        """Let guests in until this hub leaves; look every second whether they still find the socket."""
        try:
            with self._accepting:
                await self._accept_and_check(listener)
        finally:
            listener.close()

    async def _accept_and_check(self, listener: HubListener) -> None:
        while True:
            with anyio.move_on_after(_LOOK):
                await self._accept_connections(listener)
            if listener.is_reachable:
                continue
            if not listener.owns_folder:
                log.warning("the store's folder was removed or replaced; this hub leaves")
                self.leave()
                return
            try:
                listener.reopen()
            except OSError as error:
                log.warning("the hub cannot listen any more and leaves: %s", location_of(error))
                self.leave()
                return

    async def _accept_connections(self, listener: HubListener) -> None:
        listening = listener.socket
        listening.settimeout(0)
        while True:
            try:
                await anyio.wait_readable(listening)
                stream, _ = listening.accept()
            except BlockingIOError:
                continue
            except OSError as error:
                log.warning("a connection could not be accepted: %s", location_of(error))
                await anyio.sleep(0.1)
                continue
            self._group.start_soon(self._greet, stream, listener)

    async def _watch(self) -> None:
        """Leave when nobody was there for a while."""
        while True:
            self._changed = anyio.Event()
            if self.registry.visitors:
                await self._changed.wait()
                continue
            with anyio.move_on_after(self._resources.limits.linger_seconds):
                await self._changed.wait()
            if not self.registry.visitors:
                self.leave()
                return

    async def _greet(self, stream: socket.socket, listener: HubListener | None) -> None:
        """Find out who came, and serve."""
        with self.registry.count_visitor(), stream:
            self._changed.set()
            try:
                if (
                    listener is not None
                    and listener.token is not None
                    and not await authenticate(stream, listener.token)
                ):
                    return
                stream.settimeout(0)
                await self._handshake(stream)
            except HybridMemoryError as error:
                await _tell(stream, pack(protocol.REFUSED, str(error).encode()))
            except (OSError, BrokenFrame):
                pass
            except Exception as error:  # noqa: BLE001 - one guest must not end the hub
                log.error("a connection failed: %s", location_of(error))  # noqa: TRY400 - a traceback could hold stored text
        self._changed.set()

    async def _handshake(self, stream: socket.socket) -> None:
        reader = FrameReader()
        hello: Hello | None = None
        with anyio.move_on_after(_HELLO_TIMEOUT_SECONDS):
            async for frame in read_frames(stream, reader):
                if frame.kind != protocol.HELLO:
                    raise BrokenFrame
                hello = read_hello(frame.payload)
                break
        if hello is None:
            return
        if hello.operation is not None:
            await self._run_operation(stream, hello)
        elif len(list(self.registry)) >= self._resources.limits.connections:
            problem = f"{self._resources.limits.connections} clients are connected already; close one, or raise the setting connections"
            raise InvalidInput("connections", problem)
        elif _is_newer(hello.version):
            self.leave(HANDOVER_PAUSE_MS)
        else:
            await self._serve_relay(stream, reader, read_client_info(hello))

    async def _serve_relay(self, stream: socket.socket, reader: FrameReader, guest: ClientInfo) -> None:
        resources, limits = self._resources, self._resources.limits
        stats = ConnectionStats(guest, resources.clock.now())
        scope = guest.options.scope(guest.session)
        queue = RequestQueue(limits.requests_at_once, limits.requests_waiting)
        connection = ClientConnection(
            stream, reader, stats, queue, partial(resources.provider.warm_up_in_background, scope)
        )
        limiter = ClientLimiter(resources.provider, limits.calls_of_a_client)
        described = partial(self.registry.describe, scope.namespace)
        views = Views(
            limiter,
            scope,
            guest.options.zone,
            resources.random_source,
            guest.options.prompts,
            clients=described,
            notices=_notices(guest),
        )
        server = build_server(
            limiter,
            scope,
            guest.options.zone,
            views,
            request_key_of=connection.request_key_of,
            on_start_of=connection.on_start_of,
            state_key=resources.state_key,
        )
        welcome = json.dumps({"version": __version__}).encode()
        with self.registry.register(connection):
            async with anyio.create_task_group() as group:
                group.start_soon(self._acknowledge, stats)
                await connection.serve(server, welcome)
                group.cancel_scope.cancel()
        if not self._leaving.is_set():
            self._group.start_soon(anyio.to_thread.run_sync, partial(self._forget_client, stats, scope))

    async def _acknowledge(self, stats: ConnectionStats) -> None:
        """Forget results of requests that the relay has, a few hundred at a time."""
        done, relay = 0, stats.guest.relay
        while True:
            await anyio.sleep(1)
            if stats.delivered - done >= _ACKNOWLEDGE_EVERY_LINES:
                done = stats.delivered
                with log_and_continue("forgetting results"):
                    await self._resources.provider.call(partial(_acknowledge, relay, done))

    def _forget_client(self, stats: ConnectionStats, scope: Scope) -> None:
        """A relay that left does not come back: end its session, forget its results. One that is here again did not leave."""
        here = any(one.stats.guest.relay == stats.guest.relay for one in self.registry)
        if here or not stats.calls or not self._resources.provider.is_open:
            return
        with log_and_continue("ending a client's session"):
            self._resources.provider.run(partial(_acknowledge, stats.guest.relay, None))
            if is_unnamed_session(scope.session):
                self._resources.provider.run(lambda service: service.end_session(scope))

    async def _run_operation(self, stream: socket.socket, hello: Hello) -> None:
        """Do what a command asked for, telling how far it is."""
        resources = self._resources
        operation = hello.operation or ""
        if operation == "leave":
            self.leave(int(hello.given.get("pause", 0)))
            await _tell(stream, pack(protocol.RESULT, b"{}"))
            return
        scope = Scope(namespace=hello.namespace, session="", actor="command line")
        told: list[bytes] = []

        def step(done: int, total: int) -> None:
            told[:] = [pack(protocol.PROGRESS, json.dumps({"done": done, "total": total}).encode())]

        async def tell_steps() -> None:
            while True:
                await anyio.sleep(0.1)
                if told:
                    await _tell(stream, told.pop())

        order = OperationRequest(resources.provider, resources.home, scope, hello.given, step, self.registry.describe)
        async with anyio.create_task_group() as group:
            group.start_soon(tell_steps)
            answer = await anyio.to_thread.run_sync(_performed, operation, order)
            group.cancel_scope.cancel()
        await _tell(stream, answer)


def _notices(guest: ClientInfo) -> tuple[str, ...]:
    if not guest.ignored_settings:
        return ()
    names = ", ".join(guest.ignored_settings)
    return (
        f"{names} of this client has no effect: the memory was open already. Set it in config.toml for all clients",
    )


def _acknowledge(relay: str, up_to: int | None, service: MemoryService) -> None:
    service.acknowledge(relay, up_to)


def _performed(operation: str, order: OperationRequest) -> bytes:
    try:
        return pack(
            protocol.RESULT, json.dumps(run_operation(operation, order), ensure_ascii=False, default=str).encode()
        )
    except HybridMemoryError as error:
        return pack(protocol.FAILED, json.dumps({"message": str(error)}).encode())
    except Exception as error:  # noqa: BLE001 - the last line before the command
        log.error("%s failed: %s", operation, location_of(error))  # noqa: TRY400 - a traceback could hold stored text
        return pack(protocol.FAILED, json.dumps({"message": UNEXPECTED_FAILURE}).encode())


async def _tell(stream: socket.socket, frame: bytes) -> None:
    rest = frame
    try:
        while rest:
            await anyio.wait_writable(stream)
            rest = rest[stream.send(rest) :]
    except OSError:
        pass  # who asked is gone


def _is_newer(version: str) -> bool:
    """Say whether a relay is of a later version than this hub, which then makes room."""
    return _numbers(version) > _numbers(__version__)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
