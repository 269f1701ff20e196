"""Connecting to the hub of a store, or starting one first; of many that want to start one, only one does.

Called by the relay (`connect_or_start`), by commands and the hub itself (`connect`, `hub_is_running`).
"""

from __future__ import annotations

import os
import socket
import stat
import sys
import time

from hybrid_memory_mcp.relay import paths, processes
from hybrid_memory_mcp.relay.processes import UntrustedFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Mapping, Sequence

PATIENCE = paths.patience(os.environ)  # noqa: TID251 - what a relay knows of settings it reads itself
# Anyone who has waited so long for a hub asks whether it is there; most calls take milliseconds.
ASK_AFTER_SECONDS = 1.0 * PATIENCE
# A hub listens before it imports anything heavy: tenths of a second after its start, seconds on a busy machine.
START_TIMEOUT_SECONDS = 5.0
# While somebody holds the hub's lock and does not listen, as a hub that leaves: it lets requests end and closes the store.
BUSY_TIMEOUT_SECONDS = 60.0
NONCE_BYTES = 16  # never the same twice
PROOF_BYTES = 32  # of a keyed BLAKE2b, see `proof`

_FULL_TIMEOUT_SECONDS = 2.0  # for a hub to whom more want to connect at once than the system lets wait
BUSY = f"the memory's hub does not answer; end the process that {paths.PID} in the store's folder names"
OLDER_HUB = (
    "the running hub is older than this program and does not leave: restart the other clients of this memory, or end the process "
    f"that {paths.PID} in the store's folder names"
)
HUNG = (
    "{hub} has hung: it has said nothing for {seconds:.0f} s, and it cannot be ended from here. "
    "End the process that {file} in the store's folder names"
)
STOPPED_BY_A_PERSON = (
    "the memory's server, which a person started with `serve --http` (process {pid}), is stopped, so nothing is answered. "
    "Type `fg` in its terminal to let it go on, or end it with `kill -9 {pid}`: then the memory goes on without HTTP"
)

_POLL_SECONDS = 0.005  # adds so much to a start at most, and costs a connection attempt each time
_MAX_LOG_BYTES = 1024 * 1024  # a longer hub.log becomes hub.log.1, in the place of an older one
# What belongs to one client must not become what the hub takes for everybody's.
_CLIENT_VARIABLES = frozenset(
    {
        "TZ",
        *(
            f"HYBRID_MEMORY_{name}"
            for name in ("HOME", "NAMESPACE", "AGENT", "SESSION", "TIMEZONE", "PROMPTS", "PROJECT", "HOOKS")
        ),
    }
)
# DETACHED_PROCESS, CREATE_NEW_PROCESS_GROUP and CREATE_BREAKAWAY_FROM_JOB, which exist on Windows alone
_DETACHED = 0x00000008 | 0x00000200 | 0x01000000 if sys.platform == "win32" else 0


class HubUnavailable(Exception):
    """No hub answers and none could be started; the argument is a sentence that says why, if more is known."""


class HubNotAnswering(Exception):
    """A process holds the hub's lock but does not answer; the argument is a sentence for a person."""


