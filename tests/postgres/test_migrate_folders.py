"""The command ``postgres migrate`` between folders, also while a hub has the store open; databases: ``tests/postgres``."""

import json
import shutil
from contextlib import closing

import pytest
from tests.server.hubs import ThreadedHub, short_folder
from typer.testing import CliRunner

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.model import Scope
from hybrid_memory.requests import ReadRequest, WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory_mcp.cli.commands import app

SCOPE = Scope(session="s")
VIOLIN = "The violin is in the attic."


def run(*arguments):
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, [str(argument) for argument in arguments])


def opened(home):
    return MemoryService.open(home, clock=SystemClock(), random_source=SystemRandomSource())


def exported(home, file):
    assert run("export", file, "--home", home, "--vectors", "--reveal").exit_code == 0
    return file.read_bytes()


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A store with one memory, which each test gets a copy of."""
    home = tmp_path_factory.mktemp("written") / "home"
    with closing(opened(home)) as service:
        service.write(SCOPE, WriteRequest(content=VIOLIN))
    return home


@pytest.fixture
def home(tmp_path, written):
    return shutil.copytree(written, tmp_path / "home")


@pytest.mark.slow
def test_a_moved_store_exports_the_same(home, tmp_path):
    done = run("postgres", "migrate", home, tmp_path / "to")
    assert done.exit_code == 0, done.output
    assert "memories: 1, namespaces: 1" in done.stdout
    assert f"HYBRID_MEMORY_HOME={tmp_path / 'to'}" in done.stderr
    assert exported(home, tmp_path / "a.jsonl") == exported(tmp_path / "to", tmp_path / "b.jsonl")


@pytest.mark.slow
def test_what_came_of_it_is_told_as_json(home, tmp_path):
    told = json.loads(run("postgres", "migrate", home, tmp_path / "to", "--json").stdout)
    assert (told["memories"], told["namespaces"], told["from"]) == (1, ["default"], str(home))
    assert len(told["export"]) == 64


@pytest.mark.slow
def test_the_copy_that_was_read_is_gone_afterwards(home, tmp_path):
    run("postgres", "migrate", home, tmp_path / "to")
    assert list((home / "backups").iterdir()) == []


def test_a_folder_without_a_store_is_no_source(tmp_path):
    done = run("postgres", "migrate", tmp_path / "nothing", tmp_path / "to", "--json")
    assert (done.exit_code, json.loads(done.stdout)["error"]["code"]) == (1, "store_missing")
    assert not (tmp_path / "to").exists()


def test_a_place_with_memories_is_refused(home, tmp_path):
    done = run("postgres", "migrate", home, shutil.copytree(home, tmp_path / "to"), "--json")
    assert (done.exit_code, json.loads(done.stdout)["error"]["code"]) == (1, "invalid_input")


def test_the_place_itself_is_refused(home):
    assert run("postgres", "migrate", home, home).exit_code == 1
    with closing(opened(home)) as service:
        assert len(service.read(SCOPE, ReadRequest(query="violin")).hits) == 1


@pytest.mark.parametrize("place", ["FROM", "TO"])
def test_an_address_with_a_password_is_refused_and_not_repeated(home, tmp_path, place):
    address = "postgresql://hub:tr0ub4dor@localhost/memory"
    done = run("postgres", "migrate", *((address, tmp_path / "to") if place == "FROM" else (home, address)))
    assert done.exit_code == 1
    assert f"{place}: holds a password" in done.stderr
    assert "tr0ub4dor" not in done.output


@pytest.mark.slow
def test_a_hub_that_has_the_store_open_makes_the_copy_and_goes_on(tmp_path, written):
    with short_folder() as home:
        shutil.copytree(written, home)
        with closing(opened(home)) as service, ThreadedHub(home, service):
            service.write(SCOPE, WriteRequest(content="The piano is in the hall."))
            done = run("postgres", "migrate", home, tmp_path / "to")
            assert done.exit_code == 0, done.output
            service.write(SCOPE, WriteRequest(content="The cello was sold."))
        with closing(opened(tmp_path / "to")) as service:
            found = service.read(SCOPE, ReadRequest(query="piano violin cello")).hits
            assert {hit.memory.content for hit in found} == {VIOLIN, "The piano is in the hall."}
