"""Google's Agent Development Kit: an agent whose scripted model calls one tool of an `McpToolset`."""

import json
from contextlib import asynccontextmanager

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools.mcp_tool import McpToolset, StdioConnectionParams, StreamableHTTPConnectionParams
from google.genai import types
from mcp import StdioServerParameters
from pydantic import PrivateAttr
from steps import HEADERS, JOB, play


class OneCall(BaseLlm):
    """Calls a tool, and keeps the tools that it was offered and what it is told."""

    model: str = "scripted"
    _call: types.Part = PrivateAttr()
    _told: list = PrivateAttr(default_factory=list)
    _tools: list = PrivateAttr(default_factory=list)

    async def generate_content_async(self, llm_request, stream=False):
        tools = llm_request.config.tools or []
        self._tools = [one.name for tool in tools for one in tool.function_declarations or ()]
        self._told = [one.function_response for one in llm_request.contents[-1].parts if one.function_response]
        part = types.Part(text="done") if self._told or self._call is None else self._call
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


class GoogleAdk:
    def __init__(self, toolset):
        self.toolset = toolset

    async def run(self, call):
        model = OneCall()
        model._call = call
        agent = LlmAgent(name="assistant", model=model, tools=[self.toolset])
        runner = InMemoryRunner(agent=agent, app_name="driver")
        session = await runner.session_service.create_session(app_name="driver", user_id="ada")
        go = types.Content(role="user", parts=[types.Part(text="go")])
        async for _ in runner.run_async(user_id="ada", session_id=session.id, new_message=go):
            pass
        return model

    async def tools(self):
        return (await self.run(None))._tools

    async def call(self, tool, arguments):
        model = await self.run(types.Part(function_call=types.FunctionCall(id="call-1", name=tool, args=arguments)))
        (told,) = model._told
        answer = told.response
        failed = bool(answer.get("isError") or answer.get("is_error") or "error" in answer)
        return json.dumps(answer, ensure_ascii=False), failed


@asynccontextmanager
async def connect():
    if JOB["transport"] == "http":
        params = StreamableHTTPConnectionParams(url=JOB["url"], headers=HEADERS, timeout=30)
    else:
        server = StdioServerParameters(command=JOB["command"][0], args=JOB["command"][1:])
        params = StdioConnectionParams(server_params=server, timeout=30)
    toolset = McpToolset(connection_params=params)
    try:
        yield GoogleAdk(toolset)
    finally:
        await toolset.close()


play(connect)
