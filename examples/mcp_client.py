"""The memory through MCP over stdin and stdout, with the SDK's client: what an assistant's program does.

uv run python examples/mcp_client.py
"""

import json
import sys
from tempfile import TemporaryDirectory

import anyio
from mcp import Client, StdioServerParameters
from mcp.types import TextResourceContents


async def main(home: str) -> None:
    """Start the server as any client does, call its tools, and read a resource."""
    # An installed server is the command `hybrid-memory-mcp`; here it is this Python's, with a store of its own.
    server = StdioServerParameters(command=sys.executable, args=["-m", "hybrid_memory_mcp", "--home", home])
    async with Client(server) as client:
        print("tools:", ", ".join(tool.name for tool in (await client.list_tools()).tools))

        written = await client.call_tool(
            "write_memory", {"content": "Ada is allergic to peanuts.", "importance": 0.9, "tags": ["health"]}
        )
        print("written:", (written.structured_content or {})["id"])

        # `token_budget` is never exceeded: the answer is cut to it, and a cursor continues.
        found = await client.call_tool("read_memories", {"query": "What must Ada not eat?", "token_budget": 500})
        for one in (found.structured_content or {})["memories"]:
            print("found:", one["text"])

        (content,) = (await client.read_resource("memory://status")).contents
        if isinstance(content, TextResourceContents):
            print("status:", json.loads(content.text)["memories"], "memory in the store")


if __name__ == "__main__":
    # The hub, the process that has the store open, leaves a few seconds after its last client.
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        anyio.run(main, folder)
