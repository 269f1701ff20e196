"""The table ``undo``: what undoes the acts of persons, kept with the act in one transaction, at most `KEPT_UNDOS` of a namespace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hybrid_memory.clock import to_micros
from hybrid_memory.moments import nearest_moment
from hybrid_memory.store.encoding import check_text, object_to_json
from hybrid_memory.store.sql.rows import object_mentions, readable_object
from hybrid_memory.store.writing import UndoRecord, WriteBatch

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from hybrid_memory.model import MemoryId
    from hybrid_memory.store.sql.session import Row, Session

SPARE_UNDOS = 50
"""Rows above the limit that may wait, so that not each act deletes one."""

_INSERT = "INSERT INTO undo (namespace, id, made_at, actor, action, body) VALUES ($1, $2, $3, $4, $5, $6)"
_DELETE = "DELETE FROM undo WHERE namespace = $1 AND id = $2"
_DELETE_MANY = "DELETE FROM undo WHERE namespace = $1 AND id = ANY ($2::text[])"
_OF_ID = "SELECT namespace, id, made_at, actor, action, body FROM undo WHERE namespace = $1 AND id = $2"
_NEWEST = """
    SELECT namespace, id, made_at, actor, action, body FROM undo
    WHERE namespace = ANY ($1::text[]) AND ($2::text IS NULL OR id = $2)
    ORDER BY made_at DESC, place DESC LIMIT $3
"""
_BODIES = "SELECT id, body FROM undo WHERE namespace = $1"


def keep_undo(session: Session, namespace: str, batch: WriteBatch, at: datetime) -> None:
    """Store what undoes a write, and remove what a write has used up; the oldest are left to the caller."""
    if batch.undone is not None:
        session.send(_DELETE, namespace, batch.undone)
    if batch.undo is not None:
        check_text(batch.undo.id, batch.undo.action)
        body = object_to_json(batch.undo.body)
        session.send(_INSERT, namespace, batch.undo.id, to_micros(at), batch.actor, batch.undo.action, body)


def read_undo(session: Session, namespace: str, undo: str) -> UndoRecord | None:
    """Return what undoes an act; None where it is not kept, or cannot be read."""
    row = session.row(_OF_ID, namespace, undo) if "\0" not in undo else None
    return None if row is None else _record(row)


def read_undos(session: Session, namespaces: Sequence[str], limit: int, undo: str | None) -> list[UndoRecord]:
    """Return what undoes the newest acts of some namespaces, or the one of an id; what cannot be read is left out."""
    if "\0" in (undo or ""):
        return []
    rows = session.rows(_NEWEST, list(namespaces), undo, limit)
    return [one for one in map(_record, rows) if one is not None]


def forget_undos_about(session: Session, namespace: str, ids: Collection[MemoryId]) -> None:
    """Delete what undoes acts on some memories: it holds former tags and names, and leads to what is no more."""
    gone = frozenset(ids)
    found = [undo for undo, body in session.rows(_BODIES, namespace) if object_mentions(body, gone)]
    if found:
        session.send(_DELETE_MANY, namespace, found)


def _record(row: Row) -> UndoRecord | None:
    namespace, id_, made_at, actor, action, text = row
    body = readable_object(text)
    if body is None:
        return None
    return UndoRecord(id=id_, body=body, namespace=namespace, at=nearest_moment(made_at), actor=actor, action=action)
