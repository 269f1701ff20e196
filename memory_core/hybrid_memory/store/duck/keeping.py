"""The part of `DuckStore` that is copied, exported and filled as a whole; see `hybrid_memory.store.keeping`."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hybrid_memory.errors import ConstraintViolation
from hybrid_memory.model import MemoryId
from hybrid_memory.store.checks import to_json
from hybrid_memory.store.duck import ledger
from hybrid_memory.store.duck.copying import copy_into
from hybrid_memory.store.duck.erasing import choose
from hybrid_memory.store.duck.filling import fill, fill_entries
from hybrid_memory.store.duck.giving import contents_of
from hybrid_memory.store.duck.memo import Head, Memo, Recent
from hybrid_memory.store.keeping import Contents, Item, Kept, KeptBuffer, Known, Sums, Taken

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from hybrid_memory.store.duck.engine import Engine, Transaction
    from hybrid_memory.store.erasing import Chosen, Selection

_KNOWN = """
    SELECT namespace, id, content_hash, created_at FROM memory SEMI JOIN (
        SELECT unnest(from_json(?, '["VARCHAR"]')) AS namespace, unnest(from_json(?, '["VARCHAR"]')) AS id
    ) USING (namespace, id)
"""

# The copy is attached to the whole database under one name, so there is one copy at a time.
_COPYING = threading.Lock()


class DuckKeeping:
    """The part of `DuckStore` that is copied, exported and filled as a whole."""

    _engine: Engine

    def _now(self, memo: Memo) -> datetime:
        raise NotImplementedError

    def copy_to(self, file: Path) -> Sums:
        """Write a copy of this moment to a new database file in the folder of backups."""
        with _COPYING, self._engine.reading() as session:
            return copy_into(session, file)

    def everything(self, namespaces: Sequence[str] | None, *, vectors: bool) -> Contents:
        """Return what some namespaces hold; items are read from the file as they are asked for."""
        with self._engine.running():
            session = self._engine.lasting_moment()
            try:
                contents, items = contents_of(session, namespaces, with_vectors=vectors)
            except BaseException:
                session.close()
                raise
            return contents(self._engine.stepping(session, items))

    def choose(self, selection: Selection) -> Chosen:
        """Return what a purge of a selection would erase."""
        with self._engine.moment() as session:
            return choose(session, selection)

    def known(self, keys: Sequence[tuple[str, MemoryId]]) -> dict[tuple[str, MemoryId], Known]:
        """Return those memories that exist, by namespace and id."""
        with self._engine.reading() as session:
            names, ids = to_json([name for name, _ in keys]), to_json([id_ for _, id_ in keys])
            found = [Known(name, MemoryId(id_), *said) for name, id_, *said in session.rows(_KNOWN, names, ids)]
            return {(one.namespace, one.id): one for one in found}

    def take_in(self, items: Sequence[Item], *, action: str, actor: str) -> Taken:
        """Store items as they are, in one transaction."""
        memories = [item for item in items if isinstance(item, Kept)]
        buffers = [item for item in items if isinstance(item, KeptBuffer)]
        with self._engine.transaction() as transaction:
            new = fill(transaction, self._unknown(memories), self._now(transaction.memo), action=action, actor=actor)
            new += _fill_buffers(transaction, buffers)
            new += fill_entries(transaction, [one for one in items if not isinstance(one, (Kept, KeptBuffer))])
            memo = transaction.memo
            memo.recent_members, memo.recent_memories = Recent(), Recent()
        return Taken(new, len(items) - new)

    def _unknown(self, memories: Sequence[Kept]) -> list[Kept]:
        """Return the memories that are not there yet, each once."""
        given = {(one.memory.namespace, one.memory.id): one for one in memories}
        known = self.known(list(given)) if given else {}
        for key, there in known.items():
            if given[key].memory.content_hash != there.content_hash:
                raise ConstraintViolation(
                    "a memory of that id is there already and says something else; nothing was changed"
                )
        return [one for key, one in given.items() if key not in known]


def _fill_buffers(transaction: Transaction, buffers: Sequence[KeptBuffer]) -> int:
    session, _, memo = transaction
    new = 0
    for one in buffers:
        if (one.namespace, one.buffer.session, one.buffer.agent) not in memo.buffers:
            ledger.write_buffer(session, memo, one.namespace, one.buffer)
            head = memo.heads.get(one.namespace, Head())
            ledger.advance(memo, one.namespace, head.position, memo.last_at)
            new += 1
    return new
