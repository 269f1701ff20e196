"""A whole store moved into another one, row by row, whatever engines the two have: `copy_rows`.

What a store holds is the same `MOVED_TABLES` in each; an engine reads them as a `RowSource` and takes them as a `RowTarget`. Rows go in
chunks, a transaction each, with a mark (the digest of the chunk) alongside them. A move that was killed is done again from the beginning:
the source is read again, and each chunk whose mark is there already is passed over. Where the source has changed meanwhile a digest
differs, and that table begins again. So what comes out is one moment of the source, however often it was begun.

`row_sums` tells from either side what its tables hold; equal sums are equal tables.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from hashlib import blake2b
from typing import Any, Protocol, TypeAlias

from hybrid_memory.store.memory_fields import BITS, BOOLEAN, FLOAT, INTEGER, LISTS_OF_NUMBERS, MEMORY_FIELDS, MOMENT

CHUNK_ROWS = 5000
"""Rows of one transaction: what a kill loses, and what is held in memory (vectors of 1,024 numbers: 20 MB)."""

_DIGEST_BYTES = 8
_SUM_LIMIT = 2 ** (8 * _DIGEST_BYTES)
_MARSHAL_VERSION = 2  # without references, so that equal rows give equal bytes
_NO_MARKS: Sequence[str] = ()

MovedRow: TypeAlias = tuple[Any, ...]
"""The values of a table's columns: texts, whole numbers, floats, booleans, bytes or None."""

RowSums: TypeAlias = Mapping[str, tuple[int, int]]
"""For each table the number of its rows and the sum of their digests."""

OnRows: TypeAlias = Callable[[int, int], None]
"""Told how many rows of how many are done."""


class Value(Enum):
    """What is in a column. ``NUMBERS`` are the bytes of int32, ``VECTOR`` those of float32, both little endian.

    ``PASSAGES`` are those of `hybrid_memory.embedding.passages`.
    """

    TEXT = "text"
    INTEGER = "integer"
    REAL = "real"
    BOOLEAN = "boolean"
    NUMBERS = "numbers"
    VECTOR = "vector"
    PASSAGES = "passages"


@dataclass(frozen=True, slots=True)
class MovedTable:
    """A table that every store has in one form or another. ``ordered`` says that the order of its rows is part of what it holds."""

    name: str
    columns: Mapping[str, Value]
    ordered: bool = False


class RowSource(Protocol):
    """What rows are read from: one moment of a store."""

    def counts(self) -> Mapping[str, int]:
        """Return how many rows each table has."""
        ...

    def chunks(self, table: MovedTable) -> Iterator[list[MovedRow]]:
        """Yield a table's rows in the same chunks each time: those of `CHUNK_ROWS`, in the order of storing where the table has one."""
        ...


class RowTarget(Protocol):
    """What rows are written to: a store that nobody uses yet."""

    def marks(self, table: MovedTable) -> Sequence[str]:
        """Return the digests of a table's chunks that are there, in their order."""
        ...

    def clear(self, table: MovedTable) -> None:
        """Remove a table's rows and marks."""
        ...

    def add(self, table: MovedTable, rows: Sequence[MovedRow], number: int, mark: str) -> None:
        """Store a chunk and its mark in one transaction; ``number`` counts the table's chunks."""
        ...


_VALUES = {
    FLOAT: Value.REAL,
    BOOLEAN: Value.BOOLEAN,
    INTEGER: Value.INTEGER,
    BITS: Value.INTEGER,
    MOMENT: Value.INTEGER,
}


def _texts(*names: str) -> dict[str, Value]:
    return dict.fromkeys(names, Value.TEXT)


def _numbers(*names: str) -> dict[str, Value]:
    return dict.fromkeys(names, Value.INTEGER)


STORE = MovedTable("store", _texts("id", "term_key") | _numbers("number"))
"""Which store it is, the secret key of its terms, and the number of its last step, by which synchronising knows what is new."""
EMBEDDER = MovedTable("embedder", _numbers("number") | _texts("identity") | _numbers("dimensions", "pinned_at"))
MEMORY = MovedTable(
    "memory",
    {
        one.name: Value.NUMBERS if one.type in LISTS_OF_NUMBERS else _VALUES.get(one.type, Value.TEXT)
        for one in MEMORY_FIELDS
    },
    ordered=True,
)
VECTOR = MovedTable(
    "vector", _numbers("embedder") | _texts("namespace", "id") | {"vec": Value.VECTOR, "passages": Value.PASSAGES}
)
LOG = MovedTable(
    "log",
    _texts("namespace")
    | _numbers("position")
    | _texts("change", "id")
    | _numbers("rev", "made_at")
    | _texts("actor", "action", "digest", "note", "salt", "link"),
)
HEAD = MovedTable("head", _texts("namespace") | _numbers("position", "trimmed_before") | _texts("link"))

