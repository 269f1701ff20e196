"""Periods and events that a question names, as summands."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory.clock import to_micros
from hybrid_memory.retrieval import ranking_signals
from hybrid_memory.retrieval.time_expressions.parsing import Anchor, TimeExpressions, Window

MARCH = Window(datetime(2025, 3, 1, tzinfo=UTC), datetime(2025, 4, 1, tzinfo=UTC), 1.0)
NOW = datetime(2025, 6, 1, tzinfo=UTC)
MOMENT = st.datetimes(datetime(2000, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - hypothesis adds the zone


def micros(*moments):
    return np.array([to_micros(moment) for moment in moments], np.int64)


def nearness(*days):
    return ranking_signals.in_period(
        micros(*(datetime(2025, 3, 1, tzinfo=UTC) + timedelta(days=day) for day in days)), MARCH
    )


def test_within_a_period_all_moments_are_alike():
    assert nearness(0, 15, 30).tolist() == [1, 1, 1]


def test_outside_a_period_nearness_falls_off():
    before, far_before, after, far_after = nearness(-2, -60, 32, 120)
    assert 1 > before > far_before
    assert 1 > after > far_after


def test_what_is_told_a_week_after_a_period_is_nearer_than_what_was_a_week_before():
    before, after = nearness(-7, 38)
    assert after > before


@given(MOMENT, MOMENT, st.lists(MOMENT, min_size=1, max_size=5), st.floats(0, 1))
def test_nearness_is_between_nothing_and_how_literally_the_period_is_meant(one, other, moments, certainty):
    window = Window(min(one, other), max(one, other), certainty)
    found = ranking_signals.in_period(micros(*moments), window)
    assert np.all((found >= 0) & (found <= np.float32(certainty)))


@pytest.mark.parametrize("window", [Window(None, MARCH.until, 1.0), Window(MARCH.since, None, 1.0)])
def test_a_period_may_be_open(window):
    assert ranking_signals.in_period(micros(datetime(2025, 3, 9, tzinfo=UTC)), window).tolist() == [1]


def test_lying_in_all_periods_counts_twice_as_much_as_lying_in_one():
    year = Window(datetime(2025, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC), 1.0)
    both, one = ranking_signals.in_windows(
        micros(datetime(2025, 3, 5, tzinfo=UTC), datetime(2025, 11, 5, tzinfo=UTC)), [year, MARCH]
    )
    assert both == pytest.approx(1)
    assert one == pytest.approx(1 / 2, rel=0.01)


def test_of_very_many_periods_the_first_count():
    start = datetime(2024, 1, 1, tzinfo=UTC)
    days = [start + timedelta(days=number) for number in range(ranking_signals.MAX_WINDOWS + 1)]
    windows = [Window(day, day + timedelta(days=1), 1.0) for day in days]
    times = micros(*days)
    assert (
        ranking_signals.in_windows(times, windows).tolist() == ranking_signals.in_windows(times, windows[:-1]).tolist()
    )


@each(
    "when, expected",
    [
        (TimeExpressions(), True),
        (TimeExpressions(asked_state="current"), True),
        (TimeExpressions(asked_state="past"), False),
        (TimeExpressions(asked_state="first"), False),
        (TimeExpressions(windows=(MARCH,)), False),
        (TimeExpressions(windows=(MARCH, Window(NOW, NOW + timedelta(days=1), 0.5))), True),
        (TimeExpressions(anchors=(Anchor("before", "the move"),)), False),
        (TimeExpressions(anchors=(Anchor("since", "the move"),)), True),
    ],
)
def test_what_changed_since_matters_unless_the_question_is_about_the_past(when, expected):
    assert ranking_signals.asks_about_now(when, NOW) is expected
