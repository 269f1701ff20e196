"""The table ``memory``: its statements, made from `memory_fields.MEMORY_FIELDS`, and rows to `Memory` and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from string import Template
from typing import Any

from hybrid_memory.model import Memory, MemoryId, Tier
from hybrid_memory.store.duck.sql_session import SqlSession
from hybrid_memory.store.encoding import to_json
from hybrid_memory.store.memory_fields import (
    FEW_DAYS,
    FEW_HASHES,
    HASHES,
    LISTS_OF_NUMBERS,
    MEMORY_FIELDS,
    NAMES,
    PLAIN_TYPES,
    UNCHECKED_TYPES,
    MemoryField,
)
from hybrid_memory.store.sql.session import Row


def _columns(fields: Iterable[MemoryField]) -> str:
    return ", ".join(field.name for field in fields)


def _placeholders(fields: Iterable[MemoryField]) -> str:
    # DuckDB 1.5 binds a list of numbers many times slower than its text.
    return ", ".join(f"?::VARCHAR::{one.type.sql}" if one.type in LISTS_OF_NUMBERS else "?" for one in fields)


_ALWAYS = tuple(field for field in MEMORY_FIELDS if not field.rare)
_RARE = tuple(field for field in MEMORY_FIELDS if field.rare)
_CHANGEABLE = tuple(field for field in MEMORY_FIELDS if field.changeable)
# Where in a row the values stand that must be decoded or checked, and how.
_DECODERS = tuple(
    (position, field.type.decode) for position, field in enumerate(MEMORY_FIELDS) if field.type not in UNCHECKED_TYPES
)
UNREADABLE = (ValueError, TypeError, OverflowError)
"""What `memory_of` raises for a row that is no memory."""


def _hashes_to_text(hashes: tuple[int, ...]) -> str:
    return "[" + ",".join(map(str, hashes)) + "]"


def _few_hashes_to_text(hashes: tuple[int, ...]) -> str | None:
    return _hashes_to_text(hashes) if hashes else None


_ENCODERS = {
    HASHES: _hashes_to_text,
    FEW_HASHES: _few_hashes_to_text,
    FEW_DAYS: _few_hashes_to_text,
}  # others as the type says


class _ParameterReader:
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


_ALWAYS_PARAMETERS = _ParameterReader(_ALWAYS)
_RARE_PARAMETERS = _ParameterReader(_RARE)
_CHANGEABLE_PARAMETERS = _ParameterReader(_CHANGEABLE)
_NO_RARE_VALUES = [None] * len(_RARE)

# Statements are made once, from the list of fields; nothing that is stored ever goes into them.
_INSERT = Template("INSERT INTO memory ($columns) VALUES ($placeholders)").substitute(
    columns=_columns((*_ALWAYS, *_RARE)), placeholders=_placeholders((*_ALWAYS, *_RARE))
)
_INSERT_WITHOUT_RARE = Template("INSERT INTO memory ($columns) VALUES ($placeholders)").substitute(
    columns=_columns(_ALWAYS), placeholders=_placeholders(_ALWAYS)
)
_INSERT_MANY = Template("""
    INSERT INTO memory ($columns) SELECT $values
    FROM (SELECT unnest(from_json(?, '[{$types}]')) AS one)
""").substitute(
    columns=_columns(MEMORY_FIELDS),
    values=", ".join("one." + field.name for field in MEMORY_FIELDS),
    types=", ".join(
        f'"{one.name}": ["INTEGER"]' if one.type in LISTS_OF_NUMBERS else f'"{one.name}": "{one.type.sql}"'
        for one in MEMORY_FIELDS
    ),
)
_ONE = Template("SELECT $columns FROM memory WHERE id = ?").substitute(columns=_columns(MEMORY_FIELDS))
_EIGHT = Template("SELECT $columns FROM memory WHERE id IN (?, ?, ?, ?, ?, ?, ?, ?)").substitute(
    columns=_columns(MEMORY_FIELDS)
)
_MANY = Template("""
    SELECT $columns FROM memory WHERE id IN (SELECT unnest(from_json(?, '["VARCHAR"]')))
""").substitute(columns=_columns(MEMORY_FIELDS))
_MEMBERS = Template("""
    SELECT $columns FROM memory
    WHERE namespace = ? AND session = ? AND agent = ? AND tier = ? AND forgotten_at IS NULL AND superseded_by IS NULL
    ORDER BY created_at, rowid
""").substitute(columns=_columns(MEMORY_FIELDS))
_BY_ROWID = Template("""
    SELECT $columns, rowid FROM memory
    WHERE rowid BETWEEN ? AND ? AND rowid IN (SELECT unnest(from_json(?, '["BIGINT"]')))
""").substitute(columns=_columns(MEMORY_FIELDS))
# Alongside an id alone DuckDB 1.5 uses its index, so the other conditions are worded as what it cannot look up.
_UPDATE = Template("UPDATE memory SET $assignments WHERE concat(namespace) = ? AND id = ? AND rev + 0 = ?").substitute(
    assignments=", ".join(field.name + " = ?" for field in _CHANGEABLE)
)
_SET_TIER_ONE = "UPDATE memory SET tier = ?, rev = ? WHERE concat(namespace) = ? AND id = ?"
_SET_TIER_TWO = """
    UPDATE memory SET tier = CASE WHEN id = $2 THEN $3 ELSE $6 END, rev = CASE WHEN id = $2 THEN $4 ELSE $7 END
    WHERE namespace = $1 AND id IN ($2, $5)
