"""The hooks that clients are given: as their documentation writes them, and the same in every version."""

from __future__ import annotations

import json
import sys

import pytest
from tests.tables import each

from hybrid_memory_mcp.hooks.definitions import BESIDE, EVENT_NAMES, TOOL_EVENTS, hooks_for

PROGRAM = "/opt/my tools/hybrid-memory-mcp"
POST_TOOL = {
    "type": "command",
    "timeout": 5,
    "command": PROGRAM,
    "args": ["hook", "post-tool", "--client", "claude-code"],
    "async": True,
}


@each("client", ["claude-desktop", "vscode", "zed", "opencode", "copilot", "lmstudio", "generic", ""])
def test_a_client_without_hooks_gets_none(client: str) -> None:
    assert hooks_for(client, [PROGRAM]) is None


@each("client", EVENT_NAMES)
def test_each_client_gets_its_own_names_of_events_as_plain_json(client: str) -> None:
    hooks = hooks_for(client, [PROGRAM])
    assert hooks is not None
    assert list(hooks) == [*EVENT_NAMES[client].values(), *(name for _, name, _ in TOOL_EVENTS.get(client, ()))]
    assert json.loads(json.dumps(hooks)) == hooks


def test_claude_code_recalls_by_the_connected_server_and_runs_the_program_for_the_rest() -> None:
    hooks = hooks_for("claude-code", [PROGRAM])
    assert hooks == {
        "SessionStart": [
            {
                "matcher": "startup|resume|clear|compact",
                "hooks": [
                    {
                        "type": "command",
                        "timeout": 10,
                        "command": PROGRAM,
                        "args": ["hook", "session-start", "--client", "claude-code"],
                    }
                ],
            }
        ],
        "UserPromptSubmit": [
            {
                "hooks": [
                    {
                        "type": "mcp_tool",
                        "server": "memory",
                        "tool": "read_memories",
                        "input": {"query": "${prompt}", "quiet": True, "token_budget": 600},
                        "timeout": 5,
                    }
                ]
            }
        ],
        "PreCompact": [
            {
                "hooks": [
                    {
                        "type": "command",
                        "timeout": 5,
                        "command": PROGRAM,
                        "args": ["hook", "pre-compact", "--client", "claude-code"],
                    }
                ]
            }
        ],
        "Stop": [
            {
                "hooks": [
                    {
                        "type": "command",
                        "timeout": 10,
                        "command": PROGRAM,
                        "args": ["hook", "stop", "--client", "claude-code"],
                        "async": True,
                    }
                ]
            }
        ],
        "SessionEnd": [
            {
                "hooks": [
                    {
                        "type": "command",
                        "timeout": 3,
                        "command": PROGRAM,
                        "args": ["hook", "session-end", "--client", "claude-code"],
                    }
                ]
            }
        ],
        "PreToolUse": [
            {
                "matcher": "Bash",
                "hooks": [
                    {
                        "type": "command",
                        "timeout": 2,
                        "command": PROGRAM,
                        "args": ["hook", "pre-tool", "--client", "claude-code"],
                    }
                ],
            }
        ],
        "PostToolUse": [{"matcher": "Bash|Edit|Write|NotebookEdit", "hooks": [POST_TOOL]}],
        "PostToolUseFailure": [{"matcher": "Bash", "hooks": [POST_TOOL]}],
        "SubagentStart": [
            {
                "hooks": [
                    {
                        "type": "command",
                        "timeout": 5,
                        "command": PROGRAM,
                        "args": ["hook", "subagent-start", "--client", "claude-code"],
                    }
                ]
            }
        ],
        "SubagentStop": [
            {"hooks": [POST_TOOL | {"args": ["hook", "subagent-stop", "--client", "claude-code"]}]},
        ],
    }


def test_a_plugin_names_its_server_as_the_client_knows_it() -> None:
    hooks = hooks_for("claude-code", [PROGRAM], server="plugin:hybrid-memory:memory")
    assert hooks is not None
    assert hooks["UserPromptSubmit"][0]["hooks"][0]["server"] == "plugin:hybrid-memory:memory"


def test_codex_keeps_its_limits() -> None:
    """SessionEnd has three seconds and takes no `mcp_tool`; what runs in the background dies with the session."""
    hooks = hooks_for("codex", [PROGRAM])
    assert hooks is not None
    end = hooks["SessionEnd"][0]["hooks"][0]
    assert (end["type"], end["timeout"]) == ("command", 3)
    handlers = [handler for groups in hooks.values() for group in groups for handler in group["hooks"]]
    assert {handler["type"] for handler in handlers} == {"command", "mcp_tool"}
    assert not any("async" in handler or "args" in handler for handler in handlers)


def test_gemini_is_given_commands_alone_and_counts_in_milliseconds() -> None:
    hooks = hooks_for("gemini", [PROGRAM])
    assert hooks is not None
    handlers = [handler for groups in hooks.values() for group in groups for handler in group["hooks"]]
    assert {handler["type"] for handler in handlers} == {"command"}
    assert all(handler["timeout"] >= 2000 for handler in handlers)


def test_cursor_has_the_version_beside_the_hooks() -> None:
    assert BESIDE == {"cursor": {"version": 1}}


@pytest.mark.skipif(sys.platform == "win32", reason="the line is for the shell of the system")
@pytest.mark.parametrize("client", ["codex", "gemini", "cursor", "windsurf"])
def test_a_path_with_a_space_is_one_word_for_the_shell(client: str) -> None:
    assert f"'{PROGRAM}' hook stop --client {client}" in json.dumps(hooks_for(client, [PROGRAM]))


def test_a_program_that_another_one_starts_keeps_its_words() -> None:
    hooks = hooks_for("claude-code", ["uvx", "hybrid-memory-mcp"])
    assert hooks is not None
    handler = hooks["SessionEnd"][0]["hooks"][0]
    words = ["uvx", "hybrid-memory-mcp", "hook", "session-end", "--client", "claude-code"]
    assert [handler["command"], *handler["args"]] == words
