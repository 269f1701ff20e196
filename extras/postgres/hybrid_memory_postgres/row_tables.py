"""All rows of a PostgreSQL store, read for a copy and taken from one (`hybrid_memory.store.row_copy`).

Read by COPY in one moment, alongside everything else that is done. Written through temporary tables: PostgreSQL takes no COPY into a table
with row-level security. Where a table keeps the order of storing in a column, it is given again, in that order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from string import Template
from typing import TYPE_CHECKING

from hybrid_memory.errors import ConstraintViolation, InvalidInput, StoreError
from hybrid_memory.moments import EARLIEST_MICROS, LATEST_MICROS
from hybrid_memory.store.moving import NOT_EMPTY, OF_ANOTHER
from hybrid_memory.store.row_copy import (
    CHUNK_ROWS,
    HEAD,
    MOVED_TABLES,
    STORE,
    VECTOR,
    MovedRow,
    MovedTable,
    Value,
)
from hybrid_memory_postgres.connections import EVERYTHING
from hybrid_memory_postgres.hub_rows import living
from hybrid_memory_postgres.pg_errors import translated

if TYPE_CHECKING:
    from hybrid_memory_postgres.connections import Connections
    from hybrid_memory_postgres.sql_session import PgSession

# Statements are made once, from the list of tables.
_COPY_OUT = Template("COPY (SELECT $columns FROM $table ORDER BY $order) TO STDOUT (FORMAT BINARY)")
_COUNT = Template("SELECT count(*) FROM $table")
_MAKE_TEMPORARY = Template(
    "CREATE TEMPORARY TABLE IF NOT EXISTS moved_$name (nth BIGINT, $columns) ON COMMIT DELETE ROWS"
)
_COPY_IN = Template("COPY moved_$name (nth, $columns) FROM STDIN (FORMAT BINARY)")
_TAKE = Template("INSERT INTO $table ($columns) SELECT $columns FROM moved_$name ORDER BY nth")
_TRUNCATE = Template("TRUNCATE moved_$name")
_DELETE = Template("DELETE FROM $table")

_STORE = "COPY (SELECT id, term_key, sync_number FROM store) TO STDOUT (FORMAT BINARY)"
_HAS_KEY = "SELECT 1 FROM store WHERE term_key IS NOT NULL"
_SET_STORE = "UPDATE store SET id = $1, term_key = $2, sync_number = $3"
_VECTORS = """
    COPY (
        SELECT v.embedder::bigint, v.namespace, v.id, v.vec, v.passages
        FROM vector AS v LEFT JOIN memory AS m ON m.namespace = v.namespace AND m.id = v.id
        ORDER BY v.embedder, m.place, v.namespace, v.id
    ) TO STDOUT (FORMAT BINARY)
"""
_HEADS = """
    COPY (SELECT name, position, trimmed_before, link FROM namespace WHERE position > 0 ORDER BY name)
    TO STDOUT (FORMAT BINARY)
"""
_COUNT_HEADS = "SELECT count(*) FROM namespace WHERE position > 0"
_TAKE_HEADS = """
    INSERT INTO namespace (name, position, trimmed_before, link, last_at)
    SELECT namespace, position, trimmed_before, link, coalesce(
        (SELECT max(made_at) FROM log WHERE log.namespace = moved_head.namespace AND made_at BETWEEN $1 AND $2), 0
    ) FROM moved_head
"""
_NEXT_READING = """
    SELECT setval(pg_get_serial_sequence('reading', 'number'), greatest((SELECT max(number) FROM reading), 1))
"""

_MARKS = "SELECT mark FROM moving WHERE what = $1 ORDER BY number"
_ADD_MARK = "INSERT INTO moving (what, number, mark) VALUES ($1, $2, $3)"
_CLEAR_MARKS = "DELETE FROM moving WHERE what = $1"
_FINISH = "DELETE FROM moving"
_SOURCE = "source"  # no table has that name
_IS_MOVING = "SELECT EXISTS (SELECT 1 FROM moving)"
_IN_USE = """
    SELECT EXISTS (SELECT 1 FROM memory) OR EXISTS (SELECT 1 FROM log) OR EXISTS (SELECT 1 FROM buffer)
        OR EXISTS (SELECT 1 FROM conversation)
