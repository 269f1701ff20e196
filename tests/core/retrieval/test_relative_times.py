"""Distances, directions and ranges of time in a question, and what is no time at all."""

from __future__ import annotations

from tests.core.retrieval.time_tables import at, rows, shown
from tests.tables import each

from hybrid_memory.retrieval.time_expressions.parsing import TimeExpressions, parse_time_expressions

NOW = at("2025-03-19T15:30")  # a Wednesday


def meant(question, now=NOW):
    return shown(parse_time_expressions(question, now).windows)


@each(
    "question, windows",
    rows("""
    three days ago                       -> 2025-03-16 to 2025-03-17
    two nights ago                       -> 2025-03-17 to 2025-03-18
    a few days ago                       -> 2025-03-14 to 2025-03-18
    two weeks ago                        -> 2025-03-02 to 2025-03-09
    14 days ago                          -> 2025-03-05 to 2025-03-06
    a fortnight ago                      -> 2025-02-28 to 2025-03-11
    two weekends ago                     -> 2025-03-08 to 2025-03-10
    two or three weeks ago               -> 2025-02-23 to 2025-03-09
    2-3 weeks ago                        -> 2025-02-23 to 2025-03-09
    a couple of months ago               -> 2024-12-04 to 2025-02-04
    six months ago                       -> 2024-09-04 to 2024-10-05
    half a year ago                      -> 2024-09-04 to 2024-10-05
    a year and a half ago                -> 2023-09-04 to 2023-10-05
    1.5 years ago                        -> 2023-09-04 to 2023-10-05
    one and a half years ago             -> 2023-09-04 to 2023-10-05
    twenty-five days ago                 -> 2025-02-22 to 2025-02-23
    two years ago                        -> 2022-09-17 to 2023-09-19
    two years back                       -> 2022-09-17 to 2023-09-19
    an hour ago                          -> 2025-03-19T14:00 to 2025-03-19T15:00
    10 minutes ago                       -> 2025-03-19T15:15 to 2025-03-19T15:25
    about three weeks ago                -> 2025-02-23 to 2025-03-02
    a minute ago                         -> 2025-03-19T15:24 to 2025-03-19T15:30
    three Fridays ago                    -> 2025-02-28 to 2025-03-01
    two summers ago                      -> 2023-06-01 to 2023-09-01
    two Christmases ago                  -> 2023-12-24 to 2023-12-27
    more than two years ago              -> open to 2023-03-19
    less than a month ago                -> 2025-02-19 to 2025-03-19T15:30
    this time last year                  -> 2024-02-03 to 2024-05-04
    in the last three months             -> 2024-12-19 to 2025-03-19T15:30
    over the last half year              -> 2024-09-19 to 2025-03-19T15:30
    in the past 3 months                 -> 2024-12-19 to 2025-03-19T15:30
    over the past year                   -> 2024-03-19 to 2025-03-19T15:30
    within the last two days             -> 2025-03-17 to 2025-03-19T15:30
    during the last week                 -> 2025-03-12 to 2025-03-19T15:30
    in the last hour                     -> 2025-03-19T14:30 to 2025-03-19T15:30
    in the next two weeks                -> 2025-03-19T15:30 to 2025-04-02
    What will happen in two weeks?       -> 2025-03-30 to 2025-04-06
    two months from now                  -> 2025-05-04 to 2025-06-04
    recently                             -> 2025-02-02 to 2025-03-19T15:30
    lately                               -> 2025-02-02 to 2025-03-19T15:30
    in recent weeks                      -> 2025-02-02 to 2025-03-19T15:30
    the other day                        -> 2025-03-09 to 2025-03-19T15:30
    a while ago                          -> 2023-09-16 to 2025-03-05T15:30
    long ago                             -> open to 2024-03-19T15:30
    a long time ago                      -> open to 2024-03-19T15:30
    """),
)
def test_distances_are_counted_from_the_moment(question, windows):
    assert meant(question) == windows