"""
_SET_TIER_MANY = """
    UPDATE memory SET tier = moved.item.tier, rev = moved.item.rev
    FROM (SELECT unnest(from_json($2, '[{"id": "VARCHAR", "tier": "VARCHAR", "rev": "BIGINT"}]')) AS item) AS moved
    WHERE memory.namespace = $1 AND memory.id = moved.item.id
"""
_PAIR = 2  # rows that one statement with parameters retiers; more are handed over as JSON
_MAX_BY_EIGHT = 24  # ids that are read by statements of eight; from here on one statement with a list is faster


def insert_memory(session: SqlSession, memory: Memory) -> None:
    """Insert a new row; an id that exists already raises `ConstraintViolation`.

    Most memories have none of the columns that are rare; leaving those out saves a tenth of a millisecond.
    """
    always = _ALWAYS_PARAMETERS.read(memory)
    rare = _RARE_PARAMETERS.read(memory)
    if rare == _NO_RARE_VALUES:
        session.change(_INSERT_WITHOUT_RARE, *always)
    else:
        session.change(_INSERT, *always, *rare)


def insert_memories(session: SqlSession, memories: Iterable[Memory]) -> None:
    """Insert many new rows by one statement."""
    session.change(
        _INSERT_MANY,
        to_json(
            [{field.name: field.type.encode(getattr(one, field.name)) for field in MEMORY_FIELDS} for one in memories]
        ),
    )


def update_memory(session: SqlSession, memory: Memory, rev_before: int) -> int:
    """Write the changeable fields of a row that still has ``rev_before``; returns the number of rows written."""
    values = _CHANGEABLE_PARAMETERS.read(memory)
    return session.change(_UPDATE, *values, memory.namespace, memory.id, rev_before)


def set_tiers(session: SqlSession, namespace: str, retiered: Sequence[Memory]) -> int:
    """Write tier and rev of existing rows; returns the number of rows written.

    One statement whatever the number, because a statement costs more than the rows it changes; but among very many rows
    only one for each finds them by the index.
    """
    if not retiered:
        return 0
    if len(retiered) == 1 or session.large:
        return sum(session.change(_SET_TIER_ONE, one.tier.value, one.rev, namespace, one.id) for one in retiered)
    if len(retiered) == _PAIR:
        values = [value for memory in retiered for value in (memory.id, memory.tier.value, memory.rev)]
        return session.change(_SET_TIER_TWO, namespace, *values)
    items = [{"id": memory.id, "tier": memory.tier.value, "rev": memory.rev} for memory in retiered]
    return session.change(_SET_TIER_MANY, namespace, to_json(items))


def memories_by_id(session: SqlSession, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, Memory]:
    """Return the memories of a namespace that exist, in the order of ``ids``.

    The statements name ids alone: with the namespace alongside them DuckDB 1.5 does not use the index.
    """
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        return {}
    if len(wanted) == 1:
        found = session.rows(_ONE, wanted[0])
    elif len(wanted) <= _MAX_BY_EIGHT:
        found = [row for part in _parts(wanted, 8) for row in session.rows(_EIGHT, *part)]
    else:
        found = session.rows(_MANY, to_json(wanted))
    memories = {memory.id: memory for memory in readable(session, found) if memory.namespace == namespace}
    return {id_: memories[id_] for id_ in wanted if id_ in memories}


def _parts(ids: list[MemoryId], size: int) -> Iterator[list[MemoryId]]:
    """Yield ids by ``size``; the last of them again where there are fewer."""
    for at in range(0, len(ids), size):
        part = ids[at : at + size]
        yield [*part, *part[-1:] * (size - len(part))]


def read_members(session: SqlSession, namespace: str, name: str, agent: str, tier: Tier) -> list[Memory]:
    """Return the live memories of a session's agent in a tier, oldest first; of one moment in the order of insertion."""
    return list(readable(session, session.rows(_MEMBERS, namespace, name, agent, tier.value)))


def memories_by_rowid(session: SqlSession, rowids: Sequence[int]) -> dict[int, Memory]:
    """Return the memories that stand at some row ids, of all namespaces; by their span, which skips the rest of the table."""
    rows = session.rows(_BY_ROWID, min(rowids), max(rowids), to_json(list(rowids))) if rowids else ()
    found = {}
    for row in rows:
        for memory in readable(session, (row[:-1],)):
            found[row[-1]] = memory
    return found


def readable(session: SqlSession, rows: Iterable[Row]) -> Iterator[Memory]:
    """Yield the memories of rows of all columns; one that is none is left out and noted, so that it takes no other along."""
    for row in rows:
        try:
            yield memory_of(row)
        except UNREADABLE:
            session.unreadable.add((row[0], row[1]))


def memory_of(row: Row) -> Memory:
    """Return the memory of a row of all columns, which is an input: whatever wrote the file, it is looked at here.

    Raises:
        ValueError, TypeError, OverflowError: a value is none that this program writes.
    """
    values = list(row)
    for position, decode in _DECODERS:
        values[position] = decode(values[position])
    return Memory(**dict(zip(NAMES, values, strict=True)))
