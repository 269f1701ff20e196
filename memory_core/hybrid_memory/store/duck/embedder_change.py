"""The change of the embedder in DuckDB: the next embedder's vectors fill a table of their own.

The row of the next embedder in ``embedder`` has the negative of its number, so that whoever asks for the embedder (the highest
number) does not see it, an earlier version of this program included. Its table has the number itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from hybrid_memory.errors import ConstraintViolation
from hybrid_memory.model import MemoryId
from hybrid_memory.store.batch import checked_passages, checked_vector
from hybrid_memory.store.duck import tables
from hybrid_memory.store.duck.sql_session import SqlSession
from hybrid_memory.store.duck.vector_tables import VectorTable
from hybrid_memory.store.duck.writer_cache import PinnedEmbedder
from hybrid_memory.store.encoding import check_text
from hybrid_memory.store.reprocessing import MemoryText, NewVector, NextEmbedder, Unembedded

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.clock import Clock
    from hybrid_memory.store.duck.engine import Engine, Transaction
    from hybrid_memory.store.snapshots import VectorBatch

_NEXT_EMBEDDER = "SELECT -number, identity, dimensions FROM embedder WHERE number < 0"
_DELETE = "DELETE FROM embedder WHERE number = ?"
_TOTAL = "SELECT count(*) FROM memory"
_TEXTS = """
    SELECT namespace, id, content, speaker, key, speaker IS NOT NULL AND occurred_at IS NOT NULL FROM memory
    WHERE rowid BETWEEN ? AND ? AND rowid IN (SELECT unnest(from_json(?, '["BIGINT"]')))
"""


class DuckEmbedderChange:
    """The part of `DuckStore` that changes its embedder; see `hybrid_memory.store.reprocessing`."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock

    def next_embedder(self) -> NextEmbedder | None:
        """Return the embedder whose vectors are being added, and how far they have come."""
        with self._engine.snapshot() as session:
            found = _next_embedder(session)
            if found is None:
                return None
            done = VectorTable(found).count(session)
            return NextEmbedder(found.identity, found.dimensions, done, session.rows(_TOTAL)[0][0])

    def begin(self, identity: str, dimensions: int) -> None:
        """Take vectors of this embedder from now on."""
        check_text(identity)
        if dimensions < 1:
            raise ConstraintViolation("an embedder has at least one dimension")
        with self._engine.transaction() as transaction:
            session, reads, cache = transaction
            pinned, found = cache.embedder, _next_embedder(reads)
            if pinned is None:
                raise ConstraintViolation("the store has no embedder yet that could be replaced; pin one")
            if (pinned.identity, pinned.dimensions) == (identity, dimensions):
                raise ConstraintViolation("the store has this embedder already")
            if found is not None and (found.identity, found.dimensions) == (identity, dimensions):
                return
            number = max(pinned.number, found.number if found else 0) + 1
            _drop(transaction, found)
            VectorTable(PinnedEmbedder(number, identity, dimensions)).create(session)
            hidden = PinnedEmbedder(-number, identity, dimensions)
            tables.insert_embedder(session, hidden, cache.write_time(self._clock))

    def unembedded(self, after: int, limit: int) -> Sequence[Unembedded]:
        """Return memories behind a row id that have no vector of the next embedder."""
        with self._engine.snapshot() as session:
            return VectorTable(_required(session)).unembedded(session, after, limit)

    def texts_at(self, places: Sequence[int]) -> Sequence[MemoryText]:
        """Return what the memories with some row ids say; by their span, since a search by id reads the whole table."""
        if not places:
            return []
        with self._engine.reading() as session:
            rows = session.rows(_TEXTS, min(places), max(places), json.dumps(list(places)))
            return [MemoryText(namespace, MemoryId(id_), *text) for namespace, id_, *text in rows]

    def add_vectors(self, vectors: Sequence[NewVector]) -> None:
        """Keep vectors of the next embedder, in one transaction."""
        with self._engine.transaction() as (session, reads, _):
            found = _required(reads)
            given = {(one.namespace, one.id): checked_vector(one.vector, found.dimensions) for one in vectors}
            passages = {
                (one.namespace, one.id): checked_passages(one.passages, found.dimensions)
                for one in vectors
                if one.passages is not None
            }
            known = VectorTable(found).known(reads, list(given))
            new = {key: vector for key, vector in given.items() if key not in known}
            VectorTable(found).insert_many(session, new, passages)

    def vectors(self, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, NDArray[np.float32]]:
        """Return the next embedder's vectors of those memories that have one."""
        with self._engine.snapshot() as session:
            return VectorTable(_required(session)).by_id(session, namespace, ids)

    def passages(self, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, bytes]:
        """Return the passages by the next embedder of those memories that have some."""
        with self._engine.snapshot() as session:
            return VectorTable(_required(session)).passages(session, namespace, ids)

    def all_vectors(self, namespace: str) -> Iterable[VectorBatch]:
        """Return the next embedder's vectors of a namespace, read from the file as they are asked for."""
        with self._engine.operation():
            session = self._engine.open_snapshot()
            try:
                spans = VectorTable(_required(session)).spans(session, namespace)
            except BaseException:
                session.close()
                raise
            return self._engine.iterate(session, spans)

    def finish(self) -> None:
        """Let the next embedder be the store's."""
        with self._engine.transaction() as (session, reads, cache):
            found, pinned = _required(reads), cache.embedder
            VectorTable(found).remove_orphans(session, reads)
            session.change(_DELETE, -found.number)
            tables.insert_embedder(session, found, cache.write_time(self._clock))
            if pinned is not None:
                session.change(_DELETE, pinned.number)
                VectorTable(pinned).drop(session)
            cache.embedder = found

    def cancel(self) -> None:
        """Forget the next embedder and its vectors."""
        with self._engine.transaction() as transaction:
            _drop(transaction, _next_embedder(transaction.reads))


def _next_embedder(session: SqlSession) -> PinnedEmbedder | None:
    row = session.row(_NEXT_EMBEDDER)
    return PinnedEmbedder(*row) if row else None


def _required(session: SqlSession) -> PinnedEmbedder:
    found = _next_embedder(session)
    if found is None:
        raise ConstraintViolation("no change of the embedder is under way; begin one")
    return found


def _drop(transaction: Transaction, found: PinnedEmbedder | None) -> None:
    if found is not None:
        transaction.changes.change(_DELETE, -found.number)
        VectorTable(found).drop(transaction.changes)
