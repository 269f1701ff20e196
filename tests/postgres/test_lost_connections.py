"""The connection between a hub and the server drops, at every place where it can: each write is done once, and says so."""

import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from time import monotonic

import pytest
from tests.core.store.making import DIMENSIONS, always, memory, vector
from tests.postgres.proxy import TO_HUB, TO_SERVER, Proxy
from tests.postgres.test_writers import wait_until

from hybrid_memory.errors import EngineUnavailable, NotEnoughMemory, OutcomeUnknown
from hybrid_memory.store.writing import Insert, RequestKey
from hybrid_memory.testing import FakeClock
from hybrid_memory_postgres.store import PostgresStore

pytestmark = [pytest.mark.postgres, pytest.mark.daily]
DIRECTIONS = pytest.mark.parametrize("direction", [TO_SERVER, TO_HUB])
NAMES = (f"m{number}" for number in count())


@pytest.fixture
def proxy(database):
    made = Proxy(database)
    yield made
    made.close()


@pytest.fixture
def through(proxy):
    opened = []

    def open_one(**options):
        opened.append(PostgresStore.open(proxy.conninfo, FakeClock(), **{"size": 2, "wait_seconds": 10, **options}))
        opened[-1].pin_embedder("e", DIMENSIONS)
        return opened[-1]

    yield open_one
    proxy.go_on()
    for store in opened:
        store.close()


def write(store, name, key=None):
    return store.write("default", key, always(inserts=(Insert(memory(name), vector(1)),)))


def logged(database):
    rows = database.rows("SELECT id FROM log WHERE namespace = 'default' ORDER BY position")
    return [str(name) for (name,) in rows]


def bytes_of_a_write(proxy, store, direction):
    for _ in range(3):
        write(store, next(NAMES))  # the statements are prepared by then
    before = proxy.carried[direction]
    write(store, next(NAMES))
    return proxy.carried[direction] - before


@DIRECTIONS
def test_a_write_whose_connection_breaks_at_any_byte_is_done_once_and_answered(proxy, through, database, direction):
    store = through()
    length = bytes_of_a_write(proxy, store, direction)
    written = []
    for place in range(0, length, max(length // 40, 1)):
        proxy.cut_after(place, direction)
        name = next(NAMES)
        assert write(store, name).position == len(logged(database)), place
        written.append(name)
    assert proxy.cuts >= 10  # the last places lie behind the end of most writes
    assert logged(database)[-len(written) :] == written


@DIRECTIONS
def test_a_request_whose_connection_breaks_has_one_answer(proxy, through, database, direction):
    store = through()
    length = bytes_of_a_write(proxy, store, direction)
    for number, place in enumerate(range(0, length, max(length // 12, 1))):
        key, name = RequestKey("relay", number), next(NAMES)
        proxy.cut_after(place, direction)
        first = write(store, name, key)
        again = write(store, next(NAMES), key)
        assert (again.position, again.replayed) == (first.position, True)
        assert logged(database).count(name) == 1


def test_a_read_whose_connection_breaks_is_answered(proxy, through):
    store = through()
    name = next(NAMES)
    write(store, name)
    for place in range(0, 400, 25):
        proxy.cut_after(place, TO_HUB)
        assert list(store.get("default", [name])) == [name]


def test_all_connections_cut_at_once_cost_nobody_an_answer(proxy, through, database):
    store = through(size=4)
    over, wrong, done = threading.Event(), [], []

    def work(number):
        for turn in count():
            if over.is_set():
                return
            name = f"t{number}-{turn}"
            try:
                write(store, name)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is told
                wrong.append(error)
                return
            done.append(name)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for one in threads:
        one.start()
    for _ in range(15):
        seen = len(done)
        limit = monotonic() + 60
        while len(done) < seen + 4 and not wrong and monotonic() < limit:
            threading.Event().wait(0.002)
        proxy.cut_all()
    over.set()
    for one in threads:
        one.join(60)
    assert wrong == []
    assert sorted(logged(database)) == sorted(done)


def test_while_the_server_is_away_a_call_waits_as_long_as_it_is_told_and_then_says_so(proxy, through):
    store = through(wait_seconds=0.5)
    proxy.refuse()
    proxy.cut_all()
    with pytest.raises(EngineUnavailable, match="the database cannot be reached"):
        write(store, next(NAMES))
    with pytest.raises(EngineUnavailable, match="the database cannot be reached"):
        store.get("default", ["m"])


def test_a_call_that_waits_goes_on_when_the_server_is_back(proxy, through, database):
    store = through(wait_seconds=30)
    proxy.refuse()
    proxy.cut_all()
    names = [next(NAMES) for _ in range(3)]
    threads = [threading.Thread(target=write, args=(store, name)) for name in names]
    for one in threads:
        one.start()
    assert all(one.is_alive() for one in threads)
    proxy.go_on()
    for one in threads:
        one.join(60)
    assert sorted(logged(database)) == sorted(names)


def test_after_an_outage_that_was_told_the_next_call_works(proxy, through, database):
    store = through(wait_seconds=0.3)
    proxy.refuse()
    proxy.cut_all()
    lost, kept = next(NAMES), next(NAMES)
    with pytest.raises(EngineUnavailable):
        write(store, lost)
    proxy.go_on()
    limit = monotonic() + 60
    while True:
        try:
            write(store, kept)
            break
        except EngineUnavailable:
            assert monotonic() < limit
    assert logged(database) == [kept]


def test_a_slow_network_changes_nothing_but_the_time(proxy, through, database):
    store = through()
    proxy.delay(0.02)
    names = [next(NAMES) for _ in range(5)]
    for name in names:
        write(store, name)
    assert logged(database) == names


def test_a_silent_network_is_waited_for_and_no_write_is_doubled(proxy, through, database):
    store = through()
    write(store, next(NAMES))
    proxy.hold()
    name = next(NAMES)
    thread = threading.Thread(target=write, args=(store, name))
    thread.start()
    proxy.go_on()
    thread.join(60)
    assert logged(database).count(name) == 1


def test_a_server_that_gives_no_more_connections_is_told_as_full(proxy, through, database):
    store = through(wait_seconds=3)
    database.rows("ALTER ROLE hub CONNECTION LIMIT 0")
    try:
        proxy.cut_all()
        with pytest.raises(NotEnoughMemory, match="memory or connections"):
            write(store, next(NAMES))
    finally:
        database.rows("ALTER ROLE hub CONNECTION LIMIT -1")
    write(store, next(NAMES))


@pytest.fixture
def standby_away(database):
    """Commits of the test's database wait for a standby that is not there."""
    server = database.server
    database.rows(f"ALTER DATABASE {database.name} SET synchronous_commit = on")
    server.rows("ALTER SYSTEM SET synchronous_standby_names = 'away'")

    def told(names):
        server.rows("SELECT pg_reload_conf()")
        wait_until(lambda: server.rows("SHOW synchronous_standby_names") == [(names,)])

    yield lambda: told("away")
    server.rows("ALTER SYSTEM RESET synchronous_standby_names")
    told("")


def test_a_write_that_the_standby_lacks_is_not_acknowledged_because_its_connection_broke(
    proxy, through, database, standby_away
):
    store = through(wait_seconds=1)
    write(store, next(NAMES))
    standby_away()
    with ThreadPoolExecutor(1) as threads:
        written = threads.submit(write, store, next(NAMES))
        wait_until(lambda: database.rows("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'"))
        proxy.cut_all()
        with pytest.raises(OutcomeUnknown):
            written.result(60)
