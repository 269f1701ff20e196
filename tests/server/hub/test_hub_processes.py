"""Relays and hubs as processes, over a real store: who starts whom, who dies, and what stays."""

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import ExitStack

import filelock
import pytest
from tests.server.hubs import TIMEOUT_SECONDS, relay, short_folder
from tests.server.raw import started

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets and signals"),
]


@pytest.fixture(autouse=True)
def variables(monkeypatch):
    for name in ("HOME", "NAMESPACE", "AGENT", "SESSION", "TIMEZONE", "PROMPTS", "EMBEDDER", "LOOPBACK"):
        monkeypatch.delenv(f"HYBRID_MEMORY_{name}", raising=False)
    monkeypatch.setenv("HYBRID_MEMORY_LINGER_SECONDS", "0.2")


@pytest.fixture
def home():
    """A folder for a store; afterwards its hub has left by itself."""
    with short_folder() as folder:
        yield folder
        wait_until_free(folder)


def wait_until_free(home):
    """Wait until no process is the store's hub."""
    if home.is_dir():
        with filelock.FileLock(home / "hub.lock", timeout=TIMEOUT_SECONDS):
            pass


def hub_of(home):
    """Return the process that is the hub; 0 while there is none."""
    try:
        return int((home / "hub.pid").read_text() or 0)
    except FileNotFoundError:
        return 0


def write(client, number, content):
    result = client.call(number, "write_memory", content=content, memory_type="long_term")
    assert result["isError"] is False, result["content"]
    return result["structuredContent"]["id"]


def texts(client, number, query):
    result = client.call(number, "read_memories", query=query, limit=100, token_budget=100_000)
    return sorted(one["text"] for one in result["structuredContent"]["memories"])


@pytest.mark.slow
def test_relays_that_start_together_share_one_hub_which_leaves_after_them(home):
    with ExitStack() as stack:
        clients = [stack.enter_context(relay(home)) for _ in range(3)]
        for client in clients:
            client.initialize()
        hub = hub_of(home)
        for number, client in enumerate(clients):
            write(client, 1, f"fact {number}")
        for client in clients:
            assert texts(client, 2, "fact") == ["fact 0", "fact 1", "fact 2"]
        assert hub_of(home) == hub
        assert hub not in {client.process.pid for client in clients}
    wait_until_free(home)
    assert not (home / "hub.sock").exists()
    assert not (home / "memory.duckdb.wal").exists()
    assert [path.name for path in (home / "logs").iterdir()] == ["hub.log"]
    assert (home / "logs" / "hub.log").read_bytes() == b""


WORDS = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heath"]
WORDS += ["islet", "jetty", "knoll", "larch", "marsh", "north", "ocean", "poppy"]


@pytest.mark.slow
def test_a_hub_killed_in_the_middle_of_writes_costs_no_write_and_doubles_none(home):
    killed = []
    with relay(home) as first, relay(home) as second:
        for client in (first, second):
            client.initialize()

        def kill():
            hub = hub_of(home)
            if hub not in killed:
                killed.append(hub)
                os.kill(hub, signal.SIGKILL)

        ids = {}

        def fill(client, name):
            for number, word in enumerate(WORDS, 1):
                ids[name, word] = write(client, number, f"{name} found {word}")
                if name == "Ada" and number in (4, 10):
                    kill()

        other = threading.Thread(target=fill, args=(second, "Grace"))
        other.start()
        fill(first, "Ada")
        other.join()
        assert len(killed) == 2
        assert len(set(ids.values())) == len(ids) == 2 * len(WORDS)
        for name in ("Ada", "Grace"):
            found = [text for text in texts(first, 100, f"what {name} found") if text.startswith(name)]
            assert found == sorted(f"{name} found {word}" for word in WORDS)
        assert "isError" not in first.ask(101, "ping")["result"]


SANDBOXED = """
import sys
sys.executable = ""
from hybrid_memory_mcp.__main__ import main
main()
"""


