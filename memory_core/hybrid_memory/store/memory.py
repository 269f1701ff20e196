"""`MemoryStore`: a whole store in the memory of this process, for tests and for what nobody needs to keep."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

from hybrid_memory.clock import Clock, RandomSource, SystemRandomSource, never_back
from hybrid_memory.errors import ConstraintViolation, LogTrimmed, StoreClosed
from hybrid_memory.model import EncodedWords, Json, Memory, MemoryId, Tier, Usage
from hybrid_memory.requests import MemoryState
from hybrid_memory.store.audit_chain import SALT_BYTES, ChainCheck, ChainedEntry, LogHead, chained, check_chain
from hybrid_memory.store.base import (
    KEPT_UNDOS,
    NO_LIMIT,
    PLAIN_CODEC,
    BufferState,
    CommitResult,
    ConversationEntry,
    Decision,
    Finding,
    Follower,
    Lease,
    LogEntry,
    MemoryText,
    News,
    NewVector,
    NextEmbedder,
    OtherHub,
    OutdatedWords,
    OwnLease,
    Prefetch,
    RecordUse,
    Report,
    RequestKey,
    ResultCodec,
    Severity,
    Snapshot,
    StoreInfo,
    UndoRecord,
    Unembedded,
    VectorBatch,
    VectorIndex,
    WriteBatch,
)
from hybrid_memory.store.batch import is_member
from hybrid_memory.store.encoding import check_moment, check_number, check_text, from_json, object_to_json
from hybrid_memory.store.listing import is_listed, state_of
from hybrid_memory.store.reviewing import Reason, ReviewPage, ReviewRequest, reasons_of
from hybrid_memory.terms import KEY_BITS, TermHasher

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.requests import Lag, ListRequest
    from hybrid_memory.store.batch import ChangeSet
    from hybrid_memory.store.readings import Reading
    from hybrid_memory.store.transfer import Refusal

_Value = TypeVar("_Value")


@dataclass(slots=True)
class _Namespace:
    """One namespace."""

    name: str = ""
    memories: dict[MemoryId, Memory] = field(default_factory=dict)
    vectors: dict[MemoryId, NDArray[np.float32]] = field(default_factory=dict)
    usage: dict[MemoryId, Usage] = field(default_factory=dict)
    buffers: dict[tuple[str, str], BufferState] = field(default_factory=dict)
    log: list[LogEntry] = field(default_factory=list)
    chain: list[ChainedEntry] = field(default_factory=list)
    trimmed_before: int = 0
    undos: dict[str, UndoRecord] = field(default_factory=dict)

    @property
    def head(self) -> int:
        return len(self.log)

    def changes_after(self, after: int) -> list[LogEntry]:
        if after + 1 < self.trimmed_before:
            raise LogTrimmed("the change log no longer reaches back that far; load a snapshot")
        return self.log[max(after, 0) :]


@dataclass(slots=True)
class _Entries:
    """One conversation's entries of one kind."""

    last: int = 0
    bodies: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _StoredRequest:
    """What a request led to."""

    namespace: str
    result: str
    position: int
    at: datetime


class _MemoryWriteView:
    """One moment of one namespace; see `hybrid_memory.store.base.WriteView`."""

    def __init__(self, records: _Namespace, now: datetime, embedder: str | None) -> None:
        self._records = records
        self._now = now
        self._embedder = embedder

    @property
    def now(self) -> datetime:
        return self._now

    @property
    def head(self) -> int:
        return self._records.head

    @property
    def embedder(self) -> str | None:
        return self._embedder

    def get(self, ids: Iterable[MemoryId]) -> dict[MemoryId, Memory]:
        return _existing(self._records.memories, ids)

    def usage(self, ids: Iterable[MemoryId]) -> dict[MemoryId, Usage]:
        return _existing(self._records.usage, ids)

    def vectors(self, ids: Iterable[MemoryId]) -> dict[MemoryId, NDArray[np.float32]]:
        return _existing(self._records.vectors, ids)

    def members(self, session: str, agent: str, tier: Tier) -> Sequence[Memory]:
        memories = self._records.memories.values()
        found = [one for one in memories if is_member(one, session, agent, tier)]
        return sorted(found, key=lambda memory: memory.created_at)

    def buffer(self, session: str, agent: str) -> BufferState | None:
        return self._records.buffers.get((session, agent))

    def buffers(self) -> Sequence[BufferState]:
        return [self._records.buffers[key] for key in sorted(self._records.buffers)]

    def changes(self, after: int) -> Sequence[LogEntry]:
        return self._records.changes_after(after)

    def undo_record(self, undo: str) -> UndoRecord | None:
        return self._records.undos.get(undo)


