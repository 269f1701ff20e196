"""The arithmetic, against its definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hybrid_memory.retrieval import bm25, ranking_signals
from hybrid_memory.retrieval.ranking_parameters import FITTED

SCORES = arrays(np.float32, st.integers(0, 30), elements=st.floats(0, 4, width=16))


@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_a_rarer_term_weighs_more(a, b):
    low, high = sorted((a, b))
    assert bm25.idf(10_000, low) >= bm25.idf(10_000, high) > 0


def test_one_occurrence_in_a_row_of_mean_length_counts_one():
    assert bm25.saturation(np.float32([1]), np.float32([1]))[0] == pytest.approx(1)


@given(st.integers(1, 1000), st.floats(1 / 64, 50, width=32))
def test_repeating_a_term_never_passes_the_limit(count, length):
    factor = bm25.saturation(np.float32([count]), np.float32([length]))[0]
    assert 0 < factor <= (bm25.K1 + 1) * 1.0001


@given(st.floats(1 / 64, 10_000, width=32))
def test_a_term_counts_in_a_row_of_any_length(length):
    assert bm25.saturation(np.float32([1]), np.float32([length]))[0] >= np.float32(bm25.MIN_TERM_FACTOR)


def test_recency_halves_with_each_half_life():
    day = 24 * ranking_signals.MICROS_PER_HOUR
    assert ranking_signals.half_life(np.array([0, 30 * day, 60 * day, -day]), 30).tolist() == [1, 0.5, 0.25, 1]


def test_the_reference_forgets_a_hundredth_an_hour():
    hours = np.array([0, 1, 24]) * ranking_signals.MICROS_PER_HOUR
    assert ranking_signals.hourly_decay(hours).tolist() == pytest.approx([1, 0.99, 0.99**24])


def test_an_answer_is_found_by_its_question():
    none, gain = np.int32(-1), np.float32(FITTED.reply_weight)
    added = ranking_signals.neighbours_lend(
        np.float32([1, 0, 0]), np.int32([none, 0, 1]), np.int32([1, 2, none]), np.array([True, False, False]), FITTED
    )
    assert added.tolist() == pytest.approx([0, gain, 0])


def test_an_utterance_is_found_a_little_by_what_follows():
    asks = np.array([False, False])
    added = ranking_signals.neighbours_lend(np.float32([0, 1]), np.int32([-1, 0]), np.int32([1, -1]), asks, FITTED)
    assert added.tolist() == pytest.approx([FITTED.followed_weight, 0])


@given(SCORES, st.data())
def test_the_best_of_a_session_is_that_of_a_plain_reckoning(scores, data):
    sessions = data.draw(arrays(np.int32, len(scores), elements=st.integers(0, 4)))
    best = {
        s: sorted(scores[sessions == s].tolist(), reverse=True)[: ranking_signals.SESSION_BEST_SCORES]
        for s in set(sessions.tolist())
    }
    expected = [math.fsum(best[s]) / ranking_signals.SESSION_BEST_SCORES for s in sessions.tolist()]
    assert ranking_signals.best_of_session(scores, sessions).tolist() == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_the_best_of_a_session_looks_at_the_best_rows_of_a_large_store():
    scores = np.linspace(0, 1, 5000, dtype=np.float32)
    bonus = ranking_signals.best_of_session(scores, (np.arange(5000) // 100).astype(np.int32))
    assert bonus[-1] == pytest.approx(scores[-ranking_signals.SESSION_BEST_SCORES :].mean(), rel=1e-4)
    assert bonus[0] == 0


@given(SCORES, st.data())
def test_the_order_is_that_of_a_plain_sort(scores, data):
    scores = np.round(scores)
    faded = data.draw(arrays(np.bool_, len(scores)))
    created = data.draw(arrays(np.int64, len(scores), elements=st.integers(0, 3)))
    expected = sorted(range(len(scores)), key=lambda row: (-scores[row], faded[row], -created[row], row))
    assert ranking_signals.best_first(scores, faded, created).tolist() == expected
