"""Puts a backup in the place of a store that is a file, which nobody may have open: `FileRestorer`."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from hybrid_memory.errors import StoreDamaged, StoreError
from hybrid_memory.private_files import fsync_file
from hybrid_memory.settings import DATABASE
from hybrid_memory.store.duck.duckdb_errors import DAMAGED, translated
from hybrid_memory.store.duck.files.database_copy import copy_with_log, open_session, remove_database, verify
from hybrid_memory.store.duck.files.swap import hold_store, next_file, store_files, swap
from hybrid_memory.store.duck.recovery import quarantine
from hybrid_memory.store.duck.recovery.inspection import inspect
from hybrid_memory.store.duck.recovery.quarantine import RecoveryReport
from hybrid_memory.store.duck.writer_cache import pinned_embedder
from hybrid_memory.store.restoring import Restored

if TYPE_CHECKING:
    from datetime import datetime

    from hybrid_memory.store.erasing import OnStep
    from hybrid_memory.store.transfer import Refusal, TableSums


class FileRestorer:
    """Restores the store of a database file; see `hybrid_memory.store.restoring.Restorer`."""

    needs_closed_store = True

    def __init__(self, path: Path) -> None:
        self._path = path

    def restore(self, backup: Path, now: datetime, *, refusal: Refusal, on_step: OnStep = lambda _: None) -> Restored:
        """Put a backup in the place of the store, which may be damaged or missing."""
        path = self._path
        with hold_store(path):
            new = next_file(path)
            try:
                embedder = copy_and_inspect(backup, new, refusal, on_step)
                if embedder is not None and embedder == _present_embedder(path):
                    embedder = None  # nothing to tell
                sums = verify_backup(new)
                with translated():
                    fsync_file(new)
                on_step("checked")
                # Last, so that a backup that is refused leaves no empty folder.
                aside = folder_for_replaced(path, now) if store_files(path) else None
            except BaseException:
                remove_database(new)
                raise
            swap(path, aside, on_step)
        return Restored(sums["memory"][0], aside, None if aside is None else embedder)


def examine(backup: Path, home: Path, refusal: Refusal) -> int:
    """Read a backup whole, as a restore does before it changes anything; returns how many memories it holds."""
    with translated(), TemporaryDirectory(prefix=".backup-", dir=home if home.is_dir() else None) as folder:
        copy = Path(folder) / DATABASE
        copy_and_inspect(backup, copy, refusal, lambda _: None)
        return verify_backup(copy)["memory"][0]


def copy_and_inspect(backup: Path, new: Path, refusal: Refusal, on_step: OnStep) -> str | None:
    """Copy a backup to a new file and look at it; returns its embedder.

    Raises:
        StoreDamaged, SchemaTooNew: it is none that could be used.
    """
    try:
        copy_with_log(backup, new)
        on_step("copied")
        return inspect(new, refusal)
    except StoreDamaged as error:
        if str(error) != DAMAGED:
            raise
        # The words of an opening name the store, which is not what cannot be read.
        raise StoreDamaged(
            "the given file is no database that can be read; nothing was changed. Name another backup"
        ) from None


def _present_embedder(path: Path) -> str | None:
    """Return the embedder of the store that is replaced; None where there is no store, or none that can be read."""
    if not path.is_file():
        return None
    try:
        with open_session(path, read_only=True) as session:
            found = pinned_embedder(session)
    except StoreError:
        return None
    return None if found is None else found.identity


def verify_backup(file: Path) -> TableSums:
    """Read every value of a copy of a backup.

    Raises:
        StoreDamaged, SchemaTooNew: it cannot be read whole.
    """
    try:
        return verify(file)
    except StoreDamaged:
        raise StoreDamaged(
            "the file cannot be read whole as a backup of this program; nothing was changed. Try an older one"
        ) from None


def folder_for_replaced(path: Path, now: datetime) -> Path:
    """Make a folder in quarantine for what a restore replaces, with a report that nobody need be told."""
    folder = quarantine.create_folder(path, "replaced", now)
    at = quarantine.report_time(now)
    report = RecoveryReport(at=at, damaged="a backup replaced the store", folder=folder.name, seen=True)
    quarantine.write_report(folder, report)
    return folder
