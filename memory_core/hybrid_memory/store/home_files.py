"""What lies in a store's folder alongside the store: copies that an erasure must reach too, and what commands count and name.

A store on a server has such a folder as well: it holds the backups that were made there, the logs, and what an import left.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

BACKUPS = "backups"
QUARANTINE = "quarantine"
MAKING = ".making.duckdb"
"""A backup among the others until it is whole."""
MOMENT = ".moving.duckdb"
"""A copy among the backups that only a move reads."""
UNFINISHED_MOVE = "memory.moving"
"""A store in its folder until it is whole that is moved there."""
REPORT = "report.json"
"""What is said of a folder in quarantine: it holds no memories."""
SPOOLS = "imports"
"""The folder where an import has what it is about to store."""
LOGS = "logs"
"""The folder of the hub's logs, as in the server's relay/paths.py."""

_BACKUP_NAME = re.compile(r"memory-\d{8}T\d{6}Z(-\d+)?\.duckdb")


@dataclass(frozen=True, slots=True)
class OtherCopies:
    """The other files in a store's folder that may hold what is to be erased."""

    backups: tuple[Path, ...]
    set_aside: tuple[Path, ...]


def list_backups(home: Path) -> list[Path]:
    """Return the backups that were made in the store's own folder, oldest first."""
    folder = home.absolute() / BACKUPS
    if folder.is_symlink() or not folder.is_dir():
        return []
    found = [file for file in folder.iterdir() if _BACKUP_NAME.fullmatch(file.name) and _is_own_file(file)]
    return sorted(found, key=_made_at)


def find_copies(home: Path) -> OtherCopies:
    """Return the other files of a store's folder that may hold memories."""
    found = plain_files(home / QUARANTINE)
    return OtherCopies(tuple(list_backups(home)), tuple(sorted(file for file in found if file.name != REPORT)))


def set_aside(home: Path) -> list[Path]:
    """Return the folders in quarantine that hold something, oldest first: what a restore replaced or a repair found damaged."""
    place = home.absolute() / QUARANTINE
    files = (file.relative_to(place) for file in plain_files(place) if file.name != REPORT)
    return [place / name for name in sorted({file.parts[0] for file in files if len(file.parts) > 1})]


def unfinished_copies(home: Path) -> list[Path]:
    """Return what killed backups and moves left in a store's folder: files of memories that no list of backups names."""
    names = [home / BACKUPS / MAKING, home / BACKUPS / MOMENT, home / UNFINISHED_MOVE]
    return [file for one in names for file in (one, one.with_name(one.name + ".wal")) if file.is_file()]


def plain_files(folder: Path) -> Iterator[Path]:
    """Give the plain files in a folder and in what is below it; nothing where it is missing or a link to another place."""
    if folder.is_symlink() or not folder.is_dir():
        return
    for file in folder.rglob("*"):
        if file.is_file() and not file.is_symlink():
            yield file


def _made_at(file: Path) -> tuple[str, int]:
    stamp, _, number = file.stem.removeprefix("memory-").partition("-")
    return stamp, int(number or 1)


def _is_own_file(file: Path) -> bool:
    return file.is_file() and not file.is_symlink() and (os.name != "posix" or file.stat().st_uid == os.getuid())
