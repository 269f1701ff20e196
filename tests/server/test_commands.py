"""The command line for people."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.model import Scope
from hybrid_memory.requests import WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory_mcp.__main__ import role_of
from hybrid_memory_mcp.cli.commands import app
from hybrid_memory_mcp.cli.demo import client_entry
from hybrid_memory_mcp.cli.former_names import FORMER

GROUP = get_command(app)


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def home(tmp_path):
    service = MemoryService.open(tmp_path, clock=SystemClock(), random_source=SystemRandomSource())
    service.write(Scope(session="s"), WriteRequest(content="The violin is in the attic"))
    service.close()
    return tmp_path


@pytest.mark.parametrize("command", GROUP.commands.keys() - {"hook"})  # clients run that one
def test_the_help_has_a_line_for_each_command_and_each_command_has_help(command):
    assert re.search(rf"^  {command} +[A-Z].*\.$", run("--help").output, re.MULTILINE)
    assert run(command, "--help").exit_code == 0


def test_the_help_of_the_program_is_one_screen():
    lines = run("--help").output.splitlines()
    assert len(lines) <= 42
    assert max(map(len, lines)) <= 80
    assert "hook" not in "".join(lines)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("search where is it --limit 3", "inspect search where is it --limit 3"),
        ("timeline", "inspect timeline"),
        ("tiers --live", "inspect tiers --live"),
        ("restore-memory 06h082", "forget --restore 06h082"),
        ("history 06h082 --json", "show --history 06h082 --json"),
        ("judge ended 06h082 --until today", "correct --ended 06h082 --until today"),
        ("judge 06h082", "correct 06h082"),
        ("reembed", "embedder use"),
        ("reembed --to static", "embedder use static"),
        ("reembed --to=static", "embedder use static"),
        ("migrate one two", "postgres migrate one two"),
        ("store prepare address --role hub", "postgres prepare address --role hub"),
        ("--home history history 06h082", "--home history show --history 06h082"),
        ("show history", "show history"),
        ("--version", "--version"),
    ],
)
def test_an_old_name_of_a_command_means_the_present_one(typed, meant):
    assert GROUP._renamed(typed.split()) == meant.split()


def test_an_old_name_works_and_one_line_on_stderr_has_the_present_one(home):
    now, former = (run(*words, "absent", "--home", home) for words in (("show", "--history"), ("history",)))
    assert (former.exit_code, former.stdout) == (now.exit_code, now.stdout)
    told = "`history` is now `show --history`; the old name goes with the next release\n"
    assert former.stderr == told + now.stderr


@pytest.mark.parametrize("name", FORMER)
def test_options_may_stand_before_an_old_name_too(name):
    assert role_of(["--home", "folder", name]) == "commands"
    assert name not in GROUP.commands


@pytest.mark.parametrize(
    "words", [("--help",), ("install", "--help"), ("config", "set", "--help"), ("inspect", "search", "--help")]
)
def test_the_help_says_of_no_flag_that_it_is_a_truth_value(words):
    shown = run(*words).output
    assert "--help" in shown
    assert "bool" not in shown


def test_the_help_says_which_values_an_option_takes():
    shown = run("inspect", "timeline", "--help").output
    assert "<learned|true>" in shown
    assert re.search(r"--as-of +<str>", shown)


def test_the_help_of_serve_names_the_options_of_the_server():
    assert "--namespace" in run("serve", "--help").output


def test_the_version_is_told():
    assert run("--version").output.count(".") == 2


def test_status_tells_what_a_store_holds(home):
    status = json.loads(run("status", "--home", home, "--json").output)
    assert (status["memories"], status["engine"]) == (1, "duckdb")
    assert "memories" in run("status", "--home", home).output


@pytest.mark.slow
def test_status_says_where_the_store_lies_and_what_its_backups_take(home):
    run("backup", "--home", home)
    store = json.loads(run("status", "--home", home, "--json").output)["store"]
    assert (store["folder"], store["file"]) == (str(home), str(home / "memory.duckdb"))
    assert store["bytes"] == (home / "memory.duckdb").stat().st_size
    assert (store["backups"]["count"], store["backups"]["newest"]) == (1, str(next((home / "backups").iterdir())))
    assert f"store: {home}" in run("status", "--home", home).output


@pytest.mark.slow
def test_status_and_doctor_name_what_a_restore_put_aside(home):
    assert json.loads(run("status", "--home", home, "--json").output)["store"]["set_aside"]["newest"] is None
    run("backup", "--home", home)
    run("restore", "--yes", "--home", home)
    (folder,) = (home / "quarantine").iterdir()
    told = json.loads(run("status", "--home", home, "--json").output)["store"]["set_aside"]
    assert (told["count"], told["newest"]) == (1, str(folder))
    assert str(folder) in run("status", "--home", home).output
    assert f"quarantine/{folder.name}" in json.dumps(json.loads(run("doctor", "--home", home, "--json").output))


@pytest.mark.slow
def test_what_a_restore_put_aside_is_read_and_brought_back_by_export_and_import(home, tmp_path):
    run("backup", "--home", home)
    run("remember", "The cello is in the attic.", "--home", home)
    run("restore", "--yes", "--home", home)
    aside = json.loads(run("status", "--home", home, "--json").output)["store"]["set_aside"]["newest"]
    assert run("export", tmp_path / "aside.jsonl", "--home", aside).exit_code == 0
    assert run("import", "--trusted", "--yes", tmp_path / "aside.jsonl", "--home", home).exit_code == 0
    assert "cello" in run("recall", "Where is the cello?", "--home", home).output


def test_recall_finds_from_the_terminal(home):
    assert "violin" in run("recall", "Where is the violin?", "--home", home).output


def test_recall_says_that_probably_nothing_is_known(home):
    assert "Probably nothing is known" in run("recall", "Where does Wilhelmina live?", "--home", home).output
    assert "Probably" not in run("recall", "Where is the violin?", "--home", home).output


@pytest.fixture
def moved_rehearsal(tmp_path):
    service = MemoryService.open(tmp_path, clock=SystemClock(), random_source=SystemRandomSource())
    told = datetime(2021, 3, 1, 12, tzinfo=UTC), datetime(2021, 6, 1, 12, tzinfo=UTC)
    texts = "Rui's rehearsal is on Tuesdays.", "Rui's rehearsal was moved to Thursdays at 19:30."
    for at, text in zip(told, texts, strict=True):
        service.write(Scope(session="s"), WriteRequest(content=text, occurred_at=at))
    service.close()
    return tmp_path


def test_recall_points_to_the_newer_memory_by_its_id(moved_rehearsal):
    shown = run("recall", "When is Rui's rehearsal?", "--home", moved_rehearsal).output
    newest = shown.split("\t")[0]
    assert f"newer: {newest}" in shown


def test_recall_shows_when_a_thing_happened(moved_rehearsal):
    assert "2021-06-01" in run("recall", "When is Rui's rehearsal?", "--home", moved_rehearsal).output


def test_recall_shows_what_a_hub_from_before_an_upgrade_tells(home, monkeypatch):
    hit = {"created_at": "2026-01-10T12:00:00+00:00", "tier": "sensory", "content": "a", "score": 0.5, "weak": True}
    told = {"hits": [hit], "total": 1, "words_alone": False}
    monkeypatch.setattr("hybrid_memory_mcp.cli.memories.call_operation", lambda *_, **__: told)
    assert "weak, just heard" in run("recall", "a", "--home", home).output


@pytest.mark.slow
def test_a_brief_in_the_terminal_has_sections_and_twenty_lines(tmp_path):
    service = MemoryService.open(tmp_path, clock=SystemClock(), random_source=SystemRandomSource())
    for number in range(30):
        service.write(Scope(session="s"), WriteRequest(content=f"Note {number} about the {number}th garden"))
    service.write(Scope(session="s"), WriteRequest(content="Ada is allergic to peanuts", pinned=True))
    service.close()
    lines = run("recall", "--home", tmp_path).stdout.splitlines()
    assert len(lines) == 20
    assert lines[0].endswith("pinned, just heard\tAda is allergic to peanuts")


@pytest.mark.parametrize("command", ["status", "recall"])
def test_looking_into_an_empty_folder_makes_nothing(tmp_path, command):
    done = run(command, "--home", tmp_path)
    assert done.exit_code == 0
    assert str(tmp_path) in done.output
    assert list(tmp_path.iterdir()) == []


def test_a_store_in_use_is_told_in_one_line(home):
    service = MemoryService.open(home, clock=SystemClock(), random_source=SystemRandomSource())
    try:
        done = run("status", "--home", home, "--json")
    finally:
        service.close()
    assert (done.exit_code, json.loads(done.stdout)["error"]["code"]) == (1, "store_locked")
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_doctor_finds_nothing_wrong_with_a_whole_store(home):
    done = run("doctor", "--home", home, "--json")
    assert (done.exit_code, json.loads(done.output)["rows"]["memory"]) == (0, 1)
    assert "1 of memory" in run("doctor", "--home", home).output


@pytest.mark.slow
def test_doctor_says_what_is_wrong_and_repairs_it(home):
    file = home / "memory.duckdb"
    content = bytearray(file.read_bytes())
    content[100] ^= 1
    file.write_bytes(content)
    done = run("doctor", "--home", home)
    assert done.exit_code == 1
    assert "--repair" in done.output
    assert (
        "cannot open the database file"
        in json.loads(run("doctor", "--repair", "--json", "--home", home).output)["findings"][0]["what"]
    )
    assert run("status", "--home", home).exit_code == 0


def test_the_entry_that_the_demo_prints_starts_this_installation_from_any_folder():
    (entry,) = client_entry()["mcpServers"].values()
    assert Path(entry["command"]).is_absolute()
    assert Path(entry["command"]).is_file()
