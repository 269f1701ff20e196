"""Files that people name for exports, imports and backups: where they may lie, and how they are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from hybrid_memory.errors import InvalidInput, StoreError, StoreFull, StoreReadOnly
from hybrid_memory.private_files import NotPlainFileError, create_private, fsync_folder, fsync_stream, open_plain_file

_NO_SPACE = {"ENOSPC", "EDQUOT", "EFBIG"}  # names, since not every system has each of them


@contextmanager
def file_errors(outcome: str = "nothing was changed") -> Iterator[None]:
    """Turn what the file system raises inside into the library's errors, which tell the ``outcome``."""
    import errno

    try:
        yield
    except OSError as error:
        if errno.errorcode.get(error.errno or 0) in _NO_SPACE:
            raise StoreFull(f"no space is left there; {outcome}. Make room and try again") from None
        if isinstance(error, PermissionError) or error.errno == errno.EROFS:
            raise StoreReadOnly(f"a file or folder there cannot be written; {outcome}") from None
        raise StoreError(f"the file system refused a file; {outcome}. Check the place and try again") from None


def check_target(file: Path, home: Path, *, force: bool) -> Path:
    """Return where a new file may be written, absolute.

    Raises:
        InvalidInput: the place is a folder or a special file, lies among the store's own files, or is taken.
    """
    path = file.expanduser().absolute()
    with file_errors():
        if not path.parent.is_dir():
            raise InvalidInput("file", "its folder does not exist; make it first")
        real = path.parent.resolve() / path.name
        if real.is_relative_to(home.resolve()):
            raise InvalidInput("file", "lies in the store's own folder; choose a place outside of it")
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise InvalidInput("file", "is a link, a folder or a special file; name a plain file")
        if path.exists() and not force:
            raise InvalidInput("file", "exists already; choose another name, or replace it with --force")
    return path


def check_source(file: Path) -> Path:
    """Return a plain file that can be read, absolute.

    Raises:
        InvalidInput: there is none.
    """
    path = file.expanduser().absolute()
    if not path.is_file():
        raise InvalidInput("file", "is no plain file that can be read; check the name")
    return path


def open_plain(file: Path) -> BinaryIO:
    """Open a plain file for reading; what could keep a reader waiting, as a pipe or a device, is refused at once.

    Raises:
        InvalidInput: it is no plain file.
        OSError: it cannot be opened.
    """
    try:
        return open_plain_file(file)
    except NotPlainFileError:
        raise InvalidInput("file", "is no plain file that can be read; check the name") from None


@contextmanager
def atomic_file(target: Path) -> Iterator[BinaryIO]:
    """Give a new file that takes its place when the block ends, on disk by then; nothing is left when anything is raised."""
    fresh = target.with_name(f".{target.name}.{os.getpid()}.part")
    with file_errors():
        fresh.unlink(missing_ok=True)
        stream = create_private(fresh)
    try:
        with file_errors(), stream:
            yield stream
            fsync_stream(stream)
        with file_errors():
            fresh.replace(target)
            fsync_folder(target.parent)
    except BaseException:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise
