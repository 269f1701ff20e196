"""A server that crashes and restarts under hubs that write: what was acknowledged is there once, and the hubs go on by themselves.

The server waits for its disk here, as a real one does. A backend that is killed takes all others with it, and the server recovers.
"""

import random
import threading
from itertools import count
from time import monotonic

import pytest
from tests.core.store.making import DIMENSIONS, always, memory, vector
from tests.postgres.harms import end_a_connection, kill_a_backend, kill_the_server, restart
from tests.stress.cases import seed_of_one

from hybrid_memory.errors import OutcomeUnknown, StoreError
from hybrid_memory.store.writing import Insert, RequestKey
from hybrid_memory.testing import FakeClock

pytestmark = [pytest.mark.postgres]
HUBS, WRITERS = 3, 2
WAIT_SECONDS = 60.0


class Hub:
    """A store of its own and threads that write into one namespace, with a key for every second write."""

    def __init__(self, name, database, over):
        from hybrid_memory_postgres.store import PostgresStore

        self.store = PostgresStore.open(database.conninfo, FakeClock(), size=4, wait_seconds=WAIT_SECONDS)
        self.store.pin_embedder("e", DIMENSIONS)
        self.name, self.over = name, over
        self.done, self.unknown, self.wrong = {}, set(), []
        self.threads = [threading.Thread(target=self._work, args=(f"{name}-{number}",)) for number in range(WRITERS)]
        for one in self.threads:
            one.start()

    def _work(self, relay):
        for number in count(1):
            if self.over.is_set():
                return
            name = f"{relay}-{number}"
            key = RequestKey(relay, number) if number % 2 else None
            try:
                self.done[name] = self._write(name, key)
            except OutcomeUnknown:
                self.unknown.add(name)
            except (StoreError, AssertionError) as error:
                self.wrong.append((name, error))
                return

    def _write(self, name, key):
        return self.store.write("default", key, always(inserts=(Insert(memory(name), vector(1)),))).position

    def close(self):
        for one in self.threads:
            one.join(WAIT_SECONDS + 10)
        self.store.close()


def harmed(database, harm, times, draw):
    """Let hubs write while ``harm`` happens to the server again and again; returns the hubs and what the log says then."""
    over = threading.Event()
    hubs = [Hub(f"hub{number}", database, over) for number in range(HUBS)]
    try:
        for _ in range(times):
            wait_for_writes(hubs, draw.randrange(3, 20))
            threading.Event().wait(draw.uniform(0, 0.01))
            harm(database, draw)
        wait_for_writes(hubs, 5)
    finally:
        over.set()
        for one in hubs:
            one.close()
    return hubs


def wait_for_writes(hubs, least):
    """Wait until every hub has had some more answers."""
    before = [len(one.done) for one in hubs]
    limit = monotonic() + WAIT_SECONDS
    while any(len(one.done) < count + least and not one.wrong for one, count in zip(hubs, before, strict=True)):
        assert monotonic() < limit, "a hub does not go on"
        threading.Event().wait(0.002)


def check(hubs, database):
    """Fail where what was acknowledged is not there, or not where the answer said, or anything is there twice."""
    assert [one.wrong for one in hubs if one.wrong] == []
    log = database.rows("SELECT position, id FROM log WHERE namespace = 'default' ORDER BY position")
    assert [position for position, _ in log] == list(range(1, len(log) + 1))
    at = {name: position for position, name in log}
    assert len(at) == len(log), "doubled"
    acknowledged = {name: position for one in hubs for name, position in one.done.items()}
    assert {name: at.get(name) for name in acknowledged} == acknowledged
    assert set(at) - set(acknowledged) <= set().union(*(one.unknown for one in hubs))
    rows = database.rows("SELECT count(*), count(DISTINCT id) FROM memory WHERE namespace = 'default'")
    assert rows == [(len(log), len(log))]
    unknown = sum(len(one.unknown) for one in hubs)
    print(f"{len(log)} written, {len(acknowledged)} acknowledged, {unknown} of unknown outcome")  # noqa: T201 - the figures


FEW = [(kill_a_backend, 4), (end_a_connection, 15), (restart, 2), (kill_the_server, 1)]
MANY = [(kill_a_backend, 100), (end_a_connection, 100), (restart, 20), (kill_the_server, 20)]


@pytest.mark.parametrize(("harm", "times"), FEW, ids=[harm.__name__ for harm, _ in FEW])
def test_what_was_acknowledged_is_there_once(durable, harm, times):
    check(harmed(durable, harm, times, random.Random(1)), durable)


@pytest.mark.stress
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("harm", "times"), MANY, ids=[harm.__name__ for harm, _ in MANY])
def test_what_was_acknowledged_is_there_once_however_often(durable, harm, times):
    check(harmed(durable, harm, times, random.Random(seed_of_one())), durable)
