"""The commands ``postgres migrate``, ``backup`` and ``restore`` with a store in a database."""

from __future__ import annotations

import json
import shlex
from contextlib import closing

import pytest
from typer.testing import CliRunner

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.model import Scope
from hybrid_memory.requests import ReadRequest, WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory_mcp.cli.commands import app
from hybrid_memory_postgres.engine import typed_target

pytestmark = [pytest.mark.postgres, pytest.mark.daily]

SCOPE = Scope(session="s")
VIOLIN = "The violin is in the attic."


def opened(home):
    return MemoryService.open(home, clock=SystemClock(), random_source=SystemRandomSource())


def run(*arguments, **variables):
    done = CliRunner(env={"COLUMNS": "200", **variables}).invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return done


def contents(home):
    with closing(opened(home)) as service:
        return {hit.memory.content for hit in service.read(SCOPE, ReadRequest(query="violin piano")).hits}


@pytest.fixture
def home(tmp_path):
    with closing(opened(tmp_path / "home")) as service:
        service.write(SCOPE, WriteRequest(content=VIOLIN))
    return tmp_path / "home"


def exported(home, file, **variables):
    run("export", file, "--home", home, "--vectors", "--reveal", **variables)
    return file.read_bytes()


def test_the_new_address_is_told_so_that_a_shell_takes_it_as_it_stands(home, database):
    told = run("postgres", "migrate", home, database.address).output
    assert f"HYBRID_MEMORY_STORE={database.address}" in shlex.split(told.replace("\n", " "))


def test_a_folder_whose_settings_name_a_database_is_told_to_let_go_of_it(home, database, tmp_path):
    run("postgres", "migrate", home, database.address)
    (tmp_path / "back").mkdir()
    (tmp_path / "back" / "config.toml").write_text(f'store = "{database.address}"\n')
    told = run("postgres", "migrate", database.address, tmp_path / "back").output
    assert "config unset store --home" in told


def test_a_folder_without_settings_is_told_of_no_other(home, database, tmp_path):
    run("postgres", "migrate", home, database.address)
    assert "config unset" not in run("postgres", "migrate", database.address, tmp_path / "back").output


@pytest.fixture
def known():
    return "postgresql://hub@localhost/memory"


@pytest.fixture
def known_file(tmp_path):
    file = tmp_path / "password"
    file.write_text("s3cr3t\n")
    file.chmod(0o600)
    return file


def conninfo_of(address, known, known_file):
    return typed_target(address, "FROM", {}, known=known, known_file=known_file).conninfo


def test_the_password_file_of_the_settings_is_good_for_their_database(known, known_file):
    assert "s3cr3t" in conninfo_of(f"{known}?connect_timeout=5", known, known_file)


def test_the_password_file_of_the_settings_is_read_for_no_other_database(known, known_file):
    other = "postgresql://hub@localhost/other"
    assert "s3cr3t" not in conninfo_of(other, known, known_file)


def test_the_settings_of_the_machine_name_the_password_file(database, tmp_path):
    settings = {"store": database.address, "store_password_file": "/nonexistent/password"}
    (tmp_path / "config.toml").write_text("".join(f'{name} = "{value}"\n' for name, value in settings.items()))
    words = ["postgres", "migrate", database.address, str(tmp_path / "back")]
    done = CliRunner(env={"COLUMNS": "200", "HYBRID_MEMORY_HOME": str(tmp_path)}).invoke(app, words)
    assert done.output.startswith("store_password_file: names a file that is not there")


def test_a_folder_moves_into_a_database_and_back(home, database, tmp_path):
    told = json.loads(run("postgres", "migrate", home, database.address, "--json").stdout)
    assert (told["memories"], told["to"]) == (1, database.address)
    back = json.loads(run("postgres", "migrate", database.address, tmp_path / "back", "--json").stdout)
    assert back["export"] == told["export"]
    here = exported(home, tmp_path / "a.jsonl")
    assert exported(tmp_path / "back", tmp_path / "b.jsonl") == here
    there = exported(tmp_path / "hub", tmp_path / "c.jsonl", HYBRID_MEMORY_STORE=database.address)
    assert there == here


def test_a_database_is_backed_up_and_restored_by_the_usual_commands(home, database, tmp_path, monkeypatch):
    run("postgres", "migrate", home, database.address)
    monkeypatch.setenv("HYBRID_MEMORY_STORE", database.address)
    hub = tmp_path / "hub"
    made = json.loads(run("backup", "--home", hub, "--json").stdout)
    assert (made["memories"], made["file"].startswith(str(hub))) == (1, True)
    with closing(opened(hub)) as service:
        service.write(SCOPE, WriteRequest(content="The piano is in the hall."))
    done = json.loads(run("restore", "--home", hub, "--yes", "--json").stdout)
    assert (done["memories"], done["aside"].startswith(str(hub))) == (1, True)
    assert contents(hub) == {VIOLIN}


def test_questions_are_asked_of_a_copy_of_a_database_that_is_a_file(home, database, tmp_path, monkeypatch):
    run("postgres", "migrate", home, database.address)
    monkeypatch.setenv("HYBRID_MEMORY_STORE", database.address)
    questions = tmp_path / "questions.jsonl"
    questions.write_text(json.dumps({"question": "Where is the violin?", "answer": "attic"}))
    told = run("eval", questions, "--home", tmp_path / "hub", "--embedder", "multilingual", "--json").stdout
    of_database, of_copy = json.loads(told)["runs"]
    assert (of_database["right_first"], of_copy["right_first"]) == (1, 1)
    assert of_copy["embedder"].startswith("multilingual")
    with closing(opened(tmp_path / "hub")) as service:
        assert service.store.info().embedder == of_database["embedder"] != of_copy["embedder"]
