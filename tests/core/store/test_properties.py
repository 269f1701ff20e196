"""Random histories, run through both stores and followed by a model that knows only the log's contents."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.core.store.making import DIMENSIONS, always, memory, rows, vector
from tests.postgres.fixtures import POSTGRES

from hybrid_memory.errors import StoreError
from hybrid_memory.model import MemoryId, Tier
from hybrid_memory.store.base import Store
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.store.snapshots import Snapshot
from hybrid_memory.store.writing import (
    BufferState,
    Insert,
    RecordUse,
    RequestKey,
    SetTier,
    Update,
    WriteBatch,
    WriteView,
)
from hybrid_memory.testing import START, FakeClock

if TYPE_CHECKING:
    from tests.postgres.server import PostgresServer

NAMES = [f"m{number}" for number in range(6)]
NAMESPACES = ["default", "other"]


def actions(texts: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.tuples(st.just("insert"), st.sampled_from(NAMES), st.booleans(), texts),
        st.tuples(st.just("update"), st.sampled_from(NAMES), st.integers(0, 3), texts),
        st.tuples(st.just("set tier"), st.sampled_from(NAMES), st.sampled_from(list(Tier))),
        st.tuples(st.just("use"), st.sampled_from(NAMES), st.integers(1, 3)),
        st.tuples(st.just("buffer"), st.sampled_from(["s-1", "s-2"]), st.none() | texts),
    )


def lists_of_writes(excluded: str) -> st.SearchStrategy[Any]:
    texts = st.text(st.characters(exclude_categories=("Cs",), exclude_characters=excluded), max_size=12)
    one = st.tuples(
        st.sampled_from(NAMESPACES), st.none() | st.integers(1, 4), st.lists(actions(texts), max_size=4), st.booleans()
    )
    return st.lists(one, max_size=8)


WRITES = lists_of_writes("")
PLAIN_WRITES = lists_of_writes("\x00")  # which PostgreSQL refuses
SETTINGS = settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def with_keys_behind_walls(writes: list[Any]) -> list[Any]:
    """Return writes of which none has two reasons to fail, one of them that another namespace has its key.

    A database shows nobody the requests of another namespace, so there that is found only when all else is right.
    """
    shared = {number for number in range(1, 5) if len({one[0] for one in writes if one[1] == number}) > 1}
    seen: set[int] = set()
    told = []
    for namespace, number, actions, fails in writes:
        again = number in shared and number in seen
        told.append((namespace, number, [] if again else actions, fails and not again))
        seen.add(number)
    return told


def decision(namespace: str, actions: list[tuple[Any, ...]], fails: bool) -> Any:
    def decide(view: WriteView) -> WriteBatch:
        parts: dict[str, list[Any]] = {"inserts": [], "updates": [], "tier_changes": [], "uses": [], "buffers": []}
        for kind, name, *rest in actions:
            id_ = MemoryId(name)
            if kind == "insert":
                made = memory(name, namespace=namespace, content=rest[1], terms=(len(rest[1]),))
                parts["inserts"].append(Insert(made, vector(len(rest[1])) if rest[0] else None))
            elif kind == "update" and id_ in (found := view.get([id_])):
                wished = replace(
                    found[id_], rev=found[id_].rev + rest[0] // 3, tags=(rest[1],), metadata={"a": rest[1]}
                )
                parts["updates"].append(Update(wished))
            elif kind == "set tier":
                parts["tier_changes"].append(SetTier(id_, rest[0]))
            elif kind == "use":
                parts["uses"].append(RecordUse(id_, START, rest[0]))
            elif kind == "buffer":
                parts["buffers"].append(BufferState(name, "a", rest[0], START))
        if fails:
            raise LookupError
        return always(**{part: tuple(listed) for part, listed in parts.items()}, result={"head": view.head})(view)

    return decide


def play(store: Store, writes: list[Any]) -> list[Any]:
    outcomes: list[Any] = [store.pin_embedder("e", DIMENSIONS)]
    for namespace, number, actions, fails in writes:
        key = None if number is None else RequestKey("relay", number)
        try:
            written = store.write(namespace, key, decision(namespace, actions, fails))
        except (StoreError, LookupError) as error:
            outcomes.append(type(error))
        else:
            vectors = {id_: found.tolist() for id_, found in written.vectors.items()}
            outcomes.append(
                (written.result, written.position, written.replayed, written.log, written.memories, vectors)
            )
    return outcomes


def state(store: Store) -> list[Any]:
    ids = [MemoryId(name) for name in NAMES]
    buffers: list[Any] = []
    for namespace in NAMESPACES:
        store.write(namespace, None, lambda view: buffers.append(view.buffers()) or always()(view))
    return [
        buffers,
        list(store.namespaces()),
        store.info().memories,
        *[
            (
                store.head(namespace),
                store.changes(namespace, 0),
                store.get(namespace, ids),
                store.usage(namespace, ids),
                {id_: found.tolist() for id_, found in store.vectors(namespace, ids).items()},
                rows(store.snapshot(namespace)),
            )
            for namespace in NAMESPACES
        ],
    ]


@contextmanager
def duck_in_new_folder() -> Iterator[tuple[DuckStore, Path]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.duckdb"
        store = DuckStore.open(path, FakeClock())
        try:
            yield store, path
        finally:
            store.close()


@contextmanager
def postgres_in_new_database(server: PostgresServer) -> Iterator[Store]:
    from hybrid_memory_postgres.store import PostgresStore

    database = server.create_database()
    store = PostgresStore.open(database.conninfo, FakeClock(), size=8)  # a snapshot may hold two
    try:
        yield store
    finally:
        store.close()
        server.drop_database(database.name)


@pytest.fixture
def server(request: pytest.FixtureRequest) -> PostgresServer | None:
    """The real server, for tests that run over one too."""
    wanted = any(mark.name == "postgres" for mark in request.node.iter_markers())
    return request.getfixturevalue("postgres_server") if wanted else None


@contextmanager
def new_store(kind: str, server: PostgresServer | None) -> Iterator[Store]:
    if kind == "memory":
        yield MemoryStore(FakeClock())
    elif server is not None:
        with postgres_in_new_database(server) as store:
            yield store
    else:
        with duck_in_new_folder() as (store, _):
            yield store


@pytest.mark.slow
@SETTINGS
@given(WRITES)
def test_both_stores_do_the_same(writes):
    second = MemoryStore(FakeClock())
    with duck_in_new_folder() as (first, _):
        assert play(first, writes) == play(second, writes)
        assert state(first) == state(second)


@pytest.mark.postgres
@SETTINGS
@given(writes=PLAIN_WRITES.map(with_keys_behind_walls))
def test_a_store_in_a_database_does_the_same_as_one_in_memory(server, writes):
    second = MemoryStore(FakeClock())
    with postgres_in_new_database(server) as first:
        assert play(first, writes) == play(second, writes)
        assert state(first) == state(second)


@pytest.mark.slow
@SETTINGS
@given(WRITES)
def test_reopening_keeps_everything(writes):
    with duck_in_new_folder() as (store, path):
        play(store, writes)
        before = state(store)
        results = [store.result("default", RequestKey("relay", number)) for number in range(1, 5)]
        store.close()
        again = DuckStore.open(path, FakeClock())
        try:
            assert state(again) == before
            assert [again.result("default", RequestKey("relay", number)) for number in range(1, 5)] == results
        finally:
            again.close()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["duck", "memory", POSTGRES])
@SETTINGS
@given(writes=WRITES)
def test_the_log_tells_the_revision_of_every_row(kind, server, writes):
    with new_store(kind, server) as store:
        play(store, writes)
        for namespace in NAMESPACES:
            log = store.changes(namespace, 0)
            told = {entry.id: entry.rev for entry in log}
            held = store.get(namespace, [MemoryId(name) for name in NAMES])
            assert told == {id_: found.rev for id_, found in held.items()}
            assert [entry.position for entry in log] == list(range(1, store.head(namespace) + 1))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["duck", "memory", POSTGRES])
@SETTINGS
@given(before=WRITES, after=WRITES)
def test_a_snapshot_and_the_changes_behind_it_give_a_fresh_snapshot(kind, server, before, after):
    with new_store(kind, server) as store:
        play(store, before)
        old = {namespace: store.snapshot(namespace) for namespace in NAMESPACES}
        play(store, after)
        for namespace in NAMESPACES:
            assert followed(store, namespace, old[namespace]) == rows(store.snapshot(namespace))


def followed(store: Store, namespace: str, snapshot: Snapshot) -> dict[str, Any]:
    held = rows(snapshot)
    fresh = rows(store.snapshot(namespace))
    for entry in store.changes(namespace, snapshot.head):
        held[entry.id] = fresh[entry.id]
    for id_, use in store.usage(namespace, [MemoryId(name) for name in held]).items():
        held[id_] = held[id_] | {"access_count": use.count, "accessed_at": fresh[id_]["accessed_at"]}
    return held
