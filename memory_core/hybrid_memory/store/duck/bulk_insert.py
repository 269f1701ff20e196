"""Stores many memories as they are, a statement for all of them where a write would take one for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hybrid_memory.clock import to_micros
from hybrid_memory.errors import ConstraintViolation
from hybrid_memory.store.base import ChangeType
from hybrid_memory.store.batch import checked_vector
from hybrid_memory.store.duck import tables
from hybrid_memory.store.duck.memory_table import micros_or_none
from hybrid_memory.store.duck.vector_tables import VectorTable
from hybrid_memory.store.duck.writer_cache import Head
from hybrid_memory.store.encoding import (
    check_memory,
    check_number,
    check_text,
    from_json,
    list_to_json,
    object_to_json,
    to_json,
)
from hybrid_memory.store.transfer import ConversationItem, EntryItem, MemoryItem

if TYPE_CHECKING:
    from hybrid_memory.model import Memory
    from hybrid_memory.store.duck.engine import Transaction

_MEMORIES = """
    INSERT INTO memory (namespace, id, session, agent, content, kind, tier, importance, created_at, content_hash,
        terms, pinned, tags, metadata, source, speaker, origin, trust, key, occurred_at, expires_at, forgotten_at,
        superseded_by, supersedes, duplicate_of, parents, reflected_at, rev)
    SELECT one.namespace, one.id, one.session, one.agent, one.content, one.kind, one.tier, one.importance,
        one.created_at, one.content_hash, one.terms, one.pinned, one.tags, one.metadata, one.source, one.speaker,
        one.origin, one.trust, one.key, one.occurred_at, one.expires_at, one.forgotten_at, one.superseded_by,
        one.supersedes, one.duplicate_of, one.parents, one.reflected_at, one.rev
    FROM (SELECT unnest(from_json(?, '[{
        "namespace": "VARCHAR", "id": "VARCHAR", "session": "VARCHAR", "agent": "VARCHAR", "content": "VARCHAR",
        "kind": "VARCHAR", "tier": "VARCHAR", "importance": "DOUBLE", "created_at": "BIGINT",
        "content_hash": "VARCHAR", "terms": ["INTEGER"], "pinned": "BOOLEAN", "tags": "VARCHAR",
        "metadata": "VARCHAR", "source": "VARCHAR", "speaker": "VARCHAR", "origin": "VARCHAR", "trust": "VARCHAR",
        "key": "VARCHAR", "occurred_at": "BIGINT", "expires_at": "BIGINT", "forgotten_at": "BIGINT",
        "superseded_by": "VARCHAR", "supersedes": "VARCHAR", "duplicate_of": "VARCHAR", "parents": "VARCHAR",
        "reflected_at": "BIGINT", "rev": "BIGINT"}]')) AS one)
"""
_USAGE = """
    INSERT INTO usage (namespace, id, accessed_at, count)
    SELECT one.namespace, one.id, one.accessed_at, one.count
    FROM (SELECT unnest(from_json(?, '[{
        "namespace": "VARCHAR", "id": "VARCHAR", "accessed_at": "BIGINT", "count": "BIGINT"}]')) AS one)
"""
_LOG = """
    INSERT INTO log (namespace, position, change, id, rev, made_at, actor, action, digest)
    SELECT one.namespace, one.position, $2, one.id, one.rev, $3, $4, $5, one.digest
    FROM (SELECT unnest(from_json($1, '[{
        "namespace": "VARCHAR", "position": "BIGINT", "id": "VARCHAR", "rev": "BIGINT", "digest": "VARCHAR"
        }]')) AS one)
"""
_ENTRY = "SELECT body FROM entry WHERE namespace = ? AND conversation = ? AND kind = ? AND number = ?"
_LAST = "SELECT last FROM conversation WHERE namespace = ? AND name = ? AND kind = ?"
_NEW_CONVERSATION = "INSERT INTO conversation (last, namespace, name, kind) VALUES (?, ?, ?, ?)"
_ADVANCE = "UPDATE conversation SET last = ? WHERE namespace = ? AND name = ? AND kind = ?"


def fill(transaction: Transaction, kept: Sequence[MemoryItem], at: datetime, *, action: str, actor: str) -> int:
    """Store memories that are not there yet, with usage and vectors, and log each; returns how many.

    Raises:
        ConstraintViolation: a value cannot be stored, or a vector does not fit the pinned embedder.
    """
    if not kept:
        return 0
    session, _, cache = transaction
    check_text(action, actor)
    for one in kept:
        check_memory(one.memory, one.memory.namespace)
        check_number(one.memory.rev)
    session.change(_MEMORIES, to_json([_row(one.memory) for one in kept]))
    used = [_use(one) for one in kept if one.usage is not None]
    if used:
        session.change(_USAGE, to_json(used))
    if any(one.vector is not None for one in kept):
        pinned = cache.embedder
        vectors = {
            (one.memory.namespace, one.memory.id): checked_vector(one.vector, pinned.dimensions if pinned else None)
            for one in kept
            if one.vector is not None
        }
        if pinned is not None:
            VectorTable(pinned).insert_many(session, vectors)
    entries = []
    for one in kept:
        memory = one.memory
        position = cache.heads.get(memory.namespace, Head()).position + 1
        tables.advance(cache, memory.namespace, position, to_micros(at))
        entries.append(
            {
                "namespace": memory.namespace,
                "position": position,
                "id": memory.id,
                "rev": memory.rev,
                "digest": memory.content_hash,
            }
        )
    session.change(_LOG, to_json(entries), ChangeType.INSERT.value, to_micros(at), actor, action)
    return len(kept)


def insert_entries(transaction: Transaction, items: Sequence[ConversationItem | EntryItem]) -> int:
    """Store conversations and their entries; returns how many were not there yet.

    Raises:
        ConstraintViolation: an entry of that number says something else.
    """
    return sum(
        _fill_conversation(transaction, one) if isinstance(one, ConversationItem) else _fill_entry(transaction, one)
        for one in items
    )


def _fill_conversation(transaction: Transaction, one: ConversationItem) -> int:
    place = (one.namespace, one.name, one.kind)
    check_text(*place)
    check_number(one.last)
    known = transaction.changes.row(_LAST, *place)
    if known is None:
        transaction.changes.change(_NEW_CONVERSATION, one.last, *place)
        return 1
    if one.last > known[0]:
        transaction.changes.change(_ADVANCE, one.last, *place)
    return 0


def _fill_entry(transaction: Transaction, one: EntryItem) -> int:
    place = (one.namespace, one.conversation, one.kind)
    session = transaction.changes
    known = session.row(_ENTRY, *place, one.number)
    if known is None:
        tables.put_entry(session, session, place, object_to_json(one.body), one.number)
        return 1
    if from_json(known[0]) != dict(one.body):
        raise ConstraintViolation("an entry of that number is in that conversation already; nothing was changed")
    return 0


def _use(one: MemoryItem) -> Mapping[str, Any]:
    usage = one.usage
    return {
        "namespace": one.memory.namespace,
        "id": one.memory.id,
        "accessed_at": to_micros(usage.accessed_at) if usage else 0,
        "count": usage.count if usage else 0,
    }


def _row(memory: Memory) -> Mapping[str, Any]:
    return {
        "namespace": memory.namespace,
        "id": memory.id,
        "session": memory.session,
        "agent": memory.agent,
        "content": memory.content,
        "kind": memory.kind.value,
        "tier": memory.tier.value,
        "importance": memory.importance,
        "created_at": to_micros(memory.created_at),
        "content_hash": memory.content_hash,
        "terms": list(memory.terms),
        "pinned": memory.pinned,
        "tags": list_to_json(memory.tags),
        "metadata": object_to_json(memory.metadata) if memory.metadata else None,
        "source": memory.source,
        "speaker": memory.speaker,
        "origin": memory.origin.value,
        "trust": memory.trust.value,
        "key": memory.key,
        "occurred_at": micros_or_none(memory.occurred_at),
        "expires_at": micros_or_none(memory.expires_at),
        "forgotten_at": micros_or_none(memory.forgotten_at),
        "superseded_by": memory.superseded_by,
        "supersedes": memory.supersedes,
        "duplicate_of": memory.duplicate_of,
        "parents": list_to_json(memory.parents),
        "reflected_at": micros_or_none(memory.reflected_at),
        "rev": memory.rev,
    }
