"""`sync` from the terminal: what it prints, what it refuses, and that what was purged elsewhere leaves the files."""

import json
import shutil

import pytest
from tests.server.hubs import relay, short_folder
from typer.testing import CliRunner

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.model import Scope
from hybrid_memory.requests import WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory_mcp.admin.hub_client import stop_hub
from hybrid_memory_mcp.cli.commands import app
from hybrid_memory_sync import operation

VIOLIN = "The violin is in the attic."


def run(*arguments):
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, [str(argument) for argument in arguments])


def synced(home, folder, *more):
    done = run("sync", folder, "--home", home, "--json", *more)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def exported(home):
    done = run("export", "-", "--home", home)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    home = tmp_path_factory.mktemp("written") / "home"
    service = MemoryService.open(home, clock=SystemClock(), random_source=SystemRandomSource())
    service.write(Scope(session="s"), WriteRequest(content=VIOLIN))
    service.close()
    return home


@pytest.fixture
def home(tmp_path, written):
    return shutil.copytree(written, tmp_path / "home")


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "folder"
    place.mkdir()
    return place


@pytest.mark.slow
def test_a_machine_without_a_memory_gets_one(home, folder, tmp_path):
    assert synced(home, folder)["sent"] == 1
    assert synced(tmp_path / "other", folder)["new"] == 1
    assert exported(tmp_path / "other") == exported(home)


def test_a_person_reads_what_was_done(home, folder):
    done = run("sync", folder, "--home", home)
    assert done.stdout.startswith("sent: 1, new: 0, changed: 0, purged: 0")


def test_a_dry_run_says_what_would_be_done(home, folder):
    assert "would be sent: 1" in run("sync", folder, "--home", home, "--dry-run").stdout
    assert list(folder.iterdir()) == []


def test_a_folder_that_is_not_there_is_named_as_the_reason(home, tmp_path):
    done = run("sync", tmp_path / "absent", "--home", home)
    assert (done.exit_code, "does not exist" in done.stderr) == (1, True)


def test_two_at_once_are_told_apart(home, folder):
    with operation._RUNNING:
        done = run("sync", folder, "--home", home)
    assert (done.exit_code, "another synchronisation" in done.stderr) == (1, True)


def holding(words, *places):
    """Return the folders in which files hold some words."""
    files = [file for place in places for file in place.rglob("*") if file.is_file()]
    return sorted({file.parent.name for file in files if words.encode() in file.read_bytes()})


@pytest.mark.daily
@pytest.mark.slow
@pytest.mark.parametrize("erasing", [("purge",), ("redact", "--words")])
def test_what_another_machine_erased_leaves_the_files_of_this_one_and_its_backups_when_asked(
    home, folder, tmp_path, erasing, monkeypatch
):
    monkeypatch.setattr("typer.prompt", lambda *_, **__: "violin is in")
    other = tmp_path / "other"
    synced(home, folder)
    synced(other, folder)
    run("backup", "--home", other)
    (id_,) = (json.loads(line)["id"] for line in exported(home).splitlines() if '"type":"memory"' in line)
    assert run(*erasing, id_, "--home", home, "--yes").exit_code == 0
    synced(home, folder)
    assert synced(other, folder)["in_backups"] == 1
    assert holding("violin", other, folder) == ["backups"]
    assert "--backups takes it out" in run("sync", folder, "--home", other).stdout
    assert synced(other, folder, "--backups")["in_backups"] == 0
    assert holding("violin", other, folder) == []


@pytest.mark.slow
def test_who_purges_reads_where_the_words_are_still(home, folder):
    synced(home, folder)
    (id_,) = (json.loads(line)["id"] for line in exported(home).splitlines() if '"type":"memory"' in line)
    done = run("purge", id_, "--home", home, "--yes")
    assert (str(folder) in done.stdout, "run sync for it here" in done.stdout) == (True, True)


@pytest.mark.slow
def test_who_redacts_reads_where_the_words_are_still(home, folder, monkeypatch):
    monkeypatch.setattr("typer.prompt", lambda *_, **__: "violin is in")
    synced(home, folder)
    (id_,) = (json.loads(line)["id"] for line in exported(home).splitlines() if '"type":"memory"' in line)
    done = run("redact", id_, "--words", "--home", home, "--yes")
    assert str(folder) in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("command", ["status", "doctor"])
def test_the_folders_of_a_store_are_told(home, folder, command):
    synced(home, folder)
    told = json.loads(run(command, "--home", home, "--json").stdout)["synchronised"]
    assert [(one["folder"], one["last"] is None) for one in told] == [(str(folder), False)]
    assert str(folder) in run(command, "--home", home).output


@pytest.mark.daily
@pytest.mark.slow
def test_a_person_reads_whose_files_hold_purged_words(home, folder, tmp_path):
    other = tmp_path / "other"
    synced(home, folder)
    synced(other, folder)
    name = synced(home, folder)["machine"]
    (id_,) = (json.loads(line)["id"] for line in exported(other).splitlines() if '"type":"memory"' in line)
    run("purge", id_, "--home", other, "--yes")
    assert f"files of {name} that still hold purged words: 1" in run("sync", folder, "--home", other).stdout
    assert "removed: 1" in run("sync", folder, "--home", other, "--retire", name).stdout
    assert not holding("violin", folder)


@pytest.mark.slow
def test_a_connected_client_finds_what_came(home, folder, written):
    synced(home, folder)
    with short_folder() as place, relay(place) as client:
        client.initialize()
        assert synced(place, folder)["new"] == 1
        found = client.call(1, "read_memories", query="Where is the violin?")
        stop_hub(place)
    assert found["structuredContent"]["memories"][0]["text"] == VIOLIN
