"""The bundle for desktop programs (.mcpb): what its manifest says and what it starts."""

import importlib.util
import json
import tomllib
from pathlib import Path

import pytest

from hybrid_memory_mcp import __version__
from hybrid_memory_mcp.mcp_api.tools import TOOLS

BUNDLE = Path(__file__).resolve().parents[2] / "packaging" / "mcpb"
MANIFEST = json.loads((BUNDLE / "manifest.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def server():
    specification = importlib.util.spec_from_file_location("bundle_server", BUNDLE / "src" / "server.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_the_manifest_lists_the_tools():
    assert [tool["name"] for tool in MANIFEST["tools"]] == [tool.name for tool in TOOLS]


def test_the_bundle_needs_the_program_of_its_own_version_and_nothing_else():
    project = tomllib.loads((BUNDLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["dependencies"] == [f"hybrid-memory-mcp=={__version__}"]


def test_every_field_that_a_person_can_fill_in_reaches_the_program(server):
    fields = MANIFEST["server"]["mcp_config"]["env"]
    assert set(fields) == set(server.FIELDS)
    assert set(fields.values()) == {"${user_config." + name + "}" for name in MANIFEST["user_config"]}


@pytest.mark.parametrize("left", ["", "   ", "${user_config.home}"])
def test_a_field_that_was_left_empty_is_not_set(server, monkeypatch, left):
    monkeypatch.setenv("HYBRID_MEMORY_HOME", left)
    server.forget_what_is_empty()
    assert "HYBRID_MEMORY_HOME" not in server.os.environ


def test_a_field_that_was_filled_in_stays(server, monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_HOME", "/my memories")
    server.forget_what_is_empty()
    assert server.os.environ["HYBRID_MEMORY_HOME"] == "/my memories"


def test_what_it_starts_is_in_the_bundle():
    assert (BUNDLE / MANIFEST["server"]["entry_point"]).is_file()
    assert MANIFEST["server"]["mcp_config"]["args"][-1] == MANIFEST["server"]["entry_point"]
