"""`Watch`: releases connections from which nothing will come any more, although nobody closed them.

A network that swallows what is sent, or a machine that is gone, answers nothing and closes nothing: a caller would wait forever,
and all that wait for the same namespace with it. A statement may take its time, though, or wait for another's lock. So after a while the
server is asked over another connection whether it still works on the statement; if it does not, or does not answer, the connection is
shut, and the call that waits hears that it is lost.

Who is waited for may be silent as well: a machine that goes to sleep in the middle of a write keeps the lock of its namespace, and its
connection may live for hours. Where a statement waits for a lock, a write of which the server has heard nothing for twice as long is
ended, which changes nothing: its machine hears of it when it wakes up. What works on the whole store may leave the server alone for
long, and says so (`AT_WORK`).
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any

import psycopg

from hybrid_memory_postgres.target import Conninfo, conninfo_now

if TYPE_CHECKING:
    from typing import TypeAlias

    Connection: TypeAlias = "WatchedConnection"

AT_WORK = "SELECT pg_advisory_xact_lock_shared(7340032, 3)"
"""Sent in a transaction that may leave the server alone for long, as while a file is written; it is never ended for that."""

# A server that notes no states (track_activities) still tells what its processes wait for.
_STATE = """
    SELECT state = 'active' OR (state = 'disabled' AND wait_event IS DISTINCT FROM 'ClientRead'), wait_event_type
    FROM pg_stat_activity WHERE pid = %s
"""
# In a pipeline a transaction is "active" while its client says nothing, so it is known by what its process waits for, and no time limit
# of the server's own ends it. Other logins' are left alone: this one may not be allowed to end them.
_END_WHO_SLEEPS = """
    WITH RECURSIVE before (pid) AS (
        SELECT unnest(pg_blocking_pids(%s)) UNION SELECT unnest(pg_blocking_pids(before.pid)) FROM before
    )
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity JOIN before USING (pid)
    WHERE usename = session_user AND wait_event = 'ClientRead'
        AND greatest(query_start, state_change) < clock_timestamp() - make_interval(secs => %s)
        AND NOT EXISTS (
            SELECT 1 FROM pg_locks AS held WHERE held.pid = before.pid AND held.locktype = 'advisory'
                AND (held.classid, held.objid, held.objsubid) = (7340032, 3, 2)
        )
"""
_LEAST_SECONDS_TO_CONNECT = 2  # libpq takes no less
_LOOKS = 2  # so many times what is waited for an answer a write may say nothing: a decision is made in milliseconds


@dataclass(slots=True, eq=False)
class _Wait:
    """A call that waits for a connection's answer since a time; ``process`` is asked for while the connection is certainly open."""

    connection: Connection
    since: float
    process: int


class WatchedConnection(psycopg.Connection[Any]):
    """A connection of `watched_by`; ``server_process`` is the server's, once that is known: a pooler on the way has numbers of its own.

    ``heard_at`` is when the server answered last.
    """

    server_process: int | None = None
    heard_at = 0.0

    @property
    def process(self) -> int:
        """The number of the process that serves this connection, as the server knows it."""
        return self.server_process or self.info.backend_pid


def process_of(connection: psycopg.Connection[Any]) -> int:
    """Return the number of the process that serves a connection, as the server knows it."""
    return connection.process if isinstance(connection, WatchedConnection) else connection.info.backend_pid


class Watch:
    """Watches waits for answers; one longer than ``seconds`` is looked into. Safe in several threads."""

    def __init__(self, conninfo: Conninfo, seconds: float) -> None:
        self._conninfo = conninfo
        self._seconds = seconds
        self._silent_since = 0.0
        self._waits: set[_Wait] = set()
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    @contextmanager
    def waiting(self, connection: Connection) -> Iterator[None]:
        """Watch a connection as long as the block waits for its answer."""
        one = _Wait(connection, monotonic(), connection.process)
        with self._lock:
            self._waits.add(one)
            if self._thread is None and not self._closed.is_set():
                self._thread = threading.Thread(target=self._run, name="hybrid-memory-silence", daemon=True)
                self._thread.start()
        try:
            yield
        finally:
            with self._lock:
                self._waits.discard(one)

    def is_doubtful(self, connection: Connection) -> bool:
        """Return whether nothing has come over a connection since another one fell silent: it may be as silent."""
        return connection.heard_at < self._silent_since

    def close(self) -> None:
        """Watch no longer; calling it again does nothing."""
        self._closed.set()

    def _run(self) -> None:
        while not self._closed.wait(self._seconds / 4):
            with self._lock:
                now = monotonic()
                overdue = [one for one in self._waits if now - one.since > self._seconds]
            if overdue:
                working = self._working({one.process for one in overdue})
                for one in overdue:
                    self._judge(one, works=one.process in working)

    def _judge(self, one: _Wait, *, works: bool) -> None:
        with self._lock:
            if one not in self._waits:
                return  # the answer came
            if works:
                one.since = monotonic()
            else:
                self._silent_since = max(one.since, self._silent_since)
                _shut(one.connection)

    def _working(self, processes: set[int]) -> set[int]:
        """Return those of the server's processes that work on a statement; none where the server does not tell."""
        found: set[int] = set()
        # In a thread of its own, because the connection that asks may be as silent.
        asking = threading.Thread(
            target=self._ask, args=(processes, found), name="hybrid-memory-silence-asks", daemon=True
        )
        asking.start()
        asking.join(max(self._seconds, _LEAST_SECONDS_TO_CONNECT))
        return set(found)

    def _ask(self, processes: set[int], found: set[int]) -> None:
        seconds = max(int(self._seconds), _LEAST_SECONDS_TO_CONNECT)
        with (
            suppress(psycopg.Error),
            psycopg.connect(conninfo_now(self._conninfo), autocommit=True, connect_timeout=seconds) as connection,
        ):
            for process in processes:
                row = connection.execute(_STATE, (process,)).fetchone()
                if row is not None and row[0]:
                    found.add(process)
                    if row[1] == "Lock":
                        connection.execute(_END_WHO_SLEEPS, (process, self._seconds * _LOOKS))


def watched_by(watch: Watch) -> type[WatchedConnection]:
    """Return the class of connections each of whose waits is watched."""

    class Watched(WatchedConnection):
        def wait(self, *args: Any, **options: Any) -> Any:
            with watch.waiting(self):
                answer = super().wait(*args, **options)
            self.heard_at = monotonic()
            return answer

    return Watched


def _shut(connection: Connection) -> None:
    """End both directions of a connection, below the thread that waits for it."""
    with suppress(OSError, psycopg.Error):
        end = socket.socket(fileno=os.dup(connection.fileno()))
        with end:
            end.shutdown(socket.SHUT_RDWR)
