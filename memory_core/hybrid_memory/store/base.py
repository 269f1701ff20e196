"""The interface of a store, and the values that go into and out of it; `MemoryService` knows nothing else of stores.

The shape serves one hub over a DuckDB file today and several over one server later: ids are made by the caller, a write is one
call, positions come from the namespace's own counter, and a log that any search structure can follow announces every change.
Times are microseconds since 1970 (UTC) inside the engine and aware datetimes in values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.model import EncodedWords, Json, Memory, MemoryId, Tier, Usage
    from hybrid_memory.requests import Lag, ListRequest
    from hybrid_memory.store.audit_chain import ChainCheck
    from hybrid_memory.store.readings import ReadingStore
    from hybrid_memory.store.reviewing import ReviewPage, ReviewRequest
    from hybrid_memory.store.transfer import Refusal
    from hybrid_memory.terms import TermHasher


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
    """A new memory and its unit vector (float32); without a vector it is found by words alone until one follows."""

    memory: Memory
    vector: NDArray[np.float32] | None = None


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
    """The vector of a memory follows: its first one, or one in place of another. The memory's ``rev`` stays."""

    id: MemoryId
    vector: NDArray[np.float32]


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


KEPT_UNDOS = 500
"""So many acts of a namespace can be undone; older ones are let go when a new one is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteBatch:
    """What one write does; applied together or not at all, in the order inserts, updates, tiers, vectors, uses.

    ``action`` and ``actor`` go into the log. An update, tier or vector of a memory that does not exist raises
    `ConcurrentModification`, an insert of an id that exists raises `ConstraintViolation`; setting the tier that a memory has
    already changes nothing. ``result`` is whatever the caller wants to have back; the store looks at it only to keep it for
    a request with a key. ``undo`` is kept for who wants to undo this write, ``undone`` names a kept one that is used up.
    """

    action: str
    actor: str
    inserts: tuple[Insert, ...] = ()
    tier_changes: tuple[SetTier, ...] = ()
    vectors: tuple[SetVector, ...] = ()
    updates: tuple[Update, ...] = ()
    buffers: tuple[BufferState, ...] = ()
    uses: tuple[RecordUse, ...] = ()
    result: Any = None
    undo: UndoRecord | None = None
    undone: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitResult:
    """The outcome of a write.

    ``result`` is that of the batch; where ``replayed`` says that the request had been done before, it is what was kept then.
    ``log`` and ``memories`` (their state after the write, by id) and ``vectors`` are what a search structure must apply;
    they are empty when the request is replayed.
    """

    result: Any
    position: int
    at: datetime
    replayed: bool = False
    log: tuple[LogEntry, ...] = ()
    memories: Mapping[MemoryId, Memory] = field(default_factory=dict)
    vectors: Mapping[MemoryId, NDArray[np.float32]] = field(default_factory=dict)


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


NO_LIMIT = 2**62  # stands for no limit of a number of rows or requests
NO_TIME = -(2**63) + 1
"""Stands for no time in columns of microseconds, where a moment before 1970 is a negative number too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnBatch:
    """Columns of some memories, aligned by row, for search structures; content and vectors are not among them.

    ``ids`` are UTF-8, padded with zero bytes. ``tier``, ``kind`` and ``trust`` are places in `Tier`, `Kind` and `TRUST_ORDER`;
    ``session`` and ``speaker`` are places in the snapshot's lists, -1 for no speaker. ``digests`` are the content hashes by
    `hybrid_memory.store.column_batches.digest_of`, (rows, 2). Mappings lead from a row's place in the batch to its value, and hold
    only rows that have one. ``unreadable`` marks rows that are no memories: whatever else stands there is not to be used.
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
    """Some memories' vectors: ``matrix`` is (ids, dimensions) float32. They mostly follow the order of the memories."""

    ids: NDArray[np.bytes_]
    matrix: NDArray[np.float32]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreInfo:
    """What the store is: for status and doctor. ``embedder`` is the pinned embedder's identity, None before the first vector."""

    engine: str
    schema_version: int
    memories: int
    bytes_on_disk: int
    embedder: str | None
    dimensions: int | None
    notices: tuple[str, ...] = ()


class Severity(StrEnum):
    """How bad a finding is: data is damaged, something should be seen to, or it is only worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found, and what to do about it."""

    severity: Severity
    what: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """All findings, the worst first, and how many rows were read of each table."""

    findings: tuple[Finding, ...] = ()
    rows: Mapping[str, int] = field(default_factory=dict)

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return all(finding.severity is Severity.NOTE for finding in self.findings)


