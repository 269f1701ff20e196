"""The change of the embedder in memory; see `hybrid_memory.store.embedder_change`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from hybrid_memory.errors import ConstraintViolation
from hybrid_memory.store.embedder_change import MemoryText, NewVector, NextEmbedder, Unembedded
from hybrid_memory.store.encoding import check_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.model import Memory, MemoryId
    from hybrid_memory.store.base import VectorBatch

Key = tuple[str, "MemoryId"]


class Held(Protocol):
    """What is needed of a namespace."""

    memories: dict[MemoryId, Memory]
    vectors: dict[MemoryId, NDArray[np.float32]]


@dataclass(slots=True)
class _Next:
    identity: str
    dimensions: int
    vectors: dict[Key, NDArray[np.float32]] = field(default_factory=dict)


class MemoryEmbedderChange:
    """The part of `MemoryStore` that changes its embedder."""

    _embedder: tuple[str, int] | None
    _next: _Next | None = None

    def _held(self) -> Mapping[str, Held]:
        raise NotImplementedError

    def _reading(self) -> AbstractContextManager[None]:
        raise NotImplementedError

    def _writing(self) -> AbstractContextManager[None]:
        raise NotImplementedError

    def candidate(self) -> NextEmbedder | None:
        """Return the embedder whose vectors are being gathered, and how far they have come."""
        with self._reading():
            if self._next is None:
                return None
            total = sum(len(space.memories) for space in self._held().values())
            return NextEmbedder(self._next.identity, self._next.dimensions, len(self._next.vectors), total)

    def begin_reembedding(self, identity: str, dimensions: int) -> None:
        """Gather vectors of this embedder from now on."""
        with self._writing():
            check_text(identity)
            if dimensions < 1:
                raise ConstraintViolation("an embedder has at least one dimension")
            if self._embedder is None:
                raise ConstraintViolation("the store has no embedder yet that could be replaced; pin one")
            if self._embedder == (identity, dimensions):
                raise ConstraintViolation("the store has this embedder already")
            if self._next is None or (self._next.identity, self._next.dimensions) != (identity, dimensions):
                self._next = _Next(identity, dimensions)

    def waiting(self, after: int, limit: int) -> Sequence[Unembedded]:
        """Return memories behind a place that have no vector of the candidate."""
        with self._reading():
            known = self._required().vectors
            found = [
                Unembedded(place, namespace, memory.id, len(memory.content))
                for place, (namespace, memory) in enumerate(self._every())
                if place > after and (namespace, memory.id) not in known
            ]
            return found[:limit]

    def words(self, places: Sequence[int]) -> Sequence[MemoryText]:
        """Return what the memories at some places say."""
        with self._reading():
            every = self._every()
            found = [every[place] for place in places if place < len(every)]
            return [MemoryText(name, one.id, one.content, one.speaker, one.key) for name, one in found]

    def gather(self, vectors: Sequence[NewVector]) -> None:
        """Keep vectors of the candidate."""
        from hybrid_memory.store.batch import checked_vector

        with self._writing():
            held = self._required()
            fitting = {(one.namespace, one.id): checked_vector(one.vector, held.dimensions) for one in vectors}
            held.vectors = fitting | held.vectors

    def gathered(self, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, NDArray[np.float32]]:
        """Return the candidate's vectors of those memories that have one."""
        with self._reading():
            vectors = self._required().vectors
            return {id_: vectors[namespace, id_] for id_ in ids if (namespace, id_) in vectors}

    def all_gathered(self, namespace: str) -> Iterable[VectorBatch]:
        """Return the candidate's vectors of a namespace."""
        import numpy as np

        from hybrid_memory.store.base import VectorBatch
        from hybrid_memory.store.column_batches import pack_ids

        with self._reading():
            found = {id_: vector for (name, id_), vector in self._required().vectors.items() if name == namespace}
        return [VectorBatch(pack_ids(list(found)), np.stack(list(found.values())))] if found else []

    def finish_reembedding(self) -> None:
        """Let the candidate be the store's embedder."""
        with self._writing():
            done = self._required()
            for space in self._held().values():
                space.vectors.clear()
            for (namespace, id_), vector in done.vectors.items():
                if id_ in self._held()[namespace].memories:
                    self._held()[namespace].vectors[id_] = vector
            self._embedder, self._next = (done.identity, done.dimensions), None

    def drop_reembedding(self) -> None:
        """Forget the candidate and its vectors."""
        with self._writing():
            self._next = None

    def _every(self) -> list[tuple[str, Memory]]:
        spaces = sorted(self._held().items())
        return [(namespace, memory) for namespace, space in spaces for memory in space.memories.values()]

    def _required(self) -> _Next:
        if self._next is None:
            raise ConstraintViolation("no change of the embedder is under way; begin one")
        return self._next
