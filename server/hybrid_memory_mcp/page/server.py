"""Serving the page at a socket of this machine, behind its door, until cancelled."""

from __future__ import annotations

import socket
from typing import Any

from hybrid_memory_mcp.page.access import Door
from hybrid_memory_mcp.page.listening import user_check
from hybrid_memory_mcp.runtime.http_serving import ServingLimits, serve_app

_CONNECTIONS = 256  # a browser opens six, and streams of events of several browsers hold one each
_MAX_HEAD_BYTES = 32 * 1024  # a long question stands in the address
_HEAD_SECONDS = 10.0


async def serve_page(door: Door[Any], listening: socket.socket) -> None:
    """Serve the page at a socket, which is closed in the end; runs until cancelled."""
    limits = ServingLimits(
        connections=_CONNECTIONS,
        max_head_bytes=_MAX_HEAD_BYTES,
        head_timeout_seconds=_HEAD_SECONDS,
        may_connect=user_check(listening),
    )
    await serve_app(door, limits, listening)
