"""Which moments a question means."""

from __future__ import annotations

from tests.core.retrieval.time_tables import at, rows, shown
from tests.tables import each

from hybrid_memory.retrieval.time_expressions.parsing import parse_time_expressions

NOW = at("2025-03-19T15:30")  # a Wednesday


def meant(question, now=NOW):
    return shown(parse_time_expressions(question, now).windows)


@each(
    "question, windows",
    rows("""
    What happened on 2024-05-08?                -> 2024-05-08 to 2024-05-09
    the meeting on 2024-05-08.                  -> 2024-05-08 to 2024-05-09
    Log of 2024-05-08T10:30Z                    -> 2024-05-08T10:30 to 2024-05-08T11:30
    Log of 2024-05-08T10:30:15.250+02:00        -> 2024-05-08T08:30 to 2024-05-08T09:30
    Log of 2024-05-08 10:30                     -> 2024-05-08T10:30 to 2024-05-08T11:30
    in 2024-05                                  -> 2024-05-01 to 2024-06-01
    2024-W01                                    -> 2024-01-01 to 2024-01-08
    2024-05-08/2024-05-10                       -> 2024-05-08 to 2024-05-11
    the twenty-first of May 2024                -> 2024-05-21 to 2024-05-22
    2023/05/08                                  -> 2023-05-08 to 2023-05-09
    Was geschah am 8.5.2023?                    -> 2023-05-08 to 2023-05-09
    Qu'est-ce que j'ai fait le 13/05/2023 ?     -> 2023-05-13 to 2023-05-14
    05/13/2023                                  -> 2023-05-13 to 2023-05-14
    08/05/2023                                  -> 2023-05-08 to 2023-05-09, 2023-08-05 to 2023-08-06
    05/05/2023                                  -> 2023-05-05 to 2023-05-06
    08-05-2023                                  -> 2023-05-08 to 2023-05-09, 2023-08-05 to 2023-08-06
    13/05/23                                    -> 2023-05-13 to 2023-05-14
    08.05.23                                    -> 2023-05-08 to 2023-05-09
    2023年5月8日に何をした？                      -> 2023-05-08 to 2023-05-09
    2023年5月の旅行                              -> 2023-05-01 to 2023-06-01
    2023년 5월 8일                               -> 2023-05-08 to 2023-05-09
    会議は2024-05-08です                         -> 2024-05-08 to 2024-05-09
    8 May 2023                                  -> 2023-05-08 to 2023-05-09
    8th May 2023                                -> 2023-05-08 to 2023-05-09
    on the 8th of May, 2023                     -> 2023-05-08 to 2023-05-09
    the second of May 2023                      -> 2023-05-02 to 2023-05-03
    May 8th, 2023                               -> 2023-05-08 to 2023-05-09
    May 8, 2023                                 -> 2023-05-08 to 2023-05-09
    May the 8th 2023                            -> 2023-05-08 to 2023-05-09
    Monday, 8 May 2023                          -> 2023-05-08 to 2023-05-09
    Mon 8 May 2023                              -> 2023-05-08 to 2023-05-09
    8-May-2023                                  -> 2023-05-08 to 2023-05-09
    8 May 23                                    -> 2023-05-08 to 2023-05-09
    8 may '23                                   -> 2023-05-08 to 2023-05-09
    12 Sept. 2023                               -> 2023-09-12 to 2023-09-13
    1:56 pm on 8 May, 2023                      -> 2023-05-08T13:56 to 2023-05-08T14:56
    8 May 2023 at 5pm                           -> 2023-05-08T17:00 to 2023-05-08T18:00
    on the morning of 8 May 2023                -> 2023-05-08T05:00 to 2023-05-08T12:00
    8 May 2023 in the evening                   -> 2023-05-08T17:00 to 2023-05-09
    the night of 8 May 2023                     -> 2023-05-08T18:00 to 2023-05-09T06:00
    29 February 2024                            -> 2024-02-29 to 2024-03-01
    3-7 May 2024                                -> 2024-05-03 to 2024-05-08
    May 3-7, 2024                               -> 2024-05-03 to 2024-05-08
    from 3 to 7 May 2024                        -> 2024-05-03 to 2024-05-08
    between the 3rd and 7th of May 2024         -> 2024-05-03 to 2024-05-08
    on the 5th and 6th of March 2024            -> 2024-03-05 to 2024-03-07
    """),
)
def test_a_written_date_is_that_day(question, windows):
    assert meant(question) == windows


