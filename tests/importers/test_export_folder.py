"""`export --markdown` and `export --okf` from the terminal."""

import json

import pytest
from typer.testing import CliRunner

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.model import Scope
from hybrid_memory.requests import WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory_mcp.cli.commands import app


def run(*arguments):
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("written") / "home"
    service = MemoryService.open(home, clock=SystemClock(), random_source=SystemRandomSource())
    for content in ("The violin is in the attic.", "The password is tr0ub4dor&3x."):
        service.write(Scope(session="s"), WriteRequest(content=content))
    service.close()
    return home


@pytest.mark.parametrize("option", ["--markdown", "--okf"])
def test_a_folder_is_written_and_told_as_json(home, tmp_path, option):
    done = run("export", option, tmp_path / "notes", "--home", home, "--json")
    told = json.loads(done.stdout)
    assert (done.exit_code, told["memories"], told["namespaces"]) == (0, 2, ["default"])
    assert len(list((tmp_path / "notes").rglob("*violin*.md"))) == 1


def test_secrets_are_masked_unless_revealed(home, tmp_path):
    assert run("export", "--markdown", tmp_path / "masked", "--home", home).exit_code == 0
    assert run("export", "--markdown", tmp_path / "whole", "--home", home, "--reveal").exit_code == 0
    words = [" ".join(path.read_text() for path in (tmp_path / name).rglob("*.md")) for name in ("masked", "whole")]
    assert ["tr0ub4dor" in text for text in words] == [False, True]


def test_files_of_others_are_named_as_the_reason(home, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    done = run("export", "--markdown", tmp_path, "--home", home)
    assert (done.exit_code, "holds other files" in done.stderr) == (1, True)
    assert run("export", "--markdown", tmp_path, "--home", home, "--force").exit_code == 0
    assert (tmp_path / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize(
    "arguments", [(), ("x.jsonl", "--markdown", "y"), ("--okf", "x", "--markdown", "y"), ("--okf", "x", "--vectors")]
)
def test_one_place_is_named(home, arguments):
    assert run("export", *arguments, "--home", home).exit_code == 2


def test_the_stores_own_folder_is_no_place(home):
    done = run("export", "--markdown", home / "notes", "--home", home)
    assert (done.exit_code, "store's own" in done.stderr) == (1, True)


@pytest.mark.slow
@pytest.mark.parametrize(("option", "trust"), [(None, "untrusted"), ("--mine", "agent"), ("--trusted", "agent")])
def test_a_folder_comes_back_as_whose_it_is_said_to_be(home, tmp_path, option, trust):
    run("export", "--markdown", tmp_path / "notes", "--home", home)
    fresh = tmp_path / "fresh"
    done = run("import", tmp_path / "notes", "--home", fresh, "--yes", *([option] if option else []))
    assert done.exit_code == 0, done.output
    listed = json.loads(run("list", "--home", fresh, "--json").stdout)["memories"]
    assert {(one["trust"], one["content"]) for one in listed} >= {(trust, "The violin is in the attic.")}


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--markdown", "--okf"])
def test_a_folder_brings_the_same_store_back(home, tmp_path, option):
    run("export", option, tmp_path / "notes", "--home", home, "--reveal")
    run("import", tmp_path / "notes", "--home", tmp_path / "fresh", "--yes", "--trusted")
    for folder in (home, tmp_path / "fresh"):
        assert run("export", tmp_path / f"{folder.name}.jsonl", "--home", folder, "--reveal").exit_code == 0
    lines = [(tmp_path / f"{name}.jsonl").read_text().splitlines()[1:] for name in ("home", "fresh")]
    assert [[line for line in one if '"type":"memory"' in line] for one in lines] == [lines[1]] * 2
