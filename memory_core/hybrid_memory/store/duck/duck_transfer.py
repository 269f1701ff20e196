"""Copies, exports and fills a DuckDB store as a whole: `DuckStore.transfer`, called by `hybrid_memory.admin`.

Memories are read a thousand at a time, in an order that does not depend on how their rows came to lie in the file. They are
stored with one statement for all of them where a write would take one for each.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hybrid_memory.clock import to_micros
from hybrid_memory.errors import ConstraintViolation
from hybrid_memory.model import MemoryId
from hybrid_memory.store.audit_notes import note_of_insert
from hybrid_memory.store.batch import checked_passages, checked_vector
from hybrid_memory.store.duck import tables
from hybrid_memory.store.duck.files.database_copy import copy_database
from hybrid_memory.store.duck.import_rows import (
    append_many_to_log,
    erase_import,
    imports_in,
    known_imports,
    same_words,
    trust_of_row,
)
from hybrid_memory.store.duck.memory_table import insert_memories, memories_by_rowid
from hybrid_memory.store.duck.own import DUCK
from hybrid_memory.store.duck.vector_tables import VectorTable
from hybrid_memory.store.duck.writer_cache import Head, LruCache, pinned_embedder
from hybrid_memory.store.encoding import (
    check_number,
    check_text,
    object_to_json,
    to_json,
)
from hybrid_memory.store.export_order import in_order, readable_texts
from hybrid_memory.store.memory_fields import check_memory
from hybrid_memory.store.sql.purging import plan_purge
from hybrid_memory.store.sql.rows import readable_object
from hybrid_memory.store.transfer import (
    BufferItem,
    ConversationItem,
    EntryItem,
    ExistingMemory,
    ImportCounts,
    ImportRows,
    MemoryItem,
    PurgePlan,
    PurgeSelection,
    StoreContents,
    TableSums,
    TransferItem,
    UndoneImport,
)
from hybrid_memory.store.writing import ChangeType, LogEntry

if TYPE_CHECKING:
    from pathlib import Path

    from hybrid_memory.clock import Clock
    from hybrid_memory.model import Memory
    from hybrid_memory.store.duck.engine import Engine, Transaction
    from hybrid_memory.store.duck.sql_session import SqlSession
    from hybrid_memory.store.duck.writer_cache import PinnedEmbedder
    from hybrid_memory.store.erasing import RemainingState
    from hybrid_memory.store.transfer import RedactionPlan

_EXISTING = """
    SELECT namespace, id, content_hash, created_at, trust, superseded_by FROM memory SEMI JOIN (
        SELECT unnest(from_json(?, '["VARCHAR"]')) AS namespace, unnest(from_json(?, '["VARCHAR"]')) AS id
    ) USING (namespace, id)
"""
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
_PLACES = "SELECT rowid, created_at, id FROM memory WHERE concat(namespace) = ? ORDER BY created_at, id"
_LINKS_OF_MOMENTS = """
    SELECT id, supersedes, duplicate_of, disputes, parents FROM memory WHERE concat(namespace) = ?
        AND (supersedes IS NOT NULL OR duplicate_of IS NOT NULL OR disputes IS NOT NULL OR parents IS NOT NULL)
        AND created_at IN (SELECT created_at FROM memory WHERE concat(namespace) = ? GROUP BY created_at HAVING count(*) > 1)
"""
_CONVERSATIONS = "SELECT namespace, name, kind, last FROM conversation WHERE namespace = ? ORDER BY name, kind"
_ENTRIES = """
    SELECT namespace, conversation, kind, number, body FROM entry
    WHERE namespace = ? AND conversation = ? AND kind = ? ORDER BY number
