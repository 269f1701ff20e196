"""The memory of one agent: a memory of any kind, and the log of its conversations."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from hybrid_memory_dbgpt.buffers import ShortTermMemory
from hybrid_memory_dbgpt.fragments import (
    AgentMemoryFragment,
    DiscardedMemoryFragments,
    MemoryFragment,
    WriteOperation,
)
from hybrid_memory_dbgpt.gpts_memory import GptsMemory, GptsMessageMemory, GptsPlansMemory
from hybrid_memory_dbgpt.memory_base import Memory
from hybrid_memory_dbgpt.scoring import ImportanceScorer, InsightExtractor


class AgentMemory(Memory):
    """Passes everything on to ``memory`` (by default the last 5 fragments), and keeps ``gpts_memory`` alongside it.

    Override `read_memories` and `write_memories` to decide what goes into a prompt and what of an exchange is kept.
    """

    def __init__(
        self,
        memory: Memory | None = None,
        importance_scorer: ImportanceScorer[Any] | None = None,
        insight_extractor: InsightExtractor[Any] | None = None,
        gpts_memory: GptsMemory | None = None,
    ) -> None:
        super().__init__()
        self.memory = memory if memory is not None else ShortTermMemory(buffer_size=5)
        self.gpts_memory = gpts_memory if gpts_memory is not None else GptsMemory()
        self.importance_scorer = importance_scorer
        self.insight_extractor = insight_extractor
        if importance_scorer is not None or insight_extractor is not None:
            self.memory.initialize(
                self.memory.name,
                self.memory.llm_client,
                importance_scorer or self.memory.importance_scorer,
                insight_extractor or self.memory.insight_extractor,
                self.memory.real_memory_fragment_class,
                self.memory.session_id,
            )

    @property
    def plans_memory(self) -> GptsPlansMemory:
        """The plans of all conversations."""
        return self.gpts_memory.plans_memory

    @property
    def message_memory(self) -> GptsMessageMemory:
        """The messages of all conversations."""
        return self.gpts_memory.message_memory

    def initialize(
        self,
        name: str | None = None,
        llm_client: Any = None,
        importance_scorer: ImportanceScorer[Any] | None = None,
        insight_extractor: InsightExtractor[Any] | None = None,
        real_memory_fragment_class: type[MemoryFragment] | None = None,
        session_id: str | None = None,
    ) -> None:
        """Set all of them here and in the memory; scorer and extractor of the constructor stay where none is given."""
        scorer = importance_scorer or self.importance_scorer
        extractor = insight_extractor or self.insight_extractor
        super().initialize(name, llm_client, scorer, extractor, real_memory_fragment_class, session_id)
        self.memory.initialize(name, llm_client, scorer, extractor, real_memory_fragment_class, session_id)

    def structure_clone(self, now: datetime | None = None) -> AgentMemory:
        """Return an agent memory around a clone of the memory, with the same conversation log."""
        twin = AgentMemory(memory=self.memory.structure_clone(now), gpts_memory=self.gpts_memory)
        return twin.with_settings_of(self)

    async def write(
        self, memory_fragment: MemoryFragment, now: datetime | None = None, op: WriteOperation = WriteOperation.ADD
    ) -> DiscardedMemoryFragments | None:
        """Remember a fragment; see the memory inside."""
        return await self.memory.write(memory_fragment, now, op)

    async def write_batch(
        self, memory_fragments: Sequence[MemoryFragment], now: datetime | None = None
    ) -> DiscardedMemoryFragments | None:
        """Remember fragments; see the memory inside."""
        return await self.memory.write_batch(memory_fragments, now)

    async def read(
        self, observation: str, alpha: float | None = None, beta: float | None = None, gamma: float | None = None
    ) -> list[MemoryFragment]:
        """Return what matters for an observation; see the memory inside."""
        return await self.memory.read(observation, alpha, beta, gamma)

    async def clear(self) -> list[MemoryFragment]:
        """Let go of everything and return it; see the memory inside."""
        return await self.memory.clear()

    async def reflect(self, memory_fragments: Sequence[MemoryFragment]) -> list[MemoryFragment]:
        """Return thoughts about fragments; see the memory inside."""
        return await self.memory.reflect(memory_fragments)

    async def most_recent_memories(self, observation: str) -> str:
        """Return the texts that matter for an observation, a line each, for a prompt."""
        return "\n".join(fragment.raw_observation for fragment in await self.read(observation))

    async def read_memories(self, question: str) -> str:
        """Return what a prompt says under ``most_recent_memories``."""
        return await self.most_recent_memories(question)

    async def write_memories(self, question: str, ai_message: str) -> DiscardedMemoryFragments | None:
        """Remember one exchange as one fragment."""
        exchange = [("user", question), ("assistant", ai_message)]
        text = " ".join(f"{speaker}: {words}" for speaker, words in exchange if words)
        return await self.write(AgentMemoryFragment(text))
