"""A network that swallows everything: no call waits for it for ever, and a server that only takes its time is waited for."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import psycopg
import pytest
from tests.core.store.making import memory, one, put
from tests.postgres.proxy import Proxy
from tests.postgres.server import ADMIN, Database

from hybrid_memory.errors import EngineUnavailable, OutcomeUnknown
from hybrid_memory.store.postgres.store import PostgresStore
from hybrid_memory.testing import FakeClock

pytestmark = pytest.mark.postgres

LOCK = "SELECT 1 FROM namespace WHERE name = 'default' FOR UPDATE"


@pytest.fixture
def proxy(database: Database) -> Iterator[Proxy]:
    made = Proxy(database)
    yield made
    made.close()


def test_calls_in_a_silent_network_end_and_go_on_when_it_speaks(proxy, database):
    store = PostgresStore.open(proxy.conninfo, FakeClock(), size=2, wait_seconds=1)
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


def test_a_write_that_waits_for_a_lock_for_long_is_not_given_up(database):
    store = PostgresStore.open(database.conninfo, FakeClock(), size=4, wait_seconds=0.4)
    put(store, "a")
    with psycopg.connect(database.conninfo_of(ADMIN)) as other:
        other.execute(LOCK)
        written = threading.Thread(target=put, args=(store, "b"))
        written.start()
        written.join(1.5)  # many times what is waited for an answer
        assert written.is_alive()
    written.join(20)
    assert one(store, "b") == memory("b")
    assert store.head("default") == 2
    store.close()
