"""The vector tables, one for each embedder: the only statements that are made at run time, from whole numbers alone.

The table of the embedder in use is read and written row by row, that of the next one is filled by many rows at once.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import Template
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.embedding.passages import are_sound
from hybrid_memory.model import MemoryId
from hybrid_memory.store.column_batches import finite_vectors, pack_ids, split_ids
from hybrid_memory.store.duck.sql_session import SqlSession
from hybrid_memory.store.duck.writer_cache import PinnedEmbedder
from hybrid_memory.store.encoding import to_json
from hybrid_memory.store.made_anew import Unembedded
from hybrid_memory.store.snapshots import VectorBatch

_CREATE = Template("""
    CREATE TABLE vector_$number (
        namespace VARCHAR NOT NULL, id VARCHAR NOT NULL, vec FLOAT[$dimensions] NOT NULL, passages BLOB
    )
""")
# Values are those of JSON, so that the journal can keep them: bytes are base64.
_INSERT = Template("""
    INSERT INTO vector_$number (namespace, id, vec, passages) VALUES (?, ?, ?::VARCHAR::FLOAT[$dimensions], from_base64(?))
""")
_DELETE = Template("DELETE FROM vector_$number WHERE namespace = ? AND id = ?")
_SELECT = Template("""
    SELECT id, vec FROM vector_$number
    WHERE namespace = ? AND id IN (SELECT unnest(from_json(?, '["VARCHAR"]')))
""")
_PASSAGES = Template("""
    SELECT id, passages FROM vector_$number
    WHERE namespace = ? AND id IN (SELECT unnest(from_json(?, '["VARCHAR"]'))) AND passages IS NOT NULL
""")
_BOUNDS = Template("SELECT min(rowid), max(rowid) FROM vector_$number WHERE namespace = ?")
_SPAN_IDS = Template("""
    SELECT string_agg(id, '' ORDER BY rowid), min(strlen(id)), max(strlen(id)) FROM vector_$number
    WHERE rowid BETWEEN $$2 AND $$3 AND concat(namespace) = $$1
""")
_PLAIN_IDS = Template("SELECT id FROM vector_$number WHERE rowid BETWEEN $$2 AND $$3 AND concat(namespace) = $$1")
_SPAN = Template("""
    SELECT unnest(vec) AS part FROM vector_$number WHERE rowid BETWEEN $$2 AND $$3 AND concat(namespace) = $$1
""")
# The places of those that have some, in the order of the span's other statements.
_SPAN_PASSAGES = Template("""
    SELECT place, passages FROM (
        SELECT row_number() OVER (ORDER BY rowid) - 1 AS place, passages FROM vector_$number
        WHERE rowid BETWEEN $$2 AND $$3 AND concat(namespace) = $$1
    ) WHERE passages IS NOT NULL
""")
_COUNT = Template("SELECT count(*) FROM vector_$number")
_DROP = Template("DROP TABLE vector_$number")
_UNEMBEDDED = Template("""
    SELECT rowid AS place, namespace, id, length(content) FROM memory AS m
    WHERE rowid > ? AND NOT EXISTS (SELECT 1 FROM vector_$number AS v WHERE v.namespace = m.namespace AND v.id = m.id)
    ORDER BY place LIMIT ?
""")
_KNOWN = Template("""
    SELECT namespace, id FROM vector_$number SEMI JOIN (
        SELECT unnest(from_json(?, '["VARCHAR"]')) AS namespace, unnest(from_json(?, '["VARCHAR"]')) AS id
    ) USING (namespace, id)
""")
_INSERT_MANY = Template("""
    INSERT INTO vector_$number (namespace, id, vec, passages)
    SELECT namespace, id, vec, from_base64(passages) FROM (
        SELECT unnest(from_json(?, '["VARCHAR"]')) AS namespace, unnest(from_json(?, '["VARCHAR"]')) AS id,
            unnest(?::VARCHAR::FLOAT[$dimensions][]) AS vec, unnest(from_json(?, '["VARCHAR"]')) AS passages
    )
""")
_HAS_ORPHANS = Template("""
    SELECT count(*) FROM vector_$number AS v
    WHERE NOT EXISTS (SELECT 1 FROM memory AS m WHERE m.namespace = v.namespace AND m.id = v.id)
""")
_ORPHANS = Template("""
    DELETE FROM vector_$number AS v
    WHERE NOT EXISTS (SELECT 1 FROM memory AS m WHERE m.namespace = v.namespace AND m.id = v.id)
