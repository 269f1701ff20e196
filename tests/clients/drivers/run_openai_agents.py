"""OpenAI Agents SDK for Python: an agent whose scripted model calls one tool; the schemas are those of strict function calling."""

import json
from contextlib import asynccontextmanager

from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled
from agents.mcp import MCPServerStdio, MCPServerStreamableHttp
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)
from steps import HEADERS, JOB, play

set_tracing_disabled(disabled=True)


class OneCall(Model):
    """Calls a tool, and keeps what it answers."""

    def __init__(self, tool, arguments):
        self.call = ResponseFunctionToolCall(
            type="function_call", call_id="call-1", name=tool, arguments=json.dumps(arguments)
        )
        self.told = None
        self.tools = []

    async def get_response(self, system_instructions, input, model_settings, tools, *_, **__):  # noqa: A002 - the name in the interface
        self.tools = tools
        outputs = [one for one in input if isinstance(one, dict) and one.get("type") == "function_call_output"]
        if not outputs:
            return ModelResponse(output=[self.call], usage=Usage(), response_id=None)
        self.told = outputs[-1]["output"]
        text = ResponseOutputText(type="output_text", text="done", annotations=[])
        message = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *arguments, **named):
        raise NotImplementedError  # the interface asks for it; this driver never streams


class OpenAiAgent:
    def __init__(self, server):
        self.server = server

    def agent(self, model):
        strict = {"convert_schemas_to_strict": True}
        return Agent(name="assistant", model=model, mcp_servers=[self.server], mcp_config=strict)

    async def tools(self):
        model = OneCall("read_memories", {})
        tools = await self.agent(model).get_mcp_tools(None)
        loose = [one.name for one in tools if not one.strict_json_schema]
        assert not loose, f"has no strict schema: {loose}"
        return [one.name for one in tools]

    async def call(self, tool, arguments):
        model = OneCall(tool, arguments)
        await Runner.run(self.agent(model), "go")
        return model.told if isinstance(model.told, str) else json.dumps(model.told), None


@asynccontextmanager
async def connect():
    if JOB["transport"] == "http":
        server = MCPServerStreamableHttp(
            params={"url": JOB["url"], "headers": HEADERS}, client_session_timeout_seconds=30
        )
    else:
        params = {"command": JOB["command"][0], "args": JOB["command"][1:]}
        server = MCPServerStdio(params=params, client_session_timeout_seconds=30)
    async with server:
        yield OpenAiAgent(server)


play(connect)
