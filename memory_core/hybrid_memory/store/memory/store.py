"""`MemoryStore`: a whole store in the memory of this process, for tests and for what nobody needs to keep."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hybrid_memory.clock import Clock, RandomSource, SystemRandomSource, never_back
from hybrid_memory.errors import ConstraintViolation
from hybrid_memory.language.terms import KEY_BITS, TermHasher
from hybrid_memory.model import Json, Memory, MemoryId, Usage
from hybrid_memory.requests import MemoryState
from hybrid_memory.store.audit_chain import SALT_BYTES, ChainCheck, LogHead, chained, check_chain
from hybrid_memory.store.base import ConversationEntry, StoreInfo, VectorIndex
from hybrid_memory.store.encoding import check_number, check_text, object_to_json
from hybrid_memory.store.findings import Finding, Report, Severity
from hybrid_memory.store.listing import is_listed, state_of
from hybrid_memory.store.memory.data import (
    ConversationEntries,
    NamespaceRecords,
    StoreData,
    StoredRequest,
    existing,
    keep_undo,
    record_uses,
)
from hybrid_memory.store.memory.embedder_change import MemoryEmbedderChange
from hybrid_memory.store.memory.reading_journal import MemoryReadings
from hybrid_memory.store.memory.word_columns import MemoryReencoding
from hybrid_memory.store.memory.write_view import MemoryWriteView
from hybrid_memory.store.memory_fields import object_from_json
from hybrid_memory.store.neighbours import Follower, Lease, News, OtherHub, OwnLease
from hybrid_memory.store.reviewing import Reason, ReviewRequest, reason_of
from hybrid_memory.store.snapshots import NO_LIMIT, Snapshot
from hybrid_memory.store.writing import (
    PLAIN_CODEC,
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

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.requests import Lag, ListRequest
    from hybrid_memory.store.batch import ChangeSet
    from hybrid_memory.store.transfer import Refusal


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
        self._data = StoreData()
        self.embedder_change = MemoryEmbedderChange(self._data)
        self.reencoding = MemoryReencoding(self._data)
        self.readings = MemoryReadings(self._data)
        self._last_at: datetime | None = None
        self._requests: dict[RequestKey, StoredRequest] = {}
        self._entries: dict[tuple[str, str, str], ConversationEntries] = {}

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

    def take_over(self) -> None:
        """Take nothing: nobody puts another store in the place of this one while it is open."""

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
            copies = dict(records.memories), dict(records.vectors), dict(records.usage), dict(records.passages)
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
        with self._data.reading():
            passages = existing(self._namespace(namespace).passages, ids)
        return News(log, self.get(namespace, ids), self.vectors(namespace, ids), passages)

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
            return existing(self._namespace(namespace).memories, ids)

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
            return existing(self._namespace(namespace).vectors, ids)

    def usage(self, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, Usage]:
        """Return how the memories were used."""
        with self._data.reading():
            return existing(self._namespace(namespace).usage, ids)

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
            record_uses(self._namespace(namespace), uses)

    def result(self, namespace: str, key: RequestKey) -> Mapping[str, Json] | None:
        """Return the stored result of a request in a namespace, None if it was never done there."""
        with self._data.reading():
            done = self._requests.get(key)
            return object_from_json(done.result) if done and done.namespace == namespace else None

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

    def to_review(self, namespaces: Sequence[str], wanted: ReviewRequest) -> Mapping[tuple[str, MemoryId], Reason]:
        """Return the memories that are doubtful, the most pressing first, and why."""
        with self._data.reading():
            all_ = [one for name in dict.fromkeys(namespaces) for one in self._namespace(name).memories.values()]
        live = {one.id: one for one in all_ if state_of(one, wanted.now) is MemoryState.CURRENT}
        reasons = {(one.namespace, one.id): reason_of(one, live, wanted.secrets, wanted.now) for one in reversed(all_)}
        found = {place: why for place, why in reasons.items() if why is not None}
        chosen = sorted(found, key=lambda place: live[place[1]].created_at, reverse=True)
        chosen.sort(key=lambda place: list(Reason).index(found[place]))
        return {place: found[place] for place in chosen[: wanted.limit]}

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
            entries = self._entries.setdefault((namespace, conversation, kind), ConversationEntries())
            number = entries.last + 1 if number is None else number
            check_number(number)
            entries.last = max(entries.last, number)
            entries.bodies[number] = text
            return number

    def entries(self, namespace: str, conversation: str, kind: str) -> Sequence[ConversationEntry]:
        """Return the entries of a conversation by rising number."""
        with self._data.reading():
            bodies = self._entries.get((namespace, conversation, kind), ConversationEntries()).bodies
            return [ConversationEntry(number, object_from_json(bodies[number])) for number in sorted(bodies)]

    def remove_entries(self, namespace: str, conversation: str, kind: str) -> int:
        """Remove the entries of a conversation; their numbers are not used again."""
        with self._data.writing():
            entries = self._entries.get((namespace, conversation, kind), ConversationEntries())
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
            batch = decide(MemoryWriteView(records, at, pinned[0] if pinned else None))
        finally:
            self._data.deciding = False
        changes = build_change_set(
            batch,
            namespace=namespace,
            head=records.head,
            at=at,
            dimensions=self._data.embedder[1] if self._data.embedder else None,
            stored=lambda ids: existing(records.memories, ids),
        )
        if any(memory.id in records.memories for memory in changes.inserted):
            raise ConstraintViolation("a memory with this id exists already")
        stored = None if key is None else object_to_json(codec.encode(batch.result))
        records = self._data.namespaces.setdefault(namespace, records)
        self._apply(records, changes, batch.buffers)
        record_uses(records, batch.uses)
        keep_undo(records, batch, at)
        self._last_at = at
        if key is not None and stored is not None:
            self._requests[key] = StoredRequest(namespace, stored, records.head, at)
        return CommitResult(
            result=batch.result,
            position=records.head,
            at=at,
            log=changes.log,
            memories={id_: records.memories[id_] for id_ in changes.memories},
            vectors=changes.vectors,
            passages=changes.passages,
        )

    @staticmethod
    def _apply(records: NamespaceRecords, changes: ChangeSet, buffers: Sequence[BufferState]) -> None:
        for id_, memory in changes.memories.items():
            records.memories[id_] = replace(memory, metadata=object_from_json(object_to_json(memory.metadata)))
        for one in changes.removed:
            for kept in (records.memories, records.vectors, records.passages, records.usage):
                kept.pop(one.id, None)
        records.vectors.update(changes.vectors)
        for id_ in changes.revectored:
            records.passages.pop(id_, None)
        records.passages.update(changes.passages)
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
            result=codec.decode(object_from_json(done.result)), position=done.position, at=done.at, replayed=True
        )

    def _namespace(self, namespace: str) -> NamespaceRecords:
        return self._data.namespaces.get(namespace) or NamespaceRecords(namespace)
