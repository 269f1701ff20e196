"""When somebody looked last: kept by place, one sitting is one look, and a file that cannot be read costs nothing."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory.testing import START
from hybrid_memory_inspector.page.app import LAST_LOOK, SITTING, Looked, last_look, looked_again

STEPS = st.lists(st.timedeltas(timedelta(0), timedelta(days=3)), min_size=1, max_size=12)


@given(STEPS)
def test_a_look_is_since_the_end_of_the_sitting_before(steps):
    known, at, before = None, START, []
    for step in steps:
        at += step
        known = looked_again(known, at)
        before.append(at)
        ends = [one for one, after in pairwise(before) if after - one > SITTING]
        assert known == Looked(ends[-1] if ends else None, at)


def test_a_clock_that_was_set_back_begins_anew():
    assert looked_again(Looked(START, START), START - timedelta(days=1)) == Looked(None, START - timedelta(days=1))


def test_each_place_has_its_own_moment(tmp_path):
    later = START + timedelta(days=1)
    last_look(tmp_path, ["default"], START, looks=True)
    last_look(tmp_path, ["default", "project:acme"], later, looks=True)
    assert last_look(tmp_path, ["default"], later, looks=True) == START
    assert last_look(tmp_path, ["default"], later, looks=False) == START
    assert last_look(tmp_path, ["default", "project:acme"], later, looks=False) is None


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"default": 3}', '{"default": ["x", "y"]}', '{"default": [null, null]}']
)
def test_a_file_that_says_nothing_is_no_look(tmp_path, text):
    (tmp_path / LAST_LOOK).write_text(text, encoding="utf-8")
    assert last_look(tmp_path, ["default"], START, looks=True) is None
    assert last_look(tmp_path, ["default"], START + timedelta(days=1), looks=True) == START


def test_a_folder_that_takes_no_file_costs_the_moment_alone(tmp_path):
    assert last_look(tmp_path / "missing", ["default"], START, looks=True) is None
