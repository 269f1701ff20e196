"""A hub in the process of a relay that could not start one, and who may start one."""

import socket
import sys
import threading
import time

import pytest
from tests.server.fakes import FakeService
from tests.server.hubs import PATIENCE, Guest, RealHub
from tests.server.raw import MODERN

from hybrid_memory_mcp.hub import hosting
from hybrid_memory_mcp.relay import frames, places, reaching, spawning
from hybrid_memory_mcp.relay.reaching import HubBusy, NoHub, connect
from hybrid_memory_mcp.relay.spawning import FileLock

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets")


class Held(FakeService):
    def __init__(self):
        super().__init__()
        self.begun, self.go = threading.Event(), threading.Event()

    def read(self, scope, request):
        self.begun.set()
        assert self.go.wait(PATIENCE)
        return super().read(scope, request)


@pytest.fixture
def fake(monkeypatch):
    service = Held()
    service.opened_with = []

    def open_service(_home, embedder, *_):
        service.opened_with.append(embedder)
        return service

    monkeypatch.setattr(hosting, "open_service", open_service)
    yield service
    service.go.set()


def reading(guest):
    params = {"name": "read_memories", "arguments": {}, "_meta": MODERN}
    return guest.request(1, "tools/call", **params)


def test_a_process_that_hosts_the_hub_serves_itself_with_its_embedder_and_others(home, fake):
    connection, stop = hosting.host(str(home), "fastembed:x")
    own, other = Guest(connection).welcomed(), Guest(connect(str(home))).welcomed()
    assert own.call("write_memory", content="Ada")["isError"] is False
    assert other.call("write_memory", content="Grace")["isError"] is False
    assert fake.opened_with == ["fastembed:x"]
    other.close()
    stop()
    assert fake.closed
    assert connect(str(home)) is None
    assert not spawning.hub_is_there(str(home))


def test_others_get_their_answers_when_the_hosts_client_leaves(home, fake):
    _, stop = hosting.host(str(home), None)
    other = Guest(connect(str(home))).welcomed()
    number = reading(other)
    assert fake.begun.wait(PATIENCE)
    stopping = threading.Thread(target=stop)
    stopping.start()
    while (stranger := connect(str(home))) is not None:
        stranger.close()
    assert not fake.closed
    fake.go.set()
    answered, message = other.answer()
    assert (answered, message["result"]["isError"]) == (number, False)
    assert other.hear(frames.LEAVING) is not None
    stopping.join()
    other.close()


def test_who_wants_to_host_while_another_is_the_hub_is_sent_there(home, fake):
    with RealHub(home, FakeService()), pytest.raises(ConnectionError):
        hosting.host(str(home), None)


@pytest.fixture
def started(monkeypatch):
    """The folders for which a hub would have been started."""
    homes = []

    class Child:
        def poll(self):
            return None

    monkeypatch.setattr(reaching, "start_hub", lambda home, *_: homes.append(home) or Child())
    return homes


def found_after(monkeypatch, attempts):
    """Let a hub be found at the last of some attempts."""
    ours, theirs = socket.socketpair()
    theirs.close()
    tries = iter([None] * (attempts - 1) + [ours])
    monkeypatch.setattr(reaching, "connect", lambda _: next(tries))
    return ours


def test_a_hub_is_started_once_however_long_it_takes_to_answer(home, started, monkeypatch):
    with found_after(monkeypatch, 10) as connection:
        assert reaching.reach(str(home), None, {}) is connection
    assert started == [str(home)]


def test_none_is_started_where_one_answers_or_another_relay_just_starts_one(home, started, monkeypatch):
    with found_after(monkeypatch, 1):
        reaching.reach(str(home), None, {})
    home.mkdir()
    other = FileLock(str(home), places.START_LOCK)
    assert other.take()
    with found_after(monkeypatch, 10):
        reaching.reach(str(home), None, {})
    other.release()
    assert started == []


def test_none_is_started_before_its_time(home, started, monkeypatch):
    with found_after(monkeypatch, 10):
        reaching.reach(str(home), None, {}, time.monotonic() + 1000)
    assert started == []


def test_the_right_to_start_one_is_given_back(home, started, monkeypatch):
    with found_after(monkeypatch, 3):
        reaching.reach(str(home), None, {})
    lock = FileLock(str(home), places.START_LOCK)
    assert lock.take()
    lock.release()


def test_a_hub_that_cannot_be_started_or_does_not_answer_is_none(home, started, monkeypatch):
    monkeypatch.setattr(reaching, "PATIENCE", 0.02)
    with pytest.raises(NoHub):
        reaching.reach(str(home), None, {})
    monkeypatch.setattr(reaching, "PATIENCE", 1000)

    def fail(*_):
        raise PermissionError

    monkeypatch.setattr(reaching, "start_hub", fail)
    with pytest.raises(NoHub):
        reaching.reach(str(home), None, {})


def test_a_hub_that_fails_at_once_is_not_waited_for(home, monkeypatch):
    monkeypatch.setattr(reaching, "PATIENCE", 1000)

    class Child:
        def poll(self):
            return 1

    monkeypatch.setattr(reaching, "start_hub", lambda *_: Child())
    with pytest.raises(NoHub):
        reaching.reach(str(home), None, {})


def test_a_process_that_holds_the_lock_and_never_answers_is_told_apart_from_none(home, started, monkeypatch):
    monkeypatch.setattr(reaching, "PATIENCE", 0.02)
    monkeypatch.setattr(reaching, "LONG_PATIENCE", 0.05)
    home.mkdir()
    holder = FileLock(str(home), places.HUB_LOCK)
    assert holder.take()
    with pytest.raises(HubBusy):
        reaching.reach(str(home), None, {})
    holder.release()


class Process:
    """Takes the place of a process that is started."""

    def __init__(self, command, **options):
        self.command, self.options = command, options


def test_a_hub_gets_the_stores_variables_and_none_of_the_clients(home, monkeypatch):
    monkeypatch.setattr("subprocess.Popen", Process)
    home.mkdir()
    names = ("HOME", "NAMESPACE", "AGENT", "SESSION", "TIMEZONE", "PROMPTS")
    clients = {f"HYBRID_MEMORY_{name}": "x" for name in names} | {"TZ": "Asia/Tokyo"}
    kept = {"HYBRID_MEMORY_SENSORY_BUFFER": "2", "PATH": "/bin"}
    process = spawning.start_hub(str(home), "fastembed:x", clients | kept)
    assert process.options["env"] == kept
    assert process.command[-4:] == ["--home", str(home), "--embedder", "fastembed:x"]
    assert process.options["start_new_session"] is True
    assert process.options["cwd"] == str(home)


def test_a_log_that_has_grown_is_put_aside(home, monkeypatch):
    monkeypatch.setattr("subprocess.Popen", Process)
    (home / "logs").mkdir(parents=True)
    (home / "logs" / "hub.log").write_bytes(b"x" * (1024 * 1024 + 1))
    spawning.start_hub(str(home), None, {})
    assert (home / "logs" / "hub.log").stat().st_size == 0
    assert (home / "logs" / "hub.log.1").stat().st_size == 1024 * 1024 + 1
