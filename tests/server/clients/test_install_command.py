"""`hybrid-memory-mcp install`, as a person types it."""

from __future__ import annotations

import json
import tomllib

import pytest

from hybrid_memory_mcp.clients.changes import is_ours
from hybrid_memory_mcp.clients.table import BY_NAME, CLIENTS

NAMES = [
    "claude-desktop",
    "claude-code",
    "cursor",
    "vscode",
    "windsurf",
    "zed",
    "codex",
    "gemini",
    "opencode",
    "copilot",
    "lmstudio",
]


def entry_of(client, path):
    text = path.read_text("utf-8")
    value = tomllib.loads(text) if client.shape == "toml" else json.loads(text)
    return value[client.key]["memory"]


def test_the_names_of_the_clients_are_those_that_were_promised():
    assert list(BY_NAME) == NAMES


@pytest.mark.parametrize("client", CLIENTS, ids=NAMES)
def test_a_named_client_gets_its_entry_on_an_empty_machine_and_nothing_is_left_when_it_is_taken_out(person, client):
    before = person.tree()
    assert person.install(client.name, "--yes").exit_code == 0
    path = person.machine().file(client.servers)
    assert path.is_relative_to(person.home)
    assert is_ours({"command": entry_of(client, path)["command"]})
    installed = person.tree()
    again = person.install(client.name, "--yes")
    assert again.exit_code == 0
    assert "already there" in again.output
    assert person.tree() == installed
    assert person.install(client.name, "--uninstall", "--yes").exit_code == 0
    assert person.tree() == before


def test_without_names_those_that_are_here_are_asked_for_one_by_one(person):
    person.write(".cursor/mcp.json", "{}")
    person.write(".gemini/settings.json", "{}")
    result = person.install("--no-hooks", answers="n\ny\n")
    assert result.exit_code == 0
    assert person.json(".cursor/mcp.json") == {}
    assert "memory" in person.json(".gemini/settings.json")["mcpServers"]


def test_what_others_wrote_there_is_not_shown(person):
    person.write(".cursor/mcp.json", '{\n  "mcpServers": {\n    "x": {"env": {"TOKEN": "sk-12345"}}\n  }\n}\n')
    result = person.install("cursor", "--yes")
    assert "sk-12345" not in result.output
    assert '+    "memory": {' in result.output


def test_the_entry_of_somebody_else_is_refused_and_stays(person):
    text = '{"mcpServers": {"memory": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"]}}}'
    path = person.write(".cursor/mcp.json", text)
    result = person.install("cursor", "--yes")
    assert result.exit_code == 1
    assert "--replace" in result.output
    assert path.read_text("utf-8") == text
    assert not (person.home / ".cursor" / "hooks.json").exists()
    assert person.install("cursor", "--yes", "--replace").exit_code == 0
    assert is_ours(person.json(".cursor/mcp.json")["mcpServers"]["memory"])
    assert person.install("cursor", "--yes", "--uninstall").exit_code == 0
    assert path.read_text("utf-8") == text
