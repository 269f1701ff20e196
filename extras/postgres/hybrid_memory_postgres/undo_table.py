"""What undoes the acts of persons, in a table: kept with the act in one transaction, at most `KEPT_UNDOS` of a namespace."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from hybrid_memory.clock import to_micros
from hybrid_memory.model import MemoryId
from hybrid_memory.moments import nearest_moment
from hybrid_memory.store.encoding import check_text, object_to_json
from hybrid_memory.store.memory_fields import object_from_json
from hybrid_memory.store.writing import KEPT_UNDOS, UndoRecord, WriteBatch
from hybrid_memory_postgres.sql_session import PgSession, Row

_INSERT = "INSERT INTO undo (namespace, id, made_at, actor, action, body) VALUES ($1, $2, $3, $4, $5, $6)"
_DELETE = "DELETE FROM undo WHERE namespace = $1 AND id = $2"
_DELETE_MANY = "DELETE FROM undo WHERE namespace = $1 AND id = ANY ($2::text[])"
# Rows are never changed, and who inserts one holds the head of its namespace: a lower place is an older row.
_PRUNE = """
    DELETE FROM undo WHERE namespace = $1
        AND place IN (SELECT place FROM undo WHERE namespace = $1 ORDER BY place DESC OFFSET $2)
        AND (SELECT count(*) FROM undo WHERE namespace = $1) > $3
"""
_OF_ID = "SELECT namespace, id, made_at, actor, action, body FROM undo WHERE namespace = $1 AND id = $2"
_NEWEST = """
    SELECT namespace, id, made_at, actor, action, body FROM undo
    WHERE namespace = ANY ($1::text[]) AND ($2::text IS NULL OR id = $2)
    ORDER BY made_at DESC, place DESC LIMIT $3
"""
_BODIES = "SELECT id, body FROM undo WHERE namespace = $1"
_SPARE = 50  # rows above the limit that may wait, so that not each act deletes one


def keep_undo(session: PgSession, namespace: str, batch: WriteBatch, at: datetime) -> None:
    """Store what undoes a write, and let go of what a write has used up; without waiting for it."""
    if batch.undone is not None:
        session.send(_DELETE, namespace, batch.undone)
    if batch.undo is None:
        return
    check_text(batch.undo.id, batch.undo.action)
    body = object_to_json(batch.undo.body)
    session.send(_INSERT, namespace, batch.undo.id, to_micros(at), batch.actor, batch.undo.action, body)
    session.send(_PRUNE, namespace, KEPT_UNDOS, KEPT_UNDOS + _SPARE)


def read_undo(session: PgSession, namespace: str, undo: str) -> UndoRecord | None:
    """Return what undoes an act; None where it is not kept, or cannot be read."""
    row = session.row(_OF_ID, namespace, undo) if "\0" not in undo else None
    return None if row is None else _record(row)


def read_undos(session: PgSession, namespaces: Sequence[str], limit: int, undo: str | None) -> list[UndoRecord]:
    """Return what undoes the newest acts of some namespaces, or the one of an id; what cannot be read is left out."""
    if "\0" in (undo or ""):
        return []
    rows = session.rows(_NEWEST, list(namespaces), undo, limit)
    return [one for one in map(_record, rows) if one is not None]


def forget_undos_about(session: PgSession, namespace: str, ids: Collection[MemoryId]) -> None:
    """Delete what undoes acts on some memories: it holds former tags and names, and leads to what is no more."""
    gone = []
    for undo, body in session.rows(_BODIES, namespace):
        read = _object(body)
        if read is None or any(one in ids for one in _named(read)):  # what cannot be read may name anything
            gone.append(undo)
    if gone:
        session.send(_DELETE_MANY, namespace, gone)


def _record(row: Row) -> UndoRecord | None:
    namespace, id_, made_at, actor, action, text = row
    body = _object(text)
    if body is None:
        return None
    return UndoRecord(id=id_, body=body, namespace=namespace, at=nearest_moment(made_at), actor=actor, action=action)


def _object(text: str) -> Mapping[str, Any] | None:
    try:
        return object_from_json(text)
    except ValueError:
        return None


def _named(body: Any) -> list[str]:
    """Return all texts in a value, keys among them: ids are some of these."""
    if isinstance(body, dict):
        return [one for key, value in body.items() for one in (key, *_named(value))]
    if isinstance(body, list):
        return [one for value in body for one in _named(value)]
    return [body] if isinstance(body, str) else []
