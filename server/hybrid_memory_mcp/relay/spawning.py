"""Starting a hub that outlives the one who starts it, once even if many want to."""

from __future__ import annotations

import os
import sys

from hybrid_memory_mcp.relay import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping

# What belongs to one client must not become what the hub takes for everybody's.
_OF_A_CLIENT = frozenset(
    {"TZ", *(f"HYBRID_MEMORY_{name}" for name in ("HOME", "NAMESPACE", "AGENT", "SESSION", "TIMEZONE", "PROMPTS"))}
)
_LARGEST_LOG = 1024 * 1024


class FileLock:
    """An advisory lock on a file of the store's folder, as the library ``filelock`` takes it too; not on Windows."""

    def __init__(self, home: str, name: str) -> None:
        self._path = os.path.join(home, name)
        self._descriptor = -1

    def take(self) -> bool:
        """Take the lock if nobody else holds it; where that cannot be told, say yes."""
        try:
            import fcntl
        except ImportError:
            return True
        descriptor = -1
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if descriptor >= 0:
                os.close(descriptor)
            return not isinstance(error, BlockingIOError)
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        """Let the lock go."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def hub_is_there(home: str) -> bool:
    """Say whether a process holds the hub's lock: one that serves, is just starting, or is just leaving."""
    lock = FileLock(home, places.HUB_LOCK)
    free = lock.take()
    lock.release()
    return not free


def start_hub(home: str, embedder: str | None, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
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
    kept = {name: value for name, value in environment.items() if name not in _OF_A_CLIENT}
    log = _open_log(home)
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


def _open_log(home: str) -> int:
    folder = os.path.join(home, places.LOGS)
    os.makedirs(folder, 0o700, exist_ok=True)
    path = os.path.join(folder, places.LOG)
    try:
        if os.stat(path).st_size > _LARGEST_LOG:
            os.replace(path, path + ".1")
    except OSError:
        pass  # there is none yet, or another relay was quicker
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


# DETACHED_PROCESS, CREATE_NEW_PROCESS_GROUP and CREATE_BREAKAWAY_FROM_JOB, which exist on Windows alone
_DETACHED = 0x00000008 | 0x00000200 | 0x01000000 if sys.platform == "win32" else 0
