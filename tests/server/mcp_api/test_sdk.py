"""What the server assumes of private parts of the MCP SDK, written for `mcp` 2.3: each test says what breaks without it."""

from __future__ import annotations

import ast
import importlib
import inspect
from importlib.metadata import version
from pathlib import Path

import anyio
import pytest
from mcp.client import Client
from mcp.server import MCPServer
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCNotification

import hybrid_memory_mcp
from hybrid_memory_mcp.mcp_api import sdk

INSTALLED = f"mcp {version('mcp')} is installed, `mcp_api/sdk.py` was written for {sdk.WRITTEN_FOR}: "
PRIVATE = {"_lowlevel_server", "_tool_manager", "_prompt_manager"}

# The SDK's client warns that newer servers have no such method.
pytestmark = pytest.mark.filterwarnings("ignore:resources/:UserWarning")


def private_parts(tree):
    """Yield what of the SDK a module names that begins with an underscore."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("mcp", "mcp_types"):
            names = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
            yield from (name for name in names if name.startswith("_"))
        elif isinstance(node, ast.Attribute):
            of_session = node.attr == "_connection" and "session" in ast.unparse(node.value)
            if of_session or node.attr in PRIVATE:
                yield node.attr


@pytest.mark.slow
def test_no_other_module_touches_private_parts_of_the_sdk():
    root = Path(hybrid_memory_mcp.__file__).parent
    found = {
        str(file.relative_to(root)): sorted(private_parts(ast.parse(file.read_text(encoding="utf-8"))))
        for file in root.rglob("*.py")
    }
    assert {name for name, parts in found.items() if parts} == {str(Path("mcp_api", "sdk.py"))}
    assert {"_lowlevel_server", "_context_streams", "_connection"} <= set(found[str(Path("mcp_api", "sdk.py"))])


def test_the_server_below_runs_on_streams_and_takes_handlers():
    low = sdk.lowlevel_server_of(MCPServer("x"))
    told = INSTALLED + "hub and stdio cannot serve, and older clients cannot subscribe"
    assert {"run", "lifespan", "create_initialization_options", "add_request_handler"} <= set(dir(low)), told
    assert list(inspect.signature(low.run).parameters)[:3] == [
        "read_stream",
        "write_stream",
        "initialization_options",
    ], told


@pytest.mark.anyio
async def test_what_wraps_requests_sees_the_handshake_too_and_results_as_they_are_sent():
    server, seen = MCPServer("x"), {}

    async def note(ctx, call_next):
        seen[ctx.method] = await call_next(ctx)
        return seen[ctx.method]

    sdk.lowlevel_server_of(server).middleware.append(note)
    async with Client(server, mode="legacy") as client:
        await client.list_tools()
    told = INSTALLED + "clients that show apps are not told of the one inside the chat"
    assert isinstance(seen["initialize"], dict), told
    assert "capabilities" in seen["initialize"], told
    assert seen["tools/list"]["tools"] == [], told


@pytest.mark.anyio
async def test_tools_and_prompts_that_were_added_are_found_without_a_text_of_the_sdk():
    server = MCPServer("x")
    server.tool(name="echo")(lambda text: text)
    server.prompt(name="ask")(lambda question: question)
    told = INSTALLED + "an unknown tool or prompt is answered in the SDK's words, not with the names that exist"
    assert sdk.tool_of(server, "echo") is not None, told
    assert sdk.tool_of(server, "other") is None, told
    prompt = sdk.prompt_of(server, "ask")
    assert prompt is not None, told
    assert [(one.name, one.required) for one in prompt.arguments or []] == [("question", True)], told
    assert sdk.prompt_of(server, "other") is None, told


@pytest.mark.anyio
async def test_all_requests_of_a_client_have_one_connection_that_tells_its_end(server, monkeypatch):
    seen, ended = [], []
    real = sdk.connection_of

    def connection_of(session):
        connection = real(session)
        if connection not in seen:
            connection.exit_stack.callback(ended.append, connection)
        seen.append(connection)
        return connection

    monkeypatch.setattr("hybrid_memory_mcp.mcp_api.subscriptions.connection_of", connection_of)
    async with Client(server, mode="legacy") as client:
        await client.subscribe_resource("memory://most_recent_memories")
        await client.unsubscribe_resource("memory://most_recent_memories")
    told = INSTALLED + "a client's subscriptions outlive it, or are lost with their request"
    assert len(seen) == 2, told
    assert seen[0] is seen[1], told
    assert ended == [seen[0]], told


def test_the_sdk_sets_up_logging_by_a_function_that_can_be_replaced(monkeypatch):
    module = importlib.import_module("mcp.server.mcpserver.server")
    told = INSTALLED + "the SDK imports rich at each start and shows tracebacks with stored text"
    monkeypatch.setattr(module, "configure_logging", module.configure_logging)  # put back afterwards
    sdk.disable_sdk_logging()
    levels = []
    monkeypatch.setattr(sdk, "_do_nothing", levels.append)
    sdk.disable_sdk_logging()
    MCPServer("x", log_level="WARNING")
    assert levels == ["WARNING"], told


@pytest.mark.anyio
async def test_context_streams_carry_messages_in_order_and_end():
    send, receive = sdk.create_context_streams[SessionMessage](1)
    message = SessionMessage(JSONRPCNotification(jsonrpc="2.0", method="x"))
    with anyio.fail_after(60):
        await send.send(message)
        await send.aclose()
        assert [one async for one in receive] == [message], INSTALLED + "hub and stdio cannot hand over messages"
    await receive.aclose()


def test_one_request_of_the_newest_protocol_can_be_served_by_itself():
    takes = set(inspect.signature(sdk.handle_modern_request).parameters)
    told = INSTALLED + "HTTP cannot serve clients of protocol 2026-07-28"
    assert {"json_response", "lifespan_state", "scope", "receive", "send"} <= takes, told