@each(
    "question, windows",
    rows("""
    May 2023                         -> 2023-05-01 to 2023-06-01
    May of 2023                      -> 2023-05-01 to 2023-06-01
    May '23                          -> 2023-05-01 to 2023-06-01
    05/2023                          -> 2023-05-01 to 2023-06-01
    in march 2024                    -> 2024-03-01 to 2024-04-01
    May last year                    -> 2024-05-01 to 2024-06-01
    July of last year                -> 2024-07-01 to 2024-08-01
    in July last year                -> 2024-07-01 to 2024-08-01
    last year in July                -> 2024-07-01 to 2024-08-01
    January this year                -> 2025-01-01 to 2025-02-01
    May next year                    -> 2026-05-01 to 2026-06-01
    8 May last year                  -> 2024-05-08 to 2024-05-09
    in 2022                          -> 2022-01-01 to 2023-01-01
    the year 2022                    -> 2022-01-01 to 2023-01-01
    in '22                           -> 2022-01-01 to 2023-01-01
    What was in the 2022 report?     -> 2022-01-01 to 2023-01-01
    from 2019 to 2021                -> 2019-01-01 to 2022-01-01
    2019-2021                        -> 2019-01-01 to 2022-01-01
    Q3 2024                          -> 2024-07-01 to 2024-10-01
    Q3-2024                          -> 2024-07-01 to 2024-10-01
    2024-Q3                          -> 2024-07-01 to 2024-10-01
    in Q3                            -> 2024-07-01 to 2024-10-01
    the third quarter of 2024        -> 2024-07-01 to 2024-10-01
    second quarter 2024              -> 2024-04-01 to 2024-07-01
    the last half of 2023            -> 2023-07-01 to 2024-01-01
    H2 2023                          -> 2023-07-01 to 2024-01-01
    the 90s                          -> 1990-01-01 to 2000-01-01
    in the 1990s                     -> 1990-01-01 to 2000-01-01
    in the nineties                  -> 1990-01-01 to 2000-01-01
    in the early 90s                 -> 1990-01-01 to 1993-05-01
    in the 2010s                     -> 2010-01-01 to 2020-01-01
    early June 2024                  -> 2024-06-01 to 2024-06-11
    mid-June 2024                    -> 2024-06-11 to 2024-06-21
    late June 2024                   -> 2024-06-21 to 2024-07-01
    mid-2023                         -> 2023-05-01 to 2023-09-01
    late 2022                        -> 2022-09-01 to 2023-01-01
    the beginning of 2023            -> 2023-01-01 to 2023-04-01
    the start of May 2023            -> 2023-05-01 to 2023-05-09
    the middle of 2023               -> 2023-05-01 to 2023-09-01
    at the end of 2023               -> 2023-10-01 to 2024-01-01
    at the end of last year          -> 2024-10-01 to 2025-01-01
    at the beginning of the year     -> 2025-01-01 to 2025-04-01
    first half of 2024               -> 2024-01-01 to 2024-07-01
    the second half of last month    -> 2025-02-15 to 2025-03-01
    the first week of March 2024     -> 2024-03-01 to 2024-03-08
    the third week of June 2024      -> 2024-06-15 to 2024-06-22
    the last week of March 2024      -> 2024-03-25 to 2024-04-01
    the last three days of May 2024  -> 2024-05-29 to 2024-06-01
    the first two weeks of May 2024  -> 2024-05-01 to 2024-05-15
    the first Monday of May 2024     -> 2024-05-06 to 2024-05-07
    the last Friday in May 2024      -> 2024-05-31 to 2024-06-01
    the first weekend of May 2024    -> 2024-05-04 to 2024-05-06
    the weekend of 9 March 2024      -> 2024-03-09 to 2024-03-11
    the week of 14 February 2024     -> 2024-02-12 to 2024-02-19
    in week 12 of 2024               -> 2024-03-18 to 2024-03-25
    in the month of May 2024         -> 2024-05-01 to 2024-06-01
    """),
)
def test_months_years_and_their_parts_are_the_calendars(question, windows):
    assert meant(question) == windows


