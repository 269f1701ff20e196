"""The store's own lock: whoever opens the database file holds it.

DuckDB locks its file with a POSIX record lock, which the owner loses as soon as any code in its process opens and
closes that file. This lock is an advisory lock on another file and has no such trap.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from hybrid_memory.errors import StoreLocked
from hybrid_memory.store.duck.duckdb_errors import translated

_PRIVATE = 0o600


class StoreLock:
    """Holds ``<name>.lock`` beside a database file; ``<name>.pid`` tells others who does."""

    def __init__(self, database: Path) -> None:
        self._pid_file = database.with_suffix(".pid")
        self._lock = FileLock(database.with_suffix(".lock"), mode=_PRIVATE, thread_local=False)

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
                raise StoreLocked(self._holder()) from None
        try:
            with translated():
                self._write_pid()
        except BaseException:
            self._lock.release(force=True)
            raise

    def release(self) -> None:
        """Let the lock go; the lock file stays, because removing it would split those who wait for it."""
        with suppress(OSError):
            self._pid_file.unlink(missing_ok=True)
        self._lock.release(force=True)

    def _write_pid(self) -> None:
        fresh = self._pid_file.with_suffix(".pid.new")
        fresh.unlink(missing_ok=True)
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE)
        with os.fdopen(handle, "w") as file:
            file.write(f"{os.getpid()}\n")
        fresh.replace(self._pid_file)

    def _holder(self) -> int | None:
        try:
            return int(self._pid_file.read_text("ascii"))
        except (OSError, ValueError):
            return None
