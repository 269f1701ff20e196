"""Real hubs in processes of their own, each with its folder, over one database that the variable names."""

import json
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.server.raw import started
from typer.testing import CliRunner

from hybrid_memory_mcp.cli.commands import app

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets"),
    pytest.mark.daily,
]

SECRET = "tulip-9313"  # noqa: S105 - of nobody: the tests' server asks for none


@pytest.fixture
def folder():
    """A folder whose path leaves room for a socket's name."""
    with tempfile.TemporaryDirectory(prefix="hm-", ignore_cleanup_errors=True) as made:
        yield Path(made)


@contextmanager
def client(home, address, **variables):
    """A client of a relay, which starts a hub for its folder."""
    environment = {"HYBRID_MEMORY_STORE": address, "HYBRID_MEMORY_LINGER_SECONDS": "0"} | variables
    with started(home, alone=False, environment=environment) as made:
        made.initialize()
        yield made


def said(answer):
    assert not answer.get("isError"), answer
    return answer["content"][0]["text"]


def run(home, address, *arguments):
    return CliRunner().invoke(app, [*arguments, "--home", str(home)], env={"HYBRID_MEMORY_STORE": address})


def test_hubs_of_two_folders_have_one_memory(folder, database):
    with client(folder / "one", database.address) as one, client(folder / "two", database.address) as two:
        written = one.call(1, "write_memory", content="Ada keeps bees")
        assert not written["isError"]
        assert "Ada keeps bees" in said(two.call(1, "read_memories", query="bees"))


def test_a_hub_tells_who_else_serves_the_memory(folder, database):
    with client(folder / "one", database.address) as one, client(folder / "two", database.address) as two:
        one.call(1, "read_memories", query="bees")
        two.call(1, "read_memories", query="bees")
        status = json.loads(two.ask(2, "resources/read", uri="memory://status")["result"]["contents"][0]["text"])
    assert len(status["other_hubs"]) == 1
    assert status["behind"]["seconds"] < 60
    assert status["engine"] == "postgresql"


def test_a_hub_that_is_gone_is_told_no_more(folder, database):
    with client(folder / "one", database.address) as one:
        one.call(1, "read_memories", query="bees")
    with client(folder / "two", database.address) as two:
        for number in range(1, 200):
            found = json.loads(
                two.ask(number, "resources/read", uri="memory://status")["result"]["contents"][0]["text"]
            )
            if not found["other_hubs"]:
                break
    assert found["other_hubs"] == []


def test_nothing_of_it_lies_in_the_folder(folder, database):
    with client(folder / "one", database.address) as one:
        one.call(1, "write_memory", content="Ada keeps bees")
    assert not (folder / "one" / "memory.duckdb").exists()


def test_a_command_beside_a_hub_is_answered_by_it(folder, database):
    with client(folder / "one", database.address) as one:
        one.call(1, "write_memory", content="Ada keeps bees")
        found = run(folder / "one", database.address, "recall", "bees", "--json")
    assert found.exit_code == 0
    assert "Ada keeps bees" in found.output


def test_a_command_without_the_variable_beside_that_hub_is_told_and_makes_no_file(folder, database):
    with client(folder / "one", database.address) as one:
        one.call(1, "write_memory", content="Ada keeps bees")
        told = run(folder / "one", "", "remember", "Bo keeps goats")
    assert told.exit_code == 1
    assert "HYBRID_MEMORY_STORE" in told.output
    assert not (folder / "one" / "memory.duckdb").exists()


def test_the_folders_settings_name_the_database_for_all(folder, database):
    (folder / "config.toml").write_text(f'store = "{database.address}"\n')
    assert run(folder, "", "remember", "Ada keeps bees").exit_code == 0
    assert "Ada keeps bees" in run(folder, "", "recall", "bees").output
    assert not (folder / "memory.duckdb").exists()


def test_status_names_the_database_and_no_password(folder, database):
    address = database.address.replace("postgresql://hub@", f"postgresql://hub:{SECRET}@")
    told = run(folder, address, "status")
    assert told.exit_code == 0, told.output
    assert database.address in "".join(told.output.split())  # which the terminal's width has broken
    assert SECRET not in told.output
    assert SECRET not in run(folder, address, "status", "--json").output
    assert SECRET not in run(folder, address, "config").output


def test_a_client_of_a_database_that_is_away_hears_so_and_goes_on_when_it_comes(folder, database):
    sockets = folder / "sockets"
    sockets.mkdir()
    address = f"postgresql://hub:{SECRET}@/{database.name}?host={sockets}&port={database.server.port}"
    with client(folder / "one", address, HYBRID_MEMORY_STORE_WAIT_SECONDS="0.5") as one:
        told = one.call(1, "write_memory", content="Ada keeps bees")
        assert told["isError"]
        assert "database" in told["content"][0]["text"]
        assert SECRET not in told["content"][0]["text"]
        name = f".s.PGSQL.{database.server.port}"
        (sockets / name).symlink_to(database.server.folder / name)
        assert not one.call(2, "write_memory", content="Bo keeps goats")["isError"]
        found = said(one.call(3, "read_memories", query="bees goats"))
    assert "Bo keeps goats" in found
    assert "Ada keeps bees" not in found


def test_a_database_of_a_later_version_is_left_alone_and_the_client_hears_what_to_do(folder, database):
    import psycopg

    with psycopg.connect(database.conninfo_of("keeper"), autocommit=True) as connection:
        connection.execute(
            "INSERT INTO migration (number, name, usable_from, applied_at) VALUES (999, 'later', 999, 0)"
        )
    with client(folder / "one", database.address) as one:
        told = one.call(1, "write_memory", content="Ada keeps bees")
    assert told["isError"]
    assert "Upgrade" in told["content"][0]["text"]
