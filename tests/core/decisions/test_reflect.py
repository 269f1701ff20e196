import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hybrid_memory.decisions.reflect import LARGEST_GROUP, NEAR, ReflectionCandidates, plan_groups
from hybrid_memory.model import MemoryId

DAY = 86_400_000_000


def candidates(vectors, importance=None, days=None):
    rows = np.asarray(vectors, np.float32)
    count = len(rows)
    return ReflectionCandidates(
        ids=[MemoryId(f"m{at}") for at in range(count)],
        created_at=np.asarray(days if days is not None else np.zeros(count), np.int64) * DAY,
        importance=np.asarray(importance if importance is not None else np.full(count, 0.5), np.float64),
        vectors=rows,
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