@dataclass(slots=True)
class _NextEmbedder:
    """An embedder that is to take over, and its vectors by namespace and id."""

    identity: str
    dimensions: int
    vectors: dict[tuple[str, MemoryId], NDArray[np.float32]] = field(default_factory=dict)


class _Data:
    """What the store holds, and who may use it when: the store and its embedder change share it."""

    def __init__(self) -> None:
        self.embedder: tuple[str, int] | None = None
        self.namespaces: dict[str, _Namespace] = {}
        self.deciding = False
        self.closed = False
        self.lock = threading.RLock()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold the lock of a store that is open.

        Raises:
            StoreClosed: it is closed.
        """
        with self.lock:
            if self.closed:
                raise StoreClosed("the memory store is closed; open it again")
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        """As `reading`, for a change.

        Raises:
            ConstraintViolation: a decision of this thread is running.
        """
        with self.reading():
            if self.deciding:
                raise ConstraintViolation("a decision cannot write; give the changes back as its result")
            yield


class MemoryEmbedderChange:
    """The part of `MemoryStore` that changes its embedder; see `hybrid_memory.store.base.EmbedderChangeStore`."""

    def __init__(self, data: _Data) -> None:
        self._data = data
        self._next: _NextEmbedder | None = None

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
                self._next = _NextEmbedder(identity, dimensions)

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
            return [MemoryText(name, one.id, one.content, one.speaker, one.key) for name, one in found]

    def add_vectors(self, vectors: Sequence[NewVector]) -> None:
        """Keep vectors of the next embedder."""
        from hybrid_memory.store.batch import checked_vector

        with self._data.writing():
            next_embedder = self._required()
            dimensions = next_embedder.dimensions
            given = {(one.namespace, one.id): checked_vector(one.vector, dimensions) for one in vectors}
            next_embedder.vectors = given | next_embedder.vectors

    def vectors(self, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, NDArray[np.float32]]:
        """Return the next embedder's vectors of those memories that have one."""
        with self._data.reading():
            vectors = self._required().vectors
            return {id_: vectors[namespace, id_] for id_ in ids if (namespace, id_) in vectors}

    def all_vectors(self, namespace: str) -> Iterable[VectorBatch]:
        """Return the next embedder's vectors of a namespace."""
        import numpy as np

        from hybrid_memory.store.column_batches import pack_ids

        with self._data.reading():
            found = {id_: vector for (name, id_), vector in self._required().vectors.items() if name == namespace}
        return [VectorBatch(pack_ids(list(found)), np.stack(list(found.values())))] if found else []

    def finish(self) -> None:
        """Let the next embedder be the store's."""
        with self._data.writing():
            done = self._required()
            for records in self._data.namespaces.values():
                records.vectors.clear()
            for (namespace, id_), vector in done.vectors.items():
                if id_ in self._data.namespaces[namespace].memories:
                    self._data.namespaces[namespace].vectors[id_] = vector
            self._data.embedder, self._next = (done.identity, done.dimensions), None

    def cancel(self) -> None:
        """Forget the next embedder and its vectors."""
        with self._data.writing():
            self._next = None

    def _all_memories(self) -> list[tuple[str, Memory]]:
        namespaces = sorted(self._data.namespaces.items())
        return [(namespace, memory) for namespace, records in namespaces for memory in records.memories.values()]

    def _required(self) -> _NextEmbedder:
        if self._next is None:
            raise ConstraintViolation("no change of the embedder is under way; begin one")
        return self._next


