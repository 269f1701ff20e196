"""Half a year is counted whole: the messages that were asked for, one size a week, and a picture from nothing up."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from benchmarks.months import DAYS, DEVELOPED_ON, HALF_YEARS, Course, drawn, run


@pytest.mark.timeout(180)  # a hundred days
def test_a_half_year_has_its_messages_weeks_and_answers():
    course = run([HALF_YEARS / DEVELOPED_ON[0]], 90)
    assert course.messages == 90
    assert len(course.weeks) == -(-DAYS // 7)
    assert course.first.total() <= course.in_three.total() <= course.asked.total()
    assert course.weeks[0]["long-term"] < course.weeks[-1]["long-term"]


def test_courses_add_up_week_by_week():
    one = Course(weeks=[Counter(faded=1)], asked=Counter({1: 2}), messages=3)
    both = one + Course(weeks=[Counter(faded=2), Counter(faded=4)], asked=Counter({1: 1}), messages=1)
    assert [week["faded"] for week in both.weeks] == [3, 4]
    assert (both.asked[1], both.messages) == (3, 4)


def test_a_picture_of_sizes_begins_at_nothing_and_holds_all_of_them():
    weeks = [Counter({"long-term": 90 * at, "faded": 7 * at}) for at in range(5)]
    places = [float(one) for one in re.findall(r'cy="([\d.]+)"', drawn(Course(weeks=weeks)))]
    assert len(places) == 4 * len(weeks)
    assert min(places) >= 36
    assert max(places) == 320 - 44
