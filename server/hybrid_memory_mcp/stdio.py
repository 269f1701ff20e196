"""Serving one client over standard input and output.

The SDK's own transport reads in a way that can neither be interrupted by a signal nor answer what it cannot parse, so this
one works on the two descriptors itself, with a daemon thread that reads.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError

import anyio
import anyio.to_thread
from anyio.from_thread import BlockingPortal
from mcp.server import MCPServer
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCMessage, JSONRPCRequest, JSONRPCResponse

from hybrid_memory_mcp.descriptors import Wire
from hybrid_memory_mcp.mcp_api.jsonrpc import read_line, write_message
from hybrid_memory_mcp.mcp_api.sdk import (
    ContextReceiveStream,
    ContextSendStream,
    create_context_streams,
    lowlevel_server_of,
)
from hybrid_memory_mcp.relay.protocol import LineSplitter

GRACE = 0.5

_CHUNK = 1 << 16


async def serve_stdio(
    server: MCPServer[None], wire: Wire, *, answered: Callable[[], None], ended: Callable[[], None]
) -> None:
    """Serve until the client closes its side.

    ``answered`` is called once, after the first answer is written; ``ended`` as soon as nothing more can come or go.
    Requests that are still at work then have `GRACE` seconds to be answered.
    """
    to_server, incoming = create_context_streams[SessionMessage | Exception](0)
    outgoing, from_server = create_context_streams[SessionMessage](0)
    low = lowlevel_server_of(server)
    connection = _Connection(wire, to_server, answered, ended)
    async with BlockingPortal() as portal, anyio.create_task_group() as group:
        group.start_soon(connection.write_all, from_server)
        threading.Thread(target=connection.read_all, args=(portal,), name="stdin", daemon=True).start()
        await low.run(incoming, outgoing, low.create_initialization_options())


class _Connection:
    def __init__(
        self,
        wire: Wire,
        to_server: ContextSendStream[SessionMessage | Exception],
        answered: Callable[[], None],
        ended: Callable[[], None],
    ) -> None:
        self._wire = wire
        self._to_server = to_server
        self._answered: Callable[[], None] | None = answered
        self._ended = ended
        self._writing = anyio.Lock()
        self._waiting = 0
        self._idle = anyio.Event()

    def read_all(self, portal: BlockingPortal) -> None:
        """Hand every message to the server, as fast as it takes them; runs in its own thread."""
        splitter = LineSplitter()
        try:
            while chunk := self._next_chunk():
                for line in splitter.feed(chunk):
                    message = read_line(line)
                    if isinstance(message, SessionMessage):
                        portal.call(self._take, message)
                    elif message is not None:
                        portal.call(self._write, message)
            self._ended()
            portal.call(self._close)
        except (RuntimeError, CancelledError, anyio.ClosedResourceError, anyio.BrokenResourceError):
            self._ended()  # the server stopped first

    async def write_all(self, from_server: ContextReceiveStream[SessionMessage]) -> None:
        """Write every message of the server."""
        async for item in from_server:
            await self._write(item.message)
            if isinstance(item.message, JSONRPCResponse | JSONRPCError):
                self._count_answer()

    def _next_chunk(self) -> bytes:
        try:
            return os.read(self._wire.reading, _CHUNK)
        except OSError:
            return b""

    async def _take(self, message: SessionMessage) -> None:
        if isinstance(message.message, JSONRPCRequest):
            self._waiting += 1
        await self._to_server.send(message)

    async def _close(self) -> None:
        with anyio.move_on_after(GRACE):
            while self._waiting > 0:
                self._idle = anyio.Event()
                await self._idle.wait()
        await self._to_server.aclose()

    async def _write(self, message: JSONRPCMessage) -> None:
        line = write_message(message)
        async with self._writing:
            try:
                await anyio.to_thread.run_sync(_write_whole, self._wire.writing, line)
            except OSError:
                self._ended()  # the client no longer listens

    def _count_answer(self) -> None:
        self._waiting -= 1
        self._idle.set()
        if self._answered is not None:
            answered, self._answered = self._answered, None
            answered()


def _write_whole(descriptor: int, line: bytes) -> None:
    rest = memoryview(line)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
