"""Clients of this program and of the one before the schema's last step write into one store while its hub is killed again and again.

The earlier program comes from the history of this repository; where that is not whole there is nothing to try.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tarfile
import threading
import time
from contextlib import ExitStack, contextmanager
from io import BytesIO
from pathlib import Path

import pytest
from tests.server.hubs import short_folder
from tests.server.raw import started
from tests.stress.cases import seed_of_one
from tests.stress.processes import hub_of

pytestmark = [
    pytest.mark.stress,
    pytest.mark.timeout(3000),
    pytest.mark.skipif(sys.platform == "win32", reason="signals"),
]

BEFORE = "5af1359f8827654a08d27be7ca193fed5719b1ca"  # schema 7, and hubs that do not tell which program they are
ROUNDS = 50
STEP_TIMEOUT_SECONDS = 60
LONGEST_PAUSE_SECONDS = 20.0  # at most; the figures that were measured are in docs/benchmarks.md
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def earlier(tmp_path_factory):
    """The variables with which a process runs the earlier program."""
    folder = tmp_path_factory.mktemp("earlier")
    parts = ("memory_core", "server", "prompts")
    archive = subprocess.run(["git", "archive", BEFORE, *parts], cwd=ROOT, capture_output=True, check=False)
    if archive.returncode:
        pytest.skip("the history is not here")
    with tarfile.open(fileobj=BytesIO(archive.stdout)) as packed:
        packed.extractall(folder, filter="data")
    return {"PYTHONPATH": os.pathsep.join(str(folder / part) for part in parts)}


class Writer:
    """A client that writes without a pause, in a thread; ``acknowledged`` maps what was stored to its id."""

    def __init__(self, name, client):
        self.name, self.client = name, client
        self.acknowledged = {}
        self.refusals = []
        self.longest = 0.0
        self.resumed = 0.0  # when the process was last let go on
        self._over = threading.Event()
        self._moved = threading.Condition()
        self._thread = threading.Thread(target=self._work)
        begun = time.monotonic()
        client.initialize()
        self.longest = time.monotonic() - begun
        self._thread.start()

    def _work(self):
        number = 0
        while not self._over.is_set():
            number += 1
            content = f"{self.name} saw bird{self.name}n{number}"
            begun = time.monotonic()
            answer = self.client.call(number, "write_memory", content=content)
            self.longest = max(self.longest, time.monotonic() - max(begun, self.resumed))
            with self._moved:
                if answer.get("isError"):
                    self.refusals.append(answer["content"][0]["text"])
                else:
                    self.acknowledged[content] = answer["structuredContent"]["id"]
                self._moved.notify_all()

    @property
    def answered(self):
        return len(self.acknowledged) + len(self.refusals)

    def wait_for(self, more=2):
        """Wait for some answers more."""
        with self._moved:
            enough = self.answered + more
            assert self._moved.wait_for(lambda: self.answered >= enough, STEP_TIMEOUT_SECONDS), self.name

    def end(self):
        self._over.set()
        self._thread.join(STEP_TIMEOUT_SECONDS)
        assert not self._thread.is_alive()


class Round:
    """One store, and the clients of both programs."""

    def __init__(self, home, earlier, stack):
        self.home, self._earlier, self._stack = home, earlier, stack
        self.new, self.old = [], []

    def start(self, writers, count=2):
        is_old = writers is self.old
        for _ in range(count):
            variables = {"HYBRID_MEMORY_LINGER_SECONDS": "0"} | (self._earlier if is_old else {})
            client = self._stack.enter_context(started(self.home, alone=False, environment=variables))
            writer = Writer(f"{'old' if is_old else 'new'}{len(writers)}", client)
            self._stack.callback(writer.end)
            writers.append(writer)

    def kill_hub(self):
        """Kill the hub of the moment."""
        pid = until(lambda: hub_of(self.home))
        os.kill(pid, signal.SIGKILL)

    @contextmanager
    def only_old_ones_run(self):
        """Stop the new clients until the earlier program is the hub."""
        for writer in self.new:
            os.kill(writer.client.process.pid, signal.SIGSTOP)
        try:
            self.kill_hub()
            until(self._hub_is_old)
            for writer in self.old:
                writer.wait_for(1)
            yield
        finally:
            for writer in self.new:
                writer.resumed = time.monotonic()
                os.kill(writer.client.process.pid, signal.SIGCONT)

    def _hub_is_old(self):
        try:
            variables = Path(f"/proc/{hub_of(self.home)}/environ").read_bytes()
        except OSError:
            return False
        return self._earlier["PYTHONPATH"].encode() in variables

    def command(self, *arguments):
        program = [sys.executable, "-m", "hybrid_memory_mcp", *arguments, "--home", str(self.home)]
        return subprocess.run(program, capture_output=True, text=True, check=False, timeout=STEP_TIMEOUT_SECONDS)

    def wait(self):
        for writer in self.new:
            writer.wait_for()


def until(condition):
    begun = time.monotonic()
    while not (found := condition()):
        assert time.monotonic() - begun < STEP_TIMEOUT_SECONDS
        time.sleep(0.005)
    return found


def old_first(one, draw):
    """The new program comes while calls of the earlier one are in flight, and replaces its hub."""
    one.start(one.old)
    for writer in one.old:
        writer.wait_for(draw.randrange(1, 5))
    one.start(one.new)
    one.wait()


def new_first(one, draw):
    """The new program has made the store, and serves clients of the earlier one."""
    one.start(one.new)
    for writer in one.new:
        writer.wait_for(draw.randrange(1, 5))
    one.start(one.old)
    one.wait()


@pytest.mark.parametrize("begin", [old_first, new_first])
def test_whoever_starts_the_next_hub_no_new_client_is_refused_and_nothing_acknowledged_is_lost(earlier, begin):
    seed = seed_of_one()
    figures = {"acknowledged": 0, "refused old": 0, "longest": []}
    for number in range(ROUNDS):
        draw = random.Random(f"{seed} {begin.__name__} {number}")
        with short_folder() as home, ExitStack() as stack:
            one = Round(home, earlier, stack)
            begin(one, draw)
            # The earlier program wins the race for the next hub, and cannot open the store.
            with one.only_old_ones_run():
                done = one.command("remember", f"the command saw finch{number}") if draw.random() < 0.5 else None
            one.wait()
            # Anyone who is first.
            time.sleep(draw.uniform(0, 0.05))
            one.kill_hub()
            one.wait()
            # A client that comes when the earlier program is the hub and no other new one runs.
            if draw.random() < 0.5:
                with one.only_old_ones_run():
                    one.start(one.new, 1)
                one.wait()
            for writer in (*one.new, *one.old):
                writer.end()
            kept = stored(one)
            check(one, kept, done, f"{begin.__name__} {number}, seed {seed}")
            figures["acknowledged"] += sum(len(writer.acknowledged) for writer in (*one.new, *one.old))
            figures["refused old"] += sum(len(writer.refusals) for writer in one.old)
            figures["longest"].append(round(max(writer.longest for writer in one.new), 2))
    longest = sorted(figures.pop("longest"))
    pause = f"pause median {longest[len(longest) // 2]} s, longest {longest[-1]} s"
    print(f"\n{begin.__name__}, {ROUNDS} rounds: {figures}, {pause}")  # noqa: T201 - for docs/benchmarks.md
    assert longest[-1] < LONGEST_PAUSE_SECONDS


def stored(one):
    """Return what the store holds, by id."""
    file = one.home.parent / "all.jsonl"
    done = one.command("export", str(file))
    assert done.returncode == 0, done.stderr
    rows = map(json.loads, file.read_text("utf-8").splitlines())
    return {row["id"]: row["content"] for row in rows if "content" in row}


def check(one, kept, done, which):
    contents = list(kept.values())
    for writer in (*one.new, *one.old):
        for content, memory in writer.acknowledged.items():
            assert kept.get(memory) == content, which
    assert len(set(contents)) == len(contents), which  # also of what was not acknowledged
    assert [writer.refusals for writer in one.new] == [[] for _ in one.new], which
    assert done is None or done.returncode == 0, (which, done.stderr)
