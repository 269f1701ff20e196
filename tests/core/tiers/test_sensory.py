import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import MemoryId
from hybrid_memory.tiers.buffers import Item, add_to_sensory, split_by_score


def item(name, importance=None):
    return Item(MemoryId(name), name, importance)


@given(st.lists(st.integers(), max_size=30), st.integers(0, 6))
def test_every_item_is_held_or_released_once_and_in_order(names, size):
    held, gone = (), []
    for name in names:
        held, released = add_to_sensory(held, item(str(name)), size)
        gone += released
        assert len(held) <= size
        assert len(released) in (0, size + 1)
    assert [one.id for one in [*gone, *held]] == [str(name) for name in names]


def test_a_size_of_zero_releases_at_once():
    assert add_to_sensory((), item("a"), 0) == ((), (item("a"),))


@given(st.lists(st.floats(0, 10), max_size=10), st.floats(0, 10))
def test_sifting_loses_nothing(scores, threshold):
    released = [item(str(at)) for at in range(len(scores))]
    kept, dropped = split_by_score(released, scores, threshold)
    assert sorted(one.id for one in (*kept, *dropped)) == sorted(one.id for one in released)
    assert all(one.importance >= threshold for one in kept)


def test_the_threshold_itself_is_enough():
    assert split_by_score([item("a")], [0.1], 0.1) == ((item("a", 0.1),), ())


def test_a_score_that_is_no_number_is_below_every_threshold():
    assert split_by_score([item("a")], [float("nan")], 0.0) == ((), (item("a"),))


def test_what_is_dropped_comes_back_as_it_was():
    assert split_by_score([item("a", 3.0)], [0.0], 0.1) == ((), (item("a", 3.0),))


def test_a_missing_score_is_refused():
    with pytest.raises(InvalidInput, match="scores"):
        split_by_score([item("a")], [], 0.1)