class StoreLock:
    """An advisory lock on a file of the store's folder, as the library ``filelock`` takes it too; not on Windows."""

    def __init__(self, home: str, name: str) -> None:
        self._path = os.path.join(home, name)
        self._descriptor = -1

    def try_acquire(self) -> bool:
        """Return True if the lock is taken now, False if another process holds it; True too where there can be no such lock.

        Raises:
            UntrustedFile: a link or another user's file is in its place.
        """
        try:
            return self.acquire()
        except UntrustedFile:
            raise
        except (ImportError, OSError):
            return True

    def acquire(self) -> bool:
        """Return True if the lock is taken now, False if another process holds it.

        Raises:
            OSError: there can be no such lock; `UntrustedFile` as in `try_acquire`.
            ImportError: the system has no such locks.
        """
        if self._descriptor >= 0:
            return True
        import fcntl

        descriptor = processes.open_own(self._path, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            if isinstance(error, BlockingIOError):
                return False
            raise
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        """Let the lock go."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def connect_or_start(
    home: str,
    embedder: str | None,
    environment: Mapping[str, str],
    not_before: float = 0.0,
    *,
    replace_until: float | None = None,
    hub_options: Sequence[str] = (),
) -> socket.socket:
    """Return a socket that is connected to the hub; starts a hub where there is none, unless another relay just does.

    ``not_before`` is the monotonic time from which a hub may be started. ``hub_options`` are for one that is started here. With
    ``replace_until``, a hub of an older program is first asked to leave and has that long to do so.

    Raises:
        HubUnavailable: a hub could not be started, or did not answer within `START_TIMEOUT_SECONDS`.
        HubNotAnswering: there is one, but it did not answer within `BUSY_TIMEOUT_SECONDS`, or has hung and cannot be ended.
    """
    # Anyone who holds the start lock starts the hub; the others only try to connect. It is held until this relay is connected, so
    # that nobody starts a second hub while the first does not listen yet, and no older program while this one replaces its hub.
    starting = StoreLock(home, paths.START_LOCK)
    try:
        if replace_until is not None:
            _replace_older_hub(home, starting, replace_until)
            not_before = 0.0
        return _connect_or_start(
            home, lambda: start_hub(home, embedder, environment, hub_options), not_before, starting
        )
    except UntrustedFile as error:
        raise HubUnavailable(str(error.strerror)) from None
    finally:
        starting.release()


def _replace_older_hub(home: str, starting: StoreLock, until: float) -> None:
    from hybrid_memory_mcp.relay import replacing  # only who meets an older hub needs it

    while not starting.try_acquire():  # another relay starts a hub, or replaces the same one
        if time.monotonic() > until:
            raise HubNotAnswering(OLDER_HUB)
        time.sleep(_POLL_SECONDS)
    replacing.make_room(home, until)


def _connect_or_start(
    home: str, start: Callable[[], subprocess.Popen[bytes]], not_before: float, starting: StoreLock
) -> socket.socket:
    begun = asked = time.monotonic()
    child: subprocess.Popen[bytes] | None = None
    while True:
        # (1) A hub that listens: the usual case, done at once.
        connection = connect(home)
        if connection is not None:
            return connection
        # (2) None does: start one, if no other relay is just doing that.
        now = time.monotonic()
        if child is None and now >= not_before and _make_folder(home) and starting.try_acquire():
            child = _started(start)
        # (3) Give up when the hub that was started has ended, or when none listens in time and none is about to.
        failed = child is not None and bool(child.poll())
        waited = now - max(begun, not_before)
        if (failed or waited > START_TIMEOUT_SECONDS) and not hub_is_running(home):
            # It may have begun to listen between the attempt above and the look at its lock.
            connection = connect(home)
            if connection is not None:
                return connection
            raise HubUnavailable
        if waited > BUSY_TIMEOUT_SECONDS:
            raise HubNotAnswering(BUSY)
        # (4) Somebody holds the lock and does not listen: it starts or leaves, or it has hung while it did.
        if now - asked > ASK_AFTER_SECONDS:
            replace_hung_hub(home, lambda: not _is_listening(home))
            asked = time.monotonic()
        time.sleep(_POLL_SECONDS)


def replace_hung_hub(home: str, wanted: Callable[[], bool]) -> int | None:
    """Ask the hub whether it is there; one that has hung is ended, so that another can be started. Return its process.

    None if none has hung, or ``wanted`` returned False before that was certain.

    Raises:
        HubNotAnswering: it has hung and cannot be ended, or is a person's to end.
    """
    from hybrid_memory_mcp.relay import heartbeat  # only who waits needs it

    hung = heartbeat.find_hung_hub(home, wanted)
    if hung is not None and hung.is_a_persons:
        hung.spare()
        raise HubNotAnswering(STOPPED_BY_A_PERSON.format(pid=hung.pid))
    if hung is not None and not hung.end():
        raise HubNotAnswering(HUNG.format(hub=hung.describe(), seconds=hung.seconds, file=paths.PID))
    return None if hung is None else hung.pid


def connect(home: str) -> socket.socket | None:
    """Return a socket that is connected to a hub of this user, None where none listens."""
    try:
        port = _read_port(home, paths.PORT)
        if port is not None:
            return _connect_over_loopback(home, port)
        return _connect_over_unix(paths.socket_path(home), _FULL_TIMEOUT_SECONDS)
    except (OSError, ValueError):
        return None


def connect_to_heartbeat(home: str) -> socket.socket | None:
    """Return a socket on which a hub of this user says at once that it is there; None where none listens."""
    try:
        port = _read_port(home, paths.HEARTBEAT_PORT)
        if port is not None:
            # It tells nothing and is told nothing, so there is nothing to prove.
            return socket.create_connection(("127.0.0.1", port), timeout=START_TIMEOUT_SECONDS)
        return _connect_over_unix(paths.socket_path(home, paths.HEARTBEAT_SOCKET), 0.0)
    except (OSError, ValueError):
        return None


def _connect_over_unix(path: str, timeout_seconds: float) -> socket.socket | None:
    """Connect to a socket of this user; another user's, or a link, is none. Nothing is sent before that is known."""
    if not hasattr(socket, "AF_UNIX") or not stat.S_ISSOCK(os.lstat(path).st_mode):
        return None
    begun = time.monotonic()
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        # Without waiting: where too many wait already, the system would let this process wait as long as the hub has hung.
        connection.settimeout(0)
        while True:
            try:
                connection.connect(path)
                break
            except BlockingIOError:
                if time.monotonic() - begun >= timeout_seconds:
                    raise
                time.sleep(_POLL_SECONDS)
        connection.settimeout(None)
        if processes.is_of_this_user(connection, path):
            return connection
    except BaseException:
        connection.close()
        raise
    connection.close()
    return None


def _is_listening(home: str) -> bool:
    connection = connect(home)
    if connection is not None:
        connection.close()
    return connection is not None


def hub_is_running(home: str) -> bool:
    """Return True if a process holds the hub's lock: one that serves, is just starting, or is just leaving."""
    lock = StoreLock(home, paths.HUB_LOCK)
    free = lock.try_acquire()
    lock.release()
    return not free


def start_hub(
    home: str, embedder: str | None, environment: Mapping[str, str], options: Sequence[str] = ()
) -> subprocess.Popen[bytes]:
    """Start a hub that has no part in this process's terminal, pipes and folder.

    Raises:
        OSError: it cannot be started, as where a sandbox forbids it.
    """
    import subprocess

    if not sys.executable:
        raise FileNotFoundError("this Python does not know its own program")
    # -P: the folder that the hub runs in is no place to import from.
    command = [sys.executable, "-P", "-m", "hybrid_memory_mcp", "hub", "--home", home]
    if embedder:
        command += ["--embedder", embedder]
    command += options
    kept = {name: value for name, value in environment.items() if name not in _CLIENT_VARIABLES}
    log = open_log(home)
    try:
        return subprocess.Popen(  # noqa: S603 - our own program
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=home,
            env=kept,
            start_new_session=True,
            creationflags=_DETACHED,
        )
    finally:
        os.close(log)


def proof(token: bytes, nonce: bytes, side: bytes) -> bytes:
    """Return what only one who knows the token can say about a nonce; ``side`` keeps an answer from being an answer back."""
    from hashlib import blake2b

    return blake2b(side + nonce, key=token, digest_size=PROOF_BYTES).digest()


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


def _make_folder(home: str) -> bool:
    """Make the folder, without which there is no lock that lets only one relay start a hub; raises HubUnavailable."""
    try:
        os.makedirs(home, 0o700, exist_ok=True)
    except OSError:
        raise HubUnavailable from None
    return True


def _started(start: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
    try:
        return start()
    except OSError:
        raise HubUnavailable from None


def _read_port(home: str, name: str) -> int | None:
    try:
        return int(processes.read_own(os.path.join(home, name), 16).decode("ascii"))
    except (FileNotFoundError, UntrustedFile):
        return None


def _connect_over_loopback(home: str, port: int) -> socket.socket | None:
    """Connect over loopback. Another user's program may listen there by now, so each side proves that it has the token."""
    token = processes.read_own(os.path.join(home, paths.TOKEN), 64)
    connection = socket.create_connection(("127.0.0.1", port), timeout=START_TIMEOUT_SECONDS)
    try:
        ours = os.urandom(NONCE_BYTES)
        connection.sendall(ours)
        answer = read_exactly(connection, PROOF_BYTES + NONCE_BYTES)
        if answer[:PROOF_BYTES] != proof(token, ours, b"hub"):
            connection.close()
            return None
        connection.sendall(proof(token, answer[PROOF_BYTES:], b"relay"))
        connection.settimeout(None)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except BaseException:
        connection.close()
        raise
    return connection


def open_log(home: str) -> int:
    """Open the hub's log to write at its end; nothing, where a link or another user's file is in its place.

    Raises:
        OSError: it cannot be made.
    """
    folder = os.path.join(home, paths.LOGS)
    os.makedirs(folder, 0o700, exist_ok=True)
    path = os.path.join(folder, paths.LOG)
    try:
        if os.stat(path).st_size > _MAX_LOG_BYTES:
            os.replace(path, path + ".1")
    except OSError:
        pass  # there is none yet, or another relay was quicker
    try:
        if not os.path.islink(folder):
            return processes.open_own(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    except UntrustedFile:
        pass
    return os.open(os.devnull, os.O_WRONLY)
