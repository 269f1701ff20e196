"""The interface of a store; `MemoryService` knows nothing else of stores.

The values that go into it and come out are in rooms of their own: `writing`, `snapshots`, `reprocessing`, `other_hubs`, `findings`.

The shape serves one hub over a DuckDB file today and several over one server later: ids are made by the caller, a write is one
call, positions come from the namespace's own counter, and a log that any search structure can follow announces every change.
Times are microseconds since 1970 (UTC) inside the engine and aware datetimes in values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from hybrid_memory.store.writing import PLAIN_CODEC

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.language.terms import TermHasher
    from hybrid_memory.model import Json, Memory, MemoryId, Usage
    from hybrid_memory.requests import Lag, ListRequest
    from hybrid_memory.store.audit_chain import ChainCheck
    from hybrid_memory.store.findings import Report
    from hybrid_memory.store.other_hubs import Follower, Lease, News, OtherHub
    from hybrid_memory.store.readings import ReadingStore
    from hybrid_memory.store.reprocessing import EmbedderChangeStore, ReencodingStore
    from hybrid_memory.store.reviewing import Reason, ReviewRequest
    from hybrid_memory.store.snapshots import Snapshot
    from hybrid_memory.store.transfer import Refusal
    from hybrid_memory.store.writing import (
        BufferState,
        CommitResult,
        Decision,
        LogEntry,
        Prefetch,
        RecordUse,
        RequestKey,
        ResultCodec,
        UndoRecord,
    )


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
    """The log of messages and plans alongside the memories; ``kind`` is "message" or "plan"."""

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
        """Read every row and compare what must agree, alongside other calls.

        ``mark_seen`` lets what happened before, such as a recovery, no longer be told by `info`. ``refusal`` says what an import would not
        take.
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

    def take_over(self) -> None:
        """Take the `hasher` of the store that was put in the place of this one, of which `Follower.on_exchange` told.

        No call may be under way that has encoded words and not yet written them.
        """
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

    def to_review(self, namespaces: Sequence[str], wanted: ReviewRequest) -> Mapping[tuple[str, MemoryId], Reason]:
        """Return the memories that are doubtful, the most pressing first, and why."""
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
        """Return an empty index that lives in memory alongside the store; None where there is none to be had."""
        ...

    def close(self) -> None:
        """Write everything out and let the file go; calling it again does nothing."""
        ...
