"""Chains of sessions, kept step by step, against chains made again."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory.retrieval import memory_columns
from hybrid_memory.retrieval.memory_columns import SessionOrder

STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "add", "add", "move", "remove"]), st.integers(0, 99), st.integers(0, 3)),
    max_size=25,
)


def plain(sessions, created, kept):
    before, after = [-1] * len(sessions), [-1] * len(sessions)
    for session in set(sessions):
        rows = sorted((created[row], row) for row in kept if sessions[row] == session)
        for (_, earlier), (_, later) in itertools.pairwise(rows):
            after[earlier], before[later] = later, earlier
    return before, after


@pytest.mark.parametrize("most_steps", [2, 3, 32])
@given(steps=STEPS, loaded_after=st.integers(0, 25))
def test_a_chain_that_follows_is_one_made_anew(most_steps, steps, loaded_after):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory_columns, "_MOST_STEPS", most_steps)
        follow(steps, loaded_after)


def follow(steps, loaded_after):
    order, sessions, created, kept = SessionOrder(), [], [], set()
    order.load(np.zeros(0, np.int32), np.zeros(0, np.int64))
    for number, (kind, which, choice) in enumerate(steps):
        row = which % len(sessions) if sessions else 0
        if kind == "add" or not sessions:
            sessions.append(choice)
            created.append(which // 10)
            kept.add(len(sessions) - 1)
            order.add(len(sessions) - 1, np.array(sessions, np.int32), np.array(created))
        elif row in kept:
            order.remove(row, sessions[row])
            kept.discard(row)
            if kind == "move":
                sessions[row] = choice
                order.add(row, np.array(sessions, np.int32), np.array(created))
                kept.add(row)
        if number == loaded_after and len(kept) == len(sessions):
            order.load(np.array(sessions, np.int32), np.array(created, np.int64))
        assert (order.before.tolist(), order.after.tolist()) == plain(sessions, created, kept)
