"""The days that a memory speaks of. It is written on Sunday, 22 November 2026."""

from datetime import UTC, date, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory.retrieval.time_expressions.stated_days import MAX_DAYS, stated_days

WRITTEN = datetime(2026, 11, 22, 10, tzinfo=UTC)


def days(text, when=WRITTEN):
    return [str(date(1970, 1, 1) + timedelta(day)) for day in stated_days(text, when)]


@each(
    "text, found",
    [
        ("The lease runs from 1 December.", ["2026-12-01"]),
        ("We fly to Lisbon on 21 December.", ["2026-12-21"]),
        ("deadline 2026-12-24", ["2026-12-24"]),
        ("The talk is on the 14th.", ["2026-12-14"]),
        ("Deadline is the 14th.", ["2026-12-14"]),
        ("Dinner with Ada next Friday", ["2026-11-27"]),
        ("Holiday from 3 to 10 January", ["2027-01-03", "2027-01-10"]),
        ("Vacation: Dec 20 - Jan 3", ["2026-12-20", "2027-01-03"]),
        ("We met in March.", ["2026-03-01", "2026-03-31"]),
        ("Met Ben yesterday", ["2026-11-21"]),
        ("until 5 January", ["2027-01-05"]),
        ("on 8 May 2023 and 9 June 2023", ["2023-05-08", "2023-06-09"]),
        ("The end of December is a holiday", ["2026-12-24", "2026-12-31"]),
    ],
)
def test_named_days_count(text, found):
    assert days(text) == found


@each(
    "text, found",
    [
        ("We talked on Friday.", "2026-11-20"),
        ("We will talk on Friday.", "2026-11-27"),
        ("Meeting on Friday", "2026-11-27"),
        ("Moved the demo to Friday", "2026-11-27"),
        ("The exam is booked for 13 July.", "2027-07-13"),
        ("Mia was born on 3 December.", "2025-12-03"),
        ("Ada's birthday is 3 December.", "2026-12-03"),
        ("Ada's birthday is 3 November.", "2026-11-03"),
    ],
)
def test_a_day_without_a_year_is_the_one_that_the_tense_says_or_the_nearest(text, found):
    assert days(text) == [found]


@each(
    "text, found",
    [
        ("Abgabe am 24.12.", ["2026-12-24"]),
        ("vom 3. bis 5. März in Bonn", ["2027-03-03", "2027-03-05"]),
        ("Gestern war ich mit Anna in der Stadt", ["2026-11-21"]),
        ("la réunion est le 3 mars", ["2027-03-03"]),
        ("Reunión el 5 de mayo de 2027", ["2027-05-05"]),
        ("riunione il 3 gennaio", ["2027-01-03"]),
        ("встреча 3 марта", ["2027-03-03"]),
        ("会議は12月24日です", ["2026-12-24"]),
        ("2026年12月24日开会", ["2026-12-24"]),
        ("am Montag kommt der Klempner", ["2026-11-23"]),
        ("Letzten Freitag war die Feier", ["2026-11-20"]),
        ("Morgen ist die Abgabe, und alle sind da", ["2026-11-23"]),
        ("Die Prüfung ist im Februar", ["2027-02-01", "2027-02-28"]),
        ("La réunion est lundi prochain", ["2026-11-23"]),
        ("la semaine dernière on a vu Paul", ["2026-11-09", "2026-11-15"]),
        ("El viernes pasado comimos juntos", ["2026-11-20"]),
        ("Nos vemos mañana por la mañana", ["2026-11-23"]),
        ("venerdì scorso siamo andati al mare", ["2026-11-20"]),
        ("sexta-feira tem reunião", ["2026-11-27"]),
        ("gisteren was ik ziek", ["2026-11-21"]),
        ("på måndag kommer hon", ["2026-11-23"]),
        ("встретились вчера", ["2026-11-21"]),
        ("我昨天去了医院", ["2026-11-21"]),
        ("来週の会議", ["2026-11-23", "2026-11-29"]),
        ("어제 만났다", ["2026-11-21"]),
    ],
)
def test_days_of_other_languages_count(text, found):
    assert days(text) == found


@each(
    "text",
    [
        "recently we moved",
        "a few days ago",
        "We met in 2024, and since 2020 we work together",
        "upgraded to version 3.11.",
        "Ubuntu 24.04. is out, 1.2. Introduction",
        "Python 3.12.1 costs $3.50, call 0170-1234567 or 030/12.12.34",
        "I may go, it may 3 times fail",
        "the 3rd attempt failed, on the 3rd attempt too",
        "every Monday, on a Sunday, each day, 3 times a week",
        "five years ago",
        "They learned it in two weeks.",
        "day 3 of the trial, room 12",
        "jeden Montag Yoga, guten Morgen, hier ist die Liste der Namen",
        "le lundi il y a yoga, por la mañana hay clase",
        "The domain name is taken; Mars bars and Mai Tai",
    ],
)
def test_vague_times_years_versions_prices_and_counts_are_no_days(text):
    assert days(text) == []


def test_a_memory_has_at_most_eight_days():
    assert len(days(" ".join(f"on {number} May 2023," for number in range(1, 20)))) == MAX_DAYS


MOMENTS = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=st.just(UTC))  # noqa: DTZ001 - made aware
PIECES = """
on the 14th 3 31 2026 99 december may friday next last from to until since before 24.12.
2026-12-24 3月4日 am bis märz yesterday ago weeks in week , . -
"""
WORDS = st.sampled_from(PIECES.split())


@given(st.text(max_size=60) | st.lists(WORDS, max_size=12).map(" ".join), MOMENTS)
def test_any_text_at_any_time_gives_few_rising_days_of_the_calendar(text, when):
    found = stated_days(text, when)
    assert list(found) == sorted({*found})
    assert len(found) <= MAX_DAYS
    assert all(date.min <= date(1970, 1, 1) + timedelta(day) <= date.max for day in found)
