"""The hub's side of the heartbeat: a thread that answers, and that sees an event loop which makes no turn."""

import sys
import threading

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest
from tests.server.hubs import TIMEOUT_SECONDS

from hybrid_memory_mcp.hub import heartbeat
from hybrid_memory_mcp.hub.heartbeat import LOOP_TIMEOUT_SECONDS, LoopWatch
from hybrid_memory_mcp.hub.listener import acquire_listener
from hybrid_memory_mcp.relay.connecting import connect, connect_to_heartbeat, hub_is_running

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets")


def is_answered(home):
    connection = connect_to_heartbeat(str(home))
    if connection is None:
        return False
    with connection:
        connection.settimeout(TIMEOUT_SECONDS)
        return connection.recv(1) == b"+"


def test_a_hub_says_that_it_is_there_before_it_serves_anybody(home):
    listener = acquire_listener(home)
    assert is_answered(home)
    listener.close()
    listener.release()
    assert not is_answered(home)


def test_a_hub_that_leaves_says_so_until_it_gives_its_lock_back(home):
    listener = acquire_listener(home)
    listener.close()
    assert connect(str(home)) is None
    assert is_answered(home)
    listener.release()
    assert not hub_is_running(str(home))
    assert sorted(path.name for path in home.iterdir()) == ["hub.lock"]


def test_a_heartbeat_whose_socket_was_removed_is_found_again(home, service):
    listener = acquire_listener(home)
    (home / "hub.beat").unlink()
    assert not listener.is_reachable
    listener.reopen()
    assert listener.is_reachable
    assert is_answered(home)
    listener.close()
    listener.release()


def test_an_event_loop_that_is_blocked_keeps_no_answer_from_anybody(hub, home):
    go = threading.Event()
    hub.portal.start_task_soon(go.wait)
    for _ in range(3):
        assert is_answered(home)
    go.set()


class Times:
    """A clock that the test moves."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now


@pytest.fixture
def times(monkeypatch):
    times = Times()
    monkeypatch.setattr(heartbeat, "time", times)
    return times


@pytest.fixture
def watch():
    """A watch over a loop that makes its turns when the test says so."""
    ended = []
    watch = LoopWatch(ended.append)
    watch.ended, watch.turns = ended, []

    def start_turn():
        watch.turns.append(threading.Event())
        return watch.turns[-1]

    watch._start_turn = start_turn
    return watch


def ask(watch, times, count, seconds):
    for _ in range(count):
        watch.ask()
        times.now += seconds


def test_a_loop_without_a_turn_ends_the_process_after_a_time_of_questions(watch, times):
    ask(watch, times, int(LOOP_TIMEOUT_SECONDS), 1.0)
    assert watch.ended == []
    ask(watch, times, 2, 1.0)
    assert watch.ended[0] == LOOP_TIMEOUT_SECONDS


def test_a_turn_begins_the_time_anew(watch, times):
    for _ in range(10):
        ask(watch, times, int(LOOP_TIMEOUT_SECONDS) - 1, 1.0)
        watch.turns[-1].set()
    assert watch.ended == []


def test_a_process_that_was_stopped_for_an_hour_is_given_time(watch, times):
    ask(watch, times, 2, 3600.0)
    assert watch.ended == []


def test_without_a_loop_nothing_is_asked(watch, times):
    watch._start_turn = None
    ask(watch, times, 100, 1.0)
    assert watch.ended == []


def test_a_loop_that_runs_is_watched_and_makes_its_turn():
    watch = LoopWatch(lambda _: None)

    async def run():
        with watch.watching():
            await anyio.to_thread.run_sync(watch.ask)
            while not watch._turn.is_set():
                await anyio.lowlevel.checkpoint()
        watch.ask()

    anyio.run(run)
    assert watch._start_turn is None
