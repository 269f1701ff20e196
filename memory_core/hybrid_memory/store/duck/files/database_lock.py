"""The lock of a database file: whoever opens the file holds it, a `DuckStore` or a command on files.

DuckDB locks its file with a POSIX record lock, which the owner loses as soon as any code in its process opens and
closes that file. This lock is an advisory lock on another file and does not have this fault.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from hybrid_memory.errors import StoreLocked
from hybrid_memory.private_files import FILE_MODE, open_plain_file, replace_private
from hybrid_memory.store.duck.duckdb_errors import translated

_MAX_PID_BYTES = 16


class DatabaseLock:
    """Holds ``<name>.lock`` alongside a database file; ``<name>.pid`` tells others which process does."""

    def __init__(self, database: Path) -> None:
        self._pid_file = database.with_suffix(".pid")
        self._lock = FileLock(database.with_suffix(".lock"), mode=FILE_MODE, thread_local=False)

    def take(self) -> None:
        """Take the lock at once or not at all.

        Raises:
            StoreLocked: somebody holds it, this process included.
            StoreReadOnly: the folder cannot be written.
        """
        with translated():
            try:
                self._lock.acquire(timeout=0)
            except Timeout:
                pid = self._holder()
                raise StoreLocked(pid, None if pid else self._other_user()) from None
            except PermissionError:
                user = self._other_user()
                if user is None:
                    raise
                raise StoreLocked(user=user) from None
        try:
            with translated():
                # Only a hint for an error message, so it need not survive a power cut.
                replace_private(self._pid_file, f"{os.getpid()}\n".encode("ascii"), durable=False)
        except BaseException:
            self._lock.release(force=True)
            raise

    def release(self) -> None:
        """Let the lock go; the lock file stays, because removing it would split those who wait for it."""
        with suppress(OSError):
            self._pid_file.unlink(missing_ok=True)
        self._lock.release(force=True)

    def _holder(self) -> int | None:
        """Return the process that holds the lock, as far as a file of this user's names one that is there."""
        try:
            with open_plain_file(self._pid_file) as stream:
                if _other_owner(os.fstat(stream.fileno())) is not None:
                    return None
                pid = int(stream.read(_MAX_PID_BYTES))
            if os.name == "posix":
                os.kill(pid, 0)  # asks only; it is this user's, as the file is
        except (OSError, ValueError, OverflowError):
            return None
        return pid

    def _other_user(self) -> str | None:
        """Return whose the lock file is if it is not this user's. The system tells nobody else who holds it."""
        try:
            return _other_owner(Path(self._lock.lock_file).stat())
        except OSError:
            return None


def _other_owner(found: os.stat_result) -> str | None:
    if os.name != "posix" or found.st_uid == os.geteuid():
        return None
    import pwd

    try:
        return pwd.getpwuid(found.st_uid).pw_name
    except KeyError:
        return str(found.st_uid)
