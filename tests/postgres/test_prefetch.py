"""What is read along with the lock of a namespace is what a decision would have read by itself, and spares its round trips."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.core.store.making import START, always, memory, put
from tests.postgres.server import Database
from tests.postgres.test_writers import WAIT_SECONDS, queued

from hybrid_memory.errors import LogTrimmed
from hybrid_memory.model import MemoryId, Scope, Tier
from hybrid_memory.requests import WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.store.writing import BufferState, Insert, Prefetch, RecordUse, SetTier, WriteBatch, WriteView
from hybrid_memory.testing import FakeClock, FakeRandomSource, HashEmbedder
from hybrid_memory_postgres import prefetched
from hybrid_memory_postgres.sql_session import PgSession
from hybrid_memory_postgres.store import PostgresStore

pytestmark = pytest.mark.postgres

SESSIONS = ("a", "b")
NAMES = tuple("uvwxyz")
PLACE = ("a", "default")


@pytest.fixture
def open_hub(database: Database) -> Iterator[Callable[[], PostgresStore]]:
    opened: list[PostgresStore] = []

    def open_one() -> PostgresStore:
        opened.append(PostgresStore.open(database.conninfo, FakeClock(), size=8, wait_seconds=WAIT_SECONDS))
        return opened[-1]

    yield open_one
    for store in opened:
        store.close()


@pytest.fixture
def hub(open_hub: Callable[[], PostgresStore]) -> PostgresStore:
    return open_hub()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The waits of the test's own thread for answers inside transactions."""
    found: list[str] = []
    own = threading.get_ident()
    for name in ("rows", "row", "together", "change"):
        method = getattr(PgSession, name)

        def noting(session: PgSession, *given: Any, name: str = name, method: Any = method) -> Any:
            if threading.get_ident() == own:
                found.append(name)
            return method(session, *given)

        monkeypatch.setattr(PgSession, name, noting)
    return found


# What decisions see

CHANGES = st.one_of(
    st.tuples(st.just("insert"), st.sampled_from(NAMES), st.sampled_from(SESSIONS)),
    st.tuples(st.just("move"), st.sampled_from(NAMES), st.sampled_from((Tier.SENSORY, Tier.SHORT_TERM, Tier.FADED))),
    st.tuples(st.just("buffer"), st.sampled_from(SESSIONS), st.sampled_from((None, "one", "two"))),
    st.tuples(st.just("use"), st.sampled_from(NAMES), st.integers(1, 3)),
)
PREFETCHES = st.none() | st.builds(
    Prefetch,
    after=st.none() | st.integers(0, 6),
    ids=st.lists(st.sampled_from(NAMES).map(MemoryId), max_size=4).map(tuple),
    buffers=st.none() | st.tuples(st.sampled_from(SESSIONS), st.just("default")),
)


def seen(view: WriteView) -> list[Any]:
    """Look at everything that a decision can look at, some of it twice."""
    ids = [MemoryId(name) for name in NAMES]
    tiers = (Tier.SENSORY, Tier.SHORT_TERM)
    return [
        view.get(ids[:2]),
        view.usage(ids[1:]),
        [view.members(session, "default", tier) for session in SESSIONS for tier in tiers],
        [view.buffer(session, "default") for session in SESSIONS],
        view.get(ids),
        view.usage(ids),
        [view.changes(after) for after in (2, 0, view.head)],
    ]


def decision(change: tuple[Any, ...], namespace: str, looks: list[Any]) -> Callable[[WriteView], WriteBatch]:
    def decide(view: WriteView) -> WriteBatch:
        looks.append(seen(view))
        what, first, second = change
        there = view.get([MemoryId(first)]) if what in ("insert", "move", "use") else {}
        if what == "insert":
            new = Insert(memory(first, namespace=namespace, session=second))
            return always(inserts=() if there else (new,))(view)
        if what == "move":
            return always(tier_changes=(SetTier(MemoryId(first), second, "test"),) if there else ())(view)
        if what == "buffer":
            return always(buffers=(BufferState(first, "default", second, START),))(view)
        return always(uses=(RecordUse(MemoryId(first), START, second),))(view)

    return decide


