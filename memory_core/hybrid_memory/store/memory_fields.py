"""The fields of a memory, listed once: statements, bulk copies and checks of values are made from this list.

To add a field: in `hybrid_memory.model.Memory` with a default, as a column in a migration (`store/duck/schema.py`), and here at the
end of `MEMORY_FIELDS`. Then it is stored, read, updated, copied and checked; what else there is to do is where it is used.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from operator import attrgetter
from typing import Any

from hybrid_memory.clock import to_micros
from hybrid_memory.errors import ConstraintViolation
from hybrid_memory.model import Kind, Memory, Origin, Tier, Trust
from hybrid_memory.moments import stored_moment
from hybrid_memory.store.encoding import check_moment, check_text, from_json, object_to_json

_INT32 = 2**31


def _unchanged(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class ColumnType:
    """How the values of a field stand in a column: DuckDB's type, and the way there and back.

    ``encode`` gives what both a statement's parameter and JSON can hold; ``decode`` takes what DuckDB gives. An empty list or
    object is NULL in its column.
    """

    sql: str
    encode: Callable[[Any], Any] = _unchanged
    decode: Callable[[Any], Any] = _unchanged


def _enum(kind: type[StrEnum]) -> ColumnType:
    return ColumnType("VARCHAR", attrgetter("value"), kind)


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)


def _moment(micros: int | None) -> datetime | None:
    return None if micros is None else stored_moment(micros)


def _texts_to_json(texts: Sequence[str]) -> str | None:
    # Without a check of its own: `check_memory` has looked at each text.
    return json.dumps(list(texts), ensure_ascii=False, separators=(",", ":")) if texts else None


def texts_from_json(text: str | None) -> tuple[str, ...]:
    """Return the texts of a JSON list; none for None."""
    return tuple(from_json(text)) if text else ()


def _object_to_json(value: Mapping[str, Any]) -> str | None:
    return object_to_json(value) if value else None


def _object_from_json(text: str | None) -> dict[str, Any]:
    return dict(from_json(text)) if text else {}


TEXT = ColumnType("VARCHAR")
FLOAT = ColumnType("DOUBLE")
BOOLEAN = ColumnType("BOOLEAN")
INTEGER = ColumnType("BIGINT")
MOMENT = ColumnType("BIGINT", _micros, _moment)
"""An aware time as microseconds since 1970, UTC."""
TEXTS = ColumnType("VARCHAR", _texts_to_json, texts_from_json)
"""Some texts as a JSON list."""
OBJECT = ColumnType("VARCHAR", _object_to_json, _object_from_json)
"""A JSON object."""
HASHES = ColumnType("INTEGER[]", list, tuple)
"""Signed 32-bit numbers."""
FEW_HASHES = ColumnType("INTEGER[]", lambda values: list(values) or None, lambda values: tuple(values or ()))
"""Signed 32-bit numbers, NULL for none."""
LISTS_OF_NUMBERS = (HASHES, FEW_HASHES)
PLAIN_TYPES = (TEXT, FLOAT, BOOLEAN, INTEGER)
"""Those whose values are the same in Python and in a column."""


@dataclass(frozen=True, slots=True)
class MemoryField:
    """One field of `Memory`, and the column of the same name.

    ``changeable`` says whether an `Update` may change it. ``rare`` says that it may be None and mostly is: such columns are left
    out of the insert of a memory that has none of them, which saves a tenth of a millisecond.
    """

    name: str
    type: ColumnType
    changeable: bool = False
    rare: bool = False


MEMORY_FIELDS: tuple[MemoryField, ...] = (
    MemoryField("namespace", TEXT),
    MemoryField("id", TEXT),
    MemoryField("session", TEXT, changeable=True),
    MemoryField("agent", TEXT),
    MemoryField("content", TEXT),
    MemoryField("kind", _enum(Kind)),
    MemoryField("tier", _enum(Tier), changeable=True),
    MemoryField("importance", FLOAT, changeable=True),
    MemoryField("created_at", MOMENT),
    MemoryField("content_hash", TEXT),
    MemoryField("terms", HASHES),
    MemoryField("pinned", BOOLEAN, changeable=True),
    MemoryField("tags", TEXTS, changeable=True),
    MemoryField("metadata", OBJECT, changeable=True, rare=True),
    MemoryField("source", TEXT, changeable=True, rare=True),
    MemoryField("speaker", TEXT, changeable=True, rare=True),
    MemoryField("origin", _enum(Origin)),
    MemoryField("trust", _enum(Trust), changeable=True),
    MemoryField("key", TEXT, changeable=True, rare=True),
    MemoryField("occurred_at", MOMENT, rare=True),
    MemoryField("expires_at", MOMENT, changeable=True, rare=True),
    MemoryField("forgotten_at", MOMENT, changeable=True, rare=True),
    MemoryField("superseded_by", TEXT, changeable=True, rare=True),
    MemoryField("supersedes", TEXT, changeable=True, rare=True),
    MemoryField("duplicate_of", TEXT, changeable=True, rare=True),
    MemoryField("parents", TEXTS, changeable=True),
    MemoryField("reflected_at", MOMENT, changeable=True, rare=True),
    MemoryField("rev", INTEGER, changeable=True),
    MemoryField("names", FEW_HASHES),
    MemoryField("days", FEW_HASHES, rare=True),
    MemoryField("encoding", INTEGER),
    MemoryField("aspects", INTEGER),
    MemoryField("disputes", TEXT, changeable=True, rare=True),
)
"""All fields, in the order of the table's columns."""

DERIVED: frozenset[str] = frozenset({"terms", "names", "days", "aspects", "encoding"})
"""The fields that are made of the others (`hybrid_memory.word_encoding`), and anew when that changes."""

NAMES: tuple[str, ...] = tuple(field.name for field in MEMORY_FIELDS)
UNCHANGEABLE: tuple[str, ...] = tuple(field.name for field in MEMORY_FIELDS if not field.changeable)

# What one check of a memory looks at, picked out once.
_TEXT_NAMES = tuple(field.name for field in MEMORY_FIELDS if field.type is TEXT)
_TEXTS_NAMES = tuple(field.name for field in MEMORY_FIELDS if field.type is TEXTS)
_MOMENT_NAMES = tuple(field.name for field in MEMORY_FIELDS if field.type is MOMENT)


def check_memory(memory: Memory, namespace: str) -> None:
    """Check that a memory belongs to a namespace and that each of its values can come back as it was.

    Metadata is checked when it becomes JSON, so that no text is looked at twice.

    Raises:
        ConstraintViolation: it does not.
    """
    if memory.namespace != namespace:
        raise ConstraintViolation("a memory of another namespace cannot be written here")
    if memory.id.endswith("\0"):
        raise ConstraintViolation("an id ends in a zero character; leave it out")
    check_text(*[getattr(memory, name) for name in _TEXT_NAMES])
    for name in _TEXTS_NAMES:
        check_text(*getattr(memory, name))
    check_moment(*[getattr(memory, name) for name in _MOMENT_NAMES])
    for numbers in (memory.terms, memory.names, memory.days):
        if numbers and (min(numbers) < -_INT32 or max(numbers) >= _INT32):
            raise ConstraintViolation("a term or day is beyond 32 bits; terms are signed 32-bit hashes")
