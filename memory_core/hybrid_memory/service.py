"""`MemoryService`: the memory of one store, one public method for each thing that can be done with it.

The server, the command line, the DB-GPT names and users of the library call it. The steps of a method that writes:

1. validate the request (`validation`);
2. compute what a transaction must not wait for: vector, terms, what repeats it (`text_encoder`, `retrieval`);
3. let a pure function of `decisions` say what changes, inside the store's transaction (`store`);
4. feed the committed change to the search index, the caches and the listeners (`_commit`).

A method that reads does step 1, then calls `reads`. Methods hold the shared lock; only the moment in which a store changes its
embedder (`background`) holds it exclusively.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from hybrid_memory import homes, reads, validation
from hybrid_memory.acts import Acts, Writer, links_of
from hybrid_memory.background import LEASE_SECONDS, BackgroundJobs
from hybrid_memory.brief_reasons import BriefReasons, brief_reasons_of
from hybrid_memory.clock import LONGEST_GAP, MOST_CARRIED, SystemClock, SystemRandomSource, ahead_of_clock, never_back
from hybrid_memory.decisions import result_codec, sessions
from hybrid_memory.decisions.edit import PreparedUpdate, decide_update, taking_the_key
from hybrid_memory.decisions.forgetting import Lookups, decide_forget_or_restore
from hybrid_memory.decisions.reflect import PreparedInsight, decide_insights, decide_reflected
from hybrid_memory.decisions.write import KIND_OF, PreparedWrite, WriteRules, decide_write
from hybrid_memory.embedding.registry import check_spec, choose_embedders, embedder_of
from hybrid_memory.embedding.table_choice import NAMED, reason
from hybrid_memory.errors import (
    ConfirmationNeeded,
    EngineUnavailable,
    InvalidInput,
    LogTrimmed,
    NotFound,
    StoreClosed,
    StoreFull,
    StoreRemoved,
)
from hybrid_memory.following import (
    FOLLOWED_INSIDE,
    Announcements,
    Following,
    IndexBehind,
    up_to_date,
    with_known_vectors,
)
from hybrid_memory.idempotency import idempotent
from hybrid_memory.ids import new_id, whole_id
from hybrid_memory.language_share import LanguageShare
from hybrid_memory.model import Json, Memory, MemoryId, MemoryType, Scope
from hybrid_memory.overviews import Overviews
from hybrid_memory.quiet_recall import ShownMemories, quiet_recall
from hybrid_memory.reading_journal import ReadingJournal
from hybrid_memory.readings import Readings
from hybrid_memory.reencoding import AT_OPENING, reencode
from hybrid_memory.requests import (
    ForgetRequest,
    ForgetResult,
    Hit,
    Insight,
    ListRequest,
    ListResult,
    Progress,
    ReadRequest,
    ReadResult,
    ReflectionGroup,
    Related,
    Status,
    UpdateRequest,
    UpdateResult,
    Where,
    WriteRequest,
    WriteResult,
)
from hybrid_memory.retrieval.brief import is_untrusted
from hybrid_memory.retrieval.index_cache import IndexCache
from hybrid_memory.retrieval.prompt_gist import gist_of
from hybrid_memory.retrieval.query import ranking_weights
from hybrid_memory.retrieval.question import parse_question
from hybrid_memory.rwlock import ReadWriteLock, shared
from hybrid_memory.search_reasons import SearchReasons, reasons_of
from hybrid_memory.secret_policy import SecretMode, SecretPolicy
from hybrid_memory.settings import StoreSettings, store_settings
from hybrid_memory.store.base import PLAIN_CODEC, WriteBatch
from hybrid_memory.store.opening import open_store
from hybrid_memory.text_encoder import TextEncoder
from hybrid_memory.tiers.flow import flow_rules
from hybrid_memory.tiers.importance import heuristic_importance
from hybrid_memory.word_encoding import encode_words

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.clock import Clock, RandomSource
    from hybrid_memory.embedding.embedder import Embedder
    from hybrid_memory.retrieval.index import NamespaceIndex
    from hybrid_memory.retrieval.memory_columns import MemoryColumns
    from hybrid_memory.store.base import CommitResult, Decision, LogEntry, RequestKey, ResultCodec, Store, WriteView

T = TypeVar("T")

Listener = Callable[[str, frozenset[str]], None]
"""Is called with a namespace and the sessions in which a commit changed something."""

_MAX_WAITING_RECALLS = 4096  # beyond it the oldest are lost: they are statistics and must not use up memory
# Passes most of the rules for words, names, days and aspects, whose patterns are compiled at their first use.
_WARMING = "Ada's dentist said on 3 March that she must not eat nuts; remind Bo of BUG-12 next Friday. Ich muss morgen noch zahlen."
_RECALLS_BEFORE_WRITE = 256  # so many waiting recalls are stored by the next write; fewer wait for an idle moment
_KEEP_RESULTS = timedelta(days=1)  # of requests, for a relay that never came back to acknowledge them
_SWEEP_SECONDS = 3600.0  # between two looks for conversations that ended without saying so
_USAGE_EVERY = timedelta(minutes=1)  # what other hubs counted meanwhile does not count here yet
_BACKFILL_BATCH = 64  # late vectors in one transaction: a batch of a model that does not hold up other calls for long


class MemoryService:
    """The memory of one store. Safe to call from several threads.

    ``embedder`` is the one that the store shall have; vectors of another that the store holds are used with ``previous``
    until `reembed` or `run_background_step` has made new ones. ``follow_languages`` says that nobody chose ``embedder``, so that
    background steps may change the store from one built-in table to the other. ``secrets`` is what is done about secrets in what is
    written and shown, ``journal`` tells who asked what. Every method raises only `hybrid_memory.errors`; a call that raised has
    changed nothing.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        *,
        clock: Clock,
        random_source: RandomSource,
        settings: StoreSettings | None = None,
        previous: Embedder | None = None,
        follow_languages: bool = False,
    ) -> None:
        self.store = store
        self.settings = settings or StoreSettings()
        self.lock = ReadWriteLock()
        self._clock = clock
        self._random_source = random_source
        self._encoder = TextEncoder(store, embedder, previous)
        self.secrets = SecretPolicy(SecretMode(self.settings.secrets))
        self._index_cache = IndexCache(
            store,
            self._encoder.dimensions,
            self.settings.hnsw_from,
            shown=self.secrets.shown,
            followed=self._note_followed,
        )
        # Nobody chose an embedder: the table follows the languages of the memories.
        self._languages = LanguageShare(store, self._index_cache.size) if follow_languages else None
        self._background = BackgroundJobs(
            store,
            self._index_cache,
            self._encoder,
            self.lock,
            self._backfill,
            self._languages,
            embedder_of=partial(embedder_of, settings=self.settings),
        )
        self._write_rules = WriteRules(flow=flow_rules(self.settings), habit_sessions=self.settings.habit_sessions)
        self._ranking_weights = ranking_weights(self.settings)
        self._listeners: list[Listener] = []
        self._recalls: deque[tuple[str, sessions.Recall]] = deque(maxlen=_MAX_WAITING_RECALLS)
        self._recalls_lock = threading.Lock()
        kept, days = self.settings.keep_readings, self.settings.keep_readings_days
        self.journal = ReadingJournal(store.readings, keep=kept, days=days)
        self._readings = Readings()
        self._shown = ShownMemories()
        self._last_known = store.last_write()
        # Another hub's clock may be a little ahead of this one's.
        self._latest_write = clock.now() if self._last_known is None else never_back(clock.now(), self._last_known)
        self._clock_jumped = False
        self._usage_taken_at = clock.now()
        self._warmed: dict[tuple[str, ...], Scope] = {}
        self._swept_at = monotonic()
        writer = Writer(self._commit_act, self._new_id, self._now)
        self.acts = Acts(store, self._encoder, self._index_cache, self.lock, self.secrets, writer)
        self.overviews = Overviews(store, self._index_cache, self._now)
        """The map of the memories, and the names in them."""
        self._related_search = ThreadPoolExecutor(max_workers=1, thread_name_prefix="related")
        self._announcements = Announcements(self._tell_listeners, self.store.news)
        self.following = self._begin_to_follow()
        """Keeps up with other hubs that write to the store."""

    @classmethod
    def open(
        cls,
        home: Path,
        *,
        clock: Clock | None = None,
        random_source: RandomSource | None = None,
        settings: StoreSettings | None = None,
        dice: RandomSource | None = None,
    ) -> MemoryService:
        """Open the store of a folder, which is made when it is not there: the file in it, or the database that the settings name.

        ``clock`` and ``random_source`` are the machine's when not given. ``dice`` is the former name of ``random_source``.

        Raises:
            StoreError: another process has it open, or it cannot be opened.
            InvalidInput: a setting is wrong.
        """
        clock = clock or SystemClock()
        random_source = random_source or dice or SystemRandomSource()
        settings = settings or store_settings(home)
        check_spec(settings.embedder)
        store = open_store(settings, home, clock, random_source)
        try:
            with suppress(StoreFull):  # it can be read all the same, with the words as they are
                reencode(store, AT_OPENING)
            embedder, previous = choose_embedders(settings, store.info().embedder)
        except BaseException:
            store.close()
            raise
        return cls(
            store,
            embedder,
            clock=clock,
            random_source=random_source,
            settings=settings,
            previous=previous,
            follow_languages="embedder" not in settings.model_fields_set,
        )

    # --- write, read, reflect, update, forget -------------------------------------------------------------------------

    @shared
    @idempotent(result_codec.WRITE)
    def write(self, scope: Scope, request: WriteRequest, *, key: RequestKey | None = None) -> WriteResult:
        """Remember a statement; durable and findable when this returns.

        Raises:
            InvalidInput: names the argument that is wrong.
            NotFound: the memory to supersede does not exist here.
        """
        # 1. Validate.
        now = self._now()
        validation.check_scope(scope)
        request, secrets = self.secrets.write(validation.check_write(request, now))
        if len(self._recalls) >= _RECALLS_BEFORE_WRITE or self.journal.is_due:
            self.flush_recalls()
        # 2. Compute vector, terms and what the statement repeats. The search for related memories goes on in another thread
        #    while the commit waits for the disk.
        #    What corrects a memory goes to where that lies.
        home = homes.home_of(self.store, scope, request.supersedes)
        index = self._index_cache.get(home.namespace)
        parents = homes.elsewhere(self.store, scope, home, request.parents)
        prepared = self._prepare_write(home, request, index, now, parents)
        related = self._start_related_search(prepared, scope, index, now)
        # 3. and 4. Decide and commit in one transaction; index, caches and listeners follow.
        decide = _naming(partial(decide_write, prepared, self._write_rules, index.vectors_of), secrets)
        try:
            written = self._commit(home.namespace, key, decide, result_codec.WRITE)
        except LogTrimmed:  # this hub was away for long, and what it prepared is of a time that the log no longer tells
            self._index_cache.load_again(home.namespace, index)
            prepared = self._prepare_write(home, request, index, now, parents)
            decide = _naming(partial(decide_write, prepared, self._write_rules, index.vectors_of), secrets)
            written = self._commit(home.namespace, key, decide, result_codec.WRITE)
        result: WriteResult = written.result
        # The decision may have counted the statement on a memory that the search has found: that one is the result.
        others = (memory for memory in related.result() if memory.id != result.id)
        return replace(result, related=tuple(others)[: reads.RELATED_SHOWN])

    @shared
    def read(self, scope: Scope, request: ReadRequest) -> ReadResult:
        """Find memories: by question, by ids, or a brief when neither is given. Changes nothing that is stored.

        The memory that clearly answers a question counts as recalled; `flush_recalls` or a later write stores that.

        Raises:
            InvalidInput: names the argument that is wrong.
        """
        now = self._now()
        validation.check_scope(scope)
        if request.quiet:
            request = replace(request, query=gist_of(request.query))
        request = validation.check_read(request)
        if request.quiet:
            return self._read_quietly(scope, request, now)
        index = self._index_cache.get_all(scope.namespaces)
        # Only a question recalls: nobody asked for the memories of a brief, and who fetches by id knows them already.
        if request.ids:
            return self._annotated(reads.by_ids(self.store, index, scope, request, now), index, now, scope)
        if not request.query.strip():
            return self._annotated(
                reads.brief(self.store, index, scope, request, now, self._readings), index, now, scope
            )
        vector = self._encoder.encode_query(request.query)
        result = reads.search(
            self.store,
            index,
            scope,
            request,
            vector,
            now,
            self._ranking_weights,
            multilingual=self._encoder.multilingual,
            readings=self._readings,
        )
        if request.recalls and result.recalled is not None:
            # It is stored later, so that a read waits for no transaction.
            self._queue_recall(scope, result, now)
        if vector is None and self._encoder.problem is not None:
            result = replace(result, words_alone=True)
        return self._annotated(result, index, now, scope)

    def _read_quietly(self, scope: Scope, request: ReadRequest, now: datetime) -> ReadResult:
        """Answer a checked request whose query is the gist of a prompt."""
        if request.ids or not request.query.strip():
            return ReadResult(hits=(), total=0)
        index = self._index_cache.get_all(scope.namespaces)
        result = quiet_recall(
            self.store,
            index,
            scope,
            request,
            self._encoder.encode_query(request.query),
            now,
            self._ranking_weights,
            multilingual=self._encoder.multilingual,
            shown=self._shown.of(scope),
        )
        if request.recalls and result.recalled is not None:
            self._queue_recall(scope, result, now)
        return self._annotated(result, index, now, scope)

    @shared
    def read_with_reasons(self, scope: Scope, request: ReadRequest) -> tuple[ReadResult, SearchReasons]:
        """Answer a question as `read` does, with what stands behind the answer: for a person who looks at the memory.

        It counts as no recall, and begins no reading that others' readings of several pages would make room for.

        Raises:
            InvalidInput: names the argument that is wrong; there has to be a question.
        """
        index, request, now = self._looked_at(scope, request)
        if request.ids or not request.query.strip():
            raise InvalidInput("query", "is missing")
        vector, fetch = self._encoder.encode_query(request.query), reads.fetch_of(self.store, scope)
        found = reads.find(
            self.store,
            index,
            scope,
            request,
            vector,
            now,
            self._ranking_weights,
            multilingual=self._encoder.multilingual,
        )
        result = reads.page_of(found, index, fetch, request)
        reasons = reasons_of(found, result, index, fetch, request)
        result = replace(result, words_alone=vector is None and self._encoder.problem is not None)
        return self._annotated(result, index, now, scope), reasons

    @shared
    def brief_with_reasons(self, scope: Scope, request: ReadRequest) -> tuple[ReadResult, BriefReasons]:
        """Return a brief as `read` does, with what stands behind it: for a person who looks at the memory.

        Raises:
            InvalidInput: names the argument that is wrong.
        """
        index, request, now = self._looked_at(scope, request)
        fetch = reads.fetch_of(self.store, scope)
        found = reads.find_brief(self.store, index, scope, request, now)
        reasons = brief_reasons_of(found, index, fetch, request)
        return self._annotated(reads.brief_page(found, index, fetch), index, now, scope), reasons

    def _looked_at(self, scope: Scope, request: ReadRequest) -> tuple[NamespaceIndex, ReadRequest, datetime]:
        """Return what a person's look from outside needs: the index, the checked request, which explains, and the time."""
        now = self._now()
        validation.check_scope(scope)
        request = validation.check_read(replace(request, explain=True, recalls=False))
        return self._index_cache.get_all(scope.namespaces), request, now

    def note_shown(self, scope: Scope, ids: Iterable[MemoryId]) -> None:
        """Remember that a session was shown some memories: a quiet read leaves them out from now on."""
        self._shown.note(scope, ids)

    def forget_shown(self, scope: Scope) -> None:
        """Forget what a session was shown, because its context was cleared or compacted."""
        self._shown.forget(scope)

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
        if focus is not None:
            focus = validation.check_focus(focus)
        vector = self._encoder.encode_query(focus) if focus else None
        index = self._index_cache.get_all(scope.namespaces)
        return reads.reflection_groups(
            self.store,
            index,
            scope,
            where,
            focus,
            vector,
            limit=limit,
            now=now,
            multilingual=self._encoder.multilingual,
        )

    @shared
    @idempotent(result_codec.INSIGHTS)
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
        by_home: dict[Scope, list[PreparedInsight]] = {}
        for at, insight in enumerate(self.secrets.insights(validation.check_insights(insights))):
            encoded = self._encoder.encode(insight.text, None, now)
            home = homes.home_of_insight(self.store, scope, insight)
            prepared = PreparedInsight(
                id=self._new_id(now),
                insight=insight,
                encoded=encoded,
                elsewhere=homes.elsewhere(self.store, scope, home, insight.evidence),
                at=at,
            )
            by_home.setdefault(home, []).append(prepared)
        return self._commit_insights(scope, by_home, key)

    @shared
    @idempotent(result_codec.UPDATE)
    def update(self, scope: Scope, request: UpdateRequest, *, key: RequestKey | None = None) -> UpdateResult:
        """Change a memory: new words make a new version that supersedes the old one, which is kept.

        Raises:
            InvalidInput: an argument is wrong, or the version was superseded.
            NotFound: no such memory.
        """
        now = self._now()
        validation.check_scope(scope)
        request, secrets = self.secrets.update(validation.check_update(request, now))
        scope = homes.home_of(self.store, scope, request.id)
        old = self.store.get(scope.namespace, [request.id]).get(request.id)
        encoded = None
        if request.content is not None and old is not None:
            encoded = self._encoder.encode(request.content, old.speaker, old.occurred_at or now, old.key)
        prepared = PreparedUpdate(id=self._new_id(now), scope=scope, request=request, encoded=encoded)
        index = self._index_cache.get(scope.namespace)
        holders_of = partial(index.key_holders, now=now)
        decide = _naming(lambda view: taking_the_key(decide_update(prepared, view), holders_of, view), secrets)
        result: UpdateResult = self._commit(scope.namespace, key, decide, result_codec.UPDATE, index=index).result
        return result

    @shared
    @idempotent(result_codec.FORGET)
    def forget(self, scope: Scope, request: ForgetRequest, *, key: RequestKey | None = None) -> ForgetResult:
        """Forget memories so that nothing finds them, or bring forgotten ones back.

        Raises:
            InvalidInput: an argument is wrong.
            NotFound: an id does not exist here.
            ConfirmationNeeded: ``where`` was given without the number of memories it matches.
        """
        validation.check_scope(scope)
        request = validation.check_forget(request)
        now = self._now()
        if request.where is not None:
            index = self._index_cache.get(scope.namespace)
            ids = index.select(request.where, now, forgotten=request.restore)
            if scope.personal is not None and request.count != len(ids):
                raise ConfirmationNeeded(len(ids), self._matching_elsewhere(scope, request, now))
            return self._forget_here(scope, request, (), key, now)
        theirs = homes.of_the_person(self.store, scope, request.ids)
        if not theirs:
            return self._forget_here(scope, request, request.ids, key, now)
        person = replace(scope, namespace=scope.personal or scope.namespace, personal=None)
        ours = [one for one in request.ids if one not in theirs]
        if not ours:
            return self._forget_here(person, request, request.ids, key, now)
        # Both or none: what is not there is noticed before anything is done. The project's part is the one that a repeat finds
        # done; to do the person's part twice changes nothing.
        known = self.store.get(scope.namespace, ours)
        if missing := [f"ids.{at}" for at, one in enumerate(request.ids) if one not in theirs and one not in known]:
            raise NotFound(f"{', '.join(missing)}: no such memory; nothing was changed")
        done = self._forget_here(person, request, [one for one in request.ids if one in theirs], None, now)
        return self._forget_here(scope, request, ours, key, now, beside=done)

    # --- recent, get, suggest, status, listen -------------------------------------------------------------------------

    def recent(self, scope: Scope, *, limit: int = 20, session: str | None = None) -> tuple[Memory, ...]:
        """Return the most recent memories of the namespace, or of one session, newest first."""
        index = self._index_cache.get_all(scope.namespaces)
        ids = index.select(Where(session=session), self._now())[:limit]
        return tuple(map(self.secrets.shown, self._fetch(scope, ids).values()))

    def recent_page(self, scope: Scope, *, limit: int, session: str | None = None) -> ReadResult:
        """Return the most recent memories as `recent` does, at most a quarter of them untrusted where others are; the rest is held back."""
        now = self._now()
        index = self._index_cache.get_all(scope.namespaces)
        ids = index.select(Where(session=session), now)
        shown, held_back = index.recent_in_shares(ids, limit)
        hits = self.as_hits(scope, self._fetch(scope, shown).values())
        return ReadResult(hits=hits, total=len(ids), held_back=held_back)

    def as_hits(self, scope: Scope, memories: Iterable[Memory]) -> tuple[Hit, ...]:
        """Return memories as reads do: without their secrets, and with what disputes them."""
        hits = tuple(Hit(memory=self.secrets.shown(memory)) for memory in memories)
        result = ReadResult(hits=hits, total=len(hits))
        return self._annotated(result, self._index_cache.get_all(scope.namespaces), self._now(), scope).hits

    def untrusted_among(self, scope: Scope, ids: Sequence[MemoryId]) -> list[MemoryId]:
        """Return those of some ids whose memories are trusted less than the assistant's own words."""
        found = self._fetch(scope, ids)
        return [one for one in ids if one in found and is_untrusted(found[one])]

    def get(self, scope: Scope, memory_id: MemoryId) -> Memory:
        """Return one memory, a superseded version included.

        Raises:
            NotFound: no such memory in this namespace, or it is forgotten.
        """
        memory = self._fetch(scope, [memory_id]).get(memory_id)
        if memory is None or memory.forgotten_at is not None:
            raise NotFound("id: no such memory")
        return self.secrets.shown(memory)

    @shared
    def list_memories(self, scope: Scope, request: ListRequest) -> ListResult:
        """Return the memories that pass some filters, those written last first, whatever their state if that is asked for.

        Raises:
            InvalidInput: names the filter that is wrong.
        """
        validation.check_scope(scope)
        request = validation.check_list(request)
        page, total = self.store.list_memories(scope.namespaces, request, self._now())
        found = self._fetch_from(page)
        return ListResult(tuple(self.secrets.shown(found[one]) for one in page if one in found), total)

    @shared
    def whole_ids(self, scope: Scope, given: Sequence[str]) -> tuple[MemoryId, ...]:
        """Return the ids that some texts name: each is an id, or the beginning of one alone, in whatever state its memory is.

        Raises:
            InvalidInput: it begins several, or it is too short to tell.
            NotFound: names the text that begins none.
        """
        known = self._fetch(scope, [MemoryId(one) for one in given])
        return tuple(
            MemoryId(one) if one in known else whole_id(one, partial(self.store.ids_beginning, scope.namespaces))
            for one in given
        )

    def revealed(self, scope: Scope, ids: Sequence[MemoryId]) -> dict[MemoryId, Memory]:
        """Return memories with the secrets that they hold, forgotten ones included: for the person at the command line alone."""
        return self._fetch(scope, ids)

    @shared
    def look(self, scope: Scope, work: Callable[[MemoryColumns, datetime], T]) -> T:
        """Return what a function of `overview` makes of the columns of all memories of a scope, and of the time."""
        now = self._now()
        return self._index_cache.get_all(scope.namespaces).look(lambda columns: work(columns, now))

    @shared
    def alike(
        self, scope: Scope, memory_id: MemoryId, *, limit: int, without: Collection[MemoryId] = ()
    ) -> dict[MemoryId, float]:
        """Return the live memories whose meaning is nearest to that of one, with their cosines; none while it has no vector."""
        index, excluded = self._index_cache.get_all(scope.namespaces), {memory_id, *without}
        vector = index.vectors_of([memory_id]).get(memory_id)
        if vector is None:
            return {}
        near = index.similar(vector, k=limit + len(excluded), floor=reads.RELATED_SIMILARITY, now=self._now())
        return dict([one for one in near if one[0] not in excluded][:limit])

    def suggest(self, scope: Scope, what: str, prefix: str, limit: int = 20) -> list[str]:
        """Return known names that begin with a prefix: of a ``session``, ``tag``, ``speaker`` or recent ``id``."""
        index = self._index_cache.get_all(scope.namespaces)
        if what == "id":
            return [str(one) for one in index.select(Where(), self._now()) if one.startswith(prefix)][:limit]
        names: dict[str, Callable[[str, int], list[str]]] = {
            "session": partial(index.sessions, now=self._now()),
            "tag": index.tags,
            "speaker": index.speakers,
        }
        found = names[what](prefix, limit) if what in names else []
        return [name for name in found if self.secrets.shown_text(name) == name]

    def status(self, scope: Scope) -> Status:
        """Return what the memory holds and how it is."""
        from importlib.metadata import version

        # In this order: loading the index may find what cannot be read.
        counts = self._index_cache.get_all(scope.namespaces).statistics(self._now())
        info = self.store.info()
        change = self._background.progress()
        notices = list(info.notices)
        if self._encoder.problem is not None:
            notices.append(
                f"search is by words alone, and new memories wait for their vectors: {self._encoder.problem}"
            )
        if counts.ahead:
            notices.append("; ".join(ahead_of_clock(counts.ahead)))
        if outdated := self._background.outdated_words():
            notices.append(
                f"{outdated} memories of an earlier version are being made ready for search by words; until then they are found "
                "by their meaning alone"
            )
        others = self.store.other_hubs()
        if others and change is None and (wanted := self._encoder.pending_change()) is not None:
            notices.append(
                f"this machine is set to the embedder {wanted.identity}, but the memories, which other machines share, have vectors "
                "of another one; `hybrid-memory-mcp reembed` changes it for all"
            )
        if change is not None:
            notices.append(
                f"the memories are being embedded anew for {change.embedder}: {change.done} of {change.total}"
            )
        return Status(
            version=version("hybrid-memory-mcp"),
            namespace=scope.namespace,
            session=scope.session,
            memories=counts.live,
            tiers=counts.tiers,
            forgotten=counts.forgotten,
            superseded=counts.superseded,
            insights=counts.insights,
            sessions=counts.sessions,
            embedder=info.embedder or self._encoder.target.identity,
            embedder_reason=NAMED if self._languages is None else reason(info.embedder, *self._languages.counts()),
            pending_vectors=counts.pending,
            engine=info.engine,
            schema_version=info.schema_version,
            bytes_on_disk=info.bytes_on_disk,
            reembedding=change,
            other_hubs=tuple(f"{one.name} ({one.version})" for one in others),
            notices=tuple(notices),
        )

    def shown_status(
        self, scope: Scope, clients: Sequence[Mapping[str, Json]] = (), notices: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Return `status` as JSON for readers: with who is connected and further notices, names without the secrets in them."""
        status = self.status(scope)
        values = asdict(status) | {"notices": [*status.notices, *notices], "clients": list(clients)}
        return dict(self.secrets.shown_body(values))

    def now(self) -> datetime:
        """Return the time, by which "yesterday" in an argument is meant."""
        return self._now()

    def notices(self) -> tuple[str, ...]:
        """Return what a user must know about the store: what was damaged, and what became of it."""
        return self.store.info().notices

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call ``listener(namespace, sessions)`` after each commit, of this process or of another hub; returns what stops that.

        It is called in the thread that wrote, or that came upon the change first. No session: nobody knows where something changed.
        """
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    # --- sessions, requests, background work --------------------------------------------------------------------------

    def encode_texts(self, texts: Sequence[str]) -> NDArray[np.float32] | None:
        """Return the unit vectors of some texts as rows; None while the model is missing."""
        return self._encoder.vectors(texts)

    def acknowledge(self, relay: str, up_to: int | None = None) -> None:
        """Forget the stored results of a relay's requests up to a number, None for all: it does not repeat those."""
        self.store.acknowledge(relay, up_to)

    @shared
    def flush_recalls(self) -> None:
        """Store what recalls changed since the last time, and what was read. Cheap when there is nothing.

        What a full or busy store has not taken waits for the next time, so each recall counts once.
        """
        with self._recalls_lock:
            pending = list(self._recalls)
            self._recalls.clear()
        for namespace in list(dict.fromkeys(name for name, _ in pending)):
            index = self._index_cache.at_hand(namespace)
            recalls = [recall for name, recall in pending if name == namespace]
            decide = partial(sessions.decide_recalls, recalls, self._write_rules.flow, index.vectors_of)
            try:
                self._commit(namespace, None, decide)
            except (EngineUnavailable, StoreFull):
                with self._recalls_lock:
                    room = _MAX_WAITING_RECALLS - len(self._recalls)
                    self._recalls.extendleft(reversed(pending[max(len(pending) - room, 0) :]))
                raise
            self._index_cache.record_uses(namespace, sessions.uses_of(recalls))
            pending = [one for one in pending if one[0] != namespace]
        self.journal.flush_waiting(self._now(), forget_old=not self._clock_jumped)

    @shared
    def end_session(self, scope: Scope) -> None:
        """End a conversation: its buffers are emptied by their rules, its working memory is over."""
        self.flush_recalls()
        self._end_session(scope)
        for namespace in scope.namespaces[1:]:  # only what a correction or a recall has left there
            if self.store.buffer(namespace, scope.session, scope.agent) is not None:
                self._end_session(replace(scope, namespace=namespace, personal=None))

    def _end_session(self, scope: Scope) -> None:
        index = self._index_cache.get(scope.namespace)
        where = Where(memory_type=MemoryType.WORKING, session=scope.session)

        def decide(view: WriteView) -> WriteBatch:
            tasks = index.select(where, self._now())
            return sessions.decide_end(scope, tasks, self._write_rules.flow, index.vectors_of, view)

        self._commit(scope.namespace, None, decide, index=index)

    @shared
    def warm_up(self, scope: Scope) -> None:
        """Load what the first call would otherwise wait for, and end sessions that ended without saying so."""
        index = self._index_cache.get(scope.namespace)
        self._encoder.load_model()
        if scope.namespaces in self._warmed:
            return
        self._warmed[scope.namespaces] = scope
        # Without a vector: what nothing was written to must not be pinned to an embedder.
        encode_words(_WARMING, None, self._now(), hasher=self.store.hasher)
        parse_question(_WARMING, self._now(), self.store.hasher)
        self._notice_jump(self._now())
        if not self._clock_jumped:
            self.store.forget_results(self._now() - _KEEP_RESULTS)
            self.journal.flush(self._now())
        index.warm(partial(self.store.get, scope.namespace))
        while self.backfill(scope):
            pass
        if scope.personal is not None:
            self._warm_up_joint(scope)
        self._sweep(scope)

    @shared
    def _sweep_again(self, scope: Scope) -> None:
        self._sweep(scope)

    def _sweep(self, scope: Scope) -> None:
        """End the conversations of a namespace that ended without saying so, unless another hub is just doing that."""
        if self._clock_jumped:  # the next start sweeps, if the clock was right
            return
        lease = self.store.lease(f"sessions of {scope.namespace}", LEASE_SECONDS)
        if lease is None:
            return
        index = self._index_cache.get(scope.namespace)
        idle = timedelta(hours=self.settings.session_idle_hours)

        def sweep(view: WriteView) -> WriteBatch:
            tasks = index.select(Where(memory_type=MemoryType.WORKING), self._now())
            return sessions.decide_sweep(view, scope, tasks, idle, self._write_rules.flow, index.vectors_of)

        try:
            self._commit(scope.namespace, None, sweep, index=index)
        finally:
            lease.release()

    @shared
    def load_model(self, scope: Scope) -> None:
        """Load the embedding model, and give what was stored without it its vectors; a statement that follows is stored with one.

        It is the part of `warm_up` that somebody needs who comes for a single call.
        """
        self._encoder.load_model()
        while self.backfill(scope):
            pass

    def backfill(self, scope: Scope, limit: int = _BACKFILL_BATCH) -> int:
        """Give memories that were stored while the model was missing their vectors; returns how many got one."""
        return self._backfill(scope.namespace, limit)

    def run_background_step(self) -> bool:
        """Do one piece of background work, vectors or the change of the embedder; returns whether there is more.

        Call it whenever the process is idle.
        """
        self._index_cache.let_unused_go()
        self._take_usage_of_others()
        if self.journal.is_due:
            self.journal.flush(self._now(), forget_old=not self._clock_jumped)
        if monotonic() - self._swept_at >= _SWEEP_SECONDS:
            # A hub that stays has no start at which conversations are ended that ended elsewhere.
            self._swept_at = monotonic()
            for scope in list(self._warmed.values()):
                self._sweep_again(scope)
        return self._background.step()

    def reembed(
        self, embedder: Embedder | None = None, *, progress: Callable[[Progress], None] | None = None
    ) -> Progress:
        """Change the store's embedder while reads and writes go on; can be resumed.

        ``embedder`` is the target when none is named.

        Raises:
            EmbedderUnavailable: the model cannot be loaded or run; the store goes on with its embedder.
        """
        return self._background.reembed(embedder, progress)

    def close(self) -> None:
        """Store what is left to store and let the file go; calling it again does nothing."""
        try:
            with suppress(StoreRemoved):  # recalls of a store that is gone
                self.flush_recalls()
        finally:
            self.following.close()
            self._related_search.shutdown()
            self.overviews.close()
            self._index_cache.close()
            self.store.close()

    # --- private ------------------------------------------------------------------------------------------------------

    def _prepare_write(
        self, scope: Scope, request: WriteRequest, index: NamespaceIndex, now: datetime, elsewhere: tuple[Memory, ...]
    ) -> PreparedWrite:
        """Return the request with its encoding, and with what in the namespace it repeats or takes the place of.

        What is written after ``seen_head`` is looked at again by the decision.
        """
        seen_head = index.head
        session = request.session or scope.session
        encoded = self._encoder.encode(request.content, request.speaker, request.occurred_at or now, request.key)
        return PreparedWrite(
            id=self._new_id(now),
            scope=scope,
            request=request,
            encoded=encoded,
            importance=heuristic_importance(
                request.content, explicit=request.importance, kind=KIND_OF[request.memory_type]
            ),
            repeats=tuple(index.repeats(encoded.content_hash, now)),
            key_owners=() if request.key is None else tuple(index.key_holders(session, request.key, now)),
            seen_head=seen_head,
            elsewhere=elsewhere,
        )

    def _start_related_search(
        self, prepared: PreparedWrite, scope: Scope, index: NamespaceIndex, now: datetime
    ) -> Future[tuple[Related, ...]]:
        """Look for memories about the same thing in another thread, without those that the write itself deals with."""
        excluded = {*prepared.repeats, prepared.request.supersedes, *prepared.key_owners, prepared.id}
        fetch = reads.fetch_of(self.store, scope)
        if scope.personal is not None:
            index = self._index_cache.get_all(scope.namespaces)
        try:
            return self._related_search.submit(reads.related, index, fetch, prepared.encoded.vector, excluded, now)
        except RuntimeError:
            raise StoreClosed("the memory was closed; open it again") from None

    def _fetch(self, scope: Scope, ids: Sequence[MemoryId]) -> dict[MemoryId, Memory]:
        return dict(reads.fetch_of(self.store, scope)(ids))

    def _fetch_from(self, places: Sequence[tuple[str, MemoryId]]) -> dict[tuple[str, MemoryId], Memory]:
        """Return the memories at some places, each a namespace with an id."""
        found: dict[tuple[str, MemoryId], Memory] = {}
        for namespace in dict.fromkeys(namespace for namespace, _ in places):
            memories = self.store.get(namespace, [id_ for name, id_ in places if name == namespace])
            found |= {(namespace, id_): memory for id_, memory in memories.items()}
        return found

    def _commit_insights(
        self, scope: Scope, by_home: Mapping[Scope, Sequence[PreparedInsight]], key: RequestKey | None
    ) -> tuple[MemoryId, ...]:
        """Store insights where each lies; what they rest on elsewhere counts as reflected upon too.

        The part of the project is the one that a repeat finds done; the same insight on the same evidence is not stored twice.
        """
        in_order = sorted(by_home, key=lambda one: one.namespace == scope.namespace)
        ids: dict[int, MemoryId] = {}
        for home in in_order:
            prepared = by_home[home]
            last = home is in_order[-1]
            index = self._index_cache.get(home.namespace)
            decide = homes.with_ids(
                partial(self._decide_insights, prepared, home, index),
                [one.at for one in prepared],
                ids if last else {},
            )
            found = self._commit(
                home.namespace, key if last else None, decide, result_codec.INSIGHTS, index=index
            ).result
            places = sorted((*ids, *(one.at for one in prepared))) if last else [one.at for one in prepared]
            ids |= dict(zip(places, found, strict=True))
            elsewhere = {one.id: one for each in prepared for one in each.elsewhere}
            for namespace in {one.namespace for one in elsewhere.values()}:
                theirs = [one for one, memory in elsewhere.items() if memory.namespace == namespace]
                self._commit(namespace, None, partial(decide_reflected, theirs, home))
        return tuple(ids[at] for at in sorted(ids))

    def _decide_insights(
        self, prepared: Sequence[PreparedInsight], home: Scope, index: NamespaceIndex, view: WriteView
    ) -> WriteBatch:
        now = self._now()
        known = [replace(one, repeats=tuple(index.repeats(one.encoded.content_hash, now))) for one in prepared]
        return decide_insights(known, home, view)

    def _matching_elsewhere(self, scope: Scope, request: ForgetRequest, now: datetime) -> int:
        """Return how many memories of the person a filter matches, which goes for the project's alone."""
        if request.where is None or scope.personal is None or scope.personal == scope.namespace:
            return 0
        index = self._index_cache.get(scope.personal)
        return len(index.select(request.where, now, forgotten=request.restore))

    def _forget_here(
        self,
        scope: Scope,
        request: ForgetRequest,
        ids: Sequence[MemoryId],
        key: RequestKey | None,
        now: datetime,
        *,
        beside: ForgetResult | None = None,
    ) -> ForgetResult:
        """Forget or bring back memories of one namespace; the result tells of what was done ``beside`` that as well.

        With a filter the memories are those that it finds when it is decided.
        """
        index = self._index_cache.get(scope.namespace)
        links = links_of(self.store, scope, index, ids if request.restore else ())

        def decide_here(view: WriteView) -> WriteBatch:
            found = ids if request.where is None else index.select(request.where, now, forgotten=request.restore)
            lookups = Lookups(partial(index.key_holders, now=now), index.replaced_by, links(view))
            return decide_forget_or_restore(request, found, scope, lookups, view)

        decide: Decision = decide_here if beside is None else homes.together(decide_here, beside, request.ids)
        result: ForgetResult = self._commit(scope.namespace, key, decide, result_codec.FORGET, index=index).result
        return result

    def _warm_up_joint(self, scope: Scope) -> None:
        """Load what is read together, and give the person's memories their vectors if some wait."""
        joint = self._index_cache.get_all(scope.namespaces)
        joint.warm(reads.fetch_of(self.store, scope))
        if joint.without_vector(self._now(), 1):
            for namespace in scope.namespaces[1:]:
                while self._backfill(namespace):
                    pass

    def _commit(
        self,
        namespace: str,
        key: RequestKey | None,
        decide: Decision,
        codec: ResultCodec = PLAIN_CODEC,
        *,
        index: NamespaceIndex | None = None,
    ) -> CommitResult:
        """Run a decision in the store's transaction, then let index, caches and listeners follow.

        ``index`` is what the decision looks things up in: it is as new as the transaction before that.
        """
        decide = with_known_vectors(decide, self._encoder.identity)
        if index is None:
            written = self.store.write(namespace, key, decide, codec)
        else:
            written = self._decide_up_to_date(namespace, key, decide, codec, index)
        if not written.replayed:
            self._note_moment(written.at)
        self._index_cache.apply(namespace, written)
        self._announcements.tell(namespace, written.log, written.memories)
        return written

    def _commit_act(self, namespace: str, decide: Decision, index: NamespaceIndex) -> CommitResult:
        return self._commit(namespace, None, decide, index=index)

    def _decide_up_to_date(
        self, namespace: str, key: RequestKey | None, decide: Decision, codec: ResultCodec, index: NamespaceIndex
    ) -> CommitResult:
        most = FOLLOWED_INSIDE
        while True:
            try:
                return self.store.write(namespace, key, up_to_date(index, decide, most), codec, alone=True)
            except IndexBehind:
                self._index_cache.load_again(namespace, index)
                most *= 10  # where others write faster than an index is loaded, the rest is followed inside

    # --- what other hubs write ----------------------------------------------------------------------------------------

    def _begin_to_follow(self) -> Following:
        return Following(
            self.store,
            self._announcements,
            catch_up=self._catch_up,
            exchange=self._exchange,
            change_embedder=self._change_embedder,
            marks=self._index_cache.marks,
        )

    def _note_moment(self, at: datetime) -> None:
        self._notice_jump(at)
        self._latest_write = never_back(at, self._latest_write)

    def _note_followed(
        self, namespace: str, log: Sequence[LogEntry], memories: Mapping[MemoryId, Memory], head: int
    ) -> None:
        """Note what an index has followed; other hubs' clocks may be a little ahead of this one's."""
        if log:
            self._note_moment(log[-1].at)
            self._announcements.tell(namespace, log, memories)
            return
        # It was loaded, and nobody has read when anything was written.
        self._announcements.tell_loaded(namespace, head)
        if self.following.has_heard and (last := self.store.last_write()) is not None:
            self._note_moment(last)

    def _tell_listeners(self, namespace: str, touched: frozenset[str]) -> None:
        for listener in tuple(self._listeners):
            listener(namespace, touched)

    @shared
    def _take_usage_of_others(self) -> None:
        """Take over now and then what other hubs have counted; recalls stand in no log."""
        now = self._now()
        if now - self._usage_taken_at >= _USAGE_EVERY:
            # Recalls wait before they are stored, and other hubs' clocks may be behind.
            self._index_cache.take_usage_since(self._usage_taken_at - MOST_CARRIED - _USAGE_EVERY)
            self._usage_taken_at = now

    @shared
    def _catch_up(self, namespace: str) -> bool:
        return self._index_cache.catch_up_all(namespace)

    def _exchange(self) -> list[str]:
        """Let go what was read of the store; returns the namespaces that were loaded."""
        with self.lock.exclusive():
            loaded = self._index_cache.let_all_go()
            self._encoder.follow_store(partial(embedder_of, settings=self.settings))
            self.overviews.forget()
            self._warmed.clear()
        return loaded

    def _change_embedder(self) -> None:
        """Take the store's new embedder; the indexes are read anew beforehand, while calls go on with the old one."""
        with self.lock.shared():
            pinned = self.store.embedder()
            if pinned is None or pinned[0] == self._encoder.identity:  # this hub has changed it itself
                return
        fresh = self._index_cache.loaded_anew()
        with self.lock.exclusive():
            closing = self._index_cache.exchange(fresh)
            self._encoder.follow_store(partial(embedder_of, settings=self.settings))
        for index in closing:
            index.close()

    @shared
    def _backfill(self, namespace: str, limit: int = _BACKFILL_BATCH) -> int:
        index = self._index_cache.get(namespace)
        ids = index.without_vector(self._now(), limit)
        # Without a model somebody else is to have it.
        if not ids or self._encoder.active() is None:
            return 0
        lease = self.store.lease(f"vectors of {namespace}", LEASE_SECONDS)
        if lease is None:
            return 0
        done = 0
        try:
            done = self._embed_late(namespace, index, ids)
        finally:
            if done < limit:  # nothing is left to do, or it did not work
                lease.release()
        return done

    def _embed_late(self, namespace: str, index: NamespaceIndex, ids: Sequence[MemoryId]) -> int:
        vectors = self._encoder.vectors_for(self.store.get(namespace, ids).values())
        if not vectors:
            return 0

        def embed(view: WriteView) -> WriteBatch:
            # Another hub may have erased one meanwhile.
            there = view.get([one.id for one in vectors])
            return WriteBatch(action="embed", actor="late work", vectors=tuple(v for v in vectors if v.id in there))

        self._commit(namespace, None, embed)
        return len(index.vectors_of([one.id for one in vectors]))

    def _annotated(self, result: ReadResult, index: NamespaceIndex, now: datetime, scope: Scope) -> ReadResult:
        """Return a page with what its memories have lost or are disputed by, and how old that is where the database is away."""
        offline = self.store.offline_seconds()
        if offline is not None:
            result = replace(result, offline_seconds=offline)
        return _annotated(result, index, now, scope)

    def _queue_recall(self, scope: Scope, result: ReadResult, now: datetime) -> None:
        """Note the memory that a reading recalled, in the namespace that it lies in."""
        recalled = [hit.memory for hit in result.hits if hit.memory.id == result.recalled]
        with self._recalls_lock:
            for one in recalled:
                self._recalls.append((one.namespace, sessions.Recall(one.id, scope.session, scope.agent, now)))

    def _new_id(self, now: datetime) -> MemoryId:
        return new_id(now, self._random_source)

    def _now(self) -> datetime:
        """Return the time; not before the last write's where the clock went back by a little, so that what ended then is over."""
        return never_back(self._clock.now(), self._latest_write)

    def _notice_jump(self, moment: datetime) -> None:
        """Note if the clock is so far ahead of what was last known that nothing may be swept away in this process."""
        if self._last_known is not None and moment - self._last_known > LONGEST_GAP:
            self._clock_jumped = True
        self._last_known = moment


def _naming(decide: Decision, secrets: tuple[str, ...]) -> Decision:
    """Return a decision whose result names the kinds of secrets that its request held."""
    if not secrets:
        return decide

    def naming(view: WriteView) -> WriteBatch:
        batch = decide(view)
        return replace(batch, result=replace(batch.result, secrets=secrets))

    return naming


def _annotated(result: ReadResult, index: NamespaceIndex, now: datetime, scope: Scope) -> ReadResult:
    """Return a page with what its memories have lost or are disputed by."""
    return reads.with_lost_evidence(reads.with_disputes(result, index, now), index, scope)
