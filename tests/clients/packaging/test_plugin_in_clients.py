"""The plugin in the real Claude Code and Codex, as a person installs it; without a model and without a login."""

import json
from pathlib import Path

import pytest
from tests.clients.packaging import others
from tests.clients.packaging.others import PROJECT

PLUGIN = "hybrid-memory@hybrid-memory-mcp"


def on_a_machine(program, folder, installed):
    """Return what runs a client's program, which must succeed, and gives what it printed."""

    def run(*arguments):
        done = others.run([program, *arguments], cwd=folder, env=others.machine(folder / "home", installed))
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.fixture
def claude(folder, installed):
    """Runs Claude Code on a machine of its own, with the program installed."""
    return on_a_machine(others.claude_code(), folder, installed)


@pytest.fixture
def codex(folder, installed):
    """Runs Codex on a machine of its own, with the program installed."""
    return on_a_machine(others.codex(), folder, installed)


def test_claude_code_connects_to_the_server_of_the_installed_plugin(claude):
    claude("plugin", "marketplace", "add", str(PROJECT))
    claude("plugin", "install", PLUGIN)
    assert PLUGIN in claude("plugin", "list")
    (line,) = [line for line in claude("mcp", "list").splitlines() if line.startswith("plugin:hybrid-memory:memory")]
    assert "Connected" in line


def test_claude_code_shows_one_skill_five_hooks_and_one_server(claude):
    claude("plugin", "marketplace", "add", str(PROJECT))
    claude("plugin", "install", PLUGIN)
    shown = claude("plugin", "details", "hybrid-memory")
    assert "Skills (1)  memory" in shown
    assert "Hooks (5)" in shown
    assert "MCP servers (1)  memory" in shown


def test_the_plugin_leaves_no_trace_in_the_settings_of_claude_code_once_it_is_uninstalled(claude, folder):
    claude("plugin", "marketplace", "add", str(PROJECT))
    claude("plugin", "install", PLUGIN)
    claude("plugin", "uninstall", PLUGIN)
    claude("plugin", "marketplace", "remove", "hybrid-memory-mcp")
    settings = json.loads((folder / "home/.claude/settings.json").read_text(encoding="utf-8"))
    assert "hybrid-memory" not in json.dumps(settings)


def test_codex_installs_the_plugin_with_its_server(codex):
    codex("plugin", "marketplace", "add", str(PROJECT))
    placed = json.loads(codex("plugin", "add", PLUGIN, "--json"))
    assert placed["version"] == json.loads((PROJECT / "plugin/.codex-plugin/plugin.json").read_text())["version"]
    assert (Path(placed["installedPath"]) / "hooks" / "codex.json").is_file()
    (server,) = json.loads(codex("mcp", "list", "--json"))
    assert server["name"] == "memory"
    assert server["transport"]["command"] == "uvx"


def test_codex_knows_every_hook_of_the_plugin(folder, installed, codex):
    codex("plugin", "marketplace", "add", str(PROJECT))
    codex("plugin", "add", PLUGIN)
    said = [
        {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "test", "version": "0"}}},
        {"method": "initialized"},
        {"id": 2, "method": "hooks/list", "params": {"cwds": [str(folder)]}},
    ]
    answers = others.converse([others.codex(), "app-server"], said, others.machine(folder / "home", installed), until=2)
    hooks = [hook for place in answers["result"]["data"] for hook in place["hooks"]]
    # Once each: the file that is Claude Code's is not read as well.
    assert sorted(hook["eventName"] for hook in hooks) == [
        "preCompact",
        "sessionEnd",
        "sessionStart",
        "stop",
        "userPromptSubmit",
    ]
    assert all(hook["pluginId"] == PLUGIN for hook in hooks)
