"""Everything that rests on private parts of the MCP SDK; no other module of the server touches them.

Written for `mcp` 2.3 (`WRITTEN_FOR`). Each function says why the public way does not do, and `tests/server/mcp_api/test_sdk.py` holds each
assumption, so that a later SDK that breaks one says so there first.
"""

from __future__ import annotations

import importlib
from typing import Any

from mcp.server import MCPServer, Server
from mcp.server._streamable_http_modern import handle_modern_request
from mcp.server.mcpserver.prompts import Prompt
from mcp.server.session import ServerSession
from mcp.shared._context_streams import ContextReceiveStream, ContextSendStream, create_context_streams

WRITTEN_FOR = "2.3"

__all__ = (
    "WRITTEN_FOR",
    "ContextReceiveStream",
    "ContextSendStream",
    "connection_of",
    "create_context_streams",
    "disable_sdk_logging",
    "handle_modern_request",
    "lowlevel_server_of",
    "prompt_of",
    "tool_of",
)


def lowlevel_server_of(server: MCPServer[Any]) -> Server[Any]:
    """Return the server below: only it runs on streams of our own, and only it takes handlers for methods of older protocols."""
    return server._lowlevel_server  # noqa: SLF001 - there is no public name for it


def tool_of(server: MCPServer[Any], name: str) -> object | None:
    """Return a tool that was added through the SDK, None without one; the public call raises with a text of its own."""
    return server._tool_manager.get_tool(name)  # noqa: SLF001 - as above


def prompt_of(server: MCPServer[Any], name: str) -> Prompt | None:
    """Return a prompt, None without one; the public call reports missing arguments with a text of its own."""
    return server._prompt_manager.get_prompt(name)  # noqa: SLF001 - as above


def connection_of(session: ServerSession) -> Any:
    """Return the connection of a session: a session stands for one request, its connection for the client."""
    return session._connection  # noqa: SLF001 - there is no public name for it


def disable_sdk_logging() -> None:
    """Leave the root logger as this program has set it up.

    The constructor of the SDK's server would otherwise import rich (tens of milliseconds) and show tracebacks with local
    text. It offers no switch for that, so its function is replaced in this process.
    """
    sdk = importlib.import_module("mcp.server.mcpserver.server")
    vars(sdk)["configure_logging"] = _do_nothing


def _do_nothing(level: str) -> None:
    del level
