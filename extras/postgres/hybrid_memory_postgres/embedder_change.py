"""The change of the embedder: the next embedder's vectors appear next to those in use, under its number.

The row of the next embedder in ``embedder`` has the negative of its number, so that whoever asks for the embedder (the highest number) does
not see it. A change of the rows of ``embedder`` waits for all writes that are under way in any hub, and lets none begin until it is
done: which vectors a write stores is known from its beginning to its end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from hybrid_memory.clock import to_micros
from hybrid_memory.errors import ConstraintViolation
from hybrid_memory.model import MemoryId
from hybrid_memory.store.batch import checked_passages, checked_vector
from hybrid_memory.store.encoding import check_text
from hybrid_memory.store.reprocessing import MemoryText, NewVector, NextEmbedder, Unembedded
from hybrid_memory_postgres.connections import EVERYTHING
from hybrid_memory_postgres.repeating import again, repeated
from hybrid_memory_postgres.vector_table import (
    PinnedEmbedder,
    add_vectors,
    passages_by_id,
    pinned_embedder,
    vectors_by_id,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.clock import Clock
    from hybrid_memory.store.snapshots import VectorBatch
    from hybrid_memory_postgres.connections import Connections
    from hybrid_memory_postgres.sql_session import PgSession

_NEXT = "SELECT -number, identity, dimensions FROM embedder WHERE number < 0"
# The row stays as long as this transaction: a switch waits for it.
_NEXT_KEPT = "SELECT -number, identity, dimensions FROM embedder WHERE number < 0 FOR KEY SHARE"
_NO_WRITES = "LOCK TABLE namespace IN EXCLUSIVE MODE"
_ONE_AT_A_TIME = "LOCK TABLE embedder IN SHARE ROW EXCLUSIVE MODE"
_INSERT = "INSERT INTO embedder (number, identity, dimensions, pinned_at) VALUES ($1, $2, $3, $4)"
_DELETE = "DELETE FROM embedder WHERE number = $1"
_DELETE_VECTORS = "DELETE FROM vector WHERE embedder = $1"
# In parts, so that none of them holds anybody up; what a crash leaves behind goes when the next change begins.
_DELETE_LEFT = """
    DELETE FROM vector WHERE (embedder, namespace, id) IN (
        SELECT embedder, namespace, id FROM vector WHERE NOT embedder = ANY (SELECT abs(number) FROM embedder) LIMIT $1
    )
"""
_LEFT = "SELECT EXISTS (SELECT 1 FROM vector WHERE NOT embedder = ANY (SELECT abs(number) FROM embedder))"
_ORPHANS = """
    DELETE FROM vector WHERE embedder = $1
        AND NOT EXISTS (SELECT 1 FROM memory WHERE memory.namespace = vector.namespace AND memory.id = vector.id)
"""
_PROGRESS = "SELECT (SELECT count(*) FROM vector WHERE embedder = $1), (SELECT count(*) FROM memory)"
# By the index of places, whatever the planner believes of a table that it has not looked at yet.
_IN_ORDER = "SELECT set_config('enable_sort', 'off', true)"
_UNEMBEDDED = """
    SELECT place, namespace, id, length(content) FROM memory
    WHERE place > $1 AND NOT EXISTS (
        SELECT 1 FROM vector WHERE vector.embedder = $2 AND vector.namespace = memory.namespace AND vector.id = memory.id
    )
    ORDER BY place LIMIT $3
"""
_TEXTS = """
    SELECT namespace, id, content, speaker, key, speaker IS NOT NULL AND occurred_at IS NOT NULL FROM memory
    WHERE place = ANY ($1::bigint[])
