"""`status` shows what hooks may do and what they did."""

import json

import pytest
from typer.testing import CliRunner

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory_mcp.cli.commands import app
from hybrid_memory_mcp.hooks.program import SWITCH
from hybrid_memory_mcp.hooks.state import Conversations


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.delenv(SWITCH, raising=False)
    MemoryService.open(tmp_path, clock=SystemClock(), random_source=SystemRandomSource()).close()
    return tmp_path


def status(home, *options):
    found = CliRunner().invoke(app, ["status", "--home", str(home), *options])
    assert found.exit_code == 0, found.output
    return found.output


@pytest.mark.slow
def test_switches_and_the_last_run_of_each_client(home):
    (home / "config.toml").write_text("[hooks]\ncapture = false\n")
    Conversations(str(home)).note_run("codex", "stop", kept=2, loaded=3)
    hooks = json.loads(status(home, "--json"))["hooks"]
    assert (hooks["brief"], hooks["recall"], hooks["capture"], hooks["off_by"]) == (True, True, False, None)
    assert (hooks["clients"]["codex"]["event"], hooks["clients"]["codex"]["kept"]) == ("stop", 2)
    assert "capture off, lessons on" in status(home)


def test_the_variable_is_named_where_it_switches_all_off(home, monkeypatch):
    monkeypatch.setenv(SWITCH, "off")
    assert SWITCH in status(home)


@pytest.mark.parametrize("text", ["hooks = 3", "[hooks]\ncaptures = false", "[hooks]\ncapture = 'maybe'"])
def test_a_wrong_switch_is_named(home, text):
    (home / "config.toml").write_text(text + "\n")
    found = CliRunner().invoke(app, ["status", "--home", str(home)])
    assert found.exit_code == 1


@pytest.mark.slow
@pytest.mark.parametrize(("text", "on"), [("hooks = false", False), ("hooks = true", True), ("hooks = 'off'", False)])
def test_one_word_switches_all(home, text, on):
    (home / "config.toml").write_text(text + "\n")
    hooks = json.loads(status(home, "--json"))["hooks"]
    assert [hooks[name] for name in ("brief", "recall", "capture", "lessons")] == [on] * 4