@pytest.mark.slow
def test_where_no_process_can_be_started_one_relay_serves_all_and_another_takes_over(home):
    alone = b"this process serves its client itself"
    with ExitStack() as stack, ExitStack() as until_it_leaves:
        first = until_it_leaves.enter_context(relay(home, program=("-c", SANDBOXED)))
        first.initialize()
        assert alone in first.process.stderr.readline()
        second = stack.enter_context(relay(home, program=("-c", SANDBOXED)))
        second.initialize()
        write(second, 1, "Ada plays the cello")
        assert texts(first, 1, "cello") == ["Ada plays the cello"]
        assert hub_of(home) == first.process.pid
        until_it_leaves.close()
        assert first.process.returncode == 0
        assert texts(second, 2, "cello") == ["Ada plays the cello"]
        write(second, 3, "Grace plays the organ")
        assert hub_of(home) == second.process.pid
        assert alone in second.process.stderr.readline()
    wait_until_free(home)
    assert not (home / "memory.duckdb.wal").exists()


@pytest.mark.slow
def test_a_home_that_cannot_be_made_is_told_at_each_call_and_ends_nothing(tmp_path):
    (tmp_path / "file").write_text("mine")
    home = tmp_path / "file" / "home"
    with relay(home) as client:
        client.initialize()
        for number in (1, 2):
            refused = client.call(number, "read_memories")
            assert refused["isError"] is True
            assert "cannot be written" in refused["content"][0]["text"]
            assert str(tmp_path) not in refused["content"][0]["text"]
        assert client.ask(3, "tools/list")["result"]["tools"]
    assert client.process.returncode == 0


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write everywhere")
def test_a_home_that_is_read_only_is_told_at_each_call(home):
    home.mkdir(0o500)
    with relay(home) as client:
        client.initialize()
        assert client.call(1, "read_memories")["isError"] is True
    home.chmod(0o700)


@pytest.mark.stress
def test_a_server_alone_beside_a_hub_is_refused_by_its_process_and_served_when_it_is_gone(home):
    with started(home) as alone:
        with relay(home) as client:
            client.initialize()
            write(client, 1, "Ada plays the cello")
            alone.initialize()
            refused = alone.call(1, "read_memories", query="cello")
            assert refused["isError"] is True
            assert f"process {hub_of(home)}" in refused["content"][0]["text"]
        wait_until_free(home)
        assert texts(alone, 2, "cello") == ["Ada plays the cello"]


@pytest.mark.stress
def test_a_hub_that_is_asked_to_end_lets_clients_go_on_with_another(home):
    with relay(home) as client:
        client.initialize()
        write(client, 1, "Ada plays the cello")
        former = hub_of(home)
        os.kill(former, signal.SIGTERM)
        number = 2
        while hub_of(home) in (0, former):
            assert texts(client, number, "cello") == ["Ada plays the cello"]
            number += 1
        assert texts(client, number, "cello") == ["Ada plays the cello"]


class Killer(threading.Thread):
    """Kills the hub of the moment each time that so many writes were answered, until all are said to be."""

    def __init__(self, home, every):
        super().__init__()
        self.home, self.every = home, every
        self.answers = threading.Semaphore(0)
        self.over = False
        self.dead = set()

    def run(self):
        while True:
            for _ in range(self.every):
                self.answers.acquire()
            if self.over:
                return
            hub = hub_of(self.home)
            if hub and hub not in self.dead:
                self.dead.add(hub)
                os.kill(hub, signal.SIGKILL)

    def stop(self):
        self.over = True
        self.answers.release(self.every)
        self.join()


def status_of(home):
    command = [sys.executable, "-m", "hybrid_memory_mcp", "status", "--home", str(home), "--json"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.stress
@pytest.mark.timeout(900)
def test_hubs_killed_again_and_again_lose_and_double_nothing(home):
    ids = {}

    def fill(client, name):
        for number in range(1, 101):
            ids[name, number] = write(client, number, f"{name} counted {WORDS[number % 16]} to {number * 7}")
            killer.answers.release()

    with ExitStack() as stack:
        clients = {name: stack.enter_context(relay(home)) for name in ("Ada", "Grace", "Edsger", "Barbara")}
        for client in clients.values():
            client.initialize()
        killer = Killer(home, every=40)
        killer.start()
        writers = [threading.Thread(target=fill, args=(client, name)) for name, client in clients.items()]
        for one in writers:
            one.start()
        for one in writers:
            one.join()
        killer.stop()
        assert len(killer.dead) >= 5
        assert len(set(ids.values())) == 400
        assert status_of(home)["memories"] == 400
