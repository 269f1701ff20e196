"""Puts a changed text on disk: under a lock, with a backup alongside it, by replacing the file at once, never over another's write."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hybrid_memory_mcp.clients.jsonc import DamagedText

BACKUP = ".hybrid-memory-backup"
"""What a backup's name ends with; the rest is that of the file alongside which it lies."""
MADE = ".hybrid-memory-made"
"""Likewise of a note that says how many folders were made for the file."""

Edit = Callable[[bytes | None, bytes | None], tuple[bytes | None, bytes | None]]
"""Makes the new content of a file and of its backup out of the present ones; None stands for no file."""

_LEADS_NOWHERE = "is a link to a file that does not exist; make that file, or remove the link"
_TRIES = 20
_SETTLE_SECONDS = 0.15
_EMPTY_READS = 6
_MOMENT_SECONDS = 0.02
_LOCK_SECONDS = 15.0
_STALE_SECONDS = 30.0  # of a client's lock folder; as long as Claude Code takes it for


class FileProblem(Exception):
    """A file cannot be read or changed; the message is for the person."""


@dataclass(frozen=True)
class Change:
    """What was done to a file."""

    changed: bool
    backup: Path | None = None
    removed: bool = False
    left: tuple[Path, int] | None = None
    """A folder that was made for the file but has others in it now, and how many above it were."""


def backup_of(path: Path) -> Path:
    """Return the name of a file's backup."""
    return path.with_name(path.name + BACKUP)


