"""SIGSTOP, SIGCONT and SIGKILL of hub and relays at random under four writing clients: all is answered in time, nothing lost or doubled.

The length is the variable ``STOPPED_HUB_SECONDS`` (600 unless told), the seed ``HYBRID_STRESS_SEED`` as in the other tests.
"""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress

import pytest
from tests.server.hubs import short_folder
from tests.stress.cases import seed_of_one
from tests.stress.processes import hub_of

CLIENTS = 4
ANSWERED_WITHIN = 20.0
PAUSE_SECONDS = 0.1  # between two calls of a client: the store should not grow to where writes take long
STOPPED_SECONDS = 12.0  # a relay is let go on after that at most; a hub is never, it has to be replaced

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGSTOP")


class Writer(threading.Thread):
    """A client that writes a new statement at each call. One whose relay was killed starts another, as people do."""

    def __init__(self, home, name, over):
        super().__init__(name=name)
        self.home, self.over = home, over
        self.made, self.answered, self.unknown, self.refused, self.waits = 0, {}, set(), [], []
        self.relay = None
        self.begun = None  # when the call of the moment was sent; None between calls
        self.relay_stopped = 0.0  # for how long this client's own relay stood during the call of the moment

    def run(self):
        while not self.over.is_set():
            self._start()
            with suppress(OSError, ValueError):  # its relay was killed
                self._ask("initialize", INITIALIZE)
                self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
                while not self.over.is_set():
                    self._write()
                    time.sleep(PAUSE_SECONDS)
            self._close()

    def _write(self):
        self.made += 1
        word = f"{self.name}w{self.made}"
        self.unknown.add(word)
        answer = self._ask("tools/call", {"name": "write_memory", "arguments": {"content": f"the remark is {word}"}})
        if answer["result"]["isError"]:
            told = answer["result"]["content"][0]["text"]
            if "not known" not in told:
                self.refused.append(told)
            return
        self.unknown.discard(word)
        self.answered[word] = answer["result"]["structuredContent"]["id"]

    def _ask(self, method, params):
        self.relay_stopped, self.begun = 0.0, time.monotonic()
        self._send({"jsonrpc": "2.0", "id": self.made, "method": method, "params": params})
        line = self.relay.stdout.readline()
        waited, self.begun = time.monotonic() - self.begun, None
        if not line:
            raise OSError
        self.waits.append((waited - self.relay_stopped, method))
        return json.loads(line)

    def _send(self, message):
        self.relay.stdin.write(json.dumps(message).encode() + b"\n")
        self.relay.stdin.flush()

    def _start(self):
        command = [sys.executable, "-m", "hybrid_memory_mcp", "--home", str(self.home), "--embedder", "static"]
        self.relay = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def _close(self):
        with suppress(OSError):
            self.relay.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self.relay.wait(10)
        self.relay.kill()
        self.relay.wait()
        self.relay.stdout.close()


INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "writer", "version": "0"}}


def let_go(pid):
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


def harm_once(home, draw, writers, counts):
    """Stop, let go on or kill the hub or a relay, and wait until all clients that can be answered were."""
    act = draw.choice(["stop hub", "stop hub", "stop hub briefly", "kill hub", "stop relay", "kill relay", "stop all"])
    counts[act] += 1
    hub, victim = hub_of(home), draw.choice(writers)
    relay = victim.relay
    targets = {"hub": [hub], "relay": [relay.pid], "all": [hub, *(one.relay.pid for one in writers)]}
    pids = [pid for pid in targets[act.split()[1]] if pid is not None]
    begun = time.monotonic()
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL if act.startswith("kill") else signal.SIGSTOP)
    if act in ("stop hub briefly", "stop relay", "stop all"):
        time.sleep(draw.uniform(0.1, 4.0 if act == "stop hub briefly" else STOPPED_SECONDS))
        for pid in pids:
            let_go(pid)
        if act in ("stop relay", "stop all"):
            # A client whose own relay stands cannot be answered, whoever else runs.
            for one in writers if act == "stop all" else [victim]:
                one.relay_stopped += time.monotonic() - begun
    wait_for_answers(writers)


def wait_for_answers(writers):
    """Wait until every client has got another answer: then all of them have met the present hub."""
    before = {one: len(one.waits) for one in writers}
    begun = time.monotonic()
    while any(len(one.waits) <= before[one] for one in writers):
        assert time.monotonic() - begun < 60, "a client waits for ever"
        time.sleep(0.02)


@pytest.mark.stress
@pytest.mark.timeout(3600)
def test_clients_of_hubs_and_relays_that_are_stopped_and_killed_lose_nothing_and_wait_for_none_too_long():
    seconds = float(os.environ.get("STOPPED_HUB_SECONDS", "600"))  # noqa: TID251 - how long this test shall take
    seed = seed_of_one()
    draw, counts, over = random.Random(seed), Counter(), threading.Event()
    with short_folder() as home:
        writers = [Writer(home, f"c{number}", over) for number in range(CLIENTS)]
        for one in writers:
            one.start()
        try:
            wait_for_answers(writers)
            begun = time.monotonic()
            while time.monotonic() - begun < seconds:
                time.sleep(draw.uniform(0, 1.0))
                harm_once(home, draw, writers, counts)
        finally:
            over.set()
            for one in writers:
                one.join(120)
        kept = exported(home)
    report(seed, seconds, counts, writers, kept)
    assert [told for one in writers for told in one.refused] == []
    answered = {word for one in writers for word in one.answered}
    assert sorted(answered - set(kept)) == [], f"lost, seed {seed}"
    assert [word for word, times in kept.items() if times > 1] == [], f"doubled, seed {seed}"
    assert set(kept) - answered <= {word for one in writers for word in one.unknown}
    assert max(waited for one in writers for waited, _ in one.waits) <= ANSWERED_WITHIN, f"seed {seed}"


def exported(home):
    """Return how often each statement is in the store."""
    file = home.with_name("export.jsonl")
    for operation in (["doctor"], ["export", str(file)]):
        subprocess.run([sys.executable, "-m", "hybrid_memory_mcp", *operation, "--home", str(home)], check=True)
    memories = map(json.loads, file.read_text().splitlines())
    return Counter(one["content"].rsplit(" ", 1)[-1] for one in memories if "content" in one)


def report(seed, seconds, counts, writers, kept):
    waits = sorted(waited for one in writers for waited, _ in one.waits)
    unknown = sum(len(one.unknown) for one in writers)
    print(  # noqa: T201 - the figures of the run
        f"seed {seed}, {seconds:.0f} s: {dict(counts)}; {len(kept)} kept, {len(waits)} calls, {unknown} of unknown outcome; "
        f"longest waits {[round(one, 1) for one in waits[-5:]]} s, median {waits[len(waits) // 2] * 1000:.0f} ms"
    )
