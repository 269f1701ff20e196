"""The smallest agent that reads its memory into a prompt and writes each exchange back: the examples of DB-GPT's documentation.

It is no agent framework. It shows, with the names of the DB-GPT documentation, where a memory belongs in one: `read_memories`
fills ``most_recent_memories``, `write_memories` renders what is kept. Override either in a subclass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

from hybrid_memory.errors import InvalidInput
from hybrid_memory_dbgpt.agent_memory import AgentMemory
from hybrid_memory_dbgpt.fragments import AgentMemoryFragment
from hybrid_memory_dbgpt.gpts_memory import GptsMessage
from hybrid_memory_dbgpt.scoring import Complete
from hybrid_memory_prompts.render import render_text

__all__ = [
    "ActionOutput",
    "AgentContext",
    "BlankAction",
    "CallableLLM",
    "ConversableAgent",
    "LLMClient",
    "LLMConfig",
    "ProfileConfig",
    "UserProxyAgent",
]

USER_PROMPT = """\
{% if most_recent_memories %}\
Most recent observations:
{{ most_recent_memories }}
{% endif %}\

{% if question %}\
Question: {{ question }}
{% endif %}
"""

WRITE_MEMORY = """\
{% if question %}user: {{ question }} {% endif %}
{% if thought %}assistant: {{ thought }} {% endif %}\
"""


class LLMClient(Protocol):
    """A language model."""

    async def generate(self, prompt: str) -> str:
        """Return the answer to a prompt."""
        ...


@dataclass(frozen=True)
class LLMConfig:
    """Which model an agent asks."""

    llm_client: LLMClient


@dataclass(frozen=True)
class AgentContext:
    """The conversation that an agent is in."""

    conv_id: str
    language: str = "en"
    temperature: float = 0.5
    max_new_tokens: int = 1024
    verbose: bool = False


@dataclass(frozen=True)
class ProfileConfig:
    """Who an agent is, and its templates."""

    name: str = "assistant"
    role: str = "assistant"
    goal: str | None = None
    user_prompt_template: str = USER_PROMPT
    write_memory_template: str = WRITE_MEMORY


@dataclass(frozen=True)
class ActionOutput:
    """What an action came to; ``thoughts`` is what is remembered of it, the content when there are none."""

    content: str
    is_exe_success: bool = True
    thoughts: str | None = None


class BlankAction:
    """Takes the model's answer for the result."""

    async def run(self, ai_message: str) -> ActionOutput:
        """Return the answer as it is."""
        return ActionOutput(content=ai_message)


class ConversableAgent:
    """Answers questions with its memory. `bind` what it needs, then `build`.

    A subclass may set ``profile`` for all its agents. ``prompts`` are those that were given to the model, oldest first.
    """

    profile: ProfileConfig = ProfileConfig()

    def __init__(
        self,
        profile: ProfileConfig | None = None,
        context: AgentContext | None = None,
        memory: AgentMemory | None = None,
        llm: LLMConfig | None = None,
        action: BlankAction | None = None,
    ) -> None:
        if profile is not None:
            self.profile = profile
        self.context = context or AgentContext(conv_id="default")
        self.memory = memory
        self.llm = llm
        self.action = action or BlankAction()
        self.prompts: list[str] = []

    @property
    def write_memory_template(self) -> str:
        """The template of what is kept of an exchange; that of the profile."""
        return self.profile.write_memory_template

    def bind(self, part: Any) -> Self:
        """Take a context, a model, a memory, a profile or an action (an object or its class); returns the agent.

        Raises:
            InvalidInput: it is none of these.
        """
        part = part() if isinstance(part, type) else part
        if isinstance(part, AgentContext):
            self.context = part
        elif isinstance(part, LLMConfig):
            self.llm = part
        elif isinstance(part, AgentMemory):
            self.memory = part
        elif isinstance(part, ProfileConfig):
            self.profile = part
        elif isinstance(part, BlankAction):
            self.action = part
        else:
            raise InvalidInput("part", "must be an AgentContext, LLMConfig, AgentMemory, ProfileConfig or an action")
        return self

    async def build(self) -> Self:
        """Make the agent ready; without a memory it gets one of the last 5 fragments."""
        if self.memory is None:
            self.memory = AgentMemory()
        if self.memory.name is None:
            self.memory.initialize(name=self.profile.name, llm_client=self.llm and self.llm.llm_client)
        return self

    async def generate_reply(self, question: str) -> str:
        """Answer a question: read the memory, ask the model, act, write the exchange back.

        Raises:
            InvalidInput: the agent has no model.
        """
        if self.llm is None:
            raise InvalidInput("llm", "bind an LLMConfig before asking")
        variables = {"most_recent_memories": await self.read_memories(question), "question": question}
        prompt = render_text(self.profile.user_prompt_template, **variables)
        self.prompts.append(prompt)
        ai_message = await self.llm.llm_client.generate(prompt)
        await self.write_memories(question, ai_message, await self.action.run(ai_message))
        return ai_message

    async def read_memories(self, question: str) -> str:
        """Return what the prompt shows as ``most_recent_memories``."""
        return await self._memory().read_memories(question)

    async def write_memories(
        self,
        question: str,
        ai_message: str,
        action_output: ActionOutput | None = None,
        check_pass: bool = True,
        check_fail_reason: str | None = None,
    ) -> None:
        """Keep an exchange as one fragment, rendered by ``write_memory_template``."""
        del check_pass, check_fail_reason
        thought = (action_output.thoughts if action_output else None) or ai_message
        content = self.render_template(self.write_memory_template, question=question, thought=thought)
        await self._memory().write(AgentMemoryFragment(content))

    def render_template(self, template: str, **variables: str) -> str:
        """Return a template's text."""
        return render_text(template, **variables)

    def _render_template(self, template: str, **variables: str) -> str:
        """What DB-GPT's subclasses call `render_template`."""
        return self.render_template(template, **variables)

    def _init_actions(self, actions: Sequence[type[BlankAction] | BlankAction]) -> None:
        """Bind actions, as DB-GPT's subclasses do when they are made; the last one acts."""
        for action in actions:
            self.bind(action)

    def _memory(self) -> AgentMemory:
        if self.memory is None:
            raise InvalidInput("memory", "await build() before asking")
        return self.memory


class UserProxyAgent(ConversableAgent):
    """Speaks for the user, and keeps the conversation's log in the memory's `GptsMemory`."""

    async def initiate_chat(
        self, recipient: ConversableAgent, message: str, reviewer: ConversableAgent | None = None
    ) -> str:
        """Ask the recipient and return its answer; both messages go into the log."""
        del reviewer
        await self._log("User", recipient.profile.name, message)
        answer = await recipient.generate_reply(message)
        await self._log(recipient.profile.name, "User", answer)
        return answer

    async def _log(self, sender: str, receiver: str, content: str) -> None:
        message = GptsMessage(
            conv_id=self.context.conv_id, sender=sender, receiver=receiver, role=sender, content=content
        )
        await self._memory().gpts_memory.append_message(self.context.conv_id, message)


@dataclass(frozen=True)
class CallableLLM:
    """A language model that is an async function from prompt to answer."""

    complete: Complete

    async def generate(self, prompt: str) -> str:
        """Return what the function returns."""
        return await self.complete(prompt)
