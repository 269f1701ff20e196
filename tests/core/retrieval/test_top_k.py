"""The best few, against a full sort."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory.retrieval.vectors import top_k


@given(st.lists(st.sampled_from([-1.0, 0.0, 0.5, 0.5, 1.0]), max_size=40), st.integers(0, 45))
def test_the_best_are_those_of_a_full_sort(scores, count):
    given_scores = np.array(scores, np.float32)
    assert top_k(given_scores, count).tolist() == np.argsort(-given_scores, kind="stable")[:count].tolist()


@pytest.mark.parametrize("count", [1, 8, 400])
def test_the_best_of_very_many_are_those_of_a_full_sort(count):
    for digits in (1, 7):
        scores = np.random.default_rng(count).standard_normal(200_003).round(digits).astype(np.float32)
        assert top_k(scores, count).tolist() == np.argsort(-scores, kind="stable")[:count].tolist()


def test_among_scores_without_any_order_the_earlier_come_first():
    assert top_k(np.full(100_000, -np.inf, np.float32), 3).tolist() == [0, 1, 2]
