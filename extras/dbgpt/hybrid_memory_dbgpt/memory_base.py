"""`Memory`, the base class of all memories under DB-GPT's names, and helpers that several of them use.

It is the name of DB-GPT; a stored statement is `hybrid_memory.model.Memory`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, ClassVar, Self

from hybrid_memory_dbgpt.async_tools import gather
from hybrid_memory_dbgpt.fragments import (
    AgentMemoryFragment,
    DiscardedMemoryFragments,
    InsightMemoryFragment,
    MemoryFragment,
    WriteOperation,
)
from hybrid_memory_dbgpt.scoring import DEFAULT_RATING, ImportanceScorer, InsightExtractor, insights_of, rating_of


class Memory(ABC):
    """Remembers fragments. Use one object from one event loop.

    ``importance_weight`` scales a rating of 1..10 to an importance.
    """

    importance_weight: ClassVar[float] = 0.15

    def __init__(self) -> None:
        self.name: str | None = None
        self.llm_client: Any = None
        self.importance_scorer: ImportanceScorer[Any] | None = None
        self.insight_extractor: InsightExtractor[Any] | None = None
        self.real_memory_fragment_class: type[MemoryFragment] = AgentMemoryFragment
        self.session_id: str | None = None

    def initialize(
        self,
        name: str | None = None,
        llm_client: Any = None,
        importance_scorer: ImportanceScorer[Any] | None = None,
        insight_extractor: InsightExtractor[Any] | None = None,
        real_memory_fragment_class: type[MemoryFragment] | None = None,
        session_id: str | None = None,
    ) -> None:
        """Set all of them; what is not given becomes None, and the fragment class `AgentMemoryFragment`."""
        self.name = name
        self.llm_client = llm_client
        self.importance_scorer = importance_scorer
        self.insight_extractor = insight_extractor
        self.real_memory_fragment_class = real_memory_fragment_class or AgentMemoryFragment
        self.session_id = session_id

    @abstractmethod
    def structure_clone(self, now: datetime | None = None) -> Memory:
        """Return a memory with the same settings and, in its own buffers, no content."""

    @abstractmethod
    async def write(
        self, memory_fragment: MemoryFragment, now: datetime | None = None, op: WriteOperation = WriteOperation.ADD
    ) -> DiscardedMemoryFragments | None:
        """Remember a fragment; return what left this memory because of it, None if nothing did."""

    async def write_batch(
        self, memory_fragments: Sequence[MemoryFragment], now: datetime | None = None
    ) -> DiscardedMemoryFragments | None:
        """Remember fragments one after another; return all that left because of them, None if nothing did."""
        left = DiscardedMemoryFragments()
        for fragment in memory_fragments:
            append_discarded(left, await self.write(fragment, now))
        return left or None

    @abstractmethod
    async def read(
        self, observation: str, alpha: float | None = None, beta: float | None = None, gamma: float | None = None
    ) -> list[MemoryFragment]:
        """Return what matters for an observation.

        ``alpha``, ``beta`` and ``gamma`` weigh recency, relevance and importance (1 each by default) where a memory
        ranks at all.
        """

    async def clear(self) -> list[MemoryFragment]:
        """Let go of everything and return it."""
        return []

    async def reflect(self, memory_fragments: Sequence[MemoryFragment]) -> list[MemoryFragment]:
        """Return thoughts about fragments; the fragments themselves unless a subclass knows better."""
        return list(memory_fragments)

    async def handle_duplicated(
        self, memory_fragments: Sequence[MemoryFragment], new_memory_fragments: Sequence[MemoryFragment]
    ) -> list[MemoryFragment]:
        """Return old and new fragments as one list; a subclass may drop repetitions."""
        return [*memory_fragments, *new_memory_fragments]

    async def get_insights(self, memory_fragments: Sequence[MemoryFragment]) -> list[InsightMemoryFragment]:
        """Return the insights of each fragment; none without an extractor. What the extractor raises passes through."""
        extractor = self.insight_extractor
        if extractor is None:
            return []
        kind = self.real_memory_fragment_class
        return await gather(partial(insights_of, extractor, one, self.llm_client, kind) for one in memory_fragments)

    async def score_memory_importance(self, memory_fragments: Sequence[MemoryFragment]) -> list[float]:
        """Return an importance for each fragment: its rating, 5 without a scorer, times `importance_weight`."""
        scorer = self.importance_scorer
        if scorer is None:
            return [DEFAULT_RATING * self.importance_weight] * len(memory_fragments)
        ratings = await gather(partial(rating_of, scorer, one, self.llm_client) for one in memory_fragments)
        return [rating * self.importance_weight for rating in ratings]

    def with_settings_of(self, other: Memory) -> Self:
        """Take over what `initialize` sets from another memory, and return this one."""
        self.name = other.name
        self.llm_client = other.llm_client
        self.importance_scorer = other.importance_scorer
        self.insight_extractor = other.insight_extractor
        self.real_memory_fragment_class = other.real_memory_fragment_class
        self.session_id = other.session_id
        return self


def append_discarded(left: DiscardedMemoryFragments, more: DiscardedMemoryFragments | None) -> None:
    """Append what left a memory in one step to what left it before."""
    if more is not None:
        left.fragments += more.fragments
        left.insights += more.insights
        left.faded += more.faded


def copies(fragments: Iterable[MemoryFragment]) -> list[MemoryFragment]:
    """Return copies that the receiver may change."""
    return [fragment.copy() for fragment in fragments]


def weights_of(alpha: float | None, beta: float | None, gamma: float | None) -> tuple[float, float, float]:
    """Return the three weights, 1 where one is not given."""
    return (1.0 if alpha is None else alpha, 1.0 if beta is None else beta, 1.0 if gamma is None else gamma)
