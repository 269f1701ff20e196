"""All rows of a DuckDB store, read for a copy and taken from one (`hybrid_memory.store.row_copy`).

Read from a session in one moment; written into a new file that nobody has open, with the marks of what is there in a table of its own.
Rows are read by their row ids, which are the order of storing.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from string import Template
from typing import TYPE_CHECKING, Any

import numpy as np

from hybrid_memory.errors import StoreDamaged
from hybrid_memory.store.duck.duckdb_errors import DAMAGED
from hybrid_memory.store.duck.vector_tables import VectorTable, passages_text
from hybrid_memory.store.duck.writer_cache import PinnedEmbedder
from hybrid_memory.store.encoding import to_json
from hybrid_memory.store.row_copy import (
    CHUNK_ROWS,
    EMBEDDER,
    HEAD,
    MOVED_TABLES,
    STORE,
    VECTOR,
    MovedRow,
    MovedTable,
    Value,
)

if TYPE_CHECKING:
    from hybrid_memory.store.duck.sql_session import SqlSession

# Statements are made once from the list of tables; at run time only whole numbers go into those on the tables of vectors.
_BOUNDS = Template("SELECT min(rowid), max(rowid) FROM $table")
_ROWS = Template("SELECT $columns FROM $table WHERE rowid BETWEEN ? AND ? ORDER BY rowid")
_INSERT = Template(
    "INSERT INTO $table ($columns) SELECT $values FROM (SELECT unnest(from_json(?, '[{$types}]')) AS one)"
)
_COUNT = Template("SELECT count(*) FROM $table")
_DROP = Template("DROP TABLE $table")
_VECTOR_NAMES = Template(
    "SELECT namespace, id, passages FROM vector_$number WHERE rowid BETWEEN ? AND ? ORDER BY rowid"
)
_VECTOR_PARTS = Template("SELECT unnest(vec) AS part FROM vector_$number WHERE rowid BETWEEN ? AND ?")
# A list is made of numbers that lie behind each other: a tenth of the time that their text would take. The one thread of such a session
# takes them in their order (an ORDER BY in the list takes three times as long), and the sums that are compared afterwards would tell.
_VECTOR_INSERT = Template("""
    INSERT INTO vector_$number (namespace, id, vec, passages)
    SELECT name.namespace, name.id, vec, from_base64(name.passages) FROM (
        SELECT place, list(number)::FLOAT[$dimensions] AS vec FROM moved_numbers GROUP BY place
    ) JOIN (
        SELECT unnest(from_json(?, '[{"place": "BIGINT", "namespace": "VARCHAR", "id": "VARCHAR", "passages": "VARCHAR"}]')) AS name
    ) ON name.place = place
    ORDER BY place
""")

_DECLARED = """
    SELECT sql FROM duckdb_tables() WHERE table_name = $1 UNION ALL SELECT sql FROM duckdb_indexes() WHERE table_name = $1
"""
_EMBEDDERS = "SELECT abs(number), identity, dimensions FROM embedder ORDER BY abs(number)"
_STORE = "SELECT (SELECT store FROM mark), (SELECT number::VARCHAR FROM term_key), (SELECT number FROM mark)"
_SET_STORE = "UPDATE mark SET store = ?, number = ?"
_CLEAR_KEY = "DELETE FROM term_key"
_SET_KEY = "INSERT INTO term_key (number) VALUES (?::UBIGINT)"
# As the writer knows them (`writer_cache`): a position that no counting reaches is none, a mark beyond the log's end is none.
_HEADS = """
    WITH ends AS (
        SELECT namespace, max(position) AS position, coalesce(arg_max(link, position), '') AS link FROM log
        WHERE position < 4611686018427387904 GROUP BY namespace
    ), stored AS (
        SELECT namespace, position, link FROM mark WHERE namespace IS NOT NULL
        UNION ALL SELECT namespace, position, link FROM log_head
            WHERE NOT EXISTS (SELECT 1 FROM mark WHERE mark.namespace = log_head.namespace)
    ), heads AS (
        SELECT coalesce(ends.namespace, stored.namespace) AS namespace,
            greatest(coalesce(ends.position, 0), coalesce(stored.position, 0)) AS position,
            coalesce(stored.link, ends.link, '') AS link
        FROM ends FULL JOIN stored ON ends.namespace = stored.namespace
    )
    SELECT heads.namespace, position,
        CASE WHEN coalesce(trimmed_before, 0) <= position + 1 THEN coalesce(trimmed_before, 0) ELSE 0 END, link
    FROM heads LEFT JOIN (SELECT name, max(trimmed_before) AS trimmed_before FROM namespace GROUP BY name) AS trimmed
        ON trimmed.name = heads.namespace
    WHERE position > 0 ORDER BY heads.namespace
