"""Connections to the test's own database; without PostgreSQL's driver there is nothing to collect here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.postgres.server import Database

    from hybrid_memory.store.postgres.connections import Connections

collect_ignore_glob = [] if find_spec("psycopg") else ["test_*.py"]


@pytest.fixture
def connect(database: Database) -> Iterator[Callable[..., Connections]]:
    """Give connections to the test's database, as a hub has them or as somebody else."""
    from hybrid_memory.store.postgres.connections import Connections

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