@each(
    "question, windows",
    rows("""
    since March                                 -> 2025-03-01 to open
    since 2019                                  -> 2019-01-01 to open
    since last summer                           -> 2024-06-01 to open
    ever since Monday                           -> 2025-03-17 to open
    from May 2023 on                            -> 2023-05-01 to open
    starting in May 2023                        -> 2023-05-01 to open
    until March 2024                            -> open to 2024-04-01
    until yesterday                             -> open to 2025-03-19
    up to 5 May 2024                            -> open to 2024-05-06
    by the end of March 2024                    -> open to 2024-04-01
    up until last month                         -> open to 2025-03-01
    on or before 5 May 2024                     -> open to 2024-05-06
    on or after 5 May 2024                      -> 2024-05-05 to open
    no earlier than 5 May 2024                  -> 2024-05-05 to open
    up to and including 5 May 2024              -> open to 2024-05-06
    in the run-up to Christmas                  -> 2024-11-24 to 2024-12-24
    as of January 2025                          -> open to 2025-02-01
    What was due by Friday?                     -> open to 2025-03-15
    What must I do by Friday?                   -> open to 2025-03-22
    What will I do by Friday?                   -> open to 2025-03-22
    before June                                 -> open to 2024-06-01
    before 2020                                 -> open to 2020-01-01
    prior to 8 May 2023                         -> open to 2023-05-08
    after 3 May                                 -> 2024-05-04 to open
    after 2020                                  -> 2021-01-01 to open
    later than 3 May 2024                       -> 2024-05-04 to open
    around 8 May 2023                           -> 2023-05-05 to 2023-05-12
    around May 2023                             -> 2023-04-16 to 2023-06-16
    just before 8 May 2023                      -> 2023-04-28 to 2023-05-08
    soon after May 2023                         -> 2023-06-01 to 2023-06-22
    between March and June 2024                 -> 2024-03-01 to 2024-07-01
    between November and February 2024          -> 2023-11-01 to 2024-03-01
    between 2019 and 2021                       -> 2019-01-01 to 2022-01-01
    from March to June 2024                     -> 2024-03-01 to 2024-07-01
    from March 2024 until June                  -> 2024-03-01 to 2024-07-01
    March-June 2024                             -> 2024-03-01 to 2024-07-01
    from April to June                          -> 2024-04-01 to 2024-07-01
    from November to February                   -> 2024-11-01 to 2025-03-01
    from 28 December to 3 January               -> 2024-12-28 to 2025-01-04
    from Monday to Friday                       -> 2025-03-17 to 2025-03-22
    2024-05-08 to 2024-05-10                    -> 2024-05-08 to 2024-05-11
    in June or July 2024                        -> 2024-06-01 to 2024-07-01, 2024-07-01 to 2024-08-01
    in April, May and June 2024                 -> 2024-04-01 to 2024-05-01, 2024-05-01 to 2024-06-01, 2024-06-01 to 2024-07-01
    on 8 May, 2023 and 9 June 2023              -> 2023-05-08 to 2023-05-09, 2023-06-09 to 2023-06-10
    when I first set this up in February 2024   -> 2024-02-01 to 2024-03-01
    before the move in May 2023                 -> open to 2023-06-01
    after the move in May 2023                  -> 2023-05-01 to open
    before the concert on 8 May 2023            -> 2023-05-08 to 2023-05-09
    """),
)
def test_connectives_open_close_and_join_times(question, windows):
    assert meant(question) == windows


@each(
    "question",
    [
        "May I go home?",
        "It may be the blue one",
        "Which of the two may 5 people use?",
        "This may be wrong, may it not?",
        "Where do they march?",
        "Did we march 5 km?",
        "What is the march route?",
        "How was my second marathon?",
        "Wait a second, who called?",
        "Is the second one better?",
        "Which version of Spring Boot do I use?",
        "What broke in Spring Framework 6?",
        "What do I need for spring cleaning?",
        "Where is the spring of the river?",
        "Did I fall off the bike?",
        "Who was there at the fall of Rome?",
        "The cat sat on the mat",
        "Does the sun shine?",
        "How do I look after my sun hat?",
        "Whom did I wed?",
        "Who is April?",
        "What did June tell me?",
        "Did April call?",
        "What did I get from April?",
        "What is the gift for June?",
        "What did Jan say?",
        "Where is the Christmas tree?",
        "Where are my Easter eggs?",
        "Which Python 3.11 did I install?",
        "duckdb 1.5.5 or 1.4.0?",
        "version 3.11.2024",
        "Postgres 16.4 on port 2024",
        "Is it open 24/7?",
        "Is the screen 1920x1080?",
        "What is the resolution 1920 × 1080 for?",
        "Which invoice is 2024-17?",
        "What was INC-2188?",
        "What was INC-2024-05?",
        "call 2024-05-08-123",
        "server 192.168.1.1",
        "10.0.2024.1",
        "Who is in room 2024?",
        "What cost $2000 or €1999 or 2000 euros?",
        "Did I walk in 2000 steps?",
        "2000 km",
        "Is 8/5 or 3/4 right?",
        "invoice 5/2023",
        "31.2.2024",
        "2024-13-01",
        "2024-02-30",
        "99 May",
        "What do I do on Mondays?",
        "every May",
        "each Christmas",
        "every week",
        "What did we discuss in the Monday meeting?",
        "on the 8th floor",
        "from 9 to 5",
        "in her 20s",
        "Is H2 a database?",
        "the next day",
        "our last night in Rome",
        "the last week of our trip",
        "my last year at school",
        "the last time I checked",
        "10 May Street",
        "How long ago was the party?",
        "What did I say about June?",
        "last minute changes",
        "my last day",
        "How many days are two weeks?",
        "How many km did I run in two weeks?",
        "a year of silence",
        "the end of the story",
        "What did I say about march?",
        "user@2024-05-08.example",
        "https://example.org/2024/05/08/post",
        "snapshot_2024_05_08",
        "",
        " ",
        "?",
        "2",
    ],
)
def test_what_only_looks_like_a_time_is_none(question):
    assert meant(question) == ""


@each(
    "question, sharpness",
    [
        ("on 8 May 2023", [1.0]),
        ("in May 2023", [1.0]),
        ("08/05/2023", [0.7, 0.5]),
        ("last week", [0.9]),
        ("around May 2023", [0.6]),
        ("shortly before 8 May 2023", [0.6]),
        ("early May 2023", [0.8]),
        ("two weeks ago", [0.8]),
        ("recently", [0.3]),
        ("the 2022 report", [0.6]),
    ],
)
def test_vaguer_words_are_taken_less_literally(question, sharpness):
    assert [window.certainty for window in parse_time_expressions(question, NOW).windows] == sharpness


def test_a_question_without_time_says_nothing():
    assert parse_time_expressions("Which colour did Anna choose?", NOW) == TimeExpressions()
