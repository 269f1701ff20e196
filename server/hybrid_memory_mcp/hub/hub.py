"""The hub of a store: accepts connections, gives each relay an MCP server of its own over the one store, and ends when unused.

Run by ``run.py`` in a process or a thread, and by ``http/server.py`` alongside HTTP. One connection goes these steps:
`_accept_loop` accepts it, `_handle_connection` authenticates it and reads who it is, then `_serve_relay` serves a client's relay
until that leaves, or `_serve_command` does one operation for a command line.
"""

from __future__ import annotations

import gc
import json
import math
import socket
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import anyio
import anyio.abc
import anyio.from_thread
import anyio.to_thread
from anyio.lowlevel import EventLoopToken, current_token

from hybrid_memory.clock import Clock, RandomSource
from hybrid_memory.errors import HybridMemoryError, InvalidInput, SchemaTooNew, error_code
from hybrid_memory.extras import load_extra, names_of_extras
from hybrid_memory.ids import is_unnamed_session, new_session
from hybrid_memory.model import MemoryId, Scope
from hybrid_memory.settings import hook_switches
from hybrid_memory_mcp import __version__
from hybrid_memory_mcp.admin.operations import OPERATIONS, OperationRequest, run_operation
from hybrid_memory_mcp.hooks.asking import OPERATION as HOOK_EVENT
from hybrid_memory_mcp.hooks.tool_calls import EVENTS as TOOL_EVENTS
from hybrid_memory_mcp.hub.connection_registry import ConnectionRegistry
from hybrid_memory_mcp.hub.handshake import (
    ClientInfo,
    Hello,
    authenticate,
    read_client_info,
    read_frames,
    read_hello,
    zone_of,
)
from hybrid_memory_mcp.hub.limits import HubLimits
from hybrid_memory_mcp.hub.listener import HubListener
from hybrid_memory_mcp.hub.store_choice import OtherStore, Settings, StoreChoice, choice_of, settings_of
from hybrid_memory_mcp.relay import protocol
from hybrid_memory_mcp.relay.processes import is_of_this_user
from hybrid_memory_mcp.relay.protocol import BrokenFrame, FrameReader, pack
from hybrid_memory_mcp.runtime.client_place import ClientPlace
from hybrid_memory_mcp.runtime.error_log import failure_text, location_of, log, log_and_continue, log_failure
from hybrid_memory_mcp.runtime.provider import (
    ClientLimiter,
    ServiceProvider,
    flush_recalls_when_idle,
    run_background_work,
)

if TYPE_CHECKING:
    from hybrid_memory.service.memory_service import MemoryService
    from hybrid_memory_mcp.hub.client import ClientConnection, ConnectionStats
    from hybrid_memory_mcp.mcp_api.memory_server import MemoryServer

# For requests at work when the hub leaves; what takes longer the relay asks the next hub again.
DRAIN_TIMEOUT_SECONDS = 5.0
# Nobody is served yet: whoever started this hub is on its way, even where `linger_seconds` is 0. As long as a relay waits
# for a hub that it started (`connecting.START_TIMEOUT_SECONDS`).
FIRST_VISITOR_TIMEOUT_SECONDS = 5.0

# The last copies the file that a hub has, to move it to where the settings now point.
_OF_ANY_STORE = (protocol.LEAVE, protocol.TELL_PROGRAM, "moment")
_OWN_OPERATIONS = frozenset({protocol.LEAVE, protocol.TELL_PROGRAM, HOOK_EVENT, *OPERATIONS})
_LASTING = "hybrid_memory_mcp.hub"  # the entry points of lasting operations
_HELLO_TIMEOUT_SECONDS = 10.0  # a relay says hello at once; a machine under load may take seconds
_LISTENER_CHECK_SECONDS = 1.0  # a removed socket is noticed before a relay gives up after START_TIMEOUT_SECONDS
_ACCEPT_RETRY_SECONDS = 0.1  # accepting fails for want of descriptors: no busy loop until some are free
_ACKNOWLEDGE_CHECK_SECONDS = 1.0  # how often it is looked whether enough results are due; nobody waits for that
_ACKNOWLEDGE_EVERY_LINES = 256  # one transaction deletes the stored results of so many requests
_BRIEF_SECONDS = (
    60.0  # between a hook's brief and the connection of the same client's server, which starts alongside it
)
_BRIEFS_KEPT = 100
_NOTE_SECONDS = (
    2.0  # until a read that nobody asked for goes on though a brief is still being noted: that takes a millisecond
)
_PROGRESS_SECONDS = 0.1  # how often a command hears how far its operation is


