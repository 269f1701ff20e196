"""The change of the embedder in DuckDB: the candidate's vectors fill a table of their own.

The row of a candidate in ``embedder`` has the negative of its number, so that whoever asks for the embedder (the highest
number) does not see it, an earlier version of this program included. Its table has the number itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from string import Template
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from hybrid_memory.clock import to_micros
from hybrid_memory.errors import ConstraintViolation
from hybrid_memory.model import MemoryId
from hybrid_memory.store.batch import checked_vector
from hybrid_memory.store.duck.sql_session import SqlSession
from hybrid_memory.store.duck.vector_tables import VectorTable
from hybrid_memory.store.duck.writer_cache import PinnedEmbedder, WriterCache
from hybrid_memory.store.embedder_change import MemoryText, NewVector, NextEmbedder, Unembedded
from hybrid_memory.store.encoding import check_text

if TYPE_CHECKING:
    from datetime import datetime

    from numpy.typing import NDArray

    from hybrid_memory.store.base import VectorBatch
    from hybrid_memory.store.duck.engine import Engine, Transaction

Key: TypeAlias = tuple[str, MemoryId]
"""Namespace and id."""

_CANDIDATE = "SELECT -number, identity, dimensions FROM embedder WHERE number < 0"
_NOTE = "INSERT INTO embedder (number, identity, dimensions, pinned_at) VALUES (?, ?, ?, ?)"
_FORGET = "DELETE FROM embedder WHERE number = ?"
_TOTAL = "SELECT count(*) FROM memory"
_DONE = Template("SELECT count(*) FROM vector_$number")
_CREATE = Template("""
    CREATE TABLE vector_$number (
        namespace VARCHAR NOT NULL, id VARCHAR NOT NULL, vec FLOAT[$dimensions] NOT NULL
    )
""")
_DROP = Template("DROP TABLE vector_$number")
_WAITING = Template("""
    SELECT rowid AS place, namespace, id, length(content) FROM memory AS m
    WHERE rowid > ? AND NOT EXISTS (SELECT 1 FROM vector_$number AS v WHERE v.namespace = m.namespace AND v.id = m.id)
    ORDER BY place LIMIT ?
""")
_WORDS = """
    SELECT namespace, id, content, speaker, key FROM memory
    WHERE rowid BETWEEN ? AND ? AND rowid IN (SELECT unnest(from_json(?, '["BIGINT"]')))
"""
_KNOWN = Template("""
    SELECT namespace, id FROM vector_$number SEMI JOIN (
        SELECT unnest(from_json(?, '["VARCHAR"]')) AS namespace, unnest(from_json(?, '["VARCHAR"]')) AS id
    ) USING (namespace, id)
""")
_GATHER = Template("""
    INSERT INTO vector_$number (namespace, id, vec)
    SELECT unnest(from_json(?, '["VARCHAR"]')), unnest(from_json(?, '["VARCHAR"]')),
        unnest(?::VARCHAR::FLOAT[$dimensions][])
""")
_HAS_ORPHANS = Template("""
    SELECT count(*) FROM vector_$number AS v
    WHERE NOT EXISTS (SELECT 1 FROM memory AS m WHERE m.namespace = v.namespace AND m.id = v.id)
""")
_ORPHANS = Template("""
    DELETE FROM vector_$number AS v
    WHERE NOT EXISTS (SELECT 1 FROM memory AS m WHERE m.namespace = v.namespace AND m.id = v.id)
