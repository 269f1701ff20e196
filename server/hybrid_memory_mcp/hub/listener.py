"""The hub's lock and its listening socket: one hub a store, listening before anything heavy is imported.

Taken by ``program.py`` and ``run.py`` (hubs) and by ``http/server.py``. Relays look for the socket in ``relay/connecting.py``.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import time
from pathlib import Path

from filelock import FileLock, Timeout

from hybrid_memory.private_files import replace_private
from hybrid_memory_mcp.relay import paths
from hybrid_memory_mcp.relay.connecting import connect

LOCK_TIMEOUT_SECONDS = 10.0  # a hub that leaves lets requests end for 5 s, and then closes the store

_POLL_SECONDS = 0.01  # between two tries for the lock: short beside the tenths of a second that a hub takes to start
_BACKLOG = 128  # connections that are not accepted yet: more than relays that start at once
_TOKEN_BYTES = 32  # 256 random bits: nobody guesses it


class HubListener:
    """A listening socket that relays find, and the lock that says whose it is.

    ``token`` is what others must know: over loopback, where any user of the machine can connect; None for a Unix socket.
    """

    def __init__(self, home: Path, lock: FileLock) -> None:
        self.home = home
        self._lock = lock
        self._lock_file = _identity(home / paths.HUB_LOCK)
        self.socket, self._address, self.token = _listen(home)
        self._address_file = _identity(self._address)

    @property
    def is_reachable(self) -> bool:
        """Whether relays still find this socket; something may have removed the file that leads to it."""
        return _identity(self._address) == self._address_file

    @property
    def owns_folder(self) -> bool:
        """Whether the lock is still the one of this folder, which may have been removed or replaced as a whole."""
        return _identity(self.home / paths.HUB_LOCK) == self._lock_file

    def reopen(self) -> None:
        """Listen anew where relays look.

        Raises:
            OSError: nothing can be made there.
        """
        self.socket.close()
        self.socket, self._address, self.token = _listen(self.home)
        self._address_file = _identity(self._address)

    def close(self) -> None:
        """Accept nobody any more; the lock stays, so that no other hub opens the store before this one has closed it."""
        with contextlib.suppress(OSError):
            if self.is_reachable:
                self._address.unlink()
        self.socket.close()

    def release(self) -> None:
        """Let another hub take the lock."""
        with contextlib.suppress(OSError):
            if self.owns_folder:
                (self.home / paths.PID).unlink()
        self._lock.release()


def acquire_listener(home: Path) -> HubListener | None:
    """Take the hub's lock and listen; None when another hub does, or is not gone within `LOCK_TIMEOUT_SECONDS`.

    Raises:
        OSError: nothing can be made in the folder.
    """
    home.mkdir(0o700, parents=True, exist_ok=True)
    # The lock of the system, not the file, counts: what a killed hub left behind is free. A relay asks for the same lock to know
    # whether a hub runs (`connecting.hub_is_running`), which takes it for microseconds: hence tries, not one.
    lock = FileLock(home / paths.HUB_LOCK, mode=0o600, thread_local=False)
    begun = time.monotonic()
    while True:
        try:
            lock.acquire(timeout=0)
            break
        except Timeout:
            # Held by a hub that serves (then this one is not needed), that is just starting, or that is just leaving.
            other = connect(str(home))
            if other is not None:
                other.close()
                return None
            if time.monotonic() - begun > LOCK_TIMEOUT_SECONDS:
                return None
            time.sleep(_POLL_SECONDS)
    # From here on this process alone may touch the socket's file, and what stands there is a dead hub's.
    try:
        listener = HubListener(home, lock)
        (home / paths.PID).write_text(f"{os.getpid()}\n", "ascii")
    except BaseException:
        lock.release()
        raise
    return listener


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _listen(home: Path) -> tuple[socket.socket, Path, bytes | None]:
    (home / paths.PORT).unlink(missing_ok=True)
    wants_loopback = os.environ.get(paths.LOOPBACK)  # noqa: TID251 - the socket is chosen before settings are imported
    if hasattr(socket, "AF_UNIX") and not wants_loopback:
        with contextlib.suppress(OSError):  # a file system that holds no sockets
            address = Path(paths.socket_path(str(home)))
            address.unlink(missing_ok=True)
            listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                listening.bind(str(address))
                address.chmod(0o600)
                listening.listen(_BACKLOG)
            except BaseException:
                listening.close()
                raise
            return listening, address, None
    return _listen_on_loopback(home)


def _listen_on_loopback(home: Path) -> tuple[socket.socket, Path, bytes | None]:
    token = secrets.token_bytes(_TOKEN_BYTES)
    listening = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
    try:
        # The port last: a relay that finds it must find the token that belongs to it.
        replace_private(home / paths.TOKEN, token, durable=False)
        replace_private(home / paths.PORT, f"{listening.getsockname()[1]}\n".encode(), durable=False)
    except BaseException:
        listening.close()
        raise
    return listening, home / paths.PORT, token
