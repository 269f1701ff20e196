"""Memories that say the same in the same words are shown once."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory.retrieval.deduplication import DEDUPLICATED_HITS, group_duplicates


def contents_in(contents):
    return lambda rows: [contents[row] for row in rows.tolist()]


SAID = {1: "a b", 2: "a b", 3: "b a"}


def test_the_best_of_those_with_the_same_words_stays():
    stays, grouped = group_duplicates(np.array([2, 3, 1]), contents_in(SAID))
    assert stays.tolist() == [True, True, False]
    assert grouped == {2: [1]}


def test_far_down_the_ranking_nothing_is_grouped():
    stays, grouped = group_duplicates(np.arange(2 * DEDUPLICATED_HITS), contents_in([*range(DEDUPLICATED_HITS)] * 2))
    assert stays.all()
    assert not grouped


@given(st.lists(st.integers(0, 3), min_size=1, max_size=30))
def test_no_row_is_lost(kinds):
    stays, grouped = group_duplicates(np.arange(len(kinds)), contents_in(kinds))
    kept = np.flatnonzero(stays).tolist()
    assert sorted([*kept, *(row for rows in grouped.values() for row in rows)]) == list(range(len(kinds)))
