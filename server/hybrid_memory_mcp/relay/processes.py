"""Who is at the other end of a Unix socket, whose a file is, and which process is the hub: before it is believed, or ended.

Used by ``connecting.py``, ``heartbeat.py`` and the hub. What the system tells is asked, never what a file says: credentials of the
socket's peer, the owner of an open file, the holder of a lock. Linux knows all of it, macOS and BSD the user and sometimes the
process, Windows nothing; what is not known is None, and a process that is not known for certain is never ended.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import stat
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Identity = tuple[int, int]

END_TIMEOUT_SECONDS = (
    5.0  # for a process that was killed: milliseconds, longer only where it hangs in the system itself
)

_POLL_SECONDS = 0.005
_CREDENTIAL_BYTES = 12  # Linux, `struct ucred`: process, user and group
_XUCRED_BYTES = 80  # macOS and BSD, `struct xucred`: version, user, groups
_SOL_LOCAL, _LOCAL_PEERCRED, _LOCAL_PEERPID = 0, 1, 2  # macOS; BSD has the first two
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)


class UntrustedFile(PermissionError):
    """A file of the store's folder is a link, or another user's. ``strerror`` is a sentence for a person."""

    def __init__(self, name: str) -> None:
        super().__init__(
            1, f"{name} in the store's folder is a link or another user's; remove it, and let nobody write there"
        )


def peer_of(connection: socket.socket) -> tuple[int | None, int | None]:
    """Return process and user at the other end of a Unix socket, as the system knows them; None for what it does not tell."""
    try:
        if sys.platform == "linux":
            found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIAL_BYTES)
            # A process of another container has the number 0.
            return int.from_bytes(found[:4], sys.byteorder) or None, int.from_bytes(found[4:8], sys.byteorder)
        if sys.platform == "darwin" or "bsd" in sys.platform:
            user = connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, _XUCRED_BYTES)[4:8]
            process = connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERPID) if sys.platform == "darwin" else 0
            return process or None, int.from_bytes(user, sys.byteorder)
    except OSError:
        pass
    return None, None


def is_of_this_user(connection: socket.socket, path: str | None = None) -> bool:
    """Return True if the other end of a Unix socket is a process of this user.

    ``path`` is the socket's file, whose owner counts where the system does not tell the peer's user; without it, at the hub, that
    file's mode has kept others out.
    """
    _, user = peer_of(connection)
    if user is None:
        if path is None:
            return True
        try:
            user = os.lstat(path).st_uid
        except OSError:
            return False
    return user == os.geteuid()


def open_own(path: str, flags: int, mode: int = 0o600) -> int:
    """Open a file of the store's folder and return its descriptor.

    A link, or a file that neither this user nor the system's or the folder's owner made, is refused: in a folder where others may
    write it leads elsewhere, or says what they want.

    Raises:
        UntrustedFile: it is such a file.
        OSError: it cannot be opened.
    """
    try:
        descriptor = os.open(
            path, flags | _NO_FOLLOW | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0), mode
        )
    except OSError:
        if os.path.islink(path):
            raise UntrustedFile(os.path.basename(path)) from None
        raise
    if hasattr(os, "geteuid"):
        found = os.fstat(descriptor)
        trusted = found.st_uid in (os.geteuid(), 0) or found.st_uid == os.stat(os.path.dirname(path)).st_uid
        if not trusted or not stat.S_ISREG(found.st_mode):
            os.close(descriptor)
            raise UntrustedFile(os.path.basename(path))
    return descriptor


def read_own(path: str, count: int) -> bytes:
    """Return the first bytes of a file that is trusted as `open_own` says, and that this user or the system made.

    Raises:
        UntrustedFile: it is no such file.
        OSError: it cannot be read.
    """
    descriptor = open_own(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        # Stricter than for a lock: what is read is believed, and the folder may be of another user.
        if hasattr(os, "geteuid") and os.fstat(descriptor).st_uid not in (os.geteuid(), 0):
            raise UntrustedFile(os.path.basename(path))
        return os.read(descriptor, count)
    finally:
        os.close(descriptor)


class Process:
    """One running process, told apart from a later one with its number by a handle of the system, or by when it began."""

    def __init__(self, pid: int) -> None:
        """Take hold of a process.

        Raises:
            OSError: there is none.
        """
        self.pid = pid
        self._handle = _handle_of(pid)
        self._began = self._beginning()

    def is_of_this_user(self) -> bool:
        """Return True if this user may end it, and no other's process is meant."""
        try:
            if sys.platform == "linux":
                return os.stat(f"/proc/{self.pid}").st_uid == os.geteuid()
            os.kill(self.pid, 0)  # refused for a process of another user, except to root
        except OSError:
            return False
        return True

    def holds(self, lock: Identity) -> bool:
        """Return True if it holds the lock on the file of an identity, or where only Linux could tell."""
        if sys.platform != "linux":
            return True
        # Not by the numbers of /proc/locks alone: on some file systems they are not those that `stat` tells.
        return any(
            identity_of(f"/proc/{self.pid}/fd/{one}") == lock and _is_locked(self.pid, one) for one in self._files()
        )

    def is_stopped(self) -> bool:
        """Return True if it is stopped, by a signal or a debugger. Linux alone tells."""
        return self._stat()[:1] in (["T"], ["t"])

    def is_at_work(self) -> bool:
        """Return True if one of its threads computes, waits for its turn to, or waits for a disk or swapped memory. Linux alone tells."""
        try:
            threads = os.listdir(f"/proc/{self.pid}/task")
        except OSError:
            return False
        return any(_read_stat(f"/proc/{self.pid}/task/{thread}/stat")[:1] in (["R"], ["D"]) for thread in threads)

    def cpu_seconds(self) -> float | None:
        """Return how long it has computed so far, None where only Linux could tell."""
        found = self._stat()[11:13]
        return sum(map(int, found)) / os.sysconf("SC_CLK_TCK") if found else None

    def kill(self) -> bool:
        """End this process and no other, and wait until it is gone, with all that it held.

        False if that is not allowed, takes longer than `END_TIMEOUT_SECONDS`, or the system has no such signal.
        """
        if not hasattr(signal, "SIGKILL"):
            return False
        try:
            if self._handle >= 0:
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)
                return bool(select.select([self._handle], [], [], END_TIMEOUT_SECONDS)[0])
            if self._began == self._beginning():
                os.kill(self.pid, signal.SIGKILL)
                return self._is_gone_in_time()
        except ProcessLookupError:
            pass  # somebody else was quicker
        except OSError:
            return False
        return True

    def _is_gone_in_time(self) -> bool:
        begun = time.monotonic()
        while time.monotonic() - begun < END_TIMEOUT_SECONDS:
            os.kill(self.pid, 0)  # raises ProcessLookupError
            if self._beginning() != self._began or self._stat()[:1] == ["Z"]:
                return True
            time.sleep(_POLL_SECONDS)
        return False

    def _beginning(self) -> list[str]:
        return self._stat()[19:20]

    def close(self) -> None:
        """Let it go."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def _files(self) -> list[str]:
        try:
            return os.listdir(f"/proc/{self.pid}/fd")
        except OSError:
            return []

    def _stat(self) -> list[str]:
        return _read_stat(f"/proc/{self.pid}/stat")


def _handle_of(pid: int) -> int:
    """Return a handle that stays this process's whoever gets its number later; -1 where the system has none."""
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        raise
    except (OSError, AttributeError):  # an older kernel, or not Linux
        return -1


def lock_holders(lock: Identity) -> list[int]:
    """Return the processes that may hold an advisory lock on a file, those on another file of that number too. Linux alone tells."""
    return list(_lock_holders(str(lock[1])))


def identity_of(path: str) -> Identity | None:
    """Return what makes a file the same under any name; None where there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _lock_holders(number: str) -> Iterator[int]:
    try:
        with open("/proc/locks", encoding="ascii") as locks:
            for line in locks:
                # 1: FLOCK  ADVISORY  WRITE 4711 fe:00:123 0 EOF; who waits has an arrow in the second place.
                parts = line.split()
                if parts[1:2] == ["FLOCK"] and parts[5].rpartition(":")[2] == number and int(parts[4]) > 0:
                    yield int(parts[4])
    except OSError:
        pass


def _is_locked(pid: int, descriptor: str) -> bool:
    try:
        with open(f"/proc/{pid}/fdinfo/{descriptor}", encoding="ascii") as told:
            return "FLOCK" in told.read()
    except OSError:
        return False


def _read_stat(path: str) -> list[str]:
    """Return the fields after the program's name, of which the first is the state; none where there is no such process."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return []
