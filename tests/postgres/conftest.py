"""Connections to the test's own database; without PostgreSQL's driver only tests that need none are collected here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.postgres.server import Database

    from hybrid_memory_postgres.connections import Connections

_WITHOUT_DRIVER = {
    "test_migrate_folders.py",
    "test_offline.py",
    "test_stored_lists.py",
    "test_target.py",
    "test_wire_arrays.py",
}
collect_ignore = (
    []
    if find_spec("psycopg")
    else [one.name for one in Path(__file__).parent.glob("test_*.py") if one.name not in _WITHOUT_DRIVER]
)


@pytest.fixture
def connect(database: Database) -> Iterator[Callable[..., Connections]]:
    """Give connections to the test's database, as a hub has them or as somebody else."""
    from hybrid_memory_postgres.connections import Connections

    opened: list[Connections] = []

    def connect_as(user: str | None = None, size: int = 4) -> Connections:
        conninfo = database.conninfo if user is None else database.conninfo_of(user)
        connections = Connections(conninfo, size=size, wait_seconds=5)
        connections.open()
        opened.append(connections)
        return connections

    yield connect_as
    for one in opened:
        one.close()
