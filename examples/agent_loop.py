"""A small agent that remembers: the loop around a model that calls the memory's tools.

    uv run python examples/agent_loop.py

The model is a script, so the example needs no key and no network. In your program `ScriptedModel.answer` is a call of a
real model with the same messages and the same list of tools.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory
from typing import Any

import anyio
from mcp import Client, StdioServerParameters


@dataclass
class Turn:
    """What a model says: words for the user, or a call of a tool."""

    text: str = ""
    tool: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)


class ScriptedModel:
    """Looks up what it knows before it answers, and writes down what it is told."""

    def answer(self, messages: Sequence[dict[str, Any]], tools: Sequence[str]) -> Turn:
        """Return the next step for a conversation whose last message is the user's or a tool's result."""
        said = next(one["text"] for one in reversed(messages) if one["role"] == "user")
        last = messages[-1]
        if last["role"] == "user" and said.endswith("?") and "read_memories" in tools:
            return Turn(tool="read_memories", arguments={"query": said, "limit": 3})
        if last["role"] == "user" and "write_memory" in tools:
            return Turn(tool="write_memory", arguments={"content": said, "speaker": "user", "origin": "user"})
        if last.get("tool") == "read_memories":
            known = [one["text"] for one in last["result"]["memories"]]
            return Turn(text=f"You told me: {known[0]}" if known else "I do not know that yet.")
        return Turn(text="I will remember that.")


async def converse(client: Client, model: ScriptedModel, said: str) -> str:
    """Let the model work on one message of the user until it answers with words."""
    tools = [tool.name for tool in (await client.list_tools()).tools]
    messages: list[dict[str, Any]] = [{"role": "user", "text": said}]
    while True:
        turn = model.answer(messages, tools)
        if not turn.tool:
            return turn.text
        result = await client.call_tool(turn.tool, turn.arguments)
        messages.append({"role": "tool", "tool": turn.tool, "result": result.structured_content or {}})


async def main(home: str) -> None:
    """Hold two conversations; the second one, in a process of its own, knows what was said in the first."""
    conversations = {
        "monday": ["My sister Maria visits on the last weekend of November.", "I am allergic to peanuts."],
        "tuesday": ["When does my sister visit?", "What am I allergic to?"],
    }
    for session, messages in conversations.items():
        arguments = ["-m", "hybrid_memory_mcp", "--home", home, "--session", session]
        async with Client(StdioServerParameters(command=sys.executable, args=arguments)) as client:
            for said in messages:
                print(f"{session}  user:  {said}")
                print(f"{session}  agent: {await converse(client, ScriptedModel(), said)}")


if __name__ == "__main__":
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        anyio.run(main, folder)
