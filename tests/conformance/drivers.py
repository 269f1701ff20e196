"""One driver for each component of the traces: it builds the public object and carries out a case's operations.

In order: buffers and agent memory, long-term memory, hybrid memory, then what has no buffers (retriever, fragments, parsers,
conversation log). `DRIVERS` at the end says which component has which.
"""

from __future__ import annotations

import inspect
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from datetime import datetime
from typing import Any

import anyio
from tests.conformance.compare import Mismatch, Unknown
from tests.conformance.world import NOON, WatchedRetriever, World, enhanced, enhanced_state, moment, said

from hybrid_memory_dbgpt import (
    AgentMemory,
    DiscardedMemoryFragments,
    Document,
    GptsMemory,
    GptsMessage,
    GptsMessageMemory,
    GptsPlan,
    GptsPlansMemory,
    HybridMemory,
    LLMImportanceScorer,
    LLMInsightExtractor,
    LongTermMemory,
    SensoryMemory,
    ShortTermMemory,
    StructuredAgentMemoryFragment,
    TimeWeightedEmbeddingRetriever,
    WriteOperation,
)

CONVERSATION = "c"
BULK = "b000..b202 at angle 0.001*(i+1) rad in 3 dims, importance 0.1; star at cosine 0.5, importance 9"
OWN_METADATA = {"buffer_idx", "importance", "last_accessed_at"}


class Driver:
    """Carries out the operations of a case: ``do_<op>``, with the step's input as its arguments."""

    has_state = False

    def __init__(self, world: World) -> None:
        self.world = world

    async def prepare(self) -> None:
        """Do what the case takes for granted."""

    async def do(self, op: str, given: dict[str, Any]) -> Any:
        work = getattr(self, f"do_{op}", None)
        if work is None:
            raise Unknown(f"operation {op!r} of {type(self).__name__} is not known")
        given = _as_given(work, given)
        try:
            inspect.signature(work).bind(**given)
        except TypeError as unfit:
            raise Unknown(f"operation {op!r}: {unfit}") from None
        return await work(**given)

    @property
    def long_term(self) -> Any:
        """The long-term memory that the present step uses; None where there is none."""
        return None

    def state(self) -> Any:
        raise Unknown(f"{type(self).__name__} has no state")

    def check(self, where: str, *, failed: bool) -> None:
        """Check what holds after every step."""


