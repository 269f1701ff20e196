"""The plugin folder: what both clients read, and the launcher that its hooks and its server start."""

import json
import os
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from tools import plugin_hooks

from hybrid_memory_mcp import __version__
from hybrid_memory_mcp.hooks.definitions import EVENT_NAMES, TOOL_EVENTS
from hybrid_memory_mcp.mcp_api.tools import TOOLS

PROJECT = Path(__file__).resolve().parents[2]
PLUGIN = PROJECT / "plugin"
LAUNCHER = PLUGIN / "bin" / "hybrid-memory"
posix = pytest.mark.skipif(sys.platform == "win32", reason="the launcher for Windows is the file beside it")


def read(path):
    return json.loads((PROJECT / path).read_text(encoding="utf-8"))


@pytest.mark.parametrize("client", plugin_hooks.FILES)
def test_the_hooks_are_those_that_install_writes_with_the_launcher_as_the_program(client):
    assert plugin_hooks.FILES[client].read_text(encoding="utf-8") == plugin_hooks.text_of(client)


@pytest.mark.parametrize("client", plugin_hooks.FILES)
def test_every_event_of_a_client_has_a_hook(client):
    assert set(plugin_hooks.plugin_hooks(client)["hooks"]) == {
        *EVENT_NAMES[client].values(),
        *(name for _, name, _ in TOOL_EVENTS[client]),
    }


@pytest.mark.parametrize("client", plugin_hooks.FILES)
def test_no_hook_names_a_version_since_a_changed_hook_must_be_trusted_again(client):
    assert __version__ not in plugin_hooks.text_of(client)


def test_a_hook_of_codex_on_windows_starts_the_installed_program_without_quotes():
    lines = re.findall(r'"commandWindows": "(.*)"', plugin_hooks.text_of("codex"))
    assert lines
    assert all(re.fullmatch(r"hybrid-memory-mcp hook [a-z-]+ --client codex", line) for line in lines)


@pytest.mark.parametrize("path", ["plugin/.mcp.json", "plugin/codex.mcp.json"])
def test_the_server_has_the_name_that_it_has_in_every_client(path):
    assert list(read(path)["mcpServers"]) == ["memory"]


def test_the_manifests_of_both_clients_describe_the_same_plugin():
    claude, codex = read("plugin/.claude-plugin/plugin.json"), read("plugin/.codex-plugin/plugin.json")
    for key in ("name", "version", "description", "repository", "license"):
        assert claude[key] == codex[key]


def test_the_manifests_name_files_that_exist():
    claude, codex = read("plugin/.claude-plugin/plugin.json"), read("plugin/.codex-plugin/plugin.json")
    named = [claude["icon"], codex["skills"], codex["mcpServers"], codex["hooks"], codex["interface"]["logo"]]
    assert [path for path in named if not (PLUGIN / path).exists()] == []


@pytest.mark.parametrize("path", [".claude-plugin/marketplace.json", ".agents/plugins/marketplace.json"])
def test_a_marketplace_leads_to_the_plugin(path):
    (entry,) = read(path)["plugins"]
    source = entry["source"] if isinstance(entry["source"], str) else entry["source"]["path"]
    assert (PROJECT / source).resolve() == PLUGIN
    assert entry["name"] == read("plugin/.claude-plugin/plugin.json")["name"]


def test_both_marketplaces_have_the_same_name():
    names = [read(path)["name"] for path in (".claude-plugin/marketplace.json", ".agents/plugins/marketplace.json")]
    assert names == ["hybrid-memory-mcp"] * 2


def test_the_icon_is_a_square_png_of_the_size_that_directories_take():
    data = (PLUGIN / "assets" / "icon.png").read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", data[16:24]) == (512, 512)
    assert data == (PROJECT / "packaging" / "mcpb" / "icon.png").read_bytes()


def test_what_each_launcher_pins_is_the_version_of_the_program():
    for file in (LAUNCHER, LAUNCHER.with_suffix(".cmd")):
        assert set(re.findall(r"hybrid-memory-mcp==(\S+)", file.read_text(encoding="utf-8"))) == {__version__}


def test_git_keeps_the_line_ends_of_the_launchers():
    assert b"\r" not in LAUNCHER.read_bytes()
    assert LAUNCHER.with_suffix(".cmd").read_bytes().count(b"\r\n") == len(
        LAUNCHER.with_suffix(".cmd").read_text(encoding="utf-8").splitlines()
    )
    attributes = (PROJECT / ".gitattributes").read_text(encoding="utf-8")
    assert "plugin/bin/hybrid-memory text eol=lf" in attributes
    assert "plugin/bin/hybrid-memory.cmd -text" in attributes


def test_the_launcher_for_windows_starts_nothing_of_the_folder_at_hand():
    lines = LAUNCHER.with_suffix(".cmd").read_text(encoding="utf-8").splitlines()
    started = [line for line in lines if "%*" in line]
    assert len(started) == 4
    # What is started are the full paths that a look along PATH, and nowhere else, has found.
    assert all(re.search(r'(^|defined fetcher )"%(program|fetcher)%" ', line) for line in started)
    assert [line for line in lines if "%%~$PATH:P" in line] == [
        'for %%P in (hybrid-memory-mcp.exe) do set "program=%%~$PATH:P"',
        'for %%P in (uvx.exe) do set "fetcher=%%~$PATH:P"',
    ]