_namespaces = count()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(CHANGES, PREFETCHES), max_size=12))
def test_a_decision_sees_the_same_whatever_was_read_beforehand(hub, steps):
    namespace = f"n{next(_namespaces)}"
    plain = MemoryStore(FakeClock())
    by_prefetch: list[Any] = []
    by_asking: list[Any] = []
    for change, prefetch in steps:
        hub.write(namespace, None, decision(change, namespace, by_prefetch), prefetch=prefetch)
        plain.write(namespace, None, decision(change, namespace, by_asking))
    assert by_prefetch == by_asking


def test_a_call_sees_what_those_before_it_in_its_group_changed(hub, database):
    put(hub, "first", session="a")
    looks: list[Any] = []

    def adding(name: str) -> Callable[[WriteView], WriteBatch]:
        def decide(view: WriteView) -> WriteBatch:
            members = [one.id for one in view.members(*PLACE, Tier.SENSORY)]
            buffer = view.buffer(*PLACE)
            looks.append((members, buffer and buffer.state, list(view.get(known)), [one.id for one in view.changes(1)]))
            inserts = (Insert(memory(name, session="a")),)
            return always(inserts=inserts, buffers=(BufferState(*PLACE, name, START),))(view)

        return decide

    known = [MemoryId(name) for name in ("x", "y")]
    prefetch = Prefetch(after=1, ids=tuple(known), buffers=PLACE)
    calls = [lambda name=name: hub.write("default", None, adding(name), prefetch=prefetch) for name in "xyz"]
    with ThreadPoolExecutor(8) as pool:
        for future in queued(hub, database, pool, *calls):
            future.result(WAIT_SECONDS)
    assert looks == [
        (["first"], None, [], ["leader"]),
        (["first", "x"], "x", ["x"], ["leader", "x"]),
        (["first", "x", "y"], "y", ["x", "y"], ["leader", "x", "y"]),
    ]


def test_more_of_the_log_than_is_read_beforehand_is_read_when_asked_for(hub, monkeypatch):
    monkeypatch.setattr(prefetched, "_MOST_ENTRIES", 3)
    put(hub, *"uvwx")
    looks: list[int] = []

    def decide(view: WriteView) -> WriteBatch:
        looks.extend(len(view.changes(after)) for after in (0, 1))
        return always()(view)

    hub.write("default", None, decide, prefetch=Prefetch(after=0))
    hub.write("default", None, decide, prefetch=Prefetch(after=2))
    assert looks == [4, 3, 4, 3]


def test_a_log_that_was_shortened_is_not_taken_for_whole(hub):
    put(hub, *"uvwx")
    hub.trim("default", 3)

    def decide(view: WriteView) -> WriteBatch:
        view.changes(0)
        return always()(view)

    with pytest.raises(LogTrimmed):
        hub.write("default", None, decide, prefetch=Prefetch(after=0))


# Round trips


def service_over(store: PostgresStore, seed: int) -> MemoryService:
    return MemoryService(store, HashEmbedder(16), clock=FakeClock(), random_source=FakeRandomSource(seed))


def test_an_observation_waits_for_the_server_once_before_it_commits(hub, asked):
    service = service_over(hub, 1)
    scope = Scope(session="s", actor="test")
    for said in ("the first", "and the second"):
        service.write(scope, WriteRequest(content=f"Ada says {said}"))
    asked.clear()
    service.write(scope, WriteRequest(content="Ada says the third"))
    assert asked == ["together"]
    service.close()


def test_what_another_hub_wrote_meanwhile_costs_no_wait_under_the_lock(open_hub, asked):
    here, there = (service_over(open_hub(), seed) for seed in (1, 2))
    for service, session in ((here, "h"), (there, "t"), (here, "h")):
        service.write(Scope(session=session, actor="test"), WriteRequest(content=f"a word of {session}"))
    there.write(Scope(session="t", actor="test"), WriteRequest(content="which here has not heard of"))
    transactions: list[list[str]] = []
    transact = here.store._writers._transact

    def noting(*given: Any) -> None:
        asked.clear()
        transact(*given)
        transactions.append(list(asked))

    here.store._writers._transact = noting
    here.write(Scope(session="h", actor="test"), WriteRequest(content="and goes on"))
    assert transactions == [["together"]]
    for service in (here, there):
        service.close()


def test_buffers_that_overflow_cost_one_wait_more(hub, asked):
    service = service_over(hub, 1)
    scope = Scope(session="s", actor="test")
    waits = []
    for number in range(30):
        asked.clear()
        service.write(scope, WriteRequest(content=f"Ada says number {number}"))
        waits.append(len(asked))
    assert set(waits[1:]) <= {1, 2}
    service.close()
