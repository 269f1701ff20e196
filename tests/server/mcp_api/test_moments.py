from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory.errors import InvalidInput
from hybrid_memory_mcp.mcp_api.moments import CallTime

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 22, 14, 30, tzinfo=UTC)  # a Sunday, 15:30 in Berlin


def moment(text, meaning="moment", *, zone=BERLIN, now=NOW):
    return CallTime(zone, now).moment("since", text, meaning)


def told(text, meaning="moment"):
    return moment(text, meaning).strftime("%a %Y-%m-%d %H:%M:%S")


def test_a_date_without_a_zone_is_in_the_zone_of_the_client():
    assert moment("2026-07-01T12:00") == datetime(2026, 7, 1, 10, tzinfo=UTC)
    assert moment("2026-01-01") == datetime(2025, 12, 31, 23, tzinfo=UTC)


def test_a_date_with_a_zone_keeps_it():
    assert moment("2026-07-01T12:00:00Z", zone=ZoneInfo("Asia/Tokyo")) == datetime(2026, 7, 1, 12, tzinfo=UTC)


def test_without_a_configured_zone_the_zone_of_the_process_is_used():
    assert moment("2026-07-01T12:00", zone=None) == datetime(2026, 7, 1, 12).astimezone()


def test_a_date_outside_the_calendar_is_refused():
    for text in ("0001-01-01T00:00", "9999-12-31T23:59"):
        with pytest.raises(InvalidInput, match="since"):
            moment(text, zone=timezone(timedelta(hours=14 if text < "1" else -14)))


@each("offset", ["+99:99", "+24:00", "-77:00", "+9999", " +23:59", "+14:01", "-15", "+02:60", "+24:00:00"])
@each("clock", ["T00:00:00", "T00:00", " 00:00", "T00", "T0000"])
def test_an_offset_that_no_place_has_is_refused_and_not_left_out(clock, offset):
    with pytest.raises(InvalidInput, match="offset"):
        moment(f"2024-06-01{clock}{offset}")


@pytest.mark.parametrize("text", ["2024-12-31T23:59:60Z", "2024-12-31 23:59:60", "2024-12-31T23:59:99+01:00"])
def test_a_second_that_no_minute_has_is_refused_and_not_left_out(text):
    with pytest.raises(InvalidInput, match="second"):
        moment(text)


@each("offset", ["+14:00", "-12:00", "+05:45", "-0330", " +02:00", "Z"])
def test_an_offset_of_a_place_is_taken(offset):
    assert moment(f"2024-06-01T10:30:00{offset}").utcoffset() is not None


@each(
    "said, meant",
    [
        ("yesterday", "Sat 2026-11-21 00:00:00"),
        ("Yesterday.", "Sat 2026-11-21 00:00:00"),
        ("last Friday", "Fri 2026-11-20 00:00:00"),
        ("on Friday", "Fri 2026-11-20 00:00:00"),
        ("2026-11-03", "Tue 2026-11-03 00:00:00"),
        ("3 November", "Tue 2026-11-03 00:00:00"),
        ("Tue 2026-11-03", "Tue 2026-11-03 00:00:00"),  # as an answer writes it
        ("2026-11-03 (Tuesday)", "Tue 2026-11-03 00:00:00"),
        ("03.11.2026", "Tue 2026-11-03 00:00:00"),
        ("November 3, 2025", "Mon 2025-11-03 00:00:00"),
        ("the day before yesterday", "Fri 2026-11-20 00:00:00"),
        ("yesterday at 14:30", "Sat 2026-11-21 14:30:00"),
        ("this morning", "Sun 2026-11-22 05:00:00"),
        ("3 days ago", "Thu 2026-11-19 00:00:00"),
        ("a week ago", "Sun 2026-11-15 00:00:00"),
        ("two hours ago", "Sun 2026-11-22 13:30:00"),
        ("today", "Sun 2026-11-22 00:00:00"),
        ("now", "Sun 2026-11-22 14:30:00"),
        ("tomorrow", "Mon 2026-11-23 00:00:00"),
    ],
)
def test_a_moment_may_be_said_in_words(said, meant):
    assert told(said) == meant


