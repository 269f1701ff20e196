"""`status` says what needs the person, by the same list as the page."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from hybrid_memory.model import Origin, Scope
from hybrid_memory.requests import WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory_mcp.cli.commands import app

pytestmark = pytest.mark.slow


@pytest.fixture
def home(tmp_path, monkeypatch):
    for name in ("HOME", "XDG_CONFIG_HOME", "APPDATA", "LOCALAPPDATA", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("PATH", "")
    service = MemoryService.open(tmp_path / "store")
    service.write(Scope(session="s"), WriteRequest(content="The build passed.", origin=Origin.TOOL))
    service.close()
    return tmp_path / "store"


def status(home, *options):
    found = CliRunner().invoke(app, ["status", "--home", str(home), *options])
    assert found.exit_code == 0, found.output
    return found.output


def test_what_waits_in_review_and_what_health_warns_of_needs_the_person(home):
    needs = json.loads(status(home, "--json"))["needs_you"]
    assert [(one["kind"], one["count"]) for one in needs] == [("untrusted", 1), ("health", 1)]


def test_a_person_reads_what_to_do(home):
    said = " ".join(status(home).replace("│", " ").split())
    assert "1 memory comes from a tool or a file (`hybrid-memory-mcp inspect`)" in said
    assert "There is no backup yet (`hybrid-memory-mcp backup`)" in said
