"""Long-term memory: fragments in a vector store, recalled by recency, relevance and importance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from datetime import datetime
from typing import Protocol, runtime_checkable

from hybrid_memory.clock import Clock
from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import Json, MemoryId
from hybrid_memory_dbgpt.async_tools import ShiftedClock, run_blocking, to_utc
from hybrid_memory_dbgpt.fragments import DiscardedMemoryFragments, MemoryFragment, WriteOperation
from hybrid_memory_dbgpt.memory_base import Memory, weights_of
from hybrid_memory_dbgpt.retriever import LongTermRetriever, RecallRules, Weights
from hybrid_memory_dbgpt.vector_store import Document, VectorStore


@runtime_checkable
class ForgettingStore(Protocol):
    """A vector store that can take documents out of its searches."""

    def documents(self, filters: Mapping[str, Json] | None = None) -> list[Document]:
        """Return the documents that equal the filters."""
        ...

    def forget(self, ids: Sequence[MemoryId]) -> None:
        """Take documents out of every search."""
        ...


class LongTermMemory(Memory):
    """Keeps fragments in a vector store and finds the best of them again.

    ``metadata`` (by default ``{"memory_type": "long_term"}``) is stored with every fragment, and its texts, numbers and
    flags are what a read asks to be equal; so is the session, where one is set. ``_default_importance`` is for fragments
    that have none. ``now`` is the time at which this object begins; without it time is the clock's. Importances are
    summed in ``aggregate_importance``; ``reflection_due`` says when they reach ``reflection_threshold``.
    """

    def __init__(
        self,
        executor: Executor | None = None,
        vector_store: VectorStore | None = None,
        now: datetime | None = None,
        reflection_threshold: float | None = None,
        _default_importance: float | None = None,
        metadata: Mapping[str, Json] | None = None,
        *,
        recall: RecallRules | None = None,
        retriever: LongTermRetriever | None = None,
        clock: Clock | None = None,
    ) -> None:
        super().__init__()
        if retriever is None:
            if vector_store is None:
                raise InvalidInput("vector_store", "is required: pass one, for example DuckDBVectorStore")
            retriever = LongTermRetriever(vector_store, recall or RecallRules())
        self.retriever = retriever
        self.reflection_threshold = reflection_threshold
        self.aggregate_importance = 0.0
        self.written = 0
        self._executor = executor
        self._time = ShiftedClock(now, clock)
        self._default_importance = _default_importance
        self._metadata = {"memory_type": "long_term"} if metadata is None else dict(metadata)

    @property
    def vector_store(self) -> VectorStore:
        """Where the fragments are."""
        return self.retriever.vector_store

    @property
    def executor(self) -> Executor | None:
        """Where blocking work runs; None is the event loop's worker threads."""
        return self._executor

    @property
    def reflection_due(self) -> bool:
        """Whether enough importance came in for a reflection."""
        return self.reflection_threshold is not None and self.aggregate_importance >= self.reflection_threshold

    @property
    def filters(self) -> dict[str, Json]:
        """What a read asks the metadata to be equal to."""
        wanted: dict[str, Json] = {
            name: value for name, value in self._metadata.items() if isinstance(value, str | int | float)
        }
        if self.session_id:
            wanted["session_id"] = self.session_id
        return wanted

    def structure_clone(self, now: datetime | None = None) -> LongTermMemory:
        """Return a long-term memory over the same vector store with the same metadata, whose sums begin at 0."""
        twin = type(self)(
            executor=self._executor,
            now=now or self._time.at(None),
            reflection_threshold=self.reflection_threshold,
            _default_importance=self._default_importance,
            metadata=self._metadata,
            retriever=self.retriever,
            clock=self._time.clock,
        )
        return twin.with_settings_of(self)

    async def write(
        self, memory_fragment: MemoryFragment, now: datetime | None = None, op: WriteOperation = WriteOperation.ADD
    ) -> DiscardedMemoryFragments | None:
        """Store a fragment durably. Its own time of access counts first, then ``now``, then the present.

        What the embedder and the store raise passes through, and then nothing was stored or summed.

        Raises:
            InvalidInput: it has no importance and there is no default.
        """
        del op
        moment = memory_fragment.last_accessed_time or self._time.at(now)
        await self.save([self.document(memory_fragment, moment, 0)])
        return None

    async def write_batch(
        self, memory_fragments: Sequence[MemoryFragment], now: datetime | None = None
    ) -> DiscardedMemoryFragments | None:
        """Store fragments accessed at ``now``, all or none of them.

        Raises:
            InvalidInput: ``now`` is missing, or an importance and there is no default.
        """
        if now is None:
            raise InvalidInput("now", "is required: give the time at which these memories count as accessed")
        await self.save([self.document(fragment, now, at) for at, fragment in enumerate(memory_fragments)])
        for fragment in memory_fragments:
            fragment.update_accessed_time(now)
        return None

    async def read(
        self, observation: str, alpha: float | None = None, beta: float | None = None, gamma: float | None = None
    ) -> list[MemoryFragment]:
        """Return the best memories for an observation, best first.

        The score is ``alpha`` x 0.99 ** hours since the last access + ``beta`` x cosine + ``gamma`` x importance, each
        weight 1 by default. An empty observation asks for what is fresh and important.
        """
        return await self.fetch_memories(observation, alpha=alpha, beta=beta, gamma=gamma)

    async def fetch_memories(
        self,
        observation: str,
        now: datetime | None = None,
        *,
        alpha: float | None = None,
        beta: float | None = None,
        gamma: float | None = None,
    ) -> list[MemoryFragment]:
        """Do what `read` does, at a given time."""
        moment, filters, weights = self._time.at(now), self.filters, Weights(*weights_of(alpha, beta, gamma))
        found = await run_blocking(
            self._executor, lambda: self.retriever.retrieve(observation, filters, moment, weights)
        )
        return [self._fragment(document) for document in found]

    async def clear(self) -> list[MemoryFragment]:
        """Forget everything that a read of this object could find, and return it. The rows stay in our own store.

        Raises:
            InvalidInput: the vector store cannot forget.
        """
        store = self.vector_store
        if not isinstance(store, ForgettingStore):
            raise InvalidInput("vector_store", "cannot forget; use DuckDBVectorStore, or clear it by its own means")
        filters = self.filters

        def forget() -> list[Document]:
            documents = store.documents(filters)
            store.forget([one.id for one in documents if one.id is not None])
            return documents

        found = await run_blocking(self._executor, forget)
        self.aggregate_importance = 0.0
        return [self._fragment(document) for document in found]

    def document(self, fragment: MemoryFragment, moment: datetime, offset: int) -> Document:
        """Return what is stored for a fragment that is the ``offset``-th of a group.

        Raises:
            InvalidInput: it has no importance and there is no default.
        """
        importance = self._default_importance if fragment.importance is None else fragment.importance
        if importance is None:
            raise InvalidInput(
                "importance", "is required: give the fragment one, or set _default_importance of LongTermMemory"
            )
        return Document(
            content=fragment.raw_observation,
            id=fragment.id,
            metadata={
                **self.filters,
                "importance": importance,
                "last_accessed_at": to_utc(moment).timestamp(),
                "buffer_idx": self.written + offset,
            },
            is_insight=fragment.is_insight,
            parents=fragment.parents,
        )

    async def save(self, documents: Sequence[Document]) -> None:
        """Store documents of `document`, all or none."""
        if documents:
            await run_blocking(self._executor, lambda: self.vector_store.load_document(documents))
            self.note(documents)

    def note(self, documents: Sequence[Document]) -> None:
        """Sum up documents that were stored."""
        self.written += len(documents)
        for document in documents:
            importance = document.metadata["importance"]
            self.aggregate_importance += importance if isinstance(importance, int | float) else 0.0

    def _fragment(self, document: Document) -> MemoryFragment:
        importance = document.metadata.get("importance")
        return self.real_memory_fragment_class.build_from(
            document.content,
            document.vector,
            memory_id=document.id,
            importance=float(importance) if isinstance(importance, int | float) else None,
            last_accessed_time=document.last_accessed_at,
            is_insight=document.is_insight,
            parents=document.parents,
        )