MOVED_TABLES: tuple[MovedTable, ...] = (
    STORE,
    EMBEDDER,
    MEMORY,
    VECTOR,
    MovedTable("usage", _texts("namespace", "id") | _numbers("accessed_at", "count")),
    LOG,
    HEAD,
    MovedTable("buffer", _texts("namespace", "session", "agent", "state") | _numbers("touched_at")),
    MovedTable(
        "request",
        _texts("relay") | _numbers("number") | _texts("namespace") | _numbers("position", "made_at") | _texts("result"),
    ),
    MovedTable(
        "undo",
        _texts("namespace", "id") | _numbers("made_at") | _texts("actor", "action", "body"),
        ordered=True,
    ),
    MovedTable("conversation", _texts("namespace", "name", "kind") | _numbers("last")),
    MovedTable("entry", _texts("namespace", "conversation", "kind") | _numbers("number") | _texts("body")),
    MovedTable(
        "reading",
        _numbers("number")
        | _texts("namespace")
        | _numbers("read_at")
        | _texts("session", "client", "way", "asked", "question", "filters", "shown")
        | _numbers("matched")
        | _texts("outcome")
        | _numbers("tokens"),
    ),
    MovedTable("sync_note", _texts("name", "value")),
    MovedTable("sync_log", _texts("namespace") | _numbers("position") | _texts("link") | _numbers("clock")),
    MovedTable("sync_row", _texts("namespace", "id") | _numbers("born", "gone") | _texts("fields")),
    MovedTable("sync_usage", _texts("namespace", "id") | _numbers("accessed_at", "count")),
    MovedTable(
        "sync_item",
        _texts("namespace", "kind", "first", "second")
        | _numbers("number", "stamp")
        | _texts("digest")
        | {"own": Value.BOOLEAN}
        | _numbers("written"),
    ),
    MovedTable("sync_folder", _texts("folder", "namespace") | _numbers("sent", "cleaned", "written")),
    MovedTable("sync_segment", _texts("folder", "name")),
)
"""All that a store holds, in the order in which it is copied: what tells how others are kept comes before them.

Not among them is what says nothing about memories: the record of migrations, which hubs there are and who of them does what.
"""


class _SourceChangedError(Exception):
    """A chunk that is there already is not what the source holds now."""


@dataclass(slots=True)
class _Progress:
    """How far something is, and who is told."""

    total: int
    on_rows: OnRows
    done: int = 0

    def add(self, rows: int) -> None:
        self.done += rows
        self.on_rows(min(self.done, self.total), self.total)


def copy_rows(source: RowSource, target: RowTarget, on_rows: OnRows = lambda _done, _total: None) -> RowSums:
    """Copy all tables, and return the sums of what was read; what an earlier, unfinished copy left is gone on from."""
    progress = _Progress(sum(source.counts().values()), on_rows)
    return {table.name: _copy_table(table, source, target, progress) for table in MOVED_TABLES}


def row_sums(source: RowSource, on_rows: OnRows = lambda _done, _total: None) -> RowSums:
    """Return the sums of what a store holds."""
    progress = _Progress(sum(source.counts().values()), on_rows)
    return {table.name: _sums_of(table, source, progress) for table in MOVED_TABLES}


def _copy_table(table: MovedTable, source: RowSource, target: RowTarget, progress: _Progress) -> tuple[int, int]:
    begun_at = progress.done
    try:
        return _copy_behind(table, source, target, target.marks(table), progress)
    except _SourceChangedError:
        target.clear(table)
        progress.done = begun_at
        return _copy_behind(table, source, target, _NO_MARKS, progress)


def _copy_behind(
    table: MovedTable, source: RowSource, target: RowTarget, marks: Sequence[str], progress: _Progress
) -> tuple[int, int]:
    """Copy the chunks that have no mark yet.

    Raises:
        _SourceChangedError: one that has a mark is another one now.
    """
    count = total = 0
    number = 0
    for rows in source.chunks(table):
        digests = _digests(table, rows, count)
        count, total = count + len(rows), (total + _sum(digests)) % _SUM_LIMIT
        mark = blake2b(b"".join(digests), digest_size=16).hexdigest()
        if number >= len(marks):
            target.add(table, rows, number, mark)
        elif marks[number] != mark:
            raise _SourceChangedError
        number += 1
        progress.add(len(rows))
    if number < len(marks):
        raise _SourceChangedError
    return count, total


def _sums_of(table: MovedTable, source: RowSource, progress: _Progress) -> tuple[int, int]:
    count = total = 0
    for rows in source.chunks(table):
        total = (total + _sum(_digests(table, rows, count))) % _SUM_LIMIT
        count += len(rows)
        progress.add(len(rows))
    return count, total


def _digests(table: MovedTable, rows: Sequence[MovedRow], before: int) -> list[bytes]:
    """Return the digest of each row; in an ordered table its place goes into it."""
    placed: Iterator[Any] = enumerate(rows, before) if table.ordered else iter(rows)
    return [blake2b(marshal.dumps(one, _MARSHAL_VERSION), digest_size=_DIGEST_BYTES).digest() for one in placed]


def _sum(digests: Sequence[bytes]) -> int:
    return sum(int.from_bytes(one, "big") for one in digests)
