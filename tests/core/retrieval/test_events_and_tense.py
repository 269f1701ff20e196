"""Events that stand for a time, what a question asks about, where its time words are; and what statements mention."""

from __future__ import annotations

import itertools
from datetime import UTC, date, datetime, time, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.core.retrieval.time_tables import at, rows
from tests.tables import each

from hybrid_memory.retrieval.time_expressions.lexer import NOT_NOUNS, TRIGGERS
from hybrid_memory.retrieval.time_expressions.parsing import Anchor, TimeExpressions, Window, parse_time_expressions

NOW = at("2025-03-19T15:30")  # a Wednesday


@each(
    "question, expected",
    rows("""
    What did I cook before the move?                            -> before: the move
    Where did I live before I moved to Berlin?                  -> before: I moved to Berlin
    Before the move, what did I own?                            -> before: the move
    Who was my manager before Tom?                              -> before: Tom
    Which doctor did I see before Dr. Smith?                    -> before: Dr. Smith
    What changed after Tom left and before Anna came?           -> after: Tom left; before: Anna came
    Which bike did I ride prior to the accident?                -> before: the accident
    What did Caroline do after the road trip?                   -> after: the road trip
    What changed following the audit last week?                 -> after: the audit
    What changed shortly after the release of Python 3.11?      -> after: the release of Python 3.11
    Where was I when the storm hit?                             -> during: the storm hit
    When the storm hit, where was I?                            -> during: the storm hit
    What happened while I was in Rome last year?                -> during: I was in Rome
    What did I eat during the flight to Oslo?                   -> during: the flight to Oslo
    What did I believe at the time of the vote?                 -> during: the vote
    What was decided in the week of the launch?                 -> during: the launch
    What failed on the night of the cut-over and just after?    -> on: the cut-over; after: the cut-over
    What was the weather on the day of the picnic?              -> on: the picnic
    What did I wear the evening that we met?                    -> on: we met
    Which shirt did I wear the day I met Tom?                   -> on: I met Tom
    Where did I live around the time of the wedding?            -> around: the wedding
    What did I say at the end of the project?                   -> around: the project
    What have I eaten since the operation?                      -> since: the operation
    Which editor did I use until the upgrade?                   -> until: the upgrade
    Which phone did I have by the time I left Siemens?          -> until: I left Siemens
    Between jobs, what did I do before the trip and after it?   -> before: the trip; after: the trip
    What did I do the day before the wedding?                   -> before: the wedding
    What did I do the week after the conference?                -> after: the conference
    when I first set this up in February 2024                   -> during: I first set this up
    When did I move?                                            ->
    Do you know when the train leaves?                          ->
    Remind me when the dentist is                               ->
    Since when do I smoke?                                      ->
    What do I do when the alarm rings?                          ->
    Who looks after the dog?                                    ->
    Whom was I named after?                                     ->
    What was it before?                                         ->
    What did I think before that?                               ->
    What did I do after 5?                                      ->
    What did I do before June?                                  ->
    """),
)
def test_an_event_that_stands_for_a_time_is_an_anchor(question, expected):
    found = parse_time_expressions(question, NOW).anchors
    assert "; ".join(f"{anchor.relation}: {anchor.phrase}" for anchor in found) == expected


def test_a_phrase_keeps_a_dozen_words():
    (anchor,) = parse_time_expressions("before " + "very " * 30 + "long", NOW).anchors
    assert anchor == Anchor("before", " ".join(["very"] * 12))


