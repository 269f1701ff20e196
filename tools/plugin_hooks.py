"""Writes the hooks of the plugin: `plugin/hooks/hooks.json` for Claude Code, `plugin/hooks/codex.json` for Codex.

    python tools/plugin_hooks.py

They are those of `hybrid_memory_mcp.hooks.definitions`, with the plugin's launcher in place of the program. A test compares.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hybrid_memory_mcp.hooks.definitions import hooks_for

PLUGIN = Path(__file__).resolve().parent.parent / "plugin"
PROGRAM = "hybrid-memory-mcp"
# Both clients fill in the variable, Codex has it in the environment too. Quoted, since the path of a home can hold spaces.
LAUNCHER = '"${CLAUDE_PLUGIN_ROOT}/bin/hybrid-memory"'
FILES = {"claude-code": PLUGIN / "hooks" / "hooks.json", "codex": PLUGIN / "hooks" / "codex.json"}
# Claude Code knows a plugin's server by the plugin's name and its own, Codex by its own.
SERVERS = {"claude-code": "plugin:hybrid-memory:memory", "codex": "memory"}


def plugin_hooks(client: str) -> dict[str, Any]:
    """Return what is in the hooks file of a client."""
    hooks = hooks_for(client, [PROGRAM], server=SERVERS[client])
    if hooks is None:
        raise ValueError(client)
    return {
        "hooks": {
            event: [{**entry, "hooks": [_launched(one, client) for one in entry["hooks"]]} for entry in entries]
            for event, entries in hooks.items()
        }
    }


def _launched(handler: dict[str, Any], client: str) -> dict[str, Any]:
    """Return a handler that starts the launcher through the shell.

    Through the shell, because a script cannot be started without one on Windows: Claude Code takes Git's there. Codex has a line
    of its own for Windows, which only finds an installed program.
    """
    if handler["type"] != "command":
        return handler
    words = " ".join([handler["command"], *handler.get("args", [])])
    launched = {"command": words.replace(PROGRAM, LAUNCHER, 1)}
    if client == "codex":
        launched["commandWindows"] = words
    return {name: value for name, value in handler.items() if name != "args"} | launched


def text_of(client: str) -> str:
    """Return the hooks file of a client as it is written."""
    return json.dumps(plugin_hooks(client), indent=2) + "\n"


def main() -> None:
    """Write the files."""
    for client, file in FILES.items():
        file.write_text(text_of(client), encoding="utf-8")
        print(f"{file.relative_to(PLUGIN.parent)} written")


if __name__ == "__main__":
    main()
