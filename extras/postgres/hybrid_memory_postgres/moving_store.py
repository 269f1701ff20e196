"""PostgreSQL databases as the two ends of a move (`hybrid_memory.store.moving`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hybrid_memory_postgres.connections import EVERYTHING, Connections
from hybrid_memory_postgres.export_rows import contents_of
from hybrid_memory_postgres.migrating import migrate, refuse_later
from hybrid_memory_postgres.row_tables import PgRows, PgRowTarget, refuse_while_moving

if TYPE_CHECKING:
    from datetime import datetime

    from hybrid_memory.store.moving import MoveSource, MoveTarget
    from hybrid_memory.store.row_copy import RowSource, RowTarget
    from hybrid_memory.store.transfer import StoreContents
    from hybrid_memory_postgres.sql_session import PgSession

_CONNECTIONS = 2


@contextmanager
def database_source(conninfo: str) -> Iterator[MoveSource]:
    """Give this moment of the store in a database."""
    with Connections(conninfo, size=_CONNECTIONS) as connections:
        refuse_while_moving(connections)
        with connections.copying(EVERYTHING) as session:
            refuse_later(session)
            yield _DatabaseMoment(session)


@contextmanager
def database_target(conninfo: str, now: datetime) -> Iterator[MoveTarget]:
    """Give a database as a place for a store."""
    with Connections(conninfo, size=_CONNECTIONS) as connections:
        yield _DatabaseTarget(connections, now)


class _DatabaseMoment:
    def __init__(self, session: PgSession) -> None:
        self._session = session
        self._rows = PgRows(session)

    @property
    def rows(self) -> RowSource:
        return self._rows

    def contents(self) -> StoreContents:
        return contents_of(self._session, None, vectors=False)


class _DatabaseTarget:
    def __init__(self, connections: Connections, now: datetime) -> None:
        self._connections = connections
        self._now = now
        self._rows = PgRowTarget(connections)

    @property
    def rows(self) -> RowTarget:
        return self._rows

    def begin(self, store_id: str) -> None:
        migrate(self._connections, self._now)
        with self._connections.reading(EVERYTHING) as session:
            refuse_later(session)
        self._rows.begin(store_id)

    @contextmanager
    def written(self) -> Iterator[MoveSource]:
        with self._connections.copying(EVERYTHING) as session:
            yield _DatabaseMoment(session)

    def discard(self) -> None:
        self._rows.discard()

    def finish(self, now: datetime) -> None:
        del now  # nothing is put aside
        self._rows.finish()