@each(
    "question, stance",
    rows("""
    Where did I use to work?                         -> past
    Which editor did I previously use?               -> past
    What was my former address?                      -> past
    What is my old address?                          -> past
    What did I think back then?                      -> past
    What was the wifi password before?               -> past
    What was the password before the change?         -> past
    What do I no longer eat?                         -> past
    I used to swim where?                            -> past
    Where did I live in 2022?                        -> past
    What did I do last week?                         -> past
    What have I done recently?                       -> any
    Since the move, which gym do I use?              -> current
    Where does Anna live now, and where before?      -> past
    What did I originally plan?                      -> first
    Which colour did we initially choose?            -> first
    What did I use at first?                         -> first
    When was the first time I flew?                  -> first
    What was the first car that I owned?             -> first
    When did I first go to Oslo?                     -> first
    What is my current phone?                        -> current
    What did I say my latest address was?            -> current
    Where do I work now?                             -> current
    Which dentist do I go to these days?             -> current
    Where does Caroline work at the moment?          -> current
    Is Anna still with Siemens?                      -> current
    What is on my list today?                        -> current
    What is my name?                                 -> current
    What's my dog’s name?                            -> current
    What is my dog called?                           -> current
    Where do I work?                                 -> current
    Which city does Melanie live in?                 -> current
    How old am I?                                    -> current
    Which phone do I use since March?                -> current
    What is my first name?                           -> current
    Was I still with Siemens?                        -> any
    What did I eat today?                            -> any
    Where is the restaurant we visited?              -> any
    Do you remember where my keys are?               -> any
    What is used to build the wheel?                 -> any
    When did I move to Berlin?                       -> any
    What will I do next week?                        -> any
    What happened after the move?                    -> any
    How long have I lived here?                      -> any
    Which is the second one?                         -> current
    Rome                                             -> any
    """),
)
def test_the_stance_tells_an_earlier_state_from_the_current_and_the_first(question, stance):
    assert parse_time_expressions(question, NOW).asked_state == stance


@each(
    "question, words",
    [
        ("What did Melanie paint in May 2023?", ["in May 2023"]),
        ("Where did I live before the move last summer?", ["before", "last summer"]),
        ("What failed on the night of the cut-over and just after?", ["on the night of", "and just after"]),
        ("Where do I work now?", ["now"]),
        ("Which editor did I originally use, in '22?", ["originally", "in '22"]),
        ("At Christmas", ["At Christmas"]),
        ("Straße: İstanbul 8.5.2023", ["8.5.2023"]),
        ("Where is it?", []),
    ],
)
def test_spans_are_the_places_of_time_words(question, words):
    assert [question[start:end] for start, end in parse_time_expressions(question, NOW).spans] == words


def test_windows_are_in_the_zone_of_the_moment():
    zone = ZoneInfo("Europe/Berlin")
    (window,) = parse_time_expressions("yesterday", datetime(2025, 3, 31, 1, tzinfo=zone)).windows
    assert window == Window(datetime(2025, 3, 30, tzinfo=zone), datetime(2025, 3, 31, tzinfo=zone), 1.0)
    (window,) = parse_time_expressions("2024-05-08T10:30Z", datetime(2025, 3, 31, tzinfo=zone)).windows
    assert window.since == datetime(2024, 5, 8, 12, 30, tzinfo=zone)


def test_a_moment_without_a_zone_is_refused():
    with pytest.raises(ValueError, match="aware"):
        parse_time_expressions("yesterday", NOW.replace(tzinfo=None))


DAYS = st.dates(date(1900, 1, 1), date(2199, 12, 30)).map(lambda day: datetime.combine(day, time(), UTC))
MOMENTS = st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))]))
PIECES = [
    *sorted(TRIGGERS | NOT_NOUNS),
    *[
        "3",
        "8th",
        "2024",
        "'22",
        "-",
        ",",
        "2024-05-08",
        "8/5/2023",
        "99",
        "0",
        "31",
        "Q3",
        "mid-2023",
        "90s",
        "May",
        "Sat",
    ],
]
QUESTIONS = st.lists(st.sampled_from(PIECES), max_size=8).map(" ".join)


