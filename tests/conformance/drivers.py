"""One driver for each component of the traces: it builds the public object and carries out a case's operations."""

from __future__ import annotations

from typing import Any

import anyio
from tests.conformance.compare import Mismatch, Unknown
from tests.conformance.drivers_lasting import Hybrid, LongTerm
from tests.conformance.drivers_plain import (
    Driver,
    Extractors,
    GptsMemories,
    Messages,
    Plans,
    Scorers,
    Structured,
    TimeWeighted,
)
from tests.conformance.world import World, enhanced, enhanced_state, said

from hybrid_memory_dbgpt import (
    AgentMemory,
    DiscardedMemoryFragments,
    SensoryMemory,
    ShortTermMemory,
    WriteOperation,
)


class Buffer(Driver):
    """What the drivers of sensory, short-term and agent memory share."""

    always_reports = False
    has_state = True

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.memory: Any = None
        self._before = 0
        self._came = 0
        self._handed_on = 0

    async def prepare(self) -> None:
        self.memory = self.build()
        self.memory.initialize(name="case", importance_scorer=self.world.scorer, insight_extractor=self.world.extractor)

    def build(self) -> Any:
        raise NotImplementedError

    async def do_write(self, text: str, importance: float | None = None, op: str = "add") -> Any:
        fragment = self.world.fragment({"text": text, "importance": importance})
        self._count([fragment] if op == "add" else [])
        return self.outcome(await self.memory.write(fragment, op=WriteOperation(op)))

    async def do_write_batch(self, fragments: list[dict[str, Any]]) -> Any:
        built = [self.world.fragment(one) for one in fragments]
        self._count(built)
        return self.outcome(await self.memory.write_batch(built))

    async def do_read(self, observation: str) -> Any:
        self._count([])
        return said(await self.memory.read(observation))

    async def do_clear(self) -> Any:
        left = said(await self.memory.clear())
        self._before = self._came = 0
        return left

    async def do_structure_clone(self) -> Any:
        self._count([])
        twin = self.memory.structure_clone()
        return {"buffer_size": twin.buffer_size, "fragments": said(twin.fragments)}

    def outcome(self, left: DiscardedMemoryFragments | None) -> Any:
        if left is not None:
            self.world.faded += [one.raw_observation for one in left.faded]
            self._handed_on += len(left.fragments) + len(left.faded)
        if left is None or not (left.fragments or left.insights or self.always_reports):
            return None
        insights = [
            [
                {"text": one.raw_observation, "importance": one.importance, "is_insight": one.is_insight}
                for one in found.insights
            ]
            for found in left.insights
        ]
        return {"fragments": said(left.fragments), "insights": insights}

    def state(self) -> Any:
        return said(self.memory.fragments)

    def held(self) -> list[Any]:
        return list(self.memory.fragments)

    def check(self, where: str, *, failed: bool) -> None:
        came = 0 if failed else self._came
        if self._before + came != self._handed_on + len(self.held()):
            raise Mismatch(f"{where}: a fragment disappeared or came twice")

    def _count(self, coming: list[Any]) -> None:
        self._before, self._came, self._handed_on = len(self.held()), len(coming), 0


class Sensory(Buffer):
    def build(self) -> Any:
        config = self.world.config
        memory = SensoryMemory(config["buffer_size"], config.get("threshold_to_short_term", 0.1))
        memory.importance_weight = config.get("importance_weight", 0.9)
        return memory

    async def do_concurrent_write(self, texts: list[str]) -> Any:
        fragments = [self.world.fragment({"text": text}) for text in texts]
        self._count(fragments)
        results: list[Any] = [None] * len(texts)

        async def one(at: int) -> None:
            results[at] = self.outcome(await self.memory.write(fragments[at]))

        async with anyio.create_task_group() as group:
            for at in range(len(texts)):
                group.start_soon(one, at)
        return results


class Short(Buffer):
    def build(self) -> Any:
        return ShortTermMemory(self.world.config["buffer_size"])


class Enhanced(Buffer):
    always_reports = True

    def build(self) -> Any:
        return enhanced(self.world, self.world.config.get("buffer_size", 10))

    def state(self) -> Any:
        return enhanced_state(self.memory)


class Agent(Buffer):
    def build(self) -> Any:
        kind = self.world.config.get("memory", "ShortTermMemory")
        if kind not in ("ShortTermMemory", "EnhancedShortTermMemory"):
            raise Unknown(f"config.memory {kind!r} is not known")
        self.always_reports = kind == "EnhancedShortTermMemory"
        size = self.world.config.get("buffer_size")
        if self.always_reports:
            return AgentMemory(enhanced(self.world, 10 if size is None else size))
        return AgentMemory() if size is None else AgentMemory(ShortTermMemory(size))

    async def do_most_recent_memories(self, observation: str) -> Any:
        self._count([])
        return await self.memory.most_recent_memories(observation)

    def state(self) -> Any:
        return enhanced_state(self.memory.memory)

    def held(self) -> list[Any]:
        return list(self.memory.memory.fragments)


DRIVERS: dict[str, type[Driver]] = {
    "SensoryMemory": Sensory,
    "ShortTermMemory": Short,
    "EnhancedShortTermMemory": Enhanced,
    "LongTermMemory": LongTerm,
    "HybridMemory": Hybrid,
    "AgentMemory": Agent,
    "TimeWeightedEmbeddingRetriever": TimeWeighted,
    "StructuredAgentMemoryFragment": Structured,
    "LLMImportanceScorer": Scorers,
    "LLMInsightExtractor": Extractors,
    "DefaultGptsMessageMemory": Messages,
    "DefaultGptsPlansMemory": Plans,
    "GptsMemory": GptsMemories,
}
