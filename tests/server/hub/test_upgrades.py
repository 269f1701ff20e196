"""Clients of this program alongside clients of a later one, over one file: real processes.

The later program is this one with one more step of the schema, added as its process starts (``sitecustomize``).
"""

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager

import filelock
import pytest
from tests.server.hubs import TIMEOUT_SECONDS, relay, short_folder
from tests.server.raw import started

from hybrid_memory_mcp.relay.connecting import hub_is_running

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets and signals"),
]

LATER = """
from hybrid_memory.store.duck import schema
from hybrid_memory_mcp.relay import protocol

newest = schema.MIGRATIONS[-1].number
schema.MIGRATIONS += (schema.Migration(newest + 1, "colours", ("CREATE TABLE colour (name VARCHAR NOT NULL)",)),)
schema.migrate.__defaults__ = (schema.MIGRATIONS,)
protocol.PROGRAM = f"{newest + 1}.{protocol.PROGRAM.partition('.')[2]}"
"""
TOO_OLD = (
    "this client's program is older than the memory's store: restart raw. Upgrade the hybrid-memory-mcp that it starts if this "
    "message stays"
)


@pytest.fixture
def home(monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_LINGER_SECONDS", "0.2")
    with short_folder() as folder:
        yield folder
        wait_until_free(folder)


@pytest.fixture
def later(tmp_path):
    """The variables with which a process runs the later program."""
    (tmp_path / "sitecustomize.py").write_text(LATER)
    return {"PYTHONPATH": str(tmp_path)}


def wait_until_free(home):
    with filelock.FileLock(home / "hub.lock", timeout=TIMEOUT_SECONDS):
        pass


def hub_of(home):
    return int((home / "hub.pid").read_text())


def command(*arguments, environment=None):
    return subprocess.run(
        [sys.executable, "-m", "hybrid_memory_mcp", *arguments],
        env=dict(os.environ) | (environment or {}),  # noqa: TID251 - handed on
        capture_output=True,
        text=True,
        check=False,
    )


def write(client, number, content):
    answer = client.call(number, "write_memory", content=content)
    return not answer.get("isError"), answer["content"][0]["text"]


def texts(client):
    result = client.call(999, "read_memories", query="who keeps what?", limit=100)
    return sorted(one["text"] for one in result["structuredContent"]["memories"])


@contextmanager
def stopped(client):
    """Let this client's relay take no part in the race for the next hub."""
    os.kill(client.process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(client.process.pid, signal.SIGCONT)


def test_a_newer_client_replaces_the_hub_of_older_ones_which_go_on_with_its_own(home, later):
    with relay(home) as client:
        client.initialize()
        assert write(client, 1, "Ada keeps bees")[0]
        former = hub_of(home)
        with started(home, alone=False, environment=later) as newer:
            newer.initialize()
            assert write(newer, 1, "Bo keeps goats")[0]
            assert hub_of(home) != former
            assert write(client, 2, "Cy keeps hens")[0]
            assert texts(client) == texts(newer) == ["Ada keeps bees", "Bo keeps goats", "Cy keeps hens"]


def test_calls_in_flight_while_a_hub_is_replaced_are_done_once(home, later, tmp_path):
    over = threading.Event()
    with relay(home) as client:
        client.initialize()
        written = []

        def fill():
            while not over.is_set():
                content = f"Ada keeps hive{len(written)}"
                done, said = write(client, len(written) + 1, content)
                assert done, said
                written.append(content)

        filling = threading.Thread(target=fill)
        filling.start()
        with started(home, alone=False, environment=later) as newer:
            newer.initialize()
            done = write(newer, 1, "Bo keeps goats")[0]
            over.set()
            filling.join()
            assert done
            exported = command("export", str(tmp_path / "all.jsonl"), "--home", str(home), environment=later)
    assert exported.returncode == 0, exported.stderr
    rows = map(json.loads, (tmp_path / "all.jsonl").read_text("utf-8").splitlines())
    assert sorted(row["content"] for row in rows if "hive" in row.get("content", "")) == sorted(written)


@pytest.mark.daily
def test_an_older_client_hears_what_to_restart_and_keeps_no_hub_that_would_refuse_newer_ones(home, later):
    with started(home, alone=False, environment=later) as newer, relay(home) as client:
        newer.initialize()
        assert write(newer, 1, "Ada keeps bees")[0]
        client.initialize()
        assert write(client, 1, "Bo keeps goats")[0]
        with stopped(newer):
            os.kill(hub_of(home), signal.SIGKILL)
            done, said = write(client, 2, "Cy keeps hens")
            assert not done
            assert TOO_OLD in said
            wait_until_free(home)  # although its client is still there
        assert write(newer, 2, "Di keeps ducks")[0]
        assert write(client, 3, "Ed keeps cats")[0]
        assert texts(newer) == ["Ada keeps bees", "Bo keeps goats", "Di keeps ducks", "Ed keeps cats"]


@pytest.mark.daily
def test_a_newer_command_replaces_the_hub_and_the_clients_go_on(home, later):
    with relay(home) as client:
        client.initialize()
        assert write(client, 1, "Ada keeps bees")[0]
        former = hub_of(home)
        done = command("status", "--verbose", "--home", str(home), environment=later)
        assert (done.returncode, "schema version: 10" in done.stdout) == (0, True), done.stderr
        assert write(client, 2, "Bo keeps goats")[0]
        assert hub_of(home) != former


@pytest.mark.daily
def test_an_older_http_server_does_not_end_the_hub_of_a_newer_program(home, later):
    with started(home, alone=False, environment=later) as newer:
        newer.initialize()
        assert write(newer, 1, "Ada keeps bees")[0]
        hub = hub_of(home)
        server = command("serve", "--http", "--port", "0", "--home", str(home))
        assert server.returncode == 1
        assert server.stderr == (
            "hybrid-memory-mcp: the running hub is newer than this program; upgrade this program\n"
        )
        assert hub_of(home) == hub
        assert hub_is_running(str(home))
