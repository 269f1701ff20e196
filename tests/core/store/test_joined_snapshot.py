"""The snapshots of two namespaces as one: the same rows as if all had been written into one namespace."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.speaking import remember
from tests.postgres.fixtures import POSTGRES

from hybrid_memory.model import Scope
from hybrid_memory.requests import ForgetRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.store.column_batches import build_snapshot
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.store.joined_snapshot import joined
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.store.snapshots import ColumnBatch
from hybrid_memory.testing import FakeClock, FakeRandomSource, HashEmbedder

ONE, OTHER = Scope(namespace="one", session="s"), Scope(namespace="other", session="t")


def filled(store, clock, steps):
    """Write into two namespaces in turns, and everything into a third one in the same order; ids are those of their places."""
    service = MemoryService(store, HashEmbedder(), clock=clock, random_source=FakeRandomSource())
    for at, (first, speaker, tags) in enumerate(steps):
        for scope in (ONE if first else OTHER, Scope(namespace="all", session="s" if first else "t")):
            remember(service, scope, f"sentence {at} on 3 March", speaker=speaker, tags=tags, metadata={"n": at})
        clock.advance(seconds=1)
    return service


def rows_of(snapshot):
    """Return what is known of each row, by the names of sessions and speakers; ids differ and are left out."""
    (batch,) = snapshot.batches
    rows = []
    for row in range(len(batch.ids)):
        told = {
            one.name: getattr(batch, one.name)[row].tolist()
            for one in fields(ColumnBatch)
            if one.name in ("tier", "kind", "trust", "importance", "created_at", "digests", "pinned", "forgotten_at")
        }
        for name, offsets in (("terms", "term_offsets"), ("names", "name_offsets"), ("days", "day_offsets")):
            begin, end = getattr(batch, offsets)[row : row + 2].tolist()
            told[name] = getattr(batch, name)[begin:end].tolist()
        told |= {name: getattr(batch, name).get(row) for name in ("key", "tags", "metadata")}
        speaker = batch.speaker[row]
        told |= {
            "session": snapshot.sessions[batch.session[row]],
            "speaker": None if speaker < 0 else snapshot.speakers[speaker],
        }
        rows.append(told)
    return rows


def in_batches(store, namespace):
    """Return the snapshot of a namespace in batches of two rows."""
    part = store._data.namespaces.get(namespace)
    if part is None:
        return store.snapshot(namespace)
    return build_snapshot(namespace, part.head, part.memories, part.vectors, part.usage, part.passages, chunk=2)


STEPS = st.lists(
    st.tuples(st.booleans(), st.sampled_from([None, "Ada", "Bo"]), st.sampled_from([(), ("x",), ("x", "y")])),
    min_size=1,
    max_size=8,
)


@pytest.mark.slow
@given(STEPS)
def test_it_has_the_rows_of_one_namespace_in_their_order(steps):
    clock = FakeClock()
    with_all = filled(MemoryStore(clock, FakeRandomSource(1)), clock, steps)
    store = with_all.store
    found = joined([in_batches(store, name) for name in ("one", "other")])
    assert [(row["metadata"], row["terms"]) for row in rows_of(found)] == [
        (row["metadata"], row["terms"]) for row in rows_of(joined([store.snapshot("all")]))
    ]
    (ids,) = found.ids
    vectors = {id_: row for part in found.vectors for id_, row in zip(part.ids.tolist(), part.matrix, strict=True)}
    assert set(vectors) == set(ids.tolist())
    with_all.close()


@pytest.mark.parametrize("kind", ["memory", "duck", POSTGRES])
def test_it_is_the_same_of_either_store(kind, tmp_path, clock, open_postgres):
    steps = [(True, "Ada", ("x",)), (False, None, ()), (True, None, ()), (False, "Bo", ("y",))]
    if kind == "postgres":
        store = open_postgres(clock, random_source=FakeRandomSource(1))
    elif kind == "duck":
        store = DuckStore.open(tmp_path / "memory.duckdb", clock, random_source=FakeRandomSource(1))
    else:
        store = MemoryStore(clock, FakeRandomSource(1))
    service = filled(store, clock, steps)
    service.forget(ONE, ForgetRequest(ids=(service.recent(ONE)[0].id,)))
    found = joined([store.snapshot("one"), store.snapshot("other")])
    vectors = {id_: row for part in found.vectors for id_, row in zip(part.ids.tolist(), part.matrix, strict=True)}
    assert set(vectors) == set(found.ids[0].tolist())
    rows = rows_of(joined([store.snapshot("one"), store.snapshot("other")]))
    assert [row["speaker"] for row in rows] == ["Ada", None, None, "Bo"]
    assert [row["tags"] for row in rows] == [("x",), None, None, ("y",)]
    assert [row["session"] for row in rows] == ["s", "t", "s", "t"]
    assert [row["forgotten_at"] > 0 for row in rows] == [False, False, True, False]
    service.close()


def test_two_namespaces_without_memories_are_none(clock):
    store = MemoryStore(clock)
    (batch,) = joined([store.snapshot("one"), store.snapshot("other")]).batches
    assert len(batch.ids) == 0
    assert batch.digests.shape == (0, 2)
    assert np.array_equal(batch.term_offsets, [0])
