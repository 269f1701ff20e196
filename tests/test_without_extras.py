"""Where no extra is installed the core and the server work, and a command of an extra says what to install."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
POINTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
COMMANDS = sorted(POINTS["hybrid_memory_mcp.commands"])

PROGRAM = """
import importlib.metadata, json, sys
from pathlib import Path

packages, home, commands = json.loads(sys.argv[1])
sys.modules |= dict.fromkeys(packages)  # importing one of them fails
importlib.metadata.entry_points = lambda **_: []

import anyio
from mcp.client import Client
from mcp.client.extension import advertise
from tests.server.services import make_server
from typer.testing import CliRunner

from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory_mcp.cli.commands import app
from hybrid_memory_mcp.runtime.provider import ServiceProvider

found = {}


async def talk(provider):
    shows_apps = advertise("io.modelcontextprotocol/ui", {"mimeTypes": ["text/html;profile=mcp-app"]})
    async with Client(make_server(provider), mode="legacy", extensions=[shows_apps]) as client:
        for name, given in (
            ("write_memory", {"content": "Ada lives in Porto."}),
            ("read_memories", {"query": "Where does Ada live?"}),
            ("reflect", {}),
        ):
            answer = await client.call_tool(name, given)
            found[name] = {"failed": answer.is_error, "says": answer.content[0].text}
        found["resources"] = [str(one.uri) for one in (await client.list_resources()).resources]


provider = ServiceProvider(lambda: MemoryService.open(Path(home)))
anyio.run(talk, provider)
provider.close(None)
for name in commands:
    done = CliRunner().invoke(app, [name])
    found[name] = done.exit_code, done.output
found["timeline"] = CliRunner().invoke(app, ["inspect", "timeline", "--home", home, "--namespace", "default", "--json"]).stdout
found["help"] = CliRunner().invoke(app, ["--help"]).output
print(json.dumps(found))
"""


MOVED = """
import importlib.metadata, json, sys

packages, folder, _ = json.loads(sys.argv[1])
sys.modules |= dict.fromkeys(packages)
importlib.metadata.entry_points = lambda **_: []

from typer.testing import CliRunner
from hybrid_memory_mcp.cli.commands import app

lines, one, two = f"{folder}/lines.jsonl", ("--home", f"{folder}/one"), ("--home", f"{folder}/two")

def told(*words):
    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, list(words))
    return done.exit_code, done.stdout or done.stderr

found = {
    "remember": told("remember", "Ada plays the violin.", *one),
    "export": told("export", lines, *one),
    "import": told("import", lines, *two, "--yes", "--trusted", "--json"),
    "list": told("import", "--list", *two, "--json"),
    "other": told("import", f"{folder}/chats.json", *two, "--yes"),
    "markdown": told("export", "--markdown", f"{folder}/notes", *two),
}
found["undo"] = told("import", "--undo", json.loads(found["import"][1])["id"], *two, "--json")
print(json.dumps(found))
"""


def run(program, home):
    """Return what a process finds in which no extra can be imported or found."""
    extras = [one.name for one in (ROOT / "extras").glob("*/hybrid_memory_*")]
    given = json.dumps([extras, str(home), COMMANDS])
    environment = {"PATH": "", "HOME": str(home), "HYBRID_MEMORY_EMBEDDER": "static", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", program, given], check=True, capture_output=True, text=True, env=environment
    )
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    return run(PROGRAM, tmp_path_factory.mktemp("home"))


@pytest.mark.slow
def test_a_model_writes_reads_and_reflects(told):
    answers = [told[name] for name in ("write_memory", "read_memories", "reflect")]
    assert not [one["says"] for one in answers if one["failed"]]
    assert "Ada lives in Porto" in answers[1]["says"]


@pytest.mark.slow
def test_the_terminal_shows_the_timeline(told):
    assert [one["content"] for one in json.loads(told["timeline"])["memories"]] == ["Ada lives in Porto."]


@pytest.mark.daily
@pytest.mark.slow
def test_a_client_that_shows_apps_is_offered_none(told):
    assert not [one for one in told["resources"] if one.startswith("ui://")]


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_an_extra_is_in_the_help_and_says_what_to_install(told, command):
    code, printed = told[command]
    assert (code, len(printed.strip().splitlines())) == (1, 1)
    assert "install hybrid-memory-mcp" in printed
    assert command in told["help"]


@pytest.fixture(scope="module")
def moved(tmp_path_factory):
    """What export and import of our own lines say, and what of other programs' files and Markdown is asked for."""
    folder = tmp_path_factory.mktemp("moved")
    (folder / "chats.json").write_text('[{"mapping": {}}]')
    return run(MOVED, folder)


@pytest.mark.daily
@pytest.mark.slow
def test_what_is_exported_comes_in_again(moved):
    assert moved["remember"][0] == moved["export"][0] == moved["import"][0] == 0
    assert json.loads(moved["import"][1])["new"] == 1
    assert [one["memories"] for one in json.loads(moved["list"][1])] == [1]
    assert json.loads(moved["undo"][1])["memories"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("asked", ["other", "markdown"])
def test_files_of_other_programs_and_markdown_say_what_to_install(asked, moved):
    code, output = moved[asked]
    assert (code, output.strip().count("\n")) == (1, 0)
    assert "install hybrid-memory-mcp again" in output
