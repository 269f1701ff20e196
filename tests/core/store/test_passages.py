"""Passages stand in the row of their memory's vector, in every store: what takes the one along takes the other."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from tests.core.store.hostile_rows import change_rows
from tests.core.store.making import DIMENSIONS, always, memory, passages, vector
from tests.core.store.test_golden import STORES

from hybrid_memory.errors import ConstraintViolation
from hybrid_memory.model import MemoryId
from hybrid_memory.retrieval.index import NamespaceIndex
from hybrid_memory.store.reprocessing import NewVector
from hybrid_memory.store.transfer import MemoryItem
from hybrid_memory.store.writing import Insert, SetVector

A, B, C = (MemoryId(name) for name in "abc")
WIDE = 5
ON_DISK = pytest.mark.parametrize(
    "store", ["duck", pytest.param("postgres", marks=pytest.mark.postgres)], indirect=True
)


@pytest.fixture
def full(store):
    """Three memories: two with passages, one without."""
    store.pin_embedder("old", DIMENSIONS)
    kept = {A: passages(1), C: passages(3, 16)}
    inserts = tuple(Insert(memory(name), vector(at), kept.get(name)) for at, name in enumerate((A, B, C)))
    store.write("default", None, always(inserts=inserts))
    return store


def in_snapshot(store):
    found = {}
    for part in store.snapshot("default").vectors:
        found |= {part.ids[place].decode(): stored for place, stored in part.passages.items()}
    return found


def test_a_write_gives_back_what_a_search_structure_must_apply(store):
    store.pin_embedder("old", DIMENSIONS)
    written = store.write(
        "default", None, always(inserts=(Insert(memory("a"), vector(1), passages(1)), Insert(memory("b"))))
    )
    assert dict(written.passages) == {A: passages(1)}


def test_they_are_in_the_snapshot_and_in_the_news(full):
    assert in_snapshot(full) == {A: passages(1), C: passages(3, 16)}
    assert dict(full.news("default", 0).passages) == {A: passages(1), C: passages(3, 16)}


def test_a_decision_can_read_them(full):
    seen = {}

    def decide(view):
        seen.update(view.passages([A, B, MemoryId("nobody")]))
        return always()(view)

    full.write("default", None, decide)
    assert seen == {A: passages(1)}


def test_another_vector_brings_its_own(full):
    new = (SetVector(A, vector(7)), SetVector(B, vector(8), passages(8)))
    full.write("default", None, always(vectors=new))
    assert in_snapshot(full) == {B: passages(8), C: passages(3, 16)}


@pytest.mark.parametrize("wrong", [b"", passages(1)[:-1], passages(1, 3, DIMENSIONS + 1), passages(1, 17)])
def test_what_is_none_is_not_stored(store, wrong):
    store.pin_embedder("old", DIMENSIONS)
    with pytest.raises(ConstraintViolation, match="passages"):
        store.write("default", None, always(inserts=(Insert(memory("a"), vector(1), wrong),)))


def test_the_next_embedder_has_its_own(full):
    full.embedder_change.begin("new", WIDE)
    wide = {A: None, B: passages(5, 4, WIDE), C: None}
    new = [NewVector("default", one, vector(1)[:WIDE], stored) for one, stored in wide.items()]
    full.embedder_change.add_vectors(new)
    assert in_snapshot(full) == {A: passages(1), C: passages(3, 16)}
    assert full.embedder_change.passages("default", [A, B]) == {B: wide[B]}
    assert [list(part.passages.values()) for part in full.embedder_change.all_vectors("default")] == [[wide[B]]]
    full.embedder_change.finish()
    assert in_snapshot(full) == {B: wide[B]}


def test_the_texts_to_embed_say_whether_they_are_turns(store, clock):
    store.pin_embedder("old", DIMENSIONS)
    turn = memory("a", speaker="Ana", occurred_at=clock.now())
    store.write("default", None, always(inserts=(Insert(turn), Insert(memory("b", speaker="Ana")))))
    store.embedder_change.begin("new", WIDE)
    places = [one.place for one in store.embedder_change.unembedded(-1, 9)]
    assert {one.id: one.is_turn for one in store.embedder_change.texts_at(places)} == {A: True, B: False}


@ON_DISK
def test_they_go_into_an_export_and_come_out_of_an_import(full):
    items = [one for one in full.transfer.export_items(None, vectors=True).items if isinstance(one, MemoryItem)]
    assert {one.memory.id: one.passages for one in items} == {A: passages(1), B: None, C: passages(3, 16)}
    new = [MemoryItem(memory("d"), None, vector(4), passages(4)), MemoryItem(memory("e"), None, vector(5))]
    full.transfer.import_items(new, action="import", actor="tester")
    assert in_snapshot(full) == {A: passages(1), C: passages(3, 16), "d": passages(4)}


DAMAGES = pytest.mark.parametrize(
    "damage",
    [
        pytest.param(b"\xff" * 3 * (DIMENSIONS + 4), id="other bytes"),
        pytest.param(b"", id="nothing"),
        pytest.param(passages(1)[:-1], id="cut off"),
        pytest.param(passages(1, 2, DIMENSIONS + 1), id="of another embedder"),
    ],
)


@pytest.mark.slow
@DAMAGES
def test_bytes_in_a_file_that_are_none_take_nothing_else_along(full_file, damage):
    store = full_file("UPDATE vector_1 SET passages = ? WHERE id = 'a'", damage)
    goes_on_without_those_of_a(store)


@pytest.mark.postgres
@pytest.mark.parametrize("store", ["postgres"], indirect=True)
@DAMAGES
def test_bytes_in_a_database_that_are_none_take_nothing_else_along(full, database, damage):
    database.rows("UPDATE vector SET passages = %s WHERE id = 'a'", damage)
    goes_on_without_those_of_a(full)


@pytest.fixture
def full_file(path, open_duck, duck):
    """Change the file of the store of `full`, and open it."""

    def changed(statement, *values):
        duck.pin_embedder("old", DIMENSIONS)
        kept = {A: passages(1), C: passages(3, 16)}
        duck.write(
            "default", None, always(inserts=tuple(Insert(memory(one), vector(1), kept.get(one)) for one in (A, B, C)))
        )
        duck.close()
        change_rows(path, statement, values)
        return open_duck()

    return changed


def goes_on_without_those_of_a(store):
    index = NamespaceIndex(store.hasher, DIMENSIONS)
    index.load(store.snapshot("default"))
    best = index._matrix.best_passages(vector(1))
    assert np.isnan(best).tolist() == [True, True, False]
    assert sorted(store.vectors("default", [A, B, C])) == ["a", "b", "c"]
    items = [one for one in store.transfer.export_items(None, vectors=True).items if isinstance(one, MemoryItem)]
    assert {one.memory.id: one.passages is None for one in items} == {A: True, B: True, C: False}
    store.write("default", None, always(vectors=(SetVector(A, vector(1), passages(2)),)))
    assert in_snapshot(store) == {A: passages(2), C: passages(3, 16)}


@pytest.mark.slow
def test_a_file_of_the_schema_before_gets_room_for_them(path, open_duck):
    path.parent.mkdir(mode=0o700)
    path.touch(mode=0o600)
    path.write_bytes(gzip.decompress((STORES / "schema-8.duckdb.gz").read_bytes()))
    store = open_duck()
    assert in_snapshot(store) == {}
    length = store.info().dimensions
    some = np.eye(length, dtype=np.float32)[0]
    store.write("default", None, always(inserts=(Insert(memory("a"), some, passages(1, 3, length)),)))
    assert in_snapshot(store) == {A: passages(1, 3, length)}
