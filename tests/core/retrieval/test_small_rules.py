"""Confidence, folding, candidates: the smaller rules of a search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory.retrieval.candidates import NEIGHBOUR_SEEDS, SessionNeighbours, select_candidates
from hybrid_memory.retrieval.confidence import confidence, is_known
from hybrid_memory.retrieval.deduplication import DEDUPLICATED_HITS, group_duplicates

PLAIN = {"terms": 4, "gap": 0.3, "rarest": 0.0, "best_exact": 0.3, "best_product": 0.1}


SHARE = st.floats(0, 1)


@given(st.integers(0, 100), st.floats(0, 5), SHARE, SHARE, SHARE)
def test_confidence_is_a_likelihood(terms, gap, rarest, exact, product):
    found = confidence(terms=terms, gap=gap, rarest=rarest, best_exact=exact, best_product=product)
    assert 0 <= found <= 1


@pytest.mark.parametrize(("name", "more"), [("gap", 0.9), ("best_product", 0.4), ("rarest", 1.0), ("terms", 9)])
def test_what_speaks_for_an_answer_raises_confidence(name, more):
    assert confidence(**(PLAIN | {name: more})) > confidence(**PLAIN)


@pytest.mark.parametrize(
    ("certain", "exact", "cosine", "expected"),
    [(0.9, 0, 0, True), (0.3, 0.6, 0, True), (0.3, 0, 0.6, True), (0.3, 0.2, 0.2, False)],
)
def test_something_is_known_by_confidence_by_words_or_by_meaning(certain, exact, cosine, expected):
    assert is_known(certain, exact, cosine) is expected


SAID = {1: "a b", 2: "a b", 3: "b a"}


def test_the_best_of_those_with_the_same_words_stays():
    stays, folded = group_duplicates(np.array([2, 3, 1]), SAID.__getitem__)
    assert stays.tolist() == [True, True, False]
    assert folded == {2: [1]}


def test_far_down_the_ranking_nothing_is_folded():
    stays, folded = group_duplicates(np.arange(DEDUPLICATED_HITS + 5), lambda row: row % DEDUPLICATED_HITS)
    assert stays.all()
    assert not folded


@given(st.lists(st.integers(0, 3), min_size=1, max_size=30))
def test_folding_loses_no_row(kinds):
    stays, folded = group_duplicates(np.arange(len(kinds)), kinds.__getitem__)
    kept = np.flatnonzero(stays).tolist()
    assert sorted([*kept, *(row for rows in folded.values() for row in rows)]) == list(range(len(kinds)))


def chain(count):
    """Return the neighbours of one session."""
    order = np.arange(count, dtype=np.int32)
    return SessionNeighbours(order - 1, np.where(order + 1 < count, order + 1, -1).astype(np.int32))


@given(st.lists(st.integers(0, 39), unique=True, min_size=1), st.integers(2, 10), st.data())
def test_the_best_rows_and_their_neighbours_are_candidates(found, most, data):
    found = np.array(sorted(found))
    scores = np.array(
        data.draw(st.lists(st.floats(0, 1, width=32), min_size=len(found), max_size=len(found))), np.float32
    )
    chosen = select_candidates(found, scores, {"lexical": scores}, chain(40), most)
    best = (
        set(found[np.argsort(-scores, kind="stable")[: most - 1]].tolist())
        if len(set(scores)) == len(scores)
        else set()
    )
    assert best <= set(chosen.rows.tolist()) <= set(found.tolist())
    assert chosen.rows.tolist() == sorted(chosen.rows.tolist())
    assert len(chosen) <= most + 2 * NEIGHBOUR_SEEDS
    for place, before in enumerate(chosen.before.tolist()):
        if before >= 0:
            assert chosen.rows[before] == chosen.rows[place] - 1
    assert chosen.total().tolist() == scores[np.isin(found, chosen.rows)].tolist()


def test_few_rows_are_all_candidates():
    found = np.arange(5)
    chosen = select_candidates(found, np.zeros(5, np.float32), {"lexical": np.zeros(5, np.float32)}, chain(5))
    assert chosen.rows.tolist() == [0, 1, 2, 3, 4]
    assert chosen.after.tolist() == [1, 2, 3, 4, -1]