class MemoryReencoding:
    """The part of `MemoryStore` that has terms, names and days made anew; see `hybrid_memory.store.base.ReencodingStore`."""

    def __init__(self, data: _Data) -> None:
        self._data = data

    def count(self, encoding: int) -> int:
        """Return how many memories there are whose words an earlier version has encoded."""
        with self._data.reading():
            namespaces = self._data.namespaces.values()
            return sum(one.encoding < encoding for records in namespaces for one in records.memories.values())

    def outdated(self, encoding: int, limit: int) -> Sequence[OutdatedWords]:
        """Return memories whose words an earlier version has encoded."""
        with self._data.reading():
            memories = [one for records in self._data.namespaces.values() for one in records.memories.values()]
            return [
                OutdatedWords(
                    place=place,
                    namespace=one.namespace,
                    id=one.id,
                    content=one.content,
                    speaker=one.speaker,
                    key=one.key,
                    when=one.occurred_at or one.created_at,
                )
                for place, one in enumerate(memories)
                if one.encoding < encoding
            ][:limit]

    def replace(self, encoded: Sequence[tuple[OutdatedWords, EncodedWords]]) -> None:
        """Store what was made of the words of memories, in one transaction."""
        with self._data.writing():
            for old, new in encoded:
                memories = self._data.namespaces[old.namespace].memories
                if old.id in memories:
                    memories[old.id] = replace(
                        memories[old.id],
                        terms=new.terms,
                        names=new.names,
                        days=new.days,
                        aspects=new.aspects,
                        encoding=new.encoding,
                    )


class MemoryReadings:
    """The journal of readings of a `MemoryStore`; see `hybrid_memory.store.readings.ReadingStore`."""

    def __init__(self, data: _Data) -> None:
        self._data = data
        self._kept: list[Reading] = []
        self._last = 0

    def add(self, readings: Sequence[Reading], *, keep: int, since: datetime) -> None:
        """Store readings, and let those go that are too many or too old."""
        check_moment(since, *(one.at for one in readings))
        with self._data.writing():
            added = [replace(one, number=self._last + at) for at, one in enumerate(readings, 1)]
            self._last += len(added)
            kept = [*self._kept, *added][-keep:] if keep > 0 else []
            self._kept = [one for one in kept if one.at >= since]

    def latest(self, namespaces: Sequence[str] | None = None) -> list[Reading]:
        """Return the readings of some namespaces, the latest first."""
        with self._data.reading():
            return [one for one in reversed(self._kept) if namespaces is None or one.namespace in namespaces]


