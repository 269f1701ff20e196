"""The core and the server work where no extra is installed, and a command whose part is missing says what to install."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
PACKAGES = sorted(folder.name for folder in ROOT.glob("extras/*/hybrid_memory_*"))
COMMANDS = sorted(
    tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["hybrid_memory_mcp.commands"]
)

WITHOUT_EXTRAS = f"""
import json, sys
sys.modules |= dict.fromkeys({PACKAGES})  # to import one of them fails
from hybrid_memory import extras
extras._offered = lambda group: {{}}
"""

TOOLS = """
from pathlib import Path
import anyio
from mcp.client import Client
from tests.server.services import call, make_server
from hybrid_memory.service import MemoryService
from hybrid_memory_mcp.runtime.provider import ServiceProvider

async def use(provider):
    async with Client(make_server(provider), mode="legacy") as client:
        for content in ("Ada plays the violin on Mondays.", "Ada plays the violin in a quartet.", "Ada plays the violin."):
            await call(client, "write_memory", content=content)
        found = await call(client, "read_memories", query="What does Ada play?")
        groups = await call(client, "reflect")
        print(json.dumps({"found": found, "groups": groups}))

provider = ServiceProvider(lambda: MemoryService.open(Path(sys.argv[1])))
anyio.run(use, provider)
provider.close(None)
"""

CALLED = """
from typer.testing import CliRunner
from hybrid_memory_mcp.cli.commands import app

def told(*words):
    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, list(words))
    return done.exit_code, done.output

print(json.dumps({"--help": told("--help"), **{name: told(name, "anything", "--else") for name in sys.argv[1:]}}))
"""

MOVED = """
from typer.testing import CliRunner
from hybrid_memory_mcp.cli.commands import app

folder = sys.argv[1]
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


def run(program, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRAS + program, *arguments],
        cwd=ROOT,
        env={"HYBRID_MEMORY_EMBEDDER": "static", "HOME": "/nonexistent"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def told():
    return run(CALLED, *COMMANDS)


def test_a_memory_is_written_read_and_reflected_upon(tmp_path):
    done = run(TOOLS, str(tmp_path))
    assert len(done["found"]["memories"]) == 3
    assert [len(one["ids"]) for one in done["groups"]["groups"]] == [3]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_shown_and_says_what_to_install(command, told):
    code, output = told[command]
    assert (code, output.strip().count("\n")) == (1, 0)
    assert "install hybrid-memory-mcp again" in output
    assert command in told["--help"][1]


@pytest.fixture(scope="module")
def moved(tmp_path_factory):
    """What export and import of our own lines say, and what of other programs' files and Markdown is asked for."""
    folder = tmp_path_factory.mktemp("moved")
    (folder / "chats.json").write_text('[{"mapping": {}}]')
    return run(MOVED, str(folder))


def test_what_is_exported_comes_in_again(moved):
    assert moved["remember"][0] == moved["export"][0] == moved["import"][0] == 0
    assert json.loads(moved["import"][1])["new"] == 1
    assert [one["memories"] for one in json.loads(moved["list"][1])] == [1]
    assert json.loads(moved["undo"][1])["memories"] == 1


@pytest.mark.parametrize("asked", ["other", "markdown"])
def test_files_of_other_programs_and_markdown_say_what_to_install(asked, moved):
    code, output = moved[asked]
    assert (code, output.strip().count("\n")) == (1, 0)
    assert "install hybrid-memory-mcp again" in output
