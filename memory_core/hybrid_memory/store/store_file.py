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
    from hybrid_memory.store.base import Report
    from hybrid_memory.store.erasing import Eraser
    from hybrid_memory.store.transfer import Refusal


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
