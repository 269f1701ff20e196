"""What is done late, a small piece at a time: vectors that had to wait for their model, and the change of the embedder."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from hybrid_memory.embedding.background_embedder import BackgroundEmbedder
from hybrid_memory.reembedding import EmbedderChange
from hybrid_memory.requests import Progress

if TYPE_CHECKING:
    from hybrid_memory.embedding.embedder import Embedder
    from hybrid_memory.retrieval.index_cache import IndexCache
    from hybrid_memory.rwlock import ReadWriteLock
    from hybrid_memory.store.base import Store
    from hybrid_memory.text_encoder import TextEncoder

Backfill = Callable[[str], int]
"""Gives some memories of a namespace their vectors; returns how many."""


class BackgroundJobs:
    """Does late work for one service. Safe in several threads: one works, the others are told that there is nothing to do."""

    def __init__(
        self, store: Store, indexes: IndexCache, encoder: TextEncoder, lock: ReadWriteLock, backfill: Backfill
    ) -> None:
        self._store = store
        self._index_cache = indexes
        self._encoder = encoder
        self._lock = lock
        self._backfill = backfill
        self._busy = threading.Lock()
        self._change: EmbedderChange | None = None
        self._tidy = False

    def step(self) -> bool:
        """Do one small piece, if there is any and nobody else does; returns whether there may be more.

        A missing model is no error here: there is nothing to do then.

        Raises:
            EmbedderUnavailable: the model to change to does not run.
            StoreError: the store cannot be read or written.
        """
        if not self._busy.acquire(blocking=False):
            return False
        try:
            return self._step()
        except BaseException:
            self._change = None
            raise
        finally:
            self._busy.release()

    def reembed(self, embedder: Embedder | None, progress: Callable[[Progress], None] | None) -> Progress:
        """Change the embedder now, to the wanted one when none is named; returns when all is done.

        Raises:
            EmbedderUnavailable: the model cannot be loaded or run.
            StoreError: the store cannot be read or written.
        """
        with self._busy:
            chosen = embedder or self._encoder.wanted
            change = self._begun(chosen.loaded() if isinstance(chosen, BackgroundEmbedder) else chosen)
            self._change = change
            try:
                while change.step():
                    if progress is not None:
                        progress(change.progress())
            finally:
                self._change = None
            return change.progress()

    def progress(self) -> Progress | None:
        """Return how far a change of the embedder has come; also of one that an earlier process began."""
        change = self._change
        candidate = self._store.candidate()
        if candidate is None:
            return None
        speed = 0.0 if change is None else change.progress().per_second
        return Progress(embedder=candidate.identity, done=candidate.done, total=candidate.total, per_second=speed)

    def _step(self) -> bool:
        if self._change is None:
            wish = self._encoder.wish()
            self._change = None if wish is None else self._begun(wish)
        if self._change is not None:
            if not self._change.step():
                self._change = None
            return True
        if self._encoder.active() is None:
            return False
        if not self._tidy and self._encoder.active() is self._encoder.wanted:
            self._tidy = True
            if self._store.candidate() is not None:
                self._store.drop_reembedding()
        return sum(self._backfill(namespace) for namespace in self._index_cache.loaded()) > 0

    def _begun(self, embedder: Embedder) -> EmbedderChange:
        return EmbedderChange(self._store, self._index_cache, self._encoder, self._lock, embedder)