def read_file(path: Path) -> bytes | None:
    """Return a file's content, None if there is none.

    Raises:
        FileProblem: it cannot be read.
    """
    try:
        with path.open("rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise FileProblem("is not a plain file")
            return stream.read()
    except FileNotFoundError:
        if path.is_symlink():
            raise FileProblem(_LEADS_NOWHERE) from None
        return None
    except IsADirectoryError:
        raise FileProblem("is a folder, where a file was expected") from None
    except NotADirectoryError:
        raise FileProblem("cannot be there: a file stands where its folder should be") from None
    except PermissionError:
        raise FileProblem("cannot be read: you have no permission") from None
    except OSError as error:
        raise FileProblem(f"cannot be read ({error.strerror})") from None


def change_file(
    path: Path,
    edit: Edit,
    *,
    lock_folder: bool = False,
    forget_made: bool = False,
    wait: Callable[[float], None] = time.sleep,
) -> Change:
    """Give a file the content that ``edit`` makes of it; where another program writes meanwhile, read and edit again.

    Mode and owner stay, and a link stays a link; the backup lies alongside the name that was given. ``lock_folder`` takes the lock that
    Claude Code takes for its file as well. ``forget_made`` takes away the note about folders that were made: from now on the file is
    the person's. ``wait`` is how to let others go on, in seconds.

    Raises:
        FileProblem: the file cannot be changed; it is as it was.
        DamagedText: ``edit`` says so, also after a while in which somebody may have been writing it.
    """
    if path.is_symlink() and not path.exists():
        raise FileProblem(_LEADS_NOWHERE)
    real = _real_path(path)
    made = _make_folders(real.parent)
    try:
        with _locked(real.parent), _lock_of_client(real, wait) if lock_folder else contextlib.nullcontext():
            change = _change(path, real, edit, made, wait)
            if forget_made and change.changed:
                _note_of(path).unlink(missing_ok=True)
            return change
    except PermissionError:
        raise FileProblem("cannot be changed: you have no permission to write in its folder") from None
    except OSError as error:
        raise FileProblem(f"cannot be changed ({error.strerror}); it is as it was") from None
    finally:
        _remove_folders(real.parent, made)  # those that nothing came into


def _change(path: Path, real: Path, edit: Edit, made: int, wait: Callable[[float], None]) -> Change:
    for _ in range(_TRIES):
        content = _settled(real, wait)
        backup = read_file(backup_of(path))
        try:
            wanted, kept = edit(content, backup)
        except DamagedText:
            wait(_SETTLE_SECONDS)
            if read_file(real) != content:
                continue  # it was being written
            raise
        if wanted == content:
            return Change(changed=False)
        _check_writable(real)
        if kept is not None and kept != backup:
            _write_beside(backup_of(path), kept, like=real)
        if not (_removed(real, content) if wanted is None else _replaced(real, content, wanted, wait)):
            continue
        if made:
            _note_of(path).write_text(f"{made}\n", "utf-8")
        if kept is None:
            backup_of(path).unlink(missing_ok=True)
        left = _folders_left(path, real) if wanted is None else None
        return Change(changed=True, backup=None if kept is None else backup_of(path), removed=wanted is None, left=left)
    raise FileProblem("is written by another program again and again; close that program and try again")


def _real_path(path: Path) -> Path:
    try:
        return Path(os.path.realpath(path, strict=False))
    except OSError as error:
        raise FileProblem(f"cannot be found ({error.strerror})") from None


def _settled(real: Path, wait: Callable[[float], None]) -> bytes | None:
    """Read a file; one that is empty may be at the very beginning of a write, so it gets a second."""
    content = read_file(real)
    for _ in range(_EMPTY_READS):
        if content != b"":
            break
        wait(_SETTLE_SECONDS)
        content = read_file(real)
    return content


def _check_writable(real: Path) -> None:
    """Refuse a file that its owner made read-only; the system would let its folder's owner replace it."""
    try:
        mode = real.stat().st_mode
    except FileNotFoundError:
        return
    if not mode & 0o222 or not os.access(real, os.W_OK):
        raise FileProblem("is read-only; make it writable and try again")


def check_changeable(path: Path) -> None:
    """Look beforehand whether `change_file` would be allowed to change a file.

    Raises:
        FileProblem: it would not.
    """
    real = _real_path(path)
    _check_writable(real)
    folder = next((one for one in real.parents if one.exists()), real.parent)
    if folder.is_dir() and not os.access(folder, os.W_OK | os.X_OK):
        raise FileProblem("cannot be changed: you have no permission to write in its folder")


def _write_beside(target: Path, content: bytes, *, like: Path) -> None:
    fresh = _fresh_file(target.parent, target.name, content, like)
    try:
        fresh.replace(target)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def _fresh_file(folder: Path, name: str, content: bytes, like: Path) -> Path:
    """Return a new file, on disk, with mode, owner and attributes of another one if that is there; else for its owner alone."""
    descriptor, fresh = tempfile.mkstemp(prefix=f".{name}.", suffix=".part", dir=folder)
    try:
        with open(descriptor, "wb") as stream:  # noqa: PTH123 - a descriptor
            stream.write(content)
            stream.flush()
            _give_mode_and_owner(Path(fresh), like)
            os.fsync(stream.fileno())
    except BaseException:
        Path(fresh).unlink(missing_ok=True)
        raise
    return Path(fresh)


def _give_mode_and_owner(fresh: Path, like: Path) -> None:
    try:
        wanted = like.stat()
    except FileNotFoundError:
        return
    shutil.copystat(like, fresh)
    os.utime(fresh)
    found = fresh.stat()
    if sys.platform != "win32" and (found.st_uid, found.st_gid) != (wanted.st_uid, wanted.st_gid):
        try:
            os.chown(fresh, wanted.st_uid, wanted.st_gid)
            fresh.chmod(stat.S_IMODE(wanted.st_mode))  # a change of owner may drop bits
        except PermissionError:
            raise FileProblem("belongs to another user, who would lose it; run this as that user") from None


def _replaced(real: Path, content: bytes | None, wanted: bytes, wait: Callable[[float], None]) -> bool:
    """Replace a file's content; False if another program wrote it meanwhile, whose content then is there to be read again."""
    fresh = _fresh_file(real.parent, real.name, wanted, real)
    try:
        before = real.open("rb") if content is not None else None
        with before or contextlib.nullcontext():
            if read_file(real) != content:
                return False
            if before is None:
                try:
                    os.link(fresh, real)  # never over a file that has just come
                except FileExistsError:
                    return False
                except OSError:  # a file system without links
                    fresh.replace(real)
            else:
                fresh.replace(real)
                return _nobody_wrote(before.fileno(), real, content or b"", wanted, wait)
    finally:
        fresh.unlink(missing_ok=True)
    return True


def _nobody_wrote(descriptor: int, real: Path, content: bytes, wanted: bytes, wait: Callable[[float], None]) -> bool:
    """Return whether the replaced file still has what it had.

    A program that had it open may have written into it at that moment; what it wrote is put back, for us to begin again.
    """
    written = _settled_content(descriptor, content, wait)
    if written in (content, b""):
        return True
    if read_file(real) == wanted:
        _fresh_file(real.parent, real.name, written, real).replace(real)
    return False


def _settled_content(descriptor: int, content: bytes, wait: Callable[[float], None]) -> bytes:
    """Return what an open file has, once that is the same for a moment; an empty one, which is about to be written, gets longer."""
    if sys.platform == "win32":
        return content  # there a file that somebody has open cannot be replaced
    read = b""
    for _ in range(10):
        wait(_MOMENT_SECONDS)
        former, read = read, os.pread(descriptor, os.fstat(descriptor).st_size, 0)
        if read == content or (read and read == former):
            break
    return read


def _removed(real: Path, content: bytes | None) -> bool:
    if read_file(real) != content:
        return False
    real.unlink()
    return True


def _folders_left(path: Path, real: Path) -> tuple[Path, int] | None:
    """Remove the folders that were made for a file that is gone; returns the first that others use now."""
    levels = _levels(path)
    _note_of(path).unlink(missing_ok=True)
    removed = _remove_folders(real.parent, levels)
    return ([real.parent, *real.parent.parents][removed], levels - removed) if removed < levels else None


def _levels(path: Path) -> int:
    """Return how many folders were made for a file."""
    try:
        return int(_note_of(path).read_text("utf-8"))
    except (OSError, ValueError):
        return 0


def hand_over(folder: Path, levels: int, places: Sequence[Path]) -> None:
    """Note a folder that was made by us with a file below it for which folders were made too, so that the last one takes it away."""
    for path in places:
        parents = list(path.parents)
        if folder in parents and 0 < parents.index(folder) <= _levels(path):
            with contextlib.suppress(OSError):
                _note_of(path).write_text(f"{max(_levels(path), parents.index(folder) + levels)}\n", "utf-8")
            return


def _note_of(path: Path) -> Path:
    return path.with_name(path.name + MADE)


def _make_folders(folder: Path) -> int:
    """Make a folder and those above it; returns how many were made."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        for one in reversed(missing):
            one.mkdir(exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise FileProblem("cannot be made: a file stands where its folder should be") from None
    except PermissionError:
        raise FileProblem("cannot be made: you have no permission to make its folder") from None
    except OSError as error:
        raise FileProblem(f"cannot be made ({error.strerror})") from None
    return len(missing)


def _remove_folders(folder: Path, levels: int) -> int:
    """Remove as many folders as were made, from the inside out, as long as nothing is in them; returns how many."""
    for removed, one in enumerate([folder, *folder.parents][:levels]):
        try:
            one.rmdir()
        except OSError:
            return removed
    return levels


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep a second installer out of a folder; no file is left by that where the system can lock a folder itself."""
    if sys.platform == "win32":
        from hashlib import blake2b

        from filelock import FileLock

        name = blake2b(str(folder).encode(), digest_size=8).hexdigest()
        with FileLock(Path(tempfile.gettempdir()) / f"hybrid-memory-install-{name}.lock", timeout=_LOCK_SECONDS):
            yield
        return
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        _lock(descriptor, fcntl.flock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, flock: Callable[[int, int], None], how: int) -> None:
    end = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            return flock(descriptor, how)
        except BlockingIOError:
            if time.monotonic() > end:
                raise FileProblem("is being changed by another installation that does not end") from None
            time.sleep(0.02)
        except OSError:
            return None  # a file system without locks: what is left is that a change in between is noticed


@contextlib.contextmanager
def _lock_of_client(real: Path, wait: Callable[[float], None]) -> Iterator[None]:
    """Take the lock that the client itself takes: a folder alongside the file."""
    folder = real.with_name(real.name + ".lock")
    end = _LOCK_SECONDS
    while True:
        try:
            folder.mkdir()
            break
        except FileExistsError:
            if _is_stale(folder):
                with contextlib.suppress(OSError):
                    folder.rmdir()
                continue
            if end <= 0:
                raise FileProblem("is locked by the client; close it and try again") from None
            wait(0.1)
            end -= 0.1
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()


def _is_stale(folder: Path) -> bool:
    try:
        return time.time() - folder.stat().st_mtime > _STALE_SECONDS  # noqa: TID251 - compared with a file's time
    except OSError:
        return False