"""
_LOCK = "LOCK TABLE moving IN SHARE ROW EXCLUSIVE MODE"

_TYPES = {
    Value.TEXT: "text",
    Value.INTEGER: "int8",
    Value.REAL: "float8",
    Value.BOOLEAN: "bool",
    Value.NUMBERS: "bytea",
    Value.VECTOR: "bytea",
    Value.PASSAGES: "bytea",
}
_ORDERS = {
    "embedder": "number",
    "memory": "place",
    "usage": "namespace, id",
    "log": "namespace, position",
    "buffer": "namespace, session, agent",
    "request": "relay, number",
    "undo": "place",
    "conversation": "namespace, name, kind",
    "entry": "namespace, conversation, kind, number",
    "reading": "number",
}
_NAMES = {HEAD.name: "namespace"}
"""Tables that have another name here."""


def _columns(table: MovedTable, as_sent: bool = False) -> str:
    # A COPY in binary form is of the very type: whole numbers all travel as 64 bits.
    if as_sent:
        return ", ".join(f"{name}::bigint" if value is Value.INTEGER else name for name, value in table.columns.items())
    return ", ".join(table.columns)


_READ = {
    one.name: _COPY_OUT.substitute(
        columns=_columns(one, as_sent=True),
        table=one.name,
        order=_ORDERS.get(one.name) or ", ".join(one.columns),
    )
    for one in MOVED_TABLES
    if one not in (STORE, VECTOR, HEAD)
} | {STORE.name: _STORE, VECTOR.name: _VECTORS, HEAD.name: _HEADS}
_TEMPORARY = {
    one.name: _MAKE_TEMPORARY.substitute(
        name=one.name, columns=", ".join(f"{name} {_TYPES[value]}" for name, value in one.columns.items())
    )
    for one in MOVED_TABLES
}
_EMPTY = {one.name: _TRUNCATE.substitute(name=one.name) for one in MOVED_TABLES}
_FILL = {one.name: _COPY_IN.substitute(name=one.name, columns=_columns(one)) for one in MOVED_TABLES}
_INSERT = {
    one.name: _TAKE.substitute(table=one.name, columns=_columns(one), name=one.name)
    for one in MOVED_TABLES
    if one not in (STORE, HEAD)
}
_CLEAR = {
    one.name: _DELETE.substitute(table=_NAMES.get(one.name, one.name)) for one in MOVED_TABLES if one is not STORE
}
_COUNTS = {one.name: _COUNT.substitute(table=one.name) for one in MOVED_TABLES if one is not HEAD} | {
    HEAD.name: _COUNT_HEADS
}


class PgRows:
    """All rows of a PostgreSQL store in one moment; ``session`` is one for copies (`Connections.copying`)."""

    def __init__(self, session: PgSession) -> None:
        self._session = session

    def counts(self) -> Mapping[str, int]:
        """Return how many rows each table has."""
        return {name: int(self._session.rows(statement)[0][0]) for name, statement in _COUNTS.items()}

    def chunks(self, table: MovedTable) -> Iterator[list[MovedRow]]:
        """Yield a table's rows as they come from the server."""
        if table is STORE and self._session.row(_HAS_KEY) is None:
            raise StoreError("the database holds no store yet: no hub has ever opened it")
        with translated(), self._session.connection.cursor().copy(_READ[table.name]) as copy:
            copy.set_types([_TYPES[value] for value in table.columns.values()])
            rows = copy.rows()
            while part := list(islice(rows, CHUNK_ROWS)):
                yield part


