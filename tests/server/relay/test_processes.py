"""Which process is the hub, and that no other one is ever ended."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from hybrid_memory_mcp.relay import heartbeat, paths, processes
from hybrid_memory_mcp.relay.processes import Process, identity_of, lock_holders

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="what Linux tells of processes")

HOLDER = """
import sys
from hybrid_memory_mcp.relay.connecting import StoreLock
lock = StoreLock(sys.argv[1], sys.argv[2])
assert lock.try_acquire()
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def holder(home):
    """A process that holds the hub's lock."""
    home.mkdir()
    command = [sys.executable, "-c", HOLDER, str(home), paths.HUB_LOCK]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        yield process
        process.kill()


@pytest.fixture
def bystander():
    with subprocess.Popen(["sleep", "1000"]) as process:
        yield process
        process.kill()


def test_the_holder_of_the_lock_is_known_and_is_the_hub(home, holder):
    lock = identity_of(str(home / paths.HUB_LOCK))
    assert lock_holders(lock) == [holder.pid]
    assert heartbeat._find_process(str(home), None).pid == holder.pid


def test_a_process_that_holds_another_lock_is_not(home, holder):
    other = home / "other"
    other.mkdir()
    (other / paths.HUB_LOCK).touch()
    assert heartbeat._find_process(str(other), None) is None
    assert not Process(holder.pid).holds(identity_of(str(other / paths.HUB_LOCK)))


def test_what_a_file_says_about_the_hubs_process_is_not_believed(home, holder, bystander):
    (home / paths.PID).write_text(f"{bystander.pid}\n")
    assert heartbeat._find_process(str(home), None).pid == holder.pid


def test_who_listens_and_does_not_hold_the_lock_is_not_the_hub(home, holder, monkeypatch, bystander):
    monkeypatch.setattr(processes, "peer_of", lambda _: (bystander.pid, os.geteuid()))
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert heartbeat._find_process(str(home), ours) is None


def test_a_process_that_only_has_the_lock_file_open_does_not_hold_it(home, holder):
    with (home / paths.HUB_LOCK).open():
        assert not Process(os.getpid()).holds(identity_of(str(home / paths.HUB_LOCK)))
    assert Process(holder.pid).holds(identity_of(str(home / paths.HUB_LOCK)))


def test_a_lock_that_changed_hands_saves_its_former_holder(home, holder):
    found = heartbeat._find_process(str(home), None)
    hung = heartbeat.HungHub(str(home), found, 5.0)
    (home / paths.HUB_LOCK).unlink()
    (home / paths.HUB_LOCK).touch()
    assert hung.end()
    assert holder.poll() is None


def test_the_process_is_ended_also_when_it_is_stopped(home, holder):
    os.kill(holder.pid, signal.SIGSTOP)
    found = heartbeat._find_process(str(home), None)
    while not found.is_stopped():
        pass
    assert heartbeat.HungHub(str(home), found, 5.0).end()
    assert holder.wait(60) == -signal.SIGKILL


@pytest.mark.parametrize("handles", [True, False])
def test_a_later_process_of_the_same_number_is_not_ended(bystander, monkeypatch, handles):
    if not handles:
        monkeypatch.setattr(processes, "_handle_of", lambda _: -1)
    gone = subprocess.Popen(["true"])
    former = Process(gone.pid)
    gone.wait()
    former.pid, former._began = bystander.pid, ["1"]
    assert former.kill()
    assert bystander.poll() is None


def test_a_process_is_told_to_compute_or_to_wait(bystander):
    assert Process(os.getpid()).cpu_seconds() > 0
    assert Process(os.getpid()).is_at_work()
    assert Process(bystander.pid).cpu_seconds() == 0
    assert not Process(bystander.pid).is_stopped()
    # On a busy machine it may not have come to its sleep yet.
    assert any(not Process(bystander.pid).is_at_work() for _ in range(100_000))


def test_a_process_that_is_gone_is_none():
    gone = subprocess.Popen(["true"])
    gone.wait()
    with pytest.raises(OSError, match="process"):
        Process(gone.pid)


def test_the_other_end_of_a_socket_is_known():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert processes.peer_of(ours) == (os.getpid(), os.geteuid())
        assert processes.is_of_this_user(ours)


@pytest.mark.slow
def test_questions_leave_no_descriptor_open(home, holder):
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        assert heartbeat.find_hung_hub(str(home), lambda: True) is None
    assert len(list(Path("/proc/self/fd").iterdir())) == before
