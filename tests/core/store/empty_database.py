"""An empty store for tests: a copy of one opens in half the time that making one takes."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

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
