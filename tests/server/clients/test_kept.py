"""Whatever of a person's is in an entry or a file is there after any sequence of installing, rewriting and taking out."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory_mcp.clients.installer import Step, Wish, _edited, _server_parts
from hybrid_memory_mcp.clients.starts import read_start, server_options, words_of
from hybrid_memory_mcp.clients.table import BY_NAME

NOWHERE = Path("/nowhere/at/all.json")
FOREIGN = [
    {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"], "env": {"MEMORY_FILE_PATH": "/x"}},
    {"command": "docker", "args": ["run", "-i", "--rm", "-v", "hybrid-memory:/data", "hybrid-memory-mcp"]},
    {"command": "ssh", "args": ["box", "hybrid-memory-mcp", "--namespace", "work"]},
    {"url": "http://127.0.0.1:8765/mcp"},
]
MINE = [
    {"command": "/old/hybrid-memory-mcp", "args": ["--namespace", "work"], "disabled": True},
    {"command": "uvx", "args": ["hybrid-memory-mcp[minilm]", "serve", "--home=/mine"], "env": {"TOKEN": "t"}},
    {"command": "uvx", "args": ["hybrid-memory-mcp==0.0.1"], "env": {"HYBRID_MEMORY_AGENT": "ada", "A": "1"}},
    {"command": "uv", "args": ["run", "--python", "3.12", "hybrid-memory-mcp", "--project", "off"], "cwd": "/src"},
]
OTHERS = {"theme": "dark", "hooks": {"AfterAgent": [{"hooks": [{"type": "command", "command": "notify"}]}]}}
COMMANDS = [("/opt/hybrid-memory-mcp",), ("/usr/bin/uvx", "hybrid-memory-mcp==9"), ("/py", "-m", "hybrid_memory_mcp")]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("install"), st.sampled_from(COMMANDS), st.sampled_from(["", "/a", "/b"]), st.booleans()),
        st.tuples(st.just("rewrite"), st.sampled_from([None, 2, "\t"])),
        st.just(("edit hook",)),
        st.just(("uninstall",)),
    ),
    max_size=6,
)


class Disk:
    """A client's file and its backup, and what a person has in it."""

    def __init__(self, client, content):
        self.client, self.content, self.backup, self.writes = BY_NAME[client], content, None, 0

    def value(self):
        text = (self.content or b"").decode()
        return tomllib.loads(text) if self.client.shape == "toml" else json.loads(text or "{}")

    def entry(self):
        return self.value().get(self.client.key, {}).get("memory")

    def install(self, command, home, with_hooks):
        env = {"HYBRID_MEMORY_HOME": home} if home else {}
        wish = Wish(self.client, command, env, with_hooks, NOWHERE, {})
        self._do(Step(NOWHERE, _server_parts(self.client, {}), uninstall=False, wish=wish))

    def uninstall(self):
        parts = _server_parts(self.client, self.client.entry([""], {}))
        same_file = self.client.hooks == self.client.servers
        self._do(Step(NOWHERE, type(parts)(**{**vars(parts), "hooks": {} if same_file else None}), uninstall=True))

    def _do(self, step):
        self.content, self.backup = _edited(step, self.content, self.backup, may_replace=True)

    def rewrite(self, indent):
        self.writes += 1
        value = self.value() | {"writes": self.writes}
        if isinstance(value.get("mcpServers", {}).get("memory"), dict) and not value["mcpServers"]["memory"].get(
            "args"
        ):
            value["mcpServers"]["memory"].pop("args", None)
        self.content = json.dumps(value, indent=indent).encode()


def hooks_of(value):
    return [one for items in value.get("hooks", {}).values() for item in items for one in item["hooks"]]


def ours(value):
    return [one for one in hooks_of(value) if " hook " in one["command"]]


def point_to_one_store(disk):
    started = read_start(words_of(disk.entry()))
    wanted = server_options(started.rest, disk.entry().get("env", {}))
    for hook in ours(disk.value()):
        words = hook["command"].split(" --client gemini")[1].split()
        assert server_options(words, {}) == wanted
    return True


@pytest.mark.slow
@given(entry=st.none() | st.sampled_from([*FOREIGN, *MINE]), steps=STEPS)
def test_what_is_a_persons_outlives_any_sequence(entry, steps):
    value = OTHERS | ({"mcpServers": {"other": {"command": "y"}, "memory": entry}} if entry else {})
    disk = Disk("gemini", json.dumps(value, indent=2).encode())
    held = entry if entry in MINE else None
    edited = False
    for what, *how in [*steps, ("uninstall",)]:
        if what == "install":
            disk.install(*how)
            assert point_to_one_store(disk)
            if held:
                former, now = read_start(words_of(held)), read_start(words_of(disk.entry()))
                assert now.rest == former.rest
                assert not former.is_chosen or now.start == former.start
                kept = {key: one for key, one in held.items() if key not in ("command", "args", "env")}
                assert kept.items() <= disk.entry().items()
                assert held.get("env", {}).items() <= disk.entry().get("env", {}).items()
        elif what == "rewrite":
            disk.rewrite(*how)
        elif what == "edit hook" and ours(disk.value()):
            value = disk.value()
            value["hooks"]["AfterAgent"][-1]["hooks"].append({"type": "command", "command": "mine"})
            disk.content, edited = json.dumps(value).encode(), True
        elif what == "uninstall":
            disk.uninstall()
            held = None
            assert not ours(disk.value())
        others = disk.value()
        assert others["theme"] == "dark"
        assert {"type": "command", "command": "notify"} in hooks_of(others)
        assert not edited or {"type": "command", "command": "mine"} in hooks_of(others)
        assert disk.writes == others.get("writes", 0)
        assert not entry or others["mcpServers"]["other"] == {"command": "y"}
    assert disk.entry() == (entry if entry in FOREIGN else None)


@given(steps=STEPS)
def test_a_file_that_was_made_for_ours_goes_after_any_sequence_in_which_nobody_else_wrote_it(steps):
    disk = Disk("gemini", None)
    for what, *how in [*steps, ("uninstall",)]:
        if what == "install":
            disk.install(*how)
        elif what == "uninstall":
            disk.uninstall()
    assert (disk.content, disk.backup) == (None, None)


@pytest.mark.parametrize("replaced", ['command = "npx"\nargs = ["-y"] # why\n', 'url = "http://127.0.0.1:1/mcp"\n'])
def test_a_table_that_was_replaced_comes_back_where_the_client_wrote_its_file_in_between(replaced):
    disk = Disk("codex", f"n = 1\n\n[mcp_servers.memory]\n{replaced}\n[tui]\nx = 1\n".encode())
    for number, (command, home) in enumerate([(COMMANDS[0], ""), (COMMANDS[1], "/a"), (COMMANDS[0], "/b")]):
        disk.install(command, home, with_hooks=True)
        disk.content = disk.content.replace(f"n = {number + 1}".encode(), f"n = {number + 2}".encode())
    disk.uninstall()
    assert disk.value() == {"n": 4, "mcp_servers": {"memory": tomllib.loads(replaced)}, "tui": {"x": 1}}
    assert b"# why" in disk.content or b"url" in disk.content
