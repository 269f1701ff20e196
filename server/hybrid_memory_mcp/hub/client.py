"""One relay at the hub: its lines to an MCP server of its own, and that server's lines back."""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import datetime
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

from hybrid_memory.store.base import RequestKey
from hybrid_memory_mcp.hub.handshake import ClientInfo
from hybrid_memory_mcp.mcp_api.jsonrpc import read_line, write_message
from hybrid_memory_mcp.mcp_api.memory_server import MemoryServer
from hybrid_memory_mcp.mcp_api.sdk import (
    ContextReceiveStream,
    ContextSendStream,
    create_context_streams,
    lowlevel_server_of,
)
from hybrid_memory_mcp.relay import protocol
from hybrid_memory_mcp.relay.protocol import Frame, FrameReader, Oversized, pack

_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
_CLIENT_INFO = "io.modelcontextprotocol/clientInfo"
_MAX_NAME_LENGTH = 100
_INITIALIZE_TIMEOUT_SECONDS = 10.0
_GOODBYE_TIMEOUT_SECONDS = 0.5


@dataclass(slots=True)
class ConnectionStats:
    """Who is connected, for status. ``calls`` are the requests so far, ``delivered`` the last line known to be settled."""

    guest: ClientInfo
    since: datetime
    name: str = "unknown"
    calls: int = 0
    delivered: int = 0
    subscriptions: set[str] = field(default_factory=set)


