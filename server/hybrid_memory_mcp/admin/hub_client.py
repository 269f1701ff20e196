"""Asking the hub that has the store open to do an operation, or to leave.

Called by the commands (``cli/operation_call.py``, ``cli/demo.py``) and by ``serve --http``, which takes a hub's place.
"""

from __future__ import annotations

import json
import os
import select
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hybrid_memory.errors import HybridMemoryError, SchemaTooNew, StoreError, error_code
from hybrid_memory_mcp import __version__
from hybrid_memory_mcp.relay import paths, protocol
from hybrid_memory_mcp.relay.chosen_store import variables_for_hub
from hybrid_memory_mcp.relay.connecting import (
    ASK_AFTER_SECONDS,
    HubNotAnswering,
    HubUnavailable,
    connect,
    connect_or_start,
    hub_is_running,
    replace_hung_hub,
)
from hybrid_memory_mcp.relay.processes import UntrustedFile
from hybrid_memory_mcp.relay.protocol import Frame, FrameReader, pack, pack_fields
from hybrid_memory_mcp.relay.replacing import runs_older_program

if TYPE_CHECKING:
    from hybrid_memory_mcp.admin.operations import ProgressCallback

_STOP_TIMEOUT_SECONDS = 15.0  # a hub lets requests end for 5 s and closes the store
_POLL_SECONDS = 0.02  # between two looks whether a hub has left, which takes tenths of a second
_QUESTIONS_UNTIL_SAID = 10  # whether the hub is there, until a person is told: about ten seconds
_CHUNK_BYTES = 1 << 16  # 64 KiB: what a read of a socket gives at most


class OperationFailed(HybridMemoryError):
    """What an operation said in the hub; ``code`` names the error that it raised there, as `error_code` does."""

    def __init__(self, message: str, code: str | None) -> None:
        super().__init__(message)
        self.code = code or "failed"  # a hub that was started before an upgrade does not tell it


class HubEnded(StoreError):
    """The hub ended before it had answered; whether it did the operation is not known."""

    def __init__(self) -> None:
        super().__init__(
            "the memory's hub ended before it had answered, so this may be done or not: look with `hybrid-memory-mcp status`, and run the "
            "command again if it is not"
        )


def call_hub(
    home: Path,
    namespace: str,
    operation: str,
    arguments: Mapping[str, Any],
    on_progress: ProgressCallback,
    say: Callable[[str], None] = lambda _: None,
    *,
    may_start: bool = False,
) -> dict[str, Any] | None:
    """Return what an operation gave, None where no hub runs; ``on_progress`` is told how far it is, ``say`` what takes long.

    ``may_start`` lets one be started that stays for a while; None then means that none can be. A hub of an older program is replaced
    first. One that has hung is ended, and the operation asked of the next one if it has not been sent. One that runs may take as long
    as the operation needs.

    Raises:
        HubEnded: the hub left, died or hung meanwhile.
        HybridMemoryError: what the operation says.
    """
    connection = _connect(home, say)
    if connection is None and may_start:
        connection = _start(home)
    if connection is not None and operation != protocol.LEAVE and runs_older_program(str(home)):
        connection.close()
        connection = _replace_older_hub(home)
    if connection is None:
        return None
    with connection:
        hello = [
            ("protocol", str(protocol.PROTOCOL_VERSION)),
            ("version", __version__),
            ("program", protocol.PROGRAM),
            ("relay", os.urandom(16).hex()),
            ("pid", str(os.getpid())),
            ("operation", operation),
            ("given", json.dumps(arguments)),
            ("namespace", namespace),
            *(("variable", variable) for variable in variables_for_hub(os.environ)),  # noqa: TID251 - handed on
        ]
        with suppress(OSError):  # then there is nothing to read either
            connection.sendall(pack(protocol.HELLO, pack_fields(hello)))
        for frame in _frames(connection, home, say):
            if frame.kind == protocol.PROGRESS:
                progress = json.loads(frame.payload)
                on_progress(progress["done"], progress["total"])
            elif frame.kind == protocol.RESULT:
                found: dict[str, Any] = json.loads(frame.payload)
                return found
            elif frame.kind == protocol.FAILED:
                told = json.loads(frame.payload)
                raise OperationFailed(told["message"], told.get("code"))
            elif frame.kind == protocol.LEAVING:  # it serves another store, and nobody else: it makes room
                _wait_until_gone(home)
                return (
                    call_hub(home, namespace, operation, arguments, on_progress, say, may_start=True)
                    if may_start
                    else None
                )
            elif frame.kind == protocol.REFUSED:
                raise HybridMemoryError(frame.payload.decode("utf-8", "replace"))
    raise HubEnded


