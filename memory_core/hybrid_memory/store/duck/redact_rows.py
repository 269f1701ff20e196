"""What a redaction changes in a database file: secrets in the words of some memories, and the same secrets wherever else they stand.

`plan_redaction` is called for a preview, `redact_rows` for each file by `erase_files`. The bytes of the former words go when
the file is copied afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hybrid_memory.model import MemoryId
from hybrid_memory.secret_detection.masking import mark
from hybrid_memory.store.duck import tables
from hybrid_memory.store.duck.memory_table import memories_by_id
from hybrid_memory.store.duck.purge_rows import append_to_closed_log, delete_vectors, erase_digests
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

if TYPE_CHECKING:
    from datetime import datetime

    from hybrid_memory.model import Memory
    from hybrid_memory.store.duck.sql_session import SqlSession

_HOLDING = """
    SELECT id FROM memory WHERE namespace = $1 AND (contains(content, $2) OR contains(coalesce(tags, ''), $3)
        OR contains(coalesce(metadata, ''), $3) OR contains(coalesce(source, ''), $2) OR contains(coalesce(speaker, ''), $2)
        OR contains(coalesce(key, ''), $2)) ORDER BY id
"""
_ENTRIES_HOLDING = """
    SELECT conversation, kind, number, body FROM entry WHERE namespace = ? AND contains(body, ?)
"""
_SET_ENTRY = "UPDATE entry SET body = ? WHERE namespace = ? AND conversation = ? AND kind = ? AND number = ?"
# Terms and the like are made anew when the file is opened: encoding 0 asks for it.
_SET_WORDS = """
    UPDATE memory SET content = ?, content_hash = ?, tags = ?, metadata = ?, source = ?, speaker = ?, key = ?, rev = ?, terms = [],
        names = NULL, days = NULL, aspects = 0, encoding = 0
    WHERE concat(namespace) = ? AND id = ?
"""


def plan_redaction(session: SqlSession, namespace: str, ids: Sequence[MemoryId], words: str | None) -> RedactionPlan:
    """Return what taking the secrets out of some memories comes to; ``words`` are what the person wants out beside what is recognised."""
    named = memories_by_id(session, namespace, ids)
    values, kinds = secrets_in(named.values(), words)
    others = {id_ for value in shared_values(values) for id_ in _holding(session, namespace, value) if id_ not in named}
    entries = {
        place[:3]
        for value in shared_values(values)
        for place in session.rows(_ENTRIES_HOLDING, namespace, inside_json(value))
    }
    return RedactionPlan(
        ids=tuple(named),
        missing=tuple(one for one in dict.fromkeys(ids) if one not in named),
        kinds=kinds,
        values=tuple(values.items()),
        others=tuple(sorted(others)),
        entries=len(entries),
    )


def redact_rows(session: SqlSession, namespace: str, plan: RedactionPlan, *, at: datetime, actor: str) -> int:
    """Take the secrets out of a file in one transaction; returns how many memories changed.

    A memory keeps its id, links, times and place; the log keeps its entries, without digests of the former words, and gets one more.
    """
    values = dict(plan.values)
    shared = shared_values(values)
    holding = {id_ for value in shared for id_ in _holding(session, namespace, value)}
    session.begin()
    try:
        there = memories_by_id(session, namespace, [*plan.ids, *sorted(holding - set(plan.ids))])
        changed = redacted(there.values(), plan)
        for memory in changed:
            _write(session, memory)
        named = to_json([memory.id for memory in changed])
        # They were made of the former words; the store makes new ones when it is idle.
        delete_vectors(session, namespace, named)
        erase_digests(session, namespace, named)
        forget_undos_about(session, namespace, [memory.id for memory in changed])
        head = tables.read_head(session, namespace).position
        log = redaction_log(changed, head, at, actor)
        append_to_closed_log(session, namespace, log)
        _redact_entries(session, namespace, shared)
        for value, kind in values.items():
            replace_in_readings(session, value, mark(kind), among=None if value in shared else plan.ids)
        session.commit()
    except BaseException:
        session.rollback()
        raise
    return len(changed)


def exchange_words(session: SqlSession, redacted: Sequence[Memory]) -> int:
    """Give memories of a file the words that they have after a redaction elsewhere; returns how many had others."""
    changed = 0
    session.begin()
    try:
        for namespace in sorted({memory.namespace for memory in redacted}):
            wanted = {memory.id: memory for memory in redacted if memory.namespace == namespace}
            for there in memories_by_id(session, namespace, wanted).values():
                if there.content != wanted[there.id].content:
                    _write(session, replace(wanted[there.id], rev=there.rev))
                    delete_vectors(session, namespace, to_json([there.id]))
                    erase_digests(session, namespace, to_json([there.id]))
                    forget_readings_of(session, [there.id])  # nobody here knows which of their words were the secret
                    forget_undos_about(session, namespace, [there.id])
                    changed += 1
        session.commit()
    except BaseException:
        session.rollback()
        raise
    return changed


def _holding(session: SqlSession, namespace: str, value: str) -> list[MemoryId]:
    return [MemoryId(id_) for (id_,) in session.rows(_HOLDING, namespace, value, inside_json(value))]


def _write(session: SqlSession, memory: Memory) -> None:
    tags = to_json(list(memory.tags)) if memory.tags else None
    metadata = object_to_json(memory.metadata) if memory.metadata else None
    values = (
        memory.content,
        memory.content_hash,
        tags,
        metadata,
        memory.source,
        memory.speaker,
        memory.key,
        memory.rev,
    )
    session.change(_SET_WORDS, *values, memory.namespace, memory.id)


def _redact_entries(session: SqlSession, namespace: str, values: Mapping[str, str]) -> None:
    for value in values:
        for conversation, kind, number, body in session.rows(_ENTRIES_HOLDING, namespace, inside_json(value)):
            cleaned = object_to_json(cleaned_json(from_json(body), values))
            session.change(_SET_ENTRY, cleaned, namespace, conversation, kind, number)