def _as_given(work: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return the inputs of a step; null is none given: the default, where a parameter has another one than None."""
    parameters = inspect.signature(work).parameters
    with_default = {one.name for one in parameters.values() if one.default not in (None, inspect.Parameter.empty)}
    return {name: value for name, value in given.items() if value is not None or name not in with_default}


class Buffer(Driver, ABC):
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

    @abstractmethod
    def build(self) -> Any:
        """Return the memory of the case's settings."""

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


def others_metadata(world: World, memory: LongTermMemory) -> dict[str, Any] | None:
    """Return with which metadata another object wrote a step's rows; None if this memory may have written them.

    Inputs do not say who writes. A counter that begins again with other metadata does, and so does a session that no
    setting names.
    """
    rows = world.step.get("long_term_written") or [{}]
    row = rows[0].get("metadata", {})
    found = {name: value for name, value in row.items() if name not in OWN_METADATA}
    if row.get("buffer_idx") != 0 or found == memory.filters:
        return None
    own = {name: value for name, value in memory.filters.items() if name != "session_id"}
    only_session = own == {name: value for name, value in found.items() if name != "session_id"}
    unsaid = only_session and memory.session_id is None and not world.session_said
    return found if memory.written or unsaid else None


def recorded_session(world: World, otherwise: str | None) -> str | None:
    """Return in which session a recorded step searched or wrote; ``otherwise`` where a setting says it or it did neither."""
    searches, rows = world.step.get("searches", []), world.step.get("long_term_written", [])
    if world.session_said or not (searches or rows):
        return otherwise
    filters = [one for search in searches for one in search.get("filters") or []]
    asked = [one[2] for one in filters if isinstance(one, list) and len(one) > 2 and one[0] == "session_id"]
    wrote = [row.get("metadata", {}).get("session_id") for row in rows]
    return next((one for one in (*asked, *wrote) if isinstance(one, str)), None)


class LongTerm(Driver):
    """A long-term memory over the case's store."""

    has_state = True

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
        if last_accessed_time is None and self.world.as_recorded and "error" not in self.world.step:
            raise Mismatch("write: has no last_accessed_time, without which the reference only raises")
        self._let_others_write()
        fragment = self.world.fragment(
            {"text": text, "importance": importance, "last_accessed_time": last_accessed_time}
        )
        return await self.memory.write(fragment)

    def _let_others_write(self) -> None:
        """Become the object that wrote the recorded rows, where the input cannot say that it was another one."""
        found = others_metadata(self.world, self.memory)
        if found is None:
            return
        self._settings["metadata"] = {name: value for name, value in found.items() if name != "session_id"}
        self._session = found.get("session_id")
        self.memory = self._open()

    def _ask_as_recorded(self) -> None:
        self._session = self.memory.session_id = recorded_session(self.world, self._session)

    async def do_write_batch(self, fragments: list[dict[str, Any]], now: str | None = None) -> Any:
        self._let_others_write()
        rated = bool(fragments) and fragments[0].get("importance") is not None
        if rated and now is not None and "error" in self.world.step and self.world.as_recorded:
            raise Mismatch(
                "write_batch: the reference stores what comes before the fragment it refuses, this one nothing"
            )
        return await self.memory.write_batch([self.world.fragment(one) for one in fragments], moment(now))

    async def do_read(self, observation: str, **weights: float) -> Any:
        if not set(weights) <= {"alpha", "beta", "gamma"}:
            raise Unknown(f"read takes no {sorted(weights)}")
        self._ask_as_recorded()
        return said(await self.memory.read(observation, **weights))

    async def do_reopen(self, now: str | None = None, **settings: Any) -> Any:
        self.world.session_said |= not {"session", "session_id"}.isdisjoint(settings)
        self._session = settings.pop("session_id", settings.pop("session", self._session))
        if not set(settings) <= {"_default_importance", "metadata", "reflection_threshold"}:
            raise Unknown(f"reopen takes no {sorted(settings)}")
        self._settings = settings
        self._now = NOON if now is None else now
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

    @property
    def long_term(self) -> LongTermMemory:
        return self.memory

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

    has_state = True

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
        self._enter_session()
        fragment = self.world.fragment({"text": text, "importance": importance})
        return self._outcome(await self.memory.write(fragment, moment(now)))

    async def do_write_batch(self, fragments: list[dict[str, Any]]) -> Any:
        self._seeding = False
        return self._outcome(await self.memory.write_batch([self.world.fragment(one) for one in fragments]))

    async def do_read(self, observation: str) -> Any:
        self._seeding = False
        self._enter_session()
        return said(await self.memory.read(observation))

    async def do_reopen(self, now: str | None = None, initialize: bool = True, **sessions: Any) -> Any:
        if not set(sessions) <= {"session", "session_id"}:
            raise Unknown(f"reopen takes no {sorted(sessions)}")
        self._seeding, self._seeds = False, None
        self.world.session_said |= bool(sessions)
        self._session = next(iter(sessions.values()), self._session)
        self.memory = self._open(NOON if now is None else now, initialize=initialize)

    async def do_structure_clone(self) -> Any:
        self._seeding = False
        self.memory = self.memory.structure_clone()

    async def do_clear(self) -> Any:
        self._seeding = False
        return said(await self.memory.clear())

    @property
    def long_term(self) -> LongTermMemory:
        return self._seeds.memory if self._seeding and self._seeds is not None else self.memory.long_term_memory

    def state(self) -> Any:
        if self._seeding and self._seeds is not None:
            return self._seeds.state()
        return {
            "sensory": said(self.memory.sensory_memory.fragments),
            "short_term": enhanced_state(self.memory.short_term_memory),
            "long_term_count": len(self.world.vectors.documents()),
            "aggregate_importance": self.memory.long_term_memory.aggregate_importance,
        }

    def _enter_session(self) -> None:
        self._session = recorded_session(self.world, self._session)
        self.memory.session_id = self.memory.long_term_memory.session_id = self._session

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


class Stream:
    """Keeps a retriever's stream in memory and notes how long it was at each save."""

    def __init__(self) -> None:
        self.saved: list[int] = []

    def load(self) -> list[Document]:
        return []

    def save(self, stream: Any) -> None:
        self.saved.append(len(stream))


class TimeWeighted(Driver):
    def __init__(self, world: World) -> None:
        super().__init__(world)
        kind = world.config.get("storage")
        if kind not in (None, "memory stream"):
            raise Unknown(f"config.storage {kind!r} is not known")
        self._stream = Stream() if kind else None
        self._retriever = TimeWeightedEmbeddingRetriever(
            world.vectors,
            decay_rate=world.config.get("decay_rate", 0.01),
            top_k=world.config.get("top_k", 100),
            k=world.config.get("k", 4),
            other_score_keys=world.config.get("other_score_keys") or (),
            default_salience=world.config.get("default_salience"),
            external_storage=self._stream,
            clock=world.clock,
        )

    async def do_load_document(self, text: str, current_time: str) -> Any:
        count = len(self._retriever.load_document([Document(content=text)], moment(current_time)))
        for one in self.world.written:
            one["metadata"].pop("last_accessed_at")
        return count

    async def do_retrieve(self, query: str, now: str) -> Any:
        return [
            {
                "text": one.content,
                "buffer_idx": one.metadata["buffer_idx"],
                "last_accessed_at": _naive(one.last_accessed_at),
                "created_at": _naive(one.created_at),
            }
            for one in self._retriever.retrieve(query, moment(now))
        ]

    async def do_save_calls(self) -> Any:
        return self._stream.saved if self._stream else []


class Structured(Driver):
    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._kind = StructuredAgentMemoryFragment

    async def do_raw(self, observation: dict[str, Any]) -> Any:
        return self._kind(observation).raw_observation

    async def do_reduce(self, n: int) -> Any:
        fragments = self._thoughts(n)
        merged = self._kind.reduce(fragments, importance=1.0)
        return True if merged is fragments[0] else said([merged])[0]

    async def do_reduce_nested(self, n: int) -> Any:
        fragments = self._thoughts(n)
        return said([self._kind.reduce([self._kind.reduce(fragments), fragments[-1]])])[0]

    async def do_reduce_with_retrieved(self, n: int, second: str) -> Any:
        return said([self._kind.reduce([*self._thoughts(n - 1), self._kind(second)])])[0]

    def _thoughts(self, n: int) -> list[StructuredAgentMemoryFragment]:
        return [self._kind({"question": "q", "thought": f"t{at + 1}"}) for at in range(n)]


class Scorers(Driver):
    async def do_parse_number(self, text: str) -> Any:
        return LLMImportanceScorer.parse_number(text)


class Extractors(Driver):
    async def do_parse_list(self, text: str) -> Any:
        return LLMInsightExtractor.parse_list(text)


class Messages(Driver):
    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._memory = GptsMessageMemory(world.open_store(), clock=world.clock)

    async def do_append(
        self, conv_id: str, content: str, sender: str = "A", receiver: str = "B", goal: str | None = None
    ) -> Any:
        self._memory.append(
            GptsMessage(conv_id=conv_id, sender=sender, receiver=receiver, content=content, current_goal=goal)
        )

    async def do_delete_by_conv_id(self, conv_id: str, held_before: list[str] | None = None) -> Any:
        for content in held_before or []:
            await self.do_append(content.split()[0], content)
        self._memory.delete_by_conv_id(conv_id)

    async def do_get_by_conv_id(self, conv_id: str) -> Any:
        return [one.content for one in self._memory.get_by_conv_id(conv_id)]

    async def do_get_by_agent(self, conv_id: str, agent: str) -> Any:
        return [one.content for one in self._memory.get_by_agent(conv_id, agent)]

    async def do_get_between_agents(self, conv_id: str, agents: list[str], goal: str | None = None) -> Any:
        first, second = agents
        return [one.content for one in self._memory.get_between_agents(conv_id, first, second, goal)]

    async def do_get_last_message(self, conv_id: str) -> Any:
        last = self._memory.get_last_message(conv_id)
        return last and last.content


class Plans(Driver):
    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._memory = GptsPlansMemory(world.open_store(), clock=world.clock)
        self._saved: set[int] = set()

    async def do_batch_save(self, conv_id: str, nums: list[int]) -> Any:
        if nums != sorted(set(nums)) or not self._saved.isdisjoint(nums):
            raise Mismatch(f"plans {nums}: the reference keeps repetitions and the order of saving, this one neither")
        self._saved |= set(nums)
        self._memory.batch_save([GptsPlan(conv_id=conv_id, sub_task_num=num, sub_task_agent="X") for num in nums])

    async def do_complete_task(self, num: int, result: str) -> Any:
        self._memory.complete_task(CONVERSATION, num, result)

    async def do_update_task(
        self, num: int, state: str, retry_times: int, agent: str | None = None, result: str | None = None
    ) -> Any:
        self._memory.update_task(CONVERSATION, num, state, retry_times, agent=agent, result=result)

    async def do_get_by_conv_id(self) -> Any:
        return _plans(self._memory.get_by_conv_id(CONVERSATION))

    async def do_get_by_conv_id_and_num(self, nums: list[Any]) -> Any:
        return _plans(self._memory.get_by_conv_id_and_num(CONVERSATION, nums))

    async def do_get_todo_plans(self) -> Any:
        return _plans(self._memory.get_todo_plans(CONVERSATION))

    async def do_remove_by_conv_id(self) -> Any:
        self._memory.remove_by_conv_id(CONVERSATION)
        self._saved.clear()


class GptsMemories(Driver):
    def __init__(self, world: World) -> None:
        super().__init__(world)
        store = world.open_store()
        self._memory = GptsMemory(
            GptsPlansMemory(store, clock=world.clock), GptsMessageMemory(store, clock=world.clock)
        )

    async def prepare(self) -> None:
        message = GptsMessage(conv_id=CONVERSATION, sender="A", receiver="B", content="hi")
        await self._memory.append_message(CONVERSATION, message)

    async def do_get_agent_messages(self, agent_role: str) -> Any:
        return [one.content for one in await self._memory.get_agent_messages(CONVERSATION, agent_role)]


def _naive(found: datetime | None) -> str | None:
    return found and found.replace(tzinfo=None).isoformat()


def _plans(plans: list[GptsPlan]) -> list[list[Any]]:
    return [[one.sub_task_num, one.state, one.result, one.retry_times, one.sub_task_agent] for one in plans]


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
