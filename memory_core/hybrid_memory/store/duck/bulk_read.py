"""Reads whole namespaces in an order that does not depend on how their rows came to lie in the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from hybrid_memory.store.duck import tables
from hybrid_memory.store.duck.memory_table import memory_of
from hybrid_memory.store.duck.vector_tables import VectorTable
from hybrid_memory.store.duck.writer_cache import pinned_embedder
from hybrid_memory.store.encoding import to_json
from hybrid_memory.store.transfer import (
    BufferItem,
    ConversationItem,
    EntryItem,
    MemoryItem,
    StoreContents,
    TransferItem,
)

if TYPE_CHECKING:
    from hybrid_memory.store.duck.sql_session import SqlSession
    from hybrid_memory.store.duck.writer_cache import PinnedEmbedder

_NAMESPACES = """
    SELECT DISTINCT namespace FROM memory UNION SELECT namespace FROM buffer UNION SELECT namespace FROM conversation
    ORDER BY namespace
"""
_COUNTS = """
    WITH wanted AS (SELECT unnest(from_json(?, '["VARCHAR"]')) AS namespace)
    SELECT (SELECT count(*) FROM memory SEMI JOIN wanted USING (namespace)),
        (SELECT count(*) FROM buffer SEMI JOIN wanted USING (namespace)),
        (SELECT count(*) FROM conversation SEMI JOIN wanted USING (namespace)),
        (SELECT count(*) FROM entry SEMI JOIN wanted USING (namespace))
"""
_PLACES = "SELECT rowid FROM memory WHERE concat(namespace) = ? ORDER BY created_at, rowid"
_AT_PLACES = """
    SELECT namespace, id, session, agent, content, kind, tier, importance, created_at, content_hash, terms, pinned,
        tags, metadata, source, speaker, origin, trust, key, occurred_at, expires_at, forgotten_at, superseded_by,
        supersedes, duplicate_of, parents, reflected_at, rev, rowid
    FROM memory WHERE rowid BETWEEN ? AND ? AND rowid IN (SELECT unnest(from_json(?, '["BIGINT"]')))
"""
_CONVERSATIONS = "SELECT namespace, name, kind, last FROM conversation WHERE namespace = ? ORDER BY name, kind"
_ENTRIES = """
    SELECT namespace, conversation, kind, number, body FROM entry
    WHERE namespace = ? AND conversation = ? AND kind = ? ORDER BY number
"""
_PART = 1000

WithItems: TypeAlias = Callable[[Iterator[TransferItem]], StoreContents]


def read_contents(
    session: SqlSession, namespaces: Sequence[str] | None, *, with_vectors: bool
) -> tuple[WithItems, Iterator[TransferItem]]:
    """Return what makes the contents of some namespaces once it gets the items, and the items.

    The session must be in one transaction until they are read.
    """
    names = [name for (name,) in session.rows(_NAMESPACES) if namespaces is None or name in namespaces]
    memories, buffers, conversations, entries = session.rows(_COUNTS, to_json(names))[0]
    pinned = pinned_embedder(session) if with_vectors else None
    contents = partial(
        StoreContents,
        embedder=pinned.identity if pinned else None,
        dimensions=pinned.dimensions if pinned else None,
        namespaces=tuple(names),
        memories=memories,
        buffers=buffers,
        conversations=conversations,
        entries=entries,
    )
    return lambda items: contents(items=items), _items(session, names, pinned)


def _items(session: SqlSession, names: Sequence[str], pinned: PinnedEmbedder | None) -> Iterator[TransferItem]:
    for name in names:
        places = [place for (place,) in session.rows(_PLACES, name)]
        for start in range(0, len(places), _PART):
            yield from _memories(session, name, places[start : start + _PART], pinned)
        for buffer in tables.read_buffers(session, name):
            yield BufferItem(name, buffer)
        for conversation in session.rows(_CONVERSATIONS, name):
            yield ConversationItem(*conversation)
            for *place, number, body in session.rows(_ENTRIES, *conversation[:3]):
                namespace, conversation_name, kind = place
                yield EntryItem(namespace, conversation_name, kind, number, tables.object_from_json(body))


def _memories(
    session: SqlSession, name: str, places: Sequence[int], pinned: PinnedEmbedder | None
) -> Iterator[MemoryItem]:
    rows = session.rows(_AT_PLACES, min(places), max(places), to_json(list(places)))
    found = {row[-1]: memory_of(row) for row in rows}
    ids = [memory.id for memory in found.values()]
    usage = tables.read_usage(session, name, ids)
    vectors = VectorTable(pinned).by_id(session, name, ids) if pinned else {}
    for place in places:
        memory = found[place]
        yield MemoryItem(memory, usage.get(memory.id), vectors.get(memory.id))
