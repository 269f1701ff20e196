"""Telling a hub that has hung from one that is slow, or gone, and ending it: `find_hung_hub`, asked by anyone who waits for one.

A hub has a second socket, which a thread of its own answers (``hub/heartbeat.py``). Nobody asks it while nobody waits, so an idle
machine is not kept awake. A hub has hung when this thread says nothing, and

* the process is stopped, or none of its threads computes, waits for its turn to or for a disk: `SILENCE_SECONDS`;
* otherwise, as with a machine that is overloaded or swaps, or an endless loop that lets no other thread run: `BUSY_SILENCE_SECONDS`;
* where the system does not tell what a process does (macOS, BSD): `BLIND_SILENCE_SECONDS`.

It is ended, unless a person started it to serve HTTP and it may only be stopped: ``serve --http`` after Ctrl-Z goes on with ``fg``.

Only time counts in which this process ran too: after a stop of a whole group of processes, or a sleep of the machine, it is counted
again. How long a call takes does not matter, and neither does who else waits.
"""

from __future__ import annotations

import os
import select
import socket
import time

from hybrid_memory_mcp.relay import connecting, paths, processes
from hybrid_memory_mcp.relay.processes import Process

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# A thread that only answers waits for the interpreter at most: tenths of a second while another thread collects garbage or makes
# JSON of the longest answer. With the start of the next hub (one to three seconds) calls are answered within 15 s.
SILENCE_SECONDS = 4.0 * connecting.PATIENCE
BLIND_SILENCE_SECONDS = 8.0 * connecting.PATIENCE
BUSY_SILENCE_SECONDS = 30.0 * connecting.PATIENCE

_TICK_SECONDS = min(0.25, SILENCE_SECONDS / 5)
# A wait that took so much longer than a tick: this process was stopped, or the machine slept.
_GAP_SECONDS = 3.0 * connecting.PATIENCE
_COMPUTES = 0.02  # of its time: less is what the system counts by chance


class HungHub:
    """A hub that has hung. ``pid`` is None where its process is not known for certain; then it cannot be ended.

    ``is_a_persons`` tells one that serves HTTP and is stopped, as far as the system tells: a person started it, nobody would start
    its like again, and it goes on where it stood.
    """

    def __init__(self, home: str, process: Process | None, seconds: float) -> None:
        self.pid = process.pid if process is not None else None
        self.seconds = seconds
        self.is_a_persons = (
            process is not None and (process.is_stopped() or process.cpu_seconds() is None) and _serves_http(home)
        )
        self._home = home
        self._process = process

    def end(self) -> bool:
        """Kill it, so that the system gives its locks to the next hub; True too if somebody else did, False if it cannot be done.

        The locks of the store are the system's: while this process lives, no other can open the store, whatever is done here.
        """
        if self._process is None:
            return False
        if not _is_hub(self._process, self._home):
            self._process.close()
            return True
        killed = self._process.kill()
        self._process.close()
        if killed:
            _note(self._home, f"process {self.pid} was the hub, said nothing for {self.seconds:.0f} s and was ended")
        return killed

    def spare(self) -> None:
        """Let it be."""
        if self._process is not None:
            self._process.close()

    def describe(self) -> str:
        """Return who has hung, for a sentence."""
        return "the memory's hub" if self.pid is None else f"the memory's hub (process {self.pid})"


def find_hung_hub(home: str, wanted: Callable[[], bool]) -> HungHub | None:
    """Ask the hub whether it is there, and wait for its answer as long as it takes to be sure.

    ``wanted`` is called several times a second; once it returns False nobody waits for the hub any more. Returns None then, when
    the hub answers, and when there is none; at the latest after `BUSY_SILENCE_SECONDS` of silence.
    """
    question = _Question(home)
    try:
        while True:
            if question.answered() or not wanted():
                return None
            hung = question.judge()
            if hung is not None:
                return hung
            if question.is_over():
                return None
    finally:
        question.close()


