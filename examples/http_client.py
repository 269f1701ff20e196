"""The memory over HTTP: a token, a server on this machine, and a client that shows the token with each request.

uv run python examples/http_client.py
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

COMMAND = (sys.executable, "-m", "hybrid_memory_mcp")  # an installed server is the command `hybrid-memory-mcp`


def create_token(home: str) -> str:
    """Make a token. It decides namespace and agent, and is printed this once; only its hash is kept."""
    command = [*COMMAND, "token", "create", "laptop", "--namespace", "work", "--home", home]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@contextmanager
def http_server(home: str) -> Iterator[str]:
    """Run `serve --http` on a free port and yield its URL, which it tells on stderr."""
    command = [*COMMAND, "serve", "--http", "--port", "0", "--home", home]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            line = next(line for line in process.stderr if "http://" in line)
            yield next(word for word in line.split() if word.startswith("http://"))
        finally:
            process.terminate()


async def main(url: str, token: str) -> None:
    """Write and read over HTTP."""
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        await client.call_tool("write_memory", {"content": "The build server is called Ferris."})
        found = await client.call_tool("read_memories", {"query": "What is the build server called?"})
        print("found:", (found.structured_content or {})["memories"][0]["text"])


if __name__ == "__main__":
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        secret = create_token(folder)
        with http_server(folder) as address:
            print("serving at", address)
            anyio.run(main, address, secret)
