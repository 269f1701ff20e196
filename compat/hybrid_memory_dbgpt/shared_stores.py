"""The DuckDB stores that this package has open in this process: one for all objects that name the same folder.

A file can be opened once. `DuckDBVectorStore` gets its store here and gives it back; the last one closes it.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hybrid_memory.clock import Clock
    from hybrid_memory.store.duck.store import DuckStore

_DATABASE = "memory.duckdb"
_LOCK_FILE = "memory.lock"


@dataclass(slots=True)
class _OpenStore:
    store: DuckStore
    lock_file: tuple[int, int] | None
    users: int = 1


_guard = threading.Lock()
_open_stores: dict[Path, _OpenStore] = {}


def open_store(folder: Path, clock: Clock) -> DuckStore:
    """Return the store in a folder, opened if this process has not; call `close_store` once for each time.

    A store whose folder was deleted meanwhile is closed, and a new one made. ``clock`` is that of a store opened now.

    Raises:
        StoreError: the folder cannot be used, or another process has the store open.
    """
    from hybrid_memory.store.duck.store import DuckStore

    place = folder.expanduser().resolve()
    with _guard:
        known = _open_stores.get(place)
        if known is not None and known.lock_file == _identity(place / _LOCK_FILE):
            known.users += 1
            return known.store
        if known is not None:
            # The file is gone, yet DuckDB would go on with it, and refuse a second database under its name.
            del _open_stores[place]
            known.store.close()
        store = DuckStore.open(place / _DATABASE, clock)
        _open_stores[place] = _OpenStore(store, _identity(place / _LOCK_FILE))
        return store


def close_store(store: DuckStore) -> None:
    """Give a store back; it is closed when nobody else has it. One that was replaced is closed already."""
    with _guard:
        for place, known in _open_stores.items():
            if known.store is store:
                known.users -= 1
                if known.users > 0:
                    return
                del _open_stores[place]
                break
        store.close()


def _identity(file: Path) -> tuple[int, int] | None:
    """Return which file a name leads to; None if to none. An open file's number is given to no other."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
