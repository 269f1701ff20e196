"""The part of `DuckStore` that is copied, exported and filled as a whole; see `hybrid_memory.store.transfer`."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hybrid_memory.errors import ConstraintViolation
from hybrid_memory.model import MemoryId
from hybrid_memory.store.duck import tables
from hybrid_memory.store.duck.bulk_insert import fill, insert_entries
from hybrid_memory.store.duck.bulk_read import read_contents
from hybrid_memory.store.duck.files.database_copy import copy_database
from hybrid_memory.store.duck.purge_rows import plan_purge
from hybrid_memory.store.duck.writer_cache import Head, LruCache
from hybrid_memory.store.encoding import to_json
from hybrid_memory.store.transfer import (
    BufferItem,
    ExistingMemory,
    ImportCounts,
    MemoryItem,
    StoreContents,
    TableSums,
    TransferItem,
)

if TYPE_CHECKING:
    from pathlib import Path

    from hybrid_memory.clock import Clock
    from hybrid_memory.store.duck.engine import Engine, Transaction
    from hybrid_memory.store.purge_plan import PurgePlan, PurgeSelection

_KNOWN = """
    SELECT namespace, id, content_hash, created_at FROM memory SEMI JOIN (
        SELECT unnest(from_json(?, '["VARCHAR"]')) AS namespace, unnest(from_json(?, '["VARCHAR"]')) AS id
    ) USING (namespace, id)
"""

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
        """Return what some namespaces hold; items are read from the file as they are asked for."""
        with self._engine.operation():
            session = self._engine.open_snapshot()
            try:
                contents, items = read_contents(session, namespaces, with_vectors=vectors)
            except BaseException:
                session.close()
                raise
            return contents(self._engine.iterate(session, items))

    def plan_purge(self, selection: PurgeSelection) -> PurgePlan:
        """Return what a purge of a selection would erase."""
        with self._engine.snapshot() as session:
            return plan_purge(session, selection)

    def existing(self, keys: Sequence[tuple[str, MemoryId]]) -> dict[tuple[str, MemoryId], ExistingMemory]:
        """Return those memories that exist, by namespace and id."""
        with self._engine.reading() as session:
            names, ids = to_json([name for name, _ in keys]), to_json([id_ for _, id_ in keys])
            found = [
                ExistingMemory(name, MemoryId(id_), *said) for name, id_, *said in session.rows(_KNOWN, names, ids)
            ]
            return {(one.namespace, one.id): one for one in found}

    def import_items(self, items: Sequence[TransferItem], *, action: str, actor: str) -> ImportCounts:
        """Store items as they are, in one transaction."""
        memories = [item for item in items if isinstance(item, MemoryItem)]
        buffers = [item for item in items if isinstance(item, BufferItem)]
        with self._engine.transaction() as transaction:
            new = fill(
                transaction,
                self._unknown(memories),
                transaction.cache.write_time(self._clock),
                action=action,
                actor=actor,
            )
            new += _fill_buffers(transaction, buffers)
            new += insert_entries(transaction, [one for one in items if not isinstance(one, (MemoryItem, BufferItem))])
            cache = transaction.cache
            cache.members, cache.memories = LruCache(), LruCache()
        return ImportCounts(new, len(items) - new)

    def _unknown(self, memories: Sequence[MemoryItem]) -> list[MemoryItem]:
        """Return the memories that are not there yet, each once."""
        given = {(one.memory.namespace, one.memory.id): one for one in memories}
        known = self.existing(list(given)) if given else {}
        for key, there in known.items():
            if given[key].memory.content_hash != there.content_hash:
                raise ConstraintViolation(
                    "a memory of that id is there already and says something else; nothing was changed"
                )
        return [one for key, one in given.items() if key not in known]


def _fill_buffers(transaction: Transaction, buffers: Sequence[BufferItem]) -> int:
    session, _, cache = transaction
    new = 0
    for one in buffers:
        if (one.namespace, one.buffer.session, one.buffer.agent) not in cache.buffers:
            tables.write_buffer(session, cache, one.namespace, one.buffer)
            head = cache.heads.get(one.namespace, Head())
            tables.advance(cache, one.namespace, head.position, cache.last_at)
            new += 1
    return new
