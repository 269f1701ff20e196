"""The change of a store's embedder, in both stores: gathered beside what is in use, then one switch."""

import numpy as np
import pytest
from tests.core.store.making import DIMENSIONS, always, memory, rows, vector

from hybrid_memory.errors import ConstraintViolation
from hybrid_memory.model import MemoryId
from hybrid_memory.store.base import Insert, SetVector
from hybrid_memory.store.embedder_change import NewVector

WIDE = 5


def wide(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(WIDE).astype(np.float32)


@pytest.fixture
def full(store):
    store.pin_embedder("old", DIMENSIONS)
    store.write("default", None, always(inserts=[Insert(memory(f"m{at}"), vector(at)) for at in range(5)]))
    store.write("other", None, always(inserts=[Insert(memory("m0", namespace="other"))]))
    return store


def gather_all(store):
    store.begin_reembedding("new", WIDE)
    store.gather([NewVector(one.namespace, one.id, wide(at)) for at, one in enumerate(store.waiting(-1, 100))])


def test_all_memories_wait_for_the_candidate_those_without_a_vector_too(full):
    full.begin_reembedding("new", WIDE)
    waiting = full.waiting(-1, 100)
    assert {(one.namespace, one.id) for one in waiting} == {
        *(("default", f"m{at}") for at in range(5)),
        ("other", "m0"),
    }
    assert waiting[0].length == len(memory(waiting[0].id).content)


def test_a_walk_goes_on_behind_a_place(full):
    full.begin_reembedding("new", WIDE)
    first = full.waiting(-1, 4)
    rest = full.waiting(first[-1].place, 4)
    assert len({(one.namespace, one.id) for one in (*first, *rest)}) == 6


def test_the_words_of_the_waiting_are_read_by_their_places(full):
    full.begin_reembedding("new", WIDE)
    waiting = full.waiting(-1, 100)
    words = full.words([one.place for one in waiting[1:4]])
    assert {(one.namespace, one.id) for one in words} == {(one.namespace, one.id) for one in waiting[1:4]}
    assert all(one.content == memory(one.id).content for one in words)
    assert list(full.words([])) == list(full.words([10**6])) == []


def test_progress_is_counted(full):
    full.begin_reembedding("new", WIDE)
    full.gather([NewVector("default", MemoryId("m1"), wide(1))])
    candidate = full.candidate()
    assert (candidate.identity, candidate.dimensions, candidate.done, candidate.total) == ("new", WIDE, 1, 6)
    assert ("default", "m1") not in {(one.namespace, one.id) for one in full.waiting(-1, 100)}


def test_until_the_switch_nothing_is_seen_of_it(full):
    gather_all(full)
    assert (full.info().embedder, full.info().dimensions) == ("old", DIMENSIONS)
    assert np.array_equal(full.vectors("default", [MemoryId("m2")])["m2"], vector(2))
    full.write("default", None, always(inserts=[Insert(memory("late"), vector(9))]))
    assert [one.id for one in full.waiting(-1, 100)] == ["late"]


def test_the_switch_puts_the_new_vectors_in_the_place_of_the_old_ones(full):
    gather_all(full)
    given = full.gathered("default", [MemoryId("m3")])["m3"]
    full.finish_reembedding()
    assert (full.info().embedder, full.info().dimensions) == ("new", WIDE)
    assert full.candidate() is None
    assert np.array_equal(full.vectors("default", [MemoryId("m3")])["m3"], given)
    assert {one["vector"] is None for one in rows(full.snapshot("default")).values()} == {False}
    assert full.vectors("other", [MemoryId("m0")])["m0"].shape == (WIDE,)


def test_what_was_not_gathered_waits_for_its_vector_after_the_switch(full):
    full.begin_reembedding("new", WIDE)
    full.gather([NewVector("default", MemoryId("m1"), wide(1))])
    full.finish_reembedding()
    assert {name for name, one in rows(full.snapshot("default")).items() if one["vector"] is not None} == {"m1"}
    full.write("default", None, always(vectors=[SetVector(MemoryId("m2"), wide(2))]))
    assert np.array_equal(full.vectors("default", [MemoryId("m2")])["m2"], wide(2))


def test_after_the_switch_vectors_of_the_new_length_are_written_and_others_refused(full):
    gather_all(full)
    full.finish_reembedding()
    full.write("default", None, always(inserts=[Insert(memory("next"), wide(7))]))
    with pytest.raises(ConstraintViolation):
        full.write("default", None, always(inserts=[Insert(memory("old"), vector(7))]))


def test_beginning_again_keeps_what_was_gathered(full):
    full.begin_reembedding("new", WIDE)
    full.gather([NewVector("default", MemoryId("m1"), wide(1))])
    full.begin_reembedding("new", WIDE)
    assert full.candidate().done == 1


def test_beginning_with_another_embedder_begins_from_nothing(full):
    full.begin_reembedding("new", WIDE)
    full.gather([NewVector("default", MemoryId("m1"), wide(1))])
    full.begin_reembedding("newer", WIDE)
    assert (full.candidate().identity, full.candidate().done) == ("newer", 0)


def test_a_vector_that_is_there_is_kept(full):
    full.begin_reembedding("new", WIDE)
    full.gather([NewVector("default", MemoryId("m1"), wide(1))])
    full.gather([NewVector("default", MemoryId("m1"), wide(2)), NewVector("default", MemoryId("m2"), wide(2))])
    assert full.candidate().done == 2
    assert np.array_equal(full.gathered("default", [MemoryId("m1")])["m1"], wide(1))


def test_it_can_be_given_up(full):
    gather_all(full)
    full.drop_reembedding()
    full.drop_reembedding()
    assert full.candidate() is None
    assert full.info().embedder == "old"


def test_it_can_be_done_again_and_back(full):
    for identity in ("new", "old", "new"):
        width = DIMENSIONS if identity == "old" else WIDE
        full.begin_reembedding(identity, width)
        full.gather([NewVector(one.namespace, one.id, np.ones(width, np.float32)) for one in full.waiting(-1, 100)])
        full.finish_reembedding()
    assert full.info().embedder == "new"


def test_a_store_without_an_embedder_has_none_to_change(store):
    with pytest.raises(ConstraintViolation):
        store.begin_reembedding("new", WIDE)


@pytest.mark.parametrize("call", ["finish_reembedding", "waiting", "gather", "gathered"])
def test_without_a_candidate_there_is_nothing_to_gather_or_finish(full, call):
    arguments = {"waiting": (-1, 1), "gather": ([],), "gathered": ("default", [])}.get(call, ())
    with pytest.raises(ConstraintViolation):
        getattr(full, call)(*arguments)


def test_the_same_embedder_is_no_change(full):
    with pytest.raises(ConstraintViolation):
        full.begin_reembedding("old", DIMENSIONS)


def test_a_vector_of_another_length_is_refused(full):
    full.begin_reembedding("new", WIDE)
    with pytest.raises(ConstraintViolation):
        full.gather([NewVector("default", MemoryId("m1"), vector(1))])


def test_what_was_gathered_survives_closing(open_duck):
    first = open_duck()
    first.pin_embedder("old", DIMENSIONS)
    first.write("default", None, always(inserts=[Insert(memory("a"), vector(1)), Insert(memory("b"), vector(2))]))
    first.begin_reembedding("new", WIDE)
    first.gather([NewVector("default", MemoryId("a"), wide(1))])
    first.close()
    second = open_duck()
    assert (second.info().embedder, second.candidate().done) == ("old", 1)
    second.finish_reembedding()
    second.close()
    third = open_duck()
    assert (third.info().embedder, third.candidate()) == ("new", None)
    assert np.array_equal(third.vectors("default", [MemoryId("a")])["a"], wide(1))


def test_a_snapshot_begun_before_the_switch_still_reads_the_former_vectors(duck):
    duck.pin_embedder("old", DIMENSIONS)
    duck.write("default", None, always(inserts=[Insert(memory("a"), vector(1))]))
    snapshot = duck.snapshot("default")
    duck.begin_reembedding("new", WIDE)
    duck.gather([NewVector("default", MemoryId("a"), wide(1))])
    duck.finish_reembedding()
    assert rows(snapshot)["a"]["vector"] == vector(1).tolist()
    assert rows(duck.snapshot("default"))["a"]["vector"] == wide(1).tolist()


def test_all_that_was_gathered_can_be_read_at_once(full):
    gather_all(full)
    full.gather([])
    parts = list(full.all_gathered("default"))
    found = {one.decode(): row for part in parts for one, row in zip(part.ids.tolist(), part.matrix, strict=True)}
    single = full.gathered("default", [MemoryId(one) for one in found])
    assert set(found) == {f"m{at}" for at in range(5)}
    assert all(np.array_equal(found[one], single[one]) for one in found)
    assert list(full.all_gathered("nobody")) == []
