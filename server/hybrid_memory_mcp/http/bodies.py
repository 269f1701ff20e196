"""Reading the body of an HTTP request within limits, and checking that it is one JSON-RPC message.

``http/app.py`` calls `BodyReader.reserve` and `BodyReader.read` for each POST, once its token is known.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import anyio
import anyio.to_thread
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCMessage
from starlette.types import Receive

from hybrid_memory_mcp.http.responses import LATER, NO_JSON, Refusal
from hybrid_memory_mcp.http.settings import HttpSettings
from hybrid_memory_mcp.mcp_api.jsonrpc import BYTE_ORDER_MARK, read_line, write_message

# A body of this size or more is checked in a thread: it would hold up the event loop for milliseconds.
_CHECK_IN_THREAD_BYTES = 256 * 1024
# Every alternative matches wherever it begins, at the end of the text too: no input makes this look twice at the same place.
_STRING_OR_BRACKET = re.compile(rb'"(?:[^"\\]|\\.|\\\Z)*+(?:"|\Z)|[\[\]{}]', re.DOTALL)
_OPENING, _CLOSING = (b"[", b"{"), (b"]", b"}")
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, slots=True)
class Body:
    """A body that holds one message: ``content`` is what the SDK may read."""

    content: bytes
    message: JSONRPCMessage


class BodyReader:
    """Reads bodies; never holds more of them at once than the settings allow, and half of that for one token."""

    def __init__(self, settings: HttpSettings) -> None:
        self._settings = settings
        self._held: Counter[str] = Counter()

    @property
    def held(self) -> int:
        """How many bytes are held."""
        return self._held.total()

    @contextmanager
    def reserve(self, owner: str) -> Iterator[Reservation]:
        """Give room for one body, which is free again afterwards."""
        reservation = Reservation(self, owner)
        try:
            yield reservation
        finally:
            self._held[owner] -= reservation.held
            if not self._held[owner]:
                del self._held[owner]

    def try_reserve(self, owner: str, count: int) -> bool:
        """Reserve room for more bytes; return False where there is none."""
        limit = self._settings.max_buffered_bytes
        if self.held + count > limit or self._held[owner] + count > limit // 2:
            return False
        self._held[owner] += count
        return True

    async def read(self, receive: Receive, declared: str | None, reservation: Reservation) -> Body | Refusal | None:
        """Return the body, why it is refused, or None when the client left."""
        settings = self._settings
        if (
            declared is not None
            and declared.isascii()
            and declared.isdigit()
            and int(declared[:20]) > settings.max_body_bytes
        ):
            return self._too_long()
        with anyio.move_on_after(settings.body_timeout_seconds):
            content = await self._gather(receive, reservation)
            if not isinstance(content, bytes):
                return content
            if len(content) < _CHECK_IN_THREAD_BYTES:
                return check_body(content, settings.max_depth)
            return await anyio.to_thread.run_sync(check_body, content, settings.max_depth)
        return Refusal(408, f"the body took longer than {settings.body_timeout_seconds:g} seconds")

    async def _gather(self, receive: Receive, reservation: Reservation) -> bytes | Refusal | None:
        parts = bytearray()
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return None
            part = message.get("body", b"")
            if len(parts) + len(part) > self._settings.max_body_bytes:
                return self._too_long()
            if not reservation.try_reserve(len(part)):
                return Refusal(503, "too many large requests at once; try again", headers=LATER)
            parts += part
            if not message.get("more_body", False):
                return bytes(parts)

    def _too_long(self) -> Refusal:
        return Refusal(413, f"the message is longer than {self._settings.max_body_bytes} bytes")


class Reservation:
    """What one request holds of the room for bodies."""

    def __init__(self, bodies: BodyReader, owner: str) -> None:
        self._bodies = bodies
        self._owner = owner
        self.held = 0

    def try_reserve(self, count: int) -> bool:
        """Reserve room for more bytes; return False where there is none."""
        if not self._bodies.try_reserve(self._owner, count):
            return False
        self.held += count
        return True


def check_body(content: bytes, depth: int) -> Body | Refusal:
    """Return the one message of a body, or why it is none.

    A lone surrogate, which JSON can write but no text can hold, becomes the mark that the memory refuses by name.
    """
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return NO_JSON
    content = content.removeprefix(BYTE_ORDER_MARK)
    if is_deeper_than(depth, content):
        return Refusal(400, f"the message is nested deeper than {depth}", closing=False)
    read = read_line(content)
    if isinstance(read, JSONRPCError):
        return Refusal(400, read.error.message, read.error.code, closing=False)
    if not isinstance(read, SessionMessage):
        return NO_JSON
    if _SURROGATE.search(content):
        content = write_message(read.message)
    return Body(content, read.message)


def is_deeper_than(limit: int, content: bytes) -> bool:
    """Return True if brackets are nested deeper than ``limit``; brackets in strings do not count."""
    if content.count(b"[") + content.count(b"{") <= limit:
        return False
    depth = 0
    for found in _STRING_OR_BRACKET.finditer(content):
        if found[0] in _OPENING:
            depth += 1
            if depth > limit:
                return True
        elif found[0] in _CLOSING:
            depth -= 1
    return False
