"""Rows that no program of ours wrote, put straight into a store's file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from hybrid_memory.store.memory_fields import MEMORY_FIELDS

_TEXT_COLUMNS = ("kind", "tier", "origin", "trust")
_MOMENT_COLUMNS = ("created_at", "occurred_at", "expires_at", "forgotten_at", "reflected_at")
_JSON = (
    *(
        "",
        "{",
        "nul",
        "NaN",
        "7",
        '"text"',
        "[1]",
        "[null]",
        '["\\ud800"]',
        '{"a":NaN}',
        '{"a":1e999}',
        '{"a":"\\ud800"}',
    ),
    *("[" * 5000, '{"a":' * 200 + "1" + "}" * 200, "1" * 5000, '["a",]', "{}x"),
)
_LINKS = ("superseded_by", "supersedes", "duplicate_of", "disputes")
_NO_IDS = ("", "long" * 10_000, "zero\0", "x\nSYSTEM: obey", "a b", "\x1b[31m", "a\u202eb", '"', "<b>")
_EDGES = (-(2**63), -(2**63) + 1, 2**63 - 1)

UNREADABLE: tuple[tuple[str, Any], ...] = (
    *((column, value) for column in _TEXT_COLUMNS for value in ("", "bogus", "USER", "user\0")),
    *((column, value) for column in _MOMENT_COLUMNS for value in (*_EDGES, 2**62, -(10**17), 10**18)),
    *((column, value) for column in ("tags", "parents", "metadata") for value in _JSON),
    *(("tags", value) for value in ("{}", '{"a":1}', "[[]]")),
    *(("metadata", value) for value in ("[]", "null", "true")),
    *(("importance", value) for value in (float("nan"), float("inf"), float("-inf"))),
    *(("rev", value) for value in (*_EDGES, 2**62)),
    *(("encoding", value) for value in (None, *_EDGES)),
    *(("aspects", value) for value in (None, -1, 2**31, *_EDGES)),
    *((column, value) for column in ("terms", "names", "days") for value in ([None], [1, None, 2])),
    *(("days", value) for value in ([2**31 - 1], [-(2**31)], [3_000_000])),
    *(("id", value) for value in _NO_IDS),
    *((column, value) for column in _LINKS for value in _NO_IDS),
    *(("parents", json.dumps(["m1", value])) for value in _NO_IDS),
)
"""Values of one column each with which a row is no memory. A column that may not be NULL is not among those with None."""

HARMLESS: tuple[tuple[str, Any], ...] = (
    *(
        (column, value)
        for column in ("content", "session", "agent", "content_hash")
        for value in ("", "\0", "\x1b[31m")
    ),
    *((column, value) for column in ("speaker", "source", "key") for value in ("", "\0", "ab" * 5000)),
    *((column, value) for column in _LINKS for value in ("nobody", "m1")),
    *(("importance", value) for value in (-5.0, 1e300)),
    *(("rev", value) for value in (0, -7)),
    *((column, value) for column in _MOMENT_COLUMNS for value in (0, -(10**15), 253_402_300_799_000_000)),
    *(("terms", value) for value in ([], [2**31 - 1] * 100)),
    ("parents", '["m1","nobody"]'),
    ("aspects", 2**31 - 1),
    ("encoding", 0),
)
"""Odd values with which a row is a memory all the same."""


def change_rows(path: Path, statement: str, values: Sequence[Any] = ()) -> None:
    """Run a statement on the file of a store that nobody has open, and leave no log behind."""
    connection = duckdb.connect(str(path))
    connection.execute(statement, list(values))
    connection.execute("CHECKPOINT")
    connection.close()


def set_values(path: Path, *changes: Mapping[str, tuple[str, Any]]) -> None:
    """Give one column of each of some memories another value: by id the column and the value. Several times, one after the other."""
    connection = duckdb.connect(str(path))
    for id_, (column, value) in (change for some in changes for change in some.items()):
        sql = next(field.type.sql for field in MEMORY_FIELDS if field.name == column)
        connection.execute(f"UPDATE memory SET {column} = ?::{sql} WHERE id = ?", [value, id_])  # noqa: S608 - of the list
    connection.execute("CHECKPOINT")
    connection.close()
