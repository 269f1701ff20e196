"""A backup put back while hubs write: what was acknowledged before leaves, what is written after stays, and all hubs agree."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass
from time import monotonic

import pytest
from tests.server.raw import started
from tests.stress.cases import seed_of_one

pytestmark = [pytest.mark.postgres, pytest.mark.stress, pytest.mark.timeout(600)]
HUBS, ROUNDS = 3, 4


@dataclass(frozen=True)
class Moment:
    """From when to when something was done."""

    begin: float
    end: float

    def before(self, other):
        return self.end < other.begin


class Writer:
    """A thread that writes and reads through a hub of its own, and notes when each write was acknowledged."""

    def __init__(self, name, client):
        self.name, self._client = name, client
        self.written, self.refused, self._calls = {}, [], 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work)
        self._thread.start()

    def call(self, tool, **arguments):
        self._calls += 1
        return self._client.call(self._calls, tool, **arguments)

    def finds(self, text):
        return text in [one["text"] for one in self.call("read_memories", query=text)["structuredContent"]["memories"]]

    def end(self):
        self._over.set()
        self._thread.join(60)

    def _work(self):
        draw = random.Random(self.name)
        while not self._over.is_set():
            text = f"{self.name} saw a ship called {draw.randrange(10**12)}"
            begin = monotonic()
            answer = self.call("write_memory", content=text)
            if answer.get("isError"):
                self.refused.append(answer["content"][0]["text"])
            else:
                self.written[text] = Moment(begin, monotonic())
            if len(self.written) % 5 == 0:
                self.call("read_memories", query=text)


def command(home, *arguments):
    """Run a command in a process of its own; returns what it said and when that was."""
    begin = monotonic()
    line = [sys.executable, "-m", "hybrid_memory_mcp", *arguments, "--home", str(home)]
    said = subprocess.run(line, capture_output=True, text=True, check=True, env=os.environ).stdout  # noqa: TID251 - handed on
    return said, Moment(begin, monotonic())


def fates(write, restored):
    """Return how often a write that was acknowledged may be stored in the end: ``restored`` are a backup's moment and its restoring's."""
    possible = {1}
    for backup, restoring in restored:
        if restoring.before(write):
            continue
        if not write.before(restoring) or not (write.before(backup) or backup.before(write)):
            possible |= {0}  # both at once: either order is right
        elif backup.before(write):
            possible = {0}
    return possible


def test_hubs_write_while_a_backup_is_put_back(durable, tmp_path, monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_STORE", durable.address)
    draw = random.Random(seed_of_one())
    restored = []
    with ExitStack() as stack:
        clients = [stack.enter_context(started(tmp_path / f"hub{number}", alone=False)) for number in range(HUBS)]
        for client in clients:
            client.initialize()
        writers = [Writer(f"hub{number}", client) for number, client in enumerate(clients)]
        try:
            for _ in range(ROUNDS):
                wait_for_writes(writers, draw.randrange(20, 60))
                said, backup = command(tmp_path / "admin", "backup", "--json")
                wait_for_writes(writers, draw.randrange(20, 60))
                _, restoring = command(tmp_path / "admin", "restore", json.loads(said)["file"], "--yes")
                restored.append((backup, restoring))
            wait_for_writes(writers, 60)
        finally:
            for one in writers:
                one.end()
        assert [one.refused for one in writers if one.refused] == []
        lines = map(json.loads, command(tmp_path / "admin", "export", "-")[0].splitlines())
        stored = Counter(line["content"] for line in lines if line.get("type") == "memory")
        written = {text: moment for one in writers for text, moment in one.written.items()}
        allowed = {text: fates(moment, restored) for text, moment in written.items()}
        print(Counter(map(str, allowed.values())), len(stored))  # noqa: T201 - the figures
        assert [text for text in written if stored[text] not in allowed[text]] == []
        some = draw.sample(sorted(written), 60)
        for one in writers:
            assert {text: one.finds(text) for text in some} == {text: stored[text] == 1 for text in some}


def wait_for_writes(writers, more):
    """Wait until each of them has had so many more writes acknowledged."""
    enough = [len(one.written) + more for one in writers]
    pause = threading.Event()
    for _ in range(12_000):
        if all(len(one.written) >= least for one, least in zip(writers, enough, strict=True)):
            return
        pause.wait(0.01)
    raise AssertionError("nothing is written any more")
