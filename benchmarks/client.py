"""The server as a client sees it, for all measurements: a process of its own behind stdio."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

BARE = Path(__file__).with_name("bare_server.py")


@asynccontextmanager
async def memory(
    home: Path, *options: str, era: str = "auto", python: Path = Path(sys.executable)
) -> AsyncIterator[Client]:
    """Start a memory server over a store and connect to it; ``python`` is that of the checkout."""
    arguments = ["-m", "hybrid_memory_mcp", "serve", "--standalone", "--home", str(home), *options]
    async with Client(StdioServerParameters(command=str(python), args=arguments), mode=era) as client:
        yield client


@asynccontextmanager
async def bare(era: str = "auto") -> AsyncIterator[Client]:
    """Start the smallest server that the SDK can make, with an echo tool."""
    async with Client(StdioServerParameters(command=sys.executable, args=[str(BARE)]), mode=era) as client:
        yield client


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool and return its structured result.

    Raises:
        RuntimeError: the tool answered with an error.
    """
    result = await client.call_tool(tool, arguments)
    if result.is_error or result.structured_content is None:
        raise RuntimeError(f"{tool} failed: {result.content}")
    return result.structured_content
