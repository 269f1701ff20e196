"""What a write is: what a decision may look at, what it has the store do, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.model import Json, Memory, MemoryId, Tier, Usage


class ChangeType(StrEnum):
    """What a log entry announces."""

    INSERT = "put"
    UPDATE = "patch"
    PURGE = "purge"


@dataclass(frozen=True, slots=True)
class RequestKey:
    """Names one request of one relay, so that repeating it cannot write twice."""

    relay: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """One line of the log: the audit record and the announcement of a change in one.

    ``digest`` is the content hash of the memory, empty after it was purged; ``note`` says what changed (`audit_notes`). The log never
    holds text or vectors.
    """

    position: int
    change: ChangeType
    id: MemoryId
    rev: int
    at: datetime
    actor: str
    action: str
    digest: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Insert:
    """A new memory and its unit vector (float32); without a vector it is found by words alone until one follows.

    ``passages`` are the vectors of its passages (`hybrid_memory.embedding.passages`), None where it has none.
    """

    memory: Memory
    vector: NDArray[np.float32] | None = None
    passages: bytes | None = None


@dataclass(frozen=True, slots=True)
class SetTier:
    """A memory changes its tier; the log tells the ``reason``."""

    id: MemoryId
    tier: Tier
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Update:
    """Replaces a memory's changeable fields.

    Left as they are stored: id, namespace, agent, kind, origin, content, terms, content_hash and times of origin.

    ``memory`` is the wished state with the ``rev`` that was read; another ``rev`` in the store raises `ConcurrentModification`.
    ``reason`` is that of a change of its tier.
    """

    memory: Memory
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SetVector:
    """The vector of a memory follows, with its passages: its first one, or one in place of another. The memory's ``rev`` stays."""

    id: MemoryId
    vector: NDArray[np.float32]
    passages: bytes | None = None


@dataclass(frozen=True, slots=True)
class BufferState:
    """The attention buffers of one (session, agent) as text that only the tier rules understand; None removes them."""

    session: str
    agent: str
    state: str | None
    touched_at: datetime


@dataclass(frozen=True, slots=True)
class RecordUse:
    """A memory was recalled ``count`` times, last at ``at``."""

    id: MemoryId
    at: datetime
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoRecord:
    """What undoes a write: ids of memories and the former values of their fields (`hybrid_memory.decisions.undo`), never their content.

    ``action`` is what was done, in a word. The store fills in ``namespace``, ``at`` and ``actor`` when it keeps one.
    """

    id: str
    body: Mapping[str, Json]
    namespace: str = ""
    at: datetime | None = None
    actor: str = ""
    action: str = ""


SWEEP = "sweep"
"""The log's action by which old episodes went: of what stayed here alone, nobody is told."""

