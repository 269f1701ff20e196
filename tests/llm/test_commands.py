"""The judge on the command line: its settings, its line in `status`, and undoing what it did."""

import json
import tomllib
from contextlib import closing

import pytest
from typer.testing import CliRunner

from hybrid_memory.model import MemoryType, Origin, Scope
from hybrid_memory.requests import Settlement, WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.settings import store_settings
from hybrid_memory_mcp.cli.commands import app

SET = {"base_url": "http://localhost:11434/v1", "model": "qwen3:8b", "on": "true", "tokens_a_day": "9000"}


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


def run(home, *words, code=0):
    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, [*words, "--home", str(home)])
    assert done.exit_code == code, done.output
    return done


@pytest.fixture
def switched_on(home):
    for name, value in SET.items():
        run(home, "config", "set", f"llm.{name}", value)
    return home


def test_it_is_switched_on_by_settings_of_a_table(switched_on):
    table = tomllib.loads((switched_on / "config.toml").read_text())["llm"]
    assert table == {"base_url": SET["base_url"], "model": "qwen3:8b", "on": True, "tokens_a_day": 9000}


def test_the_store_opens_with_the_table_and_has_its_own_settings(switched_on):
    assert store_settings(switched_on).keep_backups == 10


def test_a_setting_holds_at_once(home):
    said = run(home, "config", "set", "llm.on", "true").output
    assert "next start" not in said


def test_all_of_its_settings_are_shown_with_what_they_mean(switched_on):
    settings = {one["name"]: one for one in json.loads(run(switched_on, "config", "--json").stdout)["settings"]}
    own = {name: one for name, one in settings.items() if name.startswith("llm.")}
    assert (own["llm.model"]["value"], own["llm.model"]["source"], own["llm.seconds"]["source"]) == (
        "qwen3:8b",
        "file",
        "default",
    )
    assert len(own) == 8
    assert all(one["meaning"] for one in own.values())


@pytest.mark.parametrize(("name", "value"), [("key_variable", "sk-1234"), ("base_url", "api"), ("mode", "x")])
def test_what_cannot_be_set_is_refused(home, name, value):
    said = run(home, "config", "set", f"llm.{name}", value, code=2).output
    assert f"llm.{name}" in said
    assert not (home / "config.toml").exists()


def test_a_name_that_it_does_not_have_is_told_with_the_nearest(home):
    home.mkdir()
    (home / "config.toml").write_text("[llm]\nmodle = 'x'\n")
    assert "llm.modle" in (said := run(home, "config").output)
    assert "the nearest is model" in said


@pytest.mark.slow
def test_status_has_a_line_of_it_where_it_is_on(switched_on):
    run(switched_on, "remember", "Ada lives in Rome")
    assert "\nllm: qwen3:8b at localhost, 0 of 9,000 tokens today, 0 in all\n" in run(switched_on, "status").stdout
    run(switched_on, "config", "set", "llm.on", "false")
    assert "\nllm" not in run(switched_on, "status", "--verbose").stdout


@pytest.mark.slow
def test_undo_alone_passes_over_what_a_model_did(home):
    """The person's own act is the older one."""
    home.mkdir()
    with closing(MemoryService.open(home)) as service:
        person = Scope(session="s", actor="command line")
        request = WriteRequest(content="Ada lives in Rome", memory_type=MemoryType.LONG_TERM, origin=Origin.USER)
        service.write(person, request, as_act=True)
        said = service.write(person, WriteRequest(content="the kiln went cold", episode=True)).id
        service.acts.settle(Scope(session="s", actor="model small-1"), Settlement(kept={said: ()}))
    listed = json.loads(run(home, "undo", "--list", "--json").stdout)["acts"]
    assert [(one["action"], one["actor"]) for one in listed] == [
        ("settle", "model small-1"),
        ("remember", "command line"),
    ]
    assert "Undone" in run(home, "undo").output
    assert [one["content"] for one in json.loads(run(home, "list", "--json").stdout)["memories"]] == [
        "the kiln went cold"
    ]
    run(home, "undo", listed[0]["undo"])
    assert json.loads(run(home, "list", "--json").stdout)["memories"] == []
