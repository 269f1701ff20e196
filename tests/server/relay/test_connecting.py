"""Finding a hub, and who may start one."""

import socket
import sys
import time

import pytest

from hybrid_memory_mcp.relay import connecting, paths
from hybrid_memory_mcp.relay.connecting import HubNotAnswering, HubUnavailable, StoreLock

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets")


@pytest.fixture
def started(monkeypatch):
    """The folders for which a hub would have been started."""
    homes = []

    class Child:
        def poll(self):
            return None

    monkeypatch.setattr(connecting, "start_hub", lambda home, *_: homes.append(home) or Child())
    return homes


def found_after(monkeypatch, attempts):
    """Let a hub be found at the last of some attempts."""
    ours, theirs = socket.socketpair()
    theirs.close()
    tries = iter([None] * (attempts - 1) + [ours])
    monkeypatch.setattr(connecting, "connect", lambda _: next(tries))
    return ours


def test_a_hub_is_started_once_however_long_it_takes_to_answer(home, started, monkeypatch):
    with found_after(monkeypatch, 10) as connection:
        assert connecting.connect_or_start(str(home), None, {}) is connection
    assert started == [str(home)]


def test_none_is_started_where_one_answers_or_another_relay_just_starts_one(home, started, monkeypatch):
    with found_after(monkeypatch, 1):
        connecting.connect_or_start(str(home), None, {})
    home.mkdir()
    other = StoreLock(str(home), paths.START_LOCK)
    assert other.try_acquire()
    with found_after(monkeypatch, 10):
        connecting.connect_or_start(str(home), None, {})
    other.release()
    assert started == []


def test_none_is_started_before_its_time(home, started, monkeypatch):
    with found_after(monkeypatch, 10):
        connecting.connect_or_start(str(home), None, {}, time.monotonic() + 1000)
    assert started == []


def test_the_right_to_start_one_is_given_back(home, started, monkeypatch):
    with found_after(monkeypatch, 3):
        connecting.connect_or_start(str(home), None, {})
    lock = StoreLock(str(home), paths.START_LOCK)
    assert lock.try_acquire()
    lock.release()


def test_a_hub_that_cannot_be_started_or_does_not_answer_is_none(home, started, monkeypatch):
    monkeypatch.setattr(connecting, "START_TIMEOUT_SECONDS", 0.02)
    with pytest.raises(HubUnavailable):
        connecting.connect_or_start(str(home), None, {})
    monkeypatch.setattr(connecting, "START_TIMEOUT_SECONDS", 1000)

    def fail(*_):
        raise PermissionError

    monkeypatch.setattr(connecting, "start_hub", fail)
    with pytest.raises(HubUnavailable):
        connecting.connect_or_start(str(home), None, {})


def test_a_hub_that_fails_at_once_is_not_waited_for(home, monkeypatch):
    monkeypatch.setattr(connecting, "START_TIMEOUT_SECONDS", 1000)

    class Child:
        def poll(self):
            return 1

    monkeypatch.setattr(connecting, "start_hub", lambda *_: Child())
    with pytest.raises(HubUnavailable):
        connecting.connect_or_start(str(home), None, {})


def test_a_process_that_holds_the_lock_and_never_answers_is_told_apart_from_none(home, started, monkeypatch):
    monkeypatch.setattr(connecting, "START_TIMEOUT_SECONDS", 0.02)
    monkeypatch.setattr(connecting, "BUSY_TIMEOUT_SECONDS", 0.05)
    home.mkdir()
    holder = StoreLock(str(home), paths.HUB_LOCK)
    assert holder.try_acquire()
    with pytest.raises(HubNotAnswering):
        connecting.connect_or_start(str(home), None, {})
    holder.release()


class Process:
    """Takes the place of a process that is started."""

    def __init__(self, command, **options):
        self.command, self.options = command, options


def test_a_hub_gets_the_stores_variables_and_none_of_the_clients(home, monkeypatch):
    monkeypatch.setattr("subprocess.Popen", Process)
    home.mkdir()
    names = ("HOME", "NAMESPACE", "AGENT", "SESSION", "TIMEZONE", "PROMPTS", "PROJECT", "HOOKS")
    clients = {f"HYBRID_MEMORY_{name}": "x" for name in names} | {"TZ": "Asia/Tokyo"}
    kept = {"HYBRID_MEMORY_SENSORY_BUFFER": "2", "PATH": "/bin"}
    process = connecting.start_hub(str(home), "fastembed:x", clients | kept)
    assert process.options["env"] == kept
    assert process.command[-4:] == ["--home", str(home), "--embedder", "fastembed:x"]
    assert process.options["start_new_session"] is True
    assert process.options["cwd"] == str(home)


def test_a_log_that_has_grown_is_put_aside(home, monkeypatch):
    monkeypatch.setattr("subprocess.Popen", Process)
    (home / "logs").mkdir(parents=True)
    (home / "logs" / "hub.log").write_bytes(b"x" * (1024 * 1024 + 1))
    connecting.start_hub(str(home), None, {})
    assert (home / "logs" / "hub.log").stat().st_size == 0
    assert (home / "logs" / "hub.log.1").stat().st_size == 1024 * 1024 + 1