@dataclass(kw_only=True)
class HubResources:
    """What all connections of a hub share. ``limits`` say how many clients and requests it takes.

    ``state_key`` (32 bytes) seals what clients carry for the hub between two requests. ``warm_pause_seconds`` is how long after
    a client's first answer the store begins to be opened ahead of its first call. ``store`` is the store that is served, ``settings``
    those of the store when the hub was started, as `settings_of` gives them; None where a command need not have the same.
    """

    home: Path
    provider: ServiceProvider
    clock: Clock
    random_source: RandomSource
    state_key: bytes
    limits: HubLimits = field(default_factory=HubLimits)
    warm_pause_seconds: float = 0.0
    store: StoreChoice = field(default_factory=StoreChoice)
    settings: Settings | None = None


class LastingOperation(Protocol):
    """An operation of an extra whose connection stays open: the object that its entry point makes, one a hub.

    It is made of the store's folder, the provider, the source of random values and a function that describes who is connected. All
    methods belong to the hub's event loop.
    """

    async def serve(
        self,
        group: anyio.abc.TaskGroup,
        stream: socket.socket,
        given: Mapping[str, Any],
        send: Callable[[bytes], Awaitable[None]],
    ) -> None:
        """Serve one command until it leaves or the hub does; ``group`` is the hub's, ``send`` sends the command a frame.

        Raises:
            HybridMemoryError: what it asks for cannot be had; the command is told.
        """
        ...

    async def leave(self) -> None:
        """End what is served, because this hub leaves; return when what was asked is answered."""
        ...


