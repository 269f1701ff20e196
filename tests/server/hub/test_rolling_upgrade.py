"""Machines that are upgraded one after the other: real hubs of this version and of made-up later ones over one database.

A later version is this one with more steps of the schema, added as its process starts (``sitecustomize``).
"""

import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.server.raw import started

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.slow,
    pytest.mark.timeout(240),  # a dozen processes, each of which imports the whole program
    pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets"),
]

LATER = """
from hybrid_memory_postgres import schema

newest = schema.MIGRATIONS[-1].number
added = schema.Migration(newest + 1, "colours", newest, (
    "ALTER TABLE memory ADD COLUMN colour TEXT",
    'CREATE TABLE colour (namespace TEXT COLLATE "C" NOT NULL PRIMARY KEY, name TEXT NOT NULL)',
    "CREATE INDEX memory_colour ON memory (namespace, colour) WHERE colour IS NOT NULL",
))
changed = schema.Migration(newest + 2, "only colours", newest + 1, ("ALTER TABLE memory ALTER colour SET DEFAULT 'red'",))
schema.MIGRATIONS += (added, changed)[:{steps}]
"""


@pytest.fixture
def folder():
    """A folder whose path leaves room for a socket's name."""
    with tempfile.TemporaryDirectory(prefix="hm-", ignore_cleanup_errors=True) as made:
        yield Path(made)


class Machines:
    """Machines with programs of this version, or of one that is ``later`` by some steps, over one database."""

    def __init__(self, folder, database):
        self._folder = folder
        self._database = database

    def _program(self, later):
        if not later:
            return {}
        path = self._folder / f"later{later}"
        path.mkdir(exist_ok=True)
        (path / "sitecustomize.py").write_text(LATER.replace("{steps}", str(later)))
        return {"PYTHONPATH": str(path)}

    @contextmanager
    def client(self, name, later=0):
        variables = {"HYBRID_MEMORY_STORE": self._database.address, "HYBRID_MEMORY_LINGER_SECONDS": "0"}
        with started(self._folder / name, alone=False, environment=variables | self._program(later)) as made:
            made.initialize()
            yield Client(made)

    def command(self, *arguments, later=0, user="hub"):
        """Run a command in a process of its own; returns whether it was done, and what it said."""
        variables = {
            "HYBRID_MEMORY_STORE": self._database.address_of(user),
            "HYBRID_MEMORY_HOME": str(self._folder / "commands"),
        }
        done = subprocess.run(
            [sys.executable, "-m", "hybrid_memory_mcp", *arguments],
            env=dict(os.environ) | variables | self._program(later),  # noqa: TID251 - handed on
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        return done.returncode == 0, done.stdout + done.stderr

    def prepare(self, later):
        return self.command("postgres", "prepare", self._database.address_of("keeper"), "--role", "hub", later=later)


class Client:
    def __init__(self, client):
        self._client = client
        self._calls = 0

    def _call(self, tool, **arguments):
        self._calls += 1
        answer = self._client.call(self._calls, tool, **arguments)
        return not answer.get("isError"), answer["content"][0]["text"]

    def write(self, content):
        return self._call("write_memory", content=content)

    def waits_for(self, query, *words):
        """Read until all that others wrote has come here; the test's limit of time ends what never comes."""
        while not all(one in self.read(query) for one in words):
            pass

    def read(self, query):
        done, text = self._call("read_memories", query=query)
        assert done, text
        return text


@pytest.fixture
def machines(folder, database):
    return Machines(folder, database)


def test_hubs_of_both_versions_write_and_read_side_by_side(machines):
    with machines.client("former") as former:
        assert former.write("Ada keeps bees")[0]
        assert machines.prepare(later=1)[0]
        with machines.client("later", later=1) as later, machines.client("started after", later=0) as after:
            for client, content in ((former, "Bo keeps goats"), (later, "Cy keeps hens"), (after, "Di keeps ducks")):
                assert client.write(content)[0]
            for client in (former, later, after):
                client.waits_for("who keeps what?", "bees", "goats", "hens", "ducks")


def test_what_the_former_version_would_leave_out_it_refuses(machines):
    with machines.client("former") as former:
        assert former.write("Ada keeps bees")[0]
    assert machines.prepare(later=1)[0]
    for arguments in (("backup",), ("purge", "--all", "--yes")):
        done, said = machines.command(*arguments)
        assert not done
        assert "later version" in said, said
    assert machines.command("remember", "Bo keeps goats")[0]
    assert "Ada keeps bees" in machines.command("recall", "bees")[1]
    assert machines.command("backup", later=1)[0]


def test_a_version_that_changes_more_waits_for_hubs_of_a_former_one_and_keeps_them_out_then(machines):
    with machines.client("former") as former:
        assert former.write("Ada keeps bees")[0]
        done, said = machines.prepare(later=2)
        assert not done
        assert "earlier version" in said
        assert former.write("Bo keeps goats")[0]
    assert machines.prepare(later=2)[0]
    with machines.client("former") as former, machines.client("between", later=1) as between:
        done, said = former.write("Cy keeps hens")
        assert not done
        assert "Upgrade" in said
        assert between.write("Di keeps ducks")[0]
