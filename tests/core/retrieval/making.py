"""Memories, logs and snapshots for the tests of this folder."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np

from hybrid_memory.clock import to_micros
from hybrid_memory.model import Kind, Memory, MemoryId, Tier
from hybrid_memory.retrieval.index import NamespaceIndex
from hybrid_memory.store.interface import NO_TIME, Batch, Change, LogEntry, Snapshot
from hybrid_memory.testing import HashEmbedder
from hybrid_memory.text import content_hash, dense_text, lexical_text, terms

START = datetime(2026, 1, 10, 12, 0, tzinfo=UTC)
NOW = START + timedelta(days=30)
EMBEDDER = HashEmbedder(16)


def at(minutes):
    return START + timedelta(minutes=minutes)


def memory(name, content="", *, minutes=0, **changes):
    plain = {
        "id": MemoryId(name),
        "namespace": "test",
        "session": "s1",
        "agent": "a",
        "content": content,
        "kind": Kind.OBSERVATION,
        "tier": Tier.SHORT_TERM,
        "importance": 0.5,
        "created_at": at(minutes),
        "content_hash": content_hash(content),
        "terms": terms(lexical_text(content, changes.get("speaker"), None)),
    }
    return Memory(**(plain | changes))


def vector_of(content, speaker=None):
    return EMBEDDER.embed([dense_text(content, speaker)])[0]


def entry(position, name, change=Change.PUT):
    return LogEntry(
        position=position, change=change, id=MemoryId(name), rev=1, at=START, actor="t", action="write", digest=""
    )


def put(index, *memories, vectors=True):
    """Apply memories as the next entries of the log, with vectors of their content."""
    log = [entry(index.head + 1 + step, one.id) for step, one in enumerate(memories)]
    found = {one.id: vector_of(one.content, one.speaker) for one in memories} if vectors else {}
    index.apply(log, {one.id: one for one in memories}, found)


def purge(index, name):
    index.apply([entry(index.head + 1, name, Change.PURGE)], {}, {})


def index_of(*memories, vectors=True):
    index = NamespaceIndex(16)
    put(index, *memories, vectors=vectors)
    return index


def batch_of(memories, vectors):
    """Return the columns that a store would give for some memories."""
    import json

    def times(name):
        return np.array(
            [NO_TIME if getattr(m, name) is None else to_micros(getattr(m, name)) for m in memories], np.int64
        )

    held = [vectors.get(m.id) for m in memories]
    flat = [term for m in memories for term in m.terms]
    return Batch(
        ids=[m.id for m in memories],
        tier=[str(m.tier) for m in memories],
        kind=[str(m.kind) for m in memories],
        session=[m.session for m in memories],
        agent=[m.agent for m in memories],
        speaker=[m.speaker for m in memories],
        key=[m.key for m in memories],
        trust=[str(m.trust) for m in memories],
        tags=[m.tags for m in memories],
        content_hash=[m.content_hash for m in memories],
        metadata=[json.dumps(m.metadata) if m.metadata else None for m in memories],
        superseded_by=[m.superseded_by for m in memories],
        pinned=np.array([m.pinned for m in memories], np.bool_),
        importance=np.array([m.importance for m in memories], np.float64),
        created_at=times("created_at"),
        occurred_at=times("occurred_at"),
        expires_at=times("expires_at"),
        forgotten_at=times("forgotten_at"),
        reflected_at=times("reflected_at"),
        accessed_at=np.full(len(memories), NO_TIME, np.int64),
        access_count=np.zeros(len(memories), np.int64),
        term_offsets=np.cumsum([0, *(len(m.terms) for m in memories)]).astype(np.int64),
        terms=np.array(flat, np.int32),
        has_vector=np.array([v is not None for v in held], np.bool_),
        vectors=np.array([np.zeros(16) if v is None else v for v in held], np.float32).reshape(len(memories), 16),
    )


def snapshot_of(memories, vectors, head, size=3):
    """Return a snapshot in batches of a few memories."""
    batches = [batch_of(memories[i : i + size], vectors) for i in range(0, len(memories), size)]
    return Snapshot("test", head, iter(batches))
