"""An answer ends where the scores fall off."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory.retrieval.cutoff import CutRules, hits_worth_showing

RULES = CutRules(least=3, share=0.5, gap=0.3)
falling = st.lists(st.floats(0, 2), max_size=12).map(lambda scores: sorted(scores, reverse=True))


def shown(scores, weak=(), rules=RULES):
    return hits_worth_showing(scores, [at in weak for at in range(len(scores))], rules)


def test_what_lies_below_the_share_of_the_best_is_left_out():
    assert shown([1.0, 0.9, 0.8, 0.7, 0.6, 0.49, 0.4]) == 5


def test_an_answer_ends_before_a_large_drop():
    assert shown([1.0, 0.99, 0.98, 0.97, 0.6, 0.59]) == 4


def test_a_drop_among_the_least_that_is_shown_hides_nothing():
    assert shown([1.0, 0.1, 0.09]) == 3


def test_a_weak_hit_behind_the_least_is_left_out():
    assert shown([1.0, 0.9, 0.8, 0.7, 0.6], weak={4}) == 4


def test_scores_that_are_not_above_zero_cut_nothing():
    assert shown([0.0, -0.5, -1.0, -2.0]) == 4


@given(falling)
def test_equal_scores_are_not_torn_apart(scores):
    count = shown(scores)
    assert count == len(scores) or count < 1 or scores[count] != scores[count - 1]


@given(falling, st.integers(1, 5), st.floats(0, 1), st.floats(0, 1))
def test_at_least_the_least_and_at_most_all_are_shown(scores, least, share, gap):
    count = shown(scores, rules=CutRules(least=least, share=share, gap=gap))
    assert min(least, len(scores)) <= count <= len(scores)


@given(falling, st.floats(0.01, 100))
def test_the_scale_of_the_scores_does_not_matter(scores, scale):
    coarse = [round(score, 2) for score in scores]
    rules = CutRules(least=1, share=0.503, gap=0.3003)  # so that no two of these scores lie just at a bound
    assert shown([scale * score for score in coarse], rules=rules) == shown(coarse, rules=rules)


@given(falling, st.floats(0, 1), st.floats(0, 1))
def test_a_stricter_share_never_shows_more(scores, one, other):
    low, high = sorted((one, other))
    assert shown(scores, rules=CutRules(share=high)) <= shown(scores, rules=CutRules(share=low))
