"""`project init`, `project show`, and what `status` and `recall` make of the folder they are typed in."""

import json

import pytest
from typer.testing import CliRunner

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.model import Scope
from hybrid_memory.requests import WriteRequest
from hybrid_memory.service import MemoryService
from hybrid_memory_mcp.cli.commands import app
from hybrid_memory_mcp.projects import MARKER


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder in a home folder, in which the commands are typed."""
    made = tmp_path.resolve() / "home" / "acme"
    made.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(made.parent))
    monkeypatch.chdir(made)
    return made


@pytest.fixture
def store(tmp_path):
    service = MemoryService.open(tmp_path / "store", clock=SystemClock(), random_source=SystemRandomSource())
    service.write(Scope(session="s"), WriteRequest(content="The violin is in the attic"))
    acme = Scope(session="s", namespace="project:acme", personal="default")
    service.write(acme, WriteRequest(content="The violin concert of Acme is in May"))
    service.close()
    return tmp_path / "store"


def test_init_makes_the_folder_a_project_under_its_name(folder):
    assert "project acme" in run("project", "init").output
    assert json.loads(run("project", "show", "--json").output)["project"] == "acme"


@pytest.mark.parametrize("name", ["web shop", "süß.1", "日本"])
def test_what_init_writes_is_read_as_it_was_named(folder, name):
    assert run("project", "init", name).exit_code == 0
    assert json.loads(run("project", "show", "--json").output)["project"] == name


def test_init_writes_the_switches(folder):
    assert run("project", "init", "--read-only").exit_code == 0
    shown = json.loads(run("project", "show", "--json").output)
    assert (shown["read_only"], shown["writes_to"]) == (True, None)
    (folder / MARKER).unlink()
    assert run("project", "init", "--off").exit_code == 0
    assert "switched off" in run("project", "show").output


def test_init_replaces_nothing(folder):
    (folder / MARKER).write_text('namespace = "mine"\n')
    assert run("project", "init", "other").exit_code == 1
    assert (folder / MARKER).read_text() == 'namespace = "mine"\n'


def test_init_makes_no_project_of_the_home_folder(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    assert "home folder" in run("project", "init", "all").output
    assert not (folder.parent / MARKER).exists()


def test_init_refuses_what_is_no_name(folder):
    assert run("project", "init", "../x").exit_code == 1
    assert not (folder / MARKER).exists()


def test_show_says_what_is_wrong_with_a_marker(folder):
    (folder / MARKER).write_text("of = true\n")
    assert "not known, of" in run("project", "show").output


def test_status_shows_the_person_the_project_and_why(folder, store):
    without = json.loads(run("status", "--home", store, "--json").output)
    assert (without["project"]["project"], without["project"]["person"]) == (None, "default")
    run("project", "init")
    status = json.loads(run("status", "--home", store, "--json").output)["project"]
    assert (status["project"], status["writes_to"], status["memories"]) == ("acme", "project:acme", 1)
    assert (status["marker"], status["why"]) == (str(folder), "the marker of the working folder")
    shown = " ".join(run("status", "--home", store).output.replace("│", " ").split())
    assert "acme" in shown
    assert "1 memory is kept for it." in shown


def test_recall_reads_as_an_assistant_in_this_folder_does(folder, store):
    assert "concert" not in run("recall", "violin", "--home", store).output
    run("project", "init")
    assert {"concert", "attic"} <= set(run("recall", "violin", "--home", store).output.split())
    assert "concert" not in run("recall", "violin", "--home", store, "--namespace", "default").output


def test_an_export_of_a_project_holds_nothing_of_the_person(folder, store, tmp_path):
    file = tmp_path / "acme.jsonl"
    assert run("export", file, "--home", store, "--namespace", "project:acme").exit_code == 0
    assert "concert" in file.read_text()
    assert "attic" not in file.read_text()
