"""`SqlSession`: one cursor of the database. All statements but those that open a file are executed here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

import duckdb

from hybrid_memory.store.duck.duckdb_errors import translated
from hybrid_memory.store.duck.pandas_lookup import without_pandas
from hybrid_memory.store.duck.recovery.journal import ExecutedStatement
from hybrid_memory.store.encoding import to_json
from hybrid_memory.store.sql.session import Row

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BEGIN = "BEGIN TRANSACTION"
_COMMIT = "COMMIT"
_ROLLBACK = "ROLLBACK"
_PLAIN_PLANS = "PRAGMA disable_optimizer"

# What statements of `store.sql` have, and DuckDB has not: lists come as JSON, which costs less than one of Python's.
_AMONG = re.compile(r"= ANY \((\$\d+::(?:text|bigint)\[\])\)")
_LIST = re.compile(r"(\$\d+)::(text|bigint)\[\]")
_JSON_TYPES = {"text": "VARCHAR", "bigint": "BIGINT"}
_PLACE = re.compile(r"\bplace\b")


class SqlSession:
    """Runs constant statements on a cursor of its own; every error that leaves is one of the library's.

    ``for_changes`` makes a session that is used again and again for small changes: it keeps parsed statements and
    plans without the optimizer, which has nothing to win there (measured at 10,000 memories: a write of one takes
    3.3 ms instead of 4.7). Its queries would be up to five times slower: they belong to another session. In a ``large``
    store the optimizer stays, for the sake of the indexes: an update of one in a million takes 1 ms with it, else 10.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        *,
        for_changes: bool = False,
        large: bool = False,
        unreadable: set[tuple[str, str]] | None = None,
    ) -> None:
        self.large = large
        self.unreadable: set[tuple[str, str]] = set() if unreadable is None else unreadable
        """Memories, by namespace and id, whose rows could not be decoded."""
        self._executed: list[ExecutedStatement] | None = [] if for_changes else None
        self._parsed: dict[str, duckdb.Statement] | None = None
        with translated():
            self._cursor = connection.cursor()
            if for_changes:
                self._parsed = {}
                if not large:
                    self._cursor.execute(_PLAIN_PLANS)

    @property
    def executed(self) -> Sequence[ExecutedStatement]:
        """What the open transaction has executed; always empty in a session that is not ``for_changes``."""
        return self._executed or ()

    def rows(self, statement: str, *values: Any) -> list[Row]:
        """Return all rows of a query."""
        statement, values = _in_duckdb(statement, values)
        with translated():
            self._execute(statement, values)
            found: list[Row] = self._cursor.fetchall()
        if self._executed is not None:
            self._executed.append((statement, values))
        return found

    def dictionaries(self, statement: str, *values: Any) -> list[dict[str, Any]]:
        """Return all rows of a query with the names of their columns."""
        found = self.rows(statement, *values)
        names = [column[0] for column in self._cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in found]

    def row(self, statement: str, *values: Any) -> Row | None:
        """Return the first row of a query, None without rows."""
        found = self.rows(statement, *values)
        return found[0] if found else None

    def change(self, statement: str, *values: Any) -> int:
        """Run an INSERT, UPDATE or DELETE; returns how many rows it touched."""
        found = self.rows(statement, *values)
        return int(found[0][0]) if found else 0

    def send(self, statement: str, *values: Any) -> None:
        """Run a statement of which nothing is wanted back."""
        self.rows(statement, *values)

    def columns(self, statement: str, *values: Any) -> dict[str, NDArray[np.generic]]:
        """Return the columns of a query as arrays, masked where they hold NULL."""
        with translated():
            self._execute(statement, values)
            found: dict[str, NDArray[np.generic]] = self._cursor.fetchnumpy()
            return found

    def change_with(self, name: str, columns: Mapping[str, NDArray[Any]], statement: str, *values: Any) -> int:
        """As `change`, with arrays that the statement sees as the columns of a table of that name."""
        with translated():
            with without_pandas:
                self._cursor.register(name, dict(columns))
            try:
                return self.change(statement, *values)
            finally:
                self._cursor.unregister(name)

    def begin(self) -> None:
        """Begin a transaction."""
        with translated():
            self._execute(_BEGIN, ())
        if self._executed is not None:
            self._executed = []

    def commit(self) -> None:
        """Make the transaction durable.

        Raises:
            StoreFull, EngineUnavailable, ConstraintViolation: it certainly did not happen.
            OutcomeUnknown: nobody knows.
        """
        with translated(committing=True):
            self._execute(_COMMIT, ())

    def rollback(self) -> None:
        """Undo the transaction; one that DuckDB undid by itself is no error."""
        with suppress(duckdb.Error):
            self._cursor.execute(_ROLLBACK)

    def close(self) -> None:
        """Let the cursor go; an open transaction is undone."""
        with suppress(duckdb.Error):
            self._cursor.close()

    def _execute(self, statement: str, values: Sequence[Any]) -> None:
        if self._parsed is None:
            with without_pandas:
                self._cursor.execute(statement, values)
            return
        parsed = self._parsed.get(statement)
        if parsed is None:
            parsed = self._parsed[statement] = self._cursor.extract_statements(statement)[0]
        with without_pandas:
            self._cursor.execute(parsed, values)


def _in_duckdb(statement: str, values: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """Return a statement of `store.sql` as DuckDB takes it, and any other as it is."""
    own = _with_json_lists(statement)
    if own is None:
        return statement, values
    return own, tuple(to_json(one) if isinstance(one, list) else one for one in values)


@cache
def _with_json_lists(statement: str) -> str | None:
    """Return a statement with lists as JSON and the name of the column that orders rows; None if there is no list in it."""
    if not _LIST.search(statement):
        return None
    statement = _AMONG.sub(r"IN (SELECT unnest(\1))", statement)
    statement = _LIST.sub(lambda found: f"""from_json({found[1]}, '["{_JSON_TYPES[found[2]]}"]')""", statement)
    return _PLACE.sub("rowid", statement)
