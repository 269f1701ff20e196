"""pydantic-ai: an agent whose `FunctionModel` calls one tool of an `MCPToolset`."""

from contextlib import asynccontextmanager

from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelResponse, RetryPromptPart, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel
from steps import HEADERS, JOB, play


class PydanticAi:
    def __init__(self, agent):
        self.agent = agent

    async def run(self, first):
        """Run once; returns the tools that the model has and the parts that it is told."""
        seen, told = [], []

        def model(messages, info):
            seen[:] = [one.name for one in info.function_tools]
            told[:] = [one for one in messages[-1].parts if isinstance(one, ToolReturnPart | RetryPromptPart)]
            return ModelResponse(parts=[TextPart("done")] if told or first is None else [first])

        await self.agent.run("go", model=FunctionModel(model))
        return seen, told

    async def tools(self):
        return (await self.run(None))[0]

    async def call(self, tool, arguments):
        (told,) = (await self.run(ToolCallPart(tool, arguments)))[1]
        if isinstance(told, RetryPromptPart):
            return told.model_response(), True
        return told.model_response_str(), told.outcome != "success"


@asynccontextmanager
async def connect():
    if JOB["transport"] == "http":
        toolset = MCPToolset(JOB["url"], headers=HEADERS)
    else:
        toolset = MCPToolset(StdioTransport(JOB["command"][0], JOB["command"][1:], keep_alive=False))
    agent = Agent(toolsets=[toolset])
    async with agent:
        yield PydanticAi(agent)


play(connect)
