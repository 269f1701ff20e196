"""A backup is restored again and again while servers on three machines write and read: what counts is what each shows afterwards."""

from __future__ import annotations

import subprocess
import sys
import threading
from itertools import count
from time import monotonic

import pytest
from tests.postgres.test_http_under_kills import Running, stored
from tests.server.http.test_program import no_network, token

__all__ = ["no_network", "token"]  # fixtures

pytestmark = [pytest.mark.postgres, pytest.mark.stress, pytest.mark.timeout(600)]
SERVERS, CLIENTS, RESTORES = 3, 6, 12
OK = 200
NAMES = ("one", "two", "three")
KEPT = "Ada keeps her bees behind the barn"


class Client:
    """A thread that writes at one server and reads at another, and notes when it was told of what."""

    def __init__(self, number, servers, over):
        self.number, self._servers, self._over = number, servers, over
        self.done, self.wrong = [], []
        self.thread = threading.Thread(target=self._work)
        self.thread.start()

    def _work(self):
        for nth in count(1):
            if self._over.is_set():
                return
            here, there = (self._servers[(self.number + step + nth) % SERVERS].server for step in (0, 1))
            text = f"machine {self.number} counted {nth} bees in hive {self.number * 7919 + nth}"
            begun = monotonic()
            answer = self._ask(here, "write_memory", content=text)
            if answer is not None:
                self.done.append((begun, monotonic(), text))
            self._ask(there, "read_memories", query=self.done[-1][2] if self.done else text)

    def _ask(self, server, tool, **arguments):
        status, answer = server.ask("tools/call", name=tool, arguments=arguments)
        if status != OK or answer["result"].get("isError"):
            self.wrong.append((tool, status, str(answer)[:600]))
            return None
        return answer["result"]


def run(home, *words):
    done = subprocess.run(
        [sys.executable, "-m", "hybrid_memory_mcp", *words, "--home", str(home)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def servers(token, monkeypatch, tmp_path, database):
    monkeypatch.setenv("HYBRID_MEMORY_TOKENS_FOLDER", str(tmp_path))
    monkeypatch.setenv("HYBRID_MEMORY_STORE", database.address)
    running = [Running(tmp_path / name, token) for name in NAMES]
    yield running
    for one in running:
        one.end()


def wait_for_writes(clients, more):
    enough = [len(one.done) + more for one in clients]
    pause = threading.Event()
    for _ in range(6000):
        if all(len(one.done) >= least or one.wrong for one, least in zip(clients, enough, strict=True)):
            return
        pause.wait(0.01)
    raise AssertionError("nothing is written any more")


def test_after_a_restore_every_hub_shows_what_it_brought_and_what_was_acknowledged_since_and_nothing_of_before(
    servers, tmp_path
):
    backup = tmp_path / "backup.duckdb"
    servers[0].server.call("write_memory", content=KEPT)
    run(tmp_path / "one", "backup", str(backup))
    over = threading.Event()
    clients = [Client(number, servers, over) for number in range(CLIENTS)]
    begun = ended = 0.0
    try:
        for nth in range(RESTORES):
            wait_for_writes(clients, 5)
            begun = monotonic()
            run(tmp_path / NAMES[nth % SERVERS], "restore", str(backup), "--yes")
            ended = monotonic()
        wait_for_writes(clients, 5)
    finally:
        over.set()
        for one in clients:
            one.thread.join(60)
    found = stored(tmp_path / "one")
    acts = [one for client in clients for one in client.done]
    since = {text for at, _, text in acts if at > ended}
    before = {text for _, at, text in acts if at < begun}
    assert [client.wrong[:3] for client in clients if client.wrong] == []
    assert found[KEPT] == 1
    assert since - set(found) == set()
    assert since
    assert set(found) & before == set()
    for one in servers:
        for text in [*sorted(since)[:20], *sorted(before)[-20:]]:
            assert (text in one.server.texts(text)) == (text in found)
