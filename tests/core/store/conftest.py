from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.core.store.empty_database import discard, lay_empty
from tests.postgres.fixtures import POSTGRES

from hybrid_memory.store.base import Store
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.testing import FakeClock


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


@pytest.fixture(params=["duck", "memory", POSTGRES])
def store(request: pytest.FixtureRequest, clock: FakeClock) -> Store:
    if request.param == "memory":
        return MemoryStore(clock)
    return (
        request.getfixturevalue("open_postgres")(clock)
        if request.param == "postgres"
        else request.getfixturevalue("duck")
    )