class MemoryStore:
    """Keeps memories in this process only; see `hybrid_memory.store.base.Store` for what each method does.

    ``random_source`` gives the key of its terms; it is the machine's when not given. ``before_decide``, where set, runs in
    `write` after the call was accepted and before the decision looks. It may itself write: that is how a test lets another
    writer's changes arrive at the worst moment.
    """

    def __init__(self, clock: Clock, random_source: RandomSource | None = None) -> None:
        self.hasher = TermHasher((random_source or SystemRandomSource()).bits(KEY_BITS))
        self.before_decide: Callable[[], None] | None = None
        self._clock = clock
        self._data = _Data()
        self.embedder_change = MemoryEmbedderChange(self._data)
        self.reencoding = MemoryReencoding(self._data)
        self.readings = MemoryReadings(self._data)
        self._last_at: datetime | None = None
        self._requests: dict[RequestKey, _StoredRequest] = {}
        self._entries: dict[tuple[str, str, str], _Entries] = {}

    def info(self) -> StoreInfo:
        """Return what the store is and holds."""
        with self._data.reading():
            identity, dimensions = self._data.embedder or (None, None)
            return StoreInfo(
                engine="memory",
                schema_version=0,
                memories=sum(len(records.memories) for records in self._data.namespaces.values()),
                bytes_on_disk=0,
                embedder=identity,
                dimensions=dimensions,
            )

    def check(self, *, mark_seen: bool = False, refusal: Refusal | None = None) -> Report:
        """Return that there is nothing to check."""
        del mark_seen, refusal
        return Report((Finding(Severity.NOTE, "this store keeps nothing on the disk"),))

    def count_named(self, entries: Collection[int]) -> tuple[int, int]:
        """Return how many memories are neither forgotten nor superseded, and how many of them have some ``names``."""
        with self._data.reading():
            live = [
                frozenset(one.names)
                for records in self._data.namespaces.values()
                for one in records.memories.values()
                if one.forgotten_at is None and one.superseded_by is None
            ]
            return len(live), sum(not names.isdisjoint(entries) for names in live)

    def namespaces(self) -> Sequence[str]:
        """Return the names of all namespaces that hold anything, sorted."""
        with self._data.reading():
            names = {name for name, records in self._data.namespaces.items() if records.head or records.buffers}
            return sorted(names | {name for (name, _, _), entries in self._entries.items() if entries.bodies})

    def pin_embedder(self, identity: str, dimensions: int) -> bool:
        """Pin the embedder of a store that has none; return whether its vectors may be stored."""
        with self._data.writing():
            check_text(identity)
            if dimensions < 1:
                raise ConstraintViolation("an embedder has at least one dimension")
            if self._data.embedder is None:
                self._data.embedder = (identity, dimensions)
            return self._data.embedder == (identity, dimensions)

    def embedder(self) -> tuple[str, int] | None:
        """Return identity and dimensions of the pinned embedder."""
        with self._data.reading():
            return self._data.embedder

    def follow(self, follower: Follower) -> Callable[[], None]:
        """Tell nothing: this process has it to itself."""
        del follower
        return lambda: None

    def behind_seconds(self) -> float:
        """Return 0: nobody else writes."""
        return 0.0

    def lag(self, marks: Mapping[str, int]) -> Lag | None:
        """Return None: nobody else writes."""
        del marks
        return None

    def offline_seconds(self) -> float | None:
        """Return None: it is never away."""
        return None

    def head(self, namespace: str) -> int:
        """Return the position of the last change of a namespace."""
        with self._data.reading():
            return self._namespace(namespace).head

    def lease(self, name: str, seconds: float) -> Lease:
        """Grant it: there are no other hubs."""
        del name, seconds
        return OwnLease()

    def connection_counts(self) -> Mapping[str, int]:
        """Return nothing: there is no server."""
        return {}

    def other_hubs(self) -> Sequence[OtherHub]:
        """Return nothing: there are none."""
        return ()

    def last_write(self) -> datetime | None:
        """Return the time of the last change of any namespace."""
        with self._data.reading():
            return self._last_at

    def snapshot(self, namespace: str) -> Snapshot:
        """Return head and rows of this moment."""
        with self._data.reading():
            records = self._namespace(namespace)
            copies = dict(records.memories), dict(records.vectors), dict(records.usage)
            head = records.head
        from hybrid_memory.store.column_batches import build_snapshot

        return build_snapshot(namespace, head, *copies)

    def changes(self, namespace: str, after: int, limit: int = 1000) -> Sequence[LogEntry]:
        """Return log entries behind ``after``; raises `LogTrimmed`."""
        with self._data.reading():
            return self._namespace(namespace).changes_after(after)[: max(limit, 0)]

    def news(self, namespace: str, after: int, limit: int = 1000) -> News:
        """Return log entries behind ``after``, and what they are about; raises `LogTrimmed`."""
        log = self.changes(namespace, after, limit)
        ids = tuple(dict.fromkeys(entry.id for entry in log))
        return News(log, self.get(namespace, ids), self.vectors(namespace, ids))

    def history(self, namespace: str, ids: Iterable[MemoryId]) -> Sequence[LogEntry]:
        """Return all log entries of some memories in order."""
        wanted = frozenset(ids)
        with self._data.reading():
            return [entry for entry in self._namespace(namespace).log if entry.id in wanted]

    def check_log(self, namespace: str) -> ChainCheck:
        """Follow the chain of a namespace's log."""
        with self._data.reading():
            chain = self._namespace(namespace).chain
            return check_chain(namespace, chain, LogHead(len(chain), chain[-1].link or "") if chain else None)

    def get(self, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, Memory]:
        """Return the memories that exist in this namespace."""
        with self._data.reading():
            return _existing(self._namespace(namespace).memories, ids)

    def list_memories(
        self, namespaces: Sequence[str], wanted: ListRequest, now: datetime
    ) -> tuple[Sequence[tuple[str, MemoryId]], int]:
        """Return namespace and id of the memories of one page of a list, and how many all pages hold."""
        with self._data.reading():
            all_ = [one for name in dict.fromkeys(namespaces) for one in self._namespace(name).memories.values()]
        found = [one for one in reversed(all_) if is_listed(one, wanted, now)]
        found.sort(key=lambda one: one.created_at, reverse=True)  # of one moment the later stored stays first
        page = found[wanted.offset : wanted.offset + wanted.limit]
        return [(one.namespace, one.id) for one in page], len(found)

    def ids_beginning(self, namespaces: Sequence[str], beginning: str, limit: int) -> Sequence[MemoryId]:
        """Return at most so many ids that begin with a text; sorted."""
        with self._data.reading():
            ids = {one for name in namespaces for one in self._namespace(name).memories if one.startswith(beginning)}
        return sorted(ids)[:limit]

    def linked_to(
        self, namespaces: Sequence[str], ids: Collection[MemoryId], limit: int
    ) -> Sequence[tuple[str, MemoryId]]:
        """Return namespace and id of memories that name one of some ids, those written last first."""
        wanted = frozenset(ids)
        with self._data.reading():
            all_ = [one for name in dict.fromkeys(namespaces) for one in self._namespace(name).memories.values()]
        found = [
            one
            for one in reversed(all_)
            if wanted & {one.superseded_by, one.supersedes, one.duplicate_of, one.disputes, *one.parents}
        ]
        found.sort(key=lambda one: one.created_at, reverse=True)
        return [(one.namespace, one.id) for one in found[:limit]]

    def vectors(self, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, NDArray[np.float32]]:
        """Return the vectors of those memories that have one."""
        with self._data.reading():
            return _existing(self._namespace(namespace).vectors, ids)

    def usage(self, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, Usage]:
        """Return how the memories were used."""
        with self._data.reading():
            return _existing(self._namespace(namespace).usage, ids)

    def used_by_others(self, namespace: str, since: datetime) -> Mapping[MemoryId, Usage]:
        """Return nothing: nobody else counts."""
        del namespace, since
        return {}

    def buffer(self, namespace: str, session: str, agent: str) -> BufferState | None:
        """Return the attention buffers of a session's agent."""
        with self._data.reading():
            return self._namespace(namespace).buffers.get((session, agent))

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
        """Let ``decide`` look, then do what it says, all or nothing."""
        del alone, prefetch  # each write is; and nothing is far
        with self._data.writing():
            if self.before_decide is not None:
                hook, self.before_decide = self.before_decide, None
                try:
                    hook()
                finally:
                    self.before_decide = hook
            if key is not None and (done := self._replay(namespace, key, codec)):
                return done
            return self._write(namespace, key, decide, codec)

    def touch(self, namespace: str, uses: Sequence[RecordUse]) -> None:
        """Add to the usage statistics; unknown ids are ignored."""
        with self._data.writing():
            _record_uses(self._namespace(namespace), uses)

    def result(self, namespace: str, key: RequestKey) -> Mapping[str, Json] | None:
        """Return the stored result of a request in a namespace, None if it was never done there."""
        with self._data.reading():
            done = self._requests.get(key)
            return _object(done.result) if done and done.namespace == namespace else None

    def acknowledge(self, relay: str, up_to: int | None) -> None:
        """Forget the stored results of a relay up to and including a number; None forgets them all."""
        last = NO_LIMIT if up_to is None else up_to
        with self._data.writing():
            self._requests = {
                key: done for key, done in self._requests.items() if key.relay != relay or key.number > last
            }

    def forget_results(self, before: datetime) -> None:
        """Forget the stored results of requests that were made before a moment."""
        with self._data.writing():
            self._requests = {key: done for key, done in self._requests.items() if done.at >= before}

    def to_review(self, namespaces: Sequence[str], wanted: ReviewRequest) -> ReviewPage:
        """Return one page of the memories that a person may want to look at, and why."""
        with self._data.reading():
            all_ = [one for name in dict.fromkeys(namespaces) for one in self._namespace(name).memories.values()]
        live = {one.id: one for one in all_ if state_of(one, wanted.now) is MemoryState.CURRENT}
        reasons = {(one.namespace, one.id): reasons_of(one, live, wanted.secrets, wanted.now) for one in reversed(all_)}
        found = {place: why for place, why in reasons.items() if why}
        chosen = [place for place, why in found.items() if wanted.reason in (None, *why)]
        pressing = [one for one in Reason if one is not Reason.IMPORTED]
        chosen.sort(key=lambda place: live[place[1]].created_at, reverse=True)
        chosen.sort(key=lambda place: [one not in found[place] for one in pressing])
        page = chosen[wanted.offset : wanted.offset + wanted.limit]
        return ReviewPage(
            memories={place: found[place] for place in page},
            total=len(chosen),
            counts={one: sum(one in why for why in found.values()) for one in Reason},
        )

    def with_terms(
        self, namespaces: Sequence[str], terms: Collection[int], now: datetime, limit: int
    ) -> Sequence[tuple[str, MemoryId]]:
        """Return namespace and id of the newest current memories that have one of some terms."""
        with self._data.reading():
            all_ = [one for name in dict.fromkeys(namespaces) for one in self._namespace(name).memories.values()]
        wanted = frozenset(terms)
        found = [
            one
            for one in reversed(all_)
            if state_of(one, now) is MemoryState.CURRENT and not wanted.isdisjoint(one.terms)
        ]
        found.sort(key=lambda one: one.created_at, reverse=True)
        return [(one.namespace, one.id) for one in found[:limit]]

    def undo_records(self, namespaces: Sequence[str], limit: int, undo: str | None = None) -> Sequence[UndoRecord]:
        """Return what undoes the newest acts, or the one of an id."""
        with self._data.reading():
            all_ = [one for name in dict.fromkeys(namespaces) for one in self._namespace(name).undos.values()]
        found = [one for one in reversed(all_) if undo in (None, one.id)]
        found.sort(key=lambda one: one.at or datetime.min.replace(tzinfo=UTC), reverse=True)
        return found[:limit]

    def trim(self, namespace: str, before: int) -> None:
        """Let `changes` no longer reach behind position ``before``."""
        with self._data.writing():
            records = self._namespace(namespace)
            records.trimmed_before = max(records.trimmed_before, min(before, records.head + 1))

    def put_entry(
        self, namespace: str, conversation: str, kind: str, body: Mapping[str, Json], number: int | None = None
    ) -> int:
        """Store an entry, replacing one of the same number; None takes the next number."""
        with self._data.writing():
            check_text(namespace, conversation, kind)
            text = object_to_json(body)
            entries = self._entries.setdefault((namespace, conversation, kind), _Entries())
            number = entries.last + 1 if number is None else number
            check_number(number)
            entries.last = max(entries.last, number)
            entries.bodies[number] = text
            return number

    def entries(self, namespace: str, conversation: str, kind: str) -> Sequence[ConversationEntry]:
        """Return the entries of a conversation by rising number."""
        with self._data.reading():
            bodies = self._entries.get((namespace, conversation, kind), _Entries()).bodies
            return [ConversationEntry(number, _object(bodies[number])) for number in sorted(bodies)]

    def remove_entries(self, namespace: str, conversation: str, kind: str) -> int:
        """Remove the entries of a conversation; their numbers are not used again."""
        with self._data.writing():
            entries = self._entries.get((namespace, conversation, kind), _Entries())
            removed = len(entries.bodies)
            entries.bodies.clear()
            return removed

    def vector_index(self, dimensions: int) -> VectorIndex | None:
        """Return None: what lives as long as its object is not that large."""
        del dimensions
        return None

    def close(self) -> None:
        """Let everything go; calling it again does nothing."""
        with self._data.lock:
            if self._data.deciding:
                raise ConstraintViolation("a decision cannot close the store that it decides for")
            self._data.closed = True

    def _write(self, namespace: str, key: RequestKey | None, decide: Decision, codec: ResultCodec) -> CommitResult:
        from hybrid_memory.store.batch import build_change_set

        records = self._namespace(namespace)
        now = self._clock.now().astimezone(UTC)
        at = now if self._last_at is None else never_back(now, self._last_at)
        self._data.deciding = True
        try:
            pinned = self._data.embedder
            batch = decide(_MemoryWriteView(records, at, pinned[0] if pinned else None))
        finally:
            self._data.deciding = False
        changes = build_change_set(
            batch,
            namespace=namespace,
            head=records.head,
            at=at,
            dimensions=self._data.embedder[1] if self._data.embedder else None,
            stored=lambda ids: _existing(records.memories, ids),
        )
        if any(memory.id in records.memories for memory in changes.inserted):
            raise ConstraintViolation("a memory with this id exists already")
        stored = None if key is None else object_to_json(codec.encode(batch.result))
        records = self._data.namespaces.setdefault(namespace, records)
        self._apply(records, changes, batch.buffers)
        _record_uses(records, batch.uses)
        _keep_undo(records, batch, at)
        self._last_at = at
        if key is not None and stored is not None:
            self._requests[key] = _StoredRequest(namespace, stored, records.head, at)
        return CommitResult(
            result=batch.result,
            position=records.head,
            at=at,
            log=changes.log,
            memories={id_: records.memories[id_] for id_ in changes.memories},
            vectors=changes.vectors,
        )

    @staticmethod
    def _apply(records: _Namespace, changes: ChangeSet, buffers: Sequence[BufferState]) -> None:
        for id_, memory in changes.memories.items():
            records.memories[id_] = replace(memory, metadata=_object(object_to_json(memory.metadata)))
        records.vectors.update(changes.vectors)
        records.log.extend(changes.log)
        link = (records.chain[-1].link if records.chain else None) or ""
        records.chain.extend(chained(records.name, changes.log, link, os.urandom(SALT_BYTES * len(changes.log))))
        for buffer in buffers:
            if buffer.state is None:
                records.buffers.pop((buffer.session, buffer.agent), None)
            else:
                records.buffers[buffer.session, buffer.agent] = buffer

    def _replay(self, namespace: str, key: RequestKey, codec: ResultCodec) -> CommitResult | None:
        check_text(key.relay)
        check_number(key.number)
        done = self._requests.get(key)
        if done is None:
            return None
        if done.namespace != namespace:
            raise ConstraintViolation("this request was made for another namespace")
        return CommitResult(
            result=codec.decode(_object(done.result)), position=done.position, at=done.at, replayed=True
        )

    def _namespace(self, namespace: str) -> _Namespace:
        return self._data.namespaces.get(namespace) or _Namespace(namespace)


def _record_uses(records: _Namespace, uses: Iterable[RecordUse]) -> None:
    for use in uses:
        check_moment(use.at)
        if use.id in records.memories:
            known = records.usage.get(use.id, Usage(accessed_at=use.at, count=0))
            records.usage[use.id] = Usage(accessed_at=max(known.accessed_at, use.at), count=known.count + use.count)


def _keep_undo(records: _Namespace, batch: WriteBatch, at: datetime) -> None:
    if batch.undone is not None:
        records.undos.pop(batch.undone, None)
    if batch.undo is not None:
        body = _object(object_to_json(batch.undo.body))
        records.undos[batch.undo.id] = replace(batch.undo, body=body, namespace=records.name, at=at, actor=batch.actor)
        for old in list(records.undos)[:-KEPT_UNDOS]:
            del records.undos[old]


def _object(text: str) -> dict[str, Json]:
    value: dict[str, Json] = from_json(text)
    return value


def _existing(values: Mapping[MemoryId, _Value], ids: Iterable[MemoryId]) -> dict[MemoryId, _Value]:
    return {id_: values[id_] for id_ in ids if id_ in values}