"""
_PART_ROWS = 5_000


class PostgresEmbedderChange:
    """The part of `PostgresStore` that changes its embedder; see `hybrid_memory.store.reprocessing`."""

    def __init__(
        self, connections: Connections, clock: Clock, guard: Callable[[PgSession], None] = lambda _: None
    ) -> None:
        self.connections = connections
        self._clock = clock
        self._guard = guard  # raises in the transaction of a hub that has lost the lease of this work

    @repeated
    def next_embedder(self) -> NextEmbedder | None:
        """Return the embedder whose vectors are being added, and how far they have come."""
        with self.connections.snapshot(EVERYTHING) as session:
            found = _next_embedder(session)
            if found is None:
                return None
            done, total = session.rows(_PROGRESS, found.number)[0]
            return NextEmbedder(found.identity, found.dimensions, done, total)

    @repeated
    def begin(self, identity: str, dimensions: int) -> None:
        """Take vectors of this embedder from now on; of several hubs that begin the same at once, one does."""
        check_text(identity)
        if dimensions < 1:
            raise ConstraintViolation("an embedder has at least one dimension")
        with self.connections.transaction(EVERYTHING) as session:
            self._guard(session)
            session.send(_ONE_AT_A_TIME)
            pinned, found = pinned_embedder(session), _next_embedder(session)
            if pinned is None:
                raise ConstraintViolation("the store has no embedder yet that could be replaced; pin one")
            if (pinned.identity, pinned.dimensions) == (identity, dimensions):
                raise ConstraintViolation("the store has this embedder already")
            if found is not None and (found.identity, found.dimensions) == (identity, dimensions):
                return
            number = max(pinned.number, found.number if found else 0) + 1
            _drop(session, found)
            session.send(_DELETE_VECTORS, number)  # left by a change that a crash cut off
            session.send(_INSERT, -number, identity, dimensions, to_micros(self._clock.now()))
        self._delete_left()

    @repeated
    def unembedded(self, after: int, limit: int) -> Sequence[Unembedded]:
        """Return memories behind a place that have no vector of the next embedder."""
        with self.connections.snapshot(EVERYTHING) as session:
            session.send(_IN_ORDER)
            rows = session.rows(_UNEMBEDDED, after, _required(session).number, limit)
        return [Unembedded(place, namespace, MemoryId(id_), length) for place, namespace, id_, length in rows]

    @repeated
    def texts_at(self, places: Sequence[int]) -> Sequence[MemoryText]:
        """Return what the memories at some places say."""
        if not places:
            return []
        with self.connections.reading(EVERYTHING) as session:
            rows = session.rows(_TEXTS, list(places))
        return [MemoryText(namespace, MemoryId(id_), *text) for namespace, id_, *text in rows]

    @repeated
    def add_vectors(self, vectors: Sequence[NewVector]) -> None:
        """Keep vectors of the next embedder, in one transaction."""
        with self.connections.transaction(EVERYTHING) as session:
            self._guard(session)
            found = _required(session, _NEXT_KEPT)
            given = {(one.namespace, one.id): checked_vector(one.vector, found.dimensions) for one in vectors}
            passages = {
                (one.namespace, one.id): checked_passages(one.passages, found.dimensions)
                for one in vectors
                if one.passages is not None
            }
            add_vectors(session, found.number, given, passages)

    @repeated
    def vectors(self, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, NDArray[np.float32]]:
        """Return the next embedder's vectors of those memories that have one."""
        with self.connections.snapshot([namespace]) as session:
            return vectors_by_id(session, _required(session), namespace, ids)

    @repeated
    def passages(self, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, bytes]:
        """Return the passages by the next embedder of those memories that have some."""
        with self.connections.snapshot([namespace]) as session:
            return passages_by_id(session, _required(session), namespace, ids)

    @repeated
    def all_vectors(self, namespace: str) -> Iterable[VectorBatch]:
        """Return the next embedder's vectors of a namespace, read from the server as they are asked for."""
        from hybrid_memory_postgres.snapshot import read_vectors

        return read_vectors(self.connections, namespace, _required)

    def finish(self) -> None:
        """Let the next embedder be the store's; the former one's vectors go then, while everybody works on."""
        tried: list[PinnedEmbedder] = []
        again(lambda: self._finish(tried), self.connections.wait_seconds)
        again(self._delete_left, self.connections.wait_seconds)

    def _finish(self, tried: list[PinnedEmbedder]) -> None:
        with self.connections.transaction(EVERYTHING) as session:
            self._guard(session)
            session.send(_NO_WRITES)
            session.send(_ONE_AT_A_TIME)
            pinned = pinned_embedder(session)
            if pinned is not None and pinned in tried:
                return  # the COMMIT of an earlier try was done and not answered
            found = _required(session)
            tried.append(found)
            session.send(_ORPHANS, found.number)
            session.send(_DELETE, -found.number)
            if pinned is not None:
                session.send(_DELETE, pinned.number)
            session.send(_INSERT, found.number, found.identity, found.dimensions, to_micros(self._clock.now()))

    @repeated
    def cancel(self) -> None:
        """Forget the next embedder and its vectors."""
        with self.connections.transaction(EVERYTHING) as session:
            self._guard(session)
            session.send(_ONE_AT_A_TIME)
            _drop(session, _next_embedder(session))

    def _delete_left(self) -> None:
        """Delete the vectors of embedders that are none any more."""
        with self.connections.reading(EVERYTHING) as reading:
            if not reading.rows(_LEFT)[0][0]:
                return
        while True:
            with self.connections.transaction(EVERYTHING) as session:
                if session.change(_DELETE_LEFT, _PART_ROWS) < _PART_ROWS:
                    return


def _next_embedder(session: PgSession, statement: str = _NEXT) -> PinnedEmbedder | None:
    row = session.row(statement)
    return PinnedEmbedder(*row) if row else None


def _required(session: PgSession, statement: str = _NEXT) -> PinnedEmbedder:
    found = _next_embedder(session, statement)
    if found is None:
        raise ConstraintViolation("no change of the embedder is under way; begin one")
    return found


def _drop(session: PgSession, found: PinnedEmbedder | None) -> None:
    if found is not None:
        session.send(_DELETE, -found.number)
        session.send(_DELETE_VECTORS, found.number)
