"""Sessions that go on after a restart: the handshake that their client made long ago is made again, in its place.

A session's server answers nothing before ``initialize``. What the client told then is gone, so it counts as one that can do nothing but
ask; the version is the one that its requests carry. What it is subscribed to was noted, and is asked for again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import anyio
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Message, Scope

from hybrid_memory_mcp.http.sessions import HttpSession
from hybrid_memory_mcp.mcp_api.memory_server import UNKNOWN

_LAST_WITHOUT_HEADER = "2025-03-26"  # what a request without a version is taken for
_OK = range(200, 300)
_PATIENCE_SECONDS = 5.0  # for what takes ten milliseconds, on a busy machine


async def introduce(session: HttpSession, scope: Scope, subscriptions: Iterable[str] = ()) -> bool:
    """Make the handshake of a client that goes on, with the address of its request ``scope``; False if the server does not take it.

    ``subscriptions`` are the URIs that it is subscribed to.
    """
    if session.transport is None:
        return False
    version = Headers(scope=scope).get(MCP_PROTOCOL_VERSION_HEADER, _LAST_WITHOUT_HEADER)
    if version not in HANDSHAKE_PROTOCOL_VERSIONS:
        version = _LAST_WITHOUT_HEADER
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": UNKNOWN, "version": "0"}}
    begin = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    known = {"mcp-session-id": session.id}
    subscribing: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": number, "method": "resources/subscribe", "params": {"uri": uri}}
        for number, uri in enumerate(subscriptions, 1)
    ]
    initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    messages: list[tuple[dict[str, Any], dict[str, str]]] = [(begin, {}), (initialized, known)]
    for message, told in (*messages, *((one, known) for one in subscribing)):
        if await _status_of(session, message, _posting(scope, told)) not in _OK:
            return False
    return True


def _posting(scope: Scope, told: dict[str, str]) -> Scope:
    """Return a request to the same address, whatever the client's own request is."""
    posting = dict(scope) | {"method": "POST", "headers": list(scope["headers"])}
    headers = MutableHeaders(scope=posting)
    for name in ("mcp-session-id", "content-length", "last-event-id"):
        del headers[name]
    headers.update({"accept": "application/json, text/event-stream", "content-type": "application/json", **told})
    return posting


async def _status_of(session: HttpSession, message: dict[str, Any], scope: Scope) -> int:
    """Have the session's transport take a message; returns the status of its answer, whose body nobody needs."""
    status = 0
    bodies = [json.dumps(message).encode()]

    async def receive() -> Message:
        if not bodies:
            await anyio.sleep_forever()
        return {"type": "http.request", "body": bodies.pop(), "more_body": False}

    async def send(message: Message) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]

    if session.transport is not None:
        with anyio.move_on_after(_PATIENCE_SECONDS):
            await session.transport.handle_request(scope, receive, send)
    return status