""")


@lru_cache(maxsize=4)
def _row_form(dimensions: int) -> str:
    return "[" + ",".join(["%.9g"] * dimensions) + "]"


def _as_text(vectors: Sequence[NDArray[np.float32]]) -> str:
    """Nine digits give every float32 back exactly; DuckDB binds lists of numbers many times slower than text."""
    return "[" + ",".join(_row_form(len(one)) % tuple(one.tolist()) for one in vectors) + "]"


class NewVectorTable(VectorTable):
    """A vector table while it is filled, or when it goes."""

    __slots__ = ()

    def begin(self, session: SqlSession) -> None:
        """Make the table."""
        session.rows(self._statement(_CREATE))

    def count(self, session: SqlSession) -> int:
        """Return how many vectors there are."""
        return int(session.rows(self._statement(_DONE))[0][0])

    def waiting(self, session: SqlSession, after: int, limit: int) -> Sequence[Unembedded]:
        """Return memories behind a row id that have no vector here."""
        rows = session.rows(self._statement(_WAITING), after, limit)
        return [Unembedded(place, namespace, MemoryId(id_), length) for place, namespace, id_, length in rows]

    def known(self, session: SqlSession, keys: Sequence[Key]) -> set[Key]:
        """Return those of the keys that have a vector."""
        return {(namespace, MemoryId(id_)) for namespace, id_ in session.rows(self._statement(_KNOWN), *_columns(keys))}

    def fill(self, session: SqlSession, vectors: Mapping[Key, NDArray[np.float32]]) -> None:
        """Insert many vectors by one statement, a quarter of the time that one by one would take."""
        if vectors:
            session.change(self._statement(_GATHER), *_columns(list(vectors)), _as_text(list(vectors.values())))

    def remove_orphans(self, session: SqlSession, reads: SqlSession) -> None:
        """Remove vectors whose memory is gone; usually there are none, and looking is what ``reads`` does faster."""
        if reads.rows(self._statement(_HAS_ORPHANS))[0][0]:
            session.change(self._statement(_ORPHANS))

    def drop(self, session: SqlSession) -> None:
        """Remove the table with all that is in it."""
        session.rows(self._statement(_DROP))


class DuckEmbedderChange:
    """The part of `DuckStore` that changes its embedder; see `hybrid_memory.store.embedder_change`."""

    _engine: Engine

    def _now(self, cache: WriterCache) -> datetime:
        raise NotImplementedError

    def candidate(self) -> NextEmbedder | None:
        """Return the embedder whose vectors are being gathered, and how far they have come."""
        with self._engine.snapshot() as session:
            found = _candidate(session)
            if found is None:
                return None
            done = NewVectorTable(found).count(session)
            return NextEmbedder(found.identity, found.dimensions, done, session.rows(_TOTAL)[0][0])

    def begin_reembedding(self, identity: str, dimensions: int) -> None:
        """Gather vectors of this embedder from now on."""
        check_text(identity)
        if dimensions < 1:
            raise ConstraintViolation("an embedder has at least one dimension")
        with self._engine.transaction() as transaction:
            session, reads, cache = transaction
            pinned, found = cache.embedder, _candidate(reads)
            if pinned is None:
                raise ConstraintViolation("the store has no embedder yet that could be replaced; pin one")
            if (pinned.identity, pinned.dimensions) == (identity, dimensions):
                raise ConstraintViolation("the store has this embedder already")
            if found is not None and (found.identity, found.dimensions) == (identity, dimensions):
                return
            number = max(pinned.number, found.number if found else 0) + 1
            _drop(transaction, found)
            NewVectorTable(PinnedEmbedder(number, identity, dimensions)).begin(session)
            session.change(_NOTE, -number, identity, dimensions, to_micros(self._now(cache)))

    def waiting(self, after: int, limit: int) -> Sequence[Unembedded]:
        """Return memories behind a row id that have no vector of the candidate."""
        with self._engine.snapshot() as session:
            return NewVectorTable(_required(session)).waiting(session, after, limit)

    def words(self, places: Sequence[int]) -> Sequence[MemoryText]:
        """Return what the memories with some row ids say; by their span, since a search by id reads the whole table."""
        if not places:
            return []
        with self._engine.reading() as session:
            rows = session.rows(_WORDS, min(places), max(places), json.dumps(list(places)))
            return [MemoryText(namespace, MemoryId(id_), *said) for namespace, id_, *said in rows]

    def gather(self, vectors: Sequence[NewVector]) -> None:
        """Keep vectors of the candidate, in one transaction."""
        with self._engine.transaction() as (session, reads, _):
            found = _required(reads)
            fitting = {(one.namespace, one.id): checked_vector(one.vector, found.dimensions) for one in vectors}
            known = NewVectorTable(found).known(reads, list(fitting))
            NewVectorTable(found).fill(session, {key: vector for key, vector in fitting.items() if key not in known})

    def gathered(self, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, NDArray[np.float32]]:
        """Return the candidate's vectors of those memories that have one."""
        with self._engine.snapshot() as session:
            return NewVectorTable(_required(session)).by_id(session, namespace, ids)

    def all_gathered(self, namespace: str) -> Iterable[VectorBatch]:
        """Return the candidate's vectors of a namespace, read from the file as they are asked for."""
        with self._engine.operation():
            session = self._engine.open_snapshot()
            try:
                spans = NewVectorTable(_required(session)).spans(session, namespace)
            except BaseException:
                session.close()
                raise
            return self._engine.iterate(session, spans)

    def finish_reembedding(self) -> None:
        """Let the candidate be the store's embedder."""
        with self._engine.transaction() as (session, reads, cache):
            found, pinned = _required(reads), cache.embedder
            NewVectorTable(found).remove_orphans(session, reads)
            session.change(_FORGET, -found.number)
            session.change(_NOTE, found.number, found.identity, found.dimensions, to_micros(self._now(cache)))
            if pinned is not None:
                session.change(_FORGET, pinned.number)
                NewVectorTable(pinned).drop(session)
            cache.embedder = found

    def drop_reembedding(self) -> None:
        """Forget the candidate and its vectors."""
        with self._engine.transaction() as transaction:
            _drop(transaction, _candidate(transaction.reads))


def _candidate(session: SqlSession) -> PinnedEmbedder | None:
    row = session.row(_CANDIDATE)
    return PinnedEmbedder(*row) if row else None


def _required(session: SqlSession) -> PinnedEmbedder:
    found = _candidate(session)
    if found is None:
        raise ConstraintViolation("no change of the embedder is under way; begin one")
    return found


def _drop(transaction: Transaction, found: PinnedEmbedder | None) -> None:
    if found is not None:
        transaction.changes.change(_FORGET, -found.number)
        NewVectorTable(found).drop(transaction.changes)


def _columns(keys: Sequence[Key]) -> tuple[str, str]:
    return json.dumps([namespace for namespace, _ in keys]), json.dumps([id_ for _, id_ in keys])
