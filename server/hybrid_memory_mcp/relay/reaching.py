"""Finding the hub of a store, or starting one."""

from __future__ import annotations

import os
import socket
import time

from hybrid_memory_mcp.relay import places
from hybrid_memory_mcp.relay.spawning import FileLock, hub_is_there, start_hub

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping

PATIENCE = 5.0
LONG_PATIENCE = 60.0

_PAUSE = 0.005
_NONCE = 16


class NoHub(Exception):
    """No hub answers and none could be started."""


class HubBusy(Exception):
    """A process holds the hub's lock but does not answer."""


def reach(home: str, embedder: str | None, environment: Mapping[str, str], not_before: float = 0.0) -> socket.socket:
    """Return a socket that is connected to the hub; starts a hub where there is none, unless another relay just does.

    ``not_before`` is the monotonic time from which a hub may be started.

    Raises:
        NoHub: a hub could not be started, or did not answer within `PATIENCE` seconds.
        HubBusy: there is one, but it did not answer within `LONG_PATIENCE` seconds.
    """
    begun = time.monotonic()
    starting = FileLock(home, places.START_LOCK)
    child: subprocess.Popen[bytes] | None = None
    try:
        while True:
            connection = connect(home)
            if connection is not None:
                return connection
            now = time.monotonic()
            if child is None and now >= not_before and _made(home) and starting.take():
                child = _started(home, embedder, environment)
            failed = child is not None and bool(child.poll())
            waited = now - max(begun, not_before)
            if (failed or waited > PATIENCE) and not hub_is_there(home):
                connection = connect(home)
                if connection is not None:
                    return connection
                raise NoHub
            if waited > LONG_PATIENCE:
                raise HubBusy
            time.sleep(_PAUSE)
    finally:
        starting.release()


def connect(home: str) -> socket.socket | None:
    """Return a socket that is connected to a hub, None where none listens."""
    try:
        port = _port(home)
        if port is not None:
            return _over_loopback(home, port)
        if not hasattr(socket, "AF_UNIX"):
            return None
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(places.socket_path(home))
        except BaseException:
            connection.close()
            raise
    except (OSError, ValueError):
        return None
    return connection


def proof(token: bytes, nonce: bytes, side: bytes) -> bytes:
    """Return what only one who knows the token can say about a nonce; ``side`` keeps an answer from being an answer back."""
    from hashlib import blake2b

    return blake2b(side + nonce, key=token, digest_size=32).digest()


def read_exactly(connection: socket.socket, count: int) -> bytes:
    """Return the next bytes.

    Raises:
        OSError: there are fewer.
    """
    found = b""
    while len(found) < count:
        part = connection.recv(count - len(found))
        if not part:
            raise ConnectionResetError("the other side left")
        found += part
    return found


def _made(home: str) -> bool:
    """Make the folder, without which there is no lock that lets only one relay start a hub; raises NoHub."""
    try:
        os.makedirs(home, 0o700, exist_ok=True)
    except OSError:
        raise NoHub from None
    return True


def _started(home: str, embedder: str | None, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    try:
        return start_hub(home, embedder, environment)
    except OSError:
        raise NoHub from None


def _port(home: str) -> int | None:
    try:
        with open(os.path.join(home, places.PORT), encoding="ascii") as file:
            return int(file.read(16))
    except FileNotFoundError:
        return None


def _over_loopback(home: str, port: int) -> socket.socket | None:
    """Connect over loopback. Another user's program may listen there by now, so each side proves that it has the token."""
    with open(os.path.join(home, places.TOKEN), "rb") as file:
        token = file.read(64)
    connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    try:
        ours = os.urandom(_NONCE)
        connection.sendall(ours)
        answer = read_exactly(connection, 32 + _NONCE)
        if answer[:32] != proof(token, ours, b"hub"):
            connection.close()
            return None
        connection.sendall(proof(token, answer[32:], b"relay"))
        connection.settimeout(None)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except BaseException:
        connection.close()
        raise
    return connection
