"""The fixtures `postgres_server`, `database` and `open_postgres`, and the parameter `POSTGRES`, for tests in any folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.postgres.server import Database, PostgresServer

    from hybrid_memory.clock import Clock
    from hybrid_memory_postgres.store import PostgresStore

POSTGRES = pytest.param("postgres", marks=pytest.mark.postgres)
"""Alongside "duck" and "memory": the kind of store that is in a database of a real server."""


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A real server with the template of an empty store; skips where there is no PostgreSQL."""
    _skip_without_postgresql()
    from tests.postgres.server import running_server

    with running_server() as server:
        yield server


@pytest.fixture
def database(postgres_server: PostgresServer) -> Iterator[Database]:
    """An empty store's database, gone after the test."""
    made = postgres_server.create_database()
    yield made
    postgres_server.drop_database(made.name)


@pytest.fixture(scope="session")
def durable_server() -> Iterator[PostgresServer]:
    """A server that waits for its disk, as a real one does: for tests in which it crashes."""
    _skip_without_postgresql()
    from tests.postgres.server import running_server

    with running_server(fsync="on", synchronous_commit="on", full_page_writes="on") as server:
        yield server


@pytest.fixture
def durable(durable_server: PostgresServer) -> Iterator[Database]:
    """An empty store's database that survives a crash of its server."""
    made = durable_server.create_database()
    yield made
    durable_server.drop_database(made.name)


@pytest.fixture
def open_postgres(request: pytest.FixtureRequest) -> Iterator[Callable[..., PostgresStore]]:
    """Returns a function that opens the store of the test's database as a hub would; each call is another hub.

    Without a clock it has the test's own (fixture ``clock``).
    The server is asked for when the function is called, so that other parameters of a test do without one.
    """
    opened = ExitStack()

    def open_one(clock: Clock | None = None, **options: object) -> PostgresStore:
        database: Database = request.getfixturevalue("database")
        from hybrid_memory_postgres.store import PostgresStore

        clock = clock or request.getfixturevalue("clock")
        store = PostgresStore.open(database.conninfo, clock, **{"size": 8, **options})
        opened.callback(store.close)
        return store

    yield open_one
    opened.close()


def _skip_without_postgresql() -> None:
    pytest.importorskip("psycopg", reason="PostgreSQL's driver is not installed: uv sync --extra postgresql")
    from tests.postgres.server import programs

    if programs() is None:
        pytest.skip("there is no PostgreSQL 15 or later; Debian: apt install postgresql")
