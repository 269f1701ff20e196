"""When silence means that a hub has hung: rules about what its process does, with a clock of the test."""

import socket
import sys

import pytest

from hybrid_memory_mcp.relay import connecting, heartbeat, paths
from hybrid_memory_mcp.relay.connecting import HubNotAnswering, StoreLock, replace_hung_hub
from hybrid_memory_mcp.relay.heartbeat import BLIND_SILENCE_SECONDS, BUSY_SILENCE_SECONDS, SILENCE_SECONDS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Unix sockets")
TICK = 0.25


class FakeProcess:
    """What the system tells of a process: stopped or not, at work or not, and the part of its time that it computes."""

    def __init__(self, clock, *, stopped=False, at_work=False, computes=0.0, killable=True):
        self.pid = 4711
        self.killed = False
        self._clock, self._computes, self._killable = clock, computes, killable
        self.is_stopped, self.is_at_work = lambda: stopped, lambda: at_work

    def cpu_seconds(self):
        return None if self._computes is None else self._clock.now * self._computes

    def kill(self):
        self.killed = self._killable
        return self._killable

    def close(self):
        pass


class Clock:
    """Time that passes a tick with each wait; ``pauses`` says by how much more some of the waits take, and which the machine slept."""

    def __init__(self):
        self.now, self.asleep, self.waits = 1000.0, 0.0, 0
        self.pauses, self.sleeps = {}, {}

    def wait(self, *_):
        self.waits += 1
        self.now += TICK + self.pauses.get(self.waits, 0)
        self.asleep += self.sleeps.get(self.waits, 0)
        return [], [], []


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(heartbeat.time, "monotonic", lambda: clock.now)
    monkeypatch.setattr(heartbeat.time, "sleep", clock.wait)
    monkeypatch.setattr(heartbeat.select, "select", clock.wait)
    monkeypatch.setattr(heartbeat, "_seconds_asleep", lambda: clock.asleep)
    monkeypatch.setattr(connecting, "hub_is_running", lambda _: True)
    monkeypatch.setattr(heartbeat, "_is_hub", lambda *_: True)
    return clock


@pytest.fixture
def connected(monkeypatch):
    ours, theirs = socket.socketpair()
    monkeypatch.setattr(connecting, "connect_to_heartbeat", lambda _: ours)
    yield theirs
    ours.close()
    theirs.close()


def silence_until_hung(monkeypatch, clock, process, home="/nowhere"):
    """Return after how many seconds a silent hub counts as hung; None if it never does."""
    monkeypatch.setattr(heartbeat, "_find_process", lambda *_: process)
    begun = clock.now
    hung = heartbeat.find_hung_hub(home, lambda: True)
    return None if hung is None else clock.now - begun


@pytest.mark.parametrize(
    ("what", "limit"),
    [
        ({"stopped": True}, SILENCE_SECONDS),
        ({}, SILENCE_SECONDS),
        ({"computes": 1.0}, BUSY_SILENCE_SECONDS),
        ({"computes": 0.1}, BUSY_SILENCE_SECONDS),
        ({"at_work": True}, BUSY_SILENCE_SECONDS),
        ({"computes": None}, BLIND_SILENCE_SECONDS),
    ],
)
def test_a_silent_hub_has_hung_the_sooner_the_less_its_process_does(clock, connected, monkeypatch, what, limit):
    assert silence_until_hung(monkeypatch, clock, FakeProcess(clock, **what)) == pytest.approx(limit, abs=2 * TICK)


def test_one_whose_process_is_not_known_has_hung_too(clock, connected, monkeypatch):
    assert silence_until_hung(monkeypatch, clock, None) == pytest.approx(BLIND_SILENCE_SECONDS, abs=2 * TICK)


def test_all_limits_leave_time_for_the_next_hub_within_15_seconds():
    assert connecting.ASK_AFTER_SECONDS * 2 + max(SILENCE_SECONDS, BLIND_SILENCE_SECONDS) <= 10


@pytest.mark.parametrize("kind", ["pauses", "sleeps"])
def test_a_pause_of_this_process_or_of_the_machine_begins_the_count_anew(clock, connected, monkeypatch, kind):
    getattr(clock, kind)[15] = 3600.0
    seconds = silence_until_hung(monkeypatch, clock, FakeProcess(clock, stopped=True))
    slept = 3600.0 if kind == "pauses" else 0.0
    assert seconds - slept == pytest.approx(15 * TICK + SILENCE_SECONDS, abs=3 * TICK)


def test_short_pauses_of_this_process_do_not_count(clock, connected, monkeypatch):
    clock.pauses = dict.fromkeys(range(1000), 2.0)
    silence_until_hung(monkeypatch, clock, FakeProcess(clock, stopped=True))
    assert clock.waits * TICK >= SILENCE_SECONDS / 2


