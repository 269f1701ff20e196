"""Files that only their owner can read, and the flushes after which they survive a crash.

The store, its administration and the hub write their small files through this module. It raises `OSError`; callers
translate it. Nothing heavy is imported, for the sake of the hub, which listens before anything else is loaded.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import IO, BinaryIO

FILE_MODE = 0o600
FOLDER_MODE = 0o700
_COPY_BYTES = 1 << 20  # one block of a copied file: large enough that calls cost nothing, small enough to hold
# O_EXCL refuses a file or a link that somebody put in the place; O_NOFOLLOW and O_BINARY exist on some systems only.
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)

# Without O_NONBLOCK opening a pipe waits for somebody who writes to it.
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def create_private(file: Path) -> BinaryIO:
    """Create a file for its owner alone and return it, opened for writing; one that exists is refused."""
    return os.fdopen(os.open(file, _NEW, FILE_MODE), "wb")


def write_private(file: Path, content: bytes) -> None:
    """Write a new file that is on disk when this returns."""
    with create_private(file) as stream:
        stream.write(content)
        fsync_stream(stream)


class NotPlainFileError(OSError):
    """What is under a name is a folder, a pipe, a socket or a device."""


def open_plain_file(file: Path) -> BinaryIO:
    """Open a plain file for reading. Opening a pipe would wait for a writer, and a device may never end: they are refused at once.

    Raises:
        NotPlainFileError: it is something else.
        OSError: it cannot be opened.
    """
    try:
        descriptor = os.open(file, _READ)
    except OSError as error:
        if error.errno in (errno.ENXIO, errno.EISDIR, errno.EOPNOTSUPP):
            raise NotPlainFileError(error.errno, "is no plain file") from None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotPlainFileError(errno.EINVAL, "is no plain file")
    return os.fdopen(descriptor, "rb")


def read_plain_file(file: Path, limit: int = -1) -> bytes:
    """Return the bytes of a plain file, ``limit`` of them at most; raises as `open_plain_file`."""
    with open_plain_file(file) as stream:
        return stream.read(limit)


def copy_private(source: Path, target: Path) -> None:
    """Copy a file's bytes to a new file that is on disk when this returns."""
    with open_plain_file(source) as reader, create_private(target) as writer:
        while block := reader.read(_COPY_BYTES):
            writer.write(block)
        fsync_stream(writer)


def prepare_replacement(file: Path, content: bytes, *, durable: bool = True) -> Path:
    """Write ``<name>.new`` alongside a file and return it; renaming it to ``file`` exchanges the content in one step.

    ``durable`` waits until the content is on disk. Without it a power cut may leave the new name without the content.
    """
    fresh = file.with_name(file.name + ".new")
    fresh.unlink(missing_ok=True)
    with create_private(fresh) as stream:
        stream.write(content)
        if durable:
            fsync_stream(stream)
    return fresh


def replace_private(file: Path, content: bytes, *, durable: bool = True) -> None:
    """Make or replace a file: a crash leaves the old content or the new one. ``durable`` as in `prepare_replacement`."""
    prepare_replacement(file, content, durable=durable).replace(file)
    if durable:
        fsync_folder(file.parent)


def fsync_stream(stream: IO[bytes]) -> None:
    """Wait until what was written to an open file is on disk."""
    stream.flush()
    os.fsync(stream.fileno())


def fsync_file(file: Path) -> None:
    """Wait until a closed file is on disk."""
    with file.open("rb+") as stream:
        os.fsync(stream.fileno())


def fsync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on disk, where the system can do that."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
