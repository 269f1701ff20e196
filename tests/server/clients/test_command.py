"""The command that clients are given works with a bare PATH."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hybrid_memory_mcp import __version__
from hybrid_memory_mcp.clients import command
from hybrid_memory_mcp.clients.command import start_of_this_installation
from hybrid_memory_mcp.clients.starts import starts_us


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o755)
    return path


def test_an_installed_script_is_given_with_its_full_path(tmp_path):
    script = program(tmp_path / "bin" / "hybrid-memory-mcp")
    start = start_of_this_installation({"PATH": ""}, prefix=str(tmp_path), python=str(tmp_path / "bin" / "python"))
    assert start.command == (str(script),)
    assert start.remark == ""


def test_without_a_script_the_module_is_run_by_this_python(tmp_path):
    start = start_of_this_installation({}, prefix=str(tmp_path), python=str(tmp_path / "python"))
    assert start.command == (str(tmp_path / "python"), "-m", "hybrid_memory_mcp")


@pytest.mark.parametrize("folder", ["archive-v0/Xk3", "environments-v2/9f1"])
def test_what_runs_out_of_uvs_cache_is_started_through_uvx_with_its_version(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "_local_source", lambda: None)
    uvx = program(tmp_path / "tools" / "uvx")
    prefix = tmp_path / "uv" / folder
    program(prefix / "bin" / "hybrid-memory-mcp")
    environment = {"PATH": "", "UV": str(tmp_path / "tools" / "uv")}
    start = start_of_this_installation(environment, prefix=str(prefix), python=str(prefix / "bin" / "python"))
    assert start.command == (str(uvx), f"hybrid-memory-mcp=={__version__}")
    assert "uv's cache" in start.remark


def test_what_uvx_ran_out_of_a_file_is_started_out_of_that_file(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "_local_source", lambda: "/dist/hybrid_memory_mcp.whl")
    program(tmp_path / "uvx")
    start = start_of_this_installation({"PATH": str(tmp_path)}, prefix="/cache/uv/archive-v0/x", python=sys.executable)
    assert start.command == (str(tmp_path / "uvx"), "--from", "/dist/hybrid_memory_mcp.whl", "hybrid-memory-mcp")


def test_this_installation_starts_by_an_absolute_path():
    start = start_of_this_installation({})
    assert Path(start.command[0]).is_absolute()
    assert starts_us(start.command)
