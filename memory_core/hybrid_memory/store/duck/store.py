"""`DuckStore`: the store over one DuckDB file, method by method; the statements are in the modules alongside it.

A write goes through `engine` (transaction), `write_transaction` (decide and apply), `memory_table`, `vector_tables` and `tables`; a
read through `engine` and the module of its table.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from hybrid_memory.clock import Clock, RandomSource, SystemRandomSource, from_micros, to_micros
from hybrid_memory.errors import ConstraintViolation
from hybrid_memory.language.terms import TermHasher
from hybrid_memory.model import Json, Memory, MemoryId, Usage
from hybrid_memory.store.audit_chain import ChainCheck
from hybrid_memory.store.base import ConversationEntry, StoreInfo, VectorIndex
from hybrid_memory.store.duck import tables
from hybrid_memory.store.duck.embedder_change import DuckEmbedderChange
from hybrid_memory.store.duck.engine import Engine
from hybrid_memory.store.duck.files.database_file import make_folder, size_on_disk
from hybrid_memory.store.duck.files.database_lock import DatabaseLock
from hybrid_memory.store.duck.files.swap import finish_swap
from hybrid_memory.store.duck.list_table import ids_beginning, linked_to, list_memories, to_review, with_terms
from hybrid_memory.store.duck.memory_table import memories_by_id
from hybrid_memory.store.duck.reading_table import DuckReadings
from hybrid_memory.store.duck.recovery import quarantine
from hybrid_memory.store.duck.recovery.open import ConnectionSettings, open_database
from hybrid_memory.store.duck.schema import MIGRATIONS
from hybrid_memory.store.duck.snapshot import read_batches, read_names, read_spans
from hybrid_memory.store.duck.term_key import read_term_key
from hybrid_memory.store.duck.vector_tables import VectorTable
from hybrid_memory.store.duck.word_columns import DuckWordColumns
from hybrid_memory.store.duck.write_transaction import decide_and_apply, replay
from hybrid_memory.store.duck.writer_cache import PinnedEmbedder, pinned_embedder
from hybrid_memory.store.encoding import check_text, object_to_json
from hybrid_memory.store.findings import Report
from hybrid_memory.store.other_hubs import Follower, Lease, News, OtherHub, OwnLease
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

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.requests import Lag, ListRequest
    from hybrid_memory.store.duck.duck_sync import DuckSync
    from hybrid_memory.store.duck.duck_transfer import DuckTransfer
    from hybrid_memory.store.erasing import Eraser
    from hybrid_memory.store.restoring import Restorer
    from hybrid_memory.store.reviewing import Reason, ReviewRequest
    from hybrid_memory.store.transfer import Refusal

_COUNT = "SELECT count(*) FROM memory"
_LAST_WRITE = "SELECT made_at FROM log ORDER BY rowid DESC LIMIT 1"
_NAMESPACES = """
    SELECT namespace FROM log
    UNION SELECT namespace FROM buffer
    UNION SELECT namespace FROM entry
