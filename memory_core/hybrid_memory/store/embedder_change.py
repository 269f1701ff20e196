"""How a store changes its embedder: vectors of the next one are gathered beside those in use, then take their place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.model import MemoryId
    from hybrid_memory.store.base import VectorBatch


@dataclass(frozen=True, slots=True)
class NextEmbedder:
    """The embedder that is to take over, and how far its vectors have come: ``done`` of ``total`` memories."""

    identity: str
    dimensions: int
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A memory that has no vector of the candidate yet. ``place`` orders the walk; ``length`` is that of its words."""

    place: int
    namespace: str
    id: MemoryId
    length: int


@dataclass(frozen=True, slots=True)
class MemoryText:
    """What a memory's vector is made of."""

    namespace: str
    id: MemoryId
    content: str
    speaker: str | None
    key: str | None


@dataclass(frozen=True, slots=True)
class NewVector:
    """A memory's vector by the candidate."""

    namespace: str
    id: MemoryId
    vector: NDArray[np.float32]


class EmbedderChangeStore(Protocol):
    """The part of a store that changes its embedder.

    Until `finish_reembedding` nothing else sees any of it: reads, writes and `info` go on with the pinned embedder. What was
    gathered survives a crash. A memory's words never change, so a vector that is there is right.
    """

    def candidate(self) -> NextEmbedder | None:
        """Return the embedder whose vectors are being gathered, None when none are."""
        ...

    def begin_reembedding(self, identity: str, dimensions: int) -> None:
        """Gather vectors of this embedder from now on; those gathered before are kept if they are its own, else dropped.

        Raises:
            ConstraintViolation: no embedder is pinned yet, or it is this one.
        """
        ...

    def waiting(self, after: int, limit: int) -> Sequence[Unembedded]:
        """Return memories behind the place ``after`` that have no vector of the candidate, by rising place.

        Places may move when the store is tidied: a walk that reached the end says nothing about what came in since.
        """
        ...

    def words(self, places: Sequence[int]) -> Sequence[MemoryText]:
        """Return what the memories at some places say; a memory that has moved meanwhile is left out."""
        ...

    def gather(self, vectors: Sequence[NewVector]) -> None:
        """Keep vectors of the candidate, in one transaction; a memory that has one already keeps that."""
        ...

    def gathered(self, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, NDArray[np.float32]]:
        """Return the candidate's vectors of those memories that have one."""
        ...

    def all_gathered(self, namespace: str) -> Iterable[VectorBatch]:
        """Return the candidate's vectors of a namespace as they were at this moment; they are read once."""
        ...

    def finish_reembedding(self) -> None:
        """Let the candidate be the store's embedder, and drop the former one's vectors, in one transaction.

        Raises:
            ConstraintViolation: there is no candidate.
        """
        ...

    def drop_reembedding(self) -> None:
        """Forget the candidate and its vectors; does nothing when there is none."""
        ...
