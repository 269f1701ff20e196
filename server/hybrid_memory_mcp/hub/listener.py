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
from typing import TYPE_CHECKING

from hybrid_memory.private_files import replace_private
from hybrid_memory_mcp.hub.heartbeat import Heartbeat, LoopWatch
from hybrid_memory_mcp.relay import paths
from hybrid_memory_mcp.relay.connecting import StoreLock, connect
from hybrid_memory_mcp.relay.protocol import LEAVING, pack

if TYPE_CHECKING:
    from filelock import FileLock

LOCK_TIMEOUT_SECONDS = 10.0  # a hub that leaves lets requests end for 5 s, and then closes the store

_POLL_SECONDS = 0.01  # between two tries for the lock: short alongside the tenths of a second that a hub takes to start
_BACKLOG = 128  # connections that are not accepted yet: more than relays that start at once
_TOKEN_BYTES = 32  # 256 random bits: nobody guesses it


class HubListener:
    """A listening socket that relays find, the hub's heartbeat, and the lock that says whose they are.

    The heartbeat goes on when the socket is closed, until the lock is given back: a hub that leaves has not hung. ``loop_watch`` is
    told of the event loop by anyone who runs one. ``token`` is what others must know: over loopback, where any user of the machine can
    connect; None for a Unix socket.
    """

    def __init__(self, home: Path, lock: StoreLock | FileLock) -> None:
        self.home = home
        self._lock = lock
        self._lock_file = _identity(home / paths.HUB_LOCK)
        self.loop_watch = LoopWatch()
        self._listen()

    @property
    def is_reachable(self) -> bool:
        """Whether relays still find this socket; something may have removed the file that leads to it."""
        return self._places == {address: _identity(address) for address in self._places}

    @property
    def owns_folder(self) -> bool:
        """Whether the lock is still the one of this folder, which may have been removed or replaced as a whole."""
        return _identity(self.home / paths.HUB_LOCK) == self._lock_file

    def reopen(self) -> None:
        """Listen again where relays look.

        Raises:
            OSError: nothing can be made there.
        """
        self.socket.close()
        self.heartbeat.close()
        self._listen()

    def close(self) -> None:
        """Accept nobody any more; the lock stays, so that no other hub opens the store before this one has closed it."""
        _remove_if_same(self._address, self._places[self._address])
        if self.token is None:  # over loopback nobody has proved yet who connected
            self._turn_away()
        self.socket.close()

    def _turn_away(self) -> None:
        """Tell those who came too late to be accepted: a command must know that nothing of what it asks was begun."""
        with contextlib.suppress(OSError):
            self.socket.settimeout(0)
            while True:
                late, _ = self.socket.accept()
                with late:
                    late.sendall(pack(LEAVING))

    def release(self) -> None:
        """Let another hub take the lock."""
        _remove_if_same(self._heartbeat_address, self._places[self._heartbeat_address])
        self.heartbeat.close()
        with contextlib.suppress(OSError):
            if self.owns_folder:
                (self.home / paths.PID).unlink()
                (self.home / paths.HTTP).unlink(missing_ok=True)
        self._lock.release()

    def _listen(self) -> None:
        self.socket, self._address, self.token = _listen(self.home)
        try:
            beating, self._heartbeat_address = _listen_for_heartbeat(self.home, over_loopback=self.token is not None)
        except BaseException:
            self.socket.close()
            raise
        self.heartbeat = Heartbeat(beating, self.loop_watch.ask)
        self._places = {address: _identity(address) for address in (self._address, self._heartbeat_address)}


