"""The private folder in which a command prepares an import, and what earlier ones that were killed left there."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def working_folder(home: Path) -> Iterator[Path]:
    """Give a new folder for the lines of one import, which is gone afterwards; what killed commands left is removed too.

    It lies in the store's folder, or among the machine's temporary files while there is no store, so that looking alone makes none.
    """
    from filelock import FileLock

    from hybrid_memory.admin.user_files import file_errors
    from hybrid_memory.store.home_files import SPOOLS

    if not home.is_dir():
        with tempfile.TemporaryDirectory(prefix="hybrid-memory-import-") as made:
            yield Path(made)
        return
    spools = home / SPOOLS
    with file_errors():
        spools.mkdir(mode=0o700, exist_ok=True)
        with FileLock(spools / ".lock"):
            _sweep(spools)
            folder = Path(tempfile.mkdtemp(dir=spools))
            held = FileLock(folder / ".lock")
            held.acquire()
    try:
        yield folder
    finally:
        held.release()
        shutil.rmtree(folder, ignore_errors=True)


def _sweep(spools: Path) -> None:
    """Remove the folders of commands that are gone: whoever is at work holds the lock in its own."""
    from filelock import FileLock, Timeout

    for folder in spools.iterdir():
        if folder.is_symlink() or not folder.is_dir():
            continue
        with suppress(Timeout, OSError):
            FileLock(folder / ".lock").acquire(timeout=0).lock.release()
            shutil.rmtree(folder, ignore_errors=True)
