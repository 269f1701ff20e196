import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import MemoryId
from hybrid_memory.tiers.buffers import (
    BufferEntry,
    Item,
    Operation,
    ShortTermRules,
    append_fifo,
    enhance_probability,
    offer_to_short_term,
)

similarity = st.floats(-1, 1) | st.just(math.nan)
rules = st.builds(
    ShortTermRules,
    buffer_size=st.integers(0, 5),
    enhance_similarity_threshold=st.floats(0, 1),
    enhance_threshold=st.integers(1, 4),
)


def item(name, importance=1.0, text=None):
    return Item(MemoryId(name), text or name, importance)


def run(data, rule, count):
    """Offer items one after another; yield what each step started from and what it gave."""
    held = ()
    for at in range(count):
        operation = data.draw(st.sampled_from(list(Operation)))
        likeness = data.draw(st.lists(similarity, min_size=len(held), max_size=len(held)))
        newcomer = item(f"m{at}", data.draw(st.none() | st.floats(0, 10)))
        draws = iter(data.draw(st.lists(st.floats(0, 1, exclude_max=True), min_size=len(held), max_size=len(held))))
        step = offer_to_short_term(held, newcomer, likeness, draws, rule, operation)
        yield held, newcomer, operation, step, sum(1 for _ in draws)
        held = step.entries


@given(st.data(), rules)
def test_the_buffer_is_never_over_its_size(data, rule):
    for _, _, _, step, _ in run(data, rule, 8):
        assert len(step.entries) <= rule.buffer_size


@given(st.data(), rules)
def test_nothing_disappears(data, rule):
    for before, newcomer, operation, step, _ in run(data, rule, 8):
        there = [one.item.id for one in before] + ([newcomer.id] if operation is Operation.ADD else [])
        left = [one.item.id for one in (*step.entries, *step.evicted)] + [one.head.item.id for one in step.transfers]
        assert sorted(left) == sorted(there)


@given(st.data(), rules)
def test_a_draw_is_made_exactly_when_the_probability_reaches_the_threshold(data, rule):
    for before, _, _, step, unused in run(data, rule, 8):
        drawn = [one.draw is not None for one in step.comparisons]
        assert drawn == [one.probability >= rule.enhance_similarity_threshold for one in step.comparisons]
        assert sum(drawn) == len(before) - unused


@given(st.data(), rules)
def test_what_moves_on_has_enough_enhancements_and_names_the_newcomer_last(data, rule):
    for _, newcomer, _, step, _ in run(data, rule, 8):
        assert all(one.count < rule.enhance_threshold for one in step.entries)
        for transfer in step.transfers:
            assert transfer.head.count == rule.enhance_threshold == len(transfer.members)
            assert transfer.members[-1] == newcomer


@given(st.data(), rules)
def test_the_count_is_that_of_the_enhancers(data, rule):
    for _, _, _, step, _ in run(data, rule, 8):
        assert all(one.count == len(one.enhancers) for one in step.entries)


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
def test_the_probability_rises_with_the_similarity(first, second):
    low, high = sorted((first, second))
    assert 0 <= enhance_probability(low) <= enhance_probability(high) <= 1


def test_a_similarity_that_is_no_number_has_no_probability():
    assert math.isnan(enhance_probability(math.nan))


def test_without_a_vector_nothing_is_enhanced_even_at_threshold_zero():
    rule = ShortTermRules(enhance_similarity_threshold=0.0)
    step = offer_to_short_term((BufferEntry(item("a")),), item("b"), [math.nan], iter(()), rule)
    assert step.comparisons[0].enhanced is False


def test_a_certain_one_is_enhanced_without_a_draw():
    step = offer_to_short_term(
        (BufferEntry(item("a")),), item("b"), [-1.0], iter(()), ShortTermRules(), Operation.RETRIEVAL, {"a"}
    )
    assert (step.entries[0].count, step.comparisons[0].draw) == (1, None)


def test_the_least_important_leaves_first_and_the_unrated_before_it():
    rule = ShortTermRules(buffer_size=2)
    full = (BufferEntry(item("rated", 0.1)), BufferEntry(item("unrated", None)))
    step = offer_to_short_term(full, item("new", 0.0), [0.0, 0.0], iter(()), rule)
    assert [one.item.id for one in step.evicted] == ["unrated"]


def test_among_equals_the_less_enhanced_leaves_and_then_the_older():
    rule = ShortTermRules(buffer_size=3)
    full = (BufferEntry(item("a"), 1, (item("x"),)), BufferEntry(item("b")), BufferEntry(item("c")))
    step = offer_to_short_term(full, item("new"), [0.0] * 3, iter(()), rule)
    assert [one.item.id for one in step.evicted] == ["b"]


def test_a_buffer_that_became_too_large_is_brought_down_to_its_size():
    full = tuple(BufferEntry(item(name)) for name in "abc")
    step = offer_to_short_term(full, item("new"), [0.0] * 3, iter(()), ShortTermRules(buffer_size=1))
    assert [one.item.id for one in step.entries] == ["new"]
    assert [one.item.id for one in step.evicted] == ["a", "b", "c"]


def test_an_eviction_takes_the_evicted_alone_from_the_enhancers():
    rule = ShortTermRules(buffer_size=2)
    dups = (item("dup1", 0.1, "dup"), item("dup2", 0.2, "dup"))
    step = offer_to_short_term(
        (BufferEntry(item("keep", 9.0), 2, dups), BufferEntry(dups[0])), item("new"), [0.0, 0.0], iter(()), rule
    )
    assert [one.id for one in step.entries[0].enhancers] == ["dup2"]
    assert step.entries[0].count == 1


def test_too_few_similarities_are_refused():
    with pytest.raises(InvalidInput, match="similarities"):
        offer_to_short_term((BufferEntry(item("a")),), item("b"), [], iter(()), ShortTermRules())


def test_too_few_draws_are_refused():
    with pytest.raises(InvalidInput, match="draws"):
        offer_to_short_term((BufferEntry(item("a")),), item("b"), [1.0], iter(()), ShortTermRules())


@pytest.mark.parametrize("wrong", [{"buffer_size": -1}, {"enhance_threshold": 0}])
def test_impossible_rules_are_refused(wrong):
    with pytest.raises(InvalidInput, match="must be"):
        ShortTermRules(**wrong)


@given(st.lists(st.integers(), max_size=20), st.integers(0, 5))
def test_the_plain_buffer_lets_the_oldest_go_and_reports_it(names, size):
    held, gone = (), []
    for name in names:
        held, evicted = append_fifo(held, item(str(name)), size)
        gone += evicted
        assert len(held) <= size
    assert [one.id for one in [*gone, *held]] == [str(name) for name in names]
