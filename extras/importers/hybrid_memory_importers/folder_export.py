"""Exports as a folder of Markdown files, one for each memory, for people, editors and git.

`hybrid_memory_importers.markdown` has the files. A folder is brought up to date: what changed is written, files of memories that are gone
go, and nothing else is touched. Files that somebody edited are replaced only by force, files of others never.

The name of a file is the same at every export, readable, and good on every file system:
``default/2026-11/2026-11-22-i-am-allergic-to-peanuts-01kaz….md`` is namespace, month, day, first words, id. Words and times of a memory
never change, so the name does not. Letters of all scripts stay; two names never differ in case alone.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from hybrid_memory.admin.user_files import file_errors
from hybrid_memory.errors import InvalidInput
from hybrid_memory.ids import id_of
from hybrid_memory.private_files import FOLDER_MODE, create_private, fsync_folder, open_plain_file
from hybrid_memory.store.transfer import MemoryItem
from hybrid_memory_importers.markdown import bundle
from hybrid_memory_importers.markdown.memory_file import memory_file
from hybrid_memory_importers.markdown.seal import Written, digest_in, whose

if TYPE_CHECKING:
    from hybrid_memory.model import Memory
    from hybrid_memory.secret_detection.secret_policy import SecretPolicy
    from hybrid_memory.store.transfer import TransferableStore

OnProgress: TypeAlias = Callable[[int, int], None]
"""Told how many memories of how many are done."""

_OVERVIEWS = ("README.md", "index.md", "log.md")
_LONGEST_FILE = 1 << 26  # bytes of a file that may be ours: no memory comes near
_NAMED = 3  # files that a message names
_PART = ".part"
_SLUG_BYTES = 48  # of the words: with day and id a name stays below 100 bytes, far from the 255 that file systems take
_LOOKED_AT = 400  # characters of a text that may become words of a name
_PLAIN_ID = re.compile(r"[0-9a-z]{1,40}")
_MEMORY_FILE = re.compile(r"\d{4}-\d\d-\d\d-.+\.md")
_MONTH = re.compile(r"\d{4}-\d\d")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d|index|log|readme)")  # names that Windows or the layout keep


class FolderLayout(StrEnum):
    """What the files of an exported folder are made for."""

    MARKDOWN = "markdown"
    OKF = "okf"


@dataclass(frozen=True, slots=True)
class ExportedFolder:
    """What an export wrote.

    ``written`` files are new or changed, ``removed`` ones were of memories that the store no longer holds. ``left_alone`` files stand in
    the place of ours and are somebody else's. ``left_out`` counts memories that cannot be read.
    """

    namespaces: tuple[str, ...]
    memories: int
    written: int
    removed: int
    left_alone: int
    left_out: int = 0


def check_folder(folder: Path, home: Path) -> Path:
    """Return where a folder may be written, absolute.

    Raises:
        InvalidInput: the place is no folder, or its own folder is missing, or it and the store's folder lie in one another.
    """
    path = folder.expanduser().absolute()
    with file_errors():
        if path.is_symlink() and not path.exists():
            raise InvalidInput("folder", "is a link that leads nowhere")
        if path.exists() and not path.is_dir():
            raise InvalidInput("folder", "is a file; name a folder")
        if not path.parent.is_dir():
            raise InvalidInput("folder", "lies in a folder that does not exist; make that first")
        real, own = path.resolve(), home.resolve()
        if real.is_relative_to(own) or own.is_relative_to(real):
            raise InvalidInput("folder", "is the store's own, lies in it or holds it; choose another one")
    return path


def export_folder(
    store: TransferableStore,
    folder: Path,
    layout: FolderLayout,
    *,
    namespaces: Sequence[str] | None = None,
    secrets: SecretPolicy | None = None,
    force: bool = False,
    on_progress: OnProgress,
) -> ExportedFolder:
    """Write what some namespaces hold (all when none is named) as Markdown files, or bring a folder of them up to date.

    The same contents give the same bytes. Conversations and buffers are not in it. ``secrets`` says what is written of what looks like
    one; None reveals them. ``force`` writes into a folder that holds other files, alongside them, and replaces our files that were edited.

    Raises:
        InvalidInput: a namespace that was named holds nothing, or the folder holds what only force replaces.
        StoreFull, StoreReadOnly: a file cannot be written; what was written stays, and the export can be done again.
    """
    contents = store.transfer.export_items(namespaces, vectors=False)
    if namespaces is not None and set(namespaces) - set(contents.namespaces):
        raise InvalidInput("namespace", "holds nothing that could be exported; check its name")
    with file_errors():
        found = _survey(folder)
        _check_survey(found, force=force)
    with file_errors("what was written so far stays, and the export can be done again"):
        folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
        writer = _Writer(folder, found)
        pages = _Pages(writer, layout)
        done = 0
        for item in contents.items:
            if not isinstance(item, MemoryItem):
                continue
            pages.add(item.memory if secrets is None else secrets.shown(item.memory))
            done += 1
            on_progress(done, contents.memories)
        pages.finish(whole=namespaces is None)
        removed = writer.remove_others(None if namespaces is None else {folder_name(one) for one in namespaces})
        fsync_folder(folder)
    return ExportedFolder(
        contents.namespaces, done, writer.written, removed, writer.left_alone, max(0, contents.memories - done)
    )


@dataclass(slots=True)
class _Survey:
    """What a folder holds: our files by their paths with the digests of their marks, None for those that somebody edited since.

    ``others`` says whether there is anything else.
    """

    ours: dict[str, bytes | None] = field(default_factory=dict)
    others: bool = False

    @property
    def changed(self) -> list[str]:
        return sorted(path for path, digest in self.ours.items() if digest is None)


def _survey(folder: Path) -> _Survey:
    """Look at the files where an export puts some; nothing else is opened, and no link is followed."""
    found = _Survey()
    if not folder.is_dir():
        return found
    for entry in _entries(folder):
        if entry.name in _OVERVIEWS or entry.name.endswith(_PART):
            _look_at(found, entry, entry.name)
        elif entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
            _survey_namespace(found, entry)
        elif not entry.name.startswith("."):
            found.others = True
    return found


def _survey_namespace(found: _Survey, namespace: os.DirEntry[str]) -> None:
    before = len(found.ours)
    for entry in _entries(Path(namespace.path)):
        path = f"{namespace.name}/{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            if is_month(entry.name):
                for file in _entries(Path(entry.path)):
                    _look_at(found, file, f"{path}/{file.name}")
        else:
            _look_at(found, entry, path)
    if len(found.ours) == before:
        found.others = True


def _look_at(found: _Survey, entry: os.DirEntry[str], path: str) -> None:
    if entry.name.startswith(".") and entry.name.endswith(_PART) and entry.is_file(follow_symlinks=False):
        Path(entry.path).unlink()  # what a killed export left
        return
    data = b""
    if (is_memory_file(entry.name) or entry.name in _OVERVIEWS) and entry.is_file(follow_symlinks=False):
        data = _read(Path(entry.path))
    state = whose(data)
    if state is Written.FOREIGN:
        found.others = True
    else:
        # Some file systems give names in another form of Unicode than they were given.
        found.ours[unicodedata.normalize("NFC", path)] = digest_in(data) if state is Written.AS_WRITTEN else None


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        yield from sorted(entries, key=lambda entry: entry.name)


def _read(file: Path) -> bytes:
    with open_plain_file(file) as stream:
        return stream.read(_LONGEST_FILE)


def _check_survey(found: _Survey, *, force: bool) -> None:
    if force:
        return
    if found.others and not found.ours:
        raise InvalidInput(
            "folder",
            "holds other files; choose an empty or a new one, or have the export written beside them with --force",
        )
    if found.changed:
        named = ", ".join(found.changed[:_NAMED]) + (", ..." if len(found.changed) > _NAMED else "")
        raise InvalidInput(
            "folder",
            f"{len(found.changed)} of its exported files were edited since: {named}; --force replaces them, "
            "or `import` brings the new words in first",
        )


class _Writer:
    """Writes files into a folder, those alone that say something else by now, and never over somebody else's."""

    def __init__(self, folder: Path, found: _Survey) -> None:
        self.written = 0
        self.left_alone = 0
        self._folder = folder
        self._found = found
        self._kept: set[str] = set()
        self._folders: set[Path] = set()

    def write(self, path: str, data: bytes) -> None:
        """Make or replace a file by its path from the folder."""
        target = self._folder / path
        self._make_folder(target.parent)
        self._kept.add(path)
        if path in self._found.ours:
            if self._found.ours[path] == digest_in(data):
                return
        elif os.path.lexists(target):
            self.left_alone += 1
            return
        fresh = target.with_name(f".{target.name}{_PART}")
        with suppress(FileNotFoundError):
            fresh.unlink()
        with create_private(fresh) as stream:
            stream.write(data)
        fresh.replace(target)
        self.written += 1

    def has(self, path: str) -> bool:
        """Return True if a file of ours is there from an earlier export."""
        return path in self._found.ours

    def remove_others(self, folders: set[str] | None) -> int:
        """Remove our files that this export did not write, of some namespaces' folders (all for None); returns how many."""
        gone = [
            path
            for path in self._found.ours
            if path not in self._kept and (folders is None or path.partition("/")[0] in folders)
        ]
        for path in gone:
            (self._folder / path).unlink(missing_ok=True)
        for parent in sorted({(self._folder / path).parent for path in gone}, key=lambda one: -len(one.parts)):
            while parent != self._folder and not any(parent.iterdir()):
                parent.rmdir()
                parent = parent.parent  # noqa: PLW2901 - upwards as long as folders are empty
        return len(gone)

    def _make_folder(self, folder: Path) -> None:
        if folder in self._folders or folder == self._folder:
            return
        self._make_folder(folder.parent)
        try:
            folder.mkdir(mode=FOLDER_MODE)
        except FileExistsError:
            if not stat.S_ISDIR(folder.lstat().st_mode):
                raise InvalidInput("folder", f"{folder.name} in it is a link or a file; move it away") from None
        self._folders.add(folder)


