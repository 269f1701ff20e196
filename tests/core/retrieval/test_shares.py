"""Where untrusted hits stand among trusted ones."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory.retrieval.shares import (
    BLOCK,
    UNTRUSTED_IF_UNANSWERED,
    UNTRUSTED_IN_BLOCK,
    floods,
    in_shares,
)

KINDS = st.lists(st.booleans(), max_size=60)
"""For each position whether it is untrusted."""


def shares(kinds, alike=(), *, answered=True):
    marks = np.array(kinds, np.bool_)
    return in_shares(np.flatnonzero(~marks), np.flatnonzero(marks), alike, answered=answered)


def shown(kinds, alike=(), *, answered=True):
    return [kinds[at] for at in shares(kinds, alike, answered=answered).order.tolist()]


@given(KINDS)
def test_nothing_is_lost(kinds):
    assert sorted(shares(kinds).order.tolist()) == list(range(len(kinds)))


@given(KINDS)
def test_either_sort_keeps_its_order(kinds):
    order = shares(kinds).order.tolist()
    for kind in (True, False):
        of_kind = [at for at in order if kinds[at] is kind]
        assert of_kind == sorted(of_kind)


@given(KINDS)
def test_of_five_in_a_row_two_at_most_are_untrusted_while_there_are_others(kinds):
    order = shown(kinds)
    last = max((at for at, kind in enumerate(order) if not kind), default=0)
    for begin in range(last + 2 - BLOCK):
        assert sum(order[begin : begin + BLOCK]) <= UNTRUSTED_IN_BLOCK


@given(KINDS)
def test_the_first_is_trusted_if_any_is(kinds):
    assert shown(kinds)[:1] != [True] or all(kinds)


@given(KINDS)
def test_where_nothing_trusted_answers_the_best_stands_first(kinds):
    assert shown(kinds, answered=False)[:1] == kinds[:1]


@given(KINDS)
def test_where_nothing_trusted_answers_what_is_trusted_keeps_two_of_five_places(kinds):
    order = shown(kinds, answered=False)
    last = max((at for at, kind in enumerate(order) if not kind), default=0)
    assert sorted(order) == sorted(kinds)
    for begin in range(last + 2 - BLOCK):
        assert sum(order[begin : begin + BLOCK]) <= UNTRUSTED_IF_UNANSWERED


@given(KINDS)
def test_a_first_page_has_at_most_two_untrusted_among_its_first_five(kinds):
    found = shares(kinds)
    if not all(kinds):
        assert sum(kinds[at] for at in found.order[: min(found.first_page, BLOCK)].tolist()) <= UNTRUSTED_IN_BLOCK


@given(KINDS)
def test_a_page_ends_early_only_where_two_trusted_are_all_there_are(kinds):
    assert shares(kinds).first_page == len(kinds) or kinds.count(False) < BLOCK - UNTRUSTED_IN_BLOCK


@given(KINDS, st.data())
def test_what_is_alike_is_not_among_the_first_five_of_a_first_page(kinds, data):
    alike = data.draw(st.lists(st.integers(1, max(kinds.count(True) - 1, 1)), unique=True)) if any(kinds) else []
    alike = [place for place in alike if place < kinds.count(True)]
    if all(kinds):
        return
    untrusted = [at for at, kind in enumerate(kinds) if kind]
    found = shares(kinds, alike)
    first = found.order[: min(found.first_page, BLOCK)].tolist()
    assert not {untrusted[place] for place in alike} & set(first)


def test_an_untrusted_hit_that_others_are_better_than_keeps_its_place():
    assert shown([False, False, False, True, False]) == [False, False, False, True, False]


def test_a_text_with_one_other_word_is_of_the_same_flood():
    said = {"ada", "dentist", "doctor", "mallory"}
    assert floods([frozenset({*said, "street"}), frozenset({*said, "road"}), frozenset({"ada", "cello"})]) == [1]
