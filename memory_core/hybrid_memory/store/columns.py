"""Builds a `Batch` from memories at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.clock import to_micros
from hybrid_memory.model import Memory, MemoryId, Usage
from hybrid_memory.store.checks import to_object
from hybrid_memory.store.interface import NO_TIME, Batch


def batch_of(
    memories: Sequence[Memory],
    usage: Mapping[MemoryId, Usage],
    vectors: Mapping[MemoryId, NDArray[np.float32]],
    dimensions: int | None,
) -> Batch:
    """Return the columns of ``memories`` in their order; ``dimensions`` None says that the store has no vectors."""
    used = [usage.get(memory.id) for memory in memories]
    has_vector = np.array([memory.id in vectors for memory in memories], np.bool_)
    matrix = None
    if dimensions is not None:
        matrix = np.zeros((len(memories), dimensions), np.float32)
        for row in np.flatnonzero(has_vector).tolist():
            matrix[row] = vectors[memories[row].id]
    return Batch(
        ids=[memory.id for memory in memories],
        tier=[memory.tier.value for memory in memories],
        kind=[memory.kind.value for memory in memories],
        session=[memory.session for memory in memories],
        agent=[memory.agent for memory in memories],
        speaker=[memory.speaker for memory in memories],
        key=[memory.key for memory in memories],
        trust=[memory.trust.value for memory in memories],
        tags=[memory.tags for memory in memories],
        content_hash=[memory.content_hash for memory in memories],
        metadata=[to_object(memory.metadata) if memory.metadata else None for memory in memories],
        superseded_by=[memory.superseded_by for memory in memories],
        pinned=np.array([memory.pinned for memory in memories], np.bool_),
        importance=np.array([memory.importance for memory in memories], np.float64),
        created_at=_micros([memory.created_at for memory in memories]),
        occurred_at=_micros([memory.occurred_at for memory in memories]),
        expires_at=_micros([memory.expires_at for memory in memories]),
        forgotten_at=_micros([memory.forgotten_at for memory in memories]),
        reflected_at=_micros([memory.reflected_at for memory in memories]),
        accessed_at=_micros([use.accessed_at if use else None for use in used]),
        access_count=np.array([use.count if use else 0 for use in used], np.int64),
        term_offsets=offsets([len(memory.terms) for memory in memories]),
        terms=np.array([term for memory in memories for term in memory.terms], np.int32),
        has_vector=has_vector,
        vectors=matrix,
    )


def offsets(lengths: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each of some runs begins in their concatenation, and at the end the whole length."""
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts


def _micros(moments: Sequence[datetime | None]) -> NDArray[np.int64]:
    return np.array([NO_TIME if moment is None else to_micros(moment) for moment in moments], np.int64)
