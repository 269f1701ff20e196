"""llama-index: a `FunctionAgent` whose scripted model calls one tool of an `McpToolSpec`."""

from contextlib import asynccontextmanager

from llama_index.core.agent.workflow import FunctionAgent, ToolCallResult
from llama_index.core.base.llms.types import ChatMessage, MessageRole, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.tools.mcp import BasicMCPClient, McpToolSpec
from steps import HEADERS, JOB, play


class LlamaIndex:
    def __init__(self, loaded):
        self.loaded = loaded

    async def tools(self):
        return [one.metadata.name for one in self.loaded]

    async def call(self, tool, arguments):
        def model(messages, **_):
            if messages[-1].role == MessageRole.TOOL:
                return ChatMessage(role="assistant", content="done")
            asked = ToolCallBlock(tool_call_id="call-1", tool_name=tool, tool_kwargs=arguments)
            return ChatMessage(role="assistant", blocks=[asked])

        llm = MockFunctionCallingLLM(response_generator=model, is_chat_model=True)
        run = FunctionAgent(tools=self.loaded, llm=llm, streaming=False).run("go")
        told = [event async for event in run.stream_events() if isinstance(event, ToolCallResult)]
        await run
        output = told[0].tool_output
        raw = output.raw_output
        failed = output.is_error or bool(getattr(raw, "is_error", False))
        return output.content, failed


@asynccontextmanager
async def connect():
    if JOB["transport"] == "http":
        client = BasicMCPClient(JOB["url"], headers=HEADERS)
    else:
        client = BasicMCPClient(JOB["command"][0], args=JOB["command"][1:])
    yield LlamaIndex(await McpToolSpec(client=client).to_tool_list_async())


play(connect)