"""
_ADD_HEAD = "INSERT INTO log_head (namespace, position, link) VALUES (?, ?, ?)"
_ADD_TRIM = "INSERT INTO namespace (name, trimmed_before) VALUES (?, ?)"
_CLEAR_HEADS = (
    "DELETE FROM log_head",
    "DELETE FROM namespace",
    "UPDATE mark SET namespace = NULL, position = NULL, link = NULL",
)

_MAKE_MARKS = "CREATE TABLE IF NOT EXISTS moving (what VARCHAR NOT NULL, number BIGINT NOT NULL, mark VARCHAR NOT NULL)"
_MARKS = "SELECT mark FROM moving WHERE what = ? ORDER BY number"
_ADD_MARK = "INSERT INTO moving (what, number, mark) VALUES (?, ?, ?)"
_CLEAR_MARKS = "DELETE FROM moving WHERE what = ?"
_DROP_MARKS = "DROP TABLE moving"
_SOURCE = "source"  # no table has that name

_SPECIAL = (STORE, HEAD, VECTOR)
_PLAIN = tuple(table for table in MOVED_TABLES if table not in _SPECIAL)
_TYPES = {
    Value.TEXT: '"VARCHAR"',
    Value.INTEGER: '"BIGINT"',
    Value.REAL: '"DOUBLE"',
    Value.BOOLEAN: '"BOOLEAN"',
    Value.NUMBERS: '["INTEGER"]',
}
_READ = {one.name: _ROWS.substitute(table=one.name, columns=", ".join(one.columns)) for one in _PLAIN}
_WRITE = {
    one.name: _INSERT.substitute(
        table=one.name,
        columns=", ".join(one.columns),
        values=", ".join("one." + name for name in one.columns),
        types=", ".join(f'"{name}": {_TYPES[value]}' for name, value in one.columns.items()),
    )
    for one in _PLAIN
}
_LISTS = {one.name: [name for name, value in one.columns.items() if value is Value.NUMBERS] for one in MOVED_TABLES}
_VECTOR_DTYPE = np.dtype("<f4")


class DuckRows:
    """All rows of a DuckDB store in one moment; ``session`` stays in it while they are read."""

    def __init__(self, session: SqlSession) -> None:
        self._session = session

    def counts(self) -> Mapping[str, int]:
        """Return how many rows each table has."""
        counts = {one.name: int(self._session.rows(_COUNT.substitute(table=one.name))[0][0]) for one in _PLAIN}
        vectors = sum(VectorTable(one).count(self._session) for one in self._embedders())
        return counts | {STORE.name: 1, HEAD.name: len(self._session.rows(_HEADS)), VECTOR.name: vectors}

    def chunks(self, table: MovedTable) -> Iterator[list[MovedRow]]:
        """Yield a table's rows, those of one span of row ids at a time."""
        if table is STORE:
            yield [self._store()]
        elif table is HEAD:
            yield from _parts(self._session.rows(_HEADS))
        elif table is VECTOR:
            for one in self._embedders():
                yield from self._vectors(one)
        else:
            yield from self._plain(table)

    def _store(self) -> MovedRow:
        found = self._session.rows(_STORE)[0]
        if None in found:
            raise StoreDamaged(DAMAGED)
        return found

    def _embedders(self) -> list[PinnedEmbedder]:
        return [PinnedEmbedder(*row) for row in self._session.rows(_EMBEDDERS)]

    def _spans(self, table: str) -> Iterator[tuple[int, int]]:
        low, high = self._session.rows(_BOUNDS.substitute(table=table))[0]
        if low is not None:
            for first in range(low, high + 1, CHUNK_ROWS):
                yield first, first + CHUNK_ROWS - 1

    def _plain(self, table: MovedTable) -> Iterator[list[MovedRow]]:
        lists = [place for place, value in enumerate(table.columns.values()) if value is Value.NUMBERS]
        statement = _READ[table.name]
        for span in self._spans(table.name):
            rows = self._session.rows(statement, *span)
            if rows:
                yield [_with_bytes(row, lists) for row in rows] if lists else rows

    def _vectors(self, embedder: PinnedEmbedder) -> Iterator[list[MovedRow]]:
        number = int(embedder.number)
        for span in self._spans(f"vector_{number}"):
            names = self._session.rows(_VECTOR_NAMES.substitute(number=number), *span)
            if not names:
                continue
            part = self._session.columns(_VECTOR_PARTS.substitute(number=number), *span)["part"]
            if isinstance(part, np.ma.MaskedArray):
                part = part.filled(np.nan)
            matrix = np.ascontiguousarray(part, _VECTOR_DTYPE).reshape(len(names), -1)
            yield [
                (number, namespace, id_, vector.tobytes(), passages)
                for (namespace, id_, passages), vector in zip(names, matrix, strict=True)
            ]


