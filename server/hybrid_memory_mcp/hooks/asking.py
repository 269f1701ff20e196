"""Asking the hub of a store for what one event needs; starting one where none runs, as a relay does."""

from __future__ import annotations

import json
import os
import time

from hybrid_memory_mcp import __version__
from hybrid_memory_mcp.relay import connecting, paths, protocol
from hybrid_memory_mcp.relay.chosen_store import variables_for_hub
from hybrid_memory_mcp.relay.protocol import BrokenFrame, FrameReader, pack, pack_fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping, Sequence
    from typing import Any

OPERATION = "hook_event"

_CHUNK_BYTES = 1 << 16
_LEAST_SECONDS = 0.01
_PAUSE_SECONDS = 0.05  # between two attempts to reach a hub


class _OlderHub(Exception):
    """What was asked failed in the hub of an older program."""


class HubCaller:
    """Asks the hub of the store in ``home``; ``arguments`` are those of a server: ``--namespace``, ``--project`` and so on."""

    def __init__(self, home: str, arguments: Sequence[str], environment: Mapping[str, str]) -> None:
        self._home = home
        self._arguments = arguments
        self.environment = environment
        self.refusal = ""
        """Why the hub does not serve who asks here, in words for a person; empty where it did not say so."""

    def ask(
        self, given: Mapping[str, Any], deadline: float, *, may_start: bool, only_if_running: bool = False
    ) -> dict[str, Any] | None:
        """Return the hub's answer; None where it gave none until the ``deadline`` of the monotonic clock.

        ``may_start`` lets it start a hub and wait for that one; otherwise one is started that the next event finds. With
        ``only_if_running`` none is started.
        """
        until: float | None = None
        while True:
            try:
                connection = (
                    connecting.connect(self._home)
                    if only_if_running
                    else self._connect(may_start=may_start, replace_until=until)
                )
                if connection is None:
                    return None
                with connection:
                    return self._exchange(connection, given, deadline)
            except _OlderHub:
                until = deadline
            except (ConnectionError, connecting.HubUnavailable):
                # It was just leaving, or was killed: the next one is asked, which finds what this one has done.
                if time.monotonic() + _PAUSE_SECONDS > deadline:
                    return None
                time.sleep(_PAUSE_SECONDS)
            except (connecting.HubNotAnswering, BrokenFrame, OSError, ValueError, RecursionError):
                return None

    def _connect(self, *, may_start: bool, replace_until: float | None) -> socket.socket | None:
        connection = connecting.connect(self._home) if replace_until is None else None
        if connection is None and not is_usable(self._home):
            return None  # no hub could start there, so nobody waits for one
        if connection is None and (may_start or replace_until is not None):
            embedder = paths.option(self._arguments, "--embedder")
            return connecting.connect_or_start(self._home, embedder, self.environment, replace_until=replace_until)
        if connection is None:
            self._start_detached()
        return connection

    def _exchange(self, connection: socket.socket, given: Mapping[str, Any], deadline: float) -> dict[str, Any] | None:
        hello = [
            ("protocol", str(protocol.PROTOCOL_VERSION)),
            ("version", __version__),
            ("program", protocol.PROGRAM),
            ("relay", os.urandom(16).hex()),
            ("pid", str(os.getpid())),
            ("folder", str(given.get("folder") or "/")),
            ("operation", OPERATION),
            ("given", json.dumps(given)),
            *(("argument", argument) for argument in self._arguments),
            *(("variable", variable) for variable in variables_for_hub(self.environment)),
        ]
        connection.settimeout(max(deadline - time.monotonic(), _LEAST_SECONDS))
        connection.sendall(pack(protocol.HELLO, pack_fields(hello)))
        reader = FrameReader()
        while True:
            connection.settimeout(max(deadline - time.monotonic(), _LEAST_SECONDS))
            chunk = connection.recv(_CHUNK_BYTES)
            if not chunk:
                raise ConnectionResetError("the hub left")
            for frame in reader.feed(chunk):
                if frame.kind == protocol.RESULT:
                    found = json.loads(frame.payload)
                    return found if isinstance(found, dict) else None
                if frame.kind == protocol.REFUSED:
                    self.refusal = frame.payload.decode(errors="replace")
                if frame.kind == protocol.FAILED and self._hub_is_older():
                    raise _OlderHub
                if frame.kind in (protocol.FAILED, protocol.REFUSED):
                    return None

    def _hub_is_older(self) -> bool:
        from hybrid_memory_mcp.relay.replacing import runs_older_program  # only after a failure

        return runs_older_program(self._home)

    def _start_detached(self) -> None:
        """Start a hub and do not wait for it, unless somebody else is just starting one, or one leaves."""
        starting = connecting.StoreLock(self._home, paths.START_LOCK)
        try:
            if starting.try_acquire() and not connecting.hub_is_running(self._home):
                connecting.start_hub(self._home, paths.option(self._arguments, "--embedder"), self.environment)
        finally:
            starting.release()


def is_usable(home: str) -> bool:
    """Return True if a store can be in the folder ``home``, which is made; False on a disk that cannot be written, or below a file."""
    try:
        os.makedirs(home, 0o700, exist_ok=True)
    except OSError:
        return False
    return os.access(home, os.W_OK | os.X_OK)
