"""A memory's life as data: its stages fill a picture, and what happened is in the stage in which it did."""

from __future__ import annotations

import itertools
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.store.making import memory

from hybrid_memory.admin.history import MemoryEvent
from hybrid_memory.model import Tier
from hybrid_memory.testing import START
from hybrid_memory_mcp.views.life import LEVELS, life_of

HOURS = st.integers(0, 500).map(lambda hours: timedelta(hours=hours))


def moved(at, before, after, why="because"):
    return MemoryEvent(START + at, "m", "remember", "claude-code", f"{before} to {after} ({why})")


def life(*events, end=None, later=timedelta(days=30)):
    first = MemoryEvent(START, "m", "remember", "claude-code", "sensory")
    return life_of([memory("m")], {"m": end}, [first, *events], START + later)


def test_stages_follow_each_other_with_the_reason_of_each():
    shown = life(
        moved(timedelta(hours=1), "sensory", "short_term"),
        moved(timedelta(days=2), "short_term", "long_term", "important"),
    )
    assert [(one["tier"], one["why"]) for one in shown["stages"]] == [
        ("sensory", ""),
        ("short_term", "because"),
        ("long_term", "it is important"),
    ]
    assert shown["levels"] == ["long_term", "short_term", "sensory"]
    assert shown["stages"][-1]["until"] is None


def test_what_happens_to_a_version_after_it_was_replaced_is_no_part_of_its_life():
    shown = life(moved(timedelta(days=3), "sensory", "faded"), end=START + timedelta(days=2))
    assert [(one["tier"], one["until"]) for one in shown["stages"]] == [("sensory", "2026-01-12T12:00:00+00:00")]


def test_a_longer_stage_is_wider_and_a_short_one_can_be_seen():
    first, second = life(moved(timedelta(seconds=2), "sensory", "short_term"))["stages"]
    assert 0.1 < first["width"] < second["width"]


def test_a_store_of_an_earlier_version_whose_log_tells_nothing_has_a_life():
    shown = life_of([memory("m", tier=Tier.LONG_TERM)], {"m": None}, [], START)
    assert [one["tier"] for one in shown["stages"]] == ["long_term"]


@given(at=st.lists(HOURS, max_size=5).map(sorted), end=st.none() | HOURS)
def test_stages_fill_the_picture_and_marks_stand_in_it(at, end):
    tiers = itertools.cycle(tier.value for tier in LEVELS)
    steps = [moved(one, before, after) for one, (before, after) in zip(at, itertools.pairwise(tiers), strict=False)]
    shown = life(*steps, end=None if end is None else START + end)
    assert shown["stages"][0]["x"] == 0
    assert sum(one["width"] for one in shown["stages"]) == pytest.approx(1, abs=1e-3)
    for one, following in itertools.pairwise(shown["stages"]):
        assert following["x"] == pytest.approx(one["x"] + one["width"], abs=1e-3)
        assert one["until"] == following["from"]
    assert all(0 <= mark["x"] <= 1 for mark in shown["marks"])
