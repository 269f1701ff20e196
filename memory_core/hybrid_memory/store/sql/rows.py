"""Rows of the smaller tables as values.

A line of the log or a buffer that nobody could have written is taken for the nearest that somebody could: followers look at the memory
itself, and what a buffer holds is looked at where it is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hybrid_memory.errors import ConstraintViolation
from hybrid_memory.model import MemoryId
from hybrid_memory.moments import nearest_moment
from hybrid_memory.store.memory_fields import object_from_json, texts_from_json
from hybrid_memory.store.writing import BufferState, ChangeType, LogEntry

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import datetime

    from hybrid_memory.model import Json
    from hybrid_memory.store.sql.session import Row, Session

_EXISTING = "SELECT id FROM memory WHERE namespace = $1 AND id = ANY ($2::text[])"
_CHANGES = {change.value: change for change in ChangeType}


@dataclass(frozen=True, slots=True)
class StoredRequest:
    """What a request led to."""

    namespace: str
    result: str
    position: int
    at: datetime


def result_of(done: StoredRequest) -> Mapping[str, Json]:
    """Return what a request led to.

    Raises:
        ConstraintViolation: it cannot be read. The request was done, so it is not done again.
    """
    result = readable_object(done.result)
    if result is None:
        raise ConstraintViolation("this request was done before, and its result cannot be read; make a new one")
    return result


def readable_object(text: str) -> Mapping[str, Json] | None:
    """Return the JSON object of a stored text, None where it is none."""
    try:
        return object_from_json(text)
    except ValueError:
        return None


def entry_of(row: Row) -> LogEntry:
    """Return the entry of a row of the log: position, change, id, rev, made_at, actor, action, digest, note."""
    return LogEntry(
        position=row[0],
        change=_CHANGES.get(row[1], ChangeType.UPDATE),
        id=MemoryId(row[2]),
        rev=row[3],
        at=nearest_moment(row[4]),
        actor=row[5],
        action=row[6],
        digest=row[7],
        note=row[8],
    )


def buffer_of(row: Row) -> BufferState:
    """Return the buffers of a row: session, agent, state, touched_at."""
    return BufferState(session=row[0], agent=row[1], state=row[2], touched_at=nearest_moment(row[3]))


def existing_ids(session: Session, namespace: str, ids: Collection[MemoryId]) -> set[MemoryId]:
    """Return which memories of a namespace exist."""
    return {MemoryId(id_) for (id_,) in session.rows(_EXISTING, namespace, list(ids))} if ids else set()


def _mentions(value: Any, ids: frozenset[MemoryId]) -> bool:
    """Return True if a JSON value holds one of the ids, also as a key."""
    if isinstance(value, dict):
        return any(_mentions(one, ids) for one in (*value, *value.values()))
    if isinstance(value, list):
        return any(_mentions(one, ids) for one in value)
    return value in ids if isinstance(value, str) else False


def object_mentions(text: str, ids: frozenset[MemoryId]) -> bool:
    """Return True if the JSON object of a text holds one of the ids; what cannot be read may name anything."""
    try:
        return _mentions(object_from_json(text), ids)
    except ValueError:
        return True


def list_names(text: str | None, ids: frozenset[MemoryId]) -> bool:
    """Return True if the JSON list of a text names one of the ids; what cannot be read may name anything."""
    try:
        return not ids.isdisjoint(texts_from_json(text))
    except ValueError:
        return True
