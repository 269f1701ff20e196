"""Many memories stored at once as they are, with usage, vectors and a line in the log each: for imports and synchronisation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from hybrid_memory.clock import to_micros
from hybrid_memory.store.audit_notes import note_of_insert
from hybrid_memory.store.batch import checked_passages, checked_vector
from hybrid_memory.store.encoding import check_number, check_text
from hybrid_memory.store.memory_fields import check_memory
from hybrid_memory.store.writing import ChangeType, LogEntry
from hybrid_memory_postgres.appending import LockedHead, append_entries
from hybrid_memory_postgres.memory_table import insert_memory

if TYPE_CHECKING:
    from datetime import datetime

    from hybrid_memory.store.transfer import MemoryItem
    from hybrid_memory_postgres.sql_session import PgSession

_PINNED = "SELECT number, dimensions FROM embedder WHERE number > 0 ORDER BY number DESC LIMIT 1"
_INSERT_USAGE = """
    INSERT INTO usage (namespace, id, accessed_at, count)
    SELECT $1, * FROM unnest($2::text[], $3::bigint[], $4::bigint[])
    ON CONFLICT (namespace, id) DO UPDATE SET accessed_at = excluded.accessed_at, count = excluded.count
"""
_INSERT_VECTORS = """
    INSERT INTO vector (embedder, namespace, id, vec, passages)
    SELECT $1, $2, * FROM unnest($3::text[], $4::bytea[], $5::bytea[])
    ON CONFLICT (embedder, namespace, id) DO NOTHING
"""


def store_memories(
    session: PgSession, head: LockedHead, items: Sequence[MemoryItem], at: datetime, *, action: str, actor: str
) -> LockedHead:
    """Store memories of a namespace, whose head is locked, that are not there yet, and log each; returns the new head.

    Raises:
        ConstraintViolation: a value cannot be stored, or a vector does not fit the pinned embedder.
    """
    if not items:
        return head
    check_text(action, actor)
    for one in items:
        check_memory(one.memory, head.namespace)
        check_number(one.memory.rev)
    for one in items:
        insert_memory(session, one.memory)
    used = [(one.memory.id, one.usage) for one in items if one.usage is not None]
    if used:
        session.send(
            _INSERT_USAGE,
            head.namespace,
            [id_ for id_, _ in used],
            [to_micros(usage.accessed_at) for _, usage in used],
            [usage.count for _, usage in used],
        )
    _insert_vectors(session, head.namespace, [one for one in items if one.vector is not None])
    log = [
        LogEntry(
            position=position,
            change=ChangeType.INSERT,
            id=one.memory.id,
            rev=one.memory.rev,
            at=at,
            actor=actor,
            action=action,
            digest=one.memory.content_hash,
            note=note_of_insert(one.memory),
        )
        for position, one in enumerate(items, head.position + 1)
    ]
    return append_entries(session, head, log)


def _insert_vectors(session: PgSession, namespace: str, items: Sequence[MemoryItem]) -> None:
    if not items:
        return
    row = session.row(_PINNED)
    number, dimensions = row or (None, None)
    vectors = [(one.memory.id, checked_vector(one.vector, dimensions)) for one in items if one.vector is not None]
    if number is not None:
        session.send(
            _INSERT_VECTORS,
            number,
            namespace,
            [id_ for id_, _ in vectors],
            [np.asarray(vector, "<f4").tobytes() for _, vector in vectors],
            [None if one.passages is None else checked_passages(one.passages, dimensions) for one in items],
        )
