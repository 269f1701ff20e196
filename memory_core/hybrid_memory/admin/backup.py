"""Backup: a copy of a store beside it or elsewhere, made while it is in use. Restore: a copy in the place of the store.

Called by the operations ``backup`` and ``restore`` of the command line. Both read the copy whole before it counts.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from hybrid_memory.admin.trusted_lines import refusal
from hybrid_memory.admin.user_files import atomic_file, file_errors
from hybrid_memory.errors import InvalidInput, StoreDamaged, StoreError, StoreReadOnly
from hybrid_memory.private_files import fsync_file, fsync_folder
from hybrid_memory.settings import DATABASE
from hybrid_memory.store.duck.duckdb_errors import DAMAGED
from hybrid_memory.store.duck.files.database_copy import open_session, remove_database, verify
from hybrid_memory.store.duck.files.database_file import backup_folder, make_folder
from hybrid_memory.store.duck.files.held_file import copy_with_log, hold_store
from hybrid_memory.store.duck.files.swap import next_file, store_files, swap
from hybrid_memory.store.duck.recovery import quarantine
from hybrid_memory.store.duck.recovery.inspection import inspect
from hybrid_memory.store.duck.recovery.quarantine import RecoveryReport
from hybrid_memory.store.duck.writer_cache import pinned_embedder
from hybrid_memory.store.home_files import list_backups

if TYPE_CHECKING:
    from hybrid_memory.store.erasing import OnStep
    from hybrid_memory.store.transfer import TableSums, TransferableStore

_UNFINISHED = ".making.duckdb"


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was made and read again: its file, the memories in it, its bytes, and how many old ones went."""

    file: Path
    memories: int
    bytes: int
    removed: int


@dataclass(frozen=True, slots=True)
class Restored:
    """What a store was restored to, and the folder with the files that it replaced; None where there were none.

    ``embedder`` is that of the backup where it is another than the present store's, else None.
    """

    memories: int
    aside: Path | None
    embedder: str | None = None


def create_backup(
    store: TransferableStore,
    home: Path,
    now: datetime,
    *,
    keep: int,
    target: Path | None = None,
    on_step: OnStep = lambda _: None,
) -> Backup:
    """Copy the store of a folder while it is in use, read the copy whole, and give it its name.

    Without a ``target`` it goes among the store's own backups, of which the newest ``keep`` stay.

    Raises:
        StoreFull, StoreReadOnly: it could not be written; nothing is left of it.
        StoreDamaged: what was written cannot be read again.
    """
    folder = _backup_folder(home)
    part = folder / _UNFINISHED
    remove_database(part)  # what a killed backup left
    try:
        written = store.transfer.copy_to(part)
        with file_errors():
            fsync_file(part)
        on_step("written")
        # Read again from the file: a disk that fails is noticed now, and not when the backup is needed.
        if verify(part) != written:
            raise StoreDamaged(
                "the copy does not hold what was written; the disk may be failing, the store is unchanged"
            )
        on_step("checked")
        size = part.stat().st_size
        if target is None:
            file = _unused_name(folder, now)
            with file_errors():
                part.rename(file)
                fsync_folder(folder)
        else:
            file = target
            _copy_to_target(part, target)
    finally:
        remove_database(part)
    on_step("named")
    removed = 0 if target is not None else _remove_old(folder, keep)
    return Backup(file, written["memory"][0], size, removed)


def restore(home: Path, backup: Path, now: datetime, *, on_step: OnStep = lambda _: None) -> Restored:
    """Put a backup in the place of the store, which nobody may have open; what was there is put aside.

    The present store may be damaged or missing. A crash leaves the one or the other.

    Raises:
        StoreDamaged, SchemaTooNew: the backup is none that could be used; nothing was changed.
        StoreLocked: somebody has the store open.
    """
    path = home / DATABASE
    with hold_store(path):
        new = next_file(path)
        try:
            embedder = _copy_and_inspect(backup, new, on_step)
            if embedder is not None and embedder == _present_embedder(path):
                embedder = None  # nothing to tell
            sums = _verify_backup(new)
            with file_errors():
                fsync_file(new)
            on_step("checked")
            # Last, so that a backup that is refused leaves no empty folder.
            aside = _new_quarantine_folder(path, now) if store_files(path) else None
        except BaseException:
            remove_database(new)
            raise
        swap(path, aside, on_step)
    return Restored(sums["memory"][0], aside, embedder)


def examine(backup: Path, home: Path) -> int:
    """Read a backup whole, as `restore` does before it changes anything; returns how many memories it holds.

    The copy that is read lies in the store's folder if there is one, which has room for it when `restore` has.

    Raises:
        StoreDamaged, SchemaTooNew: the backup is none that could be used.
    """
    with file_errors(), TemporaryDirectory(prefix=".backup-", dir=home if home.is_dir() else None) as folder:
        copy = Path(folder) / DATABASE
        _copy_and_inspect(backup, copy, lambda _: None)
        return _verify_backup(copy)["memory"][0]


def _copy_and_inspect(backup: Path, new: Path, on_step: OnStep) -> str | None:
    """Copy a backup beside the store and look at it; returns its embedder."""
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


def _verify_backup(file: Path) -> TableSums:
    try:
        return verify(file)
    except StoreDamaged:
        raise StoreDamaged(
            "the file cannot be read whole as a backup of this program; nothing was changed. Try an older one"
        ) from None


def _backup_folder(home: Path) -> Path:
    folder = backup_folder(home / DATABASE)
    if folder.is_symlink():
        raise StoreReadOnly("the folder of backups is a link to another place; nothing was written. Remove the link")
    make_folder(folder)
    return folder


def _copy_to_target(part: Path, target: Path) -> None:
    with atomic_file(target) as stream, part.open("rb") as source:
        shutil.copyfileobj(source, stream)


def _unused_name(folder: Path, now: datetime) -> Path:
    stamp = f"{now.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    names = [f"memory-{stamp}.duckdb", *(f"memory-{stamp}-{number}.duckdb" for number in range(2, 1000))]
    for name in names:
        if not (folder / name).exists():
            return folder / name
    raise InvalidInput("file", "a thousand backups were made in this second; try again")


def _new_quarantine_folder(path: Path, now: datetime) -> Path:
    """Make a folder in quarantine for what a restore replaces, with a report that nobody need be told."""
    folder = quarantine.create_folder(path, "replaced", now)
    at = quarantine.report_time(now)
    report = RecoveryReport(at=at, damaged="a backup replaced the store", folder=folder.name, seen=True)
    quarantine.write_report(folder, report)
    return folder


def _remove_old(folder: Path, keep: int) -> int:
    old = list_backups(folder.parent)[:-keep]
    for file in old:
        with suppress(OSError):
            file.unlink()
    return len(old)
