"""The fields of a memory, listed once: statements, bulk copies and checks of values are made from this list.

To add a field: in `hybrid_memory.model.Memory` with a default, as a column in a migration (`store/duck/schema.py`), and here at the
end of `MEMORY_FIELDS`. Then it is stored, read, updated, copied and checked; what else there is to do is where it is used.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from operator import attrgetter
from typing import Any

from hybrid_memory.clock import EPOCH, to_micros
from hybrid_memory.errors import ConstraintViolation
from hybrid_memory.ids import WHAT_AN_ID_IS, as_id, is_id
from hybrid_memory.model import Kind, Memory, Origin, Tier, Trust, Verdict
from hybrid_memory.moments import EARLIEST, LATEST, stored_moment
from hybrid_memory.store.encoding import check_moment, check_text, object_to_json, plain_json

_INT32 = 2**31
MOST = 2**62
"""Beyond any count that is ever reached, and one more than a count that still fits."""
FIRST_DAY = (EARLIEST - EPOCH).days
LAST_DAY = (LATEST - EPOCH).days
UNSTORABLE = "\ufffeunreadable-"
"""How no id begins: with it a column of ids marks one that it cannot hold."""


def _unchanged(value: Any) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class ColumnType:
    """How the values of a field stand in a column: DuckDB's type, and the way there and back.

    ``encode`` gives what both a statement's parameter and JSON can hold; ``decode`` takes what DuckDB gives, and raises ValueError,
    TypeError or OverflowError for what no store writes. An empty list or object is NULL in its column.
    """

    sql: str
    encode: Callable[[Any], Any] = _unchanged
    decode: Callable[[Any], Any] = _unchanged


def _enum(kind: type[StrEnum]) -> ColumnType:
    return ColumnType("VARCHAR", attrgetter("value"), kind)


def _maybe_enum(kind: type[StrEnum]) -> ColumnType:
    return ColumnType(
        "VARCHAR",
        lambda one: None if one is None else one.value,
        lambda stored: None if stored is None else kind(stored),
    )


def _micros(moment: datetime | None) -> int | None:
    return None if moment is None else to_micros(moment)


def _moment(micros: int | None) -> datetime | None:
    return None if micros is None else stored_moment(micros)


def _texts_to_json(texts: Sequence[str]) -> str | None:
    # Without a check of its own: `check_memory` has looked at each text.
    return json.dumps(list(texts), ensure_ascii=False, separators=(",", ":")) if texts else None


def texts_from_json(text: str | None) -> tuple[str, ...]:
    """Return the texts of a JSON list; none for None.

    Raises:
        ValueError: it is another value.
    """
    if text is None:
        return ()
    texts = plain_json(text)
    if type(texts) is not list or not all(type(one) is str for one in texts):
        raise ValueError("no list of texts")
    return tuple(texts)


def _object_to_json(value: Mapping[str, Any]) -> str | None:
    return object_to_json(value) if value else None


def object_from_json(text: str | None) -> dict[str, Any]:
    """Return the object of JSON text; an empty one for None.

    Raises:
        ValueError: it is another value.
    """
    if text is None:
        return {}
    value = plain_json(text)
    if type(value) is not dict:
        raise ValueError("no object")
    return value


def _maybe_id(value: str | None) -> str | None:
    return None if value is None else as_id(value)


def ids_from_json(text: str | None) -> tuple[str, ...]:
    """Return the ids of a JSON list; none for None.

    Raises:
        ValueError: it is another value.
    """
    return tuple(map(as_id, texts_from_json(text)))


def check_links(parents: str | None, *others: str | None) -> None:
    """Raise ValueError unless the columns of a row that link to other memories hold ids."""
    ids_from_json(parents)
    for one in others:
        _maybe_id(one)


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError("no finite number")
    return value


def _bounded(value: int) -> int:
    if not -MOST < value < MOST:
        raise ValueError("a count out of range")
    return value


def _bits(value: int) -> int:
    if not 0 <= value < _INT32:
        raise ValueError("no bits")
    return value


def _numbers(values: Sequence[int] | None) -> tuple[int, ...]:
    if values is None:
        return ()
    if None in values:
        raise ValueError("a list with holes")
    return tuple(values)


def _days(values: Sequence[int] | None) -> tuple[int, ...]:
    days = _numbers(values)
    if days and not (min(days) >= FIRST_DAY and max(days) <= LAST_DAY):
        raise ValueError("a day out of range")
    return days


TEXT = ColumnType("VARCHAR")
ID = ColumnType("VARCHAR", decode=as_id)
MAYBE_ID = ColumnType("VARCHAR", decode=_maybe_id)
FLOAT = ColumnType("DOUBLE", decode=_finite)
BOOLEAN = ColumnType("BOOLEAN")
INTEGER = ColumnType("BIGINT", decode=_bounded)
BITS = ColumnType("BIGINT", decode=_bits)
MOMENT = ColumnType("BIGINT", _micros, _moment)
"""An aware time as microseconds since 1970, UTC."""
TEXTS = ColumnType("VARCHAR", _texts_to_json, texts_from_json)
"""Some texts as a JSON list."""
IDS = ColumnType("VARCHAR", _texts_to_json, ids_from_json)
"""Some ids as a JSON list."""
OBJECT = ColumnType("VARCHAR", _object_to_json, object_from_json)
"""A JSON object."""
HASHES = ColumnType("INTEGER[]", list, _numbers)
"""Signed 32-bit numbers."""
FEW_HASHES = ColumnType("INTEGER[]", lambda values: list(values) or None, _numbers)
"""Signed 32-bit numbers, NULL for none."""
FEW_DAYS = ColumnType("INTEGER[]", lambda values: list(values) or None, _days)
"""Days since 1970-01-01, NULL for none."""
VERDICT = _maybe_enum(Verdict)
"""What a person judged of a memory, NULL for nothing."""
LISTS_OF_NUMBERS = (HASHES, FEW_HASHES, FEW_DAYS)
PLAIN_TYPES = (TEXT, ID, MAYBE_ID, FLOAT, BOOLEAN, INTEGER, BITS)
"""Those whose values are the same in Python and in a column."""
UNCHECKED_TYPES = (TEXT, BOOLEAN)
"""Those of which a column can hold no wrong value."""


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
    MemoryField("id", ID),
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
    MemoryField("superseded_by", MAYBE_ID, changeable=True, rare=True),
    MemoryField("supersedes", MAYBE_ID, changeable=True, rare=True),
    MemoryField("duplicate_of", MAYBE_ID, changeable=True, rare=True),
    MemoryField("parents", IDS, changeable=True),
    MemoryField("reflected_at", MOMENT, changeable=True, rare=True),
    MemoryField("rev", INTEGER, changeable=True),
    MemoryField("names", FEW_HASHES),
    MemoryField("days", FEW_DAYS, rare=True),
    MemoryField("encoding", INTEGER),
    MemoryField("aspects", BITS),
    MemoryField("disputes", MAYBE_ID, changeable=True, rare=True),
    MemoryField("verdict", VERDICT, changeable=True, rare=True),
)
"""All fields, in the order of the table's columns."""

