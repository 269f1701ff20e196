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
from hybrid_memory.private_files import FILE_MODE, replace_private
from hybrid_memory.store.duck.duckdb_errors import translated


class DatabaseLock:
    """Holds ``<name>.lock`` beside a database file; ``<name>.pid`` tells others which process does."""

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
                raise StoreLocked(self._holder()) from None
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
        try:
            return int(self._pid_file.read_text("ascii"))
        except (OSError, ValueError):
            return None
