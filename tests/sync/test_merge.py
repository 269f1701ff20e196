"""The join of what machines know: order, grouping and repetition do not matter, and each field follows its rule."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.store.making import memory

from hybrid_memory.model import MemoryId, Origin, Tier, Trust, Usage
from hybrid_memory.store.syncing import ItemState
from hybrid_memory.testing import START
from hybrid_memory_sync.merge import State, join, join_items

QUICK = settings(max_examples=60, deadline=None)
SECONDS = st.integers(0, 3).map(lambda seconds: START + timedelta(seconds=seconds))
STAMPS = st.dictionaries(
    st.sampled_from(["tags", "pinned", "importance", "forgotten_at", "superseded_by", "content", "metadata"]),
    st.integers(1, 4),
)
MEMORIES = st.builds(
    lambda content, created_at, **values: replace(
        memory("m1", created_at=created_at), content=content, content_hash=f"hash of {content}", **values
    ),
    content=st.sampled_from(["a", "b"]),
    created_at=SECONDS,
    tags=st.sampled_from([(), ("x",), ("y", "x")]),
    pinned=st.booleans(),
    importance=st.sampled_from([0.0, 0.5, 1.0]),
    metadata=st.sampled_from([{}, {"a": 1, "b": 2}, {"b": 2, "a": 1}]),
    forgotten_at=st.none() | SECONDS,
    superseded_by=st.none() | st.sampled_from([MemoryId("m2"), MemoryId("m3")]),
    tier=st.sampled_from(Tier),
    trust=st.sampled_from(Trust),
    origin=st.sampled_from(Origin),
    rev=st.integers(1, 3),
)
USES = st.none() | st.builds(Usage, accessed_at=SECONDS, count=st.integers(1, 3))


@st.composite
def states(draw):
    born, gone = draw(st.integers(0, 3)), draw(st.integers(0, 3))
    if gone > born:
        return State(memory=None, born=born, gone=gone)
    return State(memory=draw(MEMORIES), usage=draw(USES), stamps=draw(STAMPS), born=born, gone=gone)


@pytest.mark.slow
@QUICK
@given(states(), states())
def test_it_does_not_matter_who_tells_whom(one, other):
    assert join(one, other) == join(other, one)


@QUICK
@given(states(), states(), states())
def test_it_does_not_matter_in_which_order_three_hear_of_each_other(one, other, third):
    assert join(join(one, other), third) == join(one, join(other, third))


@pytest.mark.slow
@QUICK
@given(states(), states())
def test_to_hear_something_again_changes_nothing(one, other):
    both = join(one, other)
    assert join(both, one) == both == join(both, both)


@QUICK
@given(*(st.builds(ItemState, st.none() | st.sampled_from([{"a": 1}, {"a": 2}]), st.integers(0, 3)) for _ in range(3)))
def test_items_beside_the_memories_are_joined_in_any_order(one, other, third):
    assert join_items(join_items(one, other), third) == join_items(third, join_items(other, one))


def state(stamps=None, **values):
    return State(memory=memory("m1", **values), stamps=stamps or {})


def test_the_later_change_of_a_field_wins_for_each_field_by_itself():
    both = join(state({"tags": 5}, tags=("x",)), state({"pinned": 3, "tags": 4}, pinned=True, tags=("y",)))
    assert (both.memory.tags, both.memory.pinned) == (("x",), True)
    assert both.stamps == {"tags": 5, "pinned": 3}


def test_a_change_wins_over_what_was_never_changed():
    assert join(state(importance=0.9), state({"importance": 1}, importance=0.1)).memory.importance == 0.1


def test_use_goes_to_the_greater():
    one = replace(state(), usage=Usage(accessed_at=START, count=5))
    other = replace(state(), usage=Usage(accessed_at=START + timedelta(days=1), count=2))
    assert join(one, other).usage == Usage(accessed_at=START + timedelta(days=1), count=5)


def test_a_purge_wins_over_whatever_others_still_say():
    purged = State(memory=None, gone=3)
    assert join(state({"tags": 9}, tags=("x",)), purged) == purged


def test_what_was_stored_again_after_its_purge_is_there():
    again = replace(state(tags=("new",)), born=4)
    old = state({"tags": 9}, tags=("old",))
    assert join(join(old, State(memory=None, gone=3)), again).memory.tags == ("new",)
