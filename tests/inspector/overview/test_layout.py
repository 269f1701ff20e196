"""Where memories lie on a map: near what they mean, the same each time, and where they were when more come."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid_memory_inspector.overview import layout


def topics(sizes, dimensions=32, noise=0.25, seed=1):
    """Return unit vectors around as many centres as there are sizes, and the topic of each."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(len(sizes), dimensions))
    topic = np.repeat(np.arange(len(sizes)), sizes)
    vectors = centres[topic] / np.sqrt(dimensions) + rng.normal(size=(len(topic), dimensions)) * noise / np.sqrt(
        dimensions
    )
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32), topic


def placed(vectors, former=None):
    rows = np.arange(len(vectors))
    ground = layout.fit(rows, lambda some: vectors[some], former)
    return ground, layout.place(ground, rows, lambda some: vectors[some])


def share_of_topic_among_neighbours(points, topic, count=5):
    apart = ((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)
    np.fill_diagonal(apart, np.inf)
    return float((topic[np.argsort(apart, axis=1)[:, :count]] == topic[:, None]).mean())


def test_what_means_the_same_lies_together():
    vectors, topic = topics([40, 25, 30, 15])

    _, points = placed(vectors)

    assert share_of_topic_among_neighbours(points, topic) > 0.97


def test_the_same_memories_give_the_same_map():
    vectors, _ = topics([20, 20])

    assert np.array_equal(placed(vectors)[1], placed(vectors)[1])


def test_a_new_memory_finds_its_place_among_its_own_and_moves_nobody():
    vectors, topic = topics([40, 40, 40])
    ground, points = placed(vectors[1:])

    new = layout.place(ground, np.array([0]), lambda some: vectors[some])

    nearest = np.argmin(((points - new) ** 2).sum(axis=1))
    assert topic[1:][nearest] == topic[0]


def test_a_map_that_is_laid_out_again_begins_where_it_stood():
    vectors, topic = topics([60, 60, 60])
    ground, before = placed(vectors[::2])

    _, after = placed(vectors, ground)

    for one in range(3):
        moved = after[topic == one].mean(axis=0) - before[topic[::2] == one].mean(axis=0)
        assert np.linalg.norm(moved) < 0.5


@pytest.mark.slow
def test_more_memories_than_landmarks_lie_with_their_own(monkeypatch):
    monkeypatch.setattr(layout, "MOST_LANDMARKS", 60)
    vectors, topic = topics([200, 150, 150])

    _, points = placed(vectors)

    assert share_of_topic_among_neighbours(points, topic) > 0.9


@given(count=st.integers(0, 12), dimensions=st.integers(1, 6), same=st.booleans())
@settings(max_examples=10, deadline=None)
def test_few_odd_or_equal_memories_have_places_within_the_map(count, dimensions, same):
    rng = np.random.default_rng(count)
    vectors = (
        np.ones((count, dimensions), np.float32) if same else rng.normal(size=(count, dimensions)).astype(np.float32)
    )

    _, points = placed(vectors)

    assert points.shape == (count, 2)
    assert np.isfinite(points).all()
    assert np.abs(points).max(initial=0) <= 1.2