KEPT_UNDOS = 500
"""So many acts of a namespace can be undone; older ones are let go when a new one is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteBatch:
    """What one write does; applied together or not at all, in the order inserts, updates, tiers, vectors, uses, removals.

    ``action`` and ``actor`` go into the log. An update, tier or vector of a memory that does not exist raises
    `ConcurrentModification`, an insert of an id that exists raises `ConstraintViolation`; setting the tier that a memory has
    already changes nothing. ``result`` is whatever the caller wants to have back; the store looks at it only to keep it for
    a request with a key. The rows of ``removals`` go, with vectors, usage and answers that name them; no memory that stays may name one.
    ``undo`` is kept for who wants to undo this write, ``undone`` names a kept one that is used up.
    """

    action: str
    actor: str
    inserts: tuple[Insert, ...] = ()
    tier_changes: tuple[SetTier, ...] = ()
    vectors: tuple[SetVector, ...] = ()
    updates: tuple[Update, ...] = ()
    buffers: tuple[BufferState, ...] = ()
    uses: tuple[RecordUse, ...] = ()
    removals: tuple[MemoryId, ...] = ()
    result: Any = None
    undo: UndoRecord | None = None
    undone: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitResult:
    """The outcome of a write.

    ``result`` is that of the batch; where ``replayed`` says that the request had been done before, it is what was kept then.
    ``log`` and ``memories`` (their state after the write, by id), ``vectors`` and ``passages`` are what a search structure must
    apply; they are empty when the request is replayed.
    """

    result: Any
    position: int
    at: datetime
    replayed: bool = False
    log: tuple[LogEntry, ...] = ()
    memories: Mapping[MemoryId, Memory] = field(default_factory=dict)
    vectors: Mapping[MemoryId, NDArray[np.float32]] = field(default_factory=dict)
    passages: Mapping[MemoryId, bytes] = field(default_factory=dict)


class ResultCodec(Protocol):
    """How the result of a request with a key becomes the JSON that is kept for its repeat, and a result again."""

    def encode(self, result: Any) -> Mapping[str, Json]:
        """Return a result as JSON."""
        ...

    def decode(self, stored: Mapping[str, Json]) -> Any:
        """Return the result of which `encode` gave the JSON.

        Raises:
            ConstraintViolation: it is no JSON of this codec's: the request was made for something else.
        """
        ...


class _PlainCodec:
    def encode(self, result: Any) -> Mapping[str, Json]:
        return {} if result is None else dict(result)

    def decode(self, stored: Mapping[str, Json]) -> Any:
        return stored


PLAIN_CODEC: ResultCodec = _PlainCodec()
"""For a result that is a JSON object itself."""


class WriteView(Protocol):
    """What a decision may look at: one moment of one namespace, under its write lock."""

    @property
    def now(self) -> datetime:
        """The store's time of this write, aware, UTC: see `hybrid_memory.clock.never_back`."""
        ...

    @property
    def head(self) -> int:
        """The position of the last change before this write; 0 in a new namespace."""
        ...

    @property
    def embedder(self) -> str | None:
        """The identity of the store's embedder at this moment, None before the first vector; another hub may just have changed it."""
        ...

    def get(self, ids: Iterable[MemoryId]) -> dict[MemoryId, Memory]:
        """Return the memories that exist, by id."""
        ...

    def usage(self, ids: Iterable[MemoryId]) -> dict[MemoryId, Usage]:
        """Return how the memories were used; a memory never recalled is absent."""
        ...

    def vectors(self, ids: Iterable[MemoryId]) -> dict[MemoryId, NDArray[np.float32]]:
        """Return the vectors of those memories that have one."""
        ...

    def passages(self, ids: Iterable[MemoryId]) -> dict[MemoryId, bytes]:
        """Return the passages of those memories that have some."""
        ...

    def members(self, session: str, agent: str, tier: Tier) -> Sequence[Memory]:
        """Return the live memories (not forgotten, not superseded) of a session's agent in a tier, oldest first."""
        ...

    def buffer(self, session: str, agent: str) -> BufferState | None:
        """Return the attention buffers of a session's agent."""
        ...

    def buffers(self) -> Sequence[BufferState]:
        """Return all attention buffers of the namespace."""
        ...

    def changes(self, after: int) -> Sequence[LogEntry]:
        """Return all log entries behind position ``after`` in order."""
        ...

    def undo_record(self, undo: str) -> UndoRecord | None:
        """Return what undoes an act, None where it is not kept any more."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefetch:
    """What a decision is about to ask its view for, so that a store over a network can read it along with taking its lock.

    It binds nobody: what is not named here is read when it is asked for. ``after`` is the position behind which changes are asked for,
    ``ids`` are those of memories, ``buffers`` are session and agent whose buffers are asked for, with the members of sensory memory.
    """

    after: int | None = None
    ids: tuple[MemoryId, ...] = ()
    buffers: tuple[str, str] | None = None


Decision: TypeAlias = Callable[[WriteView], WriteBatch]
"""A pure function of the view; it can run again, and does no embedding, waiting or drawing."""
