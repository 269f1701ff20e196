"""Fills the search structures of a namespace from a snapshot of the store; called by `NamespaceIndex.load`."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

from hybrid_memory.retrieval.arrays import ABSENT
from hybrid_memory.retrieval.bm25 import LexicalIndex
from hybrid_memory.retrieval.memory_columns import MemoryColumns
from hybrid_memory.retrieval.vectors import Matrix

if TYPE_CHECKING:
    from hybrid_memory.retrieval.id_columns import IdColumn
    from hybrid_memory.store.base import Snapshot, VectorBatch


def load(snapshot: Snapshot, dimensions: int | None) -> tuple[MemoryColumns, LexicalIndex, Matrix]:
    """Return rows, terms and vectors of all memories of a snapshot; the terms are still to be sorted.

    Vectors are read beside the rest: the store and numpy work mostly without holding the interpreter's lock.
    """
    columns, lexical, matrix = MemoryColumns(snapshot.sessions, snapshot.speakers), LexicalIndex(), Matrix(dimensions)
    count = sum(map(len, snapshot.ids))
    columns.reserve(count)
    columns.ids.reserve(count)
    for ids in snapshot.ids:
        columns.ids.extend(ids)
    matrix.add_rows(len(columns.ids))
    with ThreadPoolExecutor(max_workers=2, thread_name_prefix="vectors") as executor:
        vectors_read = executor.submit(_fill, matrix, columns.ids, snapshot.vectors, executor)
        for batch in snapshot.batches:
            columns.extend(batch)
            lexical.load(batch.terms, batch.term_offsets)
        vectors_read.result()
    return columns, lexical, matrix


def _fill(matrix: Matrix, ids: IdColumn, vectors: Iterable[VectorBatch], executor: ThreadPoolExecutor) -> None:
    """Copy vectors into the matrix, each part while the next is being read."""
    copied: Future[int] | None = None
    for part in vectors:
        place = 0 if copied is None else copied.result()
        copied = executor.submit(_copy, matrix, ids, part, place)
    if copied is not None:
        copied.result()


def _copy(matrix: Matrix, ids: IdColumn, part: VectorBatch, place: int) -> int:
    """Copy a part that should begin with the vector of row ``place``; returns the row of the vector expected next.

    Vectors mostly stand in the order of their memories; then they are copied as they come.
    """
    if ids.starts_with(place, part.ids):
        matrix.fill(place, part.matrix)
        return place + len(part.ids)
    rows = ids.rows(part.ids)
    known = rows != ABSENT
    matrix.scatter(rows[known], part.matrix[known])
    return int(rows[-1]) + 1


def give_back_memory() -> None:
    """Let the system have what was freed. The C library of Linux else keeps much of what loading took for a moment."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
