from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.core.store.empty_database import discard, lay_empty

from hybrid_memory.store.base import Store
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.store.memory import MemoryStore
from hybrid_memory.testing import FakeClock

if TYPE_CHECKING:
    from tests.postgres.server import Database


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "memory.duckdb"


@pytest.fixture
def open_duck(path: Path, clock: FakeClock) -> Iterator[Callable[[], DuckStore]]:
    opened: list[DuckStore] = []

    def open_one() -> DuckStore:
        opened.append(DuckStore.open(path, clock))
        return opened[-1]

    yield open_one
    for store in opened:
        discard(store)


@pytest.fixture
def duck(path: Path, open_duck: Callable[[], DuckStore]) -> DuckStore:
    lay_empty(path.parent)
    return open_duck()


@pytest.fixture
def open_postgres(database: Database, clock: FakeClock) -> Iterator[Callable[[], Store]]:
    """Give a function that opens the store of one database, each time as another hub does."""
    from hybrid_memory.store.postgres.store import PostgresStore

    opened: list[PostgresStore] = []

    def open_one() -> Store:
        opened.append(PostgresStore.open(database.conninfo, clock))
        return opened[-1]

    yield open_one
    for store in opened:
        store.close()


@pytest.fixture(params=["duck", "memory", pytest.param("postgres", marks=pytest.mark.postgres)])
def store(request: pytest.FixtureRequest, clock: FakeClock) -> Store:
    if request.param == "memory":
        return MemoryStore(clock)
    opened: Store = (
        request.getfixturevalue("duck") if request.param == "duck" else request.getfixturevalue("open_postgres")()
    )
    return opened
