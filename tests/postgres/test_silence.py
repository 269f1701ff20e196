"""A network that swallows everything: no call waits for it forever, and a server that only takes its time is waited for."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import psycopg
import pytest
from tests.core.store.making import memory, one, put
from tests.postgres.proxy import Proxy
from tests.postgres.server import ADMIN, HUB, Database

from hybrid_memory.errors import EngineUnavailable, OutcomeUnknown
from hybrid_memory.testing import FakeClock
from hybrid_memory_postgres.connections import EVERYTHING, Connections
from hybrid_memory_postgres.hints import CHANNEL, Announcer
from hybrid_memory_postgres.store import PostgresStore

pytestmark = [pytest.mark.postgres, pytest.mark.daily]

WAITING = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
LOCK = "SELECT 1 FROM namespace WHERE name = 'default' FOR UPDATE"


@pytest.fixture
def proxy(database: Database) -> Iterator[Proxy]:
    made = Proxy(database)
    yield made
    made.close()


def test_calls_in_a_silent_network_end_and_go_on_when_it_speaks(proxy, database):
    store = PostgresStore.open(proxy.conninfo, FakeClock(), size=2, wait_seconds=3)  # the pool pauses for a second
    put(store, "a")
    proxy.hold()
    with pytest.raises((EngineUnavailable, OutcomeUnknown)):
        put(store, "b")
    with pytest.raises(EngineUnavailable):
        one(store, "a")
    proxy.cut_all()
    proxy.go_on()
    put(store, "c")
    assert one(store, "c") == memory("c")
    store.close()


def test_a_hub_follows_on_after_its_connections_were_forgotten_on_the_way(proxy, database):
    store, follower = PostgresStore.open(proxy.conninfo, FakeClock(), wait_seconds=1), _Follower()
    other = PostgresStore.open(database.conninfo, FakeClock())
    assert store.head("default") == 0  # so that the first look has news of it already
    store.follow(follower)
    put(other, "a")
    assert follower.hears(1)
    proxy.forget_all()
    put(other, "b")
    assert follower.hears(2)
    store.close()
    other.close()


def test_one_silent_connection_is_waited_for_and_not_each_that_is_as_silent(proxy):
    store = PostgresStore.open(proxy.conninfo, FakeClock(), size=8, wait_seconds=2)
    put(store, "a")
    with ExitStack() as all_at_once:
        for _ in range(6):
            all_at_once.enter_context(store.connections.reading(["default"]))
    proxy.forget_all()
    put(store, "b")
    assert one(store, "b") == memory("b")
    store.close()


def test_hints_go_on_after_the_first_words_of_their_connection_were_swallowed(proxy, database):
    connections, made = Connections(proxy.conninfo, wait_seconds=1), []
    connections.open()

    def connect():
        made.append(connections.connect())
        if len(made) == 1:
            proxy.forget_all()
        return made[-1]

    announcer = Announcer(connect, 1)
    with psycopg.connect(database.conninfo_of(ADMIN), autocommit=True) as listener:
        listener.execute(f"LISTEN {CHANNEL}")
        assert any(_is_heard(listener, announcer, at) for at in range(1, 20))
    announcer.close()
    connections.close()


def _is_heard(listener, announcer, position):
    announcer.announce("default", position)
    return list(listener.notifies(timeout=1, stop_after=1))


class _Follower:
    """Notes up to where the namespace is said to have come."""

    def __init__(self):
        self._head = 0
        self._changed = threading.Condition()

    def hears(self, head):
        with self._changed:
            return self._changed.wait_for(lambda: self._head >= head, 20)

    def on_change(self, _, head):
        with self._changed:
            self._head = max(head, self._head)
            self._changed.notify_all()

    def marks(self):
        return {}


def test_a_write_that_waits_for_a_lock_for_long_is_not_given_up(database):
    store = PostgresStore.open(database.conninfo, FakeClock(), size=4, wait_seconds=0.4)
    put(store, "a")
    with psycopg.connect(database.conninfo_of(ADMIN)) as other:
        other.execute(LOCK)
        written = threading.Thread(target=put, args=(store, "b"))
        written.start()
        written.join(1.5)  # many times what is waited for an answer
        assert written.is_alive()
    written.join(60)
    assert one(store, "b") == memory("b")
    assert store.head("default") == 2
    store.close()


def test_a_server_that_notes_no_states_is_waited_for_too(database):
    database.rows(f"ALTER DATABASE {database.name} SET track_activities = off")
    store = PostgresStore.open(database.conninfo, FakeClock(), size=4, wait_seconds=0.4)
    put(store, "a")
    with psycopg.connect(database.conninfo_of(ADMIN)) as other:
        other.execute(LOCK)
        former = set(database.server.backends(database.name))
        written = threading.Thread(target=put, args=(store, "b"))
        written.start()
        written.join(1.5)  # many times what is waited for an answer
        assert written.is_alive()
        assert former <= set(database.server.backends(database.name))
    written.join(60)
    assert store.head("default") == 2
    store.close()


def test_a_machine_that_sleeps_in_the_middle_of_a_write_is_not_waited_for(database):
    store = PostgresStore.open(database.conninfo, FakeClock(), size=4, wait_seconds=1)
    put(store, "a")
    with _asleep_with_the_lock(database):
        put(store, "b")
    assert store.head("default") == 2
    store.close()


def test_who_waits_behind_one_that_waits_for_a_sleeping_machine_goes_on_too(database):
    store = PostgresStore.open(database.conninfo, FakeClock(), size=4, wait_seconds=1)
    put(store, "a")
    with _asleep_with_the_lock(database), psycopg.connect(database.conninfo_of(HUB), autocommit=True) as between:
        between.execute("SET hybrid_memory.namespaces = '{default}'")
        waiting = threading.Thread(target=between.execute, args=(LOCK,))
        waiting.start()
        while not database.rows(WAITING):
            waiting.join(0.01)
        put(store, "b")
        waiting.join(60)
    assert store.head("default") == 2
    store.close()


def test_what_works_on_the_whole_store_may_leave_the_server_alone_for_long(database):
    store = PostgresStore.open(database.conninfo, FakeClock(), size=4, wait_seconds=0.4)
    put(store, "a")
    connections = Connections(database.conninfo, size=2, wait_seconds=0.4)
    connections.open()
    with connections.transaction(EVERYTHING) as session:
        assert session.rows(LOCK)
        written = threading.Thread(target=put, args=(store, "b"))
        written.start()
        written.join(2.5)  # many times what is waited for an answer
        assert written.is_alive()
    written.join(60)
    assert store.head("default") == 2
    connections.close()
    store.close()


@contextmanager
def _asleep_with_the_lock(database: Database) -> Iterator[None]:
    """Take the lock of the namespace as a write does, in a pipeline, and say nothing more."""
    with (
        psycopg.connect(database.conninfo_of(HUB), autocommit=True) as connection,
        suppress(psycopg.OperationalError),
        connection.pipeline(),
    ):
        connection.execute("BEGIN")
        connection.execute("SET LOCAL hybrid_memory.namespaces = '{default}'")
        assert connection.execute(LOCK).fetchone()
        yield
