"""All memories of a namespace at one moment, as columns: what search structures are loaded from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.model import Json, MemoryId


NO_LIMIT = 2**62  # stands for no limit of a number of rows or requests


NO_TIME = -(2**63) + 1
"""Stands for no time in columns of microseconds, where a moment before 1970 is a negative number too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnBatch:
    """Columns of some memories, aligned by row, for search structures; content and vectors are not among them.

    ``ids`` are UTF-8, padded with zero bytes. ``tier``, ``kind`` and ``trust`` are places in `Tier`, `Kind` and `TRUST_ORDER`;
    ``session`` and ``speaker`` are places in the snapshot's lists, -1 for no speaker. ``digests`` are the content hashes by
    `hybrid_memory.store.column_batches.digest_of`, (rows, 2). Mappings lead from a row's place in the batch to its value, and hold
    only rows that have one. ``unreadable`` marks rows that are no memories: whatever else is there is not to be used.
    ``*_at`` arrays hold int64 microseconds, `NO_TIME` for none. ``terms`` is flat; row i owns
    ``terms[term_offsets[i]:term_offsets[i + 1]]``; ``names`` and ``days`` are like it. ``aspects`` are the bits of `Memory.aspects`.
    """

    ids: NDArray[np.bytes_]
    unreadable: NDArray[np.bool_]
    tier: NDArray[np.int8]
    kind: NDArray[np.int8]
    trust: NDArray[np.int8]
    session: NDArray[np.int32]
    speaker: NDArray[np.int32]
    digests: NDArray[np.uint64]
    key: Mapping[int, str]
    tags: Mapping[int, tuple[str, ...]]
    metadata: Mapping[int, Mapping[str, Json]]
    superseded_by: Mapping[int, MemoryId]
    disputes: Mapping[int, MemoryId]
    pinned: NDArray[np.bool_]
    aspects: NDArray[np.int32]
    importance: NDArray[np.float64]
    created_at: NDArray[np.int64]
    occurred_at: NDArray[np.int64]
    expires_at: NDArray[np.int64]
    forgotten_at: NDArray[np.int64]
    reflected_at: NDArray[np.int64]
    accessed_at: NDArray[np.int64]
    access_count: NDArray[np.int64]
    term_offsets: NDArray[np.int64]
    terms: NDArray[np.int32]
    name_offsets: NDArray[np.int64]
    names: NDArray[np.int32]
    day_offsets: NDArray[np.int64]
    days: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class VectorBatch:
    """Some memories' vectors: ``matrix`` is (ids, dimensions) float32. They mostly follow the order of the memories.

    ``passages`` leads from a memory's place in ``ids`` to its passages (`hybrid_memory.embedding.passages`), where it has some.
    """

    ids: NDArray[np.bytes_]
    matrix: NDArray[np.float32]
    passages: Mapping[int, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """All memories of a namespace at one moment, forgotten ones included.

    ``ids`` are those of the batches, in their order. ``batches`` and ``vectors`` (of the memories that have one) are read
    once each, in two threads if one likes.
    """

    namespace: str
    head: int
    ids: Sequence[NDArray[np.bytes_]]
    sessions: Sequence[str]
    speakers: Sequence[str]
    batches: Iterable[ColumnBatch]
    vectors: Iterable[VectorBatch]
