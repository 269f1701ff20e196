"""What an export of a PostgreSQL store holds, read in one moment: memories a thousand at a time, in the order of `export_order`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from string import Template
from typing import TYPE_CHECKING

from hybrid_memory.model import MemoryId
from hybrid_memory.store.export_order import in_order, readable_texts
from hybrid_memory.store.sql.rows import readable_object
from hybrid_memory.store.transfer import (
    BufferItem,
    ConversationItem,
    EntryItem,
    MemoryItem,
    StoreContents,
    TransferItem,
)
from hybrid_memory_postgres import tables
from hybrid_memory_postgres.memory_table import COLUMNS, readable
from hybrid_memory_postgres.vector_table import passages_by_id, pinned_embedder, vectors_by_id

if TYPE_CHECKING:
    from hybrid_memory.model import Memory
    from hybrid_memory_postgres.sql_session import PgSession
    from hybrid_memory_postgres.vector_table import PinnedEmbedder

_NAMESPACES = """
    SELECT namespace FROM memory UNION SELECT namespace FROM buffer UNION SELECT namespace FROM conversation ORDER BY 1
"""
_COUNTS = """
    SELECT (SELECT count(*) FROM memory WHERE namespace = ANY ($1::text[])),
        (SELECT count(*) FROM buffer WHERE namespace = ANY ($1::text[])),
        (SELECT count(*) FROM conversation WHERE namespace = ANY ($1::text[])),
        (SELECT count(*) FROM entry WHERE namespace = ANY ($1::text[]))
"""
_PLACES = "SELECT place, created_at, id FROM memory WHERE namespace = $1 ORDER BY created_at, id"
_LINKS_OF_MOMENTS = """
    SELECT id, supersedes, duplicate_of, disputes, parents FROM memory WHERE namespace = $1
        AND (supersedes IS NOT NULL OR duplicate_of IS NOT NULL OR disputes IS NOT NULL OR parents IS NOT NULL)
        AND created_at IN (SELECT created_at FROM memory WHERE namespace = $1 GROUP BY created_at HAVING count(*) > 1)
"""
_BY_PLACE = Template("""
    SELECT $columns, place FROM memory WHERE namespace = $$1 AND place = ANY ($$2::bigint[])
""").substitute(columns=COLUMNS)
_CONVERSATIONS = "SELECT namespace, name, kind, last FROM conversation WHERE namespace = $1 ORDER BY name, kind"
_ENTRIES = """
    SELECT number, body FROM entry WHERE namespace = $1 AND conversation = $2 AND kind = $3 ORDER BY number
"""
_ROWS_AT_ONCE = 1000  # memories read by one statement: few calls, and a few megabytes in memory


def contents_of(session: PgSession, namespaces: Sequence[str] | None, *, vectors: bool) -> StoreContents:
    """Return what some namespaces hold (all when None) in the moment in which a session is; it stays in it while items are read."""
    names = [name for (name,) in session.rows(_NAMESPACES) if namespaces is None or name in namespaces]
    memories, buffers, conversations, entries = session.rows(_COUNTS, names)[0]
    pinned = pinned_embedder(session) if vectors else None
    return StoreContents(
        embedder=pinned.identity if pinned else None,
        dimensions=pinned.dimensions if pinned else None,
        namespaces=tuple(names),
        memories=memories,
        buffers=buffers,
        conversations=conversations,
        entries=entries,
        items=_read_items(session, names, pinned),
    )


def _read_items(session: PgSession, names: Sequence[str], pinned: PinnedEmbedder | None) -> Iterator[TransferItem]:
    for name in names:
        places = _places(session, name)
        for start in range(0, len(places), _ROWS_AT_ONCE):
            yield from _read_memories(session, name, places[start : start + _ROWS_AT_ONCE], pinned)
        for buffer in tables.read_buffers(session, name):
            yield BufferItem(name, buffer)
        for namespace, conversation, kind, last in session.rows(_CONVERSATIONS, name):
            yield ConversationItem(namespace, conversation, kind, last)
            for number, body in session.rows(_ENTRIES, namespace, conversation, kind):
                value = readable_object(body)
                if value is not None:
                    yield EntryItem(namespace, conversation, kind, number, value)


def _places(session: PgSession, name: str) -> list[int]:
    rows = [(place, created_at, id_) for place, created_at, id_ in session.rows(_PLACES, name)]
    linked = session.rows(_LINKS_OF_MOMENTS, name)
    links = {
        id_: [one for one in (*named, *readable_texts(parents)) if one is not None] for id_, *named, parents in linked
    }
    return [place for place, _, _ in in_order(rows, links)]


def _read_memories(
    session: PgSession, name: str, places: Sequence[int], pinned: PinnedEmbedder | None
) -> Iterator[MemoryItem]:
    found: dict[int, Memory] = {}
    for *row, place in session.rows(_BY_PLACE, name, list(places)):
        for memory in readable(session, (tuple(row),)):
            found[place] = memory
    ids = [MemoryId(memory.id) for memory in found.values()]
    usage = tables.read_usage(session, name, ids)
    vectors = vectors_by_id(session, pinned, name, ids) if pinned else {}
    passages = passages_by_id(session, pinned, name, ids) if pinned else {}
    for one in (found[place] for place in places if place in found):
        yield MemoryItem(one, usage.get(one.id), vectors.get(one.id), passages.get(one.id))
