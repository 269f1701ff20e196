"""Puts another database file in the place of the store's, so that a crash leaves the old one or the new one.

Used by restore and purge, which make the new file, and by every opening, which finishes what a crash interrupted. The steps:

1. the new file lies alongside the old one (`next_file`), whole and on disk;
2. a small note says what is to be done: from here on the new file counts;
3. the old files go, into a folder or for good;
4. the new file gets the name of the database; 5. the note goes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hybrid_memory.errors import StoreDamaged
from hybrid_memory.private_files import FOLDER_MODE, fsync_folder, prepare_replacement
from hybrid_memory.store.duck.duckdb_errors import DAMAGED, translated
from hybrid_memory.store.duck.files.database_file import journal_file, log_file, make_folder, temp_folder
from hybrid_memory.store.duck.files.database_lock import DatabaseLock


@contextmanager
def hold_store(path: Path) -> Iterator[None]:
    """Hold the lock of a store that nobody has open, after what an earlier crash left was finished."""
    make_folder(path.parent)
    lock = DatabaseLock(path)
    lock.take()
    try:
        finish_swap(path)
        yield
    finally:
        lock.release()


def next_file(path: Path) -> Path:
    """Return where the file is made that is to take the place of the database file."""
    return path.with_suffix(".next")


def work_file(path: Path) -> Path:
    """Return where a copy of the database file is worked on; what a crash leaves of it is removed at the next opening."""
    return path.with_suffix(".work")


def store_files(path: Path) -> list[Path]:
    """Return what belongs to a database file and is of no use alongside another: itself, its logs and its journal."""
    named = [path, log_file(path), *path.parent.glob(journal_file(path).name + "*")]
    return [file for file in named if file.exists()]


def swap(path: Path, aside: Path | None, on_step: Callable[[str], None]) -> None:
    """Let `next_file` take the place of the database file, for good from the moment at which the note is written.

    The present files go into the folder ``aside``, which lies in the store's own folder; None removes them. ``on_step``
    is told each step.
    """
    with translated():
        note = _note_file(path)
        where = None if aside is None else str(aside.relative_to(path.parent))
        fresh = prepare_replacement(note, json.dumps({"aside": where}).encode("ascii"))
        on_step("prepared")
        fresh.replace(note)
        fsync_folder(path.parent)
    on_step("decided")
    finish_swap(path, on_step)


def finish_swap(path: Path, on_step: Callable[[str], None] = lambda _: None) -> None:
    """Finish a swap that was decided; remove what one left that was not, and temporary files of the engine.

    The caller holds the store's lock.
    """
    with translated():
        note, new = _note_file(path), next_file(path)
        if note.exists():
            aside = _read_note(path, note)
            # Without the new file the swap got as far as its last step: only the note is left to remove.
            if new.exists():
                _clear(path, aside, on_step)
                new.replace(path)
                on_step("replaced")
                fsync_folder(path.parent)
            note.unlink()
            fsync_folder(path.parent)
            on_step("done")
        work = work_file(path)
        for file in (new, log_file(new), work, log_file(work), note.with_name(note.name + ".new")):
            file.unlink(missing_ok=True)
        for left in temp_folder(path).glob("*"):
            with suppress(OSError):
                left.unlink()


def _clear(path: Path, aside: Path | None, on_step: Callable[[str], None]) -> None:
    # The database file goes last: while it is there, what belongs to it is still there or already in the folder.
    files = list(reversed(store_files(path)))
    if aside is not None and files:
        aside.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
    for file in files:
        if aside is None:
            file.unlink()
        else:
            file.replace(aside / file.name)
        on_step("cleared")
    if aside is not None and files:
        fsync_folder(aside)


def _read_note(path: Path, note: Path) -> Path | None:
    """Return the folder for the present files, None where they are to be removed."""
    try:
        named = json.loads(note.read_text("ascii"))["aside"]
        return None if named is None else path.parent / named
    except (ValueError, TypeError, KeyError):
        raise StoreDamaged(DAMAGED) from None


def _note_file(path: Path) -> Path:
    return path.with_suffix(".swap")
