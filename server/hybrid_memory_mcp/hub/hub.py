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
from hybrid_memory_mcp.hub.admission import admit
from hybrid_memory_mcp.hub.company import Company
from hybrid_memory_mcp.hub.connection import Connection, Presence
from hybrid_memory_mcp.hub.greeting import Guest, Hello, guest_of, read_hello
from hybrid_memory_mcp.hub.ledger import Ledger
from hybrid_memory_mcp.hub.listening import Door
from hybrid_memory_mcp.hub.outbox import frames_of
from hybrid_memory_mcp.mcp_api.memory_server import build_server
from hybrid_memory_mcp.mcp_api.views import Views
from hybrid_memory_mcp.relay import frames
from hybrid_memory_mcp.relay.frames import BrokenFrame, FrameReader, pack
from hybrid_memory_mcp.runtime.background_tasks import flush_recalls_when_idle, run_background_work
from hybrid_memory_mcp.runtime.error_log import UNEXPECTED_FAILURE, location_of, log_and_continue
from hybrid_memory_mcp.runtime.provider import ClientLimiter, ServiceProvider

if TYPE_CHECKING:
    from hybrid_memory.service import MemoryService

DRAINING = 5.0
MAKING_ROOM = 3000

_GREETING = 10.0
_LOOK = 1.0
_ACKNOWLEDGED_EVERY = 256

log = logging.getLogger("hybrid_memory_mcp")


@dataclass(kw_only=True)
class House:
    """What all connections of a hub share. ``limits`` are the settings that say what it bears."""

    home: Path
    provider: ServiceProvider
    clock: Clock
    random_source: RandomSource
    state_key: bytes
    limits: StoreSettings = field(default_factory=StoreSettings)


