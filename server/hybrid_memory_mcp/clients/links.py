"""Links by which a client adds the memory at a click. They name no path, so they start it through uvx."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from urllib.parse import quote, urlencode

from hybrid_memory_mcp.clients.command import PROGRAM
from hybrid_memory_mcp.clients.table import SERVER

_CONFIG: Mapping[str, object] = {"command": "uvx", "args": [PROGRAM]}
_DESCRIPTION = "A memory that every assistant on this machine shares"


def links() -> dict[str, str]:
    """Return for each client that has such links its title and the link; each may stand in a page on the web.

    Sources: cursor.com/docs/mcp/install-links, code.visualstudio.com (MCP developer guide), kiro.dev/docs/mcp/share,
    lmstudio.ai/docs/app/mcp/deeplink, block.github.io/goose (deeplink generator).
    """
    config = _json(_CONFIG)
    encoded = base64.b64encode(config.encode()).decode()
    for_vscode = "vscode:mcp/install?" + _percent(_json({"name": SERVER, "type": "stdio", **_CONFIG}))
    goose = [
        ("cmd", "uvx"),
        ("arg", PROGRAM),
        ("id", PROGRAM),
        ("name", "Hybrid memory"),
        ("description", _DESCRIPTION),
    ]
    return {
        "Cursor": f"https://cursor.com/en/install-mcp?name={SERVER}&config={_percent(encoded)}",
        "VS Code": f"https://insiders.vscode.dev/redirect?url={_percent(for_vscode)}",
        "Kiro": f"https://kiro.dev/launch/mcp/add?name={SERVER}&config={_percent(config)}",
        "LM Studio": f"https://lmstudio.ai/install-mcp?name={SERVER}&config={_percent(encoded)}",
        "Goose": f"https://block.github.io/goose/extension?{urlencode(goose, quote_via=quote)}",
    }


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _percent(text: str) -> str:
    return quote(text, safe="")
