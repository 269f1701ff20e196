"""Times of questions in other languages are found as in English; English questions are left as they are."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory.retrieval.time_expressions.foreign_days import in_english
from hybrid_memory.retrieval.time_expressions.parsing import parse_time_expressions

NOW = datetime(2026, 11, 22, 10, tzinfo=UTC)  # a Sunday


@each(
    "question, since",
    [
        ("Was haben wir am 3. März 2026 besprochen?", "2026-03-03"),
        ("Was war gestern?", "2026-11-21"),
        ("Worüber haben wir letzte Woche geredet?", "2026-11-09"),
        ("¿Qué hicimos la semana pasada?", "2026-11-09"),
        ("Où étions-nous le 14 juillet 2026 ?", "2026-07-14"),
        ("昨日何をしましたか", "2026-11-21"),
    ],
)
def test_a_question_in_another_language_has_its_time(question, since):
    (window,) = parse_time_expressions(question, NOW).windows
    assert str(window.since.date()) == since


def test_a_day_without_a_year_may_be_the_last_or_the_next_where_the_tense_is_not_understood():
    windows = parse_time_expressions("Was ist am 24.12.?", NOW).windows
    assert [str(window.since.date()) for window in windows] == ["2025-12-24", "2026-12-24"]


@each(
    "text",
    [
        "What did Sam do on 16 August, 2023?",
        "Deposit paid on 22 April, so we are at 84 a head.",
        "The domain name costs 12.50, see hier.example",
        "Wer ist Anna?",
        "from 1 September; the first month",
    ],
)
def test_what_holds_no_foreign_time_stays_as_it_is(text):
    assert in_english(text) == text


@each("text", ["geſtern, also gestern", "ſonntag oder montag", "İm März, im Mai", "ſeit März, seit Mai"])
def test_letters_that_a_pattern_takes_for_others_are_read_as_these(text):
    plain = text.replace("ſ", "s").replace("İ", "i")
    assert parse_time_expressions(text, NOW).windows == parse_time_expressions(plain, NOW).windows != ()


@given(st.text(max_size=60))
def test_any_question_can_be_parsed(text):
    parse_time_expressions(in_english(text), NOW)
