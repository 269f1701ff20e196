"""Asking the hub that has the store open to do an operation."""

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
from hybrid_memory_mcp.relay import frames
from hybrid_memory_mcp.relay.frames import Frame, FrameReader, pack, pack_fields
from hybrid_memory_mcp.relay.reaching import connect
from hybrid_memory_mcp.relay.spawning import hub_is_there

_CHUNK = 1 << 16
_LEAVING = 15.0
_PAUSE = 0.02


def ask_hub(
    home: Path, namespace: str, operation: str, arguments: Mapping[str, Any], step: ProgressCallback
) -> dict[str, Any] | None:
    """Return what an operation gave, None where no hub runs; ``step`` is told how far it is.

    Raises:
        HybridMemoryError: what the operation says, or that the hub left meanwhile.
    """
    connection = connect(str(home))
    if connection is None:
        return None
    with connection:
        hello = [
            ("protocol", str(frames.PROTOCOL)),
            ("version", __version__),
            ("relay", os.urandom(16).hex()),
            ("pid", str(os.getpid())),
            ("operation", operation),
            ("given", json.dumps(arguments)),
            ("namespace", namespace),
        ]
        connection.sendall(pack(frames.HELLO, pack_fields(hello)))
        for frame in _frames(connection):
            if frame.kind == frames.STEP:
                how_far = json.loads(frame.payload)
                step(how_far["done"], how_far["total"])
            elif frame.kind == frames.DONE:
                found: dict[str, Any] = json.loads(frame.payload)
                return found
            elif frame.kind == frames.FAILED:
                raise HybridMemoryError(json.loads(frame.payload)["message"])
            elif frame.kind == frames.REFUSED:
                raise HybridMemoryError(frame.payload.decode("utf-8", "replace"))
    raise StoreError("the memory's hub ended before it was done; run the command again")


def dismiss_hub(home: Path) -> bool:
    """Ask the hub of a store to leave, and wait until it has; says whether there is none any more.

    Its clients find or start another one when they need it.
    """
    begun = time.monotonic()
    with suppress(HybridMemoryError):
        ask_hub(home, "default", "leave", {}, lambda *_: None)
    while hub_is_there(str(home)):
        if time.monotonic() - begun > _LEAVING:
            return False
        time.sleep(_PAUSE)
    return True


def _frames(connection: socket.socket) -> Iterator[Frame]:
    reader = FrameReader()
    try:
        while chunk := connection.recv(_CHUNK):
            yield from reader.feed(chunk)
    except OSError:
        return