DERIVED: frozenset[str] = frozenset({"terms", "names", "days", "aspects", "encoding"})
"""The fields that are made of the others (`hybrid_memory.encoding.word_encoding`), and again when that changes."""

NAMES: tuple[str, ...] = tuple(field.name for field in MEMORY_FIELDS)
UNCHANGEABLE: tuple[str, ...] = tuple(field.name for field in MEMORY_FIELDS if not field.changeable)

# What one check of a memory looks at, picked out once.
_TEXT_NAMES = tuple(field.name for field in MEMORY_FIELDS if field.type is TEXT)
_TEXTS_NAMES = tuple(field.name for field in MEMORY_FIELDS if field.type is TEXTS)
_LINK_NAMES = tuple(field.name for field in MEMORY_FIELDS if field.type is MAYBE_ID)
_MOMENT_NAMES = tuple(field.name for field in MEMORY_FIELDS if field.type is MOMENT)


def check_memory(memory: Memory, namespace: str) -> None:
    """Check that a memory belongs to a namespace and that each of its values can come back as it was.

    Metadata is checked when it becomes JSON, so that no text is looked at twice.

    Raises:
        ConstraintViolation: it does not.
    """
    if memory.namespace != namespace:
        raise ConstraintViolation("a memory of another namespace cannot be written here")
    links = (one for name in _LINK_NAMES if (one := getattr(memory, name)) is not None)
    if not all(map(is_id, (memory.id, *links, *memory.parents))):
        raise ConstraintViolation(f"an id or link is not {WHAT_AN_ID_IS}; give another one")
    if not math.isfinite(memory.importance):
        raise ConstraintViolation("an importance is not a finite number")
    if not (-MOST < memory.rev < MOST and 0 <= memory.aspects < _INT32):
        raise ConstraintViolation("a count is out of range")
    if memory.days and not (min(memory.days) >= FIRST_DAY and max(memory.days) <= LAST_DAY):
        raise ConstraintViolation("a day lies outside of the calendar")
    check_text(*[getattr(memory, name) for name in _TEXT_NAMES])
    for name in _TEXTS_NAMES:
        check_text(*getattr(memory, name))
    check_moment(*[getattr(memory, name) for name in _MOMENT_NAMES])
    for numbers in (memory.terms, memory.names, memory.days):
        if numbers and (min(numbers) < -_INT32 or max(numbers) >= _INT32):
            raise ConstraintViolation("a term or day is beyond 32 bits; terms are signed 32-bit hashes")
