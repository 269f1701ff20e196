"""`IndexCache`: the search index of each namespace, loaded at first use and kept up to date with the store's log.

`MemoryService` asks `get` in every call and hands each commit to `apply`; `background` uses the rest.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from hybrid_memory.errors import LogTrimmed
from hybrid_memory.retrieval.index import HNSW_FROM, NamespaceIndex
from hybrid_memory.secret_detection.masking import masked_memory

if TYPE_CHECKING:
    from hybrid_memory.model import Memory
    from hybrid_memory.store.base import CommitResult, Store

_PAGE_ENTRIES = 1000  # of the log, read at a time


class IndexCache:
    """One `NamespaceIndex` a namespace, loaded at first use.

    ``dimensions`` gives the length of a vector when an index is made; None means that there are no vectors. ``hnsw_from`` is
    the number of memories above which a namespace gets an approximate index of its vectors. ``shown`` is what a reader may see of a memory.
    """

    def __init__(
        self,
        store: Store,
        dimensions: Callable[[], int | None],
        hnsw_from: int = HNSW_FROM,
        shown: Callable[[Memory], Memory] = masked_memory,
    ) -> None:
        self._store = store
        self._shown = shown
        self._dimensions = dimensions
        self._hnsw_from = hnsw_from
        self._indexes: dict[str, NamespaceIndex] = {}
        self._lock = threading.RLock()

    def get(self, namespace: str) -> NamespaceIndex:
        """Return the index of a namespace, at least as new as the store was when this was called."""
        with self._lock:
            index = self._indexes.get(namespace)
            if index is None:
                index = self._load(namespace)
        if index.head < self._store.head(namespace):
            index = self.catch_up(namespace)
        return index

    def loaded(self) -> dict[str, NamespaceIndex]:
        """Return the indexes that are there, by namespace."""
        with self._lock:
            return dict(self._indexes)

    def size(self) -> int:
        """Return how many memories the indexes that are there hold."""
        return sum(index.size() for index in self.loaded().values())

    def keep_only(self, indexes: Collection[NamespaceIndex]) -> list[NamespaceIndex]:
        """Let all other indexes go and return them, to be closed; one that is needed again is loaded anew."""
        with self._lock:
            dropped = [name for name, index in self._indexes.items() if index not in indexes]
            return [self._indexes.pop(name) for name in dropped]

    def apply(self, namespace: str, written: CommitResult) -> None:
        """Apply a write of this process, or catch up when another came between."""
        if not written.log:
            return
        with self._lock:
            index = self._indexes.get(namespace)
            if index is None:
                return
            if index.head == written.log[0].position - 1:
                index.apply(written.log, written.memories, written.vectors)
            elif index.head < written.position:
                self.catch_up(namespace)

    def catch_up(self, namespace: str) -> NamespaceIndex:
        """Apply what the store's log holds behind the index; reload when the log does not reach back that far."""
        with self._lock:
            index = self._indexes[namespace]
            try:
                while log := self._store.changes(namespace, index.head, _PAGE_ENTRIES):
                    ids = tuple(dict.fromkeys(entry.id for entry in log))
                    index.apply(log, self._store.get(namespace, ids), self._store.vectors(namespace, ids))
            except LogTrimmed:
                return self._load(namespace)
            return index

    def reload(self) -> None:
        """Read each index anew from the store; calls go on with the old one meanwhile, and get one or the other."""
        for namespace, old in self.loaded().items():
            fresh = self._loaded_index(namespace)
            with self._lock:
                if self._indexes.get(namespace) is not old:
                    fresh.close()
                    continue
                self._indexes[namespace] = fresh
                self.catch_up(namespace)
            old.close()

    def close(self) -> None:
        """Stop what runs in the background."""
        with self._lock:
            indexes = list(self._indexes.values())
        for index in indexes:
            index.close()

    def _load(self, namespace: str) -> NamespaceIndex:
        index = self._indexes[namespace] = self._loaded_index(namespace)
        return index

    def _loaded_index(self, namespace: str) -> NamespaceIndex:
        index = NamespaceIndex(
            self._store.hasher,
            self._dimensions(),
            make=self._store.vector_index,
            hnsw_from=self._hnsw_from,
            shown=self._shown,
        )
        index.load(self._store.snapshot(namespace))
        threading.Thread(target=index.sort, name="sort terms", daemon=True).start()
        return index
