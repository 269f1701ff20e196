from dataclasses import replace

import pytest
from tests.core.store.making import DIMENSIONS, always, memory, move, patch, put, rows, vector
from tests.core.store.test_writing import FULL, LATER

from hybrid_memory.clock import to_micros
from hybrid_memory.model import Kind, MemoryId, Origin, Tier, Trust
from hybrid_memory.retrieval.index import NamespaceIndex
from hybrid_memory.store.column_batches import digest_of
from hybrid_memory.store.duck import snapshot as duck_snapshot
from hybrid_memory.store.duck import vector_tables as duck_vectors
from hybrid_memory.store.snapshots import NO_TIME
from hybrid_memory.store.writing import Insert, RecordUse, SetVector
from hybrid_memory.testing import HASHER, START


@pytest.mark.parametrize(
    ("name", "values"),
    [("kind", Kind), ("tier", Tier), ("trust", Trust), ("origin", Origin)],
    ids=lambda one: str(one)[:9],
)
def test_a_snapshot_can_read_every_value_that_a_memory_may_have(store, name, values):
    for number, value in enumerate(values):
        put(store, f"m{number}", **{name: value})
    found = rows(store.snapshot("default"))
    assert [found[f"m{number}"]["unreadable"] for number in range(len(values))] == [False] * len(values)
    if name != "origin":  # of which an index knows nothing
        assert [found[f"m{number}"][name] for number in range(len(values))] == [value.value for value in values]


def test_a_snapshot_holds_every_column(store):
    store.pin_embedder("e", DIMENSIONS)
    store.write("default", None, always(inserts=(Insert(FULL, vector(1)), Insert(memory("bare", terms=())))))
    store.touch("default", [RecordUse(MemoryId("full"), LATER, 3)])
    snapshot = store.snapshot("default")
    found = rows(snapshot)
    assert snapshot.head == 2
    assert found["full"] == {
        "tier": "long_term",
        "kind": "insight",
        "session": "s-1",
        "speaker": "Ann",
        "key": "task",
        "trust": "confirmed",
        "tags": FULL.tags,
        "digests": list(digest_of("hash-full")),
        "metadata": {"a": [1, 2.5, None, {"b": True}], "ü": "x"},
        "unreadable": False,
        "superseded_by": "next",
        "disputes": "better",
        "pinned": True,
        "importance": 0.1 + 0.2,
        "aspects": 5,
        "created_at": to_micros(START),
        "occurred_at": to_micros(FULL.occurred_at),
        "expires_at": to_micros(LATER),
        "forgotten_at": to_micros(LATER),
        "reflected_at": to_micros(LATER),
        "accessed_at": to_micros(LATER),
        "access_count": 3,
        "terms": [1, -2, 3],
        "names": [-2, 7],
        "days": [20_000, 20_003],
        "vector": vector(1).tolist(),
    }
    absent = ("speaker", "key", "metadata", "superseded_by", "disputes", "tags", "vector")
    assert [found["bare"][name] for name in absent] == [None] * 7
    moments = ("occurred_at", "expires_at", "forgotten_at", "reflected_at", "accessed_at")
    assert [found["bare"][name] for name in moments] == [NO_TIME] * 5
    assert [found["bare"][name] for name in ("terms", "names", "days", "access_count")] == [[], [], [], 0]


def test_a_store_without_an_embedder_has_no_vectors(store):
    put(store, "a")
    assert rows(store.snapshot("default"))["a"]["vector"] is None


def test_a_snapshot_shows_one_moment_whatever_is_written_while_it_is_read(store):
    store.pin_embedder("e", DIMENSIONS)
    store.write("default", None, always(inserts=(Insert(memory("a"), vector(1)),)))
    snapshot = store.snapshot("default")
    store.write("default", None, always(inserts=(Insert(memory("b"), vector(2)),)))
    store.write("default", None, move("a", Tier.FADED))
    found = rows(snapshot)
    assert (snapshot.head, list(found), found["a"]["tier"]) == (1, ["a"], "sensory")


@pytest.mark.slow
def test_rows_of_several_chunks_and_namespaces_stay_aligned(store, monkeypatch):
    monkeypatch.setattr(duck_snapshot, "_CHUNK_ROWS", 5)
    monkeypatch.setattr(duck_vectors, "_SPAN_ROWS", 3)
    store.pin_embedder("e", DIMENSIONS)
    for number in range(23):
        namespace = "other" if number % 4 == 1 else "default"
        made = memory(f"m{number}", namespace=namespace, terms=tuple(range(number % 3)), tags=(str(number),))
        unit = vector(number) if number % 3 else None
        store.write(namespace, None, always(inserts=(Insert(made, unit),)))
    for number in (0, 2, 22):
        store.write("default", None, patch(f"m{number}", lambda found: replace(found, tags=("new",))))
    found = rows(store.snapshot("default"))
    assert list(found) == [f"m{number}" for number in range(23) if number % 4 != 1]
    for name, values in found.items():
        number = int(name[1:])
        assert values["vector"] == (vector(number).tolist() if number % 3 else None)
        assert values["terms"] == list(range(number % 3))
        assert values["tags"] == (("new",) if number in {0, 2, 22} else (str(number),))


def test_a_snapshot_that_nobody_reads_does_not_keep_the_store_open(store):
    put(store, "a")
    half_read = store.snapshot("default")
    next(iter(half_read.batches))
    unread = store.snapshot("default")
    store.close()
    assert unread.head == half_read.head == 1


def test_names_that_share_a_hash_are_told_apart(store, monkeypatch):
    for number in range(6):
        put(store, f"m{number}", session=f"s{number % 3}", speaker=(None, "Ann", "Bob")[number % 3])
    expected = rows(store.snapshot("default"))
    monkeypatch.setattr(duck_snapshot.NameTable, "is_unambiguous", False)
    assert rows(store.snapshot("default")) == expected
    assert [expected[f"m{number}"]["speaker"] for number in range(3)] == [None, "Ann", "Bob"]


def test_ids_of_all_lengths_are_kept(store):
    names = ("a", "A.b_c:d-9" * 7, "z" * 20)
    store.pin_embedder("e", DIMENSIONS)
    for seed, name in enumerate(names):
        store.write("default", None, always(inserts=(Insert(memory(name), vector(seed)),)))
    found = rows(store.snapshot("default"))
    assert list(found) == list(names)
    assert [found[name]["vector"] for name in names] == [vector(seed).tolist() for seed in range(len(names))]


def test_a_vector_that_came_later_still_belongs_to_its_memory(store):
    store.pin_embedder("e", DIMENSIONS)
    store.write(
        "default",
        None,
        always(inserts=(Insert(memory("a")), Insert(memory("b"), vector(1)), Insert(memory("c"), vector(2)))),
    )
    store.write(
        "default", None, always(vectors=(SetVector(MemoryId("a"), vector(3)), SetVector(MemoryId("b"), vector(4))))
    )
    index = NamespaceIndex(HASHER, DIMENSIONS)
    index.load(store.snapshot("default"))
    found = index.vectors_of([MemoryId(name) for name in "abc"])
    assert [found[MemoryId(name)].tolist() for name in "abc"] == [vector(seed).tolist() for seed in (3, 4, 2)]
