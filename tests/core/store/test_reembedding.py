"""The change of a store's embedder, in both stores: new vectors are stored alongside those in use, then one switch."""

import numpy as np
import pytest
from tests.core.store.making import DIMENSIONS, always, memory, rows, vector

from hybrid_memory.errors import ConstraintViolation
from hybrid_memory.model import MemoryId
from hybrid_memory.store.reprocessing import NewVector
from hybrid_memory.store.writing import Insert, SetVector

WIDE = 5


def wide(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(WIDE).astype(np.float32)


@pytest.fixture
def full(store):
    store.pin_embedder("old", DIMENSIONS)
    store.write("default", None, always(inserts=[Insert(memory(f"m{at}"), vector(at)) for at in range(5)]))
    store.write("other", None, always(inserts=[Insert(memory("m0", namespace="other"))]))
    return store


def add_all_vectors(store):
    store.embedder_change.begin("new", WIDE)
    store.embedder_change.add_vectors(
        [NewVector(one.namespace, one.id, wide(at)) for at, one in enumerate(store.embedder_change.unembedded(-1, 100))]
    )


def test_all_memories_wait_for_the_next_embedder_those_without_a_vector_too(full):
    full.embedder_change.begin("new", WIDE)
    waiting = full.embedder_change.unembedded(-1, 100)
    assert {(one.namespace, one.id) for one in waiting} == {
        *(("default", f"m{at}") for at in range(5)),
        ("other", "m0"),
    }
    assert waiting[0].length == len(memory(waiting[0].id).content)


def test_a_walk_goes_on_behind_a_place(full):
    full.embedder_change.begin("new", WIDE)
    first = full.embedder_change.unembedded(-1, 4)
    rest = full.embedder_change.unembedded(first[-1].place, 4)
    assert len({(one.namespace, one.id) for one in (*first, *rest)}) == 6


def test_the_texts_of_the_unembedded_are_read_by_their_places(full):
    full.embedder_change.begin("new", WIDE)
    waiting = full.embedder_change.unembedded(-1, 100)
    words = full.embedder_change.texts_at([one.place for one in waiting[1:4]])
    assert {(one.namespace, one.id) for one in words} == {(one.namespace, one.id) for one in waiting[1:4]}
    assert all(one.content == memory(one.id).content for one in words)
    assert list(full.embedder_change.texts_at([])) == list(full.embedder_change.texts_at([10**6])) == []


def test_progress_is_counted(full):
    full.embedder_change.begin("new", WIDE)
    full.embedder_change.add_vectors([NewVector("default", MemoryId("m1"), wide(1))])
    candidate = full.embedder_change.next_embedder()
    assert (candidate.identity, candidate.dimensions, candidate.done, candidate.total) == ("new", WIDE, 1, 6)
    assert ("default", "m1") not in {(one.namespace, one.id) for one in full.embedder_change.unembedded(-1, 100)}


def test_until_the_switch_nothing_is_seen_of_it(full):
    add_all_vectors(full)
    assert (full.info().embedder, full.info().dimensions) == ("old", DIMENSIONS)
    assert np.array_equal(full.vectors("default", [MemoryId("m2")])["m2"], vector(2))
    full.write("default", None, always(inserts=[Insert(memory("late"), vector(9))]))
    assert [one.id for one in full.embedder_change.unembedded(-1, 100)] == ["late"]


def test_the_switch_puts_the_new_vectors_in_the_place_of_the_old_ones(full):
    add_all_vectors(full)
    given = full.embedder_change.vectors("default", [MemoryId("m3")])["m3"]
    full.embedder_change.finish()
    assert (full.info().embedder, full.info().dimensions) == ("new", WIDE)
    assert full.embedder_change.next_embedder() is None
    assert np.array_equal(full.vectors("default", [MemoryId("m3")])["m3"], given)
    assert {one["vector"] is None for one in rows(full.snapshot("default")).values()} == {False}
    assert full.vectors("other", [MemoryId("m0")])["m0"].shape == (WIDE,)


def test_what_has_no_new_vector_waits_for_its_vector_after_the_switch(full):
    full.embedder_change.begin("new", WIDE)
    full.embedder_change.add_vectors([NewVector("default", MemoryId("m1"), wide(1))])
    full.embedder_change.finish()
    assert {name for name, one in rows(full.snapshot("default")).items() if one["vector"] is not None} == {"m1"}
    full.write("default", None, always(vectors=[SetVector(MemoryId("m2"), wide(2))]))
    assert np.array_equal(full.vectors("default", [MemoryId("m2")])["m2"], wide(2))


def test_after_the_switch_vectors_of_the_new_length_are_written_and_others_refused(full):
    add_all_vectors(full)
    full.embedder_change.finish()
    full.write("default", None, always(inserts=[Insert(memory("next"), wide(7))]))
    with pytest.raises(ConstraintViolation):
        full.write("default", None, always(inserts=[Insert(memory("old"), vector(7))]))


def test_beginning_again_keeps_the_new_vectors(full):
    full.embedder_change.begin("new", WIDE)
    full.embedder_change.add_vectors([NewVector("default", MemoryId("m1"), wide(1))])
    full.embedder_change.begin("new", WIDE)
    assert full.embedder_change.next_embedder().done == 1


def test_beginning_with_another_embedder_begins_from_nothing(full):
    full.embedder_change.begin("new", WIDE)
    full.embedder_change.add_vectors([NewVector("default", MemoryId("m1"), wide(1))])
    full.embedder_change.begin("newer", WIDE)
    assert (full.embedder_change.next_embedder().identity, full.embedder_change.next_embedder().done) == ("newer", 0)


def test_a_vector_that_is_there_is_kept(full):
    full.embedder_change.begin("new", WIDE)
    full.embedder_change.add_vectors([NewVector("default", MemoryId("m1"), wide(1))])
    full.embedder_change.add_vectors(
        [NewVector("default", MemoryId("m1"), wide(2)), NewVector("default", MemoryId("m2"), wide(2))]
    )
    assert full.embedder_change.next_embedder().done == 2
    assert np.array_equal(full.embedder_change.vectors("default", [MemoryId("m1")])["m1"], wide(1))


def test_it_can_be_given_up(full):
    add_all_vectors(full)
    full.embedder_change.cancel()
    full.embedder_change.cancel()
    assert full.embedder_change.next_embedder() is None
    assert full.info().embedder == "old"


def test_it_can_be_done_again_and_back(full):
    for identity in ("new", "old", "new"):
        width = DIMENSIONS if identity == "old" else WIDE
        full.embedder_change.begin(identity, width)
        full.embedder_change.add_vectors(
            [
                NewVector(one.namespace, one.id, np.ones(width, np.float32))
                for one in full.embedder_change.unembedded(-1, 100)
            ]
        )
        full.embedder_change.finish()
    assert full.info().embedder == "new"


def test_a_store_without_an_embedder_has_none_to_change(store):
    with pytest.raises(ConstraintViolation):
        store.embedder_change.begin("new", WIDE)


@pytest.mark.slow
@pytest.mark.parametrize("call", ["finish", "unembedded", "add_vectors", "vectors"])
def test_without_a_next_embedder_there_is_nothing_to_add_or_finish(full, call):
    arguments = {"unembedded": (-1, 1), "add_vectors": ([],), "vectors": ("default", [])}.get(call, ())
    with pytest.raises(ConstraintViolation):
        getattr(full.embedder_change, call)(*arguments)


def test_the_same_embedder_is_no_change(full):
    with pytest.raises(ConstraintViolation):
        full.embedder_change.begin("old", DIMENSIONS)


def test_a_vector_of_another_length_is_refused(full):
    full.embedder_change.begin("new", WIDE)
    with pytest.raises(ConstraintViolation):
        full.embedder_change.add_vectors([NewVector("default", MemoryId("m1"), vector(1))])


def test_new_vectors_survive_closing(open_duck):
    first = open_duck()
    first.pin_embedder("old", DIMENSIONS)
    first.write("default", None, always(inserts=[Insert(memory("a"), vector(1)), Insert(memory("b"), vector(2))]))
    first.embedder_change.begin("new", WIDE)
    first.embedder_change.add_vectors([NewVector("default", MemoryId("a"), wide(1))])
    first.close()
    second = open_duck()
    assert (second.info().embedder, second.embedder_change.next_embedder().done) == ("old", 1)
    second.embedder_change.finish()
    second.close()
    third = open_duck()
    assert (third.info().embedder, third.embedder_change.next_embedder()) == ("new", None)
    assert np.array_equal(third.vectors("default", [MemoryId("a")])["a"], wide(1))


def test_a_snapshot_begun_before_the_switch_still_reads_the_former_vectors(duck):
    duck.pin_embedder("old", DIMENSIONS)
    duck.write("default", None, always(inserts=[Insert(memory("a"), vector(1))]))
    snapshot = duck.snapshot("default")
    duck.embedder_change.begin("new", WIDE)
    duck.embedder_change.add_vectors([NewVector("default", MemoryId("a"), wide(1))])
    duck.embedder_change.finish()
    assert rows(snapshot)["a"]["vector"] == vector(1).tolist()
    assert rows(duck.snapshot("default"))["a"]["vector"] == wide(1).tolist()


def test_all_new_vectors_can_be_read_at_once(full):
    add_all_vectors(full)
    full.embedder_change.add_vectors([])
    parts = list(full.embedder_change.all_vectors("default"))
    found = {one.decode(): row for part in parts for one, row in zip(part.ids.tolist(), part.matrix, strict=True)}
    single = full.embedder_change.vectors("default", [MemoryId(one) for one in found])
    assert set(found) == {f"m{at}" for at in range(5)}
    assert all(np.array_equal(found[one], single[one]) for one in found)
    assert list(full.embedder_change.all_vectors("nobody")) == []
