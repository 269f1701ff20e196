"""Sensory, short-term and long-term memory as one: `HybridMemory`, and how it finds its buffers in the store again (`_stored_buffers`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Self

import anyio

from hybrid_memory.clock import Clock, SystemRandomSource
from hybrid_memory.errors import InvalidInput, StoreDamaged
from hybrid_memory.ids import new_session
from hybrid_memory.model import Kind, MemoryId, Tier
from hybrid_memory.store.writing import SetTier
from hybrid_memory.tiers.buffers import BufferEntry, Buffers, Item, decode_buffers, encode_buffers
from hybrid_memory.tiers.flow import without_memories
from hybrid_memory_dbgpt.async_tools import ShiftedClock, run_blocking
from hybrid_memory_dbgpt.buffers import BufferSnapshot, EnhancedShortTermMemory, SensoryMemory, ShortTermMemory
from hybrid_memory_dbgpt.embeddings import Embeddings
from hybrid_memory_dbgpt.fragments import (
    DiscardedMemoryFragments,
    MemoryFragment,
    WriteOperation,
)
from hybrid_memory_dbgpt.long_term import LongTermMemory
from hybrid_memory_dbgpt.memory_base import Memory, append_discarded, copies
from hybrid_memory_dbgpt.scoring import ImportanceScorer, InsightExtractor
from hybrid_memory_dbgpt.vector_store import (
    BufferWrite,
    Document,
    DuckDBVectorConfig,
    DuckDBVectorStore,
    VectorStore,
)

_UNNAMED = "default"


@dataclass(frozen=True, slots=True)
class _BuffersSnapshot:
    """Sensory and short-term memory at one moment."""

    sensory: BufferSnapshot
    short_term: BufferSnapshot

    def encoded(self) -> str | None:
        """Return what the store keeps of them; None for empty ones."""
        if not self.sensory.held and not self.short_term.held:
            return None
        return encode_buffers(Buffers(tuple(held.item for held in self.sensory.held), self.short_term.held))

    def tiers(self) -> dict[MemoryId, Tier]:
        """Return which memory is held in which tier."""
        sensory = {held.item.id: Tier.SENSORY for held in self.sensory.held}
        return sensory | {held.item.id: Tier.SHORT_TERM for held in self.short_term.held}


@dataclass(frozen=True, slots=True)
class _StepResult:
    """What one step did: what left the buffers, and the fragments that came in and are no rows yet."""

    left: DiscardedMemoryFragments
    newcomers: Sequence[MemoryFragment]


class HybridMemory(Memory):
    """What comes in passes through sensory into short-term memory; what proves itself there goes on to long-term.

    A write that returned is durable where the vector store is `DuckDBVectorStore`: what the buffers hold is there as
    rows of the tiers sensory and short_term, what they dropped or merged as faded rows, and a new object of the same
    session and name takes the buffers up again (`resume`). Long-term searches see long-term rows alone. A failure before
    that leaves everything as it was. ``now`` is the time at which this object begins; the ``now`` of a call counts first.

    ``default_importance_scorer`` and ``default_insight_extractor`` serve until `initialize` sets others.
    ``insight_limit`` is how many insights of one merged memory are kept; None keeps all.
    """

    importance_weight = 0.9

    def __init__(
        self,
        now: datetime | None,
        sensory_memory: SensoryMemory,
        short_term_memory: ShortTermMemory,
        long_term_memory: LongTermMemory,
        default_insight_extractor: InsightExtractor[Any] | None = None,
        default_importance_scorer: ImportanceScorer[Any] | None = None,
        *,
        clock: Clock | None = None,
        insight_limit: int | None = None,
        resume: bool = False,
    ) -> None:
        super().__init__()
        self.sensory_memory = sensory_memory
        self.short_term_memory = short_term_memory
        self.long_term_memory = long_term_memory
        self._defaults = (default_importance_scorer, default_insight_extractor)
        self._insight_limit = insight_limit
        self._resume = resume
        self._buffer_suffix = ""
        self._time = ShiftedClock(now, clock)
        self._lock = anyio.Lock()
        self._use_defaults()

    @classmethod
    def from_vstore(
        cls,
        vector_store: VectorStore,
        embeddings: Embeddings | None = None,
        executor: Executor | None = None,
        now: datetime | None = None,
        sensory_memory: SensoryMemory | None = None,
        short_term_memory: ShortTermMemory | None = None,
        long_term_memory: LongTermMemory | None = None,
        **options: Any,
    ) -> Self:
        """Return a memory over a vector store, with the default buffers where none are given.

        ``embeddings`` may be left out where the vector store is `DuckDBVectorStore`. ``options`` go to the constructor.

        Raises:
            InvalidInput: nothing says how texts are embedded.
        """
        clock = options.get("clock")
        if short_term_memory is None:
            if embeddings is None and isinstance(vector_store, DuckDBVectorStore):
                embeddings = vector_store.embeddings
            if embeddings is None:
                raise InvalidInput("embeddings", "is required with a vector store that is not DuckDBVectorStore")
            short_term_memory = EnhancedShortTermMemory(embeddings, executor)
        return cls(
            now,
            sensory_memory or SensoryMemory(),
            short_term_memory,
            long_term_memory or LongTermMemory(executor, vector_store, now=now, clock=clock),
            **options,
        )

    @classmethod
    def from_duckdb(
        cls,
        vstore_name: str = "agent_memory",
        vstore_path: str | Path | None = None,
        embeddings: Embeddings | None = None,
        executor: Executor | None = None,
        now: datetime | None = None,
        **options: Any,
    ) -> Self:
        """Return a memory over a DuckDB file in the folder ``vstore_path``, and take up the buffers it left there.

        Without a path the folder is ``agent`` in the platform's data folder; without embeddings the built-in embedder
        is used. `close` lets the folder go; several objects of one process may have it open.

        Raises:
            StoreError: the folder cannot be used, or another process has the store open.
        """
        if vstore_path is None:
            from platformdirs import user_data_path

            vstore_path = user_data_path("hybrid-memory-mcp", appauthor=False) / "agent"
        config = DuckDBVectorConfig(name=vstore_name, persist_path=vstore_path, embedding_fn=embeddings)
        vector_store = DuckDBVectorStore(config, clock=options.get("clock"))
        return cls.from_vstore(vector_store, embeddings, executor, now, **{"resume": True, **options})

    from_chroma = from_duckdb
    """DB-GPT's name for it; the store behind is DuckDB's all the same."""

    def initialize(
        self,
        name: str | None = None,
        llm_client: Any = None,
        importance_scorer: ImportanceScorer[Any] | None = None,
        insight_extractor: InsightExtractor[Any] | None = None,
        real_memory_fragment_class: type[MemoryFragment] | None = None,
        session_id: str | None = None,
    ) -> None:
        """Set all of them here and in the three memories; see `Memory.initialize`."""
        super().initialize(
            name, llm_client, importance_scorer, insight_extractor, real_memory_fragment_class, session_id
        )
        self._use_defaults()
        for memory in (self.sensory_memory, self.short_term_memory, self.long_term_memory):
            memory.with_settings_of(self)

    def structure_clone(self, now: datetime | None = None) -> HybridMemory:
        """Return a memory with empty buffers over the same vector store."""
        moment = self._time.at(now)
        twin = type(self)(
            moment,
            self.sensory_memory.structure_clone(moment),
            self.short_term_memory.structure_clone(moment),
            self.long_term_memory.structure_clone(moment),
            self._defaults[1],
            self._defaults[0],
            clock=self._time.clock,
            insight_limit=self._insight_limit,
        )
        twin._buffer_suffix = f"~{new_session(SystemRandomSource())}"  # noqa: SLF001 - its own class
        return twin.with_settings_of(self)

    async def write(
        self, memory_fragment: MemoryFragment, now: datetime | None = None, op: WriteOperation = WriteOperation.ADD
    ) -> DiscardedMemoryFragments | None:
        """Remember a fragment; return what faded because of it, None if nothing did.

        With ``op`` retrieval the fragment only enhances what short-term memory holds. What embedder, scorer, extractor
        and store raise passes through; if it was the extractor, the memories themselves are stored, without insights.
        """
        moment = self._time.at(now)
        fragment = memory_fragment.copy()
        await self.resume()
        if op is WriteOperation.ADD:
            await self.sensory_memory.weigh([*self.sensory_memory.fragments, fragment])
            await self.short_term_memory.prepare(self.sensory_memory.hands_on(fragment))
        else:
            await self.short_term_memory.prepare([fragment])
        async with self._lock:
            left = await self._guarded(lambda: self._take_in(fragment, op), moment)
        await self._reflect_on(left.fragments, moment)
        return DiscardedMemoryFragments(faded=left.faded) if left.faded else None

    async def read(
        self, observation: str, alpha: float | None = None, beta: float | None = None, gamma: float | None = None
    ) -> list[MemoryFragment]:
        """Return the best of long-term memory, then all of short-term, then all of sensory memory.

        What was recalled from long-term is offered to short-term as an enhancement; what that merges goes to long-term
        at once and is found from the next read on.
        """
        moment = self._time.at(None)
        await self.resume()
        recalled = await self.long_term_memory.fetch_memories(observation, moment, alpha=alpha, beta=beta, gamma=gamma)
        offered = copies(recalled)
        if not self._one_embedder:
            for one in offered:
                one.embeddings = None
        await self.short_term_memory.prepare(offered)
        async with self._lock:
            left = await self._guarded(lambda: self._recall(offered), moment)
            current = copies([*self.short_term_memory.fragments, *self.sensory_memory.fragments])
        await self._reflect_on(left.fragments, moment)
        return [*recalled, *current]

    async def clear(self) -> list[MemoryFragment]:
        """Let go of everything and return it: the buffers' rows fade, long-term memories are forgotten.

        Where the vector store is not our own, long-term memories stay. Buffers that stand damaged in the store are
        replaced by empty ones.
        """
        try:
            await self.resume()
        except StoreDamaged:
            self._resume = False
        async with self._lock:
            before = self._snapshot()
            held = [*await self.sensory_memory.clear(), *await self.short_term_memory.clear()]
            emptied = BufferWrite(session=self._buffer_session, agent=self._buffer_agent)
            try:
                await self._commit([], self._buffer_write(before, []) or emptied)
            except BaseException:
                self._restore(before)
                raise
            lasting = [] if self._vstore is None else await self.long_term_memory.clear()
        return [*held, *lasting]

    async def resume(self) -> None:
        """Take up the buffers that an earlier object of this session and name left in the store; once an object.

        Called by every read and write of an object of `from_duckdb`; others do so when constructed with ``resume``.
        """
        if not self._resume or self._vstore is None:
            return
        store, kind = self._vstore, self.real_memory_fragment_class
        async with self._lock:
            if not self._resume:
                return
            session, agent = self._buffer_session, self._buffer_agent
            found = await run_blocking(
                self.long_term_memory.executor, lambda: _stored_buffers(store, session, agent, kind)
            )
            self._resume = False
            if found is not None:
                state, fragments = found
                await self.short_term_memory.prepare([fragments[held.item.id] for held in state.short_term])
                self._restore(
                    _BuffersSnapshot(
                        BufferSnapshot(tuple(BufferEntry(item) for item in state.sensory), fragments),
                        BufferSnapshot(state.short_term, fragments),
                    )
                )

    async def close(self) -> None:
        """Let the vector store's file go, if it is our own. What was written is durable already."""
        if self._vstore is not None:
            await run_blocking(self.long_term_memory.executor, self._vstore.close)

    @property
    def _vstore(self) -> DuckDBVectorStore | None:
        store = self.long_term_memory.vector_store
        return store if isinstance(store, DuckDBVectorStore) else None

    @property
    def _one_embedder(self) -> bool:
        """Whether vectors of short-term memory and of the vector store can stand in for each other."""
        store = self._vstore
        return store is not None and store.embedder_identity == self.short_term_memory.embedder_identity

    @property
    def _buffer_session(self) -> str:
        return self.session_id or _UNNAMED

    @property
    def _buffer_agent(self) -> str:
        return (self.name or _UNNAMED) + self._buffer_suffix

    def _use_defaults(self) -> None:
        scorer, extractor = self._defaults
        self.importance_scorer = self.importance_scorer or scorer
        self.insight_extractor = self.insight_extractor or extractor
        self.sensory_memory.importance_scorer = self.sensory_memory.importance_scorer or scorer

    async def _guarded(self, step: Callable[[], Awaitable[_StepResult]], moment: datetime) -> DiscardedMemoryFragments:
        """Do a step of the buffers and store what follows, or neither."""
        before = self._snapshot()
        try:
            change = await step()
            documents = [
                self.long_term_memory.document(one, moment, at) for at, one in enumerate(change.left.fragments)
            ]
            await self._commit(documents, self._buffer_write(before, change.newcomers))
        except BaseException:
            self._restore(before)
            raise
        return change.left

    async def _take_in(self, fragment: MemoryFragment, op: WriteOperation) -> _StepResult:
        if op is WriteOperation.RETRIEVAL:
            return await self._recall([fragment])
        left = DiscardedMemoryFragments()
        await self.short_term_memory.prepare(self.sensory_memory.hands_on(fragment))
        released = self.sensory_memory.take(fragment)
        if released is not None:
            left.faded += released.faded
            for one in released.fragments:
                append_discarded(left, self.short_term_memory.take(one, op))
        return _StepResult(left, [fragment])

    async def _recall(self, fragments: Sequence[MemoryFragment]) -> _StepResult:
        left = DiscardedMemoryFragments()
        for one in fragments:
            append_discarded(left, self.short_term_memory.take(one, WriteOperation.RETRIEVAL))
        return _StepResult(left, [])

    async def _reflect_on(self, merged: Sequence[MemoryFragment], moment: datetime) -> None:
        """Store the insights of merged memories, which are safe already; no lock is held while they are thought up."""
        found = await self.get_insights(merged)
        thoughts = [thought for one in found for thought in one.insights[: self._insight_limit]]
        if not thoughts:
            return
        for thought, importance in zip(thoughts, await self.score_memory_importance(thoughts), strict=True):
            thought.update_importance(importance)
        async with self._lock:
            await self._commit(
                [self.long_term_memory.document(one, moment, at) for at, one in enumerate(thoughts)], None
            )

    async def _commit(self, documents: Sequence[Document], buffers: BufferWrite | None) -> None:
        """Store documents, and the buffers where the vector store is our own; a cancellation waits for the outcome."""
        store, durable = self.long_term_memory.vector_store, self._vstore
        with anyio.CancelScope(shield=True):
            if durable is not None and (documents or buffers is not None):
                await run_blocking(self.long_term_memory.executor, lambda: durable.commit(documents, buffers))
            elif documents:
                await run_blocking(self.long_term_memory.executor, lambda: store.load_document(documents))
        self.long_term_memory.note(documents)

    def _buffer_write(self, before: _BuffersSnapshot, newcomers: Sequence[MemoryFragment]) -> BufferWrite | None:
        """Return what a step must leave in the store; None if nothing changed.

        A fragment that is in no buffer any more has faded: it was dropped, evicted, or merged into a long-term row that
        names it as a parent.
        """
        after = self._snapshot()
        state, tiers = after.encoded(), after.tiers()
        moves = tuple(
            SetTier(one, tiers.get(one, Tier.FADED))
            for one, tier in before.tiers().items()
            if tiers.get(one, Tier.FADED) is not tier
        )
        rows = tuple((self._row(one), tiers.get(one.id, Tier.FADED)) for one in newcomers)
        if not moves and not rows and state == before.encoded():
            return None
        return BufferWrite(session=self._buffer_session, agent=self._buffer_agent, rows=rows, moves=moves, state=state)

    def _row(self, fragment: MemoryFragment) -> Document:
        """Return what is stored of a fragment in a buffer; its vector only if the store's embedder made it."""
        return Document(
            id=fragment.id,
            content=fragment.raw_observation,
            metadata={} if fragment.importance is None else {"importance": fragment.importance},
            vector=fragment.embeddings if self._one_embedder else None,
            is_insight=fragment.is_insight,
            parents=fragment.parents,
        )

    def _snapshot(self) -> _BuffersSnapshot:
        return _BuffersSnapshot(self.sensory_memory.snapshot(), self.short_term_memory.snapshot())

    def _restore(self, state: _BuffersSnapshot) -> None:
        self.sensory_memory.restore(state.sensory)
        self.short_term_memory.restore(state.short_term)


