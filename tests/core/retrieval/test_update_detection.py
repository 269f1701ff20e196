"""Which of two memories is the newer word on the same thing, and what that does to a ranking."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory.retrieval.update_detection import PairFeatures, boosted, is_update, log_odds

SHARE = st.floats(0, 1, width=32)
ALIKE = PairFeatures(
    cosine=np.float32(0.6),
    common=np.float32(0.6),
    change=np.True_,
    tags=np.True_,
    terms=np.float32(0.2),
    years=np.float32(0.5),
    ratio=np.float32(1),
)
UNLIKE = replace(ALIKE, cosine=np.float32(0.1), common=np.float32(0), terms=np.float32(0))
SCORES = st.lists(st.floats(0, 3, width=32), min_size=1, max_size=8)


def judged(likeness, *, spoken=False, earlier=0.5, later=0.5):
    return bool(
        is_update(
            likeness, both_spoken=np.bool_(spoken), earlier_exact=np.float32(earlier), later_exact=np.float32(later)
        )
    )


def test_a_later_memory_about_the_same_thing_is_the_newer_word():
    assert judged(ALIKE)


def test_a_later_memory_about_something_else_is_not():
    assert not judged(UNLIKE)


def test_between_utterances_the_odds_must_be_better():
    between = replace(ALIKE, common=np.float32(0.4), tags=np.False_)
    assert 0 < log_odds(between) < 3
    assert judged(between)
    assert not judged(between, spoken=True)


def test_the_very_words_of_the_question_give_way_to_none_that_holds_few_of_them():
    assert not judged(ALIKE, earlier=0.95, later=0.3)
    assert judged(ALIKE, earlier=0.95, later=0.7)


def test_nothing_replaces_what_happened_at_the_same_time_or_later():
    assert not judged(replace(ALIKE, years=np.float32(0)))
    assert not judged(replace(ALIKE, years=np.float32(-1)))


@given(st.sampled_from([field.name for field in fields(PairFeatures)]), SHARE, SHARE)
def test_every_likeness_raises_the_odds(name, one, other):
    low, high = (replace(ALIKE, **{name: np.float32(value)}) for value in sorted((one, other)))
    assert log_odds(low) <= log_odds(high) + 1e-6


@given(SCORES)
def test_without_a_newer_word_nothing_moves(scores):
    assert boosted(scores, list(range(len(scores))), []).tolist() == scores


@st.composite
def cases(draw):
    scores = draw(SCORES)
    times = draw(st.permutations(range(len(scores))))
    pairs = draw(st.lists(st.tuples(st.integers(0, len(scores) - 1), st.integers(0, len(scores) - 1)), max_size=6))
    return scores, times, [(a, b) for a, b in pairs if times[a] < times[b]]


@given(cases())
def test_every_newer_word_ends_above_the_older(case):
    scores, times, pairs = case
    raised = boosted(scores, times, pairs)
    assert all(raised[later] > raised[earlier] for earlier, later in pairs)


@given(cases())
def test_only_newer_words_rise_and_nothing_falls(case):
    scores, times, pairs = case
    raised = boosted(scores, times, pairs)
    rising = {later for _, later in pairs}
    for place, score in enumerate(scores):
        assert raised[place] >= np.float32(score)
        if place not in rising:
            assert raised[place] == np.float32(score)


@pytest.mark.parametrize("score", [0.0, 1e-8, 1.0, 1e6])
def test_a_lift_is_small_and_enough_at_any_height(score):
    old, new = boosted([score, 0.0], [0, 1], [(0, 1)])
    assert old < new <= old + max(1e-5, old * 1e-5)
