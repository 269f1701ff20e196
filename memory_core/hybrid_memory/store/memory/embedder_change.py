"""The change of the embedder of a store in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from hybrid_memory.errors import ConstraintViolation
from hybrid_memory.model import Memory, MemoryId
from hybrid_memory.store.encoding import check_text
from hybrid_memory.store.memory.data import NextVectors, StoreData
from hybrid_memory.store.reprocessing import MemoryText, NewVector, NextEmbedder, Unembedded
from hybrid_memory.store.snapshots import VectorBatch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class MemoryEmbedderChange:
    """The part of `MemoryStore` that changes its embedder; see `hybrid_memory.store.reprocessing.EmbedderChangeStore`."""

    def __init__(self, data: StoreData) -> None:
        self._data = data
        self._next: NextVectors | None = None

    def next_embedder(self) -> NextEmbedder | None:
        """Return the embedder whose vectors are being added, and how far they have come."""
        with self._data.reading():
            if self._next is None:
                return None
            total = sum(len(records.memories) for records in self._data.namespaces.values())
            return NextEmbedder(self._next.identity, self._next.dimensions, len(self._next.vectors), total)

    def begin(self, identity: str, dimensions: int) -> None:
        """Take vectors of this embedder from now on."""
        with self._data.writing():
            check_text(identity)
            if dimensions < 1:
                raise ConstraintViolation("an embedder has at least one dimension")
            if self._data.embedder is None:
                raise ConstraintViolation("the store has no embedder yet that could be replaced; pin one")
            if self._data.embedder == (identity, dimensions):
                raise ConstraintViolation("the store has this embedder already")
            if self._next is None or (self._next.identity, self._next.dimensions) != (identity, dimensions):
                self._next = NextVectors(identity, dimensions)

    def unembedded(self, after: int, limit: int) -> Sequence[Unembedded]:
        """Return memories behind a place that have no vector of the next embedder."""
        with self._data.reading():
            known = self._required().vectors
            found = [
                Unembedded(place, namespace, memory.id, len(memory.content))
                for place, (namespace, memory) in enumerate(self._all_memories())
                if place > after and (namespace, memory.id) not in known
            ]
            return found[:limit]

    def texts_at(self, places: Sequence[int]) -> Sequence[MemoryText]:
        """Return what the memories at some places say."""
        with self._data.reading():
            every = self._all_memories()
            found = [every[place] for place in places if place < len(every)]
            return [MemoryText(name, one.id, one.content, one.speaker, one.key, one.is_turn) for name, one in found]

    def add_vectors(self, vectors: Sequence[NewVector]) -> None:
        """Keep vectors of the next embedder."""
        from hybrid_memory.store.batch import checked_passages, checked_vector

        with self._data.writing():
            next_embedder = self._required()
            dimensions = next_embedder.dimensions
            for one in vectors:
                key = one.namespace, one.id
                vector = checked_vector(one.vector, dimensions)
                passages = None if one.passages is None else checked_passages(one.passages, dimensions)
                if key not in next_embedder.vectors:
                    next_embedder.vectors[key] = vector
                    if passages is not None:
                        next_embedder.passages[key] = passages

    def vectors(self, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, NDArray[np.float32]]:
        """Return the next embedder's vectors of those memories that have one."""
        with self._data.reading():
            vectors = self._required().vectors
            return {id_: vectors[namespace, id_] for id_ in ids if (namespace, id_) in vectors}

    def passages(self, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, bytes]:
        """Return the passages by the next embedder of those memories that have some."""
        with self._data.reading():
            passages = self._required().passages
            return {id_: passages[namespace, id_] for id_ in ids if (namespace, id_) in passages}

    def all_vectors(self, namespace: str) -> Iterable[VectorBatch]:
        """Return the next embedder's vectors of a namespace."""
        import numpy as np

        from hybrid_memory.store.column_batches import pack_ids

        with self._data.reading():
            target = self._required()
            found = {id_: vector for (name, id_), vector in target.vectors.items() if name == namespace}
            stored = [target.passages.get((namespace, id_)) for id_ in found]
        passages = {place: one for place, one in enumerate(stored) if one is not None}
        return [VectorBatch(pack_ids(list(found)), np.stack(list(found.values())), passages)] if found else []

    def finish(self) -> None:
        """Let the next embedder be the store's."""
        with self._data.writing():
            done = self._required()
            for records in self._data.namespaces.values():
                records.vectors.clear()
                records.passages.clear()
            for (namespace, id_), vector in done.vectors.items():
                if id_ in self._data.namespaces[namespace].memories:
                    self._data.namespaces[namespace].vectors[id_] = vector
            for (namespace, id_), passages in done.passages.items():
                if id_ in self._data.namespaces[namespace].memories:
                    self._data.namespaces[namespace].passages[id_] = passages
            self._data.embedder, self._next = (done.identity, done.dimensions), None

    def cancel(self) -> None:
        """Forget the next embedder and its vectors."""
        with self._data.writing():
            self._next = None

    def _all_memories(self) -> list[tuple[str, Memory]]:
        namespaces = sorted(self._data.namespaces.items())
        return [(namespace, memory) for namespace, records in namespaces for memory in records.memories.values()]

    def _required(self) -> NextVectors:
        if self._next is None:
            raise ConstraintViolation("no change of the embedder is under way; begin one")
        return self._next
