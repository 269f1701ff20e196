"""The command that clients are given works with a bare PATH."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests.tables import each

from hybrid_memory_mcp import __version__
from hybrid_memory_mcp.clients import command
from hybrid_memory_mcp.clients.command import start_of_this_installation
from hybrid_memory_mcp.clients.starts import for_hooks, runs_hook, starts_us


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o755)
    return path


def test_an_installed_script_is_given_with_its_full_path(tmp_path):
    script = program(tmp_path / "bin" / "hybrid-memory-mcp")
    start = start_of_this_installation({"PATH": ""}, prefix=str(tmp_path), python=str(tmp_path / "bin" / "python"))
    assert start.command == (str(script),)
    assert start.keep == ""


def test_without_a_script_the_module_is_run_by_this_python(tmp_path):
    start = start_of_this_installation({}, prefix=str(tmp_path), python=str(tmp_path / "python"))
    assert start.command == (str(tmp_path / "python"), "-m", "hybrid_memory_mcp")


@pytest.mark.parametrize("folder", ["archive-v0/Xk3", "environments-v2/9f1"])
def test_what_runs_out_of_uvs_cache_is_started_through_uvx_with_its_version(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "_source", lambda: None)
    uvx = program(tmp_path / "tools" / "uvx")
    prefix = tmp_path / "uv" / folder
    program(prefix / "bin" / "hybrid-memory-mcp")
    environment = {"PATH": "", "UV": str(tmp_path / "tools" / "uv")}
    start = start_of_this_installation(environment, prefix=str(prefix), python=str(prefix / "bin" / "python"))
    assert start.command == (str(uvx), f"hybrid-memory-mcp=={__version__}")


IN_CACHE = {"prefix": "/cache/uv/archive-v0/x", "python": sys.executable}


def test_what_is_kept_of_a_package_index_can_be_upgraded(monkeypatch):
    monkeypatch.setattr(command, "_source", lambda: None)
    assert start_of_this_installation({}, **IN_CACHE).keep == f"hybrid-memory-mcp>={__version__}"


@pytest.mark.parametrize(
    ("recorded", "source"),
    [
        ({"url": "file:///dist/a%20b.whl", "archive_info": {}}, "/dist/a b.whl"),
        ({"url": "file:///C:/dist/a.whl", "archive_info": {}}, "C:/dist/a.whl"),
        ({"url": "https://x.example/a.whl", "archive_info": {}}, "https://x.example/a.whl"),
        ({"url": "https://x.example/r", "vcs_info": {"vcs": "git", "commit_id": "0a"}}, "git+https://x.example/r"),
        (
            {"url": "https://x.example/r", "vcs_info": {"vcs": "git", "commit_id": "0a", "requested_revision": "v1"}},
            "git+https://x.example/r@v1",
        ),
    ],
)
def test_what_uvx_ran_out_of_a_file_or_an_address_is_started_and_kept_out_of_that(
    recorded, source, tmp_path, monkeypatch
):
    class Recorded:
        def read_text(self, name):
            return json.dumps(recorded) if name == "direct_url.json" else None

    monkeypatch.setattr(command, "distribution", lambda _: Recorded())
    program(tmp_path / "uvx")
    start = start_of_this_installation({"PATH": str(tmp_path)}, **IN_CACHE)
    assert start.command == (str(tmp_path / "uvx"), "--from", source, "hybrid-memory-mcp")
    assert start.keep == source


@each(
    "start, of_hooks",
    [
        (("/opt/hybrid-memory-mcp",), ("/opt/hybrid-memory-mcp",)),
        (("/usr/bin/uvx", "hybrid-memory-mcp"), ("/usr/bin/uvx", "--offline", "--quiet", "hybrid-memory-mcp")),
        (("uvx", "-p", "3.12", "--offline", "--quiet", "hybrid-memory-mcp[minilm]"),) * 2,
        (
            ("uv", "tool", "run", "hybrid-memory-mcp"),
            ("uv", "tool", "run", "--offline", "--quiet", "hybrid-memory-mcp"),
        ),
        (("uv", "run", "hybrid-memory-mcp"),) * 2,
    ],
)
def test_a_hook_that_uvx_starts_never_downloads(start, of_hooks):
    assert for_hooks(start) == of_hooks
    assert runs_hook([*of_hooks, "hook", "stop"])


def test_this_installation_starts_by_an_absolute_path():
    start = start_of_this_installation({})
    assert Path(start.command[0]).is_absolute()
    assert starts_us(start.command)
