"""Backup: a copy of a store alongside it or elsewhere, made while it is in use. Restore: a copy in the place of the store.

Called by the operations ``backup`` and ``restore`` of the command line. Both read the copy whole before it counts.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from hybrid_memory.admin.trusted_lines import refusal
from hybrid_memory.admin.user_files import atomic_file, file_errors
from hybrid_memory.errors import InvalidInput, StoreDamaged, StoreReadOnly
from hybrid_memory.private_files import fsync_file, fsync_folder
from hybrid_memory.store.home_files import BACKUPS, MAKING, MOMENT, list_backups
from hybrid_memory.store.store_file import examine_file, file_restorer, make_private_folder, remove_file, verify_file

if TYPE_CHECKING:
    from hybrid_memory.store.erasing import OnStep
    from hybrid_memory.store.restoring import Restored
    from hybrid_memory.store.transfer import TransferableStore


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was made and read again: its file, the memories in it, its bytes, and how many old ones went."""

    file: Path
    memories: int
    bytes: int
    removed: int


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
    part = folder / MAKING
    remove_file(part)  # what a killed backup left
    try:
        written = store.transfer.copy_to(part)
        with file_errors():
            fsync_file(part)
        on_step("written")
        # Read again from the file: a disk that fails is noticed now, and not when the backup is needed.
        if verify_file(part) != written:
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
        remove_file(part)
    on_step("named")
    removed = 0 if target is not None else _remove_old(folder, keep)
    return Backup(file, written["memory"][0], size, removed)


def file_for_moment(home: Path) -> Path:
    """Return where a copy of the store goes that only a move reads; what a killed one left there is removed."""
    file = _backup_folder(home) / MOMENT
    remove_file(file)
    return file


def restore(home: Path, backup: Path, now: datetime, *, on_step: OnStep = lambda _: None) -> Restored:
    """Put a backup in the place of the store in a folder, which nobody may have open; what was there is put aside.

    The present store may be damaged or missing. A crash leaves the one or the other.

    Raises:
        StoreDamaged, SchemaTooNew: the backup is none that could be used; nothing was changed.
        StoreLocked: somebody has the store open.
    """
    return file_restorer(home).restore(backup, now, refusal=refusal, on_step=on_step)


def examine(backup: Path, home: Path) -> int:
    """Read a backup whole, as `restore` does before it changes anything; returns how many memories it holds.

    The copy that is read lies in the store's folder if there is one, which has room for it when `restore` has.

    Raises:
        StoreDamaged, SchemaTooNew: the backup is none that could be used.
    """
    return examine_file(backup, home, refusal)


def _backup_folder(home: Path) -> Path:
    folder = home.absolute() / BACKUPS
    if folder.is_symlink():
        raise StoreReadOnly("the folder of backups is a link to another place; nothing was written. Remove the link")
    make_private_folder(folder)
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


def _remove_old(folder: Path, keep: int) -> int:
    old = list_backups(folder.parent)[:-keep]
    for file in old:
        with suppress(OSError):
            file.unlink()
    return len(old)
