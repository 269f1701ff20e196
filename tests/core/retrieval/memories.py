"""Memories, logs and snapshots for the tests of this folder."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hybrid_memory.language.names import name_entries
from hybrid_memory.language.text import content_hash, dense_text
from hybrid_memory.model import Kind, Memory, MemoryId, Tier
from hybrid_memory.retrieval.index import NamespaceIndex
from hybrid_memory.store import column_batches
from hybrid_memory.store.writing import ChangeType, LogEntry
from hybrid_memory.testing import HASHER, HashEmbedder

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
        "terms": HASHER.terms(dense_text(content, changes.get("speaker"))),
        "names": name_entries(content, changes.get("speaker"), hasher=HASHER),
    }
    return Memory(**(plain | changes))


def vector_of(content, speaker=None):
    return EMBEDDER.embed([dense_text(content, speaker)])[0]


def entry(position, name, change=ChangeType.INSERT):
    return LogEntry(
        position=position, change=change, id=MemoryId(name), rev=1, at=START, actor="t", action="write", digest=""
    )


def put(index, *memories, vectors=True):
    """Apply memories as the next entries of the log, with vectors of their content."""
    log = [entry(index.head + 1 + step, one.id) for step, one in enumerate(memories)]
    found = {one.id: vector_of(one.content, one.speaker) for one in memories} if vectors else {}
    index.apply(log, {one.id: one for one in memories}, found)


def purge(index, name):
    index.apply([entry(index.head + 1, name, ChangeType.PURGE)], {}, {})


def index_of(*memories, vectors=True):
    index = NamespaceIndex(HASHER, 16)
    put(index, *memories, vectors=vectors)
    return index


def snapshot_of(memories, vectors, head, size=3, passages=None, parts=None):
    """Return a snapshot in batches of a few memories; ``parts`` are vectors as they are read."""
    by_id = {one.id: one for one in memories}
    found = column_batches.build_snapshot("test", head, by_id, vectors, {}, passages or {}, chunk=size)
    return found if parts is None else replace(found, vectors=parts)
