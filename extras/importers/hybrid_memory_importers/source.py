"""What a person names to be imported: a file, a folder or a zip archive, opened with limits.

Readers of formats touch files only through this module. Nothing is unpacked to disk, no link is followed, and pipes and devices are
never opened. What is passed over for such a reason is in `Source.left_out`, so that the person can be told.
"""

from __future__ import annotations

import codecs
import io
import os
import stat
import struct
import weakref
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from hybrid_memory.errors import InvalidInput
from hybrid_memory.private_files import NotPlainFileError, open_plain_file
from hybrid_memory_importers.record import Skipped

# Limits, all far above what people have: an export of ten years of daily use is some hundred megabytes in some thousand files.
MOST_FILES = 200_000
MOST_DEPTH = 64  # folders in folders
MOST_FILE_BYTES = 8 << 30
_SMALL = 256 << 20  # bytes; what an archive may expand to whatever its ratio
_MOST_RATIO = 200  # of expanded to packed bytes; text of conversations comes to 10 or 20
_BUFFER = 1 << 16  # bytes

_NOT_LOOKED_INTO = frozenset({
    ".git", ".hg", ".svn", ".obsidian", ".trash", "__MACOSX", "__pycache__", "node_modules", ".venv", ".stversions", ".stfolder",
})  # fmt: skip
_NO_CONTENT = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
_MARKS_OF_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_FIRST_ZIP_DAY = datetime(1980, 1, 1, tzinfo=UTC)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of a source: its path in it with ``/`` between the parts, its size in bytes, and when it was last changed.

    A zip archive tells its times without a zone; they are taken as UTC. ``open`` gives a stream that the caller closes.
    """

    path: str
    size: int
    modified_at: datetime
    _opener: Callable[[], BinaryIO] = field(repr=False, compare=False)

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    def open(self) -> BinaryIO:
        """Open the file for reading, at its beginning; it may be opened several times. Text in UTF-16 is given as UTF-8.

        Raises:
            InvalidInput: it cannot be read, is too large, or expands beyond what text does; also while it is being read.
        """
        stream = self._opener()
        if stream.peek(2)[:2] not in _MARKS_OF_UTF16:  # type: ignore[attr-defined]  # all openers give buffered readers
            return stream
        return io.BufferedReader(_Utf16AsUtf8(stream), _BUFFER)

    def head(self, size: int = 4096) -> bytes:
        """Return the first bytes, without raising: nothing of a file that cannot be read."""
        try:
            with self.open() as stream:
                return stream.read(size)
        except InvalidInput:
            return b""


class Source(ABC):
    """A file, a folder or a zip archive that is to be imported.

    ``name`` is what people call it (its last part), ``is_folder`` tells a folder from a file or an archive. ``left_out`` is what `files`
    passed over so far: links, special files, and what cannot be read.
    """

    is_folder: bool = False
    is_archive: bool = False

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name or str(path)
        self._left_out: dict[tuple[str, str], Skipped] = {}
        self._listed: tuple[SourceFile, ...] | None = None

    def files(self) -> Iterator[SourceFile]:
        """Yield the files, by their paths; the same ones at each call.

        Raises:
            InvalidInput: there are too many, or an archive is damaged or hostile.
        """
        if self._listed is None:
            self._listed = tuple(sorted(self._list(), key=lambda one: one.path))
        return iter(self._listed)

    @property
    def left_out(self) -> tuple[Skipped, ...]:
        """What was passed over, with the reason."""
        return tuple(self._left_out.values())

    def _pass_over(self, reason: str, where: str) -> None:
        self._left_out[(reason, where)] = Skipped(reason, where)

    @abstractmethod
    def _list(self) -> Iterator[SourceFile]: ...


def open_source(path: Path) -> Source:
    """Return what lies at a path as a source. A file that is a zip archive by its bytes is one, whatever its name.

    Raises:
        InvalidInput: nothing is there, it is a special file, or an archive that cannot be read.
    """
    path = path.expanduser().absolute()
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        raise InvalidInput("file", "is not there, or cannot be looked at; check the name") from None
    if stat.S_ISDIR(mode):
        return _Folder(path)
    if not stat.S_ISREG(mode):
        raise InvalidInput("file", "is no plain file that can be read; check the name")
    with _reading(path.name), open_plain_file(path) as stream:
        start = stream.read(4)
    if start in (b"PK\x03\x04", b"PK\x05\x06"):
        return _Archive(path)
    for magic, what in _PACKED.items():
        if start.startswith(magic):
            raise InvalidInput("file", f"is {what}; unpack it first and name the folder")
    return _SingleFile(path)


_PACKED = {
    b"\x1f\x8b": "a gzip archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a rar archive",
    b"BZh": "a bzip2 archive",
}


class _SingleFile(Source):
    def _list(self) -> Iterator[SourceFile]:
        yield _file_on_disk(self.path, self.path.name)


class _Folder(Source):
    is_folder = True

    def _list(self) -> Iterator[SourceFile]:
        count = 0
        waiting: list[tuple[Path, tuple[str, ...]]] = [(self.path, ())]
        while waiting:
            folder, parts = waiting.pop()
            try:
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except OSError:
                self._pass_over("a folder that cannot be read", "/".join(parts))
                continue
            for entry in entries:
                count += 1
                if count > MOST_FILES:
                    raise InvalidInput(
                        "file", f"holds more than {MOST_FILES:,} files; name the folder nearer to what is to come in"
                    )
                inner = (*parts, entry.name)
                if self._is_wanted(entry, inner) and entry.is_dir(follow_symlinks=False):
                    waiting.append((Path(entry.path), inner))
                elif self._is_wanted(entry, inner):
                    yield _file_on_disk(Path(entry.path), _shown_path(inner))

    def _is_wanted(self, entry: os.DirEntry[str], parts: tuple[str, ...]) -> bool:
        """Return whether an entry is a file to read or a folder to look into; what else it is, is noted."""
        where = _shown_path(parts)
        try:
            if entry.is_symlink():
                self._pass_over("a link, which is not followed", where)
            elif entry.is_dir(follow_symlinks=False):
                if len(parts) <= MOST_DEPTH:
                    return entry.name not in _NOT_LOOKED_INTO
                self._pass_over("a folder that lies too deep", where)
            elif entry.is_file(follow_symlinks=False):
                return not _has_no_content(entry.name)
            else:
                self._pass_over("a pipe, socket or device", where)
        except OSError:
            self._pass_over("a file that cannot be read", where)
        return False


class _Archive(Source):
    is_archive = True
    _archive: zipfile.ZipFile

    def _list(self) -> Iterator[SourceFile]:
        with _reading(self.name), ExitStack() as unfinished:
            file = unfinished.enter_context(open_plain_file(self.path))
            self._archive = archive = zipfile.ZipFile(file)
            unfinished.pop_all()
        weakref.finalize(self, _close, archive, file)
        entries = archive.infolist()
        if len(entries) > MOST_FILES:
            raise InvalidInput("file", f"is an archive of more than {MOST_FILES:,} files; nothing was read")
        self._check_ratio(entries)
        seen: set[str] = set()
        for number, entry in enumerate(entries):
            path = self._path_of(entry)
            if path is None:
                continue
            if path in seen:
                # The name is made longer, so that three of one name are counted as two.
                self._pass_over("a second file of the same name in the archive", f"{path}, entry {number}")
            else:
                seen.add(path)
                yield SourceFile(path, entry.file_size, _changed_at(entry), self._opener_of(entry, path))

    def _check_ratio(self, entries: list[zipfile.ZipInfo]) -> None:
        expanded = sum(entry.file_size for entry in entries)
        if expanded > _SMALL and expanded > _MOST_RATIO * self.path.stat().st_size:
            raise InvalidInput(
                "file", "is an archive that expands far beyond what text does, as a hostile one; nothing was read"
            )

    def _path_of(self, entry: zipfile.ZipInfo) -> str | None:
        """Return the path of an entry that is a file to read, else None.

        Raises:
            InvalidInput: it leads out of the archive.
        """
        path = PurePosixPath(entry.filename.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or ":" in (path.parts or ("",))[0]:
            raise InvalidInput(
                "file", "is an archive with a name that leads out of it, as a hostile one; nothing was read"
            )
        if entry.is_dir() or not path.parts or _has_no_content(path.name) or _NOT_LOOKED_INTO & set(path.parts):
            return None
        kind = stat.S_IFMT(entry.external_attr >> 16)
        where = _shown_path(path.parts)
        if kind not in (0, stat.S_IFREG):
            self._pass_over("a link or special file in the archive", where)
        elif entry.flag_bits & 1:
            self._pass_over("a file of the archive that needs a password", where)
        elif len(path.parts) > MOST_DEPTH:
            self._pass_over("a file that lies too deep", where)
        else:
            return where
        return None

    def _opener_of(self, entry: zipfile.ZipInfo, shown: str) -> Callable[[], BinaryIO]:
        def opener() -> BinaryIO:
            if entry.file_size > _SMALL and entry.file_size > _MOST_RATIO * max(entry.compress_size, 1):
                raise InvalidInput(
                    shown, "expands far beyond what text does, as a hostile archive; nothing was imported"
                )
            with _reading(shown):
                stream = self._archive.open(entry)
            return _bounded(stream, entry.file_size, shown)

        return opener


def _close(archive: zipfile.ZipFile, file: BinaryIO) -> None:
    archive.close()
    file.close()


def _file_on_disk(path: Path, shown: str) -> SourceFile:
    def opener() -> BinaryIO:
        with _reading(shown):
            stream = open_plain_file(path)
            size = os.fstat(stream.fileno()).st_size
        return _bounded(stream, size, shown)

    try:
        found = path.lstat()
    except OSError:
        return SourceFile(shown, 0, _EPOCH, opener)
    return SourceFile(shown, found.st_size, _moment_of(found.st_mtime), opener)


def _bounded(stream: object, size: int, shown: str) -> BinaryIO:
    if size > MOST_FILE_BYTES:
        raise InvalidInput(shown, f"is larger than {MOST_FILE_BYTES >> 30} GiB")
    # A buffered reader over a raw one: `readline` of a zip's own stream is slow, and what is appended meanwhile is not read.
    return io.BufferedReader(_Bounded(stream, size, shown), _BUFFER)


class _Bounded(io.RawIOBase):
    """Reads as many bytes as a file had when it was opened, and tells what goes wrong in the library's words."""

    def __init__(self, stream: object, size: int, shown: str) -> None:
        self._stream: BinaryIO = stream  # type: ignore[assignment]  # a file or an open entry of an archive: both have `read`
        self._size = self._left = size
        self._shown = shown

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._size - self._left

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go back to the beginning; nothing else is asked of a source."""
        if offset or whence != os.SEEK_SET:
            raise io.UnsupportedOperation
        with _reading(self._shown):
            self._stream.seek(0)
        self._left = self._size
        return 0

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]  # whatever BufferedReader gives has this
        wanted = min(len(view), self._left)
        if not wanted:
            return 0
        with _reading(self._shown):
            found = self._stream.read(wanted)
        if not found:
            raise InvalidInput(self._shown, "changed while it was read; try again when nothing writes to it")
        view[: len(found)] = found
        self._left -= len(found)
        return len(found)

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


class _Utf16AsUtf8(io.RawIOBase):
    """Reads text in UTF-16, as programs on Windows write it, as UTF-8, so that readers of formats know one encoding."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._restart()

    def _restart(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-16")("replace")
        self._held = b""
        self._ended = False

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go back to the beginning; nothing else is asked of a source."""
        if offset or whence != os.SEEK_SET:
            raise io.UnsupportedOperation
        self._stream.seek(0)
        self._restart()
        return 0

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]  # whatever BufferedReader gives has this
        while not self._held and not self._ended:
            raw = self._stream.read(_BUFFER)
            self._ended = not raw
            self._held = self._decoder.decode(raw, self._ended).encode("utf-8", "replace")
        given = self._held[: len(view)]
        self._held = self._held[len(given) :]
        view[: len(given)] = given
        return len(given)

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


@contextmanager
def _reading(shown: str) -> Iterator[None]:
    """Turn what goes wrong while a file is read into the library's words."""
    try:
        yield
    except NotPlainFileError:
        raise InvalidInput(shown, "is no plain file that can be read; check the name") from None
    except PermissionError:
        raise InvalidInput(shown, "may not be read by this user") from None
    except OSError:
        raise InvalidInput(shown, "cannot be read; check that it is there and whole") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, struct.error):
        raise InvalidInput(shown, "is an archive that is damaged or not whole; download it again") from None
    except (NotImplementedError, RuntimeError):
        # another compression than deflate (Windows uses one above 2 GB), or a password
        raise InvalidInput(
            shown, "is packed in a way that cannot be read here; unpack it first and name the folder"
        ) from None


def _shown_path(parts: tuple[str, ...]) -> str:
    """Return a path as text that can be stored: a name on disk may hold bytes that are no text."""
    return "/".join(parts).encode("utf-8", "replace").decode("utf-8")


def _has_no_content(name: str) -> bool:
    return name in _NO_CONTENT or name.startswith("._")


def _changed_at(entry: zipfile.ZipInfo) -> datetime:
    try:
        return datetime(*entry.date_time, tzinfo=UTC)
    except ValueError:
        return _FIRST_ZIP_DAY


def _moment_of(seconds: float) -> datetime:
    try:
        return _EPOCH + timedelta(seconds=seconds)
    except (OverflowError, ValueError):
        return _EPOCH