class _Question:
    """One question to a hub, and what was seen of its process since."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._connection: socket.socket | None = None
        self._time = _RunningTime()
        self._observed: _Observed | None = None

    def answered(self) -> bool:
        """Wait a tick for an answer; True if the hub answered, closed the connection, or is gone."""
        if self._connection is None:
            self._connection = connecting.connect_to_heartbeat(self._home)
        if self._connection is not None:
            if select.select([self._connection], [], [], _TICK_SECONDS)[0]:
                return True
        elif connecting.hub_is_running(self._home):
            # An older hub, one whose socket was cleaned away, or one that has not come to listen.
            time.sleep(_TICK_SECONDS)
        else:
            return True
        if not self._time.count():
            self._forget()
        return False

    def judge(self) -> HungHub | None:
        """Return the hub if it has hung."""
        if self._observed is None:
            self._observed = _Observed(_find_process(self._home, self._connection))
        self._observed.look()
        silent = self._time.seconds
        if silent < self._observed.limit(silent, can_answer=self._connection is not None):
            return None
        if os.name == "posix" and not connecting.hub_is_running(self._home):
            return None  # whoever is silent there is no hub; on Windows nobody knows
        hung = HungHub(self._home, self._observed.process, silent)
        self._observed = None  # from here on the process is its own
        return hung

    def is_over(self) -> bool:
        """Return True if nothing else can be learned: it is silent for too long, or has no heartbeat and is not stopped."""
        assert self._observed is not None  # noqa: S101 - `judge` was called
        has_no_heartbeat = self._connection is None and not self._observed.always_stopped
        return has_no_heartbeat or self._time.seconds >= BUSY_SILENCE_SECONDS

    def close(self) -> None:
        """End the question."""
        self._forget()
        if self._connection is not None:
            self._connection.close()

    def _forget(self) -> None:
        if self._observed is not None and self._observed.process is not None:
            self._observed.process.close()
        self._observed = None


class _Observed:
    """What the hub's process did while it said nothing; ``process`` is None where it is not known for certain."""

    def __init__(self, process: Process | None) -> None:
        self.process = process
        self.always_stopped = process is not None
        self._was_at_work = False
        self._cpu = process.cpu_seconds() if process is not None else None

    def look(self) -> None:
        """Note what it does at this moment."""
        if self.process is not None:
            self.always_stopped = self.always_stopped and self.process.is_stopped()
            self._was_at_work = self._was_at_work or self.process.is_at_work()

    def limit(self, silent: float, *, can_answer: bool) -> float:
        """Return after how many seconds of silence it has hung; one without a heartbeat has only if it is stopped all the time."""
        computed = self.process.cpu_seconds() if self.process is not None else None
        if not can_answer:
            return SILENCE_SECONDS if self.always_stopped else float("inf")
        if self.process is None or computed is None or self._cpu is None:
            return BLIND_SILENCE_SECONDS
        if self.process.is_stopped():
            return SILENCE_SECONDS
        is_idle = computed - self._cpu <= _COMPUTES * silent and not self._was_at_work
        return SILENCE_SECONDS if is_idle else BUSY_SILENCE_SECONDS


class _RunningTime:
    """Seconds in which this process ran. After a pause of the process or the machine they begin again."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._last = time.monotonic()
        self._asleep = _seconds_asleep()

    def count(self) -> bool:
        """Count what has passed since the last call; False if there was a pause."""
        now, asleep = time.monotonic(), _seconds_asleep()
        elapsed, slept = now - self._last, asleep - self._asleep
        self._last, self._asleep = now, asleep
        if elapsed > _TICK_SECONDS + _GAP_SECONDS or slept > _GAP_SECONDS:
            self.seconds = 0.0
            return False
        self.seconds += min(elapsed, 2 * _TICK_SECONDS)
        return True


def _find_process(home: str, connection: socket.socket | None) -> Process | None:
    """Return the process that is the hub: who listens at the socket, and who holds the lock. None if that is not certain."""
    lock = processes.identity_of(os.path.join(home, paths.HUB_LOCK))
    if lock is None:
        return None
    listens, _ = processes.peer_of(connection) if connection is not None else (None, None)
    holders = processes.lock_holders(lock)
    pid = listens if listens is not None else holders[0] if len(holders) == 1 else None
    try:
        process = Process(pid) if pid is not None else None
    except OSError:
        return None
    if process is not None and not _is_hub(process, home):
        process.close()
        return None
    return process


def _is_hub(process: Process, home: str) -> bool:
    """Return True if a process of this user, and not this one, holds the hub's lock of a store."""
    lock = processes.identity_of(os.path.join(home, paths.HUB_LOCK))
    if lock is None or process.pid == os.getpid():
        return False
    return process.is_of_this_user() and process.holds(lock)


def _serves_http(home: str) -> bool:
    """Return True if the hub said, in a file of this user's, that it serves HTTP. The next hub of the folder removes what it left."""
    try:
        return bool(processes.read_own(os.path.join(home, paths.HTTP), 16))
    except OSError:
        return False


def _seconds_asleep() -> float:
    """Return how long the machine has slept since its start, where the system tells."""
    if not hasattr(time, "CLOCK_BOOTTIME"):
        return 0.0
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)


def _note(home: str, text: str) -> None:
    """Write a line into the hub's log, where the next one goes on."""
    try:
        log = connecting.open_log(home)
        os.write(
            log, f"{time.strftime('%Y-%m-%d %H:%M:%S')} {os.getpid()} WARNING hybrid_memory_mcp: {text}\n".encode()
        )
        os.close(log)
    except OSError:
        pass  # it is only a note