@given(QUESTIONS | st.text(st.characters(codec=None), max_size=40), MOMENTS)
def test_whatever_is_asked_whenever_windows_are_in_order_and_fit_every_zone(question, now):
    found = parse_time_expressions(question, now)
    for window in found.windows:
        sides = [side for side in (window.since, window.until) if side is not None]
        assert 0 < window.certainty <= 1
        assert sides
        assert sorted(sides) == sides
        assert len(set(sides)) == len(sides)
        assert all(side.astimezone(timezone(timedelta(hours=hours))) == side for side in sides for hours in (-14, 14))


@given(QUESTIONS | st.text(st.characters(codec=None), max_size=40), MOMENTS)
def test_spans_lie_within_the_text_sorted_and_apart(question, now):
    found = parse_time_expressions(question, now)
    edges = list(itertools.chain.from_iterable(found.spans))
    assert edges == sorted(edges)
    assert all(0 <= start < end <= len(question) for start, end in found.spans)
    assert all(anchor.phrase in question and anchor.phrase.strip() for anchor in found.anchors)


@given(QUESTIONS, MOMENTS)
def test_the_same_question_at_the_same_moment_means_the_same(question, now):
    assert parse_time_expressions(question, now) == parse_time_expressions(question, now)


@given(QUESTIONS)
def test_what_is_not_relative_to_the_moment_moves_by_whole_cycles_of_the_calendar(question):
    """400 years are a whole number of weeks and hold the same leap years, but Easter's cycle is far longer."""
    assume(not any(character.isdigit() for character in question))
    assume("easter" not in question and "good friday" not in question)
    later = NOW.replace(year=NOW.year + 400)
    near, far = parse_time_expressions(question, NOW), parse_time_expressions(question, later)
    assert [_later(window) for window in near.windows] == list(far.windows)
    assert (near.anchors, near.asked_state, near.spans) == (far.anchors, far.asked_state, far.spans)


def _later(window):
    sides = (side and side.replace(year=side.year + 400) for side in (window.since, window.until))
    return Window(*sides, window.certainty)


@pytest.mark.slow
@pytest.mark.parametrize(
    "pattern",
    [
        "{0:%Y-%m-%d}",
        "{0:%Y/%m/%d}",
        "{0:%d.%m.%Y}",
        "{0.day}.{0.month}.{0.year}",
        "{0.day} {0:%B %Y}",
        "{0.day} {0:%b %Y}",
        "the {0.day}th of {0:%B}, {0.year}",
        "{0:%B} {0.day}, {0.year}",
        "{0:%b} {0.day} {0.year}",
        "{0:%A}, {0.day} {0:%B %Y}",
        "{0.day}-{0:%b}-{0.year}",
        "{0.year}年{0.month}月{0.day}日",
        "on {0.day} {0:%B} {0.year}?",
    ],
)
@given(day=DAYS, now=MOMENTS)
def test_a_formatted_date_is_read_back(pattern, day, now):
    (window,) = parse_time_expressions(pattern.format(day), now.replace(tzinfo=UTC)).windows
    assert window == Window(day, day + timedelta(days=1), 1.0)


@given(day=DAYS)
def test_one_reading_of_a_date_with_slashes_is_the_one_that_was_written(day):
    for pattern in ("%d/%m/%Y", "%m/%d/%Y"):
        assert day in [window.since for window in parse_time_expressions(day.strftime(pattern), NOW).windows]


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "early " * 3_000,
        "the first week of " * 1_000 + "May",
        "Monday, " * 3_000,
        "before " * 3_000,
        "from May to " * 1_000,
        "1" + "." * 9_000 + "1",
        "2" * 9_000,
        "a " * 9_000,
        "the day before " * 1_000 + "yesterday",
        "1 or " * 3_000 + "days ago",
    ],
)
def test_long_and_nested_wordings_are_read_without_harm(text):
    assert parse_time_expressions(text, NOW).spans is not None


def test_nothing_is_said_by_nothing():
    assert parse_time_expressions("", NOW) == TimeExpressions()
