"""The fixtures `postgres_server` and `database`, for tests in any folder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.postgres.server import Database, PostgresServer


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A real server with the template of an empty store; skips where there is no PostgreSQL."""
    pytest.importorskip("psycopg", reason="PostgreSQL's driver is not installed: uv sync --extra postgresql")
    from tests.postgres.server import programs, running_server

    if programs() is None:
        pytest.skip("there is no PostgreSQL 15 or later; Debian: apt install postgresql")
    with running_server() as server:
        yield server


@pytest.fixture
def database(postgres_server: PostgresServer) -> Iterator[Database]:
    """An empty store's database, gone after the test."""
    made = postgres_server.create_database()
    yield made
    postgres_server.drop_database(made.name)