@each(
    "said, meant",
    [
        ("last week", "Mon 2026-11-09 00:00:00"),
        ("March", "Sun 2026-03-01 00:00:00"),
        ("in March", "Sun 2026-03-01 00:00:00"),
        ("last summer", "Mon 2026-06-01 00:00:00"),
        ("last month", "Thu 2026-10-01 00:00:00"),
    ],
)
def test_since_is_the_beginning_of_what_is_named(said, meant):
    assert told(said, "begin") == meant


@each(
    "said, meant",
    [
        ("in 3 days", "Wed 2026-11-25 15:30:00"),
        ("10 days from now", "Wed 2026-12-02 15:30:00"),
        ("in an hour", "Sun 2026-11-22 16:30:00"),
        ("30 days", "Tue 2026-12-22 15:30:00"),
        ("in a month", "Tue 2026-12-22 15:30:00"),
        ("tomorrow", "Mon 2026-11-23 23:59:59"),
        ("Friday", "Fri 2026-11-27 23:59:59"),
        ("Friday at 17:00", "Fri 2026-11-27 17:00:00"),
        ("24 December", "Thu 2026-12-24 23:59:59"),
        ("next week", "Sun 2026-11-29 23:59:59"),
        ("end of March", "Wed 2027-03-31 23:59:59"),
        ("2026-12-01", "Tue 2026-12-01 00:00:00"),
    ],
)
def test_an_end_is_the_last_moment_of_what_is_to_come(said, meant):
    assert told(said, "end") == meant


@each(
    "said",
    [
        "banana",
        "some day",
        "3/11/2026",
        "Friday or Saturday",
        "yesterday at the dentist",
        "before the move",
        "recently",
        "3 days",
        "5",
        "",
    ],
)
def test_what_names_no_moment_or_several_is_refused_with_what_to_write(said):
    with pytest.raises(InvalidInput, match="is not a date; write 2026-01-31 or 2026-01-31T09:30"):
        moment(said)


@each("said", ["last week", "in March", "2025", "since Friday"])
def test_a_longer_time_is_refused_where_one_moment_is_wanted(said):
    with pytest.raises(InvalidInput, match="names a longer time; write one day"):
        moment(said)


@each(
    "said, meant",
    [
        ("2026-11-21", "Sun 2026-11-22 00:00:00"),
        ("20261121", "Sun 2026-11-22 00:00:00"),
        ("21 November", "Sun 2026-11-22 00:00:00"),
        ("yesterday", "Sun 2026-11-22 00:00:00"),
        ("3 days ago", "Fri 2026-11-20 00:00:00"),
        ("2026-10-25", "Mon 2026-10-26 00:00:00"),  # a day of 25 hours
        ("2026-11-21T09:30", "Sat 2026-11-21 09:30:00"),
        ("2026-11-21T00:00", "Sat 2026-11-21 00:00:00"),
        ("yesterday at 14:30", "Sat 2026-11-21 14:30:00"),
        ("now", "Sun 2026-11-22 14:30:00"),
    ],
)
def test_through_a_day_means_the_whole_day_and_through_an_hour_that_moment(said, meant):
    assert told(said, "through") == meant


def test_through_the_last_day_of_the_calendar_is_refused():
    with pytest.raises(InvalidInput):
        moment("9999-12-31", "through")


@given(st.text(max_size=40), st.sampled_from(["begin", "moment", "through", "end"]))
def test_any_text_is_a_moment_or_is_refused(text, meaning):
    try:
        found = moment(text, meaning)
    except InvalidInput:
        return
    assert found.tzinfo is not None


@given(
    st.datetimes(NOW.replace(year=1900, tzinfo=None), NOW.replace(year=2200, tzinfo=None)),
    st.sampled_from(["begin", "moment", "through", "end"]),
)
def test_a_written_date_means_the_same_whatever_is_asked(written, meaning):
    assert moment(written.isoformat(), meaning) == written.replace(tzinfo=BERLIN)


def test_an_instant_that_the_calendar_does_not_hold_is_refused():
    with pytest.raises(InvalidInput, match="since"):
        moment("2026-02-30T00:00:00Z", "end")
