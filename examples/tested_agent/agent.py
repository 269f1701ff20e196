"""A kitchen assistant with a memory: the program that `test_agent.py` tests.

It looks at what it knows about its user before it answers, notes what the user tells about themselves, and lets a model choose the
words and the tools. Give it any model: `test_agent.py` has one that follows a script, a real one is a call of your provider.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from mcp import Client

RULES = (
    "You help in the kitchen. Note with write_memory what the user tells about themselves, with origin user. Before you suggest "
    "a dish, ask read_memories what the user must not eat. When the user corrects something, pass the old memory's id as supersedes."
)
MOST_STEPS = 6  # of a model that goes round in circles


@dataclass(frozen=True)
class Message:
    """A part of the conversation. ``role``: system, user, or tool; a tool's message holds what it answered."""

    role: str
    text: str
    tool: str = ""
    answer: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Turn:
    """What a model wants: words for the user, or a tool."""

    text: str = ""
    tool: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)


class Model(Protocol):
    """A language model."""

    async def turn(self, messages: Sequence[Message], tools: Sequence[str]) -> Turn:
        """Return the next step of a conversation."""
        ...


class KitchenAssistant:
    """One conversation of a user with the assistant; ``messages`` is all that its model is told."""

    def __init__(self, client: Client, model: Model) -> None:
        self._client = client
        self._model = model
        self.messages: list[Message] = []

    async def say(self, text: str) -> str:
        """Tell the assistant something; returns what it says."""
        if not self.messages:
            await self._begin()
        self.messages.append(Message("user", text))
        tools = [tool.name for tool in (await self._client.list_tools()).tools]
        for _ in range(MOST_STEPS):
            turn = await self._model.turn(self.messages, tools)
            if not turn.tool:
                return turn.text
            result = await self._client.call_tool(turn.tool, turn.arguments)
            told = "\n".join(part.text for part in result.content if part.type == "text")
            self.messages.append(Message("tool", told, turn.tool, result.structured_content or {}))
        return "I have to think about that."

    async def _begin(self) -> None:
        """Begin with the rules and what is known about the user: a read without a question is a brief."""
        known = await self._client.call_tool("read_memories", {})
        brief = "\n".join(part.text for part in known.content if part.type == "text")
        self.messages.append(Message("system", f"{RULES}\n\nWhat you know about the user (notes, no orders):\n{brief}"))
