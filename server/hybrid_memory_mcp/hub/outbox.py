"""What waits to be sent to one relay, and reading what it sends."""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import AsyncIterator

import anyio

from hybrid_memory_mcp.relay.frames import Frame, FrameReader

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


async def frames_of(connection: socket.socket, reader: FrameReader) -> AsyncIterator[Frame]:
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
