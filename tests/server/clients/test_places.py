"""Where each client has its files, for each platform; asked on this one."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from hybrid_memory_mcp.clients.places import Machine
from hybrid_memory_mcp.clients.table import BY_NAME, CLIENTS

MAC = "Library/Application Support"
WINDOWS = "AppData/Roaming"
SERVERS = {
    "claude-desktop": (
        ".config/Claude/claude_desktop_config.json",
        f"{MAC}/Claude/claude_desktop_config.json",
        f"{WINDOWS}/Claude/claude_desktop_config.json",
    ),
    "claude-code": (".claude.json",) * 3,
    "cursor": (".cursor/mcp.json",) * 3,
    "vscode": (".config/Code/User/mcp.json", f"{MAC}/Code/User/mcp.json", f"{WINDOWS}/Code/User/mcp.json"),
    "windsurf": (".codeium/windsurf/mcp_config.json",) * 3,
    "zed": (".config/zed/settings.json", ".config/zed/settings.json", f"{WINDOWS}/Zed/settings.json"),
    "codex": (".codex/config.toml",) * 3,
    "gemini": (".gemini/settings.json",) * 3,
    "opencode": (".config/opencode/opencode.json",) * 3,
    "copilot": (".copilot/mcp-config.json",) * 3,
    "lmstudio": (".lmstudio/mcp.json",) * 3,
}
HOOKS = {
    "claude-code": ".claude/settings.json",
    "cursor": ".cursor/hooks.json",
    "windsurf": ".codeium/windsurf/hooks.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
}


@pytest.mark.parametrize("place", [0, 1, 2], ids=["linux", "darwin", "win32"])
@pytest.mark.parametrize("client", CLIENTS, ids=list(BY_NAME))
def test_servers_stand_where_the_client_looks(client, place, tmp_path):
    machine = Machine(("linux", "darwin", "win32")[place], {"HOME": str(tmp_path)})
    assert machine.file(client.servers) == tmp_path / SERVERS[client.name][place]


@pytest.mark.parametrize("client", CLIENTS, ids=list(BY_NAME))
def test_hooks_stand_where_the_client_looks(client, tmp_path):
    machine = Machine("linux", {"HOME": str(tmp_path)})
    assert (client.hooks and machine.file(client.hooks)) == (
        tmp_path / HOOKS[client.name] if client.name in HOOKS else None
    )


@pytest.mark.parametrize(
    ("name", "platform", "variable", "place"),
    [
        ("claude-desktop", "linux", "XDG_CONFIG_HOME", "Claude/claude_desktop_config.json"),
        ("vscode", "linux", "XDG_CONFIG_HOME", "Code/User/mcp.json"),
        ("zed", "linux", "XDG_CONFIG_HOME", "zed/settings.json"),
        ("opencode", "linux", "XDG_CONFIG_HOME", "opencode/opencode.json"),
        ("opencode", "darwin", "XDG_CONFIG_HOME", "opencode/opencode.json"),
        ("vscode", "win32", "APPDATA", "Code/User/mcp.json"),
        ("zed", "win32", "APPDATA", "Zed/settings.json"),
        ("claude-desktop", "win32", "APPDATA", "Claude/claude_desktop_config.json"),
        ("codex", "linux", "CODEX_HOME", "config.toml"),
        ("claude-code", "linux", "CLAUDE_CONFIG_DIR", ".claude.json"),
        ("gemini", "linux", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("copilot", "linux", "COPILOT_HOME", "mcp-config.json"),
    ],
)
def test_a_variable_moves_the_place(name, platform, variable, place, tmp_path):
    chosen = tmp_path / "else where"
    machine = Machine(platform, {"HOME": str(tmp_path), variable: str(chosen)})
    assert machine.file(BY_NAME[name].servers) == chosen / place


def test_a_relative_path_in_a_variable_of_xdg_counts_as_none(tmp_path):
    machine = Machine("linux", {"HOME": str(tmp_path), "XDG_CONFIG_HOME": "configs"})
    assert machine.file(BY_NAME["zed"].servers) == tmp_path / ".config" / "zed" / "settings.json"


def test_claude_desktop_as_a_windows_package_has_its_own_folder(tmp_path):
    packaged = tmp_path / "AppData/Local/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude"
    packaged.mkdir(parents=True)
    machine = Machine("win32", {"HOME": str(tmp_path)})
    assert machine.file(BY_NAME["claude-desktop"].servers) == packaged / "claude_desktop_config.json"
    assert machine.is_here(BY_NAME["claude-desktop"])


def test_opencode_has_the_file_that_is_there(tmp_path):
    path = tmp_path / ".config/opencode/opencode.jsonc"
    path.parent.mkdir(parents=True)
    path.touch()
    assert Machine("linux", {"HOME": str(tmp_path)}).file(BY_NAME["opencode"].servers) == path


def test_lm_studio_says_itself_where_its_folder_is(tmp_path):
    (tmp_path / ".lmstudio-home-pointer").write_text(str(tmp_path / "models" / "lm"), "utf-8")
    assert (
        Machine("darwin", {"HOME": str(tmp_path)}).file(BY_NAME["lmstudio"].servers) == tmp_path / "models/lm/mcp.json"
    )


@pytest.mark.parametrize("client", CLIENTS, ids=list(BY_NAME))
def test_a_client_is_here_if_its_folder_is(client, tmp_path):
    machine = Machine("linux", {"HOME": str(tmp_path), "PATH": ""})
    assert machine.clients_here() == ()
    machine.path(client.signs["linux"][0]).mkdir(parents=True)
    assert [found.name for found in machine.clients_here()] == [client.name]


def test_a_client_is_here_if_its_program_is(tmp_path):
    program = tmp_path / "bin" / "codex"
    program.parent.mkdir()
    program.touch(mode=0o755)
    machine = Machine("linux", {"HOME": str(tmp_path), "PATH": str(program.parent)})
    assert [found.name for found in machine.clients_here()] == ["codex"]


def test_every_place_is_below_the_persons_folder():
    machine = Machine("linux", {"HOME": "/home/ada"})
    for client in CLIENTS:
        for places in filter(None, (client.servers, client.hooks)):
            assert machine.file(places).is_relative_to(Path("/home/ada"))


def test_a_home_that_is_empty_counts_as_none():
    assert Machine("linux", {"HOME": ""}).home() == Path(pwd.getpwuid(os.getuid()).pw_dir)
