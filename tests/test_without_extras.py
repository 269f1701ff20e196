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
