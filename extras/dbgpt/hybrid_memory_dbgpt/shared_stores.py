"""The DuckDB stores that this package has open in this process: one for all objects that name the same folder.

A file can be opened once. `DuckDBVectorStore` gets its store here, with the search structures over it, and gives it back;
the last one closes it.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hybrid_memory.retrieval.index_cache import IndexCache

if TYPE_CHECKING:
    from hybrid_memory.clock import Clock
    from hybrid_memory.store.base import Store


@dataclass(eq=False, slots=True)
class OpenStore:
    """A store, its search structures, which lock file it made (device and inode), and how many objects use it."""

    store: Store
    index_cache: IndexCache
    lock_file: tuple[int, int] | None = None
    users: int = 1

    def close(self) -> None:
        """Let go of both."""
        self.index_cache.close()
        self.store.close()


_guard = threading.Lock()
_open_stores: dict[Path, OpenStore] = {}


def with_index(store: Store) -> OpenStore:
    """Return a store with search structures of its own."""
    return OpenStore(store, IndexCache(store, lambda: store.info().dimensions))


def open_store(folder: Path, clock: Clock) -> OpenStore:
    """Return the store in a folder, opened if this process has not; call `close_store` once for each time.

    A store whose folder was deleted meanwhile is closed, and a new one made. ``clock`` is that of a store opened now.

    Raises:
        StoreError: the folder cannot be used, or another process has the store open.
    """
    from hybrid_memory.settings import DATABASE, StoreSettings
    from hybrid_memory.store.opening import open_store as open_file

    place = folder.expanduser().resolve()
    database = place / DATABASE
    lock_file = database.with_suffix(".lock")  # the store makes it alongside its file, and it lasts as long
    with _guard:
        known = _open_stores.get(place)
        if known is not None and known.lock_file == _identity(lock_file):
            known.users += 1
            return known
        if known is not None:
            # The file is gone, yet DuckDB would go on with it, and refuse a second database under its name.
            del _open_stores[place]
            known.close()
        opened = with_index(open_file(StoreSettings.model_construct(), place, clock))
        opened.lock_file = _identity(lock_file)
        _open_stores[place] = opened
        return opened


def close_store(opened: OpenStore) -> None:
    """Give a store back; it is closed when nobody else has it. One that was replaced is closed already."""
    with _guard:
        opened.users -= 1
        if opened.users > 0:
            return
        for place in [place for place, known in _open_stores.items() if known is opened]:
            del _open_stores[place]
        opened.close()


def _identity(file: Path) -> tuple[int, int] | None:
    """Return which file a name leads to; None if to none. An open file's number is given to no other."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
