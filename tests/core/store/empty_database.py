"""A store for one test: a copy of an empty one, opened in half the time that making one takes, and closed in a quarter."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

import duckdb

from hybrid_memory.settings import DATABASE
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.testing import FakeClock


@cache
def _bytes() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / DATABASE
        DuckStore.open(path, FakeClock()).close()
        return path.read_bytes()


def lay_empty(folder: Path) -> Path:
    """Put the file of a store that holds nothing into a folder, which need not be there, and return its path."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / DATABASE
    path.write_bytes(_bytes())
    path.chmod(0o600)
    return path


def discard(store: DuckStore) -> None:
    """Close a store whose files nobody looks at any more: what is only in its log is not moved into the database file."""
    engine = store._engine
    if not engine._closed:
        with suppress(duckdb.Error):
            engine._connection.execute("PRAGMA disable_checkpoint_on_shutdown")
        engine._last_checkpoint = lambda: None  # for this one store, which ends here
    store.close()
