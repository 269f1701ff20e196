"""What the tests of the packages share: a machine of its own, and a check of a server with a real client."""

import sys
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters
from tests.clients.packaging import others


@pytest.fixture
def installed():
    """The folder with the installed program, as `uv tool install` would make it."""
    return Path(sys.executable).parent


@pytest.fixture
def remembers(folder):
    """Starts a server twice as a client does: what is written the first time is found the second time."""

    def check(command, *arguments, environment, cwd=None):
        async def converse(step):
            server = StdioServerParameters(command=str(command), args=list(arguments), env=environment, cwd=cwd)
            with anyio.fail_after(others.SECONDS):
                async with Client(server) as client:
                    return await step(client)

        async def write(client):
            return await client.call_tool("write_memory", {"content": "Ada is allergic to peanuts."})

        async def read(client):
            return await client.call_tool("read_memories", {"query": "What must Ada not eat?"})

        environment = {"HYBRID_MEMORY_HOME": str(folder / "store")} | environment
        assert not anyio.run(converse, write).is_error
        found = anyio.run(converse, read)
        assert "Ada is allergic to peanuts." in found.content[0].text

    return check
