"""The vector tables, one for each embedder: the only statements that are made at run time, from whole numbers alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from string import Template

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.model import MemoryId
from hybrid_memory.store.base import VectorBatch
from hybrid_memory.store.column_batches import pack_ids
from hybrid_memory.store.duck.snapshot import split_joined
from hybrid_memory.store.duck.sql_session import SqlSession
from hybrid_memory.store.duck.writer_cache import PinnedEmbedder
from hybrid_memory.store.encoding import to_json

_CREATE = Template("""
    CREATE TABLE vector_$number (
        namespace VARCHAR NOT NULL, id VARCHAR NOT NULL, vec FLOAT[$dimensions] NOT NULL
    )
""")
_PIN = "INSERT INTO embedder (number, identity, dimensions, pinned_at) VALUES (?, ?, ?, ?)"
_INSERT = Template("INSERT INTO vector_$number (namespace, id, vec) VALUES (?, ?, ?::VARCHAR::FLOAT[$dimensions])")
_DELETE = Template("DELETE FROM vector_$number WHERE namespace = ? AND id = ?")
_SELECT = Template("""
    SELECT id, vec FROM vector_$number
    WHERE namespace = ? AND id IN (SELECT unnest(from_json(?, '["VARCHAR"]')))
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
_SPAN_ROWS = 10_240


@lru_cache(maxsize=4)
def _text_form(dimensions: int) -> str:
    return "[" + ",".join(["%.9g"] * dimensions) + "]"


@dataclass(frozen=True, slots=True)
class VectorTable:
    """The table of one embedder's vectors; it has no key of its own, because each row goes with one of ``memory``."""

    pinned: PinnedEmbedder

    @property
    def dimensions(self) -> int:
        """The length of its vectors."""
        return self.pinned.dimensions

    def create(self, session: SqlSession, pinned_at: int) -> None:
        """Make the table and note whose it is."""
        session.rows(self._statement(_CREATE))
        session.change(_PIN, self.pinned.number, self.pinned.identity, self.pinned.dimensions, pinned_at)

    def insert(self, session: SqlSession, namespace: str, id_: MemoryId, vector: NDArray[np.float32]) -> None:
        """Insert a vector.

        It is bound as text, because DuckDB 1.5 binds a list of numbers many times slower; nine digits give every
        float32 back exactly.
        """
        session.change(self._statement(_INSERT), namespace, id_, _text_form(len(vector)) % tuple(vector.tolist()))

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
        return {MemoryId(id_): np.array(vector, np.float32) for id_, vector in found}

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
            ids = split_joined(session.rows(self._statement(_SPAN_IDS), *span)[0])
            if ids is None:
                ids = pack_ids(session.columns(self._statement(_PLAIN_IDS), *span)["id"].tolist())
            if len(ids):
                flat = np.asarray(session.columns(self._statement(_SPAN), *span)["part"], np.float32)
                yield VectorBatch(ids, flat.reshape(-1, self.dimensions))

    def _statement(self, template: Template) -> str:
        return template.substitute(number=int(self.pinned.number), dimensions=int(self.pinned.dimensions))
