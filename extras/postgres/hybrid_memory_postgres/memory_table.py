"""The table ``memory``: its statements, made from `memory_fields.MEMORY_FIELDS`, and rows to `Memory` and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from string import Template
from typing import Any

import numpy as np

from hybrid_memory.model import Memory, MemoryId, Tier
from hybrid_memory.store.memory_fields import (
    FEW_DAYS,
    FEW_HASHES,
    HASHES,
    LISTS_OF_NUMBERS,
    MEMORY_FIELDS,
    NAMES,
    PLAIN_TYPES,
    UNCHECKED_TYPES,
    ColumnType,
    MemoryField,
)
from hybrid_memory.store.sql.session import Row
from hybrid_memory_postgres.sql_session import PgSession

_INT32 = np.dtype("<i4")
UNREADABLE = (ValueError, TypeError, OverflowError)
"""What `memory_of` raises for a row that is no memory."""


def numbers_to_bytes(numbers: Sequence[int]) -> bytes:
    """Return whole numbers of 32 bits as they stand in a column."""
    return np.array(numbers, _INT32).tobytes()


def numbers_from_bytes(stored: bytes | None) -> list[int]:
    """Return the whole numbers of a column, none for NULL.

    Raises:
        ValueError: the bytes are none of a list of numbers.
    """
    return [] if stored is None else np.frombuffer(stored, _INT32).tolist()


def _few_to_bytes(numbers: Sequence[int]) -> bytes | None:
    return numbers_to_bytes(numbers) if numbers else None


def _decoder(kind: ColumnType) -> Callable[[Any], Any]:
    if kind not in LISTS_OF_NUMBERS:
        return kind.decode
    return lambda stored: kind.decode(numbers_from_bytes(stored))


_ENCODERS: dict[ColumnType, Callable[[Any], Any]] = {
    HASHES: numbers_to_bytes,
    FEW_HASHES: _few_to_bytes,
    FEW_DAYS: _few_to_bytes,
}  # others as the type says


class ParameterReader:
    """Reads some fields of a memory as the parameters of a statement."""

    def __init__(self, fields: Sequence[MemoryField]) -> None:
        self._values = attrgetter(*(field.name for field in fields))
        self._encoders = tuple(
            (position, _ENCODERS.get(field.type, field.type.encode))
            for position, field in enumerate(fields)
            if field.type not in PLAIN_TYPES
        )

    def read(self, memory: Memory) -> list[Any]:
        """Return the values in the order of the fields."""
        values = list(self._values(memory))
        for position, encode in self._encoders:
            value = values[position]
            if value is not None:
                values[position] = encode(value)
        return values


COLUMNS = ", ".join(NAMES)
"""All columns that a memory is made of, in the order that `memory_of` expects."""
ALL_FIELDS = ParameterReader(MEMORY_FIELDS)
"""Reads all fields, in the order of `COLUMNS`."""
_CHANGEABLE = tuple(field for field in MEMORY_FIELDS if field.changeable)
_CHANGEABLE_FIELDS = ParameterReader(_CHANGEABLE)
# Where in a row the values stand that must be decoded or checked, and how.
_DECODERS = tuple(
    (position, _decoder(field.type))
    for position, field in enumerate(MEMORY_FIELDS)
    if field.type not in UNCHECKED_TYPES
)

# Statements are made once, from the list of fields; nothing that is stored ever goes into them.
_INSERT = Template("INSERT INTO memory ($columns) VALUES ($placeholders)").substitute(
    columns=COLUMNS, placeholders=", ".join(f"${at}" for at in range(1, len(NAMES) + 1))
)
BY_ID = Template("SELECT $columns FROM memory WHERE namespace = $$1 AND id = ANY($$2::text[])").substitute(
    columns=COLUMNS
)
MEMBERS = Template("""
    SELECT $columns FROM memory
    WHERE namespace = $$1 AND session = $$2 AND agent = $$3 AND tier = $$4 AND forgotten_at IS NULL AND superseded_by IS NULL
    ORDER BY created_at, place
""").substitute(columns=COLUMNS)
_UPDATE = Template("UPDATE memory SET $assignments WHERE namespace = $$1 AND id = $$2").substitute(
    assignments=", ".join(f"{field.name} = ${at}" for at, field in enumerate(_CHANGEABLE, 3))
)
_SET_TIER = "UPDATE memory SET tier = $3, rev = $4 WHERE namespace = $1 AND id = $2"


def insert_memory(session: PgSession, memory: Memory) -> None:
    """Send the insert of a new row; an id that exists already makes the transaction fail with `ConstraintViolation`."""
    session.send(_INSERT, *ALL_FIELDS.read(memory))


def update_memory(session: PgSession, memory: Memory) -> None:
    """Send the change of a row's changeable fields; that it is there was seen under the namespace's lock."""
    session.send(_UPDATE, memory.namespace, memory.id, *_CHANGEABLE_FIELDS.read(memory))


def set_tiers(session: PgSession, retiered: Iterable[Memory]) -> None:
    """Send tier and rev of existing rows."""
    session.send_many(_SET_TIER, ((one.namespace, one.id, one.tier.value, one.rev) for one in retiered))


def memories_by_id(session: PgSession, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, Memory]:
    """Return the memories of a namespace that exist, in the order of ``ids``."""
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        return {}
    memories = {memory.id: memory for memory in readable(session, session.rows(BY_ID, namespace, wanted))}
    return {id_: memories[id_] for id_ in wanted if id_ in memories}


def read_members(session: PgSession, namespace: str, name: str, agent: str, tier: Tier) -> list[Memory]:
    """Return the live memories of a session's agent in a tier, oldest first; of one moment in the order of insertion."""
    return list(readable(session, session.rows(MEMBERS, namespace, name, agent, tier.value)))


def readable(session: PgSession, rows: Iterable[Row]) -> Iterator[Memory]:
    """Yield the memories of rows of all columns; one that is none is left out and noted, so that it takes no other along."""
    for row in rows:
        try:
            yield memory_of(row)
        except UNREADABLE:
            session.unreadable.add((row[0], row[1]))


def memory_of(row: Row) -> Memory:
    """Return the memory of a row of all columns, which is an input: whatever wrote it, it is looked at here.

    Raises:
        ValueError, TypeError, OverflowError: a value is none that this program writes.
    """
    values = list(row)
    for position, decode in _DECODERS:
        values[position] = decode(values[position])
    return Memory(**dict(zip(NAMES, values, strict=True)))
