"""The connection of one relay at the hub: carries its client's lines to an MCP server of its own, and that server's lines back.

`Hub._serve_relay` makes a `ClientConnection` for each relay. The way of a request: `ClientConnection._read_all` takes the frame,
`RequestQueue` says whether it may begin, the SDK's server does it, and `_answer` sends the answer through the `Outbox`. Everything
here runs on the hub's event loop.

When a hub dies, the relay sends to the next one (1) `REPLAY` frames: ``initialize``, ``notifications/initialized`` and
subscriptions, which bring the new server into the state of the old one, and whose answers the client has already;
(2) `RESUBSCRIBE` frames: streams of news, which begin again; (3) `RETRY` frames: requests without an answer. The dead hub may have
committed a write of (3) and not told. The store kept the result with the write, under the key that `request_key_of` makes of
the relay's name and the line's number; the same key comes again here, so the write is answered from there and not done twice.
"""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import Any

import anyio
import anyio.abc
import anyio.from_thread
from mcp.server.mcpserver.context import Context
from mcp.shared.message import SessionMessage
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY
from mcp.types import (
    INVALID_REQUEST,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from hybrid_memory.store.writing import RequestKey
from hybrid_memory_mcp.former_projects import FormerProject, read_former
from hybrid_memory_mcp.hub.client_roots import ClientRoots
from hybrid_memory_mcp.hub.handshake import ClientInfo, read_frames
from hybrid_memory_mcp.mcp_api.jsonrpc import read_line, write_message
from hybrid_memory_mcp.mcp_api.memory_server import UNKNOWN, MemoryServer, client_name_of
from hybrid_memory_mcp.mcp_api.sdk import (
    ContextReceiveStream,
    ContextSendStream,
    create_context_streams,
    lowlevel_server_of,
)
from hybrid_memory_mcp.relay import protocol
from hybrid_memory_mcp.relay.protocol import Frame, FrameReader, Oversized, pack
from hybrid_memory_mcp.runtime.client_place import ClientPlace

DISCOVER = "server/discover"
INITIALIZE = "initialize"
INITIALIZED = "notifications/initialized"
_PROJECT = "notifications/hybrid_memory/project"  # a line of the hub's own for the next one, by way of the relay
CANCELLED = "notifications/cancelled"
SUBSCRIBE = "resources/subscribe"
UNSUBSCRIBE = "resources/unsubscribe"
ROOTS_CHANGED = "notifications/roots/list_changed"
LISTEN = "subscriptions/listen"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"

_INITIALIZE_TIMEOUT_SECONDS = 10.0  # of a replayed handshake; it takes milliseconds, but nothing may wait forever
_GOODBYE_TIMEOUT_SECONDS = 0.5  # for the last frame to a relay that does not read
# Answers beyond that wait in the server, so that a client that does not read costs little.
_MAX_UNSENT_BYTES = 1024 * 1024
_OLDER_THAN_STORE = (
    "this client's program is older than the memory's store: restart {client}. Upgrade the hybrid-memory-mcp that it starts if this "
    "message stays"
)
_FRAMES_A_SEND = 256  # joined before they are sent: one call of the system instead of many


@dataclass(slots=True)
class ConnectionStats:
    """Who is connected, for status. ``calls`` counts the requests so far; lines up to ``delivered`` need no stored result."""

    client: ClientInfo
    since: datetime
    name: str = UNKNOWN
    calls: int = 0
    delivered: int = 0


@dataclass(slots=True, eq=False)
class QueuedRequest:
    """A request: the relay's number of its line (0 for a replayed one), and the ``uri`` of a subscription.

    ``resubscribes`` tells one whose client may have missed news, ``retried`` one that an earlier hub may have begun. ``message``
    is there until it begins.
    """

    number: int
    method: str
    uri: str = ""
    resubscribes: bool = False
    retried: bool = False
    message: JSONRPCRequest | None = None

    @property
    def counts(self) -> bool:
        """Whether it takes a place among the requests at work; one that waits for news or is replayed does not."""
        return self.method != LISTEN and self.number > 0


@dataclass(slots=True)
class RequestQueue:
    """The requests of one connection: those at work, by their ids, and those that wait for a place, first come first served.

    A client may use one id several times at once; such requests are answered in the order in which they came.
    """

    at_once: int
    most_waiting: int
    _by_id: dict[RequestId, deque[QueuedRequest]] = field(default_factory=dict)
    _waiting: deque[QueuedRequest] = field(default_factory=deque)
    _working: int = 0

    def find(self, request_id: RequestId | None) -> QueuedRequest | None:
        """Return the request under an id that came first and is not over."""
        found = None if request_id is None else self._by_id.get(request_id)
        return found[0] if found else None

    def admit(self, message: JSONRPCRequest, request: QueuedRequest) -> bool | None:
        """Note a request. Return True if it may begin at once, False if it waits for a place, None if it is refused."""
        if not request.counts or self._working < self.at_once:
            self._working += request.counts
            self._by_id.setdefault(message.id, deque()).append(request)
            return True
        if len(self._waiting) >= self.most_waiting:
            return None
        request.message = message
        self._by_id.setdefault(message.id, deque()).append(request)
        self._waiting.append(request)
        return False

    def finish(self, request_id: RequestId) -> tuple[QueuedRequest | None, JSONRPCRequest | None]:
        """Note that a request is over. Return it, and the message of one that may begin in its place."""
        same_id = self._by_id.get(request_id)
        if not same_id:
            return None, None
        request = same_id.popleft()
        if not same_id:
            del self._by_id[request_id]
        if request.message is not None:
            self._waiting.remove(request)
            return request, None
        self._working -= request.counts
        if not self._waiting or self._working >= self.at_once:
            return request, None
        self._working += 1
        following = self._waiting.popleft()
        message, following.message = following.message, None
        return request, message

    @property
    def busy(self) -> bool:
        """Whether a request is at work, those aside that wait for news."""
        return self._working > 0


class Outbox:
    """Sends frames to one relay in order. Small ones never wait; `put_waiting` waits while a megabyte is unsent already."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._unsent: deque[bytes] = deque()
        self._unsent_bytes = 0
        self._filled = anyio.Event()
        self._emptied = anyio.Event()
        self._writing = False

    def put(self, frame: bytes) -> None:
        """Send a frame now if nothing waits before it, else in its turn."""
        if not self._unsent and not self._writing:
            frame = self._send_now(frame)
            if not frame:
                return
        self._unsent.append(frame)
        self._unsent_bytes += len(frame)
        self._filled.set()

    async def put_waiting(self, frame: bytes) -> None:
        """Send a frame when there is room."""
        while self._unsent_bytes > _MAX_UNSENT_BYTES:
            await self._wait_for_progress()
        self.put(frame)

    async def write_all(self) -> None:
        """Send what waits, until cancelled.

        Raises:
            OSError: the other side is gone.
        """
        while True:
            while not self._unsent:
                self._filled = anyio.Event()
                await self._filled.wait()
            count = min(len(self._unsent), _FRAMES_A_SEND)
            rest = b"".join(self._unsent.popleft() for _ in range(count))
            self._writing = True
            try:
                while rest:
                    await anyio.wait_writable(self._connection)
                    sent = self._connection.send(rest)
                    self._unsent_bytes -= sent
                    rest = rest[sent:]
            finally:
                self._writing = False
            self._emptied.set()

    async def flush(self) -> None:
        """Wait until everything is sent."""
        while self._unsent or self._writing:
            await self._wait_for_progress()

    async def _wait_for_progress(self) -> None:
        # Several tasks may wait for the same event, so it is replaced only when it is used up.
        if self._emptied.is_set():
            self._emptied = anyio.Event()
        await self._emptied.wait()

    def _send_now(self, frame: bytes) -> bytes:
        """Send what the socket takes at once; return the rest."""
        try:
            return frame[self._connection.send(frame) :]
        except BlockingIOError:
            return frame
        except OSError:
            return b""  # the reader finds out that the other side is gone


class ClientConnection:
    """Serves one relay until it leaves; `drain` lets what is at work end and takes nothing new."""

    def __init__(
        self,
        stream: socket.socket,
        reader: FrameReader,
        stats: ConnectionStats,
        queue: RequestQueue,
        on_first_answer: Callable[[], object],
        where: ClientPlace | None = None,
    ) -> None:
        """Make a connection; ``on_first_answer`` is called once, after the first answer. ``where`` is told the client's roots."""
        self.stats = stats
        self.where = where
        self._roots = None if where is None else ClientRoots(where, self.stats.client.connection)
        if where is not None:
            where.on_project(self._hand_over)
        self._on_first_answer: Callable[[], object] | None = on_first_answer
        self._stream = stream
        self._frames = reader
        self._outbox = Outbox(stream)
        self._queue = queue
        self._reading = anyio.CancelScope()
        self._request_over = anyio.Event()
        self._muted = False
        self._initialized = anyio.Event()
        self._only_asked = False
        self._to_server: ContextSendStream[SessionMessage | Exception]
        self._streams: list[ContextSendStream[Any] | ContextReceiveStream[Any]] = []
        self._server: MemoryServer
        self._group: anyio.abc.TaskGroup

    def request_key_of(self, context: Context[Any, Any]) -> RequestKey | None:
        """Return the key under which the store keeps a request's result until the relay has the answer."""
        request = self._queue.find(context.request_context.request_id)
        return RequestKey(self.stats.client.relay, request.number) if request and request.number else None

    def on_start_of(self, context: Context[Any, Any]) -> Callable[[], None] | None:
        """Return what tells the relay that work on a retried request begins; it is called in the worker thread.

        The relay counts that as an attempt: what three hubs died of it does not send to a fourth.
        """
        request = self._queue.find(context.request_context.request_id)
        if request is None or not request.retried:
            return None
        frame = pack(protocol.WORK_STARTED, b"", request.number)
        return lambda: anyio.from_thread.run_sync(self._outbox.put, frame)

    async def serve(self, server: MemoryServer, welcome: bytes) -> None:
        """Serve until the relay leaves or the surrounding scope is cancelled."""
        self._server = server
        self._outbox.put(pack(protocol.WELCOME, welcome, name=protocol.PROGRAM))
        try:
            async with anyio.create_task_group() as group:
                self._group = group
                group.start_soon(self._outbox.write_all)
                self._start_server()
                # Read the relay in this task.
                with self._reading:
                    await self._read_all()
                if self._reading.cancelled_caught:
                    # `drain` has ended the reading; it needs the tasks above until the hub ends them all.
                    await anyio.sleep_forever()
                # The relay is gone: nobody reads what the server says while it is cancelled.
                self._muted = True
                group.cancel_scope.cancel()
        except* (OSError, protocol.BrokenFrame):
            pass
        finally:
            for stream in self._streams:
                stream.close()

    def _start_server(self) -> None:
        """Run the SDK's server on a pair of streams in memory. Without a buffer: who gives it a message waits until it is taken."""
        self._to_server, incoming = create_context_streams[SessionMessage | Exception](0)
        outgoing, from_server = create_context_streams[SessionMessage](0)
        self._streams += [self._to_server, incoming, outgoing]
        low = lowlevel_server_of(self._server)
        self._group.start_soon(self._write_all, from_server)
        self._group.start_soon(low.run, incoming, outgoing, low.create_initialization_options())

    def _note_era(self, method: str) -> None:
        """Let a client that has only asked what the server can begin with the older handshake all the same.

        The SDK decides by the first request, and `server/discover` is of the newer protocol. A client that had no answer for a
        second, as from a server that has to start first, takes it for an older one and sends ``initialize`` on the same connection.
        """
        if method == INITIALIZE and self._only_asked:
            self._start_server()
        self._only_asked = method == DISCOVER and (self._only_asked or self.stats.calls <= 1)

    def refuse(self) -> None:
        """Tell the relay that this program cannot open the store; it answers what waits, and asks again when its client does."""
        self._muted = True
        client = "it" if self.stats.name == UNKNOWN else self.stats.name
        self._outbox.put(pack(protocol.REFUSED, _OLDER_THAN_STORE.format(client=client).encode()))

    async def drain(self, timeout_seconds: float, pause_ms: int) -> None:
        """Take no more lines and wait until what is at work is answered; the relay may start another hub after ``pause_ms``.

        Lines that are not answered by then, and those that the relay sends meanwhile, go to the next hub.
        """
        self._reading.cancel()
        with anyio.move_on_after(timeout_seconds):
            while self._queue.busy and not self._muted:
                self._request_over = anyio.Event()
                await self._request_over.wait()
            await self._outbox.flush()
        self._muted = True
        # Also to a relay whose answers took too long: it must not start a hub before whoever asked for this one's place.
        self._outbox.put(pack(protocol.LEAVING, b"", pause_ms))
        with anyio.move_on_after(_GOODBYE_TIMEOUT_SECONDS):
            await self._outbox.flush()

    # from the relay

    async def _read_all(self) -> None:
        async for frame in read_frames(self._stream, self._frames):
            if frame.kind == protocol.DELIVERED:
                self.stats.delivered = max(self.stats.delivered, frame.number)
            elif frame.kind == protocol.REPLAY:
                await self._take_replayed(frame)
            elif frame.kind in (protocol.LINE, protocol.RETRY, protocol.RESUBSCRIBE, protocol.OVERSIZED_LINE):
                await self._take_line(frame)

    async def _take_line(self, frame: Frame) -> None:
        """Take a line of the client."""
        read = read_line(_oversized(frame) if frame.kind == protocol.OVERSIZED_LINE else frame.payload)
        if read is None:
            self._send_no_answer(frame.number)
        elif isinstance(read, JSONRPCError):
            self._outbox.put(pack(protocol.ANSWER, write_message(read), frame.number))
        elif isinstance(read.message, JSONRPCRequest):
            await self._take_request(read.message, frame)
        elif isinstance(read.message, JSONRPCNotification):
            await self._take_notification(read.message, frame.number)
        else:
            await self._take_client_answer(read.message, frame.number)

    async def _take_request(self, message: JSONRPCRequest, frame: Frame) -> None:
        self.stats.calls += 1
        self._note_client_name(message)
        # At once, later, or refused: a client has so many places at work and so many that wait.
        request = _queued_request(message, frame.number, frame.kind)
        begins = self._queue.admit(message, request)
        if begins is None:
            problem = f"too many requests at once: {self._queue.most_waiting} wait already; wait for their answers"
            refusal = JSONRPCError(jsonrpc="2.0", id=message.id, error=ErrorData(code=INVALID_REQUEST, message=problem))
            self._outbox.put(pack(protocol.ANSWER, write_message(refusal), frame.number))
            return
        if message.method == INITIALIZE:
            self._note_roots_capability(message)
            # Before its answer: a hub that dies right after the answer must not take the handshake with it.
            self._outbox.put(pack(protocol.REMEMBER_LINE, b"", frame.number, INITIALIZE))
        if begins:
            self._note_era(message.method)
            await self._to_server.send(SessionMessage(message))

    async def _take_notification(self, message: JSONRPCNotification, number: int) -> None:
        if message.method == INITIALIZED:
            self._outbox.put(pack(protocol.REMEMBER_LINE, b"", number, "initialized"))
            self._ask_for_roots()
        elif message.method == ROOTS_CHANGED:
            self._ask_for_roots()
        elif message.method == CANCELLED:
            self._cancel((message.params or {}).get("requestId"))
        await self._to_server.send(SessionMessage(message))
        self._send_no_answer(number)

    def _cancel(self, request_id: Any) -> None:
        """Note that a request will get no answer, so that nobody waits for one."""
        if not isinstance(request_id, str | int):
            return
        request, following = self._queue.finish(request_id)
        if request is None:
            # The SDK takes 1 and "1" for the same request here, whichever it was.
            request, following = self._queue.finish(_other_form(request_id))
        if request is not None:
            self._send_no_answer(request.number)
        self._begin(following)

    async def _take_client_answer(self, message: JSONRPCMessage, number: int) -> None:
        """Take the client's answer to a request of the server, unless a former hub had made it."""
        assert isinstance(message, JSONRPCResponse | JSONRPCError)  # noqa: S101 - for the type checker
        if self._roots is not None and self._roots.take(message):
            self._outbox.put(pack(protocol.SERVER_REQUEST_OVER, b"", 0, str(message.id)))
            if isinstance(message, JSONRPCResponse):
                self._outbox.put(pack(protocol.REMEMBER_LINE, b"", number, "roots"))
            self._send_no_answer(number)
            return
        epoch, _, own_id = str(message.id).partition("-")
        if epoch == str(self.stats.client.connection) and own_id.isdigit():
            self._outbox.put(pack(protocol.SERVER_REQUEST_OVER, b"", 0, str(message.id)))
            await self._to_server.send(SessionMessage(message.model_copy(update={"id": int(own_id)})))
        self._send_no_answer(number)

    async def _take_replayed(self, frame: Frame) -> None:
        """Take a line that a former hub answered: its answer is not for the client, so it has the number 0."""
        read = read_line(frame.payload)
        if not isinstance(read, SessionMessage):
            return
        message = read.message
        if isinstance(message, JSONRPCRequest):
            self._note_client_name(message)
            self._queue.admit(message, _queued_request(message, 0, frame.kind))
            if message.method == INITIALIZE:
                self._note_roots_capability(message)
            await self._to_server.send(read)
            if message.method == INITIALIZE:
                # What comes next, as calls that are retried, is refused by a server that is not initialized.
                with anyio.move_on_after(_INITIALIZE_TIMEOUT_SECONDS):
                    await self._initialized.wait()
        elif isinstance(message, JSONRPCNotification) and message.method == _PROJECT and self.where is not None:
            self.where.resume(read_former(message.params))
        elif isinstance(message, JSONRPCNotification):
            if message.method == INITIALIZED:
                self._ask_for_roots()
            await self._to_server.send(read)
        elif self._roots is not None:
            self._roots.take(message)

    def _hand_over(self, former: FormerProject) -> None:
        """Let the relay keep for later hubs which project its client is in: its marker may be gone by then."""
        line = JSONRPCNotification(jsonrpc="2.0", method=_PROJECT, params=former.told())
        self._outbox.put(pack(protocol.REMEMBER_LINE, write_message(line), 0, "project"))

    def _note_roots_capability(self, message: JSONRPCRequest) -> None:
        if self._roots is not None:
            self._roots.note_capability(message)

    def _ask_for_roots(self) -> None:
        """Ask a client of the older protocol for its roots, if it says that it has some."""
        question = None if self._roots is None else self._roots.question()
        if question is not None:
            self._outbox.put(pack(protocol.SERVER_REQUEST, write_message(question), 0, str(question.id)))

    # to the relay

    async def _write_all(self, from_server: ContextReceiveStream[SessionMessage]) -> None:
        # Closed with this task: a server that is cancelled tries for a second to write its last words to anyone who listens.
        async with from_server:
            async for item in from_server:
                if not self._muted:
                    await self._write(item.message)

    async def _write(self, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            await self._answer(message)
        elif isinstance(message, JSONRPCRequest):
            token = self._token_of(message.id)
            request = message.model_copy(update={"id": token})
            await self._outbox.put_waiting(pack(protocol.SERVER_REQUEST, write_message(request), 0, token))
        else:
            await self._notify(message)

    async def _answer(self, message: JSONRPCResponse | JSONRPCError) -> None:
        request, following = (None, None) if message.id is None else self._queue.finish(message.id)
        if request is None:
            return  # it was cancelled
        if isinstance(message, JSONRPCResponse):
            self._note_subscription(request)
        if request.number:
            await self._outbox.put_waiting(pack(protocol.ANSWER, write_message(message), request.number))
        elif request.method == INITIALIZE:
            self._initialized.set()
        self._begin(following)
        self._request_over.set()
        if self._on_first_answer is not None:
            on_first_answer, self._on_first_answer = self._on_first_answer, None
            on_first_answer()

    def _note_subscription(self, request: QueuedRequest) -> None:
        """Let the relay remember a subscription for later hubs. The client of a replayed one may have missed news: tell it."""
        if request.method == SUBSCRIBE:
            if request.number:
                self._outbox.put(pack(protocol.REMEMBER_LINE, b"", request.number, _name_of(request.uri)))
            else:
                self._outbox.put(pack(protocol.NOTIFICATION, write_message(_updated(request.uri))))
        elif request.method == UNSUBSCRIBE and request.number:
            self._outbox.put(pack(protocol.FORGET_LINE, b"", 0, _name_of(request.uri)))

    async def _notify(self, message: JSONRPCNotification) -> None:
        params = message.params or {}
        if message.method == ACKNOWLEDGED:
            await self._start_stream(message, params)
            return
        if message.method == CANCELLED:
            # The server takes one of its requests back, which the client knows under our token.
            token = self._token_of(params.get("requestId"))
            message = message.model_copy(update={"params": {**params, "requestId": token}})
            self._outbox.put(pack(protocol.SERVER_REQUEST_OVER, b"", 0, token))
        await self._outbox.put_waiting(pack(protocol.NOTIFICATION, write_message(message)))

    async def _start_stream(self, message: JSONRPCNotification, params: dict[str, Any]) -> None:
        """Pass on that a stream of news begins; one that a former hub began is known, but its client may have missed news."""
        request = self._queue.find(_subscription_id(params))
        if request is not None and request.resubscribes:
            await self._server.announce((params.get("notifications") or {}).get("resourceSubscriptions") or ())
            return
        await self._outbox.put_waiting(pack(protocol.NOTIFICATION, write_message(message)))
        if request is not None:
            self._outbox.put(pack(protocol.STREAM_STARTED, b"", request.number))

    def _begin(self, message: JSONRPCRequest | None) -> None:
        if message is not None:
            self._group.start_soon(self._to_server.send, SessionMessage(message))

    def _send_no_answer(self, number: int) -> None:
        if number:
            self._outbox.put(pack(protocol.NO_ANSWER, b"", number))

    def _token_of(self, request_id: object) -> str:
        """Return the id of a server's request as the client gets it; how many hubs it had before tells those apart."""
        return f"{self.stats.client.connection}-{request_id}"

    def _note_client_name(self, message: JSONRPCRequest) -> None:
        if self.stats.name == UNKNOWN:
            self.stats.name = client_name_of(message) or UNKNOWN


def _other_form(request_id: RequestId) -> RequestId:
    if isinstance(request_id, int):
        return str(request_id)
    return int(request_id) if request_id.isascii() and request_id.isdigit() else request_id


def _queued_request(message: JSONRPCRequest, number: int, kind: bytes) -> QueuedRequest:
    uri = (message.params or {}).get("uri")
    resubscribes, retried = kind in (protocol.RESUBSCRIBE, protocol.REPLAY), kind == protocol.RETRY
    return QueuedRequest(number, message.method, uri if isinstance(uri, str) else "", resubscribes, retried)


def _oversized(frame: Frame) -> Oversized:
    at = int(frame.name) if frame.name.isdigit() else 0
    return Oversized(frame.payload[:at], frame.payload[at:])


def _subscription_id(params: dict[str, Any]) -> RequestId | None:
    found: RequestId | None = (params.get("_meta") or {}).get(SUBSCRIPTION_ID_META_KEY)
    return found


def _name_of(uri: str) -> str:
    """Return a frame's name for a subscription: ASCII and short, whatever the URI is."""
    return "uri-" + blake2b(uri.encode("utf-8", "replace"), digest_size=12).hexdigest()


def _updated(uri: str) -> JSONRPCNotification:
    return JSONRPCNotification(jsonrpc="2.0", method="notifications/resources/updated", params={"uri": uri})
