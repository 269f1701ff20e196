"""What a hub does alongside writes when a COMMIT is not answered: it is done once, or as good as once, and no caller hears of it."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from threading import Thread
from typing import Any

import pytest
from tests.core.store.making import DIMENSIONS, always, memory, vector
from tests.core.store.test_readings import reading
from tests.postgres.proxy import TO_HUB, Proxy
from tests.postgres.test_writers import wait_until

from hybrid_memory.errors import EngineUnavailable, OutcomeUnknown
from hybrid_memory.model import MemoryId
from hybrid_memory.store.writing import Insert, RecordUse, RequestKey
from hybrid_memory.testing import FakeClock
from hybrid_memory_postgres import writers
from hybrid_memory_postgres.pg_errors import ConnectionLost
from hybrid_memory_postgres.repeating import again
from hybrid_memory_postgres.sql_session import PgSession
from hybrid_memory_postgres.store import PostgresStore

pytestmark = [pytest.mark.postgres]
FIRST = MemoryId("first")
WAIT_SECONDS = 60.0
TRIES = 6  # to connect, after which the pool gives up: three for the connection that broke, three for who waits


def done(session: PgSession) -> None:
    session.connection.execute("COMMIT", prepare=False)
    session.sync()
    session.connection.close()


def never_arrived(session: PgSession) -> None:
    session.connection.close()


@pytest.fixture(params=[done, never_arrived])
def hub(
    request: pytest.FixtureRequest, open_postgres: Callable[..., PostgresStore], monkeypatch: pytest.MonkeyPatch
) -> PostgresStore:
    """A store with one memory, whose next COMMIT is done or not, and not answered."""
    store = open_postgres(FakeClock())
    store.pin_embedder("e", DIMENSIONS)
    store.write("default", RequestKey("relay", 1), always(inserts=(Insert(memory("first"), vector(1)),)))
    store.put_entry("default", "talk", "message", {"said": "earlier"})
    whole = PgSession.commit

    def commit(session: PgSession) -> None:
        monkeypatch.setattr(PgSession, "commit", whole)
        request.param(session)
        raise OutcomeUnknown

    monkeypatch.setattr(PgSession, "commit", commit)
    return store


def test_results_of_requests_are_forgotten(hub):
    hub.acknowledge("relay", None)
    assert hub.result("default", RequestKey("relay", 1)) is None


def test_a_message_is_kept_once_and_its_number_is_told(hub):
    assert hub.put_entry("default", "talk", "message", {"said": "tea"}) == 2
    assert [(one.number, one.body["said"]) for one in hub.entries("default", "talk", "message")] == [
        (1, "earlier"),
        (2, "tea"),
    ]


def test_messages_are_removed_and_counted(hub):
    assert hub.remove_entries("default", "talk", "message") == 1
    assert hub.entries("default", "talk", "message") == []


def test_a_use_counts_once_at_most(hub):
    hub.touch("default", [RecordUse(FIRST, datetime(2026, 1, 1, tzinfo=UTC), 1)])
    found = hub.usage("default", [FIRST])
    assert not found or found[FIRST].count == 1


def test_a_reading_is_noted_once_at_most(hub):
    hub.readings.add([reading()], keep=10, since=datetime(2020, 1, 1, tzinfo=UTC))
    assert len(hub.readings.latest()) <= 1


def test_a_lease_is_taken(hub):
    lease = hub.lease("vectors", 60)
    assert lease is not None
    assert lease.is_held


def test_a_change_of_the_embedder_begins(hub):
    hub.embedder_change.begin("other", DIMENSIONS)
    assert hub.embedder_change.next_embedder().identity == "other"


def test_a_change_of_the_embedder_is_finished(open_postgres, monkeypatch):
    for instead in (done, never_arrived):
        store = open_postgres(FakeClock())
        target = f"to {instead.__name__}"
        store.pin_embedder("e", DIMENSIONS)
        store.embedder_change.begin(target, DIMENSIONS)
        whole = PgSession.commit

        def commit(session, whole=whole, instead=instead):
            monkeypatch.setattr(PgSession, "commit", whole)
            instead(session)
            raise OutcomeUnknown

        monkeypatch.setattr(PgSession, "commit", commit)
        store.embedder_change.finish()
        assert store.embedder() == (target, DIMENSIONS)


def test_who_asks_whether_a_write_was_done_waits_as_long_as_for_any_other_answer(hub, monkeypatch):
    seconds = []

    def learn(connections, traces, limit):
        seconds.append(limit)
        return was_committed(connections, traces, limit)

    was_committed = writers.was_committed
    monkeypatch.setattr(writers, "was_committed", learn)
    assert hub.write("default", None, always(inserts=(Insert(memory("a"), vector(1)),))).position == 2
    assert seconds == [hub.connections.wait_seconds]


# Reads


@pytest.fixture
def proxy(database: Any) -> Iterator[Proxy]:
    made = Proxy(database)
    yield made
    made.close()


@pytest.fixture
def through(proxy: Proxy) -> Iterator[PostgresStore]:
    store = PostgresStore.open(proxy.conninfo, FakeClock(), size=2, wait_seconds=WAIT_SECONDS)
    yield store
    proxy.go_on()
    store.close()


def test_a_read_of_one_moment_whose_connection_breaks_at_any_byte_is_answered(proxy, through):
    through.write("default", None, always(inserts=(Insert(memory("first")),)))
    before = proxy.carried[TO_HUB]
    through.changes("default", 0)
    for place in range(0, proxy.carried[TO_HUB] - before, 5):
        proxy.cut_after(place, TO_HUB)
        assert [one.id for one in through.changes("default", 0)] == ["first"], place
    assert proxy.cuts >= 10


def test_who_waits_alone_for_a_server_is_answered_when_it_is_back_although_the_pool_had_given_up(proxy, through):
    through.head("default")
    tries = failed_tries(through)
    proxy.refuse()
    proxy.cut_all()
    found = []
    thread = Thread(target=lambda: found.append(through.namespaces()))
    thread.start()
    wait_until(lambda: failed_tries(through) >= tries + TRIES)
    proxy.go_on()
    thread.join(WAIT_SECONDS / 2)
    assert found == [[]]


def test_closing_a_store_does_not_wait_for_a_server_that_is_away(proxy, through):
    for name in ("one", "another"):
        assert through.lease(name, 600)
    proxy.refuse()
    proxy.cut_all()
    thread = Thread(target=through.close)
    thread.start()
    thread.join(WAIT_SECONDS)  # a lease would wait as long, and the other one again
    assert not thread.is_alive()


@pytest.fixture
def go_away_at_commit(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[PgSession], None]], None]:
    """Let the server be away from the next COMMIT on, which was done or not."""

    def arrange(instead: Callable[[PgSession], None]) -> None:
        whole = PgSession.commit

        def commit(session: PgSession) -> None:
            monkeypatch.setattr(PgSession, "commit", whole)
            instead(session)
            proxy.refuse()
            proxy.cut_all()
            raise OutcomeUnknown

        monkeypatch.setattr(PgSession, "commit", commit)

    return arrange


@pytest.mark.parametrize("commit", [done, never_arrived])
def test_a_write_is_answered_and_done_once_when_the_server_is_back(proxy, through, go_away_at_commit, commit):
    go_away_at_commit(commit)
    tries, written = failed_tries(through), []
    decide = always(inserts=(Insert(memory("first")),))
    thread = Thread(target=lambda: written.append(through.write("default", None, decide)))
    thread.start()
    wait_until(lambda: failed_tries(through) > tries)
    proxy.go_on()
    thread.join(WAIT_SECONDS)
    assert [(one.position, one.replayed) for one in written] == [(1, False)]
    assert [one.id for one in through.changes("default", 0)] == ["first"]


@pytest.mark.parametrize("commit", [done, never_arrived])
def test_a_write_is_told_as_unknown_when_the_server_stays_away(proxy, through, go_away_at_commit, commit):
    through.connections.wait_seconds = 0.2
    go_away_at_commit(commit)
    with pytest.raises(OutcomeUnknown):
        through.write("default", RequestKey("relay", 1), always(inserts=(Insert(memory("first")),)))
    proxy.go_on()
    through.connections.wait_seconds = WAIT_SECONDS
    again_written = through.write("default", RequestKey("relay", 1), always(inserts=(Insert(memory("first")),)))
    assert again_written.replayed is (commit is done)
    assert [one.id for one in through.changes("default", 0)] == ["first"]


def failed_tries(store: PostgresStore) -> int:
    return store.connections._pool.get_stats().get("connections_errors", 0)


# `again`


def test_a_call_whose_commit_was_not_answered_is_repeated():
    said = [OutcomeUnknown("?"), None]

    def call():
        told = said.pop(0)
        if told is not None:
            raise told

    again(call, 10.0)
    assert said == []


@pytest.mark.parametrize("later", [ConnectionLost("nothing was changed"), EngineUnavailable("nothing was changed")])
def test_that_a_later_try_changed_nothing_says_nothing_of_the_one_that_may_have(later):
    said = iter([OutcomeUnknown("nobody knows"), later])

    def call():
        raise next(said, later)

    with pytest.raises(OutcomeUnknown, match="nobody knows"):
        again(call, 0.05)


def test_who_never_came_to_a_commit_hears_that_nothing_was_changed():
    def call():
        raise ConnectionLost("nothing was changed")

    with pytest.raises(EngineUnavailable, match="nothing was changed"):
        again(call, 0.05)