def _stored_buffers(
    store: DuckDBVectorStore, session: str, agent: str, kind: type[MemoryFragment]
) -> tuple[Buffers, dict[MemoryId, MemoryFragment]] | None:
    """Return the buffers that stand in the store, and their fragments of ``kind``; None if there are none.

    What is no row any more, or forgotten, is left out.

    Raises:
        StoreError: the store failed, or what is there cannot be read.
    """
    state = store.buffered(session, agent)
    if state is None:
        return None
    buffers = decode_buffers(state)
    importances = {item.id: item.importance for item in _items(buffers)}
    rows = {one: row for one, row in store.rows(importances).items() if row.forgotten_at is None}
    vectors = store.vectors(importances)
    buffers = without_memories(buffers, importances.keys() - rows.keys())
    fragments = {
        one: kind.build_from(
            row.content,
            vectors.get(one),
            memory_id=one,
            importance=importances[one],
            is_insight=row.kind is Kind.INSIGHT,
            parents=row.parents,
        )
        for one, row in rows.items()
    }

    def with_text(item: Item) -> Item:
        return replace(item, text=fragments[item.id].raw_observation)

    short_term = tuple(
        BufferEntry(with_text(one.item), one.count, tuple(map(with_text, one.enhancers))) for one in buffers.short_term
    )
    return Buffers(tuple(map(with_text, buffers.sensory)), short_term), fragments


def _items(buffers: Buffers) -> Iterator[Item]:
    yield from buffers.sensory
    for entry in buffers.short_term:
        yield from (entry.item, *entry.enhancers)
