"""Which rows came in with which import, as the log tells it, and how all rows of one leave the store again.

An import writes its own action into the log (`hybrid_memory.admin.imports.action_of`): nothing else has to be kept, a copy of the
store knows it too, and an import that was killed and done again has the same one.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from hybrid_memory.clock import from_micros
from hybrid_memory.model import MemoryId, Trust
from hybrid_memory.moments import nearest_moment
from hybrid_memory.store.sql.purging import clean_buffers, delete_rows, referring, resting_elsewhere
from hybrid_memory.store.sql.readings import forget_readings_of
from hybrid_memory.store.sql.undo import forget_undos_about
from hybrid_memory.store.transfer import ExistingMemory, ImportRows, UndoneImport
from hybrid_memory.store.writing import ChangeType, LogEntry
from hybrid_memory_postgres.appending import LockedHead, append_entries, lock_head
from hybrid_memory_postgres.memory_table import update_memory
from hybrid_memory_postgres.own import POSTGRES

if TYPE_CHECKING:
    from hybrid_memory.store.erasing import RemainingState
    from hybrid_memory_postgres.sql_session import PgSession

_IMPORTS = """
    WITH put AS (
        SELECT namespace, id, (array_agg(action ORDER BY position DESC))[1] AS action, max(made_at) AS made_at FROM log
        WHERE change = 'put' GROUP BY namespace, id
    )
    SELECT put.action, put.namespace, min(put.made_at), count(*), min(memory.created_at), max(memory.created_at)
    FROM put JOIN memory USING (namespace, id) WHERE starts_with(put.action, 'import ')
    GROUP BY put.action, put.namespace ORDER BY min(put.made_at), put.action COLLATE "C", put.namespace
"""
_KNOWN = """
    SELECT DISTINCT action COLLATE "C" AS action FROM log WHERE change = 'put' AND starts_with(action, 'import ') ORDER BY action
"""
_NAMESPACES = "SELECT DISTINCT namespace FROM log WHERE change = 'put' AND action = $1 ORDER BY namespace"
_ROWS = """
    SELECT m.id, m.rev FROM memory AS m
    WHERE m.namespace = $1 AND $2 = (
        SELECT l.action FROM log AS l WHERE l.namespace = m.namespace AND l.id = m.id AND l.change = 'put'
        ORDER BY l.position DESC LIMIT 1
    ) ORDER BY m.id
"""
_EXISTING = """
    SELECT m.namespace, m.id, m.content_hash, m.created_at, m.trust, m.superseded_by
    FROM memory AS m JOIN unnest($1::text[], $2::text[]) AS wanted (namespace, id) USING (namespace, id)
"""
_SAME_WORDS = """
    SELECT content_hash, id, created_at, trust, superseded_by FROM memory
    WHERE namespace = $1 AND content_hash = ANY ($2::text[])
"""


def imports_in(session: PgSession) -> list[ImportRows]:
    """Return the imports of which memories are in the store, by time and namespace."""
    return [
        ImportRows(action, namespace, from_micros(made_at), count, nearest_moment(first), nearest_moment(last))
        for action, namespace, made_at, count, first, last in session.rows(_IMPORTS)
    ]


def known_imports(session: PgSession) -> list[str]:
    """Return the actions of all imports that there ever were, also of those that were undone."""
    return [action for (action,) in session.rows(_KNOWN)]


def existing(session: PgSession, keys: Sequence[tuple[str, MemoryId]]) -> dict[tuple[str, MemoryId], ExistingMemory]:
    """Return those memories that exist, by namespace and id."""
    found = session.rows(_EXISTING, [name for name, _ in keys], [id_ for _, id_ in keys]) if keys else []
    return {
        (name, MemoryId(id_)): ExistingMemory(
            name, MemoryId(id_), digest, created_at, trust_of_row(trust), superseded_by
        )
        for name, id_, digest, created_at, trust, superseded_by in found
    }


def same_words(session: PgSession, namespace: str, digests: Sequence[str]) -> list[ExistingMemory]:
    """Return the memories of a namespace whose words have one of some digests."""
    return [
        ExistingMemory(namespace, MemoryId(id_), digest, created_at, trust_of_row(trust), superseded_by)
        for digest, id_, created_at, trust, superseded_by in session.rows(_SAME_WORDS, namespace, list(digests))
    ]


def erase_import(
    session: PgSession, action: str, now: datetime, *, actor: str, remaining_state: RemainingState
) -> tuple[UndoneImport, list[LockedHead]]:
    """Delete the rows that came in with an import, and every reference to them; returns also the new heads.

    The log tells each, so that everybody can follow. What was made since and rests on them stays: later versions, and insights, which
    are named.
    """
    heads = []
    kept: list[tuple[str, MemoryId]] = []
    count = 0
    for (namespace,) in session.rows(_NAMESPACES, action):
        head = lock_head(session, namespace)
        at = head.time_of_write(now)
        gone = [(MemoryId(id_), rev) for id_, rev in session.rows(_ROWS, namespace, action)]
        ids = frozenset(id_ for id_, _ in gone)
        if not ids:
            continue
        cleaned = referring(session, POSTGRES, namespace, ids)
        delete_rows(session, POSTGRES, namespace, ids)
        forget_readings_of(session, ids)
        forget_undos_about(session, namespace, ids)
        for before, after in cleaned:
            update_memory(session, after)
            if before.parents != after.parents:
                kept.append((namespace, after.id))
        kept += resting_elsewhere(session, namespace, ids)
        changes = [(ChangeType.PURGE, id_, rev, "") for id_, rev in gone]
        changes += [(ChangeType.UPDATE, after.id, after.rev, after.content_hash) for _, after in cleaned]
        log = [
            LogEntry(
                position=position,
                change=change,
                id=id_,
                rev=rev,
                at=at,
                actor=actor,
                action="undo import",
                digest=digest,
            )
            for position, (change, id_, rev, digest) in enumerate(changes, head.position + 1)
        ]
        heads.append(append_entries(session, head, log))
        clean_buffers(session, namespace, ids, remaining_state)
        count += len(ids)
    names = tuple(head.namespace for head in heads)
    return UndoneImport(memories=count, namespaces=names, resting_on=tuple(dict.fromkeys(kept))), heads


def trust_of_row(stored: str) -> Trust:
    """Return the trust that a row says."""
    try:
        return Trust(stored)
    except ValueError:
        return Trust.CONFIRMED  # what nobody can read, nothing untrusted may be linked to
