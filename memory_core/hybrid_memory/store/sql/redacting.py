"""What a redaction changes: secrets in the words of some memories, and the same secrets wherever else they are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hybrid_memory.model import MemoryId
from hybrid_memory.secret_detection.masking import mark
from hybrid_memory.store.encoding import from_json, object_to_json, to_json
from hybrid_memory.store.redaction_rules import cleaned_json, inside_json, redacted, secrets_in, shared_values
from hybrid_memory.store.sql.readings import forget_readings_of, replace_in_readings
from hybrid_memory.store.sql.undo import forget_undos_about
from hybrid_memory.store.transfer import RedactionPlan

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hybrid_memory.model import Memory
    from hybrid_memory.store.sql.own import Own
    from hybrid_memory.store.sql.session import Session

_HOLDING = """
    SELECT id FROM memory WHERE namespace = $1 AND (strpos(content, $2) > 0 OR strpos(coalesce(tags, ''), $3) > 0
        OR strpos(coalesce(metadata, ''), $3) > 0 OR strpos(coalesce(source, ''), $2) > 0 OR strpos(coalesce(speaker, ''), $2) > 0
        OR strpos(coalesce(key, ''), $2) > 0) ORDER BY id
"""
_ENTRIES_HOLDING = """
    SELECT conversation, kind, number, body FROM entry WHERE namespace = $1 AND strpos(body, $2) > 0
"""
_SET_ENTRY = "UPDATE entry SET body = $5 WHERE namespace = $1 AND conversation = $2 AND kind = $3 AND number = $4"


def plan_redaction(
    session: Session, own: Own, namespace: str, ids: Sequence[MemoryId], words: str | None
) -> RedactionPlan:
    """Return what taking the secrets out of some memories comes to; ``words`` are what the person wants out as well."""
    named = own.memories(session, namespace, ids)
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


def redact_words(session: Session, own: Own, namespace: str, plan: RedactionPlan) -> list[Memory]:
    """Take secrets out of all tables but the log, for which the caller makes entries; returns the memories that changed.

    A memory keeps its id, links, times and place; the log keeps its entries, without digests of the former words.
    """
    values = dict(plan.values)
    shared = shared_values(values)
    holding = {id_ for value in shared for id_ in _holding(session, namespace, value)}
    there = own.memories(session, namespace, [*plan.ids, *sorted(holding - set(plan.ids))])
    changed = redacted(there.values(), plan)
    for memory in changed:
        _write(session, own, memory)
    _forget_former_words(session, own, namespace, [memory.id for memory in changed])
    _redact_entries(session, namespace, shared)
    for value, kind in values.items():
        replace_in_readings(session, value, mark(kind), among=None if value in shared else plan.ids)
    return changed


def exchange_words(session: Session, own: Own, namespace: str, memories: Iterable[Memory]) -> int:
    """Give memories of a namespace the words that they have after a redaction elsewhere; returns how many had others."""
    wanted = {memory.id: memory for memory in memories if memory.namespace == namespace}
    there = own.memories(session, namespace, wanted).values()
    changed = [one for one in there if one.content != wanted[one.id].content]
    for one in changed:
        _write(session, own, replace(wanted[one.id], rev=one.rev))
        _forget_former_words(session, own, namespace, [one.id])
        forget_readings_of(session, [one.id])  # nobody here knows which of their words were the secret
    return len(changed)


def _holding(session: Session, namespace: str, value: str) -> list[MemoryId]:
    return [MemoryId(id_) for (id_,) in session.rows(_HOLDING, namespace, value, inside_json(value))]


def _forget_former_words(session: Session, own: Own, namespace: str, ids: Sequence[MemoryId]) -> None:
    """Delete what was made of the former words of memories; the store makes new vectors when it is idle."""
    own.delete_vectors(session, namespace, ids)
    own.erase_digests(session, namespace, ids)
    forget_undos_about(session, namespace, ids)


def _write(session: Session, own: Own, memory: Memory) -> None:
    tags = to_json(list(memory.tags)) if memory.tags else None
    metadata = object_to_json(memory.metadata) if memory.metadata else None
    words = (memory.content, memory.content_hash, tags, metadata, memory.source, memory.speaker, memory.key)
    session.send(own.set_words, memory.namespace, memory.id, *words, memory.rev)


def _redact_entries(session: Session, namespace: str, values: Mapping[str, str]) -> None:
    for value in values:
        for conversation, kind, number, body in session.rows(_ENTRIES_HOLDING, namespace, inside_json(value)):
            cleaned = object_to_json(cleaned_json(from_json(body), values))
            session.send(_SET_ENTRY, namespace, conversation, kind, number, cleaned)