class ClientConnection:
    """Serves one relay until it leaves; `drain` lets what is at work end and takes nothing new."""

    def __init__(
        self,
        stream: socket.socket,
        reader: FrameReader,
        stats: ConnectionStats,
        queue: RequestQueue,
        answered: Callable[[], None],
    ) -> None:
        """Make a connection; ``answered`` is called once, after the first answer."""
        self.stats = stats
        self._answered: Callable[[], None] | None = answered
        self._stream = stream
        self._frames = reader
        self._outbox = Outbox(stream)
        self._queue = queue
        self._reading = anyio.CancelScope()
        self._idle = anyio.Event()
        self._muted = False
        self._initialized = anyio.Event()
        self._to_server: ContextSendStream[SessionMessage | Exception]
        self._server: MemoryServer
        self._group: anyio.abc.TaskGroup

    def request_key_of(self, context: Context[Any, Any]) -> RequestKey | None:
        """Return the key under which the result of a request is kept until the relay has it."""
        asked = self._queue.find(context.request_context.request_id)
        return RequestKey(self.stats.guest.relay, asked.number) if asked and asked.number else None

    def on_start_of(self, context: Context[Any, Any]) -> Callable[[], None] | None:
        """Return what tells the relay, from the worker thread, that work on a request begins which an earlier hub did not end."""
        asked = self._queue.find(context.request_context.request_id)
        if asked is None or not asked.retried:
            return None
        frame = pack(protocol.WORK_STARTED, b"", asked.number)
        return lambda: anyio.from_thread.run_sync(self._outbox.put, frame)

    async def serve(self, server: MemoryServer, welcome: bytes) -> None:
        """Serve until the relay leaves or the surrounding scope is cancelled."""
        self._server = server
        self._to_server, incoming = create_context_streams[SessionMessage | Exception](0)
        outgoing, from_server = create_context_streams[SessionMessage](0)
        low = lowlevel_server_of(server)
        self._outbox.put(pack(protocol.WELCOME, welcome))
        try:
            async with anyio.create_task_group() as group:
                self._group = group
                group.start_soon(self._outbox.write_all)
                group.start_soon(self._write_all, from_server)
                group.start_soon(low.run, incoming, outgoing, low.create_initialization_options())
                with self._reading:
                    await self._read_all()
                if self._reading.cancelled_caught:
                    await anyio.sleep_forever()
                self._muted = True
                group.cancel_scope.cancel()
        except* (OSError, protocol.BrokenFrame):
            pass
        finally:
            for stream in (self._to_server, incoming, outgoing):
                stream.close()

    async def drain(self, patience: float, pause: int) -> None:
        """Take no more lines and wait until what is at work is answered; the relay may start another hub after ``pause`` ms."""
        self._reading.cancel()
        with anyio.move_on_after(patience):
            while self._queue.busy:
                self._idle = anyio.Event()
                await self._idle.wait()
            await self._outbox.flush()
        self._muted = True
        # Also to a relay whose answers took too long: it must not start a hub before whoever asked for this one's place.
        self._outbox.put(pack(protocol.LEAVING, b"", pause))
        with anyio.move_on_after(_GOODBYE_TIMEOUT_SECONDS):
            await self._outbox.flush()

    async def _read_all(self) -> None:
        async for frame in read_frames(self._stream, self._frames):
            if frame.kind == protocol.DELIVERED:
                self.stats.delivered = max(self.stats.delivered, frame.number)
            elif frame.kind == protocol.REPLAY:
                await self._replay(frame)
            elif frame.kind in (protocol.LINE, protocol.RETRY, protocol.RESUBSCRIBE, protocol.OVERSIZED_LINE):
                await self._line(frame)

    async def _line(self, frame: Frame) -> None:
        """Take a line of the client."""
        payload = frame.payload
        read = read_line(_ends(frame) if frame.kind == protocol.OVERSIZED_LINE else payload)
        if read is None:
            self._settle(frame.number)
        elif isinstance(read, JSONRPCError):
            self._outbox.put(pack(protocol.ANSWER, write_message(read), frame.number))
        elif isinstance(read.message, JSONRPCRequest):
            await self._request(read.message, frame)
        elif isinstance(read.message, JSONRPCNotification):
            await self._notification(read.message, frame.number)
        else:
            await self._answer_of_client(read.message, frame.number)

    async def _request(self, message: JSONRPCRequest, frame: Frame) -> None:
        self.stats.calls += 1
        self._note_client(message)
        asked = _asked(message, frame.number, frame.kind)
        begins = self._queue.admit(message, asked)
        if begins is None:
            problem = f"too many requests at once: {self._queue.most_waiting} wait already; wait for their answers"
            refusal = JSONRPCError(jsonrpc="2.0", id=message.id, error=ErrorData(code=INVALID_REQUEST, message=problem))
            self._outbox.put(pack(protocol.ANSWER, write_message(refusal), frame.number))
            return
        if message.method == INITIALIZE:
            self._outbox.put(pack(protocol.REMEMBER_LINE, b"", frame.number, INITIALIZE))
        if begins:
            await self._to_server.send(SessionMessage(message))

    async def _notification(self, message: JSONRPCNotification, number: int) -> None:
        if message.method == INITIALIZED:
            self._outbox.put(pack(protocol.REMEMBER_LINE, b"", number, "initialized"))
        elif message.method == CANCELLED:
            self._cancelled((message.params or {}).get("requestId"))
        await self._to_server.send(SessionMessage(message))
        self._settle(number)

    def _cancelled(self, request_id: Any) -> None:
        """What the client cancelled gets no answer, so nobody waits for one."""
        if not isinstance(request_id, str | int):
            return
        asked, turn = self._queue.finish(request_id)
        if asked is None:
            # The SDK takes 1 and "1" for the same request here, whichever it was.
            asked, turn = self._queue.finish(_other_form(request_id))
        if asked is not None:
            self._settle(asked.number)
        self._begin(turn)

    async def _answer_of_client(self, message: JSONRPCMessage, number: int) -> None:
        """Take the answer to a question, unless a former hub had asked it."""
        assert isinstance(message, JSONRPCResponse | JSONRPCError)  # noqa: S101 - for the type checker
        epoch, _, own = str(message.id).partition("-")
        if epoch == str(self.stats.guest.connection) and own.isdigit():
            self._outbox.put(pack(protocol.SERVER_REQUEST_OVER, b"", 0, str(message.id)))
            await self._to_server.send(SessionMessage(message.model_copy(update={"id": int(own)})))
        self._settle(number)

    async def _replay(self, frame: Frame) -> None:
        """Take a line that a former hub answered: its answer is not for the client."""
        read = read_line(frame.payload)
        if not isinstance(read, SessionMessage):
            return
        message = read.message
        if isinstance(message, JSONRPCRequest):
            self._note_client(message)
            self._queue.admit(message, _asked(message, 0, frame.kind))
            await self._to_server.send(read)
            if message.method == INITIALIZE:
                with anyio.move_on_after(_INITIALIZE_TIMEOUT_SECONDS):
                    await self._initialized.wait()
        else:
            await self._to_server.send(read)

    async def _write_all(self, from_server: ContextReceiveStream[SessionMessage]) -> None:
        # Closed with this task: a server that is cancelled tries for a second to write its last words to whoever listens.
        async with from_server:
            async for item in from_server:
                if not self._muted:
                    await self._write(item.message)

    async def _write(self, message: JSONRPCMessage) -> None:
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            await self._answer(message)
        elif isinstance(message, JSONRPCRequest):
            token = f"{self.stats.guest.connection}-{message.id}"
            question = message.model_copy(update={"id": token})
            await self._outbox.put_waiting(pack(protocol.SERVER_REQUEST, write_message(question), 0, token))
        else:
            await self._news(message)

    async def _answer(self, message: JSONRPCResponse | JSONRPCError) -> None:
        asked, turn = (None, None) if message.id is None else self._queue.finish(message.id)
        if asked is None:
            return
        if isinstance(message, JSONRPCResponse):
            self._subscribed(asked)
        if asked.number:
            await self._outbox.put_waiting(pack(protocol.ANSWER, write_message(message), asked.number))
        elif asked.method == INITIALIZE:
            self._initialized.set()
        self._begin(turn)
        self._idle.set()
        if self._answered is not None:
            answered, self._answered = self._answered, None
            answered()

    def _subscribed(self, asked: QueuedRequest) -> None:
        """Keep a subscription for later hubs; one of a former hub may have missed news."""
        if asked.method == SUBSCRIBE:
            if asked.number:
                self._outbox.put(pack(protocol.REMEMBER_LINE, b"", asked.number, _name_of(asked.uri)))
            else:
                self._outbox.put(pack(protocol.NOTIFICATION, write_message(_updated(asked.uri))))
        elif asked.method == UNSUBSCRIBE and asked.number:
            self._outbox.put(pack(protocol.FORGET_LINE, b"", 0, _name_of(asked.uri)))

    async def _news(self, message: JSONRPCNotification) -> None:
        params = message.params or {}
        if message.method == _ACKNOWLEDGED:
            await self._acknowledged(message, params)
            return
        if message.method == CANCELLED:
            token = f"{self.stats.guest.connection}-{params.get('requestId')}"
            message = message.model_copy(update={"params": {**params, "requestId": token}})
            self._outbox.put(pack(protocol.SERVER_REQUEST_OVER, b"", 0, token))
        await self._outbox.put_waiting(pack(protocol.NOTIFICATION, write_message(message)))

    async def _acknowledged(self, message: JSONRPCNotification, params: dict[str, Any]) -> None:
        """A stream of news begins; one that a former hub began has been acknowledged, but may have missed news."""
        asked = self._queue.find(_subscription(params))
        if asked is not None and asked.again:
            await self._server.announce((params.get("notifications") or {}).get("resourceSubscriptions") or ())
            return
        await self._outbox.put_waiting(pack(protocol.NOTIFICATION, write_message(message)))
        if asked is not None:
            self._outbox.put(pack(protocol.STREAM_STARTED, b"", asked.number))

    def _begin(self, message: JSONRPCRequest | None) -> None:
        if message is not None:
            self._group.start_soon(self._to_server.send, SessionMessage(message))

    def _settle(self, number: int) -> None:
        if number:
            self._outbox.put(pack(protocol.NO_ANSWER, b"", number))

    def _note_client(self, message: JSONRPCRequest) -> None:
        if self.stats.name != "unknown":
            return
        params = message.params or {}
        about = (
            params.get("clientInfo") if message.method == INITIALIZE else (params.get("_meta") or {}).get(_CLIENT_INFO)
        )
        if isinstance(about, dict):
            name = "".join(c for c in str(about.get("name", "")) if c.isprintable()).strip()
            self.stats.name = name[:_MAX_NAME_LENGTH] or "unknown"


