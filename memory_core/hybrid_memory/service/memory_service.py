"""`MemoryService`: the memory of one store, one public method for each thing that can be done with it.

The server, the command line, the DB-GPT names and users of the library call it. The steps of a method that writes:

1. validate the request (`validation`);
2. compute what a transaction must not wait for: vector, terms, what repeats it (`text_encoder`, `retrieval`);
3. let a pure function of `decisions` say what changes, inside the store's transaction (`store`);
4. feed the committed change to the search index, the caches and the listeners (`committing`).

A method that reads does step 1, then calls `reads`. Methods hold the shared lock; only the moment in which a store changes its
embedder (`background`) holds it exclusively.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from hybrid_memory import validation
from hybrid_memory.capture.gate import Gate, load_gate
from hybrid_memory.changes.endings import load_endings
from hybrid_memory.changes.judging import likely_changes, may_change
from hybrid_memory.changes.pairs import load_changes
from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.decisions import result_codec
from hybrid_memory.decisions.edit import PreparedUpdate, decide_update, taking_the_key
from hybrid_memory.decisions.reflect import PreparedInsight
from hybrid_memory.decisions.undo import undoable
from hybrid_memory.decisions.write import WriteRules, decide_write, prefetch_of
from hybrid_memory.embedding.registry import UNIVERSAL, check_spec, choose_embedders, embedder_of
from hybrid_memory.encoding.text_encoder import TextEncoder
from hybrid_memory.encoding.word_encoding import ENCODING
from hybrid_memory.errors import (
    ConcurrentModification,
    EmbedderUnavailable,
    InvalidInput,
    LogTrimmed,
    NotFound,
    StoreError,
    StoreFull,
    StoreRemoved,
)
from hybrid_memory.ids import whole_id
from hybrid_memory.language.text import visible
from hybrid_memory.model import TRUST_ORDER, Json, Memory, MemoryId, MemoryType, Scope
from hybrid_memory.requests import (
    ForgetRequest,
    ForgetResult,
    Hit,
    Insight,
    Lag,
    ListRequest,
    ListResult,
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
from hybrid_memory.retrieval.brief import is_untrusted
from hybrid_memory.retrieval.index import HNSW_FROM
from hybrid_memory.retrieval.index_cache import IndexCache
from hybrid_memory.retrieval.prompt_gist import gist_of
from hybrid_memory.retrieval.query import ranking_weights
from hybrid_memory.secret_detection.secret_policy import SecretMode, SecretPolicy
from hybrid_memory.service import forgetting, person_and_project, reads
from hybrid_memory.service.acts import Acts, Writer
from hybrid_memory.service.background import AT_OPENING, VECTORS_AT_ONCE, BackgroundJobs, LateVectors, reencode
from hybrid_memory.service.brief_reasons import BriefReasons, brief_reasons_of
from hybrid_memory.service.committing import Commits
from hybrid_memory.service.conversations import Conversations
from hybrid_memory.service.derived import Derived
from hybrid_memory.service.following import (
    Announcements,
)
from hybrid_memory.service.idempotency import idempotent
from hybrid_memory.service.insights_by_home import commit_insights
from hybrid_memory.service.other_hubs import OtherHubs
from hybrid_memory.service.preparing import prepare_write
from hybrid_memory.service.quiet_recall import ShownMemories, quiet_recall
from hybrid_memory.service.reading_journal import ReadingJournal
from hybrid_memory.service.readings import Readings
from hybrid_memory.service.reflecting import Focus, offered_groups
from hybrid_memory.service.rwlock import ReadWriteLock, shared
from hybrid_memory.service.search_reasons import SearchReasons, reasons_of
from hybrid_memory.service.service_time import ServiceTime
from hybrid_memory.service.status import status_of
from hybrid_memory.service.waiting_recalls import WaitingRecalls
from hybrid_memory.service.warm_up import WarmUp
from hybrid_memory.settings import StoreSettings, store_settings
from hybrid_memory.store.opening import open_store
from hybrid_memory.store.writing import WriteBatch
from hybrid_memory.tiers.flow import flow_rules

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.changes.endings import EndingModel
    from hybrid_memory.changes.judging import LikelyChange
    from hybrid_memory.changes.pairs import ChangeModel
    from hybrid_memory.clock import Clock, RandomSource
    from hybrid_memory.decisions.write import PreparedWrite
    from hybrid_memory.embedding.embedder import Embedder
    from hybrid_memory.retrieval.index import NamespaceIndex
    from hybrid_memory.retrieval.memory_columns import MemoryColumns
    from hybrid_memory.store.base import Store
    from hybrid_memory.store.writing import Decision, LogEntry, RequestKey, WriteView

T = TypeVar("T")

_IDLE = timedelta(
    hours=24
)  # of an unnamed session, after which it has ended: a person comes back to it the next morning

Listener = Callable[[str, frozenset[str]], None]
"""Is called with a namespace and the sessions in which a commit changed something."""


class MemoryService:
    """The memory of one store. Safe to call from several threads.

    ``embedder`` is the one that the store shall have; vectors of another that the store holds are used with ``previous``
    until `reembed` or `run_background_step` has made new ones. ``secrets`` is what is done about secrets in what is written and
    shown, ``journal`` tells who asked what. Namespaces with more than ``hnsw_from`` memories are searched
    approximately. Every method raises only `hybrid_memory.errors`; a call that raised has changed nothing.
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
        hnsw_from: int = HNSW_FROM,
    ) -> None:
        self.store = store
        self.settings = settings or StoreSettings()
        self.lock = ReadWriteLock()
        self._time = ServiceTime(clock, store.last_write())
        self._encoder = TextEncoder(store, embedder, previous)
        self.secrets = SecretPolicy(SecretMode(self.settings.secrets))
        self._index_cache = IndexCache(
            store,
            self._encoder.dimensions,
            hnsw_from,
            shown=self.secrets.shown,
            followed=self._note_followed,
            encoding=ENCODING,
        )
        self._listeners: list[Listener] = []
        announcements = Announcements(self._tell_listeners, store.news)
        self._commits = Commits(store, self._index_cache, self._encoder, announcements, self._time, random_source)
        self._late_vectors = LateVectors(self._commits, self._encoder, self.lock)
        self._background = BackgroundJobs(
            store,
            self._index_cache,
            self._encoder,
            self.lock,
            self._late_vectors.give,
            embedder_of=partial(embedder_of, settings=self.settings),
        )
        self._write_rules = WriteRules(flow=flow_rules(self.settings))
        self._ranking_weights = ranking_weights(self.settings)
        self._recalls = WaitingRecalls(self._commits, self._write_rules.flow)
        kept, days = self.settings.keep_readings, self.settings.keep_readings_days
        self.journal = ReadingJournal(store.readings, keep=kept, days=days)
        self._readings = Readings()
        self._shown = ShownMemories()
        self._conversations = self._made_conversations()
        self._warm_up = WarmUp(self._commits, self._encoder, self.journal, self._late_vectors, self._conversations)
        writer = Writer(self._commits.commit_act, self._commits.new_id, self._time.now)
        self.acts = Acts(store, self._encoder, self._index_cache, self.lock, self.secrets, writer)
        self.derived = Derived(store)
        """What is made of the store's contents and kept until these change."""
        self.change_model: Callable[[], ChangeModel | None] = self._fitted_change_model
        self.ending_model: Callable[[], EndingModel | None] = self._fitted_ending_model
        """Gives the model that says what a new statement changes; replaced only to fit and to test it."""
        self._other_hubs = OtherHubs(
            self._commits, self._encoder, announcements, self.settings, self.lock, now=clock.now(), forget=self._let_go
        )
        self.following = self._other_hubs.begin_to_follow()
        """Keeps up with other hubs that write to the store."""

    def _made_conversations(self) -> Conversations:
        return Conversations(
            self._commits,
            self._write_rules.flow,
            _IDLE,
            self.lock,
            episode_days=self.settings.episode_days,
            endings=lambda: self.ending_model(),  # noqa: PLW0108 - tests replace it
        )

    @classmethod
    def open(
        cls,
        home: Path,
        *,
        clock: Clock | None = None,
        random_source: RandomSource | None = None,
        settings: StoreSettings | None = None,
        dice: RandomSource | None = None,
        hnsw_from: int = HNSW_FROM,
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
            hnsw_from=hnsw_from,
        )

    def gate(self) -> Gate | None:
        """Return the model that says what of a person's words is worth keeping.

        None where the store has not the encoder that it needs, and while that is not unpacked: who asks should not wait for it.
        """
        if not self._has_universal_vectors():
            return None
        from hybrid_memory.embedding.universal import encoder_at_hand

        with suppress(EmbedderUnavailable):
            encoder = encoder_at_hand()
            return None if encoder is None else load_gate(encoder.meanings)
        return None

    def _has_universal_vectors(self) -> bool:
        return (self._encoder.identity or self._encoder.target.identity).startswith(UNIVERSAL)

    def _fitted_change_model(self) -> ChangeModel | None:
        """Return the model, None where the store has not the vectors that it was fitted to."""
        return load_changes() if self._has_universal_vectors() else None

    def _fitted_ending_model(self) -> EndingModel | None:
        return load_endings() if self._has_universal_vectors() else None

    # --- write, read, reflect, update, forget -------------------------------------------------------------------------

    @shared
    @idempotent(result_codec.WRITE)
    def write(
        self, scope: Scope, request: WriteRequest, *, key: RequestKey | None = None, as_act: bool = False
    ) -> WriteResult:
        """Remember a statement; durable and findable when this returns.

        With ``as_act`` it is an act of the person, which `acts` can undo.

        Raises:
            InvalidInput: names the argument that is wrong.
            NotFound: the memory to supersede does not exist here.
        """
        # 1. Validate.
        now = self._time.now()
        validation.check_scope(scope)
        request, secrets = self.secrets.write(validation.check_write(request, now))
        if self._recalls.is_due or self.journal.is_due:
            with suppress(ConcurrentModification):  # they wait on; what is to be written has nothing to do with them
                self.flush_recalls()
        # 2. Compute vector and terms, what the statement repeats and what it likely changes.
        home = person_and_project.home_of_new(self.store, scope, request)
        index = self._index_cache.get(home.namespace)
        parents = person_and_project.elsewhere(self.store, scope, home, request.parents)
        prepared = prepare_write(self._commits, self._encoder, home, request, index, now, parents)
        model = self.change_model() if may_change(request) else None
        changed = [] if model is None else self._likely_changes(model, prepared, scope, now)
        here = [one for one in changed if one.memory.namespace == home.namespace]
        prepared = replace(prepared, contradicts=here[0].memory.id if here else None)
        if request.episode and here and here[0].is_sure:  # what puts something right was not said in passing
            prepared = replace(
                prepared, request=replace(request, episode=False, memory_type=MemoryType.LONG_TERM, corrects=True)
            )
        # 3. and 4. Decide and commit in one transaction; index, caches and listeners follow.
        undo = str(self._commits.new_id(now)) if as_act else None

        def decision(prepared: PreparedWrite) -> Decision:
            decide = _naming(partial(decide_write, prepared, self._write_rules, index.vectors_of), secrets)
            return decide if undo is None else undoable(decide, undo, self.acts.lookups(index))

        prefetch = prefetch_of(prepared)
        try:
            written = self._commits.commit(
                home.namespace, key, decision(prepared), result_codec.WRITE, prefetch=prefetch
            )
        except LogTrimmed:  # this hub was away for long, and what it prepared is of a time that the log no longer tells
            self._index_cache.load_again(home.namespace, index)
            again = prepare_write(self._commits, self._encoder, home, request, index, now, parents)
            prepared = replace(again, contradicts=prepared.contradicts, request=prepared.request)
            written = self._commits.commit(home.namespace, key, decision(prepared), result_codec.WRITE)
        result: WriteResult = written.result
        # The decision may have counted the statement on a memory that was found: that one is the result.
        others = (one for one in changed if one.is_sure and one.memory.id != result.id)
        return replace(result, related=tuple(reads.as_related(one) for one in others)[: reads.RELATED_SHOWN])

    def _likely_changes(
        self, model: ChangeModel, prepared: PreparedWrite, scope: Scope, now: datetime
    ) -> list[LikelyChange]:
        """Return what a write likely changes; nothing where the store cannot be read, which is for the write to say."""
        with suppress(StoreError):
            index = self._index_cache.get_all(scope.namespaces)
            fetch, encoder = reads.fetch_of(self.store, scope), self._encoder
            return likely_changes(model, prepared, index, fetch, now, encoder.vector, encoder.terms)
        return []

    @shared
    def read(self, scope: Scope, request: ReadRequest) -> ReadResult:
        """Find memories: by question, by ids, or a brief when neither is given. Changes nothing that is stored.

        The memory that clearly answers a question counts as recalled; `flush_recalls` or a later write stores that.

        Raises:
            InvalidInput: names the argument that is wrong.
        """
        now = self._time.now()
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
                reads.brief(self.store, index, scope, request, now, self._readings, self.ending_model()),
                index,
                now,
                scope,
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
            self._recalls.add(scope, result, now)
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
            endings=self.ending_model(),
        )
        if request.recalls and result.recalled is not None:
            self._recalls.add(scope, result, now)
        return self._annotated(result, index, now, scope)

    @shared
    def read_with_reasons(self, scope: Scope, request: ReadRequest) -> tuple[ReadResult, SearchReasons]:
        """Answer a question as `read` does, with what comes behind the answer: for a person who looks at the memory.

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
        """Return a brief as `read` does, with what comes behind it: for a person who looks at the memory.

        Raises:
            InvalidInput: names the argument that is wrong.
        """
        index, request, now = self._looked_at(scope, request)
        fetch = reads.fetch_of(self.store, scope)
        found = reads.find_brief(self.store, index, scope, request, now, endings=self.ending_model())
        reasons = brief_reasons_of(found, index, fetch, request)
        return self._annotated(reads.brief_page(found, index, fetch), index, now, scope), reasons

    def _looked_at(self, scope: Scope, request: ReadRequest) -> tuple[NamespaceIndex, ReadRequest, datetime]:
        """Return what a person's look from outside needs: the index, the checked request, which explains, and the time."""
        now = self._time.now()
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
        """Return groups of memories to think about that were not reflected upon: contradictions, repetitions, then subjects.

        Raises:
            InvalidInput: names the argument that is wrong.
        """
        now = self._time.now()
        validation.check_scope(scope)
        where = validation.check_where("", Where(session=session, since=since, unasked=True))
        topic = None if focus is None else validation.check_focus(focus)
        return offered_groups(
            self._index_cache.get_all(scope.namespaces),
            reads.fetch_of(self.store, scope),
            where,
            Focus(topic, self._encoder.encode_query(topic), self._encoder.multilingual) if topic else None,
            self.ending_model(),
            limit=limit,
            now=now,
        )

    @shared
    @idempotent(result_codec.INSIGHTS)
    def store_insights(
        self, scope: Scope, insights: Sequence[Insight], *, key: RequestKey | None = None, as_act: bool = False
    ) -> tuple[MemoryId, ...]:
        """Store the caller's insights in long-term with their evidence; returns their ids in order. ``as_act`` as in `write`.

        Raises:
            InvalidInput: an argument is wrong, or evidence is an insight itself.
            NotFound: evidence does not exist in this namespace.
        """
        now = self._time.now()
        validation.check_scope(scope)
        by_home: dict[Scope, list[PreparedInsight]] = {}
        for at, insight in enumerate(self.secrets.insights(validation.check_insights(insights))):
            encoded = self._encoder.encode(insight.text, None, None, now)
            home = person_and_project.home_of_insight(self.store, scope, insight)
            prepared = PreparedInsight(
                id=self._commits.new_id(now),
                insight=insight,
                encoded=encoded,
                elsewhere=person_and_project.elsewhere(self.store, scope, home, insight.evidence),
                at=at,
            )
            by_home.setdefault(home, []).append(prepared)
        undo = str(self._commits.new_id(now))
        act = (lambda decide, index: undoable(decide, undo, self.acts.lookups(index))) if as_act else None
        return commit_insights(self._commits, scope, by_home, key, act)

    @shared
    @idempotent(result_codec.UPDATE)
    def update(self, scope: Scope, request: UpdateRequest, *, key: RequestKey | None = None) -> UpdateResult:
        """Change a memory: new words make a new version that supersedes the old one, which is kept.

        Raises:
            InvalidInput: an argument is wrong, or the version was superseded.
            NotFound: no such memory.
        """
        now = self._time.now()
        validation.check_scope(scope)
        request, secrets = self.secrets.update(validation.check_update(request, now))
        scope = person_and_project.home_of(self.store, scope, request.id)
        old = self.store.get(scope.namespace, [request.id]).get(request.id)
        encoded = None
        if request.content is not None and old is not None:
            encoded = self._encoder.encode(request.content, old.speaker, old.occurred_at, now, old.key)
        prepared = PreparedUpdate(id=self._commits.new_id(now), scope=scope, request=request, encoded=encoded)
        index = self._index_cache.get(scope.namespace)
        holders_of = partial(index.key_holders, now=now)
        decide = _naming(lambda view: taking_the_key(decide_update(prepared, view), holders_of, view), secrets)
        result: UpdateResult = self._commits.commit(
            scope.namespace, key, decide, result_codec.UPDATE, index=index
        ).result
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
        return forgetting.forget(self._commits, scope, request, key, self._time.now())

    # --- recent, get, suggest, status, listen -------------------------------------------------------------------------

    def recent(self, scope: Scope, *, limit: int = 20, session: str | None = None) -> tuple[Memory, ...]:
        """Return the most recent memories of the namespace, or of one session, newest first."""
        index = self._index_cache.get_all(scope.namespaces)
        ids = index.select(Where(session=session, unasked=True), self._time.now())[:limit].tolist()
        return tuple(index.memories(ids, partial(self._fetch, scope)).values())

    def recent_page(self, scope: Scope, *, limit: int, session: str | None = None) -> ReadResult:
        """Return the most recent memories as `recent` does, at most a quarter of them untrusted where others are; the rest is held back."""
        now = self._time.now()
        index = self._index_cache.get_all(scope.namespaces)
        ids = index.select(Where(session=session, unasked=True), now)
        shown, held_back = index.recent_in_shares(ids, limit)
        hits = self.as_hits(scope, self._fetch(scope, shown).values())
        return ReadResult(hits=hits, total=len(ids), held_back=held_back)

    def as_hits(self, scope: Scope, memories: Iterable[Memory]) -> tuple[Hit, ...]:
        """Return memories as reads do: without their secrets, and with what disputes them."""
        hits = tuple(Hit(memory=self.secrets.shown(memory)) for memory in memories)
        result = ReadResult(hits=hits, total=len(hits))
        return self._annotated(result, self._index_cache.get_all(scope.namespaces), self._time.now(), scope).hits

    def untrusted_among(self, scope: Scope, ids: Sequence[MemoryId]) -> list[MemoryId]:
        """Return those of some ids whose memories are trusted less than the assistant's own words.

        None where the store cannot be read: it is asked after a write, which is done and has to be told.
        """
        try:
            found = self._fetch(scope, ids)
        except StoreError:
            return []
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
        page, total = self.store.list_memories(scope.namespaces, request, self._time.now())
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
    def held_under(self, scope: Scope, session: str, key: str) -> tuple[Memory, ...]:
        """Return the working memories that a session keeps under a key, the most trusted first, with the secrets that they hold."""
        ids = self._index_cache.get(scope.namespace).key_holders(session, key, self._time.now())
        found = self._fetch(scope, ids)
        return tuple(sorted(found.values(), key=lambda one: TRUST_ORDER.index(one.trust), reverse=True))

    def index_of(self, scope: Scope) -> NamespaceIndex:
        """Return the search index of all memories of a scope, up to date."""
        return self._index_cache.get_all(scope.namespaces)

    @shared
    def look(self, scope: Scope, work: Callable[[MemoryColumns, datetime], T]) -> T:
        """Return what a function makes of the columns of all memories of a scope, and of the time."""
        now = self._time.now()
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
        near = index.similar(vector, k=limit + len(excluded), floor=reads.ALIKE_SIMILARITY, now=self._time.now())
        return dict([one for one in near if one[0] not in excluded][:limit])

    def suggest(self, scope: Scope, what: str, prefix: str, limit: int = 20) -> list[str]:
        """Return known names that begin with a prefix: of a ``session``, ``tag``, ``speaker`` or recent ``id``."""
        index = self._index_cache.get_all(scope.namespaces)
        if what == "id":
            return [str(one) for one in index.select(Where(), self._time.now()) if one.startswith(prefix)][:limit]
        names: dict[str, Callable[[str, int], list[str]]] = {
            "session": partial(index.sessions, now=self._time.now()),
            "tag": index.tags,
            "speaker": index.speakers,
        }
        found = names[what](prefix, limit) if what in names else []
        return [name for name in found if self.secrets.shown_text(name) == name == visible(name) and "\n" not in name]

    def status(self, scope: Scope) -> Status:
        """Return what the memory holds and how it is."""
        return status_of(
            scope,
            self.store,
            self._index_cache,
            self._encoder,
            self._background,
            self.settings,
            self._time,
            self.lag(),
        )

    def shown_status(
        self, scope: Scope, clients: Sequence[Mapping[str, Json]] = (), notices: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Return `status` as JSON for readers: with who is connected and further notices, names without the secrets in them."""
        status = self.status(scope)
        values = asdict(status) | {"notices": [*status.notices, *notices], "clients": list(clients)}
        return dict(self.secrets.shown_body(values))

    def lag(self) -> Lag | None:
        """Return how far this hub is behind the others of its store, by what it knows; None where there can be no others."""
        found = self.store.lag(self._index_cache.marks())
        return found and replace(found, seconds=max(found.seconds, self.following.waiting_seconds()))

    def now(self) -> datetime:
        """Return the time, by which "yesterday" in an argument is meant."""
        return self._time.now()

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
        self._recalls.flush()
        self.journal.flush_waiting(self._time.now(), forget_old=not self._time.jumped)

    @shared
    def end_session(self, scope: Scope) -> None:
        """End a conversation: its buffers are emptied by their rules, its working memory is over."""
        self.flush_recalls()
        self._conversations.end(scope)
        for namespace in scope.namespaces[1:]:  # only what a correction or a recall has left there
            if self.store.buffer(namespace, scope.session, scope.agent) is not None:
                self._conversations.end(replace(scope, namespace=namespace, personal=None))

    @shared
    def warm_up(self, scope: Scope) -> None:
        """Load what the first call would otherwise wait for, and end sessions that ended without saying so."""
        self._warm_up.warm(scope)

    @shared
    def load_model(self, scope: Scope) -> None:
        """Load the embedding model, and give what was stored without it its vectors; a statement that follows is stored with one.

        It is the part of `warm_up` that somebody needs who comes for a single call.
        """
        self._encoder.load_model()
        while self.backfill(scope):
            pass

    def backfill(self, scope: Scope, limit: int = VECTORS_AT_ONCE) -> int:
        """Give memories that were stored while the model was missing their vectors; returns how many got one."""
        return self._late_vectors.give(scope.namespace, limit)

    def run_background_step(self) -> bool:
        """Do one piece of background work, vectors or the change of the embedder; returns whether there is more.

        Call it whenever the process is idle.
        """
        self._index_cache.let_unused_go()
        self._other_hubs.take_usage()
        if self.journal.is_due:
            self.journal.flush(self._time.now(), forget_old=not self._time.jumped)
        self._warm_up.sweep_when_due()
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
            self.derived.close()
            self._index_cache.close()
            self.store.close()

    # --- private ------------------------------------------------------------------------------------------------------

    def _fetch(self, scope: Scope, ids: Sequence[MemoryId]) -> dict[MemoryId, Memory]:
        return dict(reads.fetch_of(self.store, scope)(ids))

    def _fetch_from(self, places: Sequence[tuple[str, MemoryId]]) -> dict[tuple[str, MemoryId], Memory]:
        """Return the memories at some places, each a namespace with an id."""
        found: dict[tuple[str, MemoryId], Memory] = {}
        for namespace in dict.fromkeys(namespace for namespace, _ in places):
            memories = self.store.get(namespace, [id_ for name, id_ in places if name == namespace])
            found |= {(namespace, id_): memory for id_, memory in memories.items()}
        return found

    def _note_followed(
        self, namespace: str, log: Sequence[LogEntry], memories: Mapping[MemoryId, Memory], head: int
    ) -> None:
        self._other_hubs.note_followed(namespace, log, memories, head)

    def _tell_listeners(self, namespace: str, touched: frozenset[str]) -> None:
        for listener in tuple(self._listeners):
            listener(namespace, touched)

    def _let_go(self) -> None:
        """Forget what was made of the store's contents, which are no longer the same."""
        self.derived.forget()
        self._warm_up.forget()
        self._background.look_at_words_again()

    def _annotated(self, result: ReadResult, index: NamespaceIndex, now: datetime, scope: Scope) -> ReadResult:
        """Return a page with what its memories have lost or are disputed by, and how old that is where the database is away."""
        offline = self.store.offline_seconds()
        if offline is not None:
            result = replace(result, offline_seconds=offline)
        return _annotated(result, index, now, scope)


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
