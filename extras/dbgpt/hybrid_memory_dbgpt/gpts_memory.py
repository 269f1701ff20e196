"""The log of conversations and plans alongside the memories.

The operations are those of DB-GPT's ``GptsMemory`` and of its two stores; entries live in a `ConversationLog`, so they are
durable where that is, and without one in this process only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from typing import Any, TypeVar

from hybrid_memory.clock import Clock, SystemClock
from hybrid_memory.errors import InvalidInput, NotFound
from hybrid_memory.secret_detection.secret_policy import SecretPolicy
from hybrid_memory.store.base import ConversationLog
from hybrid_memory_dbgpt.async_tools import run_blocking

_MESSAGE = "message"
_PLAN = "plan"
_NAMESPACE = "default"


class PlanStatus(StrEnum):
    """How far a plan is."""

    TODO = "todo"
    RUNNING = "running"
    WAITING = "waiting"
    RETRYING = "retrying"
    FAILED = "failed"
    COMPLETE = "complete"


_OPEN = (PlanStatus.TODO, PlanStatus.RETRYING)


@dataclass(frozen=True, slots=True, kw_only=True)
class GptsMessage:
    """One message from one agent to another. Times are ISO 8601 texts in UTC; ``created_at`` is set when it is stored."""

    conv_id: str
    sender: str
    receiver: str
    content: str
    role: str = ""
    rounds: int = 0
    is_success: bool = True
    app_code: str | None = None
    app_name: str | None = None
    current_goal: str | None = None
    context: str | None = None
    review_info: str | None = None
    action_report: str | None = None
    model_name: str | None = None
    resource_info: str | None = None
    created_at: str | None = None
    updated_at: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GptsPlan:
    """One task of a plan. ``sub_task_num`` names it within its conversation."""

    conv_id: str
    sub_task_num: int
    sub_task_content: str = ""
    sub_task_title: str | None = None
    sub_task_agent: str | None = None
    resource_name: str | None = None
    rely: str | None = None
    agent_model: str | None = None
    retry_times: int = 0
    max_retry_times: int = 5
    state: str = PlanStatus.TODO.value
    result: str | None = None


class GptsMessageMemory:
    """Messages by conversation. Blocking.

    ``secrets`` says whether what looks like a secret is stored, masked or refused. What was stored comes back as it is:
    agents work with it.
    """

    def __init__(
        self,
        log: ConversationLog | None = None,
        *,
        namespace: str = _NAMESPACE,
        clock: Clock | None = None,
        secrets: SecretPolicy | None = None,
    ) -> None:
        self._secrets = secrets or SecretPolicy()
        self._clock: Clock = clock or SystemClock()
        self._log = log if log is not None else _in_memory(self._clock)
        self._namespace = namespace

    def append(self, message: GptsMessage) -> None:
        """Store a message durably."""
        now = self._clock.now().isoformat()
        stamped = replace(message, created_at=message.created_at or now, updated_at=now)
        self._log.put_entry(self._namespace, message.conv_id, _MESSAGE, self._secrets.body(asdict(stamped)))

    def get_by_conv_id(self, conv_id: str) -> list[GptsMessage]:
        """Return the messages of a conversation in order."""
        entries = self._log.entries(self._namespace, conv_id, _MESSAGE)
        return [GptsMessage(**_known(GptsMessage, entry.body)) for entry in entries]

    def get_by_agent(self, conv_id: str, agent: str) -> list[GptsMessage]:
        """Return the messages that an agent sent or received."""
        return [one for one in self.get_by_conv_id(conv_id) if agent in (one.sender, one.receiver)]

    def get_between_agents(
        self, conv_id: str, agent1: str, agent2: str, current_goal: str | None = None
    ) -> list[GptsMessage]:
        """Return what two agents said to each other, under a goal if one is given."""
        pair = {(agent1, agent2), (agent2, agent1)}
        return [
            one
            for one in self.get_by_conv_id(conv_id)
            if (one.sender, one.receiver) in pair and (not current_goal or one.current_goal == current_goal)
        ]

    def get_last_message(self, conv_id: str) -> GptsMessage | None:
        """Return the last message of a conversation; None if there is none."""
        messages = self.get_by_conv_id(conv_id)
        return messages[-1] if messages else None

    def delete_by_conv_id(self, conv_id: str) -> None:
        """Remove the messages of a conversation."""
        self._log.remove_entries(self._namespace, conv_id, _MESSAGE)


class GptsPlansMemory:
    """Plans by conversation. Blocking. ``secrets`` as in `GptsMessageMemory`."""

    def __init__(
        self,
        log: ConversationLog | None = None,
        *,
        namespace: str = _NAMESPACE,
        clock: Clock | None = None,
        secrets: SecretPolicy | None = None,
    ) -> None:
        self._secrets = secrets or SecretPolicy()
        self._log = log if log is not None else _in_memory(clock or SystemClock())
        self._namespace = namespace

    def batch_save(self, plans: Sequence[GptsPlan]) -> None:
        """Store plans durably; a plan of the same number is replaced."""
        for plan in plans:
            body = self._secrets.body(asdict(plan))
            self._log.put_entry(self._namespace, plan.conv_id, _PLAN, body, plan.sub_task_num)

    def get_by_conv_id(self, conv_id: str) -> list[GptsPlan]:
        """Return the plans of a conversation by number."""
        entries = self._log.entries(self._namespace, conv_id, _PLAN)
        return [GptsPlan(**_known(GptsPlan, entry.body)) for entry in entries]

    def get_by_conv_id_and_num(self, conv_id: str, task_nums: Iterable[int | str]) -> list[GptsPlan]:
        """Return the plans of these numbers, which may be given as text.

        Raises:
            InvalidInput: one of them is no number.
        """
        try:
            wanted = {int(number) for number in task_nums}
        except ValueError:
            raise InvalidInput("task_nums", "must be whole numbers") from None
        return [plan for plan in self.get_by_conv_id(conv_id) if plan.sub_task_num in wanted]

    def get_todo_plans(self, conv_id: str) -> list[GptsPlan]:
        """Return the plans that are to do or to be tried again."""
        return [plan for plan in self.get_by_conv_id(conv_id) if plan.state in _OPEN]

    def complete_task(self, conv_id: str, task_num: int, result: str) -> None:
        """Mark a plan as complete.

        Raises:
            NotFound: there is no such plan.
        """
        self._replace(self._one(conv_id, task_num), state=PlanStatus.COMPLETE.value, result=result)

    def update_task(
        self,
        conv_id: str,
        task_num: int,
        state: str,
        retry_times: int,
        agent: str | None = None,
        model: str | None = None,
        result: str | None = None,
    ) -> None:
        """Set state, retries and result of a plan, and agent and model if they are given.

        Raises:
            NotFound: there is no such plan.
        """
        plan = self._one(conv_id, task_num)
        self._replace(
            plan,
            state=state,
            retry_times=retry_times,
            result=result,
            sub_task_agent=agent or plan.sub_task_agent,
            agent_model=model or plan.agent_model,
        )

    def remove_by_conv_id(self, conv_id: str) -> None:
        """Remove the plans of a conversation."""
        self._log.remove_entries(self._namespace, conv_id, _PLAN)

    def _one(self, conv_id: str, task_num: int) -> GptsPlan:
        found = self.get_by_conv_id_and_num(conv_id, [task_num])
        if not found:
            raise NotFound("no plan of this number in this conversation; save it first")
        return found[0]

    def _replace(self, plan: GptsPlan, **changes: Any) -> None:
        self.batch_save([replace(plan, **changes)])


class GptsMemory:
    """Messages and plans of all conversations, for agents. Without stores both live in this process only."""

    def __init__(
        self,
        plans_memory: GptsPlansMemory | None = None,
        message_memory: GptsMessageMemory | None = None,
        executor: Executor | None = None,
    ) -> None:
        self.plans_memory = plans_memory if plans_memory is not None else GptsPlansMemory()
        self.message_memory = message_memory if message_memory is not None else GptsMessageMemory()
        self._executor = executor

    async def append_message(self, conv_id: str, message: GptsMessage) -> None:
        """Store a message of a conversation durably."""
        await run_blocking(self._executor, lambda: self.message_memory.append(replace(message, conv_id=conv_id)))

    async def get_messages(self, conv_id: str) -> list[GptsMessage]:
        """Return the messages of a conversation in order."""
        return await run_blocking(self._executor, lambda: self.message_memory.get_by_conv_id(conv_id))

    async def get_agent_messages(self, conv_id: str, agent_role: str) -> list[GptsMessage]:
        """Return the messages that an agent sent or received, in order."""
        return await run_blocking(self._executor, lambda: self.message_memory.get_by_agent(conv_id, agent_role))

    async def get_agent_history_memory(self, conv_id: str, agent_role: str) -> list[tuple[str, str]]:
        """Return pairs of what an agent was told and what it said next, in order."""
        pairs: list[tuple[str, str]] = []
        asked: str | None = None
        for message in await self.get_agent_messages(conv_id, agent_role):
            if message.receiver == agent_role:
                asked = message.content
            elif asked is not None:
                pairs.append((asked, message.content))
                asked = None
        return pairs

    async def append_plans(self, conv_id: str, plans: Sequence[GptsPlan]) -> None:
        """Store plans of a conversation durably."""
        named = [replace(plan, conv_id=conv_id) for plan in plans]
        await run_blocking(self._executor, lambda: self.plans_memory.batch_save(named))

    async def get_plans(self, conv_id: str) -> list[GptsPlan]:
        """Return the plans of a conversation by number."""
        return await run_blocking(self._executor, lambda: self.plans_memory.get_by_conv_id(conv_id))

    async def clear(self, conv_id: str) -> None:
        """Remove messages and plans of a conversation."""
        await run_blocking(self._executor, lambda: self.message_memory.delete_by_conv_id(conv_id))
        await run_blocking(self._executor, lambda: self.plans_memory.remove_by_conv_id(conv_id))


_Entry = TypeVar("_Entry", GptsMessage, GptsPlan)


def _known(kind: type[_Entry], body: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what a later version stored and this one does not know."""
    names = {one.name for one in fields(kind)}
    return {name: value for name, value in body.items() if name in names}


def _in_memory(clock: Clock) -> ConversationLog:
    from hybrid_memory.store.memory.store import MemoryStore

    return MemoryStore(clock)