@each(
    "now, question, windows",
    [
        (now.strip(), question, windows)
        for left, windows in rows("""
    2025-03-19: What did I do in May?         -> 2024-05-01 to 2024-06-01
    2025-05-20: What did I do in May?         -> 2025-05-01 to 2025-06-01
    2025-05-03: What did I do in May?         -> 2025-05-01 to 2025-06-01, 2024-05-01 to 2024-06-01
    2025-03-19: What did I do in October?     -> 2024-10-01 to 2024-11-01
    2025-03-19: this May                      -> 2025-05-01 to 2025-06-01
    2025-03-19: this past May                 -> 2024-05-01 to 2024-06-01
    2025-03-19: next May                      -> 2025-05-01 to 2025-06-01
    2025-05-10: next May                      -> 2026-05-01 to 2026-06-01
    2025-10-15: last May                      -> 2025-05-01 to 2025-06-01
    2025-05-15: last May                      -> 2024-05-01 to 2024-06-01
    2025-06-15: last July                     -> 2024-07-01 to 2024-08-01
    2025-04-15: last October                  -> 2024-10-01 to 2024-11-01
    2025-06-15: last September                -> 2024-09-01 to 2024-10-01
    2025-07-15: last December                 -> 2024-12-01 to 2025-01-01
    2025-04-09: last March                    -> 2025-03-01 to 2025-04-01, 2024-03-01 to 2024-04-01
    2025-03-19: What did I do on 8 May?       -> 2024-05-08 to 2024-05-09
    2025-05-08: What did I do on 8 May?       -> 2025-05-08 to 2025-05-09
    2025-03-19: What will I do on 8 May?      -> 2025-05-08 to 2025-05-09
    2025-03-19: What will I do in May?        -> 2025-05-01 to 2025-06-01
    2025-05-20: What will I do in May?        -> 2025-05-01 to 2025-06-01
    2025-03-19: What is due in May?           -> 2025-05-01 to 2025-06-01
    2025-03-19: What do I have on 3 May?      -> 2024-05-03 to 2024-05-04, 2025-05-03 to 2025-05-04
    2025-03-19: on 29 February                -> 2024-02-29 to 2024-03-01
    2025-03-19: on the 8th                    -> 2025-03-08 to 2025-03-09
    2025-03-05: on the 8th                    -> 2025-02-08 to 2025-02-09
    2025-03-19: on the 3rd of last month      -> 2025-02-03 to 2025-02-04
    2025-03-19: last summer                   -> 2024-06-01 to 2024-09-01
    2025-07-19: last summer                   -> 2024-06-01 to 2024-09-01
    2025-10-19: last summer                   -> 2025-06-01 to 2025-09-01
    2025-03-19: this summer                   -> 2025-06-01 to 2025-09-01
    2025-03-19: next summer                   -> 2025-06-01 to 2025-09-01
    2025-03-19: last spring                   -> 2024-03-01 to 2024-06-01
    2025-04-15: in the winter                 -> 2024-12-01 to 2025-03-01
    2025-04-15: over the winter               -> 2024-12-01 to 2025-03-01
    2025-01-15: last winter                   -> 2023-12-01 to 2024-03-01
    2025-01-15: this winter                   -> 2024-12-01 to 2025-03-01
    2025-04-15: last winter                   -> 2024-12-01 to 2025-03-01
    2025-03-19: in the fall                   -> 2024-09-01 to 2024-12-01
    2025-03-19: last autumn                   -> 2024-09-01 to 2024-12-01
    2025-03-19: spring 2024                   -> 2024-03-01 to 2024-06-01
    2025-03-19: the summer of 2023            -> 2023-06-01 to 2023-09-01
    2025-03-19: the winter of 2023/24         -> 2023-12-01 to 2024-03-01
    2025-03-19: winter 2024                   -> 2023-12-01 to 2024-03-01, 2024-12-01 to 2025-03-01
    2025-03-19: late summer 2023              -> 2023-08-01 to 2023-09-01
    """)
        for now, question in [left.split(":", 1)]
    ],
)
def test_a_name_without_a_year_means_the_latest_that_has_begun_unless_the_wording_looks_ahead(now, question, windows):
    assert meant(question.strip(), at(now)) == windows


@each(
    "question, windows",
    rows("""
    What did we do at Christmas?          -> 2024-12-24 to 2024-12-27
    What did I give Anna for Christmas?   -> 2024-12-24 to 2024-12-27
    Where did I spend Christmas 2022?     -> 2022-12-24 to 2022-12-27
    last year at Christmas                -> 2024-12-24 to 2024-12-27
    on Christmas Eve                      -> 2024-12-24 to 2024-12-25
    on Boxing Day                         -> 2024-12-26 to 2024-12-27
    What was it like at New Year?         -> 2024-12-31 to 2025-01-02
    New Year's Eve 2023                   -> 2023-12-31 to 2024-01-01
    on New Year’s Day                     -> 2025-01-01 to 2025-01-02
    Who came at Halloween?                -> 2024-10-31 to 2024-11-01
    on Valentine's Day                    -> 2025-02-14 to 2025-02-15
    on Bonfire Night last year            -> 2024-11-05 to 2024-11-06
    on Guy Fawkes Night 2022              -> 2022-11-05 to 2022-11-06
    Easter 2024                           -> 2024-03-29 to 2024-04-02
    Easter Sunday 2025                    -> 2025-04-20 to 2025-04-21
    on Good Friday                        -> 2024-03-29 to 2024-03-30
    Easter Monday 2022                    -> 2022-04-18 to 2022-04-19
    Thanksgiving 2023                     -> 2023-11-23 to 2023-11-24
    the day after Thanksgiving            -> 2024-11-29 to 2024-11-30
    around Christmas                      -> 2024-12-21 to 2024-12-30
    shortly before Christmas              -> 2024-12-10 to 2024-12-24
    right after Easter 2024               -> 2024-04-02 to 2024-04-09
    between Christmas and New Year        -> 2024-12-24 to 2025-01-02
    two weeks before Christmas            -> 2024-12-07 to 2024-12-14
    the week after Easter 2024            -> 2024-04-02 to 2024-04-09
    the Friday before Christmas           -> 2024-12-20 to 2024-12-21
    three days after 8 May 2024           -> 2024-05-11 to 2024-05-12
    the weekend before 20 October 2023    -> 2023-10-13 to 2023-10-20
    """),
)
def test_feasts_are_computed(question, windows):
    assert meant(question) == windows