"""


class DuckStore:
    """Keeps memories in one DuckDB file; see `hybrid_memory.store.base.Store` for what each method does.

    One process opens a file at a time. Reads run alongside each other and alongside the one write. ``embedder_change``, ``reencoding``,
    ``transfer``, ``syncing`` and ``readings`` are the parts that change the embedder, encode words again, copy, export and fill the whole
    store, synchronise it, and keep the journal of readings.
    """

    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock
        self.embedder_change = DuckEmbedderChange(engine, clock)
        self.reencoding = DuckWordColumns(engine)
        self.readings = DuckReadings(engine)
        with engine.reading() as session:
            self.hasher = TermHasher(read_term_key(session))

    @cached_property
    def transfer(self) -> DuckTransfer:
        """What copies, exports and fills the whole store; imported for who does that."""
        from hybrid_memory.store.duck.duck_transfer import DuckTransfer

        return DuckTransfer(self._engine, self._clock)

    @cached_property
    def syncing(self) -> DuckSync:
        """What synchronises the store; imported for who does that."""
        from hybrid_memory.store.duck.duck_sync import DuckSync

        return DuckSync(self._engine, self._clock)

    @classmethod
    def open(
        cls,
        path: Path,
        clock: Clock,
        *,
        memory_limit: str | None = None,
        random_source: RandomSource | None = None,
    ) -> DuckStore:
        """Open or make the store whose database file is ``path``; a folder that is missing is made, for its owner only.

        ``random_source`` gives a new store its secrets; it is the machine's when not given.

        Raises:
            StoreLocked: another process, or another store object of this one, has it open.
            StoreReadOnly: folder or file cannot be written.
            StoreDamaged: the file cannot be opened, or is none of this program's; it was not changed.
            SchemaTooNew: a later version of this program wrote it.
        """
        make_folder(path.parent)
        lock = DatabaseLock(path)
        lock.take()
        try:
            finish_swap(path)
            settings = ConnectionSettings(memory_limit, random_source or SystemRandomSource())
            engine = Engine(path, lock, lambda: open_database(path, clock.now(), settings))
        except BaseException:
            lock.release()
            raise
        return cls(engine, clock)

    def info(self) -> StoreInfo:
        """Return what the store is and holds."""
        with self._engine.snapshot() as session:
            pinned = pinned_embedder(session)
            return StoreInfo(
                engine="duckdb",
                schema_version=MIGRATIONS[-1].number,
                memories=session.rows(_COUNT)[0][0],
                bytes_on_disk=size_on_disk(self._engine.path),
                embedder=pinned.identity if pinned else None,
                dimensions=pinned.dimensions if pinned else None,
                notices=(
                    *(one.message() for one in quarantine.unseen_reports(self._engine.path)),
                    *self._unreadable_notices(),
                ),
            )

    def _unreadable_notices(self) -> tuple[str, ...]:
        count = len(self._engine.unreadable)
        if not count:
            return ()
        what = "1 memory cannot be read and is" if count == 1 else f"{count} memories cannot be read and are"
        remedy = "close all clients and run `hybrid-memory-mcp doctor --repair`, which puts such rows aside"
        return (f"{what} left out of every answer; {remedy}",)

    def check(self, *, mark_seen: bool = False, refusal: Refusal | None = None) -> Report:
        """Read every row and compare what must agree, alongside other calls.

        ``mark_seen`` lets what happened before, such as a recovery, no longer be told by `info`. ``refusal`` says what an import would not
        take.
        """
        from hybrid_memory.store.duck.recovery.check import check_store
        from hybrid_memory.store.odd_rows import takes_all

        return check_store(self._engine, self._clock.now(), mark_seen=mark_seen, refusal=refusal or takes_all)

    def eraser(self, home: Path) -> Eraser:
        """Return what erases in this file and in its copies alongside it, once the store is closed."""
        from hybrid_memory.store.duck.erase_files import FileEraser

        del home  # the file lies in it
        return FileEraser(self._engine.path)

    def restorer(self, home: Path) -> Restorer:
        """Return what puts a backup in the place of this file, once the store is closed."""
        from hybrid_memory.store.duck.restore_file import FileRestorer

        del home
        return FileRestorer(self._engine.path)

    def namespaces(self) -> Sequence[str]:
        """Return the names of all namespaces that hold anything, sorted."""
        with self._engine.reading() as session:
            return sorted(name for (name,) in session.rows(_NAMESPACES))

    def pin_embedder(self, identity: str, dimensions: int) -> bool:
        """Pin the embedder of a store that has none; return whether its vectors may be stored."""
        check_text(identity)
        if dimensions < 1:
            raise ConstraintViolation("an embedder has at least one dimension")
        with self._engine.transaction() as (session, _, cache):
            if cache.embedder is None:
                pinned = PinnedEmbedder(1, identity, dimensions)
                VectorTable(pinned).create(session)
                tables.insert_embedder(session, pinned, cache.write_time(self._clock))
                cache.embedder = pinned
            return (cache.embedder.identity, cache.embedder.dimensions) == (identity, dimensions)

    def embedder(self) -> tuple[str, int] | None:
        """Return identity and dimensions of the pinned embedder."""
        with self._engine.reading() as session:
            pinned = pinned_embedder(session)
        return (pinned.identity, pinned.dimensions) if pinned else None

    def follow(self, follower: Follower) -> Callable[[], None]:
        """Tell nothing: a file has one hub, which knows what it writes."""
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
        with self._engine.operation():
            heads = self._engine.heads
            if namespace not in heads:
                with self._engine.reading() as session:  # a commit in the meantime brings other heads
                    heads[namespace] = tables.read_head(session, namespace).position
            return heads[namespace]

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
        with self._engine.reading() as session:
            row = session.row(_LAST_WRITE)
        return None if row is None else from_micros(row[0])

    def snapshot(self, namespace: str) -> Snapshot:
        """Return head and rows of this moment; batches and vectors are read from the file as they are asked for.

        They have a session each, so that two threads can read them. Equal heads say that both see the same moment.
        """
        with self._engine.operation():
            first, second = self._engine.open_snapshot(), self._engine.open_snapshot()
            try:
                while (head := tables.read_head(first, namespace)) != tables.read_head(second, namespace):
                    first.close()
                    first, second = second, self._engine.open_snapshot()
                pinned = pinned_embedder(second)
                names, spans = read_names(first, namespace), read_spans(first, namespace)
                batches = read_batches(first, namespace, spans, names)
                vectors = VectorTable(pinned).spans(second, namespace) if pinned else iter(())
            except BaseException:
                first.close()
                second.close()
                raise
            return Snapshot(
                namespace=namespace,
                head=head.position,
                ids=[ids for _, ids in spans],
                sessions=names[0].names,
                speakers=names[1].names,
                batches=self._engine.iterate(first, batches),
                vectors=self._engine.iterate(second, vectors),
            )

    def changes(self, namespace: str, after: int, limit: int = 1000) -> Sequence[LogEntry]:
        """Return log entries behind ``after``; raises `LogTrimmed`."""
        with self._engine.snapshot() as session:
            return tables.read_log(session, namespace, after, limit)

    def news(self, namespace: str, after: int, limit: int = 1000) -> News:
        """Return log entries behind ``after``, and what they are about; raises `LogTrimmed`."""
        log = self.changes(namespace, after, limit)
        ids = tuple(dict.fromkeys(entry.id for entry in log))
        with self._engine.snapshot() as session:
            pinned = pinned_embedder(session)
            passages = VectorTable(pinned).passages(session, namespace, ids) if pinned else {}
        return News(log, self.get(namespace, ids), self.vectors(namespace, ids), passages)

    def history(self, namespace: str, ids: Iterable[MemoryId]) -> Sequence[LogEntry]:
        """Return all log entries of some memories in order."""
        with self._engine.reading() as session:
            return tables.read_history(session, namespace, ids)

    def check_log(self, namespace: str) -> ChainCheck:
        """Follow the chain of a namespace's log."""
        with self._engine.snapshot() as session:
            return tables.check_log(session, namespace)

    def get(self, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, Memory]:
        """Return the memories that exist in this namespace."""
        with self._engine.reading() as session:
            return memories_by_id(session, namespace, ids)

    def list_memories(
        self, namespaces: Sequence[str], wanted: ListRequest, now: datetime
    ) -> tuple[Sequence[tuple[str, MemoryId]], int]:
        """Return namespace and id of the memories of one page of a list, and how many all pages hold."""
        with self._engine.snapshot() as session:
            return list_memories(session, namespaces, wanted, now)

    def ids_beginning(self, namespaces: Sequence[str], beginning: str, limit: int) -> Sequence[MemoryId]:
        """Return at most so many ids that begin with a text; sorted."""
        with self._engine.reading() as session:
            return ids_beginning(session, namespaces, beginning, limit)

    def linked_to(
        self, namespaces: Sequence[str], ids: Collection[MemoryId], limit: int
    ) -> Sequence[tuple[str, MemoryId]]:
        """Return namespace and id of memories that name one of some ids, those written last first."""
        with self._engine.reading() as session:
            return linked_to(session, namespaces, ids, limit)

    def vectors(self, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, NDArray[np.float32]]:
        """Return the vectors of those memories that have one."""
        with self._engine.reading() as session:
            pinned = pinned_embedder(session)
            return VectorTable(pinned).by_id(session, namespace, ids) if pinned else {}

    def usage(self, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, Usage]:
        """Return how the memories were used."""
        with self._engine.reading() as session:
            return tables.read_usage(session, namespace, ids)

    def used_by_others(self, namespace: str, since: datetime) -> Mapping[MemoryId, Usage]:
        """Return nothing: nobody else counts."""
        del namespace, since
        return {}

    def buffer(self, namespace: str, session: str, agent: str) -> BufferState | None:
        """Return the attention buffers of a session's agent."""
        with self._engine.reading() as reads:
            return tables.read_buffer(reads, namespace, session, agent)

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
        del alone, prefetch  # each write is; and nothing is far
        with self._engine.transaction() as transaction:
            if key is not None and (done := replay(transaction, namespace, key, codec)):
                return done
            now = transaction.cache.write_time(self._clock)
            return decide_and_apply(transaction, namespace, key, decide, codec, now)

    def touch(self, namespace: str, uses: Sequence[RecordUse]) -> None:
        """Add to the usage statistics; unknown ids are ignored."""
        with self._engine.transaction() as (session, reads, _):
            tables.record_uses(session, reads, namespace, uses)

    def result(self, namespace: str, key: RequestKey) -> Mapping[str, Json] | None:
        """Return the stored result of a request in a namespace, None if it was never done there."""
        if self._engine.is_new_request(key.relay, key.number):
            return None
        with self._engine.reading() as session:
            done = tables.read_request(session, key)
            return result_of(done) if done and done.namespace == namespace else None

    def acknowledge(self, relay: str, up_to: int | None) -> None:
        """Forget the stored results of a relay up to and including a number; None forgets them all."""
        with self._engine.transaction() as (session, _, cache):
            tables.forget_requests(session, cache, relay, NO_LIMIT if up_to is None else up_to)

    def forget_results(self, before: datetime) -> None:
        """Forget the stored results of requests that were made before a moment."""
        with self._engine.transaction() as (session, reads, cache):
            tables.forget_old_requests(session, reads, cache, to_micros(before))

    def to_review(self, namespaces: Sequence[str], wanted: ReviewRequest) -> Mapping[tuple[str, MemoryId], Reason]:
        """Return the memories that are doubtful, the most pressing first, and why."""
        with self._engine.snapshot() as session:
            return to_review(session, namespaces, wanted)

    def with_terms(
        self, namespaces: Sequence[str], terms: Collection[int], now: datetime, limit: int
    ) -> Sequence[tuple[str, MemoryId]]:
        """Return namespace and id of the newest current memories that have one of some terms."""
        with self._engine.reading() as session:
            return with_terms(session, namespaces, terms, now, limit)

    def undo_records(self, namespaces: Sequence[str], limit: int, undo: str | None = None) -> Sequence[UndoRecord]:
        """Return what undoes the newest acts, or the one of an id."""
        with self._engine.reading() as session:
            return read_undos(session, namespaces, limit, undo)

    def trim(self, namespace: str, before: int) -> None:
        """Let `changes` no longer reach behind position ``before``."""
        with self._engine.transaction() as (session, _, cache):
            tables.trim_log(session, cache, namespace, before)

    def put_entry(
        self, namespace: str, conversation: str, kind: str, body: Mapping[str, Json], number: int | None = None
    ) -> int:
        """Store an entry, replacing one of the same number; None takes the next number."""
        text = object_to_json(body)
        with self._engine.transaction() as (session, reads, _):
            return tables.put_entry(session, reads, (namespace, conversation, kind), text, number)

    def entries(self, namespace: str, conversation: str, kind: str) -> Sequence[ConversationEntry]:
        """Return the entries of a conversation by rising number."""
        with self._engine.reading() as session:
            return tables.read_entries(session, (namespace, conversation, kind))

    def remove_entries(self, namespace: str, conversation: str, kind: str) -> int:
        """Remove the entries of a conversation; their numbers are not used again."""
        with self._engine.transaction() as (session, _, _):
            return tables.remove_entries(session, (namespace, conversation, kind))

    def vector_index(self, dimensions: int) -> VectorIndex | None:
        """Return an empty HNSW index in a database of its own, None where the extension cannot be loaded."""
        from hybrid_memory.store.duck.vss import open_hnsw

        return open_hnsw(dimensions)

    def close(self) -> None:
        """Write everything out and let the file go; calling it again does nothing."""
        self._engine.close()
