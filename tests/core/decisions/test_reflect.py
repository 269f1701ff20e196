import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hybrid_memory.decisions.reflect import LARGEST_GROUP, NEAR, ReflectionCandidates, plan_groups
from hybrid_memory.model import MemoryId

DAY = 86_400_000_000


def candidates(vectors, importance=None, days=None, untrusted=()):
    rows = np.asarray(vectors, np.float32)
    count = len(rows)
    return ReflectionCandidates(
        ids=[MemoryId(f"m{at}") for at in range(count)],
        created_at=np.asarray(days if days is not None else np.zeros(count), np.int64) * DAY,
        importance=np.asarray(importance if importance is not None else np.full(count, 0.5), np.float64),
        vectors=rows,
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
    assert all((unit[list(g.rows)] @ unit[list(g.rows)].T >= NEAR - 1e-5).any(axis=1).all() for g in groups)
    worths = [group.worth for group in groups]
    assert worths == sorted(worths, reverse=True)