class Hub:
    """Serves relays, and commands of people, over one store."""

    def __init__(self, house: House) -> None:
        self._house = house
        self.company = Company()
        self._changed = anyio.Event()
        self._leaving = anyio.Event()
        self._pause = 0
        self._at_door = anyio.CancelScope()
        self._group: anyio.abc.TaskGroup

    async def serve(self, door: Door | None, first: socket.socket | None = None, *, stays: bool = False) -> None:
        """Serve whoever comes through the door, and ``first``, until nobody was there for the time to linger.

        ``stays`` lets it go on for ever; cancelling ends it at once.
        """
        async with anyio.create_task_group() as group:
            self._group = group
            group.start_soon(flush_recalls_when_idle, self._house.provider)
            group.start_soon(run_background_work, self._house.provider)
            if door is not None:
                group.start_soon(self._keep_door, door)
            if first is not None:
                group.start_soon(self._greet, first, None)
            if not stays:
                group.start_soon(self._watch)
            await self._leaving.wait()
            self._at_door.cancel()
            async with anyio.create_task_group() as farewell:
                for connection in self.company:
                    farewell.start_soon(connection.drain, DRAINING, self._pause)
            group.cancel_scope.cancel()

    def leave(self, pause: int = 0) -> None:
        """Let what is at work end, and leave; relays may start another hub after ``pause`` milliseconds."""
        self._pause = pause
        self._leaving.set()

    async def _keep_door(self, door: Door) -> None:
        """Let guests in until this hub leaves; look every second whether they still find the door."""
        try:
            with self._at_door:
                await self._let_in_and_look(door)
        finally:
            door.close()

    async def _let_in_and_look(self, door: Door) -> None:
        while True:
            with anyio.move_on_after(_LOOK):
                await self._let_in(door)
            if door.stands:
                continue
            if not door.ours:
                log.warning("the store's folder was removed or replaced; this hub leaves")
                self.leave()
                return
            try:
                door.reopen()
            except OSError as error:
                log.warning("the hub cannot listen any more and leaves: %s", location_of(error))
                self.leave()
                return

    async def _let_in(self, door: Door) -> None:
        listener = door.listener
        listener.settimeout(0)
        while True:
            try:
                await anyio.wait_readable(listener)
                stream, _ = listener.accept()
            except BlockingIOError:
                continue
            except OSError as error:
                log.warning("a connection could not be accepted: %s", location_of(error))
                await anyio.sleep(0.1)
                continue
            self._group.start_soon(self._greet, stream, door)

    async def _watch(self) -> None:
        """Leave when nobody was there for a while."""
        while True:
            self._changed = anyio.Event()
            if self.company.guests:
                await self._changed.wait()
                continue
            with anyio.move_on_after(self._house.limits.linger_seconds):
                await self._changed.wait()
            if not self.company.guests:
                self.leave()
                return

    async def _greet(self, stream: socket.socket, door: Door | None) -> None:
        """Find out who came, and serve."""
        with self.company.visited(), stream:
            self._changed.set()
            try:
                if door is not None and door.token is not None and not await admit(stream, door.token):
                    return
                stream.settimeout(0)
                await self._meet(stream)
            except HybridMemoryError as error:
                await _tell(stream, pack(frames.REFUSED, str(error).encode()))
            except (OSError, BrokenFrame):
                pass
            except Exception as error:  # noqa: BLE001 - one guest must not end the hub
                log.error("a connection failed: %s", location_of(error))  # noqa: TRY400 - a traceback could hold stored text
        self._changed.set()

    async def _meet(self, stream: socket.socket) -> None:
        reader = FrameReader()
        hello: Hello | None = None
        with anyio.move_on_after(_GREETING):
            async for frame in frames_of(stream, reader):
                if frame.kind != frames.HELLO:
                    raise BrokenFrame
                hello = read_hello(frame.payload)
                break
        if hello is None:
            return
        if hello.operation is not None:
            await self._operate(stream, hello)
        elif len(list(self.company)) >= self._house.limits.connections:
            problem = f"{self._house.limits.connections} clients are connected already; close one, or raise the setting connections"
            raise InvalidInput("connections", problem)
        elif _is_newer(hello.version):
            self.leave(MAKING_ROOM)
        else:
            await self._serve_relay(stream, reader, guest_of(hello))

    async def _serve_relay(self, stream: socket.socket, reader: FrameReader, guest: Guest) -> None:
        house, limits = self._house, self._house.limits
        presence = Presence(guest, house.clock.now())
        scope = guest.options.scope(guest.session)
        ledger = Ledger(limits.requests_at_once, limits.requests_waiting)
        connection = Connection(stream, reader, presence, ledger, partial(house.provider.warm_up_in_background, scope))
        limiter = ClientLimiter(house.provider, limits.calls_of_a_client)
        described = partial(self.company.described, scope.namespace)
        views = Views(
            limiter,
            scope,
            guest.options.zone,
            house.random_source,
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
            state_key=house.state_key,
        )
        welcome = json.dumps({"version": __version__}).encode()
        with self.company.joined(connection):
            async with anyio.create_task_group() as group:
                group.start_soon(self._acknowledge, presence)
                await connection.serve(server, welcome)
                group.cancel_scope.cancel()
        if not self._leaving.is_set():
            self._group.start_soon(anyio.to_thread.run_sync, partial(self._part, presence, scope))

    async def _acknowledge(self, presence: Presence) -> None:
        """Forget results of requests that the relay has, a few hundred at a time."""
        done, relay = 0, presence.guest.relay
        while True:
            await anyio.sleep(1)
            if presence.delivered - done >= _ACKNOWLEDGED_EVERY:
                done = presence.delivered
                with log_and_continue("forgetting results"):
                    await self._house.provider.call(partial(_acknowledge, relay, done))

    def _part(self, presence: Presence, scope: Scope) -> None:
        """A relay that left does not come back: end its session, forget its results. One that is here again did not leave."""
        here = any(one.presence.guest.relay == presence.guest.relay for one in self.company)
        if here or not presence.calls or not self._house.provider.is_open:
            return
        with log_and_continue("ending a client's session"):
            self._house.provider.run(partial(_acknowledge, presence.guest.relay, None))
            if is_unnamed_session(scope.session):
                self._house.provider.run(lambda service: service.end_session(scope))

    async def _operate(self, stream: socket.socket, hello: Hello) -> None:
        """Do what a command asked for, telling how far it is."""
        house = self._house
        operation = hello.operation or ""
        if operation == "leave":
            self.leave(int(hello.given.get("pause", 0)))
            await _tell(stream, pack(frames.DONE, b"{}"))
            return
        scope = Scope(namespace=hello.namespace, session="", actor="command line")
        told: list[bytes] = []

        def step(done: int, total: int) -> None:
            told[:] = [pack(frames.STEP, json.dumps({"done": done, "total": total}).encode())]

        async def tell_steps() -> None:
            while True:
                await anyio.sleep(0.1)
                if told:
                    await _tell(stream, told.pop())

        order = OperationRequest(house.provider, house.home, scope, hello.given, step, self.company.described)
        async with anyio.create_task_group() as group:
            group.start_soon(tell_steps)
            answer = await anyio.to_thread.run_sync(_performed, operation, order)
            group.cancel_scope.cancel()
        await _tell(stream, answer)


def _notices(guest: Guest) -> tuple[str, ...]:
    if not guest.unmet:
        return ()
    names = ", ".join(guest.unmet)
    return (
        f"{names} of this client has no effect: the memory was open already. Set it in config.toml for all clients",
    )


def _acknowledge(relay: str, up_to: int | None, service: MemoryService) -> None:
    service.acknowledge(relay, up_to)


def _performed(operation: str, order: OperationRequest) -> bytes:
    try:
        return pack(frames.DONE, json.dumps(run_operation(operation, order), ensure_ascii=False, default=str).encode())
    except HybridMemoryError as error:
        return pack(frames.FAILED, json.dumps({"message": str(error)}).encode())
    except Exception as error:  # noqa: BLE001 - the last line before the command
        log.error("%s failed: %s", operation, location_of(error))  # noqa: TRY400 - a traceback could hold stored text
        return pack(frames.FAILED, json.dumps({"message": UNEXPECTED_FAILURE}).encode())


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
