"""The hooks that each client is given, as its own documentation writes them.

They are the same in every version as long as that can be: Codex asks a person to trust each changed one again.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, TypeAlias

    Hooks: TypeAlias = dict[str, list[dict[str, Any]]]

ACTOR_OF_HOOKS = "hook of "  # before the client's name, in the log
EVENTS = ("session-start", "prompt", "pre-compact", "stop", "session-end")

BESIDE: Mapping[str, Mapping[str, Any]] = {"cursor": {"version": 1}}
"""What is stored with the key ``hooks`` in a client's file, where the client wants more."""

EVENT_NAMES: Mapping[str, Mapping[str, str]] = {
    "claude-code": {
        "session-start": "SessionStart",
        "prompt": "UserPromptSubmit",
        "pre-compact": "PreCompact",
        "stop": "Stop",
        "session-end": "SessionEnd",
    },
    "codex": {
        "session-start": "SessionStart",
        "prompt": "UserPromptSubmit",
        "pre-compact": "PreCompact",
        "stop": "Stop",
        "session-end": "SessionEnd",
    },
    "gemini": {
        "session-start": "SessionStart",
        "prompt": "BeforeAgent",
        "pre-compact": "PreCompress",
        "stop": "AfterAgent",
        "session-end": "SessionEnd",
    },
    "cursor": {
        "session-start": "sessionStart",
        "prompt": "beforeSubmitPrompt",
        "pre-compact": "preCompact",
        "stop": "stop",
        "session-end": "sessionEnd",
    },
    # It has no event for the beginning, the end or a compaction.
    "windsurf": {"prompt": "pre_user_prompt", "stop": "post_cascade_response_with_transcript"},
}
"""What each client with hooks calls our events."""

TOOL_EVENTS: Mapping[str, Sequence[tuple[str, str, str]]] = {
    "claude-code": (
        ("pre-tool", "PreToolUse", "Bash"),
        ("post-tool", "PostToolUse", "Bash|Edit|Write|NotebookEdit"),
        ("post-tool", "PostToolUseFailure", "Bash"),
        ("subagent-start", "SubagentStart", ""),
        ("subagent-stop", "SubagentStop", ""),
    ),
    "codex": (
        ("pre-tool", "PreToolUse", "Bash"),
        ("post-tool", "PostToolUse", "Bash|apply_patch"),
        ("subagent-start", "SubagentStart", ""),
        ("subagent-stop", "SubagentStop", ""),
    ),
    # It takes no context before a call, but behind the output of one.
    "gemini": (("post-tool", "AfterTool", "run_shell_command|replace|write_file"),),
}
"""For each client that tells of tool calls and of the agents that it starts: our event, the client's name of it, and for which tools.

Cursor tells neither whether a command failed nor takes context before one without deciding whether it may run; Windsurf takes no context.
"""

RECALL_TOKENS = 600  # of what a prompt is about, at most; a client waits for it and pays for it at each prompt
_RECALL = {"query": "${prompt}", "quiet": True, "token_budget": RECALL_TOKENS}
# Seconds until a client gives up; the program itself ends long before (`program.LIMIT_SECONDS`), but for a machine under load.
_SECONDS = {
    "session-start": 10,
    "prompt": 5,
    "pre-compact": 5,
    "stop": 10,
    "session-end": 3,
    "pre-tool": 2,
    "post-tool": 5,
    "subagent-start": 5,
    "subagent-stop": 5,
}
_IN_BACKGROUND = frozenset({"stop", "post-tool", "subagent-stop"})  # where a client can do that


def hooks_for(client: str, command: Sequence[str], *, server: str = "memory") -> Hooks | None:
    """Return what belongs under the key ``hooks`` of a client's file; None for a client that has none.

    ``command`` is how the program is started, its path first. ``server`` is the name under which the client knows the memory's
    MCP server; that of a plugin has the plugin's name before it. What else is in the file is `BESIDE`.

    Sources: the hook references of Claude Code, Codex, Gemini CLI, Cursor and Windsurf (see docs/hooks.md).
    """
    names = EVENT_NAMES.get(client)
    if names is None:
        return None
    hooks = {name: [_entry(client, event, command, server)] for event, name in names.items()}
    for event, name, tools in TOOL_EVENTS.get(client, ()):
        hooks[name] = [({"matcher": tools} if tools else {}) | _entry(client, event, command, server)]
    return hooks


def _entry(client: str, event: str, command: Sequence[str], server: str) -> dict[str, Any]:
    arguments = [*command[1:], "hook", event, "--client", client]
    if client == "windsurf":
        # What is printed would only be shown to the person.
        return {"command": _as_shell_line([command[0], *arguments]), "show_output": False}
    if client == "cursor":
        return {"command": _as_shell_line([command[0], *arguments]), "timeout": _SECONDS[event]}
    if client == "gemini":
        handler = {
            "name": "hybrid-memory",
            "type": "command",
            "command": _as_shell_line([command[0], *arguments]),
            "timeout": _SECONDS[event] * 1000,
        }
        return {"hooks": [handler]}
    if event == "prompt":
        # The host asks the server that it is connected to: no process is started at each prompt.
        recall = {"type": "mcp_tool", "server": server, "tool": "read_memories", "input": dict(_RECALL)}
        return {"hooks": [recall | {"timeout": _SECONDS[event]}]}
    handler = {"type": "command", "timeout": _SECONDS[event]}
    if client == "claude-code":
        # Started without a shell, so that no path and no system needs quoting.
        handler |= {"command": command[0], "args": arguments}
        if event in _IN_BACKGROUND:
            handler["async"] = True
    else:
        # Not in the background: Codex ends what still runs there when the session ends, and may never say that it has ended.
        handler["command"] = _as_shell_line([command[0], *arguments])
    matcher = {"matcher": "startup|resume|clear|compact"} if event == "session-start" else {}
    return matcher | {"hooks": [handler]}


def _as_shell_line(words: Sequence[str]) -> str:
    """Return the words as one line for the shell of this system."""
    if sys.platform == "win32":
        from subprocess import list2cmdline

        return list2cmdline(words)
    from shlex import join

    return join(words)
