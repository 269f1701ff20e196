"""The vector tables, one for each embedder: the only statements that are made at run time, from whole numbers alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from string import Template

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.model import MemoryId
from hybrid_memory.store.checks import to_json
from hybrid_memory.store.duck.memo import Pinned
from hybrid_memory.store.duck.session import Session

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
_PLACES = Template("SELECT rowid AS place, id FROM vector_$number WHERE namespace = ?")
_SPAN_PLACES = Template("SELECT rowid AS place FROM vector_$number WHERE namespace = ? AND rowid BETWEEN ? AND ?")
_SPAN = Template("SELECT unnest(vec) AS part FROM vector_$number WHERE namespace = ? AND rowid BETWEEN ? AND ?")
_SPAN_ROWS = 20_480


@lru_cache(maxsize=4)
def _text_form(dimensions: int) -> str:
    return "[" + ",".join(["%.9g"] * dimensions) + "]"


@dataclass(frozen=True, slots=True)
class VectorTable:
    """The table of one embedder's vectors; it has no key of its own, because each row goes with one of ``memory``."""

    pinned: Pinned

    @property
    def dimensions(self) -> int:
        """The length of its vectors."""
        return self.pinned.dimensions

    def create(self, session: Session, pinned_at: int) -> None:
        """Make the table and note whose it is."""
        session.rows(self._statement(_CREATE))
        session.change(_PIN, self.pinned.number, self.pinned.identity, self.pinned.dimensions, pinned_at)

    def insert(self, session: Session, namespace: str, id_: MemoryId, vector: NDArray[np.float32]) -> None:
        """Insert a vector.

        It is bound as text, because DuckDB 1.5 binds a list of numbers many times slower; nine digits give every
        float32 back exactly.
        """
        session.change(self._statement(_INSERT), namespace, id_, _text_form(len(vector)) % tuple(vector.tolist()))

    def remove(self, session: Session, namespace: str, id_: MemoryId) -> None:
        """Remove a memory's vector, if it has one."""
        session.change(self._statement(_DELETE), namespace, id_)

    def by_id(self, session: Session, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, NDArray[np.float32]]:
        """Return the vectors of those memories that have one."""
        wanted = list(dict.fromkeys(ids))
        if not wanted:
            return {}
        found = session.rows(self._statement(_SELECT), namespace, to_json(wanted))
        return {MemoryId(id_): np.array(vector, np.float32) for id_, vector in found}

    def places(self, session: Session, namespace: str) -> dict[str, int]:
        """Return the row ids of a namespace's vectors by memory; they hold within the session's transaction."""
        found = session.columns(self._statement(_PLACES), namespace)
        return dict(zip(found["id"].tolist(), found["place"].tolist(), strict=True))

    def gather(self, session: Session, namespace: str, places: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return (places, dimensions) vectors by row id, zeros for a negative one.

        Reads spans of row ids, since `unnest` of a span is the fast way out of DuckDB; both statements of a span keep
        the table's order.
        """
        matrix = np.zeros((len(places), self.dimensions), np.float32)
        order = np.argsort(places, kind="stable")
        sorted_places = places[order]
        at = int(np.searchsorted(sorted_places, 0))
        while at < len(order):
            low = int(sorted_places[at])
            high = min(low + _SPAN_ROWS - 1, int(sorted_places[-1]))
            end = int(np.searchsorted(sorted_places, high, side="right"))
            span = session.columns(self._statement(_SPAN_PLACES), namespace, low, high)["place"]
            flat = np.asarray(session.columns(self._statement(_SPAN), namespace, low, high)["part"], np.float32)
            rows = flat.reshape(-1, self.dimensions)
            matrix[order[at:end]] = rows[np.searchsorted(np.asarray(span), sorted_places[at:end])]
            at = end
        return matrix

    def _statement(self, template: Template) -> str:
        return template.substitute(number=int(self.pinned.number), dimensions=int(self.pinned.dimensions))
