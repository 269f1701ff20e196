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

from hybrid_memory.service import MemoryService
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


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What a process finds in which no extra can be imported or found."""
    extras = [one.name for one in (ROOT / "extras").glob("*/hybrid_memory_*")]
    home = tmp_path_factory.mktemp("home")
    given = json.dumps([extras, str(home), COMMANDS])
    environment = {"PATH": "", "HOME": str(home), "HYBRID_MEMORY_EMBEDDER": "static", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, given], check=True, capture_output=True, text=True, env=environment
    )
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
def test_a_model_writes_reads_and_reflects(told):
    answers = [told[name] for name in ("write_memory", "read_memories", "reflect")]
    assert not [one["says"] for one in answers if one["failed"]]
    assert "Ada lives in Porto" in answers[1]["says"]


@pytest.mark.slow
def test_the_terminal_shows_the_timeline(told):
    assert [one["content"] for one in json.loads(told["timeline"])["memories"]] == ["Ada lives in Porto."]


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
