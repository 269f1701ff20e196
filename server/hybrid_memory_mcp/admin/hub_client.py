"""Asking the hub that has the store open to do an operation, or to leave.

Called by the commands (``cli/operation_call.py``, ``cli/demo.py``) and by ``serve --http``, which takes a hub's place.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from hybrid_memory.errors import HybridMemoryError, StoreError
from hybrid_memory_mcp import __version__
from hybrid_memory_mcp.admin.operations import ProgressCallback
from hybrid_memory_mcp.relay import protocol
from hybrid_memory_mcp.relay.connecting import connect, hub_is_running
from hybrid_memory_mcp.relay.protocol import Frame, FrameReader, pack, pack_fields

_STOP_TIMEOUT_SECONDS = 15.0  # a hub lets requests end for 5 s and closes the store
_POLL_SECONDS = 0.02  # between two looks whether a hub has left, which takes tenths of a second
_CHUNK_BYTES = 1 << 16  # 64 KiB: what a read of a socket gives at most


def call_hub(
    home: Path, namespace: str, operation: str, arguments: Mapping[str, Any], on_progress: ProgressCallback
) -> dict[str, Any] | None:
    """Return what an operation gave, None where no hub runs; ``on_progress`` is told how far it is.

    Raises:
        HybridMemoryError: what the operation says, or that the hub left meanwhile.
    """
    connection = connect(str(home))
    if connection is None:
        return None
    with connection:
        hello = [
            ("protocol", str(protocol.PROTOCOL_VERSION)),
            ("version", __version__),
            ("relay", os.urandom(16).hex()),
            ("pid", str(os.getpid())),
            ("operation", operation),
            ("given", json.dumps(arguments)),
            ("namespace", namespace),
        ]
        connection.sendall(pack(protocol.HELLO, pack_fields(hello)))
        for frame in _frames(connection):
            if frame.kind == protocol.PROGRESS:
                progress = json.loads(frame.payload)
                on_progress(progress["done"], progress["total"])
            elif frame.kind == protocol.RESULT:
                found: dict[str, Any] = json.loads(frame.payload)
                return found
            elif frame.kind == protocol.FAILED:
                raise HybridMemoryError(json.loads(frame.payload)["message"])
            elif frame.kind == protocol.REFUSED:
                raise HybridMemoryError(frame.payload.decode("utf-8", "replace"))
    raise StoreError("the memory's hub ended before it was done; run the command again")


def stop_hub(home: Path, *, pause_ms: int = 0) -> bool:
    """Ask the hub of a store to leave, and wait until it has; return True if there is none any more.

    Its clients find another one when they need it; they start one themselves after ``pause_ms`` at the earliest.
    """
    begun = time.monotonic()
    with suppress(HybridMemoryError):
        call_hub(home, "default", "leave", {"pause": pause_ms}, lambda *_: None)
    while hub_is_running(str(home)):
        if time.monotonic() - begun > _STOP_TIMEOUT_SECONDS:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def _frames(connection: socket.socket) -> Iterator[Frame]:
    reader = FrameReader()
    try:
        while chunk := connection.recv(_CHUNK_BYTES):
            yield from reader.feed(chunk)
    except OSError:
        return
