import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hybrid_memory.decisions.reflect import (
    LARGEST_GROUP,
    NEAR,
    ReflectionCandidates,
    plan_conflicts,
    plan_groups,
    plan_repeats,
)
from hybrid_memory.model import MemoryId

DAY = 86_400_000_000


def candidates(vectors, importance=None, days=None, untrusted=(), terms=None, sessions=None):
    rows = np.asarray(vectors, np.float32)
    count = len(rows)
    return ReflectionCandidates(
        ids=[MemoryId(f"m{at}") for at in range(count)],
        created_at=np.asarray(days if days is not None else np.zeros(count), np.int64) * DAY,
        importance=np.asarray(importance if importance is not None else np.full(count, 0.5), np.float64),
        vectors=rows,
        terms=[frozenset(one) for one in terms or [()] * count],
        sessions=np.asarray(sessions if sessions is not None else np.zeros(count), np.int64),
        untrusted=np.isin(np.arange(count), untrusted),
    )


def test_what_is_alike_makes_a_group():
    (group,) = plan_groups(candidates([[1, 0], [0, 1], [1, 0]]), limit=3)
    assert group.rows == (0, 2)


def test_what_stands_alone_is_not_offered():
    assert plan_groups(candidates([[1, 0], [0, 1]]), limit=3) == ()


def test_a_single_memory_is_no_group():
    assert plan_groups(candidates([[1, 0]]), limit=3) == ()


def test_the_more_important_group_comes_first():
    groups = plan_groups(candidates([[1, 0], [1, 0], [0, 1], [0, 1]], [0.2, 0.2, 0.9, 0.9]), limit=3)
    assert [group.rows for group in groups] == [(2, 3), (0, 1)]


def test_members_stand_in_the_order_of_time():
    (group,) = plan_groups(candidates([[1, 0], [1, 0], [1, 0]], days=[3, 1, 2]), limit=1)
    assert group.rows == (1, 2, 0)


def test_near_in_time_is_worth_more_than_far_apart():
    near, far = plan_groups(candidates([[1, 0], [1, 0], [0, 1], [0, 1]], days=[0, 400, 0, 1]), limit=2)
    assert (near.rows, far.rows) == ((2, 3), (0, 1))


def test_memories_months_apart_about_the_same_thing_still_meet():
    assert plan_groups(candidates([[1, 0], [1, 0]], days=[0, 4000]), limit=1) != ()


def test_what_a_tool_says_joins_no_group_of_what_the_user_says():
    (group,) = plan_groups(candidates([[1, 0]] * 4, untrusted=[1]), limit=3)
    assert group.rows == (0, 2, 3)


@pytest.mark.parametrize(("limit", "expected"), [(1, [(0, 1)]), (2, [(0, 1), (4, 5)]), (3, [(0, 1), (2, 3), (4, 5)])])
def test_of_three_groups_one_at_most_is_untrusted_and_it_comes_last(limit, expected):
    vectors = np.repeat(np.eye(5), 2, axis=0)
    some = candidates(vectors, [0.5] * 2 + [0.2] * 2 + [1.0] * 6, untrusted=[4, 5, 6, 7, 8, 9])
    assert [group.rows for group in plan_groups(some, limit=limit)] == expected


def test_where_nothing_trusted_belongs_together_untrusted_groups_are_offered():
    some = candidates(np.repeat(np.eye(3), 2, axis=0), untrusted=range(6))
    assert len(plan_groups(some, limit=3)) == 3


def turned(*degrees):
    return [[np.cos(np.deg2rad(one)), np.sin(np.deg2rad(one))] for one in degrees]


def test_a_rare_word_in_common_makes_a_subject_of_what_is_less_alike():
    apart = turned(0, 62)  # a cosine of .47
    assert plan_groups(candidates(apart), limit=3) == ()
    (group,) = plan_groups(candidates([*apart, *[[-1, 0]] * 3], terms=[{7}, {7}, (), (), ()]), limit=1)
    assert group.rows == (2, 3, 4)
    assert (0, 1) in [one.rows for one in plan_groups(candidates([*apart, [-1, 0]], terms=[{7}, {7}, ()]), limit=3)]


def test_a_word_that_many_hold_is_no_subject():
    scattered = [*turned(0, 62), *turned(*range(130, 310, 20))]
    groups = plan_groups(candidates(scattered, terms=[{7}] * len(scattered)), limit=9)
    assert (0, 1) not in [one.rows for one in groups]


def test_what_is_near_the_seed_but_not_each_other_is_no_one_group():
    assert all(len(one.rows) == 2 for one in plan_groups(candidates(turned(-50, 0, 50)), limit=3))


def test_a_long_text_joins_no_group():
    (group,) = plan_groups(candidates([[1, 0]] * 3, terms=[(), range(50), ()]), limit=3)
    assert group.rows == (0, 2)


def test_the_same_said_in_several_sessions_is_offered():
    said = candidates([[1, 0], [0, 1], [1, 0], [0, 1]], days=[3, 0, 1, 2], sessions=[1, 2, 3, 2])
    assert [group.rows for group in plan_repeats(said, limit=3)] == [(2, 0)]


def test_a_chain_of_contradictions_is_one_group_and_the_likeliest_comes_first():
    first, second, third, other, last = (MemoryId(one) for one in "abcde")
    later = {other: last, first: second, second: third}
    alike = {first: 0.9, second: 0.1, other: 0.5}
    assert plan_conflicts(later, alike) == [(first, second, third), (other, last)]


@given(st.dictionaries(st.sampled_from("abcdef"), st.sampled_from("ghijkl")), st.floats(0, 1))
def test_every_contradiction_is_in_one_group_with_what_it_contradicts(later, alike):
    groups = plan_conflicts(later, dict.fromkeys(later, alike))
    assert sorted(one for group in groups for one in group) == sorted({*later, *later.values()})
    assert all(any({old, new} <= set(group) for group in groups) for old, new in later.items())


@given(
    hnp.arrays(np.float32, st.tuples(st.integers(0, 30), st.just(4)), elements=st.floats(-1, 1, width=32)),
    st.integers(0, 6),
)
def test_groups_are_disjoint_related_and_by_falling_worth(rows, limit):
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 1e-3)
    groups = plan_groups(candidates(unit), limit=limit)
    members = [row for group in groups for row in group.rows]
    assert len(groups) <= limit
    assert len(members) == len(set(members))
    assert all(2 <= len(group.rows) <= LARGEST_GROUP for group in groups)
    assert all(
        (unit[list(g.rows)] @ unit[list(g.rows)].T + np.eye(len(g.rows)) >= 0.9 * NEAR - 1e-5).all() for g in groups
    )
    worths = [group.worth for group in groups]
    assert worths == sorted(worths, reverse=True)
