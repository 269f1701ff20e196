"""Tests of an agent made with pydantic-ai, with its own stand-ins for a model and the fixture `memory`, offline."""

import pytest

pytest.importorskip("pydantic_ai.mcp", reason='needs "pydantic-ai-slim[mcp]"')

from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai_agent import travel_agent

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


def careful(messages, info):
    """Look up before answering a question; note everything else."""
    last = messages[-1].parts[-1]
    if isinstance(last, ToolReturnPart):
        return ModelResponse(parts=[TextPart(last.model_response_str())])
    said = str(last.content)
    if said.endswith("?"):
        return ModelResponse(parts=[ToolCallPart("read_memories", {"query": said})])
    return ModelResponse(parts=[ToolCallPart("write_memory", {"content": said, "origin": "user"})])


async def test_a_later_conversation_knows_what_an_earlier_one_was_told(memory):
    await travel_agent(memory.server(), FunctionModel(careful)).run("I always want a seat at the window.")
    memory.clock.advance(weeks=6)
    answer = await travel_agent(memory.server(), FunctionModel(careful)).run("Where do I want to sit?")

    assert "window" in answer.output
    memory.assert_remembered("seat at the window", origin="user", times=1)
    memory.assert_calls("write_memory", "read_memories")


async def test_the_agent_looks_before_it_plans(memory):
    memory.remember("I do not fly.")
    answer = await travel_agent(memory.server(), FunctionModel(careful)).run("Do I fly to Rome?")

    assert "I do not fly." in answer.output


async def test_the_agent_has_the_memorys_tools(memory):
    """pydantic-ai's TestModel calls the tools that it is told to, with made-up arguments that fit their schemas."""
    await travel_agent(memory.server(), TestModel(call_tools=["write_memory", "read_memories"])).run("hello")

    memory.assert_calls("write_memory", "read_memories")
    memory.assert_no_refusals()


@pytest.mark.hybrid_memory(transport="stdio")
async def test_the_agent_starts_the_program_itself(memory):
    from fastmcp.client.transports import StdioTransport

    command, *arguments = memory.command()
    async with travel_agent(StdioTransport(command, arguments, keep_alive=False), FunctionModel(careful)) as agent:
        await agent.run("I always want a seat at the window.")

    memory.assert_remembered("seat at the window")
