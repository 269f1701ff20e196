"""Which rows are ranked."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory.retrieval.candidates import NEIGHBOUR_SEEDS, SessionNeighbours, select_candidates


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
