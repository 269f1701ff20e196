"""What is made again behind calls, a piece at a time: the vectors of another embedder, the words of another encoding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.model import EncodedWords, MemoryId
    from hybrid_memory.store.snapshots import VectorBatch


@dataclass(frozen=True, slots=True)
class NextEmbedder:
    """The embedder that is to take over, and how far its vectors have come: ``done`` of ``total`` memories."""

    identity: str
    dimensions: int
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A memory that has no vector of the next embedder yet. ``place`` orders the walk; ``length`` is that of its content."""

    place: int
    namespace: str
    id: MemoryId
    length: int


@dataclass(frozen=True, slots=True)
class MemoryText:
    """What a memory's vector is made of; ``is_turn`` as `Memory.is_turn`."""

    namespace: str
    id: MemoryId
    content: str
    speaker: str | None
    key: str | None
    is_turn: bool


@dataclass(frozen=True, slots=True)
class NewVector:
    """A memory's vector by the next embedder, and those of its passages as they are stored."""

    namespace: str
    id: MemoryId
    vector: NDArray[np.float32]
    passages: bytes | None = None


class EmbedderChangeStore(Protocol):
    """How a store changes its embedder: vectors of the next one are stored alongside those in use, then take their place.

    Until `finish` nothing else sees any of it: reads, writes and `Store.info` go on with the pinned embedder. What was
    added survives a crash. A memory's content never changes, so a vector that is there is right.
    """

    def next_embedder(self) -> NextEmbedder | None:
        """Return the embedder whose vectors are being added, None when there is no change under way."""
        ...

    def begin(self, identity: str, dimensions: int) -> None:
        """Take vectors of this embedder from now on; those added before are kept if they are its own, else dropped.

        Raises:
            ConstraintViolation: no embedder is pinned yet, or it is this one.
        """
        ...

    def unembedded(self, after: int, limit: int) -> Sequence[Unembedded]:
        """Return memories behind the place ``after`` that have no vector of the next embedder, by rising place.

        Places may move when the store is tidied: a walk that reached the end says nothing about what came in since.
        """
        ...

    def texts_at(self, places: Sequence[int]) -> Sequence[MemoryText]:
        """Return what the memories at some places say; a memory that has moved meanwhile is left out."""
        ...

    def add_vectors(self, vectors: Sequence[NewVector]) -> None:
        """Keep vectors of the next embedder, in one transaction; a memory that has one already keeps that."""
        ...

    def vectors(self, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, NDArray[np.float32]]:
        """Return the next embedder's vectors of those memories that have one."""
        ...

    def passages(self, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, bytes]:
        """Return the passages by the next embedder of those memories that have some."""
        ...

    def all_vectors(self, namespace: str) -> Iterable[VectorBatch]:
        """Return the next embedder's vectors of a namespace as they are at this moment; they are read once."""
        ...

    def finish(self) -> None:
        """Let the next embedder be the store's, and drop the former one's vectors, in one transaction.

        Raises:
            ConstraintViolation: there is no next embedder.
        """
        ...

    def cancel(self) -> None:
        """Forget the next embedder and its vectors; does nothing when there is none."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OutdatedWords:
    """A memory of which an earlier version made terms, names and days, with what they are made of.

    ``place`` orders the walk; it changes when the memory is stored again. ``when`` is the time that its words are relative to.
    """

    place: int
    namespace: str
    id: MemoryId
    content: str
    speaker: str | None
    key: str | None
    when: datetime


class ReencodingStore(Protocol):
    """How a store gets the terms, names and days that this version makes; nothing is announced, since no memory says anything else."""

    def count(self, encoding: int) -> int:
        """Return how many memories there are whose words an earlier version than ``encoding`` has encoded."""
        ...

    def outdated(self, encoding: int, limit: int) -> Sequence[OutdatedWords]:
        """Return memories, the oldest places first, whose words an earlier version than ``encoding`` has encoded."""
        ...

    def replace(self, encoded: Sequence[tuple[OutdatedWords, EncodedWords]]) -> None:
        """Store what was made of the words of memories, in one transaction; one that is gone or has moved is passed over."""
        ...