""")
_SPAN_ROWS = 10_240  # half a chunk of `snapshot`, because vectors are long; see `VectorTable.spans`

Key: TypeAlias = tuple[str, MemoryId]
"""Namespace and id."""


def _finite(vector: Sequence[float | None], dimensions: int) -> NDArray[np.float32] | None:
    """Return a stored vector, None for one with holes or without end; its memory waits for one then, and gets it."""
    found = np.array(vector, np.float32)  # a hole becomes a number that is none
    return found if found.shape == (dimensions,) and np.isfinite(found).all() else None


@lru_cache(maxsize=4)
def _row_format(dimensions: int) -> str:
    return "[" + ",".join(["%.9g"] * dimensions) + "]"


def _vector_text(vector: NDArray[np.float32]) -> str:
    """Nine digits give every float32 back exactly; DuckDB 1.5 binds lists of numbers many times slower than text."""
    return _row_format(len(vector)) % tuple(vector.tolist())


def passages_text(passages: bytes | None) -> str | None:
    """Return passages as a value of JSON."""
    return None if passages is None else base64.b64encode(passages).decode()


@dataclass(frozen=True, slots=True)
class VectorTable:
    """The table of one embedder's vectors; it has no key of its own, because each row goes with one of ``memory``."""

    pinned: PinnedEmbedder

    @property
    def dimensions(self) -> int:
        """The length of its vectors."""
        return self.pinned.dimensions

    def create(self, session: SqlSession) -> None:
        """Make the table."""
        session.rows(self._statement(_CREATE))

    def insert(
        self,
        session: SqlSession,
        namespace: str,
        id_: MemoryId,
        vector: NDArray[np.float32],
        passages: bytes | None,
    ) -> None:
        """Insert a memory's vector, with those of its passages."""
        session.change(self._statement(_INSERT), namespace, id_, _vector_text(vector), passages_text(passages))

    def remove(self, session: SqlSession, namespace: str, id_: MemoryId) -> None:
        """Remove a memory's vector, if it has one."""
        session.change(self._statement(_DELETE), namespace, id_)

    def by_id(
        self, session: SqlSession, namespace: str, ids: Iterable[MemoryId]
    ) -> dict[MemoryId, NDArray[np.float32]]:
        """Return the vectors of those memories that have one."""
        wanted = list(dict.fromkeys(ids))
        if not wanted:
            return {}
        found = session.rows(self._statement(_SELECT), namespace, to_json(wanted))
        read = ((id_, _finite(vector, self.dimensions)) for id_, vector in found)
        return {MemoryId(id_): vector for id_, vector in read if vector is not None}

    def passages(self, session: SqlSession, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, bytes]:
        """Return the passages of those memories that have some."""
        wanted = list(dict.fromkeys(ids))
        found = session.rows(self._statement(_PASSAGES), namespace, to_json(wanted)) if wanted else ()
        return {MemoryId(id_): passages for id_, passages in found if are_sound(passages, self.dimensions)}

    def spans(self, session: SqlSession, namespace: str) -> Iterator[VectorBatch]:
        """Yield a namespace's vectors, span by span of row ids; the session must be in one transaction meanwhile.

        `unnest` of a span is the fast way out of DuckDB; short spans stay in the processor's cache on their way. All
        statements of a span keep the table's order.
        """
        low, high = session.rows(self._statement(_BOUNDS), namespace)[0]
        if low is None:
            return
        for start in range(low, high + 1, _SPAN_ROWS):
            span = (namespace, start, start + _SPAN_ROWS - 1)
            ids = split_ids(*session.rows(self._statement(_SPAN_IDS), *span)[0])
            if ids is None:
                ids = pack_ids(session.columns(self._statement(_PLAIN_IDS), *span)["id"].tolist())
            if len(ids):
                part = session.columns(self._statement(_SPAN), *span)["part"]
                if hasattr(part, "filled"):  # masked, where a value is missing; `np.ma` is not imported to ask that
                    part = part.filled(np.nan)
                passages: dict[int, bytes] = dict(session.rows(self._statement(_SPAN_PASSAGES), *span))
                yield finite_vectors(ids, np.asarray(part, np.float32).reshape(-1, self.dimensions), passages)

    def count(self, session: SqlSession) -> int:
        """Return how many vectors there are."""
        return int(session.rows(self._statement(_COUNT))[0][0])

    def unembedded(self, session: SqlSession, after: int, limit: int) -> Sequence[Unembedded]:
        """Return memories behind a row id that have no vector here."""
        rows = session.rows(self._statement(_UNEMBEDDED), after, limit)
        return [Unembedded(place, namespace, MemoryId(id_), length) for place, namespace, id_, length in rows]

    def known(self, session: SqlSession, keys: Sequence[Key]) -> set[Key]:
        """Return those of the keys that have a vector."""
        return {(namespace, MemoryId(id_)) for namespace, id_ in session.rows(self._statement(_KNOWN), *_columns(keys))}

    def insert_many(
        self, session: SqlSession, vectors: Mapping[Key, NDArray[np.float32]], passages: Mapping[Key, bytes]
    ) -> None:
        """Insert many vectors by one statement, a quarter of the time that one by one would take."""
        if vectors:
            session.change(
                self._statement(_INSERT_MANY),
                *_columns(list(vectors)),
                "[" + ",".join(map(_vector_text, vectors.values())) + "]",
                json.dumps([passages_text(passages.get(key)) for key in vectors]),
            )

    def remove_orphans(self, session: SqlSession, reads: SqlSession) -> None:
        """Remove vectors whose memory is gone; usually there are none, and looking is what ``reads`` does faster."""
        if reads.rows(self._statement(_HAS_ORPHANS))[0][0]:
            session.change(self._statement(_ORPHANS))

    def drop(self, session: SqlSession) -> None:
        """Remove the table with all that is in it."""
        session.rows(self._statement(_DROP))

    def _statement(self, template: Template) -> str:
        return template.substitute(number=int(self.pinned.number), dimensions=int(self.pinned.dimensions))


def _columns(keys: Sequence[Key]) -> tuple[str, str]:
    return json.dumps([namespace for namespace, _ in keys]), json.dumps([id_ for _, id_ in keys])