def _other_form(request_id: RequestId) -> RequestId:
    if isinstance(request_id, int):
        return str(request_id)
    return int(request_id) if request_id.isascii() and request_id.isdigit() else request_id


def _asked(message: JSONRPCRequest, number: int, kind: bytes) -> QueuedRequest:
    uri = (message.params or {}).get("uri")
    again, retried = kind in (protocol.RESUBSCRIBE, protocol.REPLAY), kind == protocol.RETRY
    return QueuedRequest(number, message.method, uri if isinstance(uri, str) else "", again, retried)


def _ends(frame: Frame) -> Oversized:
    at = int(frame.name) if frame.name.isdigit() else 0
    return Oversized(frame.payload[:at], frame.payload[at:])


def _subscription(params: dict[str, Any]) -> RequestId | None:
    found: RequestId | None = (params.get("_meta") or {}).get(SUBSCRIPTION_ID_META_KEY)
    return found


def _name_of(uri: str) -> str:
    from hashlib import blake2b

    return "uri-" + blake2b(uri.encode("utf-8", "replace"), digest_size=12).hexdigest()


def _updated(uri: str) -> JSONRPCNotification:
    return JSONRPCNotification(jsonrpc="2.0", method="notifications/resources/updated", params={"uri": uri})


LISTEN = "subscriptions/listen"
SUBSCRIBE = "resources/subscribe"
UNSUBSCRIBE = "resources/unsubscribe"
INITIALIZE = "initialize"
INITIALIZED = "notifications/initialized"
CANCELLED = "notifications/cancelled"


