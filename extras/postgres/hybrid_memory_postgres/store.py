"""`PostgresStore`: the store over a PostgreSQL server, method by method; the statements are in the modules alongside it.

A write goes through `writers` (groups and transactions), `write_transaction` (decide and apply), `memory_table`, `vector_table` and
`tables`; a read through `connections` and the module of its table.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import datetime
from secrets import token_hex
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from hybrid_memory.clock import Clock, RandomSource, SystemRandomSource, to_micros
from hybrid_memory.errors import ConstraintViolation, OutcomeUnknown
from hybrid_memory.language.terms import TermHasher
from hybrid_memory.model import Json, Memory, MemoryId, Usage
from hybrid_memory.requests import Lag
from hybrid_memory.store.audit_chain import ChainCheck
from hybrid_memory.store.base import ConversationEntry, StoreInfo, VectorIndex
from hybrid_memory.store.encoding import check_text, object_to_json
from hybrid_memory.store.findings import Report
from hybrid_memory.store.other_hubs import EMBEDDER_LEASE, Follower, Lease, News, OtherHub
from hybrid_memory.store.snapshots import NO_LIMIT, Snapshot
from hybrid_memory.store.sql.rows import result_of
from hybrid_memory.store.sql.undo import read_undos
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
from hybrid_memory_postgres import hub_rows, list_table, schema, store_facts, tables
from hybrid_memory_postgres.connections import EVERYTHING, Connections
from hybrid_memory_postgres.embedder_change import PostgresEmbedderChange
from hybrid_memory_postgres.follower import ServerFollower
from hybrid_memory_postgres.hints import Announcer, digest_of
from hybrid_memory_postgres.known_heads import KnownHeads
from hybrid_memory_postgres.leases import Leases
from hybrid_memory_postgres.memory_table import memories_by_id
from hybrid_memory_postgres.migrating import later_notices, migrate
from hybrid_memory_postgres.news import read_news
from hybrid_memory_postgres.pg_sync import PostgresSync
from hybrid_memory_postgres.pg_transfer import PostgresTransfer
from hybrid_memory_postgres.reading_table import PostgresReadings
from hybrid_memory_postgres.repeating import again
from hybrid_memory_postgres.row_security import check_login
from hybrid_memory_postgres.row_tables import refuse_while_moving
from hybrid_memory_postgres.snapshot import read_snapshot
from hybrid_memory_postgres.sql_session import PgSession
from hybrid_memory_postgres.target import Conninfo
from hybrid_memory_postgres.term_key import KeyOfStore, ensure_term_key
from hybrid_memory_postgres.vector_table import PinnedEmbedder, pinned_embedder, vectors_by_id
from hybrid_memory_postgres.word_columns import PostgresWordColumns
from hybrid_memory_postgres.writers import Writers

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.requests import ListRequest
    from hybrid_memory.store.erasing import Eraser
    from hybrid_memory.store.restoring import Restorer
    from hybrid_memory.store.reviewing import Reason, ReviewRequest
    from hybrid_memory.store.transfer import Refusal

_Value = TypeVar("_Value")
_Arguments = ParamSpec("_Arguments")


class PostgresStore:
    """Keeps memories in a PostgreSQL database, which any number of these share; see `hybrid_memory.store.base.Store`.

    ``heads`` is what is known of the ends of the logs without asking. ``embedder_change``, ``reencoding`` and ``readings`` are the parts
    that change the embedder, encode words again, and keep the journal of readings.
    """

    def __init__(
        self, connections: Connections, clock: Clock, key: KeyOfStore, *, notices: tuple[str, ...] = ()
    ) -> None:
        self.connections = connections
        # Drawn here: hubs that were given the same randomness are two hubs all the same.
        self.leases = Leases(connections, token_hex(16))
        self._notices = notices
        self.heads = KnownHeads()
        self.hasher = TermHasher(key.key)
        self.embedder_change = PostgresEmbedderChange(
            connections, clock, lambda session: self.leases.guard(session, EMBEDDER_LEASE)
        )
        self.reencoding = PostgresWordColumns(connections, lambda: self._writers.store)
        self.readings = PostgresReadings(connections)
        self._clock = clock
        self._key = key
        self._announcer = Announcer(connections.connect, key.key)
        self._following: ServerFollower | None = None
        self._writers = Writers(connections, clock, self.heads, self._announcer, key.store)
        self.syncing = PostgresSync(connections, clock, self.told)

    @classmethod
    def open(
        cls,
        conninfo: Conninfo,
        clock: Clock,
        *,
        size: int = 10,
        wait_seconds: float = 10.0,
        random_source: RandomSource | None = None,
        notices: tuple[str, ...] = (),
    ) -> PostgresStore:
        """Open or make the store in the database that ``conninfo`` names.

        At most ``size`` connections are open at once, and two more. A call waits up to ``wait_seconds`` for a server that is away.
        ``random_source`` gives a new store its secrets; it is the machine's when not given. ``notices`` are told by `info`.

        Raises:
            EngineUnavailable: the server cannot be reached, or refuses the login.
            StoreDamaged: the database holds other tables of these names.
            SchemaTooNew: a later version of this program wrote it.
            StoreError: another store is being moved here.
        """
        connections = Connections(conninfo, size=size, wait_seconds=wait_seconds)
        connections.open()
        try:
            found, key = again(lambda: _ready(connections, clock, random_source or SystemRandomSource()), wait_seconds)
            store = cls(connections, clock, key, notices=(*notices, *found))
            store.note_last_write()
        except BaseException:
            connections.close()
            raise
        return store

    @property
    def transfer(self) -> PostgresTransfer:
        """The part of the store that is copied, exported and filled as a whole."""
        return PostgresTransfer(self.connections, self._clock, self.told)

    def restorer(self, home: Path) -> Restorer:
        """Return what puts a backup in the place of this store, alongside the hubs that have it open."""
        from hybrid_memory_postgres.restoring_store import PostgresRestorer

        return PostgresRestorer(self.connections, home)

    def info(self) -> StoreInfo:
        """Return what the store is and holds."""
        return self._moment(EVERYTHING, self._info)

    def _info(self, session: PgSession) -> StoreInfo:
        pinned = pinned_embedder(session)
        read_only = [f"{one.what}; {one.remedy}" for one in store_facts.read_only_findings(session)]
        return StoreInfo(
            engine="postgresql",
            schema_version=schema.MIGRATIONS[-1].number,
            memories=store_facts.count_memories(session),
            bytes_on_disk=store_facts.size_on_disk(session),
            embedder=pinned.identity if pinned else None,
            dimensions=pinned.dimensions if pinned else None,
            notices=(*self._notices, *later_notices(session), *read_only, *self._unreadable_notices()),
        )

    def _unreadable_notices(self) -> tuple[str, ...]:
        count = len(self.connections.unreadable)
        if not count:
            return ()
        what = "1 memory cannot be read and is" if count == 1 else f"{count} memories cannot be read and are"
        return (f"{what} left out of every answer; `hybrid-memory-mcp doctor` says which",)

    def check(self, *, mark_seen: bool = False, refusal: Refusal | None = None) -> Report:
        """Read every row and compare what must agree, alongside the calls of all hubs."""
        from hybrid_memory.store.odd_rows import takes_all
        from hybrid_memory_postgres.check import check_store

        del mark_seen  # a new server reports nothing of what happened before
        return check_store(self.connections, self._clock.now(), refusal or takes_all)

    def repair(self, home: Path, refusal: Refusal) -> Report:
        """Put rows aside that cannot be read, in the quarantine of this hub's folder, and mend what only a note needs."""
        from hybrid_memory_postgres.repair import repair_store

        return repair_store(self.connections, home, self._clock.now(), refusal, self.told)

    def eraser(self, home: Path) -> Eraser:
        """Return what erases in this store, while it is open, and in the backups of this hub's folder."""
        from hybrid_memory_postgres.eraser import PostgresEraser

        return PostgresEraser(self, self.connections, home, self.told)

    def namespaces(self) -> Sequence[str]:
        """Return the names of all namespaces that hold anything, sorted."""
        return self._read(EVERYTHING, store_facts.namespaces)

    def pin_embedder(self, identity: str, dimensions: int) -> bool:
        """Pin the embedder of a store that has none; return whether its vectors may be stored."""
        check_text(identity)
        if dimensions < 1:
            raise ConstraintViolation("an embedder has at least one dimension")
        pinned = self._read(EVERYTHING, pinned_embedder) or self._change(EVERYTHING, self._pin, identity, dimensions)
        return (pinned.identity, pinned.dimensions) == (identity, dimensions)

    def _pin(self, session: PgSession, identity: str, dimensions: int) -> PinnedEmbedder:
        """Pin an embedder; of several hubs at once one does, and the others see it."""
        ours = PinnedEmbedder(1, identity, dimensions)
        tables.insert_embedder(session, ours, self._clock.now())
        return pinned_embedder(session) or ours

    def embedder(self) -> tuple[str, int] | None:
        """Return identity and dimensions of the pinned embedder."""
        pinned = self._read(EVERYTHING, pinned_embedder)
        return (pinned.identity, pinned.dimensions) if pinned else None

    def head(self, namespace: str) -> int:
        """Return the position of the last change of a namespace; the server is asked while it is not certain that all is known here."""
        known = self.heads.get(namespace)
        if known is None:
            known = self._read([namespace], tables.read_head, namespace).position
            self.heads.note(namespace, known)
        return known

    def follow(self, follower: Follower) -> Callable[[], None]:
        """Tell ``follower`` what other hubs do; one at a time."""
        if self._following is not None:
            self._following.close()
        self._following = ServerFollower(
            self.connections,
            self.heads,
            follower,
            secret=lambda: self._key.key,
            store=lambda: self._key.store,
            renew=self._renew,
        )
        self._following.start()
        return self._following.close

    def behind_seconds(self) -> float:
        """Return how long ago the server last said where all logs end; 0 while nobody follows, and it is asked each time."""
        return 0.0 if self._following is None else self._following.behind_seconds()

    def lag(self, marks: Mapping[str, int]) -> Lag:
        """Return how far whoever has followed each namespace up to its mark is behind, by what is known here."""
        heads = self.heads.positions()
        changes = sum(max(heads.get(namespace, 0) - mark, 0) for namespace, mark in marks.items())
        return Lag(self.behind_seconds(), changes)

    def offline_seconds(self) -> float | None:
        """Return None: reads ask the database (`store.offline` comes before it where they need not)."""
        return None

    def take_over(self) -> None:
        """Encode words for the store that the database holds by now, as far as that was heard of."""
        self._writers.store = self._key.store
        self.hasher = TermHasher(self._key.key)

    def _renew(self) -> None:
        """Take the secret of the store that the database holds by now, after a restore."""
        self._key = ensure_term_key(self.connections, SystemRandomSource())
        self._announcer.secret = self._key.key

    def lease(self, name: str, seconds: float) -> Lease | None:
        """Take a lease, which is renewed until it is given back; None while another hub has it."""
        return self.leases.take(name, seconds)

    def connection_counts(self) -> Mapping[str, int]:
        """Return how many connections of the pool are open and idle, and how many callers wait for one."""
        return self.connections.counts()

    def other_hubs(self) -> Sequence[OtherHub]:
        """Return the other hubs that serve this store at this moment, by their names."""
        own = None if self._following is None else self._following.hub
        return self._read(EVERYTHING, hub_rows.living, own)

    def last_write(self) -> datetime | None:
        """Return the time of the last change of any namespace."""
        return self._read(EVERYTHING, store_facts.last_write)

    def note_last_write(self) -> None:
        """Take over the time of the last write of any hub, before which none of this one may lie."""
        last = self.last_write()
        if last is not None:
            self._writers.last_at = max(self._writers.last_at, to_micros(last))

    def told(self, namespace: str, position: int) -> None:
        """Note that a commit of this hub has brought a namespace to a position, and have the other hubs told."""
        self.heads.note(namespace, position)
        self._announcer.announce(namespace, position)

    def snapshot(self, namespace: str) -> Snapshot:
        """Return head and rows of this moment; batches and vectors are read from the server as they are asked for."""
        return self._again(lambda: read_snapshot(self.connections, namespace))

    def changes(self, namespace: str, after: int, limit: int = 1000) -> Sequence[LogEntry]:
        """Return log entries behind ``after``; raises `LogTrimmed`."""
        return self._moment([namespace], tables.read_log, namespace, after, limit)

    def news(self, namespace: str, after: int, limit: int = 1000) -> News:
        """Return log entries behind ``after``, and what they are about; raises `LogTrimmed`."""
        found, head, link = self._read([namespace], read_news, namespace, after, limit)
        self.heads.note(namespace, head, link)
        return found

    def history(self, namespace: str, ids: Iterable[MemoryId]) -> Sequence[LogEntry]:
        """Return all log entries of some memories in order."""
        return self._read([namespace], tables.read_history, namespace, list(ids))

    def check_log(self, namespace: str) -> ChainCheck:
        """Follow the chain of a namespace's log."""
        return self._moment([namespace], tables.check_log, namespace)

    def get(self, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, Memory]:
        """Return the memories that exist in this namespace."""
        return self._read([namespace], memories_by_id, namespace, list(ids))

    def list_memories(
        self, namespaces: Sequence[str], wanted: ListRequest, now: datetime
    ) -> tuple[Sequence[tuple[str, MemoryId]], int]:
        """Return namespace and id of the memories of one page of a list, and how many all pages hold."""
        return self._moment(namespaces, list_table.list_memories, namespaces, wanted, now)

    def ids_beginning(self, namespaces: Sequence[str], beginning: str, limit: int) -> Sequence[MemoryId]:
        """Return at most so many ids that begin with a text; sorted."""
        return self._read(namespaces, list_table.ids_beginning, namespaces, beginning, limit)

    def linked_to(
        self, namespaces: Sequence[str], ids: Collection[MemoryId], limit: int
    ) -> Sequence[tuple[str, MemoryId]]:
        """Return namespace and id of memories that name one of some ids, those written last first."""
        return self._read(namespaces, list_table.linked_to, namespaces, ids, limit)

    def vectors(self, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, NDArray[np.float32]]:
        """Return the vectors of those memories that have one."""
        return self._moment([namespace], _vectors, namespace, list(ids))

    def usage(self, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, Usage]:
        """Return how the memories were used."""
        return self._read([namespace], tables.read_usage, namespace, list(ids))

    def used_by_others(self, namespace: str, since: datetime) -> Mapping[MemoryId, Usage]:
        """Return the usage of memories that were recalled since a moment."""
        return self._read([namespace], tables.read_usage_since, namespace, to_micros(since))

    def buffer(self, namespace: str, session: str, agent: str) -> BufferState | None:
        """Return the attention buffers of a session's agent."""
        return self._read([namespace], tables.read_buffer, namespace, session, agent)

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
        """Let ``decide`` look, then do what it says, in one transaction; durable when this returns."""
        return self._writers.write(namespace, key, decide, codec, alone=alone, prefetch=prefetch)

    def touch(self, namespace: str, uses: Sequence[RecordUse]) -> None:
        """Add to the usage statistics; unknown ids are ignored. What may have been counted is not counted again."""

        def count() -> None:
            with suppress(OutcomeUnknown):
                self._change_once([namespace], tables.record_uses, namespace, uses)

        self._again(count)

    def result(self, namespace: str, key: RequestKey) -> Mapping[str, Json] | None:
        """Return the stored result of a request in a namespace, None if it was never done there."""
        done = self._read([namespace], tables.read_requests, [key]).get(key)
        return result_of(done) if done and done.namespace == namespace else None

    def acknowledge(self, relay: str, up_to: int | None) -> None:
        """Forget the stored results of a relay up to and including a number; None forgets them all."""
        self._change(EVERYTHING, tables.forget_requests, relay, NO_LIMIT if up_to is None else up_to)

    def forget_results(self, before: datetime) -> None:
        """Forget the stored results of requests that were made before a moment."""
        self._change(EVERYTHING, tables.forget_old_requests, to_micros(before))

    def to_review(self, namespaces: Sequence[str], wanted: ReviewRequest) -> Mapping[tuple[str, MemoryId], Reason]:
        """Return the memories that are doubtful, the most pressing first, and why."""
        return self._moment(namespaces, list_table.to_review, namespaces, wanted)

    def with_terms(
        self, namespaces: Sequence[str], terms: Collection[int], now: datetime, limit: int
    ) -> Sequence[tuple[str, MemoryId]]:
        """Return namespace and id of the newest current memories that have one of some terms."""
        return self._read(namespaces, list_table.with_terms, namespaces, terms, now, limit)

    def undo_records(self, namespaces: Sequence[str], limit: int, undo: str | None = None) -> Sequence[UndoRecord]:
        """Return what undoes the newest acts, or the one of an id."""
        return self._read(namespaces, read_undos, namespaces, limit, undo)

    def trim(self, namespace: str, before: int) -> None:
        """Let `changes` no longer reach behind position ``before``, or what a hub that lives has still to follow."""
        followed = self._read(EVERYTHING, hub_rows.followed, digest_of(self._key.key, namespace))
        self._change([namespace], hub_rows.trim, namespace, before if followed is None else min(before, followed))

    def put_entry(
        self, namespace: str, conversation: str, kind: str, body: Mapping[str, Json], number: int | None = None
    ) -> int:
        """Store an entry, replacing one of the same number; None takes the next number."""
        text, tried = object_to_json(body), set[int]()
        return self._change([namespace], tables.put_entry, (namespace, conversation, kind), text, number, tried)

    def entries(self, namespace: str, conversation: str, kind: str) -> Sequence[ConversationEntry]:
        """Return the entries of a conversation by rising number."""
        return self._read([namespace], tables.read_entries, (namespace, conversation, kind))

    def remove_entries(self, namespace: str, conversation: str, kind: str) -> int:
        """Remove the entries of a conversation; their numbers are not used again."""
        removed = set[int]()
        self._change([namespace], tables.remove_entries, (namespace, conversation, kind), removed)
        return len(removed)

    def vector_index(self, dimensions: int) -> VectorIndex | None:
        """Return an empty HNSW index in the memory of this process, None where the extension cannot be loaded."""
        from hybrid_memory.store.duck.vss import open_hnsw

        return open_hnsw(dimensions)

    def close(self) -> None:
        """Let the connections go; calling it again does nothing."""
        self._writers.refuse_while_deciding("a decision cannot close the store that it decides for")
        self.connections.hurry()
        self.leases.close()
        if self._following is not None:
            self._following.close()
        self._announcer.close()
        self.connections.close()

    def _read(
        self,
        namespaces: Sequence[str],
        work: Callable[Concatenate[PgSession, _Arguments], _Value],
        *args: _Arguments.args,
        **kwargs: _Arguments.kwargs,
    ) -> _Value:
        """Return what ``work`` reads in a session in which each statement sees the newest state."""
        if session := self._writers.session_for(namespaces):
            return work(session, *args, **kwargs)
        return self._again(lambda: self._run(self.connections.reading(namespaces), work, *args, **kwargs))

    def _moment(
        self,
        namespaces: Sequence[str],
        work: Callable[Concatenate[PgSession, _Arguments], _Value],
        *args: _Arguments.args,
        **kwargs: _Arguments.kwargs,
    ) -> _Value:
        """Return what ``work`` reads in a session in which all statements see one moment."""
        if session := self._writers.session_for(namespaces):
            return work(session, *args, **kwargs)
        return self._again(lambda: self._run(self.connections.snapshot(namespaces), work, *args, **kwargs))

    def _change(
        self,
        namespaces: Sequence[str],
        work: Callable[Concatenate[PgSession, _Arguments], _Value],
        *args: _Arguments.args,
        **kwargs: _Arguments.kwargs,
    ) -> _Value:
        """Return what ``work`` returns in a transaction of its own, which is committed then; to do it twice is to do it once."""
        return self._again(lambda: self._change_once(namespaces, work, *args, **kwargs))

    def _change_once(
        self,
        namespaces: Sequence[str],
        work: Callable[Concatenate[PgSession, _Arguments], _Value],
        *args: _Arguments.args,
        **kwargs: _Arguments.kwargs,
    ) -> _Value:
        self._writers.refuse_while_deciding()
        return self._run(self.connections.transaction(namespaces), work, *args, **kwargs)

    @staticmethod
    def _run(
        opened: AbstractContextManager[PgSession],
        work: Callable[Concatenate[PgSession, _Arguments], _Value],
        *args: _Arguments.args,
        **kwargs: _Arguments.kwargs,
    ) -> _Value:
        with opened as session:
            return work(session, *args, **kwargs)

    def _again(self, call: Callable[[], _Value]) -> _Value:
        return again(call, self.connections.wait_seconds)


def _ready(connections: Connections, clock: Clock, random_source: RandomSource) -> tuple[Sequence[str], KeyOfStore]:
    """Make the database ready to be used; returns notices on this login, and the key of the store's terms."""
    migrate(connections, clock.now())
    refuse_while_moving(connections)
    with connections.reading(EVERYTHING) as session:
        notices = check_login(session)
    return notices, ensure_term_key(connections, random_source)


def _vectors(session: PgSession, namespace: str, ids: Sequence[MemoryId]) -> dict[MemoryId, NDArray[np.float32]]:
    pinned = pinned_embedder(session)
    return vectors_by_id(session, pinned, namespace, ids) if pinned else {}