class Hub:
    """Serves relays, and commands of people, over one store.

    The relay in the hub's own process, if there is one, is served first. ``server_of`` makes the MCP server of a client, of the arguments
    of `MemoryServer`.
    """

    def __init__(self, resources: HubResources, server_of: Callable[..., MemoryServer] | None = None) -> None:
        self._server_of = server_of
        self.registry = ConnectionRegistry()
        self._first_place: ClientPlace | None = None
        self._resources = resources
        self._visitors_changed = anyio.Event()
        self._leaving = anyio.Event()
        self._pause_ms = 0
        self._stays = False
        self._served = 0  # visitors who mean the store that is served
        self._greeted = (
            False  # whether anybody has said hello; a process that only looks whether a hub is there does not
        )
        self._accepting = anyio.CancelScope()
        self._first: socket.socket | None = None
        # What hooks gave at the start of conversations, by folder: when, and which memories.
        self._briefed: dict[str, tuple[float, tuple[str, ...]]] = {}
        self._lasting: dict[str, LastingOperation] = {}
        self._group: anyio.abc.TaskGroup

    @property
    def first_scope(self) -> Scope | None:
        """The scope of the relay in the hub's own process, once it is served; None without one."""
        return None if self._first_place is None else self._first_place.scope

    async def serve(
        self, listener: HubListener | None, first: socket.socket | None = None, *, stays: bool = False
    ) -> None:
        """Serve whoever connects to the listener, and ``first``, until nobody was there for ``linger_seconds``.

        ``stays`` lets it go on forever; cancelling ends it at once.
        """
        async with anyio.create_task_group() as group:
            self._group, self._first, self._stays = group, first, stays
            self._resources.provider.on_too_new = partial(_call_in_loop, current_token(), self._refuse)
            # Alongside the calls of clients: recalls that wait to be stored, and late vectors.
            group.start_soon(flush_recalls_when_idle, self._resources.provider)
            group.start_soon(run_background_work, self._resources.provider)
            # Anyone who connects: over the listener, or in this process.
            if listener is not None:
                group.start_soon(self._accept_loop, listener)
                group.start_soon(_watch_loop, listener)
            if first is not None:
                group.start_soon(self._handle_connection, first, None)
            if not stays:
                group.start_soon(self._leave_when_unused)
            await self._leaving.wait()
            # The order of leaving: (1) accept nobody more and remove the socket, so that relays which come now wait for the
            # next hub; (2) let every connection answer what is at work; (3) end. The caller then closes the store and, last,
            # releases the hub's lock, before which no other hub can open the store.
            self._accepting.cancel()
            async with anyio.create_task_group() as draining:
                for connection in self.registry:
                    draining.start_soon(connection.drain, DRAIN_TIMEOUT_SECONDS, self._pause_ms)
                draining.start_soon(self.registry.drain_operations, DRAIN_TIMEOUT_SECONDS)
                for one in self._lasting.values():
                    draining.start_soon(one.leave)
            group.cancel_scope.cancel()

    def leave(self, pause_ms: int = 0) -> None:
        """Let requests at work end, then end; relays may start another hub after ``pause_ms`` milliseconds."""
        self._pause_ms = pause_ms
        self._leaving.set()

    def _refuse(self) -> None:
        """Tell all relays that this program is too old for the store, and leave: while it stays, no newer one can serve them."""
        log.warning("this program is older than the store; the hub leaves")
        for connection in self.registry:
            connection.refuse()
        self.leave()

    # accepting connections

    async def _accept_loop(self, listener: HubListener) -> None:
        """Accept connections until this hub leaves; check every second whether relays still find the socket."""
        try:
            with self._accepting:
                while not self._leaving.is_set():
                    with anyio.move_on_after(_LISTENER_CHECK_SECONDS):
                        await self._accept_connections(listener)
                    self._check_listener(listener)
        finally:
            listener.close()

    def _check_listener(self, listener: HubListener) -> None:
        """Listen again where somebody removed the socket; leave where the folder is another one or cannot be listened in."""
        if listener.is_reachable:
            return
        if not listener.owns_folder:
            # This process has the files of a folder open that nobody can reach any more.
            log.warning("the store's folder was removed or replaced; this hub leaves")
            self.leave()
            return
        try:
            listener.reopen()
        except OSError as error:
            log.warning("the hub cannot listen any more and leaves: %s", location_of(error))
            self.leave()

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
                await anyio.sleep(_ACCEPT_RETRY_SECONDS)
                continue
            self._group.start_soon(self._handle_connection, stream, listener.token)

    async def _leave_when_unused(self) -> None:
        """Leave when nobody was connected for ``linger_seconds``, and not before whoever started this hub had time to come."""
        while True:
            self._visitors_changed = anyio.Event()
            if self.registry.visitors:
                await self._visitors_changed.wait()
                continue
            linger = self._resources.limits.linger_seconds
            if not self._greeted:
                linger = max(linger, FIRST_VISITOR_TIMEOUT_SECONDS)
            with anyio.move_on_after(linger) as waiting:
                await self._visitors_changed.wait()
            # Not when somebody came and went meanwhile: then the time begins again.
            if waiting.cancelled_caught and not self.registry.visitors:
                self.leave()
                return

    # one connection

    async def _handle_connection(self, stream: socket.socket, token: bytes | None) -> None:
        """Find out who connected and serve it; whatever happens here ends this connection alone."""
        with self.registry.count_visitor(), stream:
            self._visitors_changed.set()
            try:
                # Over loopback any user of the machine can connect, so each side proves that it knows the token; of a Unix socket
                # the system knows the user.
                if not (is_of_this_user(stream) if token is None else await authenticate(stream, token)):
                    return
                stream.settimeout(0)
                reader = FrameReader()
                hello = await _read_hello(stream, reader)
                if hello is not None:
                    self._greeted = True
                    await self._serve_visitor(stream, reader, hello)
            except HybridMemoryError as error:
                await _send(stream, pack(protocol.REFUSED, str(error).encode()))
            except (OSError, BrokenFrame):
                pass
            except Exception as error:  # noqa: BLE001 - one connection must not end the hub
                log_failure("a connection", error)
        self._visitors_changed.set()

    async def _serve_visitor(self, stream: socket.socket, reader: FrameReader, hello: Hello) -> None:
        if hello.operation not in _OF_ANY_STORE and await self._makes_room(stream, hello):
            return
        self._served += 1
        try:
            await self._serve_welcome(stream, reader, hello)
        finally:
            self._served -= 1

    async def _serve_welcome(self, stream: socket.socket, reader: FrameReader, hello: Hello) -> None:
        limit = self._resources.limits.connections
        if hello.operation is not None:
            await self._serve_command(stream, hello)
        elif len(self.registry) >= limit:
            problem = f"{limit} clients are connected already; close one, or raise the setting connections"
            raise InvalidInput("connections", problem)
        else:
            await self._serve_relay(stream, reader, read_client_info(hello))

    async def _makes_room(self, stream: socket.socket, hello: Hello) -> bool:
        """Return whether this hub leaves: a visitor means another store, or a command other settings, and nobody else needs this hub.

        Raises:
            OtherStore: others are served.
        """
        wanted, is_needed = choice_of(self._resources.home, hello.environment), self._stays or self._served > 0
        is_other = wanted.digest != self._resources.store.digest
        if is_other and is_needed:
            raise OtherStore(wanted, self._resources.store)
        if not is_other and (is_needed or not self._has_other_settings(hello)):
            return False
        if hello.operation is not None:
            await _send(stream, pack(protocol.LEAVING))
        self.leave()
        return True

    def _has_other_settings(self, hello: Hello) -> bool:
        """Return whether a command has other settings than this hub, which may be one that another command left behind."""
        if hello.operation in (None, HOOK_EVENT) or self._resources.settings is None:
            return False
        return settings_of(self._resources.home, hello.environment) != self._resources.settings

    async def _serve_relay(self, stream: socket.socket, reader: FrameReader, client: ClientInfo) -> None:
        await anyio.to_thread.run_sync(import_serving)
        from hybrid_memory_mcp.hub.client import ClientConnection, ConnectionStats, RequestQueue

        limits = self._resources.limits
        stats = ConnectionStats(client, self._resources.clock.now())
        where = ClientPlace(client.options.scope(client.session), client.place)
        if stream is self._first:
            self._first_place = where
        # The relay's side (frames, queue of requests) and the client's MCP server are made for each other.
        queue = RequestQueue(limits.requests_at_once, limits.requests_waiting)
        connection = ClientConnection(
            stream, reader, stats, queue, lambda: self._group.start_soon(self._warm_up, where), where
        )
        noted = threading.Event()
        server = self._build_server(connection, client, where, noted)
        welcome = json.dumps({"version": __version__}).encode()
        # Serve until the relay or this hub leaves. From the registry status knows it, and `serve` drains it.
        with self.registry.register(connection):
            async with anyio.create_task_group() as group:
                group.start_soon(self._acknowledge_delivered, stats)
                group.start_soon(self._note_earlier_brief, where, client.folder, noted)
                await connection.serve(server, welcome)
                group.cancel_scope.cancel()
        # The connection of a relay that still wants to be served ends only with this hub; otherwise its client is gone.
        if not self._leaving.is_set():
            self._group.start_soon(anyio.to_thread.run_sync, partial(self._forget_relay, stats, where))

    def _build_server(
        self, connection: ClientConnection, client: ClientInfo, where: ClientPlace, noted: threading.Event
    ) -> MemoryServer:
        from hybrid_memory_mcp.mcp_api.memory_server import MemoryServer
        from hybrid_memory_mcp.mcp_api.views import Views

        resources, options = self._resources, client.options
        limiter = ClientLimiter(resources.provider, resources.limits.calls_of_a_client)
        views = Views(
            limiter,
            where,
            options.zone,
            resources.random_source,
            options.prompts,
            clients=partial(self.registry.describe, options.namespace),
            notices=_notices(client),
        )
        return (self._server_of or MemoryServer)(
            limiter,
            where,
            options.zone,
            views,
            request_key_of=connection.request_key_of,
            on_start_of=connection.on_start_of,
            state_key=resources.state_key,
            may_recall=partial(_may_recall, client, resources.home, noted),
            **({} if (measure := resources.provider.measure) is None else {"measure": measure}),
        )

    async def _warm_up(self, where: ClientPlace) -> None:
        """Begin to open the store after a client's first answer, ahead of its first call."""
        await anyio.sleep(self._resources.warm_pause_seconds)
        await where.current()
        self._resources.provider.warm_up_in_background(where.scope)

    async def _acknowledge_delivered(self, stats: ConnectionStats) -> None:
        """Delete the stored results of requests whose answers the relay has; without that they would pile up."""
        done = 0
        while True:
            await anyio.sleep(_ACKNOWLEDGE_CHECK_SECONDS)
            if stats.delivered - done >= _ACKNOWLEDGE_EVERY_LINES:
                done = stats.delivered
                with log_and_continue("forgetting results"):
                    await self._resources.provider.call(partial(_acknowledge, stats.client.relay, done))

    def _forget_relay(self, stats: ConnectionStats, where: ClientPlace) -> None:
        """End the session of a relay that left and delete its stored results: it does not come back. Runs in a thread.

        One that is connected again did not leave: its connection broke.
        """
        here = any(one.stats.client.relay == stats.client.relay for one in self.registry)
        if here or not stats.calls or not self._resources.provider.is_open:
            return
        with log_and_continue("ending a client's session"):
            self._resources.provider.run(partial(_acknowledge, stats.client.relay, None))
            if is_unnamed_session(where.scope.session):
                self._resources.provider.run(lambda service: service.end_session(where.scope))
                if where is self._first_place:
                    self._first_place = None  # whoever hosts this hub need not end it a second time

    # commands

    async def _serve_hook(self, stream: socket.socket, hello: Hello) -> None:
        """Serve an event of a conversation; what a brief gave, the client's own server need not give again, which may connect later."""
        given: dict[str, Any] = {}

        def event() -> dict[str, Any]:
            given.update(_hook_event(self._resources, hello))
            return given

        answer = await anyio.to_thread.run_sync(_answer_frame, HOOK_EVENT, event)
        if given.get("shown") and hello.given.get("event") == "session-start":
            self._briefed[hello.folder] = (anyio.current_time(), tuple(given["shown"]))
            self._briefed = dict(list(self._briefed.items())[-_BRIEFS_KEPT:])
            for one in self.registry:
                if one.where is not None and one.stats.client.folder == hello.folder:
                    await self._note_brief(one.where, hello.folder)
        await _send(stream, answer)  # last: the client may ask its server as soon as the hook has ended
        if hello.given.get("event") == "session-end":
            self._group.start_soon(self._judge_ended, hello)

    async def _judge_ended(self, hello: Hello) -> None:
        """Let an extra judge a conversation that has ended, and stay meanwhile; where this hub has to leave it does not wait."""
        judged = anyio.Event()
        tell = partial(_call_in_loop, current_token(), judged.set)
        # Not one of anyio's threads, for which a process waits at its end: an answer may take a minute.
        threading.Thread(target=_judge_ended, args=(self._resources, hello, tell), name="judge", daemon=True).start()
        with self.registry.count_visitor():
            await judged.wait()
        self._visitors_changed.set()

    async def _note_earlier_brief(self, where: ClientPlace, folder: str | None, noted: threading.Event) -> None:
        """Note the brief that was given before the client connected; its quiet reads wait until that is done."""
        try:
            await self._note_brief(where, folder)
        finally:
            noted.set()

    async def _note_brief(self, where: ClientPlace, folder: str | None) -> None:
        """Let a client's quiet reads leave out what a hook has just given to a conversation in the same folder."""
        begun, ids = self._briefed.get(folder or "", (-math.inf, ()))
        if anyio.current_time() - begun > _BRIEF_SECONDS:
            return
        with log_and_continue("noting a brief"):
            await where.current()
            await self._resources.provider.call(partial(_note_shown, where.scope, ids))

    async def _serve_command(self, stream: socket.socket, hello: Hello) -> None:
        """Do the operation that a command asks for, and tell it how far that is."""
        operation = hello.operation or ""
        if await _is_lasting(operation):
            await self._serve_lasting(stream, hello, operation)
            return
        with self.registry.operation():
            if operation == protocol.TELL_PROGRAM:
                await _send(stream, pack(protocol.RESULT, b"{}", name=protocol.PROGRAM))
            elif operation == protocol.LEAVE:
                await _send(stream, _answer_frame(operation, partial(self._make_room, hello)))
            elif operation == HOOK_EVENT:
                await self._serve_hook(stream, hello)
            else:
                await self._operate(stream, hello, operation)

    def _make_room(self, hello: Hello) -> dict[str, Any]:
        if protocol.is_older(hello.program):
            # Two versions must not end each other in turn, and only the newer one is sure to open the store.
            raise SchemaTooNew("the running hub is newer than this program; upgrade this program")
        self.leave(int(hello.given.get("pause", 0)))
        return {}

    async def _operate(self, stream: socket.socket, hello: Hello, operation: str) -> None:
        session = new_session(
            self._resources.random_source
        )  # of its own: what a command asks is no client's conversation
        scope = Scope(namespace=hello.namespace, session=session, actor="command line")
        latest: list[bytes] = []

        def on_progress(done: int, total: int) -> None:
            latest[:] = [pack(protocol.PROGRESS, json.dumps({"done": done, "total": total}).encode())]

        async def send_progress() -> None:
            while True:
                await anyio.sleep(_PROGRESS_SECONDS)
                if latest:
                    await _send(stream, latest.pop())

        request = OperationRequest(
            self._resources.provider,
            self._resources.home,
            scope,
            hello.given,
            on_progress,
            self.registry.describe,
            zone_of(hello.environment),
        )
        async with anyio.create_task_group() as group:
            group.start_soon(send_progress)
            work = partial(run_operation, operation, request)
            answer = await anyio.to_thread.run_sync(_answer_frame, operation, work)
            group.cancel_scope.cancel()
        await _send(stream, answer)

    async def _serve_lasting(self, stream: socket.socket, hello: Hello, operation: str) -> None:
        """Serve an operation of an extra that lasts as long as its connection."""
        try:
            # Imported in a thread, when it is asked for first: the hub's clients do not wait for it.
            kind = await anyio.to_thread.run_sync(load_extra, _LASTING, operation)
            if operation not in self._lasting:
                its = self._resources
                self._lasting[operation] = kind(its.home, its.provider, its.random_source, self.registry.describe)
            await self._lasting[operation].serve(self._group, stream, hello.given, partial(_send, stream))
        except Exception as error:  # noqa: BLE001 - the last line before the command
            await _send(stream, _failure_frame(operation, error))