@dataclass(slots=True, eq=False)
class QueuedRequest:
    """A request: the relay's number of it, 0 for one that a former hub answered; ``uri`` of a subscription.

    ``waiting`` is its message until it begins.
    """

    number: int
    method: str
    uri: str = ""
    again: bool = False
    retried: bool = False
    waiting: JSONRPCRequest | None = None

    @property
    def counts(self) -> bool:
        """Whether it takes a place among the requests at work; one that waits for news or is replayed does not."""
        return self.method != LISTEN and self.number > 0


@dataclass(slots=True)
class RequestQueue:
    """The requests of one connection: those at work, by their ids, and those that wait for a place."""

    at_once: int
    most_waiting: int
    _asked: dict[RequestId, deque[QueuedRequest]] = field(default_factory=dict)
    _waiting: deque[QueuedRequest] = field(default_factory=deque)
    _working: int = 0

    def find(self, request_id: RequestId | None) -> QueuedRequest | None:
        """Return the request under an id that came first and is not over."""
        found = None if request_id is None else self._asked.get(request_id)
        return found[0] if found else None

    def admit(self, message: JSONRPCRequest, asked: QueuedRequest) -> bool | None:
        """Note a request; says whether it may begin: True at once, False when its turn comes, None not at all."""
        if not asked.counts or self._working < self.at_once:
            self._working += asked.counts
            self._asked.setdefault(message.id, deque()).append(asked)
            return True
        if len(self._waiting) >= self.most_waiting:
            return None
        asked.waiting = message
        self._asked.setdefault(message.id, deque()).append(asked)
        self._waiting.append(asked)
        return False

    def finish(self, request_id: RequestId) -> tuple[QueuedRequest | None, JSONRPCRequest | None]:
        """Note that a request is over; returns it, and one whose turn has come."""
        found = self._asked.get(request_id)
        if not found:
            return None, None
        asked = found.popleft()
        if not found:
            del self._asked[request_id]
        if asked.waiting is not None:
            self._waiting.remove(asked)
            return asked, None
        self._working -= asked.counts
        if not self._waiting or self._working >= self.at_once:
            return asked, None
        self._working += 1
        following = self._waiting.popleft()
        turn, following.waiting = following.waiting, None
        return asked, turn

    @property
    def busy(self) -> bool:
        """Whether a request is at work, those aside that wait for news."""
        return self._working > 0


_FULL = 1024 * 1024
_CHUNK = 1 << 16
_TOGETHER = 256


class Outbox:
    """Sends in order. Small frames never wait; whoever sends an answer waits while a megabyte is under way already."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._filled = anyio.Event()
        self._emptied = anyio.Event()
        self._writing = False

    def put(self, frame: bytes) -> None:
        """Send, or let it wait for its turn."""
        if not self._waiting and not self._writing:
            frame = self._rest(frame)
            if not frame:
                return
        self._waiting.append(frame)
        self._size += len(frame)
        self._filled.set()

    async def put_waiting(self, frame: bytes) -> None:
        """Send when there is room."""
        while self._size > _FULL:
            await self._sent()
        self.put(frame)

    async def write_all(self) -> None:
        """Send what waits, until cancelled.

        Raises:
            OSError: the other side is gone.
        """
        while True:
            while not self._waiting:
                self._filled = anyio.Event()
                await self._filled.wait()
            count = min(len(self._waiting), _TOGETHER)
            rest = b"".join(self._waiting.popleft() for _ in range(count))
            self._writing = True
            try:
                while rest:
                    await anyio.wait_writable(self._connection)
                    sent = self._connection.send(rest)
                    self._size -= sent
                    rest = rest[sent:]
            finally:
                self._writing = False
            self._emptied.set()

    async def flush(self) -> None:
        """Wait until everything is sent."""
        while self._waiting or self._writing:
            await self._sent()

    async def _sent(self) -> None:
        """Wait until more is sent; several may."""
        if self._emptied.is_set():
            self._emptied = anyio.Event()
        await self._emptied.wait()

    def _rest(self, frame: bytes) -> bytes:
        try:
            return frame[self._connection.send(frame) :]
        except BlockingIOError:
            return frame
        except OSError:
            return b""  # the reader finds out that the other side is gone


async def read_frames(connection: socket.socket, reader: FrameReader) -> AsyncIterator[Frame]:
    """Yield what a relay sends, to its end; first what the reader still holds.

    Raises:
        BrokenFrame: it does not speak as a relay does.
    """
    for frame in reader.feed(b""):
        yield frame
    while True:
        try:
            chunk = connection.recv(_CHUNK)
        except BlockingIOError:
            await anyio.wait_readable(connection)
            continue
        except OSError:
            return
        if not chunk:
            return
        for frame in reader.feed(chunk):
            yield frame
