"""The drivers of what has no buffers: retriever, fragments, parsers and the conversation log."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from datetime import datetime
from typing import Any

from tests.conformance.compare import Mismatch, Unknown
from tests.conformance.world import World, moment

from hybrid_memory_dbgpt import (
    Document,
    GptsMemory,
    GptsMessage,
    GptsMessageMemory,
    GptsPlan,
    GptsPlansMemory,
    LLMImportanceScorer,
    LLMInsightExtractor,
    StructuredAgentMemoryFragment,
    TimeWeightedEmbeddingRetriever,
)

CONVERSATION = "c"


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
        return True if merged is fragments[0] else _said(merged)

    async def do_reduce_nested(self, n: int) -> Any:
        fragments = self._thoughts(n)
        return _said(self._kind.reduce([self._kind.reduce(fragments), fragments[-1]]))

    async def do_reduce_with_retrieved(self, n: int, second: str) -> Any:
        return _said(self._kind.reduce([*self._thoughts(n - 1), self._kind(second)]))

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


def _as_given(work: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return the inputs of a step; null is none given: the default, where a parameter has another one than None."""
    parameters = inspect.signature(work).parameters
    with_default = {one.name for one in parameters.values() if one.default not in (None, inspect.Parameter.empty)}
    return {name: value for name, value in given.items() if value is not None or name not in with_default}


def _naive(found: datetime | None) -> str | None:
    return found and found.replace(tzinfo=None).isoformat()


def _said(fragment: Any) -> dict[str, Any]:
    return {"text": fragment.raw_observation, "importance": fragment.importance}


def _plans(plans: list[GptsPlan]) -> list[list[Any]]:
    return [[one.sub_task_num, one.state, one.result, one.retry_times, one.sub_task_agent] for one in plans]