def test_an_answer_or_the_end_of_the_connection_is_no_silence(clock, connected, monkeypatch):
    monkeypatch.setattr(heartbeat.select, "select", lambda read, *_: (read, [], []))
    assert silence_until_hung(monkeypatch, clock, FakeProcess(clock, stopped=True)) is None


def test_nobody_asks_on_when_nobody_waits(clock, connected, monkeypatch):
    monkeypatch.setattr(heartbeat, "_find_process", lambda *_: FakeProcess(clock, stopped=True))
    assert heartbeat.find_hung_hub("/nowhere", lambda: clock.waits < 3) is None
    assert clock.waits == 3


@pytest.mark.parametrize(("stopped", "hangs"), [(True, True), (False, False)])
def test_one_without_a_heartbeat_has_hung_only_if_it_is_stopped(clock, monkeypatch, stopped, hangs):
    monkeypatch.setattr(connecting, "connect_to_heartbeat", lambda _: None)
    seconds = silence_until_hung(monkeypatch, clock, FakeProcess(clock, stopped=stopped))
    assert (seconds is not None) is hangs
    assert clock.now - 1000 <= SILENCE_SECONDS + TICK


def test_where_no_hub_is_none_has_hung(home):
    home.mkdir()
    assert heartbeat.find_hung_hub(str(home), lambda: True) is None


def test_one_that_has_hung_is_ended_and_the_log_says_so(clock, connected, monkeypatch, home):
    process = FakeProcess(clock, stopped=True)
    monkeypatch.setattr(heartbeat, "_find_process", lambda *_: process)
    home.mkdir()
    assert replace_hung_hub(str(home), lambda: True) == 4711
    assert process.killed
    assert "process 4711 was the hub" in (home / "logs" / "hub.log").read_text()


@pytest.mark.parametrize("known", [True, False])
def test_one_that_cannot_be_ended_is_explained(clock, connected, monkeypatch, home, known):
    process = FakeProcess(clock, stopped=True, killable=False) if known else None
    monkeypatch.setattr(heartbeat, "_find_process", lambda *_: process)
    home.mkdir()
    with pytest.raises(HubNotAnswering, match=r"has hung: it has said nothing for . s") as told:
        replace_hung_hub(str(home), lambda: True)
    assert ("(process 4711)" in str(told.value)) is known


def test_one_that_somebody_else_ended_meanwhile_is_left_alone(clock, connected, monkeypatch, home):
    process = FakeProcess(clock, stopped=True)
    monkeypatch.setattr(heartbeat, "_find_process", lambda *_: process)
    monkeypatch.setattr(heartbeat, "_is_hub", lambda *_: False)
    replace_hung_hub(str(home), lambda: True)
    assert not process.killed


def test_this_process_is_never_taken_for_a_hub_to_end(home):
    home.mkdir()
    lock = StoreLock(str(home), paths.HUB_LOCK)
    assert lock.try_acquire()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(home / "hub.beat"))
        listening.listen()
        connection = connecting.connect_to_heartbeat(str(home))
        assert heartbeat._find_process(str(home), connection) is None
        connection.close()
    lock.release()


def test_a_bad_patience_is_none():
    assert paths.patience({"HYBRID_MEMORY_PATIENCE": "much"}) == 1.0
    assert paths.patience({"HYBRID_MEMORY_PATIENCE": "0.5"}) == 0.5


@pytest.fixture
def serving_http(tmp_path):
    """The folder of a hub that said that it serves HTTP."""
    (tmp_path / paths.HTTP).write_text("4711\n")
    return str(tmp_path)


@pytest.mark.parametrize("what", [{"stopped": True}, {"computes": None}])
def test_a_server_that_a_person_started_and_stopped_is_named_and_not_ended(
    clock, connected, monkeypatch, serving_http, what
):
    process = FakeProcess(clock, **what)
    monkeypatch.setattr(heartbeat, "_find_process", lambda *_: process)
    with pytest.raises(HubNotAnswering, match=r"`serve --http` \(process 4711\), is stopped.*`fg`.*`kill -9 4711`"):
        replace_hung_hub(serving_http, lambda: True)
    assert not process.killed


def test_a_server_that_a_person_started_and_that_hangs_is_ended(clock, connected, monkeypatch, serving_http):
    process = FakeProcess(clock)
    monkeypatch.setattr(heartbeat, "_find_process", lambda *_: process)
    assert replace_hung_hub(serving_http, lambda: True) == 4711
    assert process.killed


def test_a_mark_that_is_a_link_saves_no_hub(clock, connected, monkeypatch, tmp_path):
    (tmp_path / "elsewhere").write_text("4711\n")
    (tmp_path / paths.HTTP).symlink_to(tmp_path / "elsewhere")
    process = FakeProcess(clock, stopped=True)
    monkeypatch.setattr(heartbeat, "_find_process", lambda *_: process)
    assert replace_hung_hub(str(tmp_path), lambda: True) == 4711
