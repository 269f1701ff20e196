"""A hub that hangs is replaced as a dead one is; one that is slow is not. With processes, and short times of waiting."""

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import ExitStack

import pytest
from tests.server.hubs import TIMEOUT_SECONDS, relay, short_folder
from tests.server.raw import started
from tests.stress.processes import is_alive

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGSTOP"),
]


@pytest.fixture(autouse=True)
def short_times(monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_PATIENCE", "0.2")
    monkeypatch.setenv("HYBRID_MEMORY_LINGER_SECONDS", "0.2")


@pytest.fixture
def store():
    with short_folder() as folder:
        yield folder


def hub_of(home):
    return int((home / "hub.pid").read_text())


def stop_hub(home):
    """Stop the process of the hub; nothing but a signal will let it go on."""
    os.kill(hub_of(home), signal.SIGSTOP)
    return hub_of(home)


def request(number, tool, arguments):
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


@pytest.mark.slow
def test_a_call_to_a_stopped_hub_is_answered_by_the_next_one_and_done_once(store):
    with relay(store) as first, relay(store) as second:
        for client in (first, second):
            client.initialize()
            client.call(1, "read_memories", query="cello")
        stopped = stop_hub(store)
        for client in (first, second):
            arguments = {"content": f"the cello of {client.process.pid} hangs in the hall"}
            client.send(request(2, "write_memory", arguments))
        answers = [client.receive()["result"] for client in (first, second)]
        assert [answer["isError"] for answer in answers] == [False, False]
        assert not is_alive(stopped)
        assert f"process {stopped} was the hub" in (store / "logs" / "hub.log").read_text()
        assert len(first.call(3, "read_memories", query="cello", limit=100)["structuredContent"]["memories"]) == 2


@pytest.mark.stress
def test_a_client_that_comes_beside_a_stopped_hub_is_initialized(store):
    with relay(store) as first:
        first.initialize()
        stopped = stop_hub(store)
        with relay(store) as second:
            assert second.initialize()["serverInfo"]["name"] == "hybrid-memory-mcp"
        assert "isError" not in first.ask(1, "ping")["result"]
        assert hub_of(store) != stopped


@pytest.mark.daily
@pytest.mark.slow
def test_a_command_beside_a_stopped_hub_says_so_and_is_done(store):
    with relay(store) as client:
        client.initialize()
        client.call(1, "write_memory", content="Ada plays the cello")
        stopped = stop_hub(store)
        done = subprocess.run(
            [sys.executable, "-m", "hybrid_memory_mcp", "status", "--home", str(store), "--json"],
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["memories"] == 1
    assert f"process {stopped}) had hung and was ended" in done.stderr


@pytest.mark.stress
def test_a_relay_that_hosts_the_hub_and_is_stopped_leaves_the_others_to_go_on(store):
    program = ("-c", "import sys; sys.executable = ''; from hybrid_memory_mcp.__main__ import main; main()")
    with relay(store, program=program) as first, ExitStack() as stack:
        first.initialize()  # it hosts the hub before the second one looks for it
        second = stack.enter_context(relay(store, program=program))
        second.initialize()
        assert stop_hub(store) == first.process.pid
        assert second.call(1, "write_memory", content="Ada plays the cello")["isError"] is False
        assert first.process.wait(TIMEOUT_SECONDS) == -signal.SIGKILL
        assert hub_of(store) == second.process.pid


@pytest.mark.slow
def test_a_call_that_takes_long_is_left_to_its_hub(hub, home, service):
    asked = threading.Semaphore(0)
    ask = hub.listener.heartbeat._on_question
    hub.listener.heartbeat._on_question = lambda: (ask(), asked.release())
    with relay(home) as client:
        client.initialize()
        client.send(request(1, "read_memories", {"query": "wait"}))
        service.wait_for(1)
        for _ in range(2):
            assert asked.acquire(timeout=TIMEOUT_SECONDS)
        service.go.set()
        assert client.receive()["result"]["isError"] is False
        assert len(service.begun) == 1


def test_nobody_is_asked_while_nobody_waits(hub, home):
    asked = []
    hub.listener.heartbeat._on_question = lambda: asked.append(1)
    with hub.connected() as client:
        client.call("write_memory", content="Ada")
    assert asked == []


@pytest.mark.stress
def test_while_a_stopped_hub_lives_no_other_process_can_write_its_store(store):
    with relay(store) as client:
        client.initialize()
        client.call(1, "write_memory", content="Ada plays the cello")
        stopped = stop_hub(store)
        # Even one that overlooks the hub's lock: those of the store are the process's own, and end with it.
        (store / "hub.lock").unlink()
        with started(store) as alone:
            alone.initialize()
            refused = alone.call(1, "write_memory", content="Grace plays the organ")
            assert refused["isError"] is True
            assert f"process {stopped}" in refused["content"][0]["text"]
            os.kill(stopped, signal.SIGKILL)
            while alone.call(2, "write_memory", content="Grace plays the organ")["isError"]:
                pass
            client.process.kill()


@pytest.mark.stress
def test_a_stopped_http_server_is_named_to_relays_old_and_new_and_to_commands_and_serves_when_it_goes_on(store):
    command = [sys.executable, "-m", "hybrid_memory_mcp", "serve", "--http", "--port", "0", "--home", str(store)]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as server, relay(store) as old:
        assert b"serving http://" in server.stderr.readline()
        old.initialize()
        old.call(1, "write_memory", content="Ada plays the cello")
        server.send_signal(signal.SIGSTOP)
        for number in range(2, 12):
            old.send(request(number, "read_memories", {"query": "cello"}))
        told = [old.receive() for _ in range(10)]
        assert all("Type `fg`" in one["result"]["content"][0]["text"] for one in told)
        with relay(store) as new:
            new.send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}})
            assert "`serve --http`" in new.receive()["error"]["message"]
            server.send_signal(signal.SIGCONT)
            new.initialize()
        assert old.call(12, "write_memory", content="Grace plays the organ")["isError"] is False
        assert len(old.call(13, "read_memories", query="cello", limit=100)["structuredContent"]["memories"]) == 2
        server.terminate()
        assert server.wait(60) == 0
    assert not (store / "hub.http").exists()


@pytest.mark.stress
def test_after_an_http_server_was_killed_the_next_hub_is_no_persons(store):
    command = [sys.executable, "-m", "hybrid_memory_mcp", "serve", "--http", "--port", "0", "--home", str(store)]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as server, relay(store) as client:
        assert b"serving http://" in server.stderr.readline()
        client.initialize()
        server.kill()
        assert client.call(1, "write_memory", content="Ada")["isError"] is False
        assert not (store / "hub.http").exists()