class PgRowTarget:
    """The tables of a PostgreSQL store that no hub serves yet, which take the rows of another store."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def marks(self, table: MovedTable) -> Sequence[str]:
        """Return the digests of a table's chunks that are there."""
        with self._connections.reading(EVERYTHING) as session:
            return [mark for (mark,) in session.rows(_MARKS, table.name)]

    def clear(self, table: MovedTable) -> None:
        """Remove a table's rows and marks."""
        with self._connections.filling(EVERYTHING) as session:
            clear_table(session, table)
            session.change(_CLEAR_MARKS, table.name)

    def add(self, table: MovedTable, rows: Sequence[MovedRow], number: int, mark: str) -> None:
        """Store a chunk and its mark in one transaction."""
        with self._connections.filling(EVERYTHING) as session:
            add_rows(session, table, rows, first=number * CHUNK_ROWS)
            session.change(_ADD_MARK, table.name, number, mark)

    def begin(self, store_id: str) -> None:
        """Note whose copy this is, unless that is there.

        Raises:
            InvalidInput: there are memories, or the unfinished copy of another store; or a hub uses the database.
        """
        with self._connections.filling(EVERYTHING) as session:
            session.send(_LOCK)
            hubs = living(session)
            if hubs:
                names = ", ".join(sorted({one.name for one in hubs}))
                raise InvalidInput("TO", f"is in use by a hub ({names}); close its clients, and try again in a minute")
            found = session.row(_MARKS, _SOURCE)
            if found is not None:
                if found[0] != store_id:
                    raise InvalidInput("TO", OF_ANOTHER)
                return
            if session.rows(_IN_USE)[0][0]:
                raise InvalidInput("TO", NOT_EMPTY)
            for table in MOVED_TABLES:
                clear_table(session, table)
            session.change(_ADD_MARK, _SOURCE, 0, store_id)

    def discard(self) -> None:
        """Remove all rows and marks: the database is empty again."""
        with self._connections.filling(EVERYTHING) as session:
            for table in MOVED_TABLES:
                clear_table(session, table)
            session.change(_FINISH)

    def finish(self) -> None:
        """Take the marks out: the tables are a store from now on."""
        with self._connections.filling(EVERYTHING) as session:
            number_readings_on(session)
            session.change(_FINISH)


def refuse_while_moving(connections: Connections) -> None:
    """Raise where another store is being moved into this database, of which only a part may be there.

    Raises:
        StoreError: it is.
    """
    with connections.reading(EVERYTHING) as session:
        if session.rows(_IS_MOVING)[0][0]:
            raise StoreError(
                "a store is being moved into this database and is not whole yet; run the same `hybrid-memory-mcp postgres migrate` again, "
                "which goes on where it was"
            )


def clear_table(session: PgSession, table: MovedTable) -> None:
    """Remove a table's rows; the one that says which store this is stays, to be replaced."""
    if table is not STORE:
        session.change(_CLEAR[table.name])


def add_rows(session: PgSession, table: MovedTable, rows: Sequence[MovedRow], *, first: int = 0) -> None:
    """Insert rows in their order; ``session`` is one for copies into the store (`Connections.filling`).

    Raises:
        ConstraintViolation: a row is there already, or a text holds a zero character, which PostgreSQL cannot keep.
    """
    if table is STORE:
        session.change(_SET_STORE, *rows[0])
        return
    session.send(_TEMPORARY[table.name])
    with translated(), session.connection.cursor().copy(_FILL[table.name]) as copy:
        copy.set_types(["int8", *(_TYPES[value] for value in table.columns.values())])
        for nth, row in enumerate(rows, first):
            _check_texts(table, row)
            copy.write_row((nth, *row))
    if table is HEAD:
        session.change(_TAKE_HEADS, EARLIEST_MICROS, LATEST_MICROS)
    else:
        session.change(_INSERT[table.name])
    session.send(_EMPTY[table.name])  # there may be more chunks in this transaction


def number_readings_on(session: PgSession) -> None:
    """Let the journal of readings number its next one behind those that came in."""
    session.rows(_NEXT_READING)


def _check_texts(table: MovedTable, row: MovedRow) -> None:
    if any(type(one) is str and "\0" in one for one in row):
        known = dict(zip(table.columns, row, strict=True))
        which = f"the memory {known['id']}" if table.name == "memory" else f"a row of the table {table.name}"
        raise ConstraintViolation(
            f"{which} holds a zero character, which PostgreSQL cannot keep; correct or purge it, then begin again"
        )
