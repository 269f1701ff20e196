"""``serve --http`` over a database: it starts without it, says so, and serves when it is there."""

import http.client
import json
import socket
import subprocess
import sys
from threading import Event

import pytest
from tests.postgres.proxy import Proxy
from tests.server.http.test_program import Server, token

from hybrid_memory_postgres.hub_rows import BEAT_SECONDS

__all__ = ["token"]  # a fixture

pytestmark = [pytest.mark.postgres, pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    """These tests may speak to this machine."""
    real = socket.socket.connect

    def connect(self, address):
        assert self.family == socket.AF_UNIX or address[0] == "127.0.0.1", "a test spoke to a network"
        return real(self, address)

    monkeypatch.setattr(socket.socket, "connect", connect)


@pytest.fixture
def proxy(database):
    made = Proxy(database)
    yield made
    made.close()


@pytest.fixture
def start(tmp_path, token, monkeypatch):
    """Starts a server over an address, and waits until it serves; returns it with what it said before."""
    running = []

    def started(address):
        monkeypatch.setenv("HYBRID_MEMORY_STORE", address)
        monkeypatch.setenv("HYBRID_MEMORY_STORE_WAIT_SECONDS", "1")
        command = [sys.executable, "-m", "hybrid_memory_mcp", "serve", "--http", "--port", "0", "--home", str(tmp_path)]
        process = subprocess.Popen([*command, "--embedder", "static"], stderr=subprocess.PIPE, text=True)
        running.append(process)
        said = []
        for line in process.stderr:
            said.append(line)
            if "serving http://127.0.0.1:" in line:
                return Server(process, int(line.rsplit(":", 1)[1].split("/")[0]), token), "".join(said)
        return None, "".join(said)

    yield started
    for process in running:
        process.kill()
        process.wait()
        process.stderr.close()


def health(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        connection.request("GET", "/healthz")
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def until_well(server):
    pause = Event()
    for _ in range(600):
        status, said = health(server)
        if status == 200:
            return said
        pause.wait(0.1)
    raise AssertionError("it was never well")


def test_it_starts_while_the_database_is_away_says_so_and_serves_when_it_comes(proxy, start):
    proxy.refuse()
    server, said = start(proxy.address)
    assert "the database cannot be reached" in said
    assert health(server)[0] == 503
    status, answer = server.ask("tools/call", name="write_memory", arguments={"content": "Ada keeps bees"})
    assert (status, answer["result"]["isError"]) == (200, True)
    assert "the database cannot be reached" in answer["result"]["content"][0]["text"]
    proxy.go_on()
    said = until_well(server)
    assert said["behind_changes"] == 0
    assert said["behind_seconds"] < BEAT_SECONDS
    server.call("write_memory", content="Bo keeps goats")
    assert server.texts("goats") == ["Bo keeps goats"]


def test_it_ends_while_the_database_is_away_without_waiting_for_it(proxy, start):
    proxy.refuse()
    server, _ = start(proxy.address)
    server.process.terminate()
    assert server.process.wait(60) == 0


def test_an_address_of_no_database_ends_it_with_what_is_wrong(database, start):
    server, said = start(database.address.replace(f"/{database.name}", "/nothing"))
    assert server is None
    assert "no database of that name" in said