def stop_hub(home: Path, *, pause_ms: int = 0) -> bool:
    """Ask the hub of a store to leave, and wait until it has; return True if there is none any more.

    Its clients find another one when they need it; they start one themselves after ``pause_ms`` at the earliest. One that has hung
    is ended.

    Raises:
        StoreError: it has hung and cannot be ended, or the lock that says whether there is one cannot be trusted.
        HybridMemoryError: it is newer than this program, and stays.
    """
    begun = time.monotonic()
    _replace_hung_hub(home, lambda _: None, lambda: True)
    try:
        call_hub(home, "default", protocol.LEAVE, {"pause": pause_ms}, lambda *_: None)
    except HybridMemoryError as error:
        if error_code(error) == error_code(SchemaTooNew()):
            raise
    return _wait_until_gone(home, begun)


def wait_for_hub(home: Path) -> bool:
    """Return True as soon as a hub listens, False if none runs, or none does for a time in which any hub starts."""
    begun = time.monotonic()
    while hub_is_running(str(home)) and time.monotonic() - begun < _STOP_TIMEOUT_SECONDS:
        connection = connect(str(home))
        if connection is not None:
            connection.close()
            return True
        time.sleep(_POLL_SECONDS)
    return False


def _wait_until_gone(home: Path, begun: float | None = None) -> bool:
    """Wait until no hub holds the lock; return False if that takes longer than any hub needs to leave."""
    begun = time.monotonic() if begun is None else begun
    while hub_is_running(str(home)):
        if time.monotonic() - begun > _STOP_TIMEOUT_SECONDS:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def _connect(home: Path, say: Callable[[str], None]) -> socket.socket | None:
    """Return a connection to a hub that was there a moment ago; None where none runs."""
    begun = time.monotonic()
    while True:
        # Before anything is asked of it: what was not sent to a hub that has hung can be asked of the next one.
        _replace_hung_hub(home, say, lambda: True)
        connection = connect(str(home))
        if connection is not None or not hub_is_running(str(home)):
            return connection
        # It starts, or leaves.
        if time.monotonic() - begun > _STOP_TIMEOUT_SECONDS:
            raise StoreError("the memory's hub has been starting or leaving for too long; run the command again")
        time.sleep(_POLL_SECONDS)


def _start(home: Path) -> socket.socket | None:
    """Return a connection to a hub that is started for this command, or just was by another; None where none can be started.

    Raises:
        StoreError: there is one that does not answer.
    """
    # Where nothing can be written no hub could listen, and the command's own process says what is wrong.
    if home.exists() and not os.access(home, os.W_OK | os.X_OK):
        return None
    try:
        return connect_or_start(str(home), None, os.environ, hub_options=[paths.FOR_COMMAND])  # noqa: TID251 - handed on
    except HubUnavailable:
        return None
    except HubNotAnswering as error:
        raise StoreError(str(error)) from None


def _replace_older_hub(home: Path) -> socket.socket | None:
    """Return a connection to a hub of this program in the place of an older one; None where none can be started.

    A hub, and not this process, opens the store, so that the clients that are there are served by what has upgraded it.

    Raises:
        StoreError: the older hub does not leave.
    """
    until = time.monotonic() + _STOP_TIMEOUT_SECONDS
    try:
        return connect_or_start(str(home), None, os.environ, replace_until=until)  # noqa: TID251 - handed on
    except HubUnavailable:
        return None
    except HubNotAnswering as error:
        raise StoreError(str(error)) from None


def _frames(connection: socket.socket, home: Path, say: Callable[[str], None]) -> Iterator[Frame]:
    reader = FrameReader()
    connection.settimeout(ASK_AFTER_SECONDS)
    waiting = 0
    while True:
        try:
            chunk = connection.recv(_CHUNK_BYTES)
        except TimeoutError:
            if not _replace_hung_hub(home, say, lambda: not select.select([connection], [], [], 0)[0]):
                waiting += 1
                if waiting == _QUESTIONS_UNTIL_SAID:
                    say("the memory's hub is there and still at work; Ctrl-C ends this command, not the work")
            continue
        except OSError:
            return
        if not chunk:
            return
        waiting = 0
        yield from reader.feed(chunk)


def _replace_hung_hub(home: Path, say: Callable[[str], None], wanted: Callable[[], bool]) -> bool:
    """End the hub if it has hung, and say so. Return whether it had.

    Raises:
        StoreError: it cannot be ended.
    """
    try:
        ended = replace_hung_hub(str(home), wanted)
    except HubNotAnswering as error:
        raise StoreError(str(error)) from None
    except UntrustedFile as error:
        raise StoreError(str(error.strerror)) from None
    if ended is not None:
        say(f"the memory's hub (process {ended}) had hung and was ended")
    return ended is not None
