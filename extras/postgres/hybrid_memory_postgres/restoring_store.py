"""Puts a backup in the place of a store in a database, while hubs have it open: `PostgresRestorer`.

All rows are replaced in one transaction, for which writers wait and readers do not; the store gets a new id by it, so that every hub
knows that nothing of what it holds in memory counts any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from hybrid_memory.clock import SystemRandomSource
from hybrid_memory.settings import DATABASE
from hybrid_memory.store.restoring import Restored
from hybrid_memory.store.row_copy import CHUNK_ROWS, MOVED_TABLES, MovedRow, MovedTable, copy_rows
from hybrid_memory_postgres.connections import EVERYTHING, Connections
from hybrid_memory_postgres.migrating import migrate, refuse_later
from hybrid_memory_postgres.row_tables import PgRows, add_rows, clear_table, number_readings_on
from hybrid_memory_postgres.target import Conninfo
from hybrid_memory_postgres.vector_table import pinned_embedder

if TYPE_CHECKING:
    from datetime import datetime

    from hybrid_memory.store.erasing import OnStep
    from hybrid_memory.store.transfer import Refusal
    from hybrid_memory_postgres.sql_session import PgSession

# The table of heads first: whoever writes has locked a row of it, so nobody waits for anybody in a circle.
_LOCK = """
    LOCK TABLE namespace, memory, vector, usage, log, buffer, request, undo, conversation, entry, reading, embedder, store
    IN EXCLUSIVE MODE
"""
_IN_USE = "SELECT EXISTS (SELECT 1 FROM log) OR EXISTS (SELECT 1 FROM memory) OR EXISTS (SELECT 1 FROM conversation)"
_NEW_ID = "UPDATE store SET id = gen_random_uuid()::text, erasures = erasures + 1"
_END_MOVE = "DELETE FROM moving"


class PostgresRestorer:
    """Restores a store in a database; see `hybrid_memory.store.restoring.Restorer`. ``home`` is where files are put aside."""

    needs_closed_store = False

    def __init__(self, connections: Connections, home: Path) -> None:
        self._connections = connections
        self._home = home

    def restore(self, backup: Path, now: datetime, *, refusal: Refusal, on_step: OnStep = lambda _: None) -> Restored:
        """Put a backup in the place of the store; what was there is put aside as a database file."""
        from hybrid_memory.store.duck.files.database_file import make_folder
        from hybrid_memory.store.duck.moving_files import file_source, upgraded
        from hybrid_memory.store.duck.restore_file import copy_and_inspect, verify_backup

        make_folder(self._home)
        with TemporaryDirectory(prefix=".backup-", dir=self._home) as folder:
            copy = Path(folder) / DATABASE
            embedder = copy_and_inspect(backup, copy, refusal, on_step)
            verify_backup(copy)
            upgraded(copy, now, SystemRandomSource())
            on_step("checked")
            with file_source(copy) as source, self._connections.filling(EVERYTHING) as session:
                refuse_later(session)
                session.send(_LOCK)
                before = pinned_embedder(session)
                aside = self._put_aside(now) if session.rows(_IN_USE)[0][0] else None
                with _dropped_on_error(aside):
                    on_step("aside")
                    for table in MOVED_TABLES:
                        clear_table(session, table)
                    sums = copy_rows(source.rows, _InTransaction(session))
                    number_readings_on(session)
                    session.change(_NEW_ID)
                    session.change(_END_MOVE)
                    on_step("replaced")
        on_step("done")
        other = embedder if before is not None and embedder != before.identity else None
        return Restored(sums["memory"][0], aside, other)

    def _put_aside(self, now: datetime) -> Path:
        from hybrid_memory.store.duck.moving_files import write_file
        from hybrid_memory.store.duck.restore_file import folder_for_replaced

        folder = folder_for_replaced(self._home / DATABASE, now)
        with _dropped_on_error(folder), self._connections.copying(EVERYTHING) as session:
            write_file(folder / DATABASE, PgRows(session), now)
        return folder


@contextmanager
def _dropped_on_error(aside: Path | None) -> Iterator[None]:
    """Remove what was put aside if nothing takes its place; it says that a backup did. After the COMMIT nobody can be sure of that."""
    try:
        yield
    except BaseException:
        if aside is not None:
            rmtree(aside, ignore_errors=True)
        raise


def restorer_of_database(conninfo: Conninfo, home: Path, *, wait_seconds: float) -> PostgresRestorer:
    """Return what restores the store in a database that this process need not have open; its tables are made if there are none."""
    return _ClosedStoreRestorer(Connections(conninfo, size=2, wait_seconds=wait_seconds), home)


class _ClosedStoreRestorer(PostgresRestorer):
    def restore(self, backup: Path, now: datetime, *, refusal: Refusal, on_step: OnStep = lambda _: None) -> Restored:
        with self._connections:
            migrate(self._connections, now)
            return super().restore(backup, now, refusal=refusal, on_step=on_step)


class _InTransaction:
    """Takes rows in the transaction of a session, of which nothing is left if it ends before all is there."""

    def __init__(self, session: PgSession) -> None:
        self._session = session

    def marks(self, table: MovedTable) -> Sequence[str]:
        del table
        return ()

    def clear(self, table: MovedTable) -> None:
        clear_table(self._session, table)

    def add(self, table: MovedTable, rows: Sequence[MovedRow], number: int, mark: str) -> None:
        del mark
        add_rows(self._session, table, rows, first=number * CHUNK_ROWS)
