"""Replacing the hub of an older program, which may not be able to open the store any more.

Used by `connecting.connect_or_start`, by commands and by hooks. Only a newer program replaces a hub, so two versions never take turns.
"""

from __future__ import annotations

import os
import time

from hybrid_memory_mcp import __version__
from hybrid_memory_mcp.relay import connecting, protocol
from hybrid_memory_mcp.relay.protocol import BrokenFrame, Frame, FrameReader, pack, pack_fields

# Until the clients of a hub that leaves may start one: long enough for anyone who asked it to leave to start its own.
HANDOVER_PAUSE_MS = 3000

_ANSWER_TIMEOUT_SECONDS = 10.0  # a hub answers in a millisecond, but one that has just started imports first
_POLL_SECONDS = 0.005
_CHUNK_BYTES = 1 << 16


def runs_older_program(home: str) -> bool:
    """Return True if the hub of a store runs an older program than this one; False if it does not tell, or none runs."""
    answer = _ask(home, protocol.TELL_PROGRAM, "{}")
    # One that does not know the question fails.
    return answer is not None and answer.kind != protocol.REFUSED and protocol.is_older(answer.name)


def make_room(home: str, until: float) -> None:
    """Ask a hub of an older program to leave and wait until it has answered its calls and is gone; leave any other hub alone.

    ``until`` is a time of the monotonic clock. The caller holds the lock for starting hubs.

    Raises:
        HubNotAnswering: it does not leave in time, or has hung and cannot be ended.
    """
    if not runs_older_program(home):
        return
    _ask(home, protocol.LEAVE, f'{{"pause": {HANDOVER_PAUSE_MS}}}')
    asked = time.monotonic()
    while connecting.hub_is_running(home):
        now = time.monotonic()
        if now > until:
            raise connecting.HubNotAnswering(connecting.OLDER_HUB)
        if now - asked > connecting.ASK_AFTER_SECONDS:
            connecting.replace_hung_hub(home, lambda: connecting.hub_is_running(home))
            asked = time.monotonic()
        time.sleep(_POLL_SECONDS)


def _ask(home: str, operation: str, given: str) -> Frame | None:
    """Return the hub's answer to an operation; None where there is no hub or it says nothing."""
    connection = connecting.connect(home)
    if connection is None:
        return None
    hello = [
        ("protocol", str(protocol.PROTOCOL_VERSION)),
        ("version", __version__),
        ("program", protocol.PROGRAM),
        ("relay", os.urandom(16).hex()),
        ("pid", str(os.getpid())),
        ("operation", operation),
        ("given", given),
    ]
    reader = FrameReader()
    with connection:
        try:
            connection.settimeout(_ANSWER_TIMEOUT_SECONDS)
            connection.sendall(pack(protocol.HELLO, pack_fields(hello)))
            while chunk := connection.recv(_CHUNK_BYTES):
                for frame in reader.feed(chunk):
                    return frame
        except (OSError, BrokenFrame):
            pass
    return None