class _Pages:
    """Turns memories, which come namespace by namespace in order of time, into files and their overviews."""

    def __init__(self, writer: _Writer, layout: FolderLayout) -> None:
        self._writer = writer
        self._okf = layout is FolderLayout.OKF
        self._namespace: str | None = None
        self._month = ""
        self._month_entries: list[bundle.Entry] = []
        self._months: Counter[str] = Counter()
        self._days: defaultdict[date, Counter[str]] = defaultdict(Counter)
        self._places: dict[str, bundle.Entry] = {}
        self._folders: list[bundle.Entry] = []

    def add(self, memory: Memory) -> None:
        """Write a memory's file."""
        if memory.namespace != self._namespace:
            self._end_namespace()
            self._namespace = memory.namespace
        month = month_of(memory.created_at)
        if month != self._month:
            self._end_month()
            self._month = month
        name = file_name(memory)
        path = f"{folder_name(memory.namespace)}/{month}/{name}"
        self._months[month] += 1
        if not self._okf:
            self._writer.write(path, memory_file(memory))
            return
        self._writer.write(path, memory_file(memory, bundle.concept_head(memory, self._places)))
        entry = bundle.entry_of(memory, name)
        self._month_entries.append(entry)
        self._places[memory.id] = bundle.Entry(path, entry.title)
        self._days[_day(memory.created_at)]["Creation"] += 1
        if memory.forgotten_at is not None:
            self._days[_day(memory.forgotten_at)]["Deprecation"] += 1

    def finish(self, *, whole: bool) -> None:
        """Write what is at the top of the folder; of a part of the store, only where nothing is there yet."""
        self._end_namespace()
        name = "index.md" if self._okf else "README.md"
        if not whole and self._writer.has(name):
            return
        self._writer.write(
            name,
            bundle.index_file([("Namespaces", self._folders)], root=True)
            if self._okf
            else bundle.readme_file(self._folders),
        )

    def _end_month(self) -> None:
        if self._month_entries and self._namespace is not None:
            path = f"{folder_name(self._namespace)}/{self._month}/index.md"
            self._writer.write(path, bundle.index_file([(self._month, self._month_entries)]))
        self._month_entries = []

    def _end_namespace(self) -> None:
        if self._namespace is None:
            return
        self._end_month()
        folder = folder_name(self._namespace)
        if self._okf:
            months = [
                bundle.counted(f"{month}/index.md", month, count) for month, count in sorted(self._months.items())
            ]
            self._writer.write(f"{folder}/index.md", bundle.index_file([("Months", months)]))
            self._writer.write(f"{folder}/log.md", bundle.log_file(self._days))
        target = f"{folder}/index.md" if self._okf else f"{folder}/"
        self._folders.append(bundle.counted(target, self._namespace, self._months.total()))
        self._month = ""
        self._months.clear()
        self._days.clear()


