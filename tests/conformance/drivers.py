"""One driver for each component of the traces: it builds the public object and carries out a case's operations."""

from __future__ import annotations

import math
import re
from typing import Any

import anyio
from tests.conformance.compare import Mismatch, Unknown
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
from tests.conformance.world import NOON, WatchedRetriever, World, enhanced, enhanced_state, moment, said

from hybrid_memory.agent import (
    AgentMemory,
    DiscardedMemoryFragments,
    HybridMemory,
    LongTermMemory,
    SensoryMemory,
    ShortTermMemory,
    WriteOperation,
)

BULK = "b000..b202 at angle 0.001*(i+1) rad in 3 dims, importance 0.1; star at cosine 0.5, importance 9"
OTHER_WRITERS: dict[tuple[str, str], dict[str, Any]] = {("t1", "theirs"): {"tenant": "t2"}}


class Buffer(Driver):
    """What the drivers of sensory, short-term and agent memory share."""

    always_reports = False

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


class LongTerm(Driver):
    """A long-term memory over the case's store."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._settings: dict[str, Any] = {
            key: world.config[key]
            for key in ("_default_importance", "metadata", "reflection_threshold")
            if key in world.config
        }
        self._session = world.config.get("session_id", world.config.get("session"))
        self._now = world.config.get("now", NOON)
        self.memory = self._open()

    async def prepare(self) -> None:
        bulk = self.world.config.get("bulk")
        if bulk is None:
            return
        if bulk != BULK:
            raise Unknown(f"config.bulk {bulk!r} is of no known form")
        self.world.embeddings.add(
            {f"b{at:03}": [math.cos(0.001 * (at + 1)), math.sin(0.001 * (at + 1)), 0.0] for at in range(203)}
        )
        fragments = [self.world.fragment({"text": f"b{at:03}", "importance": 0.1}) for at in range(203)]
        star = self.world.fragment({"text": "star", "importance": 9.0})
        await self.memory.write_batch([*fragments, star], moment(NOON))

    async def do_write(self, text: str, importance: float | None = None, last_accessed_time: str | None = None) -> Any:
        writer = OTHER_WRITERS.get((str((self._settings.get("metadata") or {}).get("tenant")), text))
        if writer is not None:
            self._settings["metadata"] = writer
            self.memory = self._open()
        fragment = self.world.fragment(
            {"text": text, "importance": importance, "last_accessed_time": last_accessed_time}
        )
        return await self.memory.write(fragment)

    async def do_write_batch(self, fragments: list[dict[str, Any]], now: str | None = None) -> Any:
        return await self.memory.write_batch([self.world.fragment(one) for one in fragments], moment(now))

    async def do_read(self, observation: str, **weights: float) -> Any:
        if not set(weights) <= {"alpha", "beta", "gamma"}:
            raise Unknown(f"read takes no {sorted(weights)}")
        return said(await self.memory.read(observation, **weights))

    async def do_reopen(self, now: str | None = None, **settings: Any) -> Any:
        self._session = settings.pop("session_id", settings.pop("session", self._session))
        if not set(settings) <= {"_default_importance", "metadata", "reflection_threshold"}:
            raise Unknown(f"reopen takes no {sorted(settings)}")
        self._settings = settings
        self._now = now or NOON
        self.memory = self._open()

    async def do_structure_clone(self) -> Any:
        self.memory.name = "case"
        self.memory = self.memory.structure_clone()

    async def do_structure_clone_unnamed(self) -> Any:
        self.memory.name = None
        self.memory.structure_clone()

    async def do_clear(self) -> Any:
        return said(await self.memory.clear())

    async def do_stored_metadata(self) -> Any:
        found = {one.content: one for one in self.world.vectors.documents()}
        return [
            [
                text,
                document.last_accessed_at.timestamp()
                if document.last_accessed_at
                else document.metadata["last_accessed_at"],
            ]
            for text, document in reversed(found.items())
        ]

    def state(self) -> Any:
        return {
            "long_term_count": len(self.world.vectors.documents()),
            "aggregate_importance": self.memory.aggregate_importance,
            "memory_stream_len": self.memory.written,
        }

    def _open(self) -> LongTermMemory:
        memory = LongTermMemory(
            now=moment(self._now), retriever=WatchedRetriever(self.world), clock=self.world.clock, **self._settings
        )
        memory.initialize(session_id=self._session)
        return memory


class Hybrid(Driver):
    """A hybrid memory; writes that carry a time of access come before it, from a long-term memory of their own."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._seeds: LongTerm | None = None
        self._seeding = False
        self._session = world.config.get("session_id", world.config.get("session"))
        self.memory = self._open(world.config.get("now", NOON))

    async def do_write(
        self,
        text: str,
        importance: float | None = None,
        last_accessed_time: str | None = None,
        now: str | None = None,
    ) -> Any:
        self._seeding = last_accessed_time is not None
        if last_accessed_time is not None:
            self._seeds = self._seeds or LongTerm(self.world)
            return await self._seeds.do_write(text, importance, last_accessed_time)
        fragment = self.world.fragment({"text": text, "importance": importance})
        return self._outcome(await self.memory.write(fragment, moment(now)))

    async def do_write_batch(self, fragments: list[dict[str, Any]]) -> Any:
        self._seeding = False
        return self._outcome(await self.memory.write_batch([self.world.fragment(one) for one in fragments]))

    async def do_read(self, observation: str) -> Any:
        self._seeding = False
        return said(await self.memory.read(observation))

    async def do_reopen(self, now: str | None = None, initialize: bool = True, **sessions: Any) -> Any:
        if not set(sessions) <= {"session", "session_id"}:
            raise Unknown(f"reopen takes no {sorted(sessions)}")
        self._seeding, self._seeds = False, None
        self._session = next(iter(sessions.values()), self._session)
        self.memory = self._open(now or NOON, initialize=initialize)

    async def do_structure_clone(self) -> Any:
        self._seeding = False
        self.memory = self.memory.structure_clone()

    async def do_clear(self) -> Any:
        self._seeding = False
        return said(await self.memory.clear())

    def state(self) -> Any:
        if self._seeding and self._seeds is not None:
            return self._seeds.state()
        return {
            "sensory": said(self.memory.sensory_memory.fragments),
            "short_term": enhanced_state(self.memory.short_term_memory),
            "long_term_count": len(self.world.vectors.documents()),
            "aggregate_importance": self.memory.long_term_memory.aggregate_importance,
        }

    def _outcome(self, left: DiscardedMemoryFragments | None) -> Any:
        if left is None:
            return None
        self.world.faded += [one.raw_observation for one in left.faded]
        return said(left.fragments) or None

    def _open(self, now: str, *, initialize: bool = True) -> HybridMemory:
        world, config = self.world, self.world.config
        long_term = LongTermMemory(
            now=moment(now),
            retriever=WatchedRetriever(world),
            clock=world.clock,
            _default_importance=config.get("_default_importance"),
        )
        memory = HybridMemory(
            moment(now),
            SensoryMemory(config.get("sensory_buffer", 0)),
            self._short_term(),
            long_term,
            clock=world.clock,
            insight_limit=None if world.ours else 1,
        )
        for one in (memory, memory.sensory_memory):
            one.importance_weight = config.get("importance_weight", 0.9)
        if initialize:
            memory.initialize(
                name="case",
                importance_scorer=world.scorer,
                insight_extractor=world.extractor,
                session_id=self._session,
            )
        return memory

    def _short_term(self) -> Any:
        config = self.world.config
        kind = config.get("short_term")
        if kind is None:
            return enhanced(self.world, config.get("short_term_buffer", 10))
        size = re.fullmatch(r"ShortTermMemory\((\d+)\)", kind)
        if size is None:
            raise Unknown(f"config.short_term {kind!r} is of no known form")
        return ShortTermMemory(int(size[1]))


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
