"""Responses of the HTTP server: refusals (`Refusal`), and `Response`, which ends cleanly however its request ends. Used by ``app.py``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

import anyio
from mcp.types import INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR
from starlette.types import Message, Send

CHALLENGE = {
    "www-authenticate": 'Bearer realm="hybrid-memory-mcp", error="invalid_token", error_description="a valid token is required"'
}
LATER = {"retry-after": "1"}


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not served: HTTP status, words, JSON-RPC code. ``closing`` ends the connection, whose body nobody reads."""

    status: int
    text: str
    code: int = INVALID_REQUEST
    headers: Mapping[str, str] = field(default_factory=dict)
    closing: bool = True


UNAUTHORISED = Refusal(401, "a valid token is required: send Authorization: Bearer <token>", headers=CHALLENGE)
NO_SESSION = Refusal(404, "no such session; send initialize to begin a new one", closing=False)
SESSION_MISSING = Refusal(400, "the Mcp-Session-Id header is missing; send initialize first", closing=False)
TOO_MANY_SESSIONS = Refusal(
    429, "too many sessions of this token are busy; end one of them", INTERNAL_ERROR, LATER, closing=False
)
FULL = Refusal(503, "too many sessions are open; try again later", INTERNAL_ERROR, LATER, closing=False)
LEAVING = Refusal(503, "the server is shutting down; try again", INTERNAL_ERROR, LATER)
DATABASE_AWAY = Refusal(503, "the memory's database does not answer", INTERNAL_ERROR, LATER, closing=False)
NO_JSON = Refusal(400, "the body is not JSON in UTF-8", PARSE_ERROR, closing=False)


class Response:
    """The way back to one client. A client that does not read for ``timeout_seconds`` is given up."""

    def __init__(self, send: Send, timeout_seconds: float) -> None:
        self._send = send
        self._timeout_seconds = timeout_seconds
        self.status = 0
        self.ended = False

    @property
    def started(self) -> bool:
        """Whether the status was sent."""
        return self.status > 0

    async def send(self, message: Message) -> None:
        """Send a part of the response.

        Raises:
            TimeoutError: the client does not read.
        """
        if message["type"] == "http.response.start":
            self.status = message["status"]
        elif not message.get("more_body", False):
            self.ended = True
        with anyio.fail_after(self._timeout_seconds):
            await self._send(message)

    async def refuse(self, refusal: Refusal) -> None:
        """Send a refusal, or end what was begun."""
        if self.started:
            await self.end()
            return
        error = {"code": refusal.code, "message": refusal.text}
        body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
        headers = {"content-type": "application/json", "content-length": str(len(body)), "cache-control": "no-store"}
        headers |= refusal.headers
        if refusal.closing:
            headers["connection"] = "close"
        await self._whole(refusal.status, headers, body)

    async def empty(self, status: int) -> None:
        """Send a response without a body."""
        await self._whole(status, {"cache-control": "no-store"}, b"")

    async def json(self, status: int, value: Mapping[str, object]) -> None:
        """Send a value as JSON."""
        body = json.dumps(value).encode()
        headers = {"content-type": "application/json", "content-length": str(len(body)), "cache-control": "no-store"}
        await self._whole(status, headers, body)

    async def end(self) -> None:
        """End a response that was begun and is not ended yet; the client sees a stream that is over."""
        if self.started and not self.ended:
            await self.send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _whole(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        pairs = [(name.encode("ascii"), value.encode("ascii")) for name, value in headers.items()]
        await self.send({"type": "http.response.start", "status": status, "headers": pairs})
        await self.send({"type": "http.response.body", "body": body, "more_body": False})