def _day(moment: datetime) -> date:
    return _utc(moment).date()


def file_name(memory: Memory) -> str:
    """Return the name of a memory's file."""
    parts = (f"{_utc(memory.created_at):%d}", slug(memory.content), _id_part(memory.id))
    return f"{month_of(memory.created_at)}-" + "-".join(part for part in parts if part) + ".md"


def month_of(moment: datetime) -> str:
    """Return the name of a month's folder."""
    at = _utc(moment)
    return f"{at.year:04}-{at.month:02}"


def folder_name(namespace: str) -> str:
    """Return the name of a namespace's folder: the namespace itself where that is a name, else made of it."""
    readable = slug(namespace)
    if readable and readable == namespace and _RESERVED.fullmatch(readable) is None:
        return namespace
    digest = hashlib.blake2b(namespace.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{readable}-{digest}" if readable else digest


def is_memory_file(name: str) -> bool:
    """Return True if a file may be one of a memory, by its name."""
    return _MEMORY_FILE.fullmatch(name) is not None


def is_month(name: str) -> bool:
    """Return True if a folder may be one of a month, by its name."""
    return _MONTH.fullmatch(name) is not None


def slug(text: str) -> str:
    """Return the first words of a text in small letters with dashes between them; nothing where there are none."""
    folded = unicodedata.normalize("NFKC", text[:_LOOKED_AT]).casefold()
    kept = "".join(one if one.isalnum() or unicodedata.category(one) in ("Mn", "Mc") else " " for one in folded)
    chosen = ""
    for word in unicodedata.normalize("NFC", kept).split():
        longer = f"{chosen}-{word}" if chosen else word
        if len(longer.encode()) > _SLUG_BYTES:
            return chosen or word.encode()[:_SLUG_BYTES].decode(errors="ignore")
        chosen = longer
    return chosen


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)


def _id_part(memory_id: str) -> str:
    return memory_id if _PLAIN_ID.fullmatch(memory_id) else str(id_of("file\n" + memory_id))