def acquire_listener(home: Path, *, serves_http: bool = False) -> HubListener | None:
    """Take the hub's lock and listen; None when another hub does, or is not gone within `LOCK_TIMEOUT_SECONDS`.

    ``serves_http`` is noted for relays, which do not end such a hub while it is only stopped.

    Raises:
        OSError: nothing can be made in the folder.
    """
    home.mkdir(0o700, parents=True, exist_ok=True)
    # The lock of the system, not the file, counts: what a killed hub left behind is free. A relay asks for the same lock to know
    # whether a hub runs (`connecting.hub_is_running`), which takes it for microseconds: hence tries, not one.
    lock = _lock_of(home)
    begun = time.monotonic()
    while True:
        if _try(lock):
            break
        # Held by a hub that serves (then this one is not needed), that is just starting, or that is just leaving.
        other = connect(str(home))
        if other is not None:
            other.close()
            return None
        if time.monotonic() - begun > LOCK_TIMEOUT_SECONDS:
            return None
        time.sleep(_POLL_SECONDS)
    # From here on this process alone may touch the socket's file, and what is there is a dead hub's.
    try:
        listener = HubListener(home, lock)
        # Not through a link that somebody put there. What a dead hub noted of itself goes.
        pid = f"{os.getpid()}\n".encode("ascii")
        replace_private(home / paths.PID, pid, durable=False)
        if serves_http:
            replace_private(home / paths.HTTP, pid, durable=False)
        else:
            with contextlib.suppress(PermissionError):  # another user's: no relay believes it
                (home / paths.HTTP).unlink(missing_ok=True)
    except BaseException:
        lock.release()
        raise
    return listener


def _lock_of(home: Path) -> StoreLock | FileLock:
    if os.name == "posix":
        return StoreLock(str(home), paths.HUB_LOCK)
    from filelock import FileLock

    return FileLock(home / paths.HUB_LOCK, mode=0o600, thread_local=False)


def _try(lock: StoreLock | FileLock) -> bool:
    """Take the lock if it is free.

    Raises:
        OSError: nothing can be locked there.
    """
    if isinstance(lock, StoreLock):
        return lock.acquire()
    from filelock import Timeout

    try:
        lock.acquire(timeout=0)
    except Timeout:
        return False
    return True


def _remove_if_same(path: Path, identity: tuple[int, int] | None) -> None:
    with contextlib.suppress(OSError):
        if _identity(path) == identity:
            path.unlink()


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _listen(home: Path) -> tuple[socket.socket, Path, bytes | None]:
    with contextlib.suppress(PermissionError):  # another user's: no relay reads it
        (home / paths.PORT).unlink(missing_ok=True)
    wants_loopback = os.environ.get(paths.LOOPBACK)  # noqa: TID251 - the socket is chosen before settings are imported
    if hasattr(socket, "AF_UNIX") and not wants_loopback:
        with contextlib.suppress(OSError):  # a file system that holds no sockets
            return *_listen_over_unix(home, paths.SOCKET), None
    # The port last: a relay that finds it must find the token that belongs to it.
    token = secrets.token_bytes(_TOKEN_BYTES)
    replace_private(home / paths.TOKEN, token, durable=False)
    return *_listen_over_loopback(home / paths.PORT), token


def _listen_for_heartbeat(home: Path, *, over_loopback: bool) -> tuple[socket.socket, Path]:
    if over_loopback:
        return _listen_over_loopback(home / paths.HEARTBEAT_PORT)
    with contextlib.suppress(PermissionError):
        (home / paths.HEARTBEAT_PORT).unlink(missing_ok=True)
    return _listen_over_unix(home, paths.HEARTBEAT_SOCKET)


def _listen_over_unix(home: Path, name: str) -> tuple[socket.socket, Path]:
    address = Path(paths.socket_path(str(home), name))
    address.unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listening.bind(str(address))
        address.chmod(0o600)
        listening.listen(_BACKLOG)
    except BaseException:
        listening.close()
        raise
    return listening, address


def _listen_over_loopback(file: Path) -> tuple[socket.socket, Path]:
    """Listen at a port of this machine, which a file tells."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
    try:
        replace_private(file, f"{listening.getsockname()[1]}\n".encode(), durable=False)
    except BaseException:
        listening.close()
        raise
    return listening, file
