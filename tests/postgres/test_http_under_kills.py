"""`serve --http` that is killed again and again, and its database with it: what clients were told is what is stored then.

A client over HTTP has no relay that sends again what was not answered: it hears that the connection broke, and does not know.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
from collections import Counter
from http.client import HTTPException
from itertools import count

import pytest
from tests.postgres.harms import kill_the_server, restart
from tests.server.http.test_program import Server, no_network, token
from tests.stress.cases import seed_of_one

__all__ = ["no_network", "token"]  # fixtures

pytestmark = [pytest.mark.postgres, pytest.mark.stress, pytest.mark.timeout(900)]
CLIENTS, KILLS = 8, 30
OK, UNAVAILABLE = 200, 503


class Running:
    """A server on a port of its own, which is started again there each time it was killed."""

    def __init__(self, home, token):
        self._home, self._port, self._token = home, 0, token
        self.start()

    def start(self):
        command = [sys.executable, "-m", "hybrid_memory_mcp", "serve", "--http", "--port", str(self._port)]
        process = subprocess.Popen([*command, "--home", str(self._home)], stderr=subprocess.PIPE, text=True)
        said = []
        for line in process.stderr:
            said.append(line)
            if "serving http://127.0.0.1:" in line:
                self._port = int(line.rsplit(":", 1)[1].split("/")[0])
                break
        else:
            raise AssertionError("".join(said))
        # What it says afterwards is of no use, but a full pipe would stop it.
        self._listening = threading.Thread(target=process.communicate, daemon=True)
        self._listening.start()
        self.server = Server(process, self._port, self._token)

    def kill(self):
        self.server.process.kill()
        self._listening.join(60)
        self.start()

    def end(self):
        self.server.process.terminate()
        self._listening.join(60)


class Client:
    """A thread that writes and reads at one server after the other, and notes what it was told."""

    def __init__(self, name, servers, over):
        self.name, self._servers, self._over = name, servers, over
        self._draw = random.Random(name)
        self.done, self.unknown, self.refused, self.wrong = [], [], {}, []
        self.thread = threading.Thread(target=self._work)
        self.thread.start()

    def _work(self):
        for number in count(1):
            if self._over.is_set():
                return
            server = self._draw.choice(self._servers).server
            self._write(server, f"{self.name} counted {number} bees in hive {self._draw.randrange(10**9)}")
            if number % 3 == 0 and self.done:
                self._read(server, self.done[-1])

    def _write(self, server, text):
        try:
            status, answer = server.ask("tools/call", name="write_memory", arguments={"content": text})
        except ConnectionRefusedError:  # nothing was sent; the server is being started again
            self._over.wait(0.02)
            return
        except (OSError, HTTPException, ValueError):
            self.unknown.append(text)
            return
        if status == OK and not answer["result"].get("isError"):
            self.done.append(text)
            return
        said = answer["result"]["content"][0]["text"] if status == OK else answer["error"]["message"]
        if "not known" in said:
            self.unknown.append(text)
        elif status in (OK, UNAVAILABLE) and "try again" in said.lower():
            self.refused[text] = said
        else:
            self.wrong.append((status, said))

    def _read(self, server, text):
        try:
            status, answer = server.ask("tools/call", name="read_memories", arguments={"query": text})
        except (OSError, HTTPException, ValueError):
            return
        if status == OK and not answer["result"].get("isError"):
            found = [one["text"] for one in answer["result"]["structuredContent"]["memories"]]
            if text not in found:
                self.wrong.append(("acknowledged and not found", text))


def stored(home):
    """Return how often each text is in the store."""
    command = [sys.executable, "-m", "hybrid_memory_mcp", "export", "-", "--home", str(home)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return Counter(one["content"] for one in map(json.loads, lines) if one.get("type") == "memory")


def wait_for_writes(clients, more):
    """Wait until so many more writes were acknowledged."""
    enough = sum(len(one.done) for one in clients) + more
    pause = threading.Event()
    for _ in range(12_000):
        if sum(len(one.done) for one in clients) >= enough:
            return
        pause.wait(0.01)
    raise AssertionError("nothing is written any more")


def outlived(servers, harm, home):
    """Let clients write while harm is done, and compare what they were told with what is stored in the end."""
    over = threading.Event()
    clients = [Client(f"client{number}", servers, over) for number in range(CLIENTS)]
    try:
        for number in range(KILLS):
            wait_for_writes(clients, 20)
            harm(number)
        wait_for_writes(clients, 20)
    finally:
        over.set()
        for one in clients:
            one.thread.join(120)
    assert [one.wrong for one in clients if one.wrong] == []
    for one in servers:
        one.end()
    found = stored(home)
    told = {
        "done": [text for one in clients for text in one.done],
        "unknown": [text for one in clients for text in one.unknown],
        "refused": [text for one in clients for text in one.refused],
    }
    print({name: len(texts) for name, texts in told.items()})  # noqa: T201 - for the benchmarks page
    assert [text for text in told["done"] if found[text] != 1] == []
    assert [text for text in told["unknown"] if found[text] > 1] == []
    assert [text for text in told["refused"] if found[text] != 0] == []


@pytest.fixture
def serve(token, monkeypatch, tmp_path):
    """Returns a function that serves a folder over HTTP; all servers know the same token."""
    monkeypatch.setenv("HYBRID_MEMORY_TOKENS_FOLDER", str(tmp_path))
    running = []

    def start(home):
        running.append(Running(home, token))
        return running[-1]

    yield start
    for one in running:
        one.end()


def test_two_servers_over_a_database(durable, serve, tmp_path, monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_STORE", durable.address)
    draw = random.Random(seed_of_one())
    servers = [serve(tmp_path / "one"), serve(tmp_path / "two")]

    def harm(number):
        if number % 6 == 5:
            draw.choice([restart, kill_the_server])(durable, draw)
        else:
            draw.choice(servers).kill()

    outlived(servers, harm, tmp_path / "one")


def test_one_server_over_a_file(serve, tmp_path):
    servers = [serve(tmp_path / "one")]
    outlived(servers, lambda _: servers[0].kill(), tmp_path / "one")
