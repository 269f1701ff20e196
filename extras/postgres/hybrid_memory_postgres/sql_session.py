"""`PgSession`: one transaction on one connection. All statements but those of a bulk copy are executed here.

Statements are constants with ``$1`` placeholders, prepared by the server at their first use; results are binary. In a pipeline the
server's answers are waited for only where somebody wants them: what is only `send`-ed goes out with the next `rows`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hybrid_memory.errors import StoreError
from hybrid_memory.store.sql.session import Row
from hybrid_memory_postgres.pg_errors import translated

if TYPE_CHECKING:
    import psycopg

Statement = tuple[str, Sequence[Any]]
"""A statement and its values."""

_COMMIT = "COMMIT"

Begin = Callable[["PgSession"], None]
"""Sends what comes before the first statement of a transaction, without waiting for it."""


class PgSession:
    """Runs constant statements in one transaction; every error that leaves is one of the library's.

    ``unreadable`` notes memories, by namespace and id, whose rows could not be decoded.
    """

    def __init__(
        self, connection: psycopg.Connection[Row], unreadable: set[tuple[str, str]], pipeline: psycopg.Pipeline | None
    ) -> None:
        self.connection = connection
        self.unreadable = unreadable
        self.failed = False
        """Whether the server refused a statement, or the connection was lost: the transaction can only be undone."""
        self.committing = False
        """Whether COMMIT may have reached the server."""
        self._pipeline = pipeline

    def rows(self, statement: str, *values: Any) -> list[Row]:
        """Return all rows of a query."""
        with self._noting_failure(), translated():
            return self._execute(statement, values).fetchall()

    def row(self, statement: str, *values: Any) -> Row | None:
        """Return the first row of a query, None without rows."""
        with self._noting_failure(), translated():
            return self._execute(statement, values).fetchone()

    def together(self, *statements: Statement) -> list[list[Row]]:
        """Return the rows of several queries, which in a pipeline take one round trip."""
        with self._noting_failure(), translated():
            cursors = [self._execute(statement, values) for statement, values in statements]
            return [cursor.fetchall() for cursor in cursors]

    def change(self, statement: str, *values: Any) -> int:
        """Run an INSERT, UPDATE or DELETE without RETURNING; returns how many rows it touched."""
        with self._noting_failure(), translated():
            cursor = self._execute(statement, values)
            if self._pipeline is not None:
                self._pipeline.sync()  # only then the cursor knows the number
            return max(cursor.rowcount, 0)

    def send(self, statement: str, *values: Any) -> None:
        """Run a statement of which nothing is wanted back; an error shows at the next call, or when the transaction commits."""
        with self._noting_failure(), translated():
            self._execute(statement, values)

    def send_many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement once for each row of values; see `send`."""
        with self._noting_failure(), translated():
            for values in rows:
                self._execute(statement, values)

    def sync(self) -> None:
        """Wait until all that was sent is done, and raise what failed of it."""
        with self._noting_failure(), translated():
            if self._pipeline is not None:
                self._pipeline.sync()

    def end(self) -> None:
        """End a transaction that only reads, in a pipeline with its end; a connection that is lost then leaves nothing in doubt."""
        with self._noting_failure(), translated():
            self.connection.execute(
                _COMMIT, prepare=False
            )  # not ROLLBACK, after which psycopg prepares every statement again

    def commit(self) -> None:
        """Commit; in a pipeline COMMIT goes along with what was sent before, and the end of the pipeline waits for it.

        Raises:
            OutcomeUnknown: the connection was lost meanwhile; any other error says that nothing was changed.
        """
        self.committing = True
        with self._noting_failure(), translated(committing=True):
            self.connection.execute(_COMMIT, prepare=False)

    @contextmanager
    def _noting_failure(self) -> Iterator[None]:
        try:
            yield
        except StoreError:
            self.failed = True
            raise

    def _execute(self, statement: str, values: Sequence[Any]) -> psycopg.Cursor[Row]:
        return self.connection.execute(statement, values, prepare=True, binary=True)


class EachStatementSession(PgSession):
    """Each query is a transaction of its own and one round trip, whatever ``begin`` sends before it."""

    def __init__(self, connection: psycopg.Connection[Row], unreadable: set[tuple[str, str]], begin: Begin) -> None:
        super().__init__(connection, unreadable, None)
        self._begin = begin

    def rows(self, statement: str, *values: Any) -> list[Row]:
        """Return all rows of a query."""
        with translated():
            with self.connection.pipeline():
                self._begin(self)
                cursor = self._execute(statement, values)
            return cursor.fetchall()

    def row(self, statement: str, *values: Any) -> Row | None:
        """Return the first row of a query, None without rows."""
        found = self.rows(statement, *values)
        return found[0] if found else None
