"""The password of the database, in a whole run of the program: in no output, no file, no list of processes, no answer to a client."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tests.postgres.server import HUB, Database
from tests.server.hubs import short_folder
from tests.server.raw import started

from hybrid_memory_mcp.admin.hub_client import stop_hub

pytestmark = [pytest.mark.postgres, pytest.mark.daily]

SECRET = "s3cr3t-of-nobody"  # noqa: S105 - it opens nothing


@pytest.fixture
def home(database: Database) -> Iterator[Path]:
    """A folder whose hub leaves before the database does: without that it would wait for it."""
    del database
    with short_folder() as folder:
        yield folder
        stop_hub(folder)


def with_password(database: Database, name: str | None = None) -> dict[str, str]:
    """Return the variables of a client whose address holds the password."""
    server = database.server
    where = f"postgresql://{HUB}:{SECRET}@/{name or database.name}?host={server.folder}&port={server.port}"
    return {"HYBRID_MEMORY_STORE": where, "HYBRID_MEMORY_LINGER_SECONDS": "0"}


def run(home: Path, environment: Mapping[str, str], *words: str) -> str:
    """Return all that a command prints, whether it is done or not."""
    done = subprocess.run(
        [sys.executable, "-m", "hybrid_memory_mcp", *words, "--home", str(home)],
        check=False,
        capture_output=True,
        env=os.environ | environment,  # noqa: TID251 - handed on
        timeout=60,
    )
    return (done.stdout + done.stderr).decode()


def command_lines() -> str:
    """Return the command lines of all processes that may be seen, as `ps` shows them."""
    lines = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(place.read_bytes().decode(errors="replace"))
        except OSError:
            continue
    return "\n".join(lines)


def files_that_hold(word: str, home: Path) -> list[str]:
    return [str(one) for one in home.rglob("*") if one.is_file() and word.encode() in one.read_bytes()]


def test_no_command_prints_it(home: Path, database: Database) -> None:
    environment = with_password(database)
    said = run(home, environment, "config"), run(home, environment, "remember", "Ada likes tea", "--json")
    assert f"postgresql://{HUB}@" in said[0]
    assert "Ada likes tea" in said[1]
    assert SECRET not in said[0] + said[1]


def test_no_command_prints_it_where_the_database_is_missing(home: Path, database: Database) -> None:
    environment = with_password(database, "absent")
    said = "".join(run(home, environment, *words) for words in (["remember", "x"], ["doctor", "--json"]))
    assert SECRET not in said
    assert "no database of that name" in said


def test_an_argument_with_it_is_refused_without_being_repeated(home: Path, database: Database) -> None:
    address = with_password(database)["HYBRID_MEMORY_STORE"]
    said = run(home, {}, "config", "set", "store", address)
    assert "holds a password" in said
    assert SECRET not in said
    assert files_that_hold(SECRET, home) == []


def test_a_config_file_with_it_is_refused_without_being_repeated(home: Path, database: Database) -> None:
    home.mkdir()
    (home / "config.toml").write_text(f"store = {json.dumps(with_password(database)['HYBRID_MEMORY_STORE'])}\n")
    said = run(home, {}, "status")
    assert "holds a password" in said
    assert SECRET not in said


def test_a_hub_and_its_clients_keep_it_to_themselves(home: Path, database: Database) -> None:
    with started(home, alone=False, environment=with_password(database)) as client:
        client.initialize()
        written = client.call(2, "write_memory", content="Ada likes tea")
        found = client.call(3, "read_memories", query="What does Ada like?")
        assert "Ada likes tea" in json.dumps(found)
        assert SECRET not in command_lines()
        assert files_that_hold(SECRET, home) == []
        assert SECRET not in json.dumps([written, found])
        shown = database.rows("SELECT * FROM pg_stat_activity WHERE datname = %s", database.name)
        assert SECRET not in repr(shown)
        client.process.stdin.close()
        assert SECRET not in client.process.stderr.read().decode()
