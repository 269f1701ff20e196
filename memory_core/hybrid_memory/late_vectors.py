"""Vectors for memories that were stored while the model was missing; of several hubs, one gives those of a namespace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hybrid_memory.background import LEASE_SECONDS
from hybrid_memory.rwlock import ReadWriteLock, shared
from hybrid_memory.store.writing import WriteBatch

if TYPE_CHECKING:
    from hybrid_memory.committing import Commits
    from hybrid_memory.model import MemoryId
    from hybrid_memory.retrieval.index import NamespaceIndex
    from hybrid_memory.store.writing import WriteView
    from hybrid_memory.text_encoder import TextEncoder

BATCH = 64  # late vectors in one transaction: a batch of a model that does not hold up other calls for long


class LateVectors:
    """Gives the memories of one service their vectors, a batch at a time. Safe to call from several threads."""

    def __init__(self, commits: Commits, encoder: TextEncoder, lock: ReadWriteLock) -> None:
        self.lock = lock
        self._commits = commits
        self._encoder = encoder

    @shared
    def give(self, namespace: str, limit: int = BATCH) -> int:
        """Give some memories of a namespace their vectors; returns how many got one: none where another hub is at it."""
        index = self._commits.indexes.get(namespace)
        ids = index.without_vector(self._commits.time.now(), limit)
        # Without a model somebody else is to have it.
        if not ids or self._encoder.active() is None:
            return 0
        lease = self._commits.store.lease(f"vectors of {namespace}", LEASE_SECONDS)
        if lease is None:
            return 0
        done = 0
        try:
            done = self._embed(namespace, index, ids)
        finally:
            if done < limit:  # nothing is left to do, or it did not work
                lease.release()
        return done

    def _embed(self, namespace: str, index: NamespaceIndex, ids: Sequence[MemoryId]) -> int:
        vectors = self._encoder.vectors_for(self._commits.store.get(namespace, ids).values())
        if not vectors:
            return 0

        def embed(view: WriteView) -> WriteBatch:
            # Another hub may have erased one meanwhile.
            there = view.get([one.id for one in vectors])
            return WriteBatch(action="embed", actor="late work", vectors=tuple(v for v in vectors if v.id in there))

        self._commits.commit(namespace, None, embed)
        return len(index.vectors_of([one.id for one in vectors]))