"""
_ROWS_AT_ONCE = 1000  # memories read by one statement: few calls, and a few megabytes in memory
_INSERT_USAGE = """
    INSERT INTO usage (namespace, id, accessed_at, count)
    SELECT one.namespace, one.id, one.accessed_at, one.count
    FROM (SELECT unnest(from_json(?, '[{
        "namespace": "VARCHAR", "id": "VARCHAR", "accessed_at": "BIGINT", "count": "BIGINT"}]')) AS one)
"""
_ONE_ENTRY = "SELECT body FROM entry WHERE namespace = ? AND conversation = ? AND kind = ? AND number = ?"
_LAST = "SELECT last FROM conversation WHERE namespace = ? AND name = ? AND kind = ?"
_NEW_CONVERSATION = "INSERT INTO conversation (last, namespace, name, kind) VALUES (?, ?, ?, ?)"
_RAISE_LAST = "UPDATE conversation SET last = ? WHERE namespace = ? AND name = ? AND kind = ?"

# The copy is attached to the whole database under one name, so there is one copy at a time.
_COPYING = threading.Lock()


class DuckTransfer:
    """The part of `DuckStore` that is copied, exported and filled as a whole."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock

    def copy_to(self, file: Path) -> TableSums:
        """Write a copy of this moment to a new database file in the folder of backups."""
        with _COPYING, self._engine.reading() as session:
            return copy_database(session, file)

    def export_items(self, namespaces: Sequence[str] | None, *, vectors: bool) -> StoreContents:
        """Return what some namespaces hold at this moment; items are read from the file as they are asked for."""
        with self._engine.operation():
            session = self._engine.open_snapshot()
            try:
                contents = contents_of(session, namespaces, vectors=vectors)
            except BaseException:
                session.close()
                raise
            return replace(contents, items=self._engine.iterate(session, contents.items))

    def plan_purge(self, selection: PurgeSelection) -> PurgePlan:
        """Return what a purge of a selection would erase."""
        with self._engine.snapshot() as session:
            return plan_purge(session, selection)

    def plan_redaction(self, namespace: str, ids: Sequence[MemoryId], words: str | None) -> RedactionPlan:
        """Return what taking the secrets out of some memories would come to."""
        from hybrid_memory.store.sql.redacting import plan_redaction

        with self._engine.snapshot() as session:
            return plan_redaction(session, DUCK, namespace, ids, words)

    def existing(self, keys: Sequence[tuple[str, MemoryId]]) -> dict[tuple[str, MemoryId], ExistingMemory]:
        """Return those memories that exist, by namespace and id."""
        with self._engine.reading() as session:
            names, ids = to_json([name for name, _ in keys]), to_json([id_ for _, id_ in keys])
            found = [
                ExistingMemory(name, MemoryId(id_), digest, created_at, trust_of_row(trust), superseded_by)
                for name, id_, digest, created_at, trust, superseded_by in session.rows(_EXISTING, names, ids)
            ]
            return {(one.namespace, one.id): one for one in found}

    def import_items(self, items: Sequence[TransferItem], *, action: str, actor: str) -> ImportCounts:
        """Store items as they are, in one transaction: memories with usage, vectors and log, then buffers, then conversations."""
        memories = [item for item in items if isinstance(item, MemoryItem)]
        buffers = [item for item in items if isinstance(item, BufferItem)]
        with self._engine.transaction() as transaction:
            new = store_memories(
                transaction,
                self._without_existing(memories),
                transaction.cache.write_time(self._clock),
                action=action,
                actor=actor,
            )
            new += _insert_buffers(transaction, buffers)
            new += _insert_entries(transaction, [one for one in items if not isinstance(one, (MemoryItem, BufferItem))])
            cache = transaction.cache
            # Filled by single writes, which these rows did not pass; the next write reads what it needs.
            cache.members, cache.memories = LruCache(), LruCache()
        return ImportCounts(new, len(items) - new)

    def same_words(self, namespace: str, digests: Sequence[str]) -> list[ExistingMemory]:
        """Return the memories of a namespace whose words have one of some digests."""
        with self._engine.reading() as session:
            return same_words(session, namespace, digests)

    def imports(self) -> list[ImportRows]:
        """Return the imports of which memories are in the store."""
        with self._engine.reading() as session:
            return imports_in(session)

    def known_imports(self) -> list[str]:
        """Return the actions of all imports that there ever were."""
        with self._engine.reading() as session:
            return known_imports(session)

    def undo_import(self, action: str, *, actor: str, remaining_state: RemainingState) -> UndoneImport:
        """Delete what came in with an import, in one transaction."""
        with self._engine.transaction() as transaction:
            at = transaction.cache.write_time(self._clock)
            return erase_import(transaction, action, at, actor=actor, remaining_state=remaining_state)

    def _without_existing(self, memories: Sequence[MemoryItem]) -> list[MemoryItem]:
        """Return the memories that are not there yet, each once."""
        given = {(one.memory.namespace, one.memory.id): one for one in memories}
        known = self.existing(list(given)) if given else {}
        for key, existing in known.items():
            if given[key].memory.content_hash != existing.content_hash:
                raise ConstraintViolation(
                    "a memory of that id is there already and says something else; nothing was changed"
                )
        return [one for key, one in given.items() if key not in known]


def contents_of(session: SqlSession, namespaces: Sequence[str] | None, *, vectors: bool) -> StoreContents:
    """Return what some namespaces hold (all when None) in the moment in which a session is; it stays in it while items are read."""
    names = [name for (name,) in session.rows(_NAMESPACES) if namespaces is None or name in namespaces]
    memories, buffers, conversations, entries = session.rows(_COUNTS, to_json(names))[0]
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


def _insert_buffers(transaction: Transaction, buffers: Sequence[BufferItem]) -> int:
    session, _, cache = transaction
    new = 0
    for one in buffers:
        if (one.namespace, one.buffer.session, one.buffer.agent) not in cache.buffers:
            tables.write_buffer(session, cache, one.namespace, one.buffer)
            head = cache.heads.get(one.namespace, Head())
            tables.advance(cache, one.namespace, head.position, cache.last_at)
            new += 1
    return new


def _read_items(session: SqlSession, names: Sequence[str], pinned: PinnedEmbedder | None) -> Iterator[TransferItem]:
    for name in names:
        places = _places(session, name)
        for start in range(0, len(places), _ROWS_AT_ONCE):
            yield from _read_memories(session, name, places[start : start + _ROWS_AT_ONCE], pinned)
        for buffer in tables.read_buffers(session, name):
            yield BufferItem(name, buffer)
        for conversation in session.rows(_CONVERSATIONS, name):
            yield ConversationItem(*conversation)
            for *place, number, body in session.rows(_ENTRIES, *conversation[:3]):
                namespace, conversation_name, kind = place
                value = readable_object(body)
                if value is not None:
                    yield EntryItem(namespace, conversation_name, kind, number, value)


def _places(session: SqlSession, name: str) -> list[int]:
    """Return the row ids of a namespace's memories in the order of an export: it does not depend on how they came into this store."""
    rows = session.rows(_PLACES, name)
    linked = session.rows(_LINKS_OF_MOMENTS, name, name)
    links = {
        id_: [one for one in (*named, *readable_texts(parents)) if one is not None] for id_, *named, parents in linked
    }
    return [place for place, _, _ in in_order(rows, links)]


def _read_memories(
    session: SqlSession, name: str, places: Sequence[int], pinned: PinnedEmbedder | None
) -> Iterator[MemoryItem]:
    found = memories_by_rowid(session, places)
    ids = [memory.id for memory in found.values()]
    usage = tables.read_usage(session, name, ids)
    vectors = VectorTable(pinned).by_id(session, name, ids) if pinned else {}
    passages = VectorTable(pinned).passages(session, name, ids) if pinned else {}
    for place in places:
        memory = found.get(place)
        if memory is not None:
            yield MemoryItem(memory, usage.get(memory.id), vectors.get(memory.id), passages.get(memory.id))


def store_memories(
    transaction: Transaction, items: Sequence[MemoryItem], at: datetime, *, action: str, actor: str
) -> int:
    """Store memories that are not there yet, with usage and vectors, and log each; returns how many.

    Raises:
        ConstraintViolation: a value cannot be stored, or a vector does not fit the pinned embedder.
    """
    if not items:
        return 0
    session = transaction.changes
    check_text(action, actor)
    for one in items:
        check_memory(one.memory, one.memory.namespace)
        check_number(one.memory.rev)
    insert_memories(session, [one.memory for one in items])
    used = [_usage_row(one) for one in items if one.usage is not None]
    if used:
        session.change(_INSERT_USAGE, to_json(used))
    _insert_vectors(transaction, [one for one in items if one.vector is not None])
    _log_inserts(transaction, [one.memory for one in items], at, action=action, actor=actor)
    return len(items)


def _insert_vectors(transaction: Transaction, items: Sequence[MemoryItem]) -> None:
    pinned = transaction.cache.embedder
    vectors = {
        (one.memory.namespace, one.memory.id): checked_vector(one.vector, pinned.dimensions if pinned else None)
        for one in items
        if one.vector is not None
    }
    if pinned is not None and vectors:
        passages = {
            (one.memory.namespace, one.memory.id): checked_passages(one.passages, pinned.dimensions)
            for one in items
            if one.passages is not None
        }
        VectorTable(pinned).insert_many(transaction.changes, vectors, passages)


def _log_inserts(
    transaction: Transaction, memories: Sequence[Memory], at: datetime, *, action: str, actor: str
) -> None:
    for namespace in dict.fromkeys(memory.namespace for memory in memories):
        head = transaction.cache.heads.get(namespace, Head()).position
        log = [
            LogEntry(
                position=position,
                change=ChangeType.INSERT,
                id=memory.id,
                rev=memory.rev,
                at=at,
                actor=actor,
                action=action,
                digest=memory.content_hash,
                note=note_of_insert(memory),
            )
            for position, memory in enumerate((one for one in memories if one.namespace == namespace), head + 1)
        ]
        append_many_to_log(transaction, namespace, log)


def _insert_entries(transaction: Transaction, items: Sequence[ConversationItem | EntryItem]) -> int:
    """Store conversations and their entries; returns how many were not there yet.

    Raises:
        ConstraintViolation: an entry of that number says something else.
    """
    return sum(
        _insert_conversation(transaction, one) if isinstance(one, ConversationItem) else _insert_entry(transaction, one)
        for one in items
    )


def _insert_conversation(transaction: Transaction, one: ConversationItem) -> int:
    place = (one.namespace, one.name, one.kind)
    check_text(*place)
    check_number(one.last)
    known = transaction.changes.row(_LAST, *place)
    if known is None:
        transaction.changes.change(_NEW_CONVERSATION, one.last, *place)
        return 1
    if one.last > known[0]:
        transaction.changes.change(_RAISE_LAST, one.last, *place)
    return 0


def _insert_entry(transaction: Transaction, one: EntryItem) -> int:
    place = (one.namespace, one.conversation, one.kind)
    session = transaction.changes
    known = session.row(_ONE_ENTRY, *place, one.number)
    if known is None:
        tables.put_entry(session, session, place, object_to_json(one.body), one.number)
        return 1
    if readable_object(known[0]) != dict(one.body):
        raise ConstraintViolation("an entry of that number is in that conversation already; nothing was changed")
    return 0


def _usage_row(one: MemoryItem) -> Mapping[str, Any]:
    usage = one.usage
    return {
        "namespace": one.memory.namespace,
        "id": one.memory.id,
        "accessed_at": to_micros(usage.accessed_at) if usage else 0,
        "count": usage.count if usage else 0,
    }
