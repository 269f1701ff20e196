"""What a redaction changes in the tables: secrets in the words of some memories, and the same secrets wherever else they stand.

`plan_redaction` is called for a preview, `redact_rows` by `PostgresEraser`. The bytes of the former words go when the tables are written
anew afterwards (`rewriting`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hybrid_memory.model import MemoryId
from hybrid_memory.secret_detection.masking import mark
from hybrid_memory.store.encoding import from_json, object_to_json, to_json
from hybrid_memory.store.redaction_rules import (
    cleaned_json,
    inside_json,
    redacted,
    redaction_log,
    secrets_in,
    shared_values,
)
from hybrid_memory.store.sql.readings import forget_readings_of, replace_in_readings
from hybrid_memory.store.sql.undo import forget_undos_about
from hybrid_memory.store.transfer import RedactionPlan
from hybrid_memory_postgres.appending import LockedHead, append_entries, erase_digests, lock_head
from hybrid_memory_postgres.memory_table import memories_by_id
from hybrid_memory_postgres.purge_rows import COUNT_ERASURE, delete_vectors

if TYPE_CHECKING:
    from datetime import datetime

    from hybrid_memory.model import Memory
    from hybrid_memory_postgres.sql_session import PgSession

_HOLDING = """
    SELECT id FROM memory WHERE namespace = $1 AND (strpos(content, $2) > 0 OR strpos(coalesce(tags, ''), $3) > 0
        OR strpos(coalesce(metadata, ''), $3) > 0 OR strpos(coalesce(source, ''), $2) > 0 OR strpos(coalesce(speaker, ''), $2) > 0
        OR strpos(coalesce(key, ''), $2) > 0) ORDER BY id
"""
_ENTRIES_HOLDING = """
    SELECT conversation, kind, number, body FROM entry WHERE namespace = $1 AND strpos(body, $2) > 0
"""
_SET_ENTRY = "UPDATE entry SET body = $5 WHERE namespace = $1 AND conversation = $2 AND kind = $3 AND number = $4"
# Terms and the like are made anew at the next idle time: encoding 0 asks for it.
_SET_WORDS = """
    UPDATE memory SET content = $3, content_hash = $4, tags = $5, metadata = $6, source = $7, speaker = $8, key = $9, rev = $10,
        terms = '', names = NULL, days = NULL, aspects = 0, encoding = 0
    WHERE namespace = $1 AND id = $2
"""
_NOTE_UNWRITTEN = "UPDATE store SET unwritten = true"


def plan_redaction(session: PgSession, namespace: str, ids: Sequence[MemoryId], words: str | None) -> RedactionPlan:
    """Return what taking the secrets out of some memories comes to; ``words`` are what the person wants out beside what is recognised."""
    named = memories_by_id(session, namespace, ids)
    values, kinds = secrets_in(named.values(), words)
    shared = shared_values(values)
    others = {id_ for value in shared for id_ in _holding(session, namespace, value) if id_ not in named}
    entries = {place[:3] for value in shared for place in session.rows(_ENTRIES_HOLDING, namespace, inside_json(value))}
    return RedactionPlan(
        ids=tuple(named),
        missing=tuple(one for one in dict.fromkeys(ids) if one not in named),
        kinds=kinds,
        values=tuple(values.items()),
        others=tuple(sorted(others)),
        entries=len(entries),
    )


def redact_rows(
    session: PgSession, namespace: str, plan: RedactionPlan, *, now: datetime, actor: str
) -> tuple[int, LockedHead]:
    """Take the secrets out of the store; returns how many memories changed, and the new head.

    A memory keeps its id, links, times and place; the log keeps its entries, without digests of the former words, and gets one more.
    """
    head = lock_head(session, namespace)
    session.send(_NOTE_UNWRITTEN)
    session.send(COUNT_ERASURE)  # what the former words were found by is in other hubs' memory
    values = dict(plan.values)
    shared = shared_values(values)
    holding = {id_ for value in shared for id_ in _holding(session, namespace, value)}
    there = memories_by_id(session, namespace, [*plan.ids, *sorted(holding - set(plan.ids))])
    changed = redacted(there.values(), plan)
    named = [memory.id for memory in changed]
    for memory in changed:
        _write(session, memory)
    # They were made of the former words; the store makes new ones when it is idle.
    delete_vectors(session, namespace, named)
    erase_digests(session, namespace, named)
    forget_undos_about(session, namespace, named)
    head = append_entries(session, head, redaction_log(changed, head.position, head.time_of_write(now), actor))
    _redact_entries(session, namespace, shared)
    for value, kind in values.items():
        replace_in_readings(session, value, mark(kind), among=None if value in shared else plan.ids)
    return len(changed), head


def exchange_words(session: PgSession, namespace: str, memories: Sequence[Memory]) -> int:
    """Give memories the words that they have after a redaction elsewhere; returns how many had others."""
    changed = 0
    wanted = {memory.id: memory for memory in memories if memory.namespace == namespace}
    if not wanted:
        return 0
    lock_head(session, namespace)
    session.send(_NOTE_UNWRITTEN)
    session.send(COUNT_ERASURE)
    for there in memories_by_id(session, namespace, wanted).values():
        if there.content != wanted[there.id].content:
            _write(session, replace(wanted[there.id], rev=there.rev))
            delete_vectors(session, namespace, [there.id])
            erase_digests(session, namespace, [there.id])
            forget_readings_of(session, [there.id])  # nobody here knows which of their words were the secret
            forget_undos_about(session, namespace, [there.id])
            changed += 1
    return changed


def _holding(session: PgSession, namespace: str, value: str) -> list[MemoryId]:
    return [MemoryId(id_) for (id_,) in session.rows(_HOLDING, namespace, value, inside_json(value))]


def _write(session: PgSession, memory: Memory) -> None:
    tags = to_json(list(memory.tags)) if memory.tags else None
    metadata = object_to_json(memory.metadata) if memory.metadata else None
    session.send(
        _SET_WORDS,
        memory.namespace,
        memory.id,
        memory.content,
        memory.content_hash,
        tags,
        metadata,
        memory.source,
        memory.speaker,
        memory.key,
        memory.rev,
    )


def _redact_entries(session: PgSession, namespace: str, values: Mapping[str, str]) -> None:
    for value in values:
        for conversation, kind, number, body in session.rows(_ENTRIES_HOLDING, namespace, inside_json(value)):
            cleaned = object_to_json(cleaned_json(from_json(body), values))
            session.send(_SET_ENTRY, namespace, conversation, kind, number, cleaned)
