"""Puts another database file in the place of the store's, so that a crash leaves the old one or the new one.

The new file lies beside the old one, whole and on disk, before a small note says what is to be done. From then on
whoever opens the store first finishes it; before, the new file counts for nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from hybrid_memory.errors import StoreDamaged
from hybrid_memory.store.duck.duckdb_errors import DAMAGED, translated
from hybrid_memory.store.duck.files.database_file import journal_file, log_file, temp_folder

_PRIVATE = 0o600


def next_file(path: Path) -> Path:
    """Return where the file is made that is to take the place of the database file."""
    return path.with_suffix(".next")


def work_file(path: Path) -> Path:
    """Return where a copy of the database file is worked on; what a crash leaves of it is removed at the next opening."""
    return path.with_suffix(".work")


def store_files(path: Path) -> list[Path]:
    """Return what belongs to a database file and is of no use beside another: itself, its logs and its journal."""
    named = [path, log_file(path), *path.parent.glob(journal_file(path).name + "*")]
    return [file for file in named if file.exists()]


def swap(path: Path, aside: Path | None, on_step: Callable[[str], None]) -> None:
    """Let `next_file` take the place of the database file, for good from the moment at which the note is written.

    The present files go into the folder ``aside``, which lies in the store's own folder; None removes them. ``on_step``
    is told each step.
    """
    with translated():
        note = _note(path)
        fresh = note.with_suffix(".swap.new")
        fresh.unlink(missing_ok=True)
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE)
        with os.fdopen(handle, "w") as stream:
            json.dump({"aside": None if aside is None else str(aside.relative_to(path.parent))}, stream)
            stream.flush()
            os.fsync(stream.fileno())
        on_step("prepared")
        fresh.replace(note)
        fsync_folder(path.parent)
    on_step("decided")
    finish_swap(path, on_step)


def finish_swap(path: Path, on_step: Callable[[str], None] = lambda _: None) -> None:
    """Finish a swap that was decided; remove what one left that was not, and what the engine put aside while it worked.

    The caller holds the store's lock.
    """
    with translated():
        note, new = _note(path), next_file(path)
        if note.exists():
            aside = _aside(path, note)
            if new.exists():
                _clear(path, aside, on_step)
                new.replace(path)
                on_step("replaced")
                fsync_folder(path.parent)
            note.unlink()
            fsync_folder(path.parent)
            on_step("done")
        work = work_file(path)
        for file in (new, log_file(new), work, log_file(work), note.with_suffix(".swap.new")):
            file.unlink(missing_ok=True)
        for left in temp_folder(path).glob("*"):
            with suppress(OSError):
                left.unlink()


def fsync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on disk, where the system can do that."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _clear(path: Path, aside: Path | None, on_step: Callable[[str], None]) -> None:
    # The database file goes last: while it is there, what belongs to it is still there or already in the folder.
    files = list(reversed(store_files(path)))
    if aside is not None and files:
        aside.mkdir(0o700, parents=True, exist_ok=True)
    for file in files:
        if aside is None:
            file.unlink()
        else:
            file.replace(aside / file.name)
        on_step("cleared")
    if aside is not None and files:
        fsync_folder(aside)


def _aside(path: Path, note: Path) -> Path | None:
    try:
        named = json.loads(note.read_text("ascii"))["aside"]
        return None if named is None else path.parent / named
    except (ValueError, TypeError, KeyError):
        raise StoreDamaged(DAMAGED) from None


def _note(path: Path) -> Path:
    return path.with_suffix(".swap")