def report_of(findings: list[Finding], rows: Mapping[str, int] | None = None) -> Report:
    """Return a report of findings in their order of severity."""
    order = list(Severity)
    return Report(tuple(sorted(findings, key=lambda one: order.index(one.severity))), rows or {})


class VectorIndex(Protocol):
    """Finds about the nearest of very many vectors in memory; errors are those of the store."""

    def add(self, places: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Add vectors under numbers; nothing is ever taken out."""
        ...

    def build(self) -> None:
        """Make the index of what was added, which takes long; what is added later goes into it at once."""
        ...

    def nearest(self, vector: NDArray[np.float32], count: int) -> NDArray[np.int64]:
        """Return the numbers of about the ``count`` vectors with the greatest product."""
        ...

    def close(self) -> None:
        """Stop what is running and give the memory back."""
        ...


@dataclass(frozen=True, slots=True)
class ConversationEntry:
    """One message or plan of the conversation log; ``number`` orders it within its conversation and kind."""

    number: int
    body: Mapping[str, Json]


class ConversationLog(Protocol):
    """The log of messages and plans beside the memories; ``kind`` is "message" or "plan"."""

    def put_entry(
        self, namespace: str, conversation: str, kind: str, body: Mapping[str, Json], number: int | None = None
    ) -> int:
        """Store an entry durably, replacing one of the same number; None takes the next number. Returns the number."""
        ...

    def entries(self, namespace: str, conversation: str, kind: str) -> Sequence[ConversationEntry]:
        """Return the entries of a conversation by rising number."""
        ...

    def remove_entries(self, namespace: str, conversation: str, kind: str) -> int:
        """Remove the entries of a conversation; returns how many there were. Their numbers are not used again."""
        ...


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
    """What a memory's vector is made of."""

    namespace: str
    id: MemoryId
    content: str
    speaker: str | None
    key: str | None


@dataclass(frozen=True, slots=True)
class NewVector:
    """A memory's vector by the next embedder."""

    namespace: str
    id: MemoryId
    vector: NDArray[np.float32]


class EmbedderChangeStore(Protocol):
    """How a store changes its embedder: vectors of the next one are stored beside those in use, then take their place.

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


@dataclass(frozen=True, slots=True)
class News:
    """A part of a namespace's log, in order, with the memories that it names as they are now (not those that were purged since).

    ``vectors`` are those that the memories have.
    """

    log: Sequence[LogEntry]
    memories: Mapping[MemoryId, Memory]
    vectors: Mapping[MemoryId, NDArray[np.float32]]


class Follower(Protocol):
    """Who wants to know what other hubs do to a store: called in a thread of the store's, to which it returns at once."""

    def on_change(self, namespace: str, head: int) -> None:
        """Another hub has written to a namespace: its log now ends at ``head``, or further on."""
        ...

    def on_hint(self, namespace: str, position: int) -> None:
        """Somebody says that a namespace of which `marks` tells has come to a position; whether it is so only its log knows."""
        ...

    def on_exchange(self) -> None:
        """What was read of the store before may be true no more, and no log says why: something was erased, or restored."""
        ...

    def on_embedder(self) -> None:
        """The store has another embedder, and the vectors of that one."""
        ...

    def marks(self) -> Mapping[str, int]:
        """Return up to where each namespace that is held in memory was followed; the log may be shortened behind that."""
        ...


EMBEDDER_LEASE = "embedder"
"""The lease under which a store's embedder is changed: who lost it can change nothing of that any more."""


class Lease(Protocol):
    """The right to do some late work of a store, which one hub at a time has; it is renewed until `release`, or until the hub dies.

    A hub that stood still for longer than its lease may have lost it without knowing. What it then writes as late work is refused by
    the store where doing it twice would do harm.
    """

    @property
    def fence(self) -> int:
        """A number that is greater than that of each former holder."""
        ...

    @property
    def is_held(self) -> bool:
        """Whether it is certain that no other hub has it now."""
        ...

    def release(self) -> None:
        """Let another hub have it at once; calling it again does nothing."""
        ...


@dataclass(frozen=True, slots=True)
class OtherHub:
    """Another hub that serves the same store: its name (that of its machine), its version, and when it was last heard of."""

    name: str
    version: str
    started_at: datetime
    seen_at: datetime


class OwnLease:
    """A lease of a store that no other hub can have open."""

    fence = 1
    is_held = True

    def release(self) -> None:
        """Do nothing."""


class Store(ConversationLog, Protocol):
    """Keeps memories durably, safe in several threads; raises `StoreError` subclasses only, `StoreClosed` after `close`."""

    @property
    def hasher(self) -> TermHasher:
        """What makes the terms of this store's memories and of questions to them, with the secret key of the store."""
        ...

    @property
    def embedder_change(self) -> EmbedderChangeStore:
        """The part of the store that changes its embedder."""
        ...

    @property
    def reencoding(self) -> ReencodingStore:
        """The part of the store that brings what is known of words up to date."""
        ...

    @property
    def readings(self) -> ReadingStore:
        """The part of the store that keeps the journal of readings."""
        ...

    def info(self) -> StoreInfo:
        """Return what the store is and holds."""
        ...

    def check(self, *, mark_seen: bool = False, refusal: Refusal | None = None) -> Report:
        """Read every row and compare what must agree, beside other calls.

        ``mark_seen`` lets what happened before, such as a recovery, no longer be told by `info`. ``refusal`` says what an import would not
        take.
        """
        ...

    def count_named(self, entries: Collection[int]) -> tuple[int, int]:
        """Return how many memories of all namespaces are live, and how many of them have some of the ``entries`` in ``names``.

        Live is what is neither forgotten nor superseded.
        """
        ...

    def namespaces(self) -> Sequence[str]:
        """Return the names of all namespaces that hold anything."""
        ...

    def pin_embedder(self, identity: str, dimensions: int) -> bool:
        """Pin the embedder of a store that has none; return whether vectors of ``identity`` may be stored here."""
        ...

    def embedder(self) -> tuple[str, int] | None:
        """Return identity and dimensions of the pinned embedder; None before the first vector. It costs little, unlike `info`."""
        ...

    def head(self, namespace: str) -> int:
        """Return the position of the last change of a namespace that is known here; 0 if it has none.

        Own writes are known at once, those of other hubs as soon as word of them came (`follow`).
        """
        ...

    def follow(self, follower: Follower) -> Callable[[], None]:
        """Tell ``follower`` from now on what other hubs do; returns what stops that. A store that has one hub has nothing to tell."""
        ...

    def behind_seconds(self) -> float:
        """Return how long ago it was last certain that `head` knows what other hubs wrote; 0 where there are none."""
        ...

    def lag(self, marks: Mapping[str, int]) -> Lag | None:
        """Return how far whoever has followed each namespace up to its mark is behind; None where no other hub can write.

        The store is not asked: it is what is known here.
        """
        ...

    def offline_seconds(self) -> float | None:
        """Return how old that is by which reads are answered while the database is away; None where the store itself answers."""
        ...

    def lease(self, name: str, seconds: float) -> Lease | None:
        """Take the lease ``name``, which others get ``seconds`` after this process died; None while another hub has it.

        It costs little while that one has it: the store is not asked again until it could have ended. Where there are no other hubs
        it is always granted. What was taken is taken again by the same process.
        """
        ...

    def connection_counts(self) -> Mapping[str, int]:
        """Return how many connections to a server there are, by their state, and callers that wait for one; nothing without a server."""
        ...

    def other_hubs(self) -> Sequence[OtherHub]:
        """Return the other hubs that serve this store at this moment, by their names."""
        ...

    def last_write(self) -> datetime | None:
        """Return the time of the last change of any namespace, None in a new store; it can lie ahead of a clock that was wrong."""
        ...

    def snapshot(self, namespace: str) -> Snapshot:
        """Return head and rows of one consistent moment."""
        ...

    def changes(self, namespace: str, after: int, limit: int = 1000) -> Sequence[LogEntry]:
        """Return log entries behind ``after`` in order.

        Raises:
            LogTrimmed: the log was trimmed past ``after``.
        """
        ...

    def news(self, namespace: str, after: int, limit: int = 1000) -> News:
        """Return log entries behind ``after``, and what they are about: what a search structure needs to follow.

        Raises:
            LogTrimmed: the log was trimmed past ``after``.
        """
        ...

    def history(self, namespace: str, ids: Iterable[MemoryId]) -> Sequence[LogEntry]:
        """Return all log entries of some memories in order, trimmed ones included."""
        ...

    def check_log(self, namespace: str) -> ChainCheck:
        """Follow the chain of a namespace's log from its first entry to its head (`audit_chain`)."""
        ...

    def get(self, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, Memory]:
        """Return the memories that exist in this namespace, by id, forgotten ones included."""
        ...

    def list_memories(
        self, namespaces: Sequence[str], wanted: ListRequest, now: datetime
    ) -> tuple[Sequence[tuple[str, MemoryId]], int]:
        """Return namespace and id of the memories of one page of a list, and how many all pages hold.

        Those written last come first; of one moment those stored last.
        """
        ...

    def ids_beginning(self, namespaces: Sequence[str], beginning: str, limit: int) -> Sequence[MemoryId]:
        """Return at most so many ids of memories, in whatever state, that begin with a text; sorted."""
        ...

    def linked_to(
        self, namespaces: Sequence[str], ids: Collection[MemoryId], limit: int
    ) -> Sequence[tuple[str, MemoryId]]:
        """Return namespace and id of memories that name one of some ids, whatever for, those written last first.

        That is as what they supersede, are superseded by, repeat, dispute, or are made of.
        """
        ...

    def vectors(self, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, NDArray[np.float32]]:
        """Return the vectors of those memories that have one."""
        ...

    def usage(self, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, Usage]:
        """Return how the memories were used."""
        ...

    def used_by_others(self, namespace: str, since: datetime) -> Mapping[MemoryId, Usage]:
        """Return the usage of memories that were recalled since a moment, where another hub may have counted that; no log tells it."""
        ...

    def buffer(self, namespace: str, session: str, agent: str) -> BufferState | None:
        """Return the attention buffers of a session's agent, without a write transaction; None if there are none."""
        ...

    def write(
        self,
        namespace: str,
        key: RequestKey | None,
        decide: Decision,
        codec: ResultCodec = PLAIN_CODEC,
        *,
        alone: bool = False,
        prefetch: Prefetch | None = None,
    ) -> CommitResult:
        """Let ``decide`` look, then do what it says, in one transaction; durable when this returns.

        A store may do several writes in one transaction, and their decisions in one thread. ``alone`` says that what ``decide`` sees must
        be committed already, since it hands that on, or compares it with what does not know the other writes yet. ``prefetch`` is what
        it is likely to ask for.

        The transaction looks whether ``key`` was seen before, and that alone decides: if so, the stored result is returned
        without calling ``decide``. Only for a key does ``codec`` make JSON of the result.
        An exception raised by ``decide`` passes through and nothing is changed.
        """
        ...

    def touch(self, namespace: str, uses: Sequence[RecordUse]) -> None:
        """Add to the usage statistics; unknown ids are ignored. Announces nothing."""
        ...

    def result(self, namespace: str, key: RequestKey) -> Mapping[str, Json] | None:
        """Return the stored result of a request in a namespace, None if it was never done there.

        That a request is new is known without asking the database, so this can be asked before any work is done for it.
        """
        ...

    def acknowledge(self, relay: str, up_to: int | None) -> None:
        """Forget the stored results of a relay up to and including a number, None for all."""
        ...

    def forget_results(self, before: datetime) -> None:
        """Forget the stored results of requests that were made before a moment, whoever made them."""
        ...

    def to_review(self, namespaces: Sequence[str], wanted: ReviewRequest) -> ReviewPage:
        """Return one page of the memories that a person may want to look at, and why."""
        ...

    def with_terms(
        self, namespaces: Sequence[str], terms: Collection[int], now: datetime, limit: int
    ) -> Sequence[tuple[str, MemoryId]]:
        """Return namespace and id of the newest current memories that have one of some terms."""
        ...

    def undo_records(self, namespaces: Sequence[str], limit: int, undo: str | None = None) -> Sequence[UndoRecord]:
        """Return what undoes the newest acts, or the one of an id in each namespace that it touched; the newest first."""
        ...

    def trim(self, namespace: str, before: int) -> None:
        """Let `changes` no longer reach behind position ``before``; the audit stays."""
        ...

    def vector_index(self, dimensions: int) -> VectorIndex | None:
        """Return an empty index that lives in memory beside the store; None where there is none to be had."""
        ...

    def close(self) -> None:
        """Write everything out and let the file go; calling it again does nothing."""
        ...
