"""Makes the search structures of a namespace from a snapshot of the store."""

from __future__ import annotations

import ctypes
from contextlib import suppress
from typing import TYPE_CHECKING

from hybrid_memory.retrieval.growing import NOTHING
from hybrid_memory.retrieval.lexical import LexicalIndex
from hybrid_memory.retrieval.rows import Rows
from hybrid_memory.retrieval.vectors import Matrix

if TYPE_CHECKING:
    from hybrid_memory.store.interface import Snapshot


def load(snapshot: Snapshot, dimensions: int | None) -> tuple[Rows, LexicalIndex, Matrix]:
    """Return rows, terms and vectors of all memories of a snapshot; the terms are still to be sorted."""
    rows, lexical = Rows(snapshot.sessions, snapshot.speakers), LexicalIndex()
    for batch in snapshot.batches:
        rows.extend(batch)
        lexical.load(batch.terms, batch.term_offsets)
    matrix = Matrix(dimensions)
    matrix.add_rows(len(rows))
    place = 0
    for part in snapshot.vectors:
        ids, vectors = part.ids, part.matrix
        # Vectors mostly stand in the order of their memories; then they are copied as they come.
        if rows.ids.starts_with(place, ids):
            matrix.fill(place, vectors)
            place += len(ids)
            continue
        found = rows.ids.rows(ids)
        matrix.scatter(found[found != NOTHING], vectors[found != NOTHING])
        place = int(found[-1]) + 1 if len(found) and found[-1] != NOTHING else place
    return rows, lexical, matrix


def give_back_memory() -> None:
    """Let the system have what was freed. The C library of Linux else keeps much of what loading took for a moment."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
