"""`MemoryService`: the seam on which the MCP layer, the command line and the Python API stand.

One method a verb. Each checks its request, computes what a transaction must not (vectors, terms, neighbours), lets a pure
decision run in the store's write, and feeds the committed change to the search structures and the listeners.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from hybrid_memory import preparing, reads, reflecting, status, validation
from hybrid_memory.decisions import edit, reflect, result_codec, sessions, write
from hybrid_memory.embedding.registry import check_spec, choose_embedders
from hybrid_memory.errors import NotFound, StoreClosed
from hybrid_memory.idempotency import replays
from hybrid_memory.ids import new_id
from hybrid_memory.model import Memory, MemoryId, MemoryType, Scope
from hybrid_memory.requests import (
    ForgetRequest,
    ForgetResult,
    Insight,
    Progress,
    ReadRequest,
    ReadResult,
    ReflectionGroup,
    Status,
    UpdateRequest,
    UpdateResult,
    Where,
    WriteRequest,
    WriteResult,
)
from hybrid_memory.retrieval.index_cache import IndexCache
from hybrid_memory.retrieval.query import ranking_weights
from hybrid_memory.rwlock import ReadWriteLock, shared
from hybrid_memory.settings import DATABASE, StoreSettings, store_settings
from hybrid_memory.store.base import ChangeType, WriteBatch
from hybrid_memory.tending import BackgroundJobs
from hybrid_memory.text_encoder import TextEncoder
from hybrid_memory.tiers.flow import rules_of

if TYPE_CHECKING:
    from pathlib import Path

    from hybrid_memory.clock import Clock, RandomSource
    from hybrid_memory.embedding.embedder import Embedder
    from hybrid_memory.store.base import CommitResult, Decision, RequestKey, Store

Listener = Callable[[str, frozenset[str]], None]

_RECALLED = 4
_QUEUE = 4096
_SETTLE_AT = 256
_RESULTS_KEPT = timedelta(days=1)


class MemoryService:
    """The memory of one store. Safe to call from several threads.

    ``embedder`` is the wanted one; vectors of another that the store holds are used with ``former`` until `reembed` or
    `run_background_step` has made new ones. Every method raises only `hybrid_memory.errors`; a call that raised has changed nothing.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        *,
        clock: Clock,
        random_source: RandomSource,
        settings: StoreSettings | None = None,
        former: Embedder | None = None,
    ) -> None:
        self.store = store
        self.settings = settings or StoreSettings()
        self.lock = ReadWriteLock()
        self.encoder = self._encoder = TextEncoder(store, embedder, former)
        self._clock = clock
        self._random_source = random_source
        self._write_rules = write.WriteRules(flow=rules_of(self.settings), habit_sessions=self.settings.habit_sessions)
        self._index_cache = IndexCache(store, self._encoder.dimensions, self.settings.hnsw_from)
        self._background = BackgroundJobs(store, self._index_cache, self._encoder, self.lock, self._backfill)
        self._formula = ranking_weights(self.settings)
        self._recalls: deque[tuple[str, sessions.Recall]] = deque(maxlen=_QUEUE)
        self._listeners: list[Listener] = []
        self._latest = clock.now()
        self._swept: set[str] = set()
        self._excerpts = reads.Excerpts()
        self._beside = ThreadPoolExecutor(max_workers=1, thread_name_prefix="beside")
        self._recalls_lock = threading.Lock()

    @classmethod
    def open(
        cls, home: Path, *, clock: Clock, random_source: RandomSource, settings: StoreSettings | None = None
    ) -> MemoryService:
        """Open the store in a folder, which is made when it is not there.

        Raises:
            StoreError: another process has it open, or it cannot be opened.
            InvalidInput: a setting is wrong.
        """
        from hybrid_memory.store.duck.store import DuckStore

        settings = settings or store_settings(home)
        check_spec(settings.embedder)
        store = DuckStore.open(
            home / DATABASE,
            clock,
            memory_limit=settings.duckdb_memory_limit,
            threads=settings.duckdb_threads,
        )
        embedder, former = choose_embedders(settings, store.info().embedder)
        return cls(store, embedder, clock=clock, random_source=random_source, settings=settings, former=former)

    @shared
    @replays(result_codec.write_from_json)
    def write(self, scope: Scope, request: WriteRequest, *, key: RequestKey | None = None) -> WriteResult:
        """Remember a statement; durable and findable when this returns.

        Raises:
            InvalidInput: names the argument that is wrong.
            NotFound: the memory to supersede does not exist here.
        """
        now = self._now()
        validation.check_scope(scope)
        request = validation.check_write(request, now)
        if len(self._recalls) >= _SETTLE_AT:
            self.flush_recalls()
        index = self._index_cache.get(scope.namespace)
        analysis = self._encoder.analyse(request.content, request.speaker, request.occurred_at or now, request.key)
        statement = preparing.statement_of(new_id(now, self._random_source), scope, request, analysis, index, now)
        known = {*statement.repeats, request.supersedes, statement.holder, statement.id}
        # The commit waits for the disk; the search for related memories does not have to wait for it.
        beside = (self.store, index, self._excerpts, scope.namespace, analysis.vector, known, now)
        try:
            related = self._beside.submit(reads.related, *beside)
        except RuntimeError:
            raise StoreClosed("the memory was closed; open it again") from None
        written = self._write(
            scope.namespace, key, lambda view: write.decide_write(statement, self._write_rules, index.vectors_of, view)
        )
        result = result_codec.write_from_json(written.result)
        return replace(result, related=tuple(one for one in related.result() if one.id != result.id)[:3])

    @shared
    def read(self, scope: Scope, request: ReadRequest) -> ReadResult:
        """Find memories: by question, by ids, or a brief when neither is given. Changes nothing that is stored.

        What a question finds counts as recalled; `flush_recalls` or a later write stores that.

        Raises:
            InvalidInput: names the argument that is wrong.
        """
        now = self._now()
        validation.check_scope(scope)
        request = validation.check_read(request)
        index = self._index_cache.get(scope.namespace)
        if request.ids:
            result = reads.by_ids(self.store, index, scope, request, now)
        elif not request.query.strip():
            return reads.brief(self.store, index, scope, request, now)
        else:
            vector = self._encoder.question(request.query)
            result = reads.search(self.store, index, scope, request, vector, now, self._formula)
            if vector is None and self._encoder.problem is not None:
                result = replace(result, words_alone=True)
        self._recalled(scope, [hit.memory.id for hit in result.hits if not hit.weak][:_RECALLED], now)
        return result

    @shared
    def offer_reflection(
        self,
        scope: Scope,
        *,
        focus: str | None = None,
        session: str | None = None,
        since: datetime | None = None,
        limit: int = 3,
    ) -> tuple[ReflectionGroup, ...]:
        """Return groups of related memories that were not reflected upon, the most worthwhile first.

        Raises:
            InvalidInput: names the argument that is wrong.
        """
        now = self._now()
        validation.check_scope(scope)
        where = validation.check_where("", Where(session=session, since=since))
        index = self._index_cache.get(scope.namespace)
        return reflecting.offer(self.store, index, self._encoder, scope.namespace, focus, where, limit=limit, now=now)

    @shared
    @replays(result_codec.ids_from_json)
    def store_insights(
        self, scope: Scope, insights: Sequence[Insight], *, key: RequestKey | None = None
    ) -> tuple[MemoryId, ...]:
        """Store the caller's insights in long-term with their evidence; returns their ids in order.

        Raises:
            InvalidInput: an argument is wrong, or evidence is an insight itself.
            NotFound: evidence does not exist in this namespace.
        """
        now = self._now()
        validation.check_scope(scope)
        index = self._index_cache.get(scope.namespace)
        thoughts = []
        for insight in validation.check_insights(insights):
            analysis = self._encoder.analyse(insight.text, None, now)
            repeats = tuple(index.repeats(analysis.content_hash, now))
            thoughts.append(
                reflect.PreparedInsight(
                    id=new_id(now, self._random_source), insight=insight, analysis=analysis, repeats=repeats
                )
            )
        written = self._write(scope.namespace, key, lambda view: reflect.decide_insights(thoughts, scope, view))
        return result_codec.ids_from_json(written.result)

    @shared
    @replays(result_codec.update_from_json)
    def update(self, scope: Scope, request: UpdateRequest, *, key: RequestKey | None = None) -> UpdateResult:
        """Change a memory: new words make a new version that supersedes the old one, which is kept.

        Raises:
            InvalidInput: an argument is wrong, or the version was superseded.
            NotFound: no such memory.
        """
        now = self._now()
        validation.check_scope(scope)
        request = validation.check_update(request, now)
        words = request.content
        old = self.store.get(scope.namespace, [request.id]).get(request.id)
        analysis = None
        if words is not None and old is not None:
            analysis = self._encoder.analyse(words, old.speaker, old.occurred_at or now, old.key)
        revision = edit.PreparedUpdate(
            id=new_id(now, self._random_source), scope=scope, request=request, analysis=analysis
        )
        written = self._write(scope.namespace, key, lambda view: edit.decide_update(revision, view))
        return result_codec.update_from_json(written.result)

    @shared
    @replays(result_codec.forget_from_json)
    def forget(self, scope: Scope, request: ForgetRequest, *, key: RequestKey | None = None) -> ForgetResult:
        """Forget memories so that nothing finds them, or bring forgotten ones back.

        Raises:
            InvalidInput: an argument is wrong.
            NotFound: an id does not exist here.
            ConfirmationNeeded: ``where`` was given without the number of memories it matches.
        """
        validation.check_scope(scope)
        request = validation.check_forget(request)
        ids: Sequence[MemoryId] = request.ids
        if request.where is not None:
            index = self._index_cache.get(scope.namespace)
            ids = index.select(request.where, self._now(), forgotten=request.restore)
        written = self._write(scope.namespace, key, lambda view: edit.decide(request, ids, scope, view))
        return result_codec.forget_from_json(written.result)

    def recent(self, scope: Scope, *, limit: int = 20, session: str | None = None) -> tuple[Memory, ...]:
        """Return the most recent memories of the namespace, or of one session, newest first."""
        index = self._index_cache.get(scope.namespace)
        ids = index.select(Where(session=session), self._now())[:limit]
        return tuple(self.store.get(scope.namespace, ids).values())

    def get(self, scope: Scope, memory_id: MemoryId) -> Memory:
        """Return one memory, a superseded version included.

        Raises:
            NotFound: no such memory in this namespace, or it is forgotten.
        """
        memory = self.store.get(scope.namespace, [memory_id]).get(memory_id)
        if memory is None or memory.forgotten_at is not None:
            raise NotFound("id: no such memory")
        return memory

    def suggest(self, scope: Scope, what: str, prefix: str, limit: int = 20) -> list[str]:
        """Return known names that begin with a prefix: of a ``session``, ``tag``, ``speaker`` or recent ``id``."""
        return status.suggestions(self._index_cache.get(scope.namespace), what, prefix, limit, self._now())

    def status(self, scope: Scope) -> Status:
        """Return what the memory holds and how it is."""
        index, change = self._index_cache.get(scope.namespace), self._background.progress()
        return status.status_of(self.store, index, self._encoder, change, scope, self._now())

    def notices(self) -> tuple[str, ...]:
        """Return what a user must know about the store: what was damaged, and what became of it."""
        return self.store.info().notices

    def acknowledge(self, relay: str, up_to: int | None = None) -> None:
        """Forget the stored results of a relay's requests up to a number, None for all: it does not repeat those."""
        self.store.acknowledge(relay, up_to)

    @shared
    def flush_recalls(self) -> None:
        """Store what recalls changed since the last time. Cheap when there is nothing."""
        with self._recalls_lock:
            pending = list(self._recalls)
            self._recalls.clear()
        for namespace in dict.fromkeys(name for name, _ in pending):
            index = self._index_cache.get(namespace)
            recalls = [recall for name, recall in pending if name == namespace]
            decide = partial(sessions.decide_recalls, recalls, self._write_rules.flow, index.vectors_of)
            self._write(namespace, None, decide)
            index.touch(sessions.touches(recalls))

    @shared
    def end_session(self, scope: Scope) -> None:
        """End a conversation: its buffers are emptied by their rules, its working memory is over."""
        self.flush_recalls()
        index = self._index_cache.get(scope.namespace)
        tasks = index.select(Where(memory_type=MemoryType.WORKING, session=scope.session), self._now())
        decide = partial(sessions.decide_end, scope, tasks, self._write_rules.flow, index.vectors_of)
        self._write(scope.namespace, None, decide)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener(namespace, sessions)`` from the writing thread after each commit; returns what stops that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    @shared
    def warm_up(self, scope: Scope) -> None:
        """Load what the first call would otherwise wait for, and end sessions that ended without saying so."""
        index = self._index_cache.get(scope.namespace)
        self._encoder.warm()
        if scope.namespace in self._swept:
            return
        self._swept.add(scope.namespace)
        self._excerpts.warm(self.store, scope.namespace)
        self.store.forget_results(self._now() - _RESULTS_KEPT)
        index.warm(partial(self.store.get, scope.namespace))
        while self.backfill(scope):
            pass
        idle = timedelta(hours=self.settings.session_idle_hours)
        tasks = index.select(Where(memory_type=MemoryType.WORKING), self._now())
        self._write(
            scope.namespace,
            None,
            lambda view: sessions.decide_sweep(view, scope, tasks, idle, self._write_rules.flow, index.vectors_of),
        )

    def backfill(self, scope: Scope, limit: int = 64) -> int:
        """Give memories that were stored while the model was missing their vectors; returns how many got one."""
        return self._backfill(scope.namespace, limit)

    def run_background_step(self) -> bool:
        """Do a piece of what is late, vectors or the change of the embedder; returns whether there is more. Call it at times."""
        return self._background.step()

    def reembed(
        self, embedder: Embedder | None = None, *, progress: Callable[[Progress], None] | None = None
    ) -> Progress:
        """Change the store's embedder, to the wanted one when none is named, while reads and writes go on; can be resumed.

        Raises:
            EmbedderUnavailable: the model cannot be loaded or run; the store goes on with its embedder.
        """
        return self._background.reembed(embedder, progress)

    def close(self) -> None:
        """Store what is left to store and let the file go; calling it again does nothing."""
        try:
            self.flush_recalls()
        finally:
            self._beside.shutdown()
            self._index_cache.close()
            self.store.close()

    @shared
    def _backfill(self, namespace: str, limit: int = 64) -> int:
        index = self._index_cache.get(namespace)
        waiting = self.store.get(namespace, index.without_vector(self._now(), limit)).values()
        vectors = self._encoder.late_vectors(waiting)
        if not vectors:
            return 0
        self._write(namespace, None, lambda _: WriteBatch(action="embed", actor="late work", vectors=vectors))
        return len(index.vectors_of([attach.id for attach in vectors]))

    def _write(self, namespace: str, key: RequestKey | None, decide: Decision) -> CommitResult:
        written = self.store.write(namespace, key, decide)
        self._latest = max(self._latest, written.at)
        self._index_cache.apply(namespace, written)
        put = {e.id: written.memories[e.id].content for e in written.log if e.change is ChangeType.INSERT}
        self._excerpts.keep(namespace, put)
        if written.log:
            touched = frozenset(memory.session for memory in written.memories.values())
            for listener in tuple(self._listeners):
                listener(namespace, touched)
        return written

    def _now(self) -> datetime:
        """Return the time, never before the last write's: what ended then is over, even if the machine's clock went back."""
        return max(self._clock.now(), self._latest)

    def _recalled(self, scope: Scope, ids: Sequence[MemoryId], now: datetime) -> None:
        with self._recalls_lock:
            self._recalls.extend(
                (scope.namespace, sessions.Recall(one, scope.session, scope.agent, now)) for one in ids
            )
