"""The best passage of each row, against a search of all of them one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.retrieval.memories import entry, memory, purge, put, snapshot_of
from tests.core.store.making import passages

from hybrid_memory.embedding.passages import unpacked
from hybrid_memory.model import MemoryId
from hybrid_memory.retrieval.index import NamespaceIndex, VectorSwap
from hybrid_memory.retrieval.vectors import Matrix
from hybrid_memory.store.snapshots import VectorBatch
from hybrid_memory.testing import HASHER

ROWS, WIDE = 6, 8
ASKED = np.random.default_rng(7).standard_normal(WIDE).astype(np.float32)
STEPS = st.lists(
    st.tuples(st.sampled_from(["put", "clear", "fill", "scatter"]), st.integers(0, ROWS - 1), st.integers(0, 16)),
    max_size=40,
)


def expected(held):
    best = np.full(ROWS, np.nan, np.float32)
    for row, stored in held.items():
        found = unpacked([stored], WIDE)
        best[row] = max(
            step.astype(np.float32) @ ASKED * scale for step, scale in zip(found.steps, found.scales, strict=True)
        )
    return best


@settings(deadline=None)
@given(STEPS)
def test_the_best_passage_is_that_of_what_was_set_last(steps):
    matrix, held = Matrix(WIDE), {}
    matrix.add_rows(ROWS)
    for seed, (what, row, count) in enumerate(steps):
        given_passages = passages(seed, count) or None
        held.pop(row, None)
        if what == "clear":
            matrix.clear(row)
            continue
        if what == "put":
            matrix.put(row, ASKED, given_passages)
        else:
            if what == "fill":
                matrix.fill(row, ASKED[None])
            else:
                matrix.scatter(np.array([row]), ASKED[None])
            if given_passages:
                matrix.add_passages(np.array([row]), [given_passages])
        if given_passages:
            held[row] = given_passages
    found = matrix.best_passages(ASKED)
    found = np.full(ROWS, np.nan) if found is None else found
    np.testing.assert_allclose(found, expected(held), rtol=1e-4, atol=1e-6)


def test_without_passages_there_is_nothing_to_work_out():
    matrix = Matrix(WIDE)
    matrix.add_rows(1)
    matrix.put(0, ASKED)
    assert matrix.best_passages(ASKED) is None


def test_rows_that_come_later_have_none():
    matrix = Matrix(WIDE)
    matrix.add_rows(1)
    matrix.put(0, ASKED, passages(1))
    matrix.add_rows(1)
    assert np.isnan(matrix.best_passages(ASKED)).tolist() == [False, True]


def test_passages_that_went_leave_their_room_to_others():
    matrix = Matrix(WIDE)
    matrix.add_rows(1)
    for seed in range(100):
        matrix.put(0, ASKED, passages(seed))
    assert len(matrix._passages._owners) < 200


def test_passages_of_another_embedder_are_left_out():
    matrix = Matrix(WIDE)
    matrix.add_rows(1)
    matrix.put(0, ASKED, passages(1, 3, WIDE + 1))
    assert np.isnan(matrix.best_passages(ASKED)).all()


ASKED_16 = np.random.default_rng(3).standard_normal(16).astype(np.float32)
OLD, NEW = (MemoryId(name) for name in ("a", "b"))


def having(index):
    found = index._matrix.best_passages(ASKED_16)
    rows = np.zeros(0, np.intp) if found is None else np.flatnonzero(~np.isnan(found))
    return index.ids_of(rows)


def test_an_index_follows_what_is_written_and_purged():
    index = NamespaceIndex(HASHER, 16)
    put(index, memory("a", "cat"))
    index.apply([entry(2, "b")], {NEW: memory("b", "dog")}, {NEW: ASKED_16}, {NEW: passages(1, 3, 16)})
    assert having(index) == ["b"]
    purge(index, "b")
    assert having(index) == []


def test_an_index_that_is_loaded_has_the_same():
    held = [memory("a", "cat"), memory("b", "dog"), memory("c", "cow")]
    snapshot = snapshot_of(held, {one.id: ASKED_16 for one in held}, 3, passages={NEW: passages(1, 3, 16)})
    index = NamespaceIndex(HASHER, 16)
    index.load(snapshot)
    assert having(index) == ["b"]


def test_vectors_that_come_in_another_order_bring_their_passages():
    held = [memory("a", "cat"), memory("b", "dog")]
    (part,) = snapshot_of(held, {one.id: ASKED_16 for one in held}, 2, passages={NEW: passages(1, 3, 16)}).vectors
    turned = VectorBatch(part.ids[::-1], part.matrix[::-1], {0: part.passages[1]})
    index = NamespaceIndex(HASHER, 16)
    index.load(snapshot_of(held, {}, 2, parts=[turned]))
    assert having(index) == ["b"]


def test_the_next_embedders_passages_take_the_place_of_the_former_ones():
    index = NamespaceIndex(HASHER, 16)
    found = {OLD: ASKED_16, NEW: ASKED_16}
    index.apply(
        [entry(1, "a"), entry(2, "b")], {one: memory(one, "cat") for one in found}, found, {OLD: passages(1, 3, 16)}
    )
    swap = VectorSwap(index, 16, list, lambda ids: dict.fromkeys(ids, ASKED_16), lambda _: {NEW: passages(2, 3, 16)})
    swap.catch_up()
    swap.finish()()
    assert having(index) == ["b"]