async def _is_lasting(operation: str) -> bool:
    """Return whether an operation is one of an extra that lasts; extras are looked for only where it is none of the hub's own."""
    return operation not in _OWN_OPERATIONS and operation in await anyio.to_thread.run_sync(names_of_extras, _LASTING)


def import_serving() -> None:
    """Import what serves an MCP client, which takes longer than all else in a hub: commands do without it."""
    collects = gc.isenabled()
    gc.disable()
    try:
        from hybrid_memory_mcp.hub import client
        from hybrid_memory_mcp.mcp_api import views

        del client, views
        from hybrid_memory_mcp.mcp_api.sdk import disable_sdk_logging

        disable_sdk_logging()
    finally:
        if collects:
            gc.enable()


def _call_in_loop(token: EventLoopToken, work: Callable[[], None]) -> None:
    with suppress(RuntimeError):  # the loop has ended
        anyio.from_thread.run_sync(work, token=token)


async def _watch_loop(listener: HubListener) -> None:
    """Let the heartbeat see, as long as this event loop runs, whether it makes turns."""
    with listener.loop_watch.watching():
        await anyio.sleep_forever()


async def _read_hello(stream: socket.socket, reader: FrameReader) -> Hello | None:
    """Return the first frame of a connection, None when none comes in time."""
    with anyio.move_on_after(_HELLO_TIMEOUT_SECONDS):
        async for frame in read_frames(stream, reader):
            if frame.kind != protocol.HELLO:
                raise BrokenFrame
            return read_hello(frame.payload)
    return None


