"""The ground of a map: memories stand on land, crowds are hills, and hills are regions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid_memory_inspector.overview.terrain import CELLS, COAST, EDGE, survey


def crowd(x, y, count, wide=0.05, seed=0):
    rng = np.random.default_rng(seed)
    return np.stack((rng.normal(x, wide, count), rng.normal(y, wide, count)), axis=1).astype(np.float32)


def height_at(ground, x, y):
    return ground.heights[int((y + EDGE) / (2 * EDGE) * CELLS), int((x + EDGE) / (2 * EDGE) * CELLS)]


def test_two_crowds_are_two_regions_the_larger_one_first():
    ground = survey(np.concatenate((crowd(-0.6, 0, 300), crowd(0.6, 0.2, 100))))

    assert [one.count for one in ground.regions] == [300, 100]
    assert ground.regions[0].x < 0 < ground.regions[1].x
    assert set(ground.region_of[:300].tolist()) == {0}


def test_a_crowd_stands_on_land_with_the_sea_around():
    ground = survey(crowd(0, 0, 500))

    assert height_at(ground, 0, 0) > COAST
    assert height_at(ground, 0.9, 0.9) == 0


def test_nearly_every_memory_stands_on_land():
    points = np.concatenate((crowd(-0.5, 0, 900, 0.2), crowd(0.7, 0.7, 10, 0.01)))
    ground = survey(points)

    heights = np.array([height_at(ground, x, y) for x, y in points])

    assert (heights >= COAST).mean() > 0.98


def test_a_hill_between_two_regions_belongs_to_one():
    ground = survey(np.concatenate((crowd(-0.6, 0, 300), crowd(0.6, 0, 300), crowd(-0.35, 0, 30))))

    assert sum(one.count for one in ground.regions) == 630


def test_no_memories_make_no_land():
    ground = survey(np.zeros((0, 2), np.float32))

    assert ground.regions == ground.places == ()
    assert not ground.heights.any()


@pytest.mark.slow
@given(st.lists(st.tuples(st.floats(-1.1, 1.1), st.floats(-1.1, 1.1)), min_size=1, max_size=40))
@settings(max_examples=6, deadline=None)
def test_each_memory_is_in_a_region_that_counts_it(places):
    ground = survey(np.array(places, np.float32))

    counted = np.bincount(ground.region_of[ground.region_of >= 0], minlength=len(ground.regions))
    assert counted.tolist() == [one.count for one in ground.regions]
    assert sum(counted) == len(places)
    assert len(ground.regions) <= 16
