"""Serve our HTTP server to the official MCP conformance suite, which knows no tokens and wants tools of its own.

    python tools/serve_for_conformance.py 8791 path/to/everything-server/mcp_everything_server/server.py
    npx @modelcontextprotocol/conformance@0.2.0-alpha.11 server --url http://127.0.0.1:8791/mcp --suite all --spec-version 2026-07-28

Port 0 takes a free one, which is printed. The second argument is the example of the MCP Python SDK's repository (examples/servers);
its tools, resources and prompts are added to each of our servers. Without it the scenarios that need them fail. The suite needs Node 22.
`just clients` does all of this by itself (tests/clients/test_conformance.py).
"""

from __future__ import annotations

import sys
import tempfile
import types
from pathlib import Path
from typing import Any

import anyio
from starlette.types import Receive, Scope, Send

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory_mcp.http import sessions
from hybrid_memory_mcp.http.access_tokens import Tokens
from hybrid_memory_mcp.http.app import HttpApp, build_http_app
from hybrid_memory_mcp.http.server import listen, serve_app
from hybrid_memory_mcp.http.settings import HttpSettings
from hybrid_memory_mcp.mcp_api.memory_server import MemoryServer
from hybrid_memory_mcp.runtime.provider import ServiceProvider, open_service

_THEIR_SUBSCRIPTIONS = (
    'mcp._lowlevel_server.add_request_handler(  # pyright: ignore[reportPrivateUsage]\n    "resources/subscribe"'
)


class WithToken:
    """The application behind somebody who adds a token to every request."""

    def __init__(self, app: HttpApp, token: str) -> None:
        self._app = app
        self._header = (b"authorization", f"Bearer {token}".encode())
        self.running = app.running
        self.leave = app.leave

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request as if it had shown the token."""
        await self._app({**scope, "headers": [*scope["headers"], self._header]}, receive, send)


def add_fixtures(example: Path) -> None:
    """Let every server of ours have what the SDK's example adds to its own; our own handlers stay."""
    source = example.read_text(encoding="utf-8")
    before, _, rest = source.partition("mcp = MCPServer(")
    fixtures = rest[rest.index("# Tools\n") : rest.index(_THEIR_SUBSCRIPTIONS)]
    code = compile(before + "mcp = OURS\n" + fixtures, str(example), "exec")
    build = sessions.MemoryServer

    def build_with_fixtures(*arguments: Any, **options: Any) -> MemoryServer:
        server = build(*arguments, **options)
        module = types.ModuleType("fixtures")
        sys.modules["fixtures"] = module
        vars(module)["OURS"] = server
        exec(code, vars(module))  # noqa: S102 - a developer names the file
        return server

    sessions.MemoryServer = build_with_fixtures


async def serve(port: int, home: Path) -> None:
    """Serve until interrupted."""
    random_source = SystemRandomSource()
    tokens = Tokens(home, SystemClock(), random_source)
    token = tokens.create("conformance", namespace="default", agent="default")
    listening = listen(HttpSettings(state_key=b"k" * 32, port=port))
    settings = HttpSettings(state_key=b"k" * 32, port=listening.getsockname()[1])
    provider = ServiceProvider(lambda: open_service(home, None, random_source))
    app = WithToken(build_http_app(provider, settings, tokens, random_source), token)
    await serve_app(app, settings, listening, lambda: print(f"ready at port {settings.port}", flush=True))


if __name__ == "__main__":
    if len(sys.argv) > 2:
        add_fixtures(Path(sys.argv[2]))
    with tempfile.TemporaryDirectory() as folder:
        anyio.run(serve, int(sys.argv[1]), Path(folder))