@each(
    "question, windows",
    rows("""
    yesterday                          -> 2025-03-18 to 2025-03-19
    today                              -> 2025-03-19 to 2025-03-20
    tomorrow                           -> 2025-03-20 to 2025-03-21
    the day before yesterday           -> 2025-03-17 to 2025-03-18
    the day after tomorrow             -> 2025-03-21 to 2025-03-22
    yesterday at 5pm                   -> 2025-03-18T17:00 to 2025-03-18T18:00
    at 10:30 yesterday                 -> 2025-03-18T10:30 to 2025-03-18T11:30
    yesterday morning                  -> 2025-03-18T05:00 to 2025-03-18T12:00
    this morning                       -> 2025-03-19T05:00 to 2025-03-19T12:00
    tonight                            -> 2025-03-19T18:00 to 2025-03-20T06:00
    last night                         -> 2025-03-18T18:00 to 2025-03-19T06:00
    the night before last              -> 2025-03-17T18:00 to 2025-03-18T06:00
    last week                          -> 2025-03-10 to 2025-03-17
    this week                          -> 2025-03-17 to 2025-03-24
    next week                          -> 2025-03-24 to 2025-03-31
    the week before last               -> 2025-03-03 to 2025-03-10
    last weekend                       -> 2025-03-15 to 2025-03-17
    at the weekend                     -> 2025-03-15 to 2025-03-17
    this weekend                       -> 2025-03-22 to 2025-03-24
    the coming weekend                 -> 2025-03-22 to 2025-03-24
    next weekend                       -> 2025-03-29 to 2025-03-31
    What's planned for the weekend?    -> 2025-03-22 to 2025-03-24
    last month                         -> 2025-02-01 to 2025-03-01
    this month                         -> 2025-03-01 to 2025-04-01
    next month                         -> 2025-04-01 to 2025-05-01
    last quarter                       -> 2024-10-01 to 2025-01-01
    last year                          -> 2024-01-01 to 2025-01-01
    early next year                    -> 2026-01-01 to 2026-05-01
    the year before last               -> 2023-01-01 to 2024-01-01
    last Monday                        -> 2025-03-17 to 2025-03-18, 2025-03-10 to 2025-03-11
    last Friday                        -> 2025-03-14 to 2025-03-15
    on Monday                          -> 2025-03-17 to 2025-03-18
    on Wednesday                       -> 2025-03-19 to 2025-03-20
    on Sat                             -> 2025-03-15 to 2025-03-16
    on Sunday morning                  -> 2025-03-16T05:00 to 2025-03-16T12:00
    Friday night                       -> 2025-03-14T18:00 to 2025-03-15T06:00
    on Tuesday last week               -> 2025-03-11 to 2025-03-12
    Monday of last week                -> 2025-03-10 to 2025-03-11
    What will I do on Monday?          -> 2025-03-24 to 2025-03-25
    next Monday                        -> 2025-03-24 to 2025-03-25
    next Friday                        -> 2025-03-21 to 2025-03-22, 2025-03-28 to 2025-03-29
    this Friday                        -> 2025-03-21 to 2025-03-22
    on Wednesday the 12th              -> 2025-03-12 to 2025-03-13
    Friday the 13th                    -> 2024-12-13 to 2024-12-14
    the Monday before last             -> 2025-03-10 to 2025-03-11
    the summer before last             -> 2023-06-01 to 2023-09-01
    at noon today                      -> 2025-03-19T11:00 to 2025-03-19T14:00
    on Monday or Tuesday               -> 2025-03-17 to 2025-03-18, 2025-03-18 to 2025-03-19
    earlier this year                  -> 2025-01-01 to 2025-03-19T15:30
    later this year                    -> 2025-03-19T15:30 to 2026-01-01
    earlier today                      -> 2025-03-19 to 2025-03-19T15:30
    """),
)
def test_names_relative_to_the_moment(question, windows):
    assert meant(question) == windows
