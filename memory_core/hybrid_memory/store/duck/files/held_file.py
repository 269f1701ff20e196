"""A database file that nobody has open, for commands that work on the file itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hybrid_memory.private_files import copy_private
from hybrid_memory.store.duck.duckdb_errors import translated
from hybrid_memory.store.duck.files.database_copy import open_session
from hybrid_memory.store.duck.files.database_file import log_file, make_folder
from hybrid_memory.store.duck.files.database_lock import DatabaseLock
from hybrid_memory.store.duck.files.swap import finish_swap


@contextmanager
def hold_store(path: Path) -> Iterator[None]:
    """Hold the lock of a store that nobody has open, after what an earlier crash left was finished."""
    make_folder(path.parent)
    lock = DatabaseLock(path)
    lock.take()
    try:
        finish_swap(path)
        yield
    finally:
        lock.release()


def copy_with_log(source: Path, target: Path) -> None:
    """Copy a database file that nobody has open, with the writes of its log in it."""
    with translated():
        copy_private(source, target)
        if not log_file(source).is_file():
            return
        copy_private(log_file(source), log_file(target))
    # Opening executes the log, closing moves it into the file.
    with open_session(target):
        pass