class DuckRowTarget:
    """A new DuckDB file of the newest schema that takes the rows of a store; ``session`` is the only one on it."""

    def __init__(self, session: SqlSession) -> None:
        self._session = session
        session.rows(_MAKE_MARKS)

    def marks(self, table: MovedTable) -> Sequence[str]:
        """Return the digests of a table's chunks that are there."""
        return [mark for (mark,) in self._session.rows(_MARKS, table.name)]

    def clear(self, table: MovedTable) -> None:
        """Remove a table's rows and marks; with the embedders go their vectors."""
        self._session.begin()
        try:
            self._clear(table)
            self._session.commit()
        except BaseException:
            self._session.rollback()
            raise

    def add(self, table: MovedTable, rows: Sequence[MovedRow], number: int, mark: str) -> None:
        """Store a chunk and its mark in one transaction."""
        self._session.begin()
        try:
            self._add(table, rows)
            self._session.change(_ADD_MARK, table.name, number, mark)
            self._session.commit()
        except BaseException:
            self._session.rollback()
            raise

    def begin(self, store_id: str) -> None:
        """Note whose copy this is."""
        self._session.change(_ADD_MARK, _SOURCE, 0, store_id)

    def begun_by(self) -> str | None:
        """Return the id of the store whose copy this is; None where no copy was begun."""
        row = self._session.row(_MARKS, _SOURCE)
        return None if row is None else str(row[0])

    def finish(self) -> None:
        """Take the marks out: the file is a store from now on."""
        self._session.rows(_DROP_MARKS)

    def _clear(self, table: MovedTable) -> None:
        if table is STORE:
            pass  # its one row is replaced
        elif table is HEAD:
            for statement in _CLEAR_HEADS:
                self._session.rows(statement)
        elif table is VECTOR:
            for one in self._embedders():
                VectorTable(one).drop(self._session)
                VectorTable(one).create(self._session)
        else:
            if table is EMBEDDER:
                for one in self._embedders():
                    VectorTable(one).drop(self._session)
                self._session.change(_CLEAR_MARKS, VECTOR.name)
            self._make_anew(table.name)
        self._session.change(_CLEAR_MARKS, table.name)

    def _make_anew(self, table: str) -> None:
        # DuckDB 1.5 can fail for good over rows that are deleted from an index which it has just read from its log.
        declared = [sql for (sql,) in self._session.rows(_DECLARED, table)]
        self._session.rows(_DROP.substitute(table=table))
        for one in declared:
            self._session.rows(one)

    def _add(self, table: MovedTable, rows: Sequence[MovedRow]) -> None:
        if table is STORE:
            ((store, key, number),) = rows
            self._session.change(_SET_STORE, store, number)
            self._session.change(_CLEAR_KEY)
            self._session.change(_SET_KEY, key)
        elif table is HEAD:
            for namespace, position, trimmed_before, link in rows:
                self._session.change(_ADD_HEAD, namespace, position, link)
                if trimmed_before:
                    self._session.change(_ADD_TRIM, namespace, trimmed_before)
        elif table is VECTOR:
            self._add_vectors(rows)
        else:
            self._session.change(_WRITE[table.name], to_json([_as_json(table, row) for row in rows]))
        if table is EMBEDDER:
            for one in self._embedders():
                VectorTable(one).create(self._session)

    def _embedders(self) -> list[PinnedEmbedder]:
        return [PinnedEmbedder(*row) for row in self._session.rows(_EMBEDDERS)]

    def _add_vectors(self, rows: Sequence[MovedRow]) -> None:
        for one in self._embedders():
            ours = [row for row in rows if row[0] == one.number]
            if not ours:
                continue
            matrix = np.frombuffer(b"".join(row[3] for row in ours), _VECTOR_DTYPE)
            if len(matrix) != len(ours) * one.dimensions:
                raise StoreDamaged("a vector has another length than its embedder's; run `hybrid-memory-mcp doctor`")
            names = [
                {"place": place, "namespace": row[1], "id": row[2], "passages": passages_text(row[4])}
                for place, row in enumerate(ours)
            ]
            statement = _VECTOR_INSERT.substitute(number=int(one.number), dimensions=int(one.dimensions))
            places = np.repeat(np.arange(len(ours)), one.dimensions)
            self._session.change_with("moved_numbers", {"number": matrix, "place": places}, statement, to_json(names))


def _parts(rows: Sequence[MovedRow]) -> Iterator[list[MovedRow]]:
    for start in range(0, len(rows), CHUNK_ROWS):
        yield list(rows[start : start + CHUNK_ROWS])


def _with_bytes(row: MovedRow, lists: Sequence[int]) -> MovedRow:
    """Return a row whose lists of numbers are the bytes of these.

    Raises:
        StoreDamaged: a list has a hole.
    """
    values = list(row)
    for place in lists:
        numbers = values[place]
        if numbers is not None:
            try:
                values[place] = struct.pack(f"<{len(numbers)}i", *numbers)
            except struct.error:
                raise StoreDamaged(DAMAGED) from None
    return tuple(values)


def _as_json(table: MovedTable, row: MovedRow) -> dict[str, Any]:
    values = dict(zip(table.columns, row, strict=True))
    for name in _LISTS[table.name]:
        numbers = values[name]
        if numbers is not None:
            values[name] = struct.unpack(f"<{len(numbers) // 4}i", numbers)
    return values
