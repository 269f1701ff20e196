"""langchain-mcp-adapters: an agent whose scripted model is bound to the tools in strict form; one session stays open."""

from contextlib import asynccontextmanager
from itertools import count

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools
from steps import HEADERS, JOB, play

_NUMBERS = count()


class OneCall(GenericFakeChatModel):
    """Says the messages that it was given; to be bound to tools it has them made strict, as the model of OpenAI has."""

    def bind_tools(self, tools, **_):
        made = [convert_to_openai_tool(one, strict=True)["function"] for one in tools]
        assert all(one["strict"] for one in made)
        return self


class LangChain:
    def __init__(self, loaded):
        self.loaded = loaded

    async def tools(self):
        return [one.name for one in self.loaded]

    async def call(self, tool, arguments):
        asked = AIMessage("", tool_calls=[{"name": tool, "args": arguments, "id": f"call-{next(_NUMBERS)}"}])
        agent = create_agent(OneCall(messages=iter([asked, AIMessage("done")])), self.loaded)
        state = await agent.ainvoke({"messages": [("user", "go")]})
        (told,) = [one for one in state["messages"] if isinstance(one, ToolMessage)]
        parts = [told.content] if isinstance(told.content, str) else [one["text"] for one in told.content]
        return "\n".join(parts), told.status == "error"


@asynccontextmanager
async def connect():
    if JOB["transport"] == "http":
        server = {"transport": "streamable_http", "url": JOB["url"], "headers": HEADERS}
    else:
        server = {"transport": "stdio", "command": JOB["command"][0], "args": JOB["command"][1:]}
    async with MultiServerMCPClient({"memory": server}).session("memory") as session:
        yield LangChain(await load_mcp_tools(session))


play(connect)