@pytest.fixture
def started(tmp_path):
    """Starts the launcher with programs of the test on its PATH, which say how they were started and what they were given."""

    def start(*arguments, programs=(), home=tmp_path, launcher=LAUNCHER):
        there = tmp_path / "there"
        there.mkdir(exist_ok=True)
        for name in programs:
            (there / name).write_text(
                '#!/bin/sh\necho "${0##*/}: $*"\nwhile read -r line; do echo "given $line"; done\n'
            )
            (there / name).chmod(0o755)
        environment = {"PATH": str(there), "HOME": str(home)}
        return subprocess.run(
            ["/bin/sh", str(launcher), *arguments],
            env=environment,
            input="words\n",
            capture_output=True,
            text=True,
            check=False,
        )

    return start


@posix
def test_the_launcher_starts_the_installed_program_with_its_arguments_and_its_input(started):
    done = started("hook", "stop", "--client", "codex", programs=["hybrid-memory-mcp", "uvx"])
    assert done.stdout == "hybrid-memory-mcp: hook stop --client codex\ngiven words\n"


@posix
def test_arguments_with_blanks_stay_whole(started, tmp_path):
    tmp_path.joinpath("there").mkdir()
    program = tmp_path / "there" / "hybrid-memory-mcp"
    program.write_text('#!/bin/sh\nfor one in "$@"; do echo "[$one]"; done\n')
    program.chmod(0o755)
    assert started("--home", "/a b/c").stdout == "[--home]\n[/a b/c]\n"


@posix
def test_without_the_program_uv_fetches_the_version_of_the_plugin(started):
    assert started(programs=["uvx"]).stdout == f"uvx: hybrid-memory-mcp=={__version__}\ngiven words\n"


@posix
def test_a_hook_never_downloads(started):
    done = started("hook", "prompt", programs=["uvx"])
    assert done.stdout == f"uvx: --offline --quiet hybrid-memory-mcp=={__version__} hook prompt\ngiven words\n"


@posix
def test_a_program_that_pipx_or_uv_put_below_the_home_is_found_with_the_path_of_a_desktop_program(started, tmp_path):
    home = tmp_path / "a home"
    (home / ".local" / "bin").mkdir(parents=True)
    program = home / ".local" / "bin" / "hybrid-memory-mcp"
    program.write_text("#!/bin/sh\necho found\n")
    program.chmod(0o755)
    assert started(home=home).stdout == "found\n"


@posix
def test_a_hook_with_neither_program_nor_uv_is_silent_and_fails_nothing(started):
    done = started("hook", "session-start")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@posix
@pytest.mark.parametrize("name", ["uvx", "hybrid-memory-mcp"])
def test_a_hook_whose_program_fails_is_silent_and_fails_nothing(started, tmp_path, name):
    tmp_path.joinpath("there").mkdir()
    (tmp_path / "there" / name).write_text("#!/bin/sh\necho no >&2\nexit 2\n")
    (tmp_path / "there" / name).chmod(0o755)
    done = started("hook", "stop")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@posix
def test_a_server_with_neither_program_nor_uv_says_what_is_missing(started):
    done = started()
    assert done.returncode == 127
    assert "not installed, nor uv" in done.stderr


@posix
def test_a_server_that_fails_is_seen_to_fail(started, tmp_path):
    tmp_path.joinpath("there").mkdir()
    (tmp_path / "there" / "hybrid-memory-mcp").write_text("#!/bin/sh\necho no >&2\nexit 3\n")
    (tmp_path / "there" / "hybrid-memory-mcp").chmod(0o755)
    done = started()
    assert (done.returncode, done.stderr) == (3, "no\n")


@posix
def test_the_launcher_can_be_started_without_naming_a_shell():
    assert os.access(LAUNCHER, os.X_OK)


@posix
def test_the_launcher_works_from_a_folder_with_blanks_in_its_name(started, tmp_path):
    folder = tmp_path / "a plugin"
    folder.mkdir()
    shutil.copy2(LAUNCHER, folder)
    assert started(programs=["uvx"], launcher=folder / LAUNCHER.name).stdout.startswith("uvx: ")


def test_the_plugin_says_which_tools_there_are():
    page = (PLUGIN / "README.md").read_text(encoding="utf-8")
    assert [tool.name for tool in TOOLS if f"`{tool.name}`" not in page] == []


def test_the_pages_that_the_plugin_leads_to_exist():
    page = (PLUGIN / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"/blob/main/([^)#]+)", page)
    assert named
    assert [path for path in named if not (PROJECT / path).is_file()] == []


def test_the_plugin_names_the_switches_of_the_hooks():
    from hybrid_memory.settings import HookSwitches

    page = (PLUGIN / "README.md").read_text(encoding="utf-8")
    assert [name for name in HookSwitches.model_fields if f"`{name}" not in page] == []