def _notices(client: ClientInfo) -> tuple[str, ...]:
    if not client.ignored_settings:
        return ()
    names = ", ".join(client.ignored_settings)
    return (
        f"{names} of this client has no effect: the memory was open already. Set it in config.toml for all clients",
    )


def _acknowledge(relay: str, up_to: int | None, service: MemoryService) -> None:
    service.acknowledge(relay, up_to)


def _hook_event(resources: HubResources, hello: Hello) -> dict[str, Any]:
    if hello.given.get("event") in TOOL_EVENTS:
        from hybrid_memory_mcp.hub.tool_events import tool_event  # only where a client has hooks

        return tool_event(resources.provider, resources.home, hello)
    from hybrid_memory_mcp.hub.hook_events import hook_event

    return hook_event(resources.provider, resources.home, hello)


def _judge_ended(resources: HubResources, hello: Hello, tell: Callable[[], None]) -> None:
    from hybrid_memory_mcp.hub.hook_events import judge_ended

    with log_and_continue("judging a conversation"):
        judge_ended(resources.provider, resources.home, hello)
    tell()


def _may_recall(client: ClientInfo, home: Path, noted: threading.Event) -> bool:
    noted.wait(_NOTE_SECONDS)
    return not client.hooks_off and hook_switches(home).recall


def _note_shown(scope: Scope, ids: tuple[str, ...], service: MemoryService) -> None:
    service.note_shown(scope, map(MemoryId, ids))


def _answer_frame(name: str, work: Callable[[], dict[str, Any]]) -> bytes:
    """Do an operation in this thread; return the frame that answers who asked for it."""
    try:
        result = work()
        return pack(protocol.RESULT, json.dumps(result, ensure_ascii=False, default=str).encode())
    except Exception as error:  # noqa: BLE001 - the last line before the command
        return _failure_frame(name, error)


def _failure_frame(name: str, error: Exception) -> bytes:
    """Return the frame that tells a command why something was not done."""
    if isinstance(error, HybridMemoryError):
        return pack(protocol.FAILED, json.dumps({"message": str(error), "code": error_code(error)}).encode())
    log_failure(name, error)
    return pack(protocol.FAILED, json.dumps({"message": failure_text(error)}).encode())


async def _send(stream: socket.socket, frame: bytes) -> None:
    rest = frame
    try:
        while rest:
            await anyio.wait_writable(stream)
            rest = rest[stream.send(rest) :]
    except OSError:
        pass  # who asked is gone
