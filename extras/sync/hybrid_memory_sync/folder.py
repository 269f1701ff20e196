"""The folder that a carrier (Dropbox, Syncthing, git, a stick) brings to each machine: who writes where in it, and what counts.

    FOLDER/hybrid-memory-sync.json        says what the folder is; the same bytes from anyone who writes it
    FOLDER/<machine>/00000001-<digest>.jsonl    segments: a machine writes into its own subfolder alone, and never changes one

So no two machines ever write the same file, and a carrier finds no conflicts.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hybrid_memory.admin.user_files import atomic_file, file_errors
from hybrid_memory.errors import InvalidInput, StoreReadOnly
from hybrid_memory.private_files import NotPlainFileError, open_plain_file
from hybrid_memory_sync.lines import FORMAT
from hybrid_memory_sync.segments import VERSION, ends_as, name_of

if TYPE_CHECKING:
    from collections.abc import Collection

MARKER = f"{FORMAT}.json"
LARGEST_SEGMENT_BYTES = 1 << 28  # 256 MiB; ours are cut far below
_LONGEST_FIRST_LINE = 1 << 12
_LONGEST_LAST_LINE = 128
_MARKER_LIMIT = 1 << 12
_START_BYTES = 1 << 10
_OF_CARRIERS = frozenset({"desktop.ini", "thumbs.db", "icon\r", "readme.md", "readme.txt", "license"})
"""Files that carriers and people put into any folder; so do names that begin with a dot (.git, .stfolder, .dropbox)."""
_PART = ".part"
_ID_FILE = "folder-id"
_ID = re.compile("[0-9a-f]{16}")
_ID_LIMIT = 64


@dataclass(frozen=True, slots=True)
class SegmentFile:
    """A file that may be a segment; ``key`` says which one, whatever it is called by now."""

    machine: str
    name: str
    path: Path

    @property
    def key(self) -> str:
        """The machine and the name of the segment."""
        return f"{self.machine}/{self.name}"


class SyncFolder:
    """One folder; raises the library's errors."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.key = str(path)
        """By what the store knows the folder; one that was moved is a new one, and gets everything once more."""

    def use_id(self, machines: Collection[str], new_id: str) -> None:
        """Let the store know the folder by an id that is written in it: hubs of one store have it under different paths.

        It is in the subfolder of the store's own machine, under one of its names; ``new_id`` is for a folder that has none.
        """
        known = (self._id_in(name) for name in machines)
        self.key = next((one for one in known if one), new_id)

    def keep_id(self, machine: str) -> None:
        """Write the id by which the store knows the folder."""
        if self._id_in(machine) != self.key:
            self.write(machine, _ID_FILE, self.key.encode())

    def _id_in(self, machine: str) -> str:
        try:
            with open_plain_file(self.path / machine / _ID_FILE) as stream:
                found = stream.read(_ID_LIMIT).decode("ascii", "replace")
        except (NotPlainFileError, OSError):
            return ""
        return found if _ID.fullmatch(found) else ""

    @classmethod
    def check(cls, path: Path, home: Path) -> SyncFolder:
        """Return the folder of a path.

        Raises:
            InvalidInput: it does not exist, is no folder, is the store's own or somebody else's.
        """
        with file_errors():
            whole = path.expanduser().absolute()
            if not whole.exists():
                raise InvalidInput(
                    "folder", "does not exist; make it first, or see that the disk or the carrier is there"
                )
            if not whole.is_dir():
                raise InvalidInput("folder", "is a file; name a folder")
            real = whole.resolve()
            if real.is_relative_to(home.resolve()) or home.resolve().is_relative_to(real):
                raise InvalidInput("folder", "must lie apart from the store's own folder; choose another place")
            found = cls(real)
            if not found._is_ours() and any(not _is_of_carrier(one.name) for one in real.iterdir()):
                raise InvalidInput("folder", "holds other files; name an empty folder, or make a new one in it")
        return found

    def begin(self) -> None:
        """Write what says that the folder is ours.

        Raises:
            StoreReadOnly: it cannot be written.
        """
        if not os.access(self.path, os.W_OK | os.X_OK):
            raise StoreReadOnly(
                "the folder cannot be written; nothing was changed. See to its rights, or choose another one"
            )
        if not (self.path / MARKER).exists():
            with atomic_file(self.path / MARKER) as stream:
                stream.write(json.dumps({"format": FORMAT, "version": VERSION}).encode() + b"\n")

    def segments(self) -> list[SegmentFile]:
        """Return all files that may be segments, in the order in which their machines wrote them."""
        with file_errors():
            return sorted(self._files(), key=lambda one: (one.name, one.machine, len(one.path.name), one.path.name))

    def read(self, file: SegmentFile) -> bytes | None:
        """Return a file's bytes, None where it is gone, too large or no plain file."""
        try:
            with open_plain_file(file.path) as stream:
                data = stream.read(LARGEST_SEGMENT_BYTES + 1)
        except (NotPlainFileError, OSError):
            return None
        return data if len(data) <= LARGEST_SEGMENT_BYTES else None

    def first_line(self, file: SegmentFile) -> bytes:
        """Return the first line of a file; empty where it cannot be read."""
        try:
            with open_plain_file(file.path) as stream:
                return stream.readline(_LONGEST_FIRST_LINE)
        except (NotPlainFileError, OSError):
            return b""

    def is_whole(self, file: SegmentFile) -> bool:
        """Return True if a file ends as its segment does: what was cut off is noticed without reading it."""
        try:
            with open_plain_file(file.path) as stream:
                stream.seek(-min(_LONGEST_LAST_LINE, stream.seek(0, os.SEEK_END)), os.SEEK_END)
                return ends_as(stream.read(), file.name)
        except (NotPlainFileError, OSError):
            return False

    def write(self, machine: str, name: str, data: bytes) -> None:
        """Write a segment of this machine, whole or not at all."""
        folder = self.path / machine
        if folder.is_symlink():
            raise StoreReadOnly(
                "the subfolder of this machine is a link to another place; nothing was written. Remove the link"
            )
        with file_errors():
            folder.mkdir(mode=0o700, exist_ok=True)
        with atomic_file(folder / name) as stream:
            stream.write(data)

    def remove(self, file: SegmentFile) -> None:
        """Remove a segment of this machine that a cleaned one replaces."""
        with file_errors():
            file.path.unlink(missing_ok=True)

    def any_segments(self) -> list[Path]:
        """Return all files that hold a segment or the start of one, also under strange names, deeper, and as carriers keep old versions."""
        found = []
        with file_errors():
            for place, folders, files in os.walk(self.path):
                folders[:] = sorted(one for one in folders if one != ".git")
                found += [path for name in sorted(files) if self._begins_as_segment(path := Path(place) / name)]
        return found

    def read_any(self, path: Path) -> bytes:
        """Return what a file holds; nothing where it cannot be read."""
        return self.read(SegmentFile("", "", path)) or b""

    def _begins_as_segment(self, path: Path) -> bool:
        try:
            with open_plain_file(path) as stream:
                start = stream.read(_START_BYTES)
        except (NotPlainFileError, OSError):
            return False
        return f'"format":"{FORMAT}"'.encode() in start and b'"namespace"' in start

    def sweep(self, machines: Collection[str]) -> None:
        """Remove what a killed write of this machine left."""
        for machine in machines:
            folder = self.path / machine
            with suppress(OSError):
                for one in folder.iterdir():
                    if one.name.startswith(".") and one.name.endswith(_PART):
                        one.unlink()

    def _files(self) -> Iterator[SegmentFile]:
        for folder in self.path.iterdir():
            if folder.name.startswith(".") or folder.is_symlink() or not folder.is_dir():
                continue
            for file in folder.iterdir():
                name = name_of(file.name)
                if name is not None and not file.is_symlink() and file.is_file():
                    yield SegmentFile(folder.name, name, file)

    def _is_ours(self) -> bool:
        try:
            with open_plain_file(self.path / MARKER) as stream:
                found = json.loads(stream.read(_MARKER_LIMIT))
        except (NotPlainFileError, OSError, ValueError, RecursionError):
            # On its way to this machine the marker may come last.
            return any(True for _ in self._files())
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise InvalidInput("folder", f"has a {MARKER} that is none of this program's; choose another folder")
        if found.get("version") != VERSION:
            raise InvalidInput("folder", "is of a later version of this program; upgrade to synchronise through it")
        return True


def _is_of_carrier(name: str) -> bool:
    return name.startswith((".", "~")) or name.lower() in _OF_CARRIERS
