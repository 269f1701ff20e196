"""Writes of several hubs and threads: committed in groups, done once, and never lost or doubled when a connection is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from time import monotonic
from typing import Any

import psycopg
import pytest
from tests.core.store.making import DIMENSIONS, always, memory, one, put, vector
from tests.postgres.server import ADMIN, Database

from hybrid_memory.errors import ConcurrentModification, ConstraintViolation, OutcomeUnknown
from hybrid_memory.model import MemoryId
from hybrid_memory.store.writing import Insert, RequestKey, Update, WriteBatch, WriteView
from hybrid_memory.testing import FakeClock
from hybrid_memory_postgres.outcome import Traces, was_committed
from hybrid_memory_postgres.pg_errors import ConnectionLost
from hybrid_memory_postgres.sql_session import PgSession
from hybrid_memory_postgres.store import PostgresStore
from hybrid_memory_postgres.tables import Head

pytestmark = pytest.mark.postgres

WAIT_SECONDS = 60.0
LOCK = "SELECT 1 FROM namespace WHERE name = 'default' FOR UPDATE"
LOCK_AND_NUMBER = "SELECT pg_current_xact_id()::text FROM namespace WHERE name = 'default' FOR UPDATE"
TRANSACTIONS = "SELECT xmin::text FROM log WHERE namespace = 'default' AND position > %s ORDER BY position"

OpenHub = Callable[..., PostgresStore]


@pytest.fixture
def open_hub(database: Database) -> Iterator[OpenHub]:
    """Open the store as one more hub does."""
    opened: list[PostgresStore] = []

    def open_one(clock: FakeClock | None = None, wait_seconds: float = WAIT_SECONDS) -> PostgresStore:
        opened.append(PostgresStore.open(database.conninfo, clock or FakeClock(), size=8, wait_seconds=wait_seconds))
        return opened[-1]

    yield open_one
    for store in opened:
        store.close()


@pytest.fixture
def hub(open_hub: OpenHub) -> PostgresStore:
    """A hub whose store holds the memory "first" already."""
    store = open_hub()
    put(store, "first")
    return store


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(24) as threads:
        yield threads


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = monotonic() + WAIT_SECONDS
    pause = threading.Event()
    while not condition():
        assert monotonic() < deadline, "what was waited for did not come"
        pause.wait(0.002)


@contextmanager
def held(database: Database) -> Iterator[None]:
    """Hold the lock of the namespace, as another hub that takes its time."""
    with psycopg.connect(database.conninfo_of(ADMIN)) as connection:
        connection.execute(LOCK)
        yield


def is_waited_for(database: Database) -> bool:
    found = database.rows("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
    return bool(found[0][0])


def waiting(store: PostgresStore) -> int:
    queue = store._writers._queues.get("default")
    return 0 if queue is None else len(queue.waiting)


def insert(name: str, **changes: Any) -> Callable[[WriteView], WriteBatch]:
    return always(inserts=(Insert(memory(name, **changes)),), result={"id": name})


def queued(
    store: PostgresStore, database: Database, pool: ThreadPoolExecutor, *calls: Callable[[], Any]
) -> list[Future[Any]]:
    """Run a first call that waits for the lock, and others that wait behind it in this order; then let the lock go."""
    with held(database):
        first = pool.submit(store.write, "default", None, insert("leader"))
        wait_until(lambda: is_waited_for(database))
        futures = []
        for at, call in enumerate(calls, 1):
            futures.append(pool.submit(call))
            wait_until(lambda at=at: waiting(store) == at)  # type: ignore[misc]
    first.result(WAIT_SECONDS)
    return futures


# Groups


def test_calls_that_wait_for_a_namespace_are_committed_together(hub, database, pool):
    calls = [lambda n=n: hub.write("default", None, insert(f"m{n}")) for n in range(6)]
    for future in queued(hub, database, pool, *calls):
        future.result(WAIT_SECONDS)
    found = [transaction for (transaction,) in database.rows(TRANSACTIONS, 1)]
    assert (len(found), len(set(found))) == (7, 1)
    assert [entry.id for entry in hub.changes("default", 1)] == ["leader", *[f"m{n}" for n in range(6)]]


def test_each_call_of_a_group_gets_its_own_outcome(hub, database, pool):
    hub.pin_embedder("e", DIMENSIONS)
    calls = [
        lambda n=n: hub.write(
            "default", None, always(inserts=(Insert(memory(f"m{n}"), vector(n)),), result={"id": f"m{n}"})
        )
        for n in range(3)
    ]
    written = [future.result(WAIT_SECONDS) for future in queued(hub, database, pool, *calls)]
    assert [(one.result, one.position, [entry.id for entry in one.log]) for one in written] == [
        ({"id": f"m{n}"}, n + 3, [f"m{n}"]) for n in range(3)
    ]
    assert [list(one.vectors) for one in written] == [["m0"], ["m1"], ["m2"]]


def test_a_decision_sees_what_those_before_it_in_its_group_wrote(hub, database, pool):
    def more(view):
        found = view.get([MemoryId("first")])[MemoryId("first")]
        return always(updates=(Update(replace(found, importance=found.importance + 0.0625)),))(view)

    calls = [lambda: hub.write("default", None, more) for _ in range(5)]
    for future in queued(hub, database, pool, *calls):
        future.result(WAIT_SECONDS)
    assert (one(hub, "first").importance, one(hub, "first").rev) == (0.5 + 5 * 0.0625, 6)


def test_who_raises_in_a_group_fails_alone(hub, database, pool):
    def broken(view):
        raise LookupError

    calls = [
        lambda: hub.write("default", None, insert("a")),
        lambda: hub.write("default", None, broken),
        lambda: hub.write("default", None, insert("b", tags=("half \ud800",))),
        lambda: hub.write("default", None, insert("c")),
    ]
    good, raising, refused, last = queued(hub, database, pool, *calls)
    assert (good.result(WAIT_SECONDS).position, last.result(WAIT_SECONDS).position) == (3, 4)
    assert isinstance(raising.exception(WAIT_SECONDS), LookupError)
    assert isinstance(refused.exception(WAIT_SECONDS), ConstraintViolation)


def test_what_the_server_refuses_of_one_is_no_harm_to_the_others_of_its_group(hub, database, pool):
    calls = [
        lambda: hub.write("default", RequestKey("r", 1), insert("a")),
        lambda: hub.write("default", RequestKey("r", 2), insert("first")),  # exists already
        lambda: hub.write("default", RequestKey("r", 3), insert("b", content="zero \0 inside")),
        lambda: hub.write("default", RequestKey("r", 4), insert("c")),
    ]
    good, twice, zero, last = queued(hub, database, pool, *calls)
    assert (good.result(WAIT_SECONDS).result, last.result(WAIT_SECONDS).result) == ({"id": "a"}, {"id": "c"})
    assert isinstance(twice.exception(WAIT_SECONDS), ConstraintViolation)
    assert "zero character" in str(zero.exception(WAIT_SECONDS))
    assert [hub.result("default", RequestKey("r", n)) is None for n in (1, 2, 3, 4)] == [False, True, True, False]
    assert hub.check_log("default").problem is None


def test_a_decision_that_looks_elsewhere_follows_no_other_in_its_transaction(hub, database, pool):
    calls = [
        lambda: hub.write("default", None, insert("a")),
        lambda: hub.write("default", None, insert("elsewhere"), alone=True),
        lambda: hub.write("default", None, insert("b")),
    ]
    for future in queued(hub, database, pool, *calls):
        future.result(WAIT_SECONDS)
    leader, before, elsewhere, behind = [transaction for (transaction,) in database.rows(TRANSACTIONS, 1)]
    assert leader == before != elsewhere
    assert behind == elsewhere  # who comes after may join it
    assert [entry.id for entry in hub.changes("default", 1)] == ["leader", "a", "elsewhere", "b"]


def test_a_request_that_is_twice_in_a_group_is_done_once(hub, database, pool):
    calls = [lambda: hub.write("default", RequestKey("r", 1), insert("a")) for _ in range(3)]
    written = [future.result(WAIT_SECONDS) for future in queued(hub, database, pool, *calls)]
    assert [one.replayed for one in written] == [False, True, True]
    assert {one.position for one in written} == {3}


def test_a_write_that_looks_at_nothing_takes_two_round_trips(hub, monkeypatch):
    trips: list[str] = []
    for name in ("rows", "row", "together", "change", "sync", "commit"):
        whole = getattr(PgSession, name)
        monkeypatch.setattr(
            PgSession, name, lambda *args, _whole=whole, _name=name: trips.append(_name) or _whole(*args)
        )
    hub.write("default", RequestKey("r", 1), insert("a"))
    assert trips == ["together", "commit"]


def test_writes_of_many_namespaces_at_once_all_find_a_connection(hub, pool):
    def look_further(name):
        def decide(view):
            # As a search structure does that catches up inside a decision.
            assert hub.changes(name, view.head) == []
            assert hub.get("default", [MemoryId("first")])
            return insert(f"m-{name}", namespace=name)(view)

        return decide

    names = [f"n{n}" for n in range(20)]
    futures = [pool.submit(hub.write, name, None, look_further(name)) for name in names]
    assert [future.result(WAIT_SECONDS).position for future in futures] == [1] * 20


# Several hubs


def test_hubs_that_get_the_same_requests_do_each_once(open_hub, pool):
    hubs = [open_hub() for _ in range(3)]

    def run(store):
        return [store.write("default", RequestKey("r", n), insert(f"m{n}")) for n in range(15)]

    outcomes = [future.result(WAIT_SECONDS) for future in [pool.submit(run, store) for store in hubs * 2]]
    for n in range(15):
        tried = [written[n] for written in outcomes]
        assert [one.replayed for one in tried].count(False) == 1
        assert {one.position for one in tried} == {tried[0].position}
    assert sorted(entry.id for entry in hubs[0].changes("default", 0)) == sorted(f"m{n}" for n in range(15))


def test_no_update_of_several_hubs_is_lost(open_hub, pool):
    hubs = [open_hub() for _ in range(3)]
    put(hubs[0], "counted", importance=0.0)

    def more(view):
        found = view.get([MemoryId("counted")])[MemoryId("counted")]
        return always(updates=(Update(replace(found, importance=found.importance + 1)),))(view)

    def run(store):
        for _ in range(20):
            store.write("default", None, more)

    for future in [pool.submit(run, store) for store in hubs * 2]:
        future.result(WAIT_SECONDS)
    assert one(hubs[1], "counted").importance == 120
    assert [entry.position for entry in hubs[2].changes("default", 0)] == list(range(1, 122))
    assert hubs[0].check_log("default").problem is None


def test_hubs_that_meet_in_a_new_namespace_both_write(open_hub, pool):
    hubs = [open_hub() for _ in range(4)]
    together = threading.Barrier(4)

    def run(store, n):
        together.wait(WAIT_SECONDS)
        return store.write("new", None, insert(f"m{n}", namespace="new")).position

    found = [pool.submit(run, store, n) for n, store in enumerate(hubs)]
    assert sorted(future.result(WAIT_SECONDS) for future in found) == [1, 2, 3, 4]


def test_a_namespace_that_is_erased_while_a_write_waits_for_it_begins_anew(hub, database, pool):
    with psycopg.connect(database.conninfo_of(ADMIN)) as connection:
        connection.execute(LOCK)
        future = pool.submit(hub.write, "default", None, insert("a"))
        wait_until(lambda: is_waited_for(database))
        for statement in ("DELETE FROM log", "DELETE FROM memory", "DELETE FROM namespace"):
            connection.execute(statement)
    assert future.result(WAIT_SECONDS).position == 1
    assert hub.check_log("default").problem is None


def test_a_hub_with_a_slow_clock_does_not_write_before_the_last_write(open_hub):
    clock, slow = FakeClock(), FakeClock()
    slow.advance(seconds=-60)
    first = open_hub(clock).write("default", None, insert("a"))
    assert open_hub(slow).write("default", None, insert("b")).at == first.at


def test_one_of_two_hubs_pins_the_embedder_and_both_know_it(open_hub, pool):
    hubs = [open_hub() for _ in range(4)]
    together = threading.Barrier(4)

    def run(store, n):
        together.wait(WAIT_SECONDS)
        return store.pin_embedder(f"e{n}", DIMENSIONS)

    pinned = [future.result(WAIT_SECONDS) for future in [pool.submit(run, one, n) for n, one in enumerate(hubs)]]
    assert pinned.count(True) == 1
    assert {store.embedder() for store in hubs} == {(f"e{pinned.index(True)}", DIMENSIONS)}


# Lost connections


def test_a_write_whose_connection_is_ended_before_its_commit_is_done_once(hub, database):
    tries: list[int] = []

    def decide(view):
        tries.append(view.head)
        if len(tries) == 1:
            for process in database.server.backends(database.name):
                database.rows("SELECT pg_terminate_backend(%s)", process)
            wait_until(lambda: not database.server.backends(database.name))
        return insert("a")(view)

    written = hub.write("default", RequestKey("r", 1), decide)
    assert (written.position, tries) == (2, [1, 1])
    assert [entry.id for entry in hub.changes("default", 0)] == ["first", "a"]


def test_reads_go_on_when_all_connections_were_ended(hub, database):
    for process in database.server.backends(database.name):
        database.rows("SELECT pg_terminate_backend(%s)", process)
    assert one(hub, "first") == memory("first")
    assert hub.changes("default", 0)[0].id == "first"
    assert put(hub, "a") is None


@pytest.fixture
def break_commit(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[PgSession], None]], None]:
    """Let the next COMMIT be something else, after which the connection counts as lost."""

    def arrange(instead: Callable[[PgSession], None]) -> None:
        whole = PgSession.commit

        def commit(session: PgSession) -> None:
            monkeypatch.setattr(PgSession, "commit", whole)
            instead(session)
            raise OutcomeUnknown

        monkeypatch.setattr(PgSession, "commit", commit)

    return arrange


def keyed(name: str) -> tuple[str, RequestKey, Callable[[WriteView], WriteBatch]]:
    return "default", RequestKey("r", 1), insert(name)


def plain(name: str) -> tuple[str, None, Callable[[WriteView], WriteBatch]]:
    return "default", None, insert(name)


@pytest.mark.parametrize("call", [keyed, plain])
def test_a_write_whose_commit_was_done_but_not_answered_is_done(hub, break_commit, call):
    def really(session):
        session.connection.execute("COMMIT", prepare=False)
        session.sync()
        session.connection.close()

    break_commit(really)
    written = hub.write(*call("a"))
    assert (written.position, written.replayed, written.result) == (2, False, {"id": "a"})
    assert [entry.id for entry in hub.changes("default", 0)] == ["first", "a"]


@pytest.mark.parametrize("call", [keyed, plain])
def test_a_write_whose_commit_never_arrived_is_repeated(hub, break_commit, call):
    break_commit(lambda session: session.connection.close())
    written = hub.write(*call("a"))
    assert (written.position, written.replayed) == (2, False)
    assert [entry.id for entry in hub.changes("default", 0)] == ["first", "a"]


def test_a_transaction_that_a_lost_connection_left_open_is_ended(hub, database):
    with psycopg.connect(database.conninfo) as left:
        left.execute("SELECT set_config('hybrid_memory.namespaces', '{default}', true)")
        (number,) = left.execute(LOCK_AND_NUMBER).fetchone()
        traces = Traces(
            namespace="default", transaction=number, process=left.info.backend_pid, head=Head(9, 0, "ours"), requests=()
        )
        assert was_committed(hub.connections, traces, WAIT_SECONDS) is False
        assert hub.write(*keyed("a")).position == 2  # nobody holds the lock any more
        with pytest.raises(psycopg.OperationalError):
            left.execute("SELECT 1")


def test_a_group_whose_commit_was_not_answered_is_done_once(hub, database, pool, break_commit):
    def really(session):
        session.connection.execute("COMMIT", prepare=False)
        session.sync()
        session.connection.close()

    break_commit(really)
    calls = [lambda n=n: hub.write("default", None, insert(f"m{n}")) for n in range(4)]
    written = [future.result(WAIT_SECONDS) for future in queued(hub, database, pool, *calls)]
    assert [one.position for one in written] == [3, 4, 5, 6]
    assert hub.head("default") == 6


def test_the_number_of_a_lost_transaction_proves_nothing(hub, break_commit, monkeypatch):
    """A server that crashed may give the number out again: then it counts as committed, and nothing of the write is there."""
    from hybrid_memory_postgres import outcome

    break_commit(lambda session: session.connection.close())
    monkeypatch.setattr(outcome, "_STATUS", "SELECT 'committed' WHERE $1::text IS NOT NULL")
    assert hub.write(*keyed("a")).position == 2
    assert [entry.id for entry in hub.changes("default", 0)] == ["first", "a"]


def test_what_cannot_be_learned_is_said(hub, break_commit, monkeypatch):
    from hybrid_memory_postgres import writers

    break_commit(lambda session: session.connection.close())
    monkeypatch.setattr(writers, "was_committed", lambda *_: None)
    with pytest.raises(OutcomeUnknown):
        hub.write(*keyed("a"))
    assert not hub.write(*keyed("a")).replayed  # the caller learns it by the key


def test_a_write_gives_up_when_its_connections_are_always_lost(open_hub, monkeypatch):
    store = open_hub(wait_seconds=0.3)

    def lost(*_):
        raise ConnectionLost

    monkeypatch.setattr(PgSession, "together", lost)
    with pytest.raises(ConnectionLost):
        put(store, "a")


def test_a_write_that_another_hub_is_in_the_way_of_is_tried_again(hub, monkeypatch):
    whole, tries = PgSession.together, []

    def together(session, *statements):
        tries.append(1)
        if len(tries) < 3:
            session.failed = True
            raise ConcurrentModification
        return whole(session, *statements)

    monkeypatch.setattr(PgSession, "together", together)
    assert hub.write(*plain("a")).position == 2
    assert len(tries) == 3


def test_an_interrupted_caller_leaves_the_others_to_go_on(hub, database, pool, monkeypatch):
    class Interrupted(BaseException):
        pass

    waits = threading.Event.wait

    def interrupted_wait(event, timeout=None):
        if threading.current_thread().name == "interrupted":
            raise Interrupted
        return waits(event, timeout)

    raised: list[BaseException] = []

    def run():
        try:
            hub.write("default", None, insert("never"))
        except Interrupted as error:
            raised.append(error)

    with held(database):
        first = pool.submit(hub.write, "default", None, insert("leader"))
        wait_until(lambda: is_waited_for(database))
        monkeypatch.setattr(threading.Event, "wait", interrupted_wait)
        thread = threading.Thread(target=run, name="interrupted")
        thread.start()
        thread.join(WAIT_SECONDS)
        monkeypatch.undo()
        last = pool.submit(hub.write, "default", None, insert("last"))
    assert (len(raised), first.result(WAIT_SECONDS).position, last.result(WAIT_SECONDS).position) == (1, 2, 3)


def test_who_shares_the_transaction_of_an_interrupted_caller_hears_what_to_do(hub, database, pool):
    class Interrupted(BaseException):
        pass

    def interrupted(_: WriteView) -> WriteBatch:
        raise Interrupted

    with held(database):
        leader = pool.submit(hub.write, "default", None, interrupted)
        wait_until(lambda: is_waited_for(database))
        companion = pool.submit(hub.write, "default", None, insert("companion"))
        wait_until(lambda: waiting(hub) == 1)
    with pytest.raises(Interrupted):
        leader.result(WAIT_SECONDS)
    with pytest.raises(OutcomeUnknown, match="interrupted"):
        companion.result(WAIT_SECONDS)
    put(hub, "last")
    assert hub.head("default") == 2
