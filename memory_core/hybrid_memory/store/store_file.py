"""A store that is a file in a folder, while nobody has it open: what is checked, repaired and erased there."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from hybrid_memory.errors import StoreError
from hybrid_memory.settings import DATABASE

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from hybrid_memory.clock import Clock
    from hybrid_memory.store.erasing import Eraser
    from hybrid_memory.store.findings import Report
    from hybrid_memory.store.restoring import Restorer
    from hybrid_memory.store.transfer import Refusal, TableSums


def check_file(home: Path, clock: Clock, refusal: Refusal) -> Report:
    """Open the store in a folder, which mends its write-ahead log if need be, check it, and close it.

    Raises:
        StoreError: it is in use, damaged, or cannot be opened for another reason.
    """
    from hybrid_memory.store.duck.store import DuckStore

    store = DuckStore.open(home / DATABASE, clock)
    try:
        return store.check(mark_seen=True, refusal=refusal)
    finally:
        with suppress(StoreError):
            store.close()


def repair_file(home: Path, now: datetime, refusal: Refusal) -> Report:
    """Keep the damaged files of the store in a folder in its quarantine, and save what can be read; what is not damaged stays as it is.

    Raises:
        StoreError: the store is in use, or there is no room for the copies; nothing was changed.
    """
    from hybrid_memory.store.duck.recovery.open import ConnectionSettings
    from hybrid_memory.store.duck.recovery.repair import repair

    return repair(home / DATABASE, now, ConnectionSettings(), refusal)


def file_eraser(home: Path) -> Eraser:
    """Return what erases in the store in a folder and in its copies there."""
    from hybrid_memory.store.duck.erase_files import FileEraser

    return FileEraser(home / DATABASE)


def file_restorer(home: Path) -> Restorer:
    """Return what puts a backup in the place of the store in a folder."""
    from hybrid_memory.store.duck.restore_file import FileRestorer

    return FileRestorer(home / DATABASE)


def examine_file(backup: Path, home: Path, refusal: Refusal) -> int:
    """Read a backup whole, as a restore does before it changes anything; returns how many memories it holds.

    Raises:
        StoreDamaged, SchemaTooNew: it is none that could be used.
    """
    from hybrid_memory.store.duck.restore_file import examine

    return examine(backup, home, refusal)


def verify_file(file: Path) -> TableSums:
    """Read every value of a database file that nobody has open, and return the sums.

    Raises:
        StoreDamaged, SchemaTooNew: it cannot be read whole.
    """
    from hybrid_memory.store.duck.files.database_copy import verify

    return verify(file)


def remove_file(file: Path) -> None:
    """Remove a database file and its log, where they exist."""
    from hybrid_memory.store.duck.files.database_copy import remove_database

    remove_database(file)


def make_private_folder(folder: Path) -> None:
    """Make a folder that only its owner can enter; one that is there already stays as it is.

    Raises:
        StoreReadOnly: it cannot be made.
    """
    from hybrid_memory.store.duck.files.database_file import make_folder

    make_folder(folder)
