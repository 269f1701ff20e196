"""The clients as data: where each keeps its files on each platform, in which shape it wants a server, by what it is recognised.

A place begins with a name in braces that `places.py` replaces: ``{home}``, ``{config}`` (XDG_CONFIG_HOME, or Application Support
or APPDATA), ``{xdg}`` (XDG_CONFIG_HOME on every platform), ``{local}`` (LOCALAPPDATA), or a variable with what stands for it,
``{CODEX_HOME|~/.codex}``. A star stands for any name; a place with one counts only where a folder of that name is there.

Sources: the documentation of each client and, where it could be had, what its own command line writes (docs/clients.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Platform = Literal["linux", "darwin", "win32"]
Places = Mapping[Platform, Sequence[str]]
"""For each platform the places that a file may have, the first that is there counts, else the last."""


SERVER = "memory"
"""What the server is called in every client."""
PLUGIN = "hybrid-memory@hybrid-memory-mcp"
"""What our plugin is called where a client notes which ones are on."""
_FIRST = ("type", "source")


_VARIABLES = [f"HYBRID_MEMORY_{name}" for name in ("HOME", "STORE", "NAMESPACE", "AGENT", "PROJECT", "HOOKS")]


def _everywhere(*places: str) -> Places:
    return {"linux": places, "darwin": places, "win32": places}


@dataclass(frozen=True)
class Client:
    """One client.

    ``servers`` is the file with its MCP servers, which stand under ``key``; ``entry`` and ``beside`` say what an entry looks like.
    ``hooks`` is the file with its hooks, where it has any. ``plugin`` is where it notes that our plugin is on, ``plugin_way`` how it
    gets that instead. ``next_step`` is what the person does afterwards, ``hooks_step`` what else where there are hooks. It is here if
    one of ``signs`` or one of ``programs`` is.
    """

    name: str
    title: str
    servers: Places
    signs: Places
    key: str = "mcpServers"
    shape: Literal["json", "toml"] = "json"
    beside: Mapping[str, Any] = field(default_factory=dict)
    one_list: bool = False
    env_key: str = "env"
    programs: Sequence[str] = ()
    hooks: Places | None = None
    plugin: tuple[Places, Sequence[str]] | None = None
    plugin_way: str = ""
    next_step: str = "restart it"
    hooks_step: str = ""
    locked_by_folder: bool = False

    def entry(self, command: Sequence[str], env: Mapping[str, str]) -> dict[str, Any]:
        """Return the entry of a server as this client wants it."""
        entry = {key: value for key, value in self.beside.items() if key in _FIRST}
        if self.one_list:
            entry["command"] = list(command)
        else:
            entry |= {"command": command[0], "args": list(command[1:])}
        entry |= self.beside
        if env:
            entry[self.env_key] = dict(env)
        if "env_vars" in entry:  # what is taken from the client's own environment
            entry["env_vars"] = [name for name in entry["env_vars"] if name not in env]
        return entry


CLIENTS: Sequence[Client] = (
    Client(
        "claude-desktop",
        "Claude Desktop",
        servers={
            "linux": ("{config}/Claude/claude_desktop_config.json",),
            "darwin": ("{config}/Claude/claude_desktop_config.json",),
            # Installed as a package, it sees another folder under this name.
            "win32": (
                "{local}/Packages/Claude_*/LocalCache/Roaming/Claude/claude_desktop_config.json",
                "{config}/Claude/claude_desktop_config.json",
            ),
        },
        signs={
            "linux": ("{config}/Claude",),
            "darwin": ("{config}/Claude", "/Applications/Claude.app"),
            "win32": ("{config}/Claude", "{local}/Packages/Claude_*", "{local}/AnthropicClaude"),
        },
        next_step="quit it completely and open it again",
    ),
    Client(
        "claude-code",
        "Claude Code",
        servers=_everywhere("{CLAUDE_CONFIG_DIR|~}/.claude.json"),
        signs=_everywhere("{CLAUDE_CONFIG_DIR|~}/.claude.json", "{CLAUDE_CONFIG_DIR|~/.claude}"),
        beside={"type": "stdio"},
        programs=("claude",),
        hooks=_everywhere("{CLAUDE_CONFIG_DIR|~/.claude}/settings.json"),
        plugin=(_everywhere("{CLAUDE_CONFIG_DIR|~/.claude}/settings.json"), ("enabledPlugins", PLUGIN)),
        plugin_way=f"or as a plugin, in this project's folder: `claude plugin marketplace add ./`, `claude plugin install {PLUGIN}`",
        next_step="begin a new session",
        locked_by_folder=True,
    ),
    Client(
        "cursor",
        "Cursor",
        servers=_everywhere("{home}/.cursor/mcp.json"),
        signs={
            "linux": ("{home}/.cursor", "{config}/Cursor"),
            "darwin": ("{home}/.cursor", "{config}/Cursor", "/Applications/Cursor.app"),
            "win32": ("{home}/.cursor", "{config}/Cursor"),
        },
        programs=("cursor", "cursor-agent"),
        hooks=_everywhere("{home}/.cursor/hooks.json"),
        next_step="restart it",
    ),
    Client(
        "vscode",
        "VS Code",
        servers=_everywhere("{config}/Code/User/mcp.json"),
        signs=_everywhere("{config}/Code"),
        key="servers",
        beside={"type": "stdio"},
        programs=("code",),
        next_step="start the server `memory` in the list MCP: List Servers",
    ),
    Client(
        "windsurf",
        "Windsurf / Devin Desktop",
        servers=_everywhere("{home}/.codeium/windsurf/mcp_config.json"),
        signs=_everywhere("{home}/.codeium/windsurf", "{config}/Windsurf", "{config}/Devin"),
        programs=("windsurf",),
        hooks=_everywhere("{home}/.codeium/windsurf/hooks.json"),
        next_step="restart it, or refresh its list of MCP servers",
    ),
    Client(
        "zed",
        "Zed",
        servers={
            "linux": ("{xdg}/zed/settings.json",),
            "darwin": ("{xdg}/zed/settings.json",),
            "win32": ("{config}/Zed/settings.json",),
        },
        signs={
            "linux": ("{xdg}/zed",),
            "darwin": ("{xdg}/zed", "/Applications/Zed.app"),
            "win32": ("{config}/Zed",),
        },
        key="context_servers",
        beside={"source": "custom"},
        programs=("zed", "zeditor"),
        next_step="nothing; it works immediately",
    ),
    Client(
        "codex",
        "Codex",
        servers=_everywhere("{CODEX_HOME|~/.codex}/config.toml"),
        signs=_everywhere("{CODEX_HOME|~/.codex}"),
        key="mcp_servers",
        shape="toml",
        # It hands few variables to a server, but all to a hook: both have to look into the same store.
        beside={"env_vars": _VARIABLES},
        programs=("codex",),
        hooks=_everywhere("{CODEX_HOME|~/.codex}/hooks.json"),
        plugin=(_everywhere("{CODEX_HOME|~/.codex}/config.toml"), ("plugins", PLUGIN, "enabled")),
        next_step="begin a new session",
        hooks_step="open /hooks there once and trust them: untrusted hooks are silently ignored",
    ),
    Client(
        "gemini",
        "Gemini CLI",
        servers=_everywhere("{GEMINI_CLI_HOME|~}/.gemini/settings.json"),
        signs=_everywhere("{GEMINI_CLI_HOME|~}/.gemini"),
        programs=("gemini",),
        hooks=_everywhere("{GEMINI_CLI_HOME|~}/.gemini/settings.json"),
        next_step="begin a new session, in a folder that it trusts",
    ),
    Client(
        "opencode",
        "opencode",
        servers=_everywhere(
            "{xdg}/opencode/opencode.jsonc",
            "{xdg}/opencode/opencode.json",
            "{xdg}/opencode/config.json",
            "{xdg}/opencode/opencode.json",
        ),
        signs=_everywhere("{xdg}/opencode"),
        key="mcp",
        beside={"type": "local", "enabled": True},
        one_list=True,
        env_key="environment",
        programs=("opencode",),
        next_step="begin a new session",
    ),
    Client(
        "copilot",
        "Copilot CLI",
        servers=_everywhere("{COPILOT_HOME|~/.copilot}/mcp-config.json"),
        signs=_everywhere("{COPILOT_HOME|~/.copilot}"),
        beside={"type": "local", "tools": ["*"]},
        programs=("copilot",),
        next_step="begin a new session",
    ),
    Client(
        "lmstudio",
        "LM Studio",
        servers=_everywhere("{lmstudio}/mcp.json"),
        signs=_everywhere("{home}/.lmstudio", "{home}/.lmstudio-home-pointer", "{home}/.cache/lm-studio"),
        programs=("lms",),
        next_step="switch the server `memory` on in the tab Program",
    ),
)

BY_NAME: Mapping[str, Client] = {client.name: client for client in CLIENTS}
