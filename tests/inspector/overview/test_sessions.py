"""Sessions and readings counted: what pages of them show."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.speaking import remember

from hybrid_memory.model import MemoryType
from hybrid_memory.requests import ForgetRequest, UpdateRequest
from hybrid_memory.store.readings import Asked, Outcome, Reading, Way
from hybrid_memory_inspector.overview.recalls import ReadingFilter, by_day, gaps, most_used
from hybrid_memory_inspector.overview.sessions import SessionOrder, rows_of_session, session_page, summary_of
from hybrid_memory_mcp.views.session_titles import session_starts

NOW = datetime(2026, 11, 22, 23, 30, tzinfo=UTC)


def look(service, scope, function, **how):
    return service.look(scope, lambda columns, now: function(columns, now, **how))


@pytest.fixture
def told(service, scope, clock):
    """Three sessions, each an hour long."""
    for name, count in (("breakfast", 2), ("Lunch", 4), ("dinner", 1)):
        clock.advance(hours=1)
        for number in range(count):
            clock.advance(seconds=10)
            words = f"{name} has course {number}, with spoons"
            remember(service, scope, words, session=name, memory_type=MemoryType.LONG_TERM, importance=number / 10)
    return service


@pytest.mark.parametrize(
    ("order", "names"),
    [
        (SessionOrder.LATEST, ["dinner", "Lunch", "breakfast"]),
        (SessionOrder.OLDEST, ["breakfast", "Lunch", "dinner"]),
        (SessionOrder.LARGEST, ["Lunch", "breakfast", "dinner"]),
    ],
)
def test_sessions_come_in_the_order_that_is_asked_for(told, scope, order, names):
    assert [one.name for one in look(told, scope, session_page, order=order).sessions] == names


def test_a_page_tells_how_many_there_are_on_all(told, scope):
    page = look(told, scope, session_page, offset=1, limit=1)
    assert ([one.name for one in page.sessions], page.total) == (["Lunch"], 3)


def test_some_sessions_alone_are_shown_by_their_names(told, scope):
    assert [one.name for one in look(told, scope, session_page, named={"Lunch", "tea"}).sessions] == ["Lunch"]


def test_a_session_opens_with_the_first_memory_that_is_still_found(told, scope):
    ids = [one for _, one in told.look(scope, lambda columns, _: rows_of_session(columns, "Lunch"))]
    told.forget(scope, ForgetRequest(ids=(ids[0],)))
    start = look(told, scope, session_starts)["Lunch"]
    assert (start.began, start.opening) == (ids[0], ids[1])


def test_of_a_session_of_which_nothing_is_found_only_the_beginning_is_known(told, scope):
    (only,) = [one for _, one in told.look(scope, lambda columns, _: rows_of_session(columns, "dinner"))]
    told.forget(scope, ForgetRequest(ids=(only,)))
    start = look(told, scope, session_starts)["dinner"]
    assert (start.began, start.opening) == (only, None)


def test_a_session_tells_what_of_it_still_holds(told, scope):
    ids = [one for _, one in told.look(scope, lambda columns, _: rows_of_session(columns, "Lunch"))]
    told.forget(scope, ForgetRequest(ids=(ids[0],)))
    told.update(scope, UpdateRequest(id=ids[1], content="Lunch was a sandwich"))
    one = look(told, scope, summary_of, name="Lunch")
    assert (one.forgotten, one.replaced, one.memories - one.current) == (1, 1, 2)
    assert ids[0] not in one.learned


def test_what_weighs_most_stands_for_a_session(told, scope):
    ids = [one for _, one in told.look(scope, lambda columns, _: rows_of_session(columns, "Lunch"))]
    assert look(told, scope, summary_of, name="Lunch").learned == (ids[3], ids[2], ids[1])


def test_an_empty_memory_has_no_sessions(service, scope):
    assert look(service, scope, session_page).total == 0
    assert look(service, scope, summary_of, name="x") is None


def reading(question="where?", *, hours=0.0, number=1, **more):
    values = {"namespace": "default", "session": "s", "client": "kite", "way": Way.TOOL, "asked": Asked.QUESTION}
    at = NOW - timedelta(hours=hours)
    return Reading(question=question, at=at, number=number, **(values | {"outcome": Outcome.UNKNOWN} | more))


def test_questions_that_nothing_answered_are_counted_however_they_are_written():
    found = gaps([reading("Where is  the KEY", number=3), reading("where is the key?", number=2), reading("who?")], 9)
    assert [(one.question, one.asked) for one in found] == [("Where is  the KEY", 2), ("who?", 1)]


def test_what_was_answered_later_is_no_gap_and_what_was_lost_again_is_one():
    unknown, found = reading("where?", number=1), reading("where?", number=2, outcome=Outcome.FOUND)
    assert gaps([found, unknown], 9) == []
    assert len(gaps([unknown, found], 9)) == 1


def test_a_brief_that_shows_nothing_is_no_gap():
    assert gaps([reading("", asked=Asked.BRIEF, outcome=Outcome.NOTHING)], 9) == []


def test_days_are_those_of_the_reader_and_have_no_holes():
    found = by_day([reading(hours=1), reading(hours=50, outcome=Outcome.FOUND)], date(2026, 11, 22), 4, UTC)
    assert [(one.day.day, one.readings, one.unanswered) for one in found] == [
        (19, 0, 0),
        (20, 1, 0),
        (21, 0, 0),
        (22, 1, 1),
    ]


def test_only_the_memory_that_stood_out_was_used():
    found = {"outcome": Outcome.FOUND}
    readings = [reading(shown=("b", "a"), **found), reading(shown=("b", "x"), **found), reading(shown=("a",), **found)]
    readings += [reading("", asked=Asked.BRIEF, shown=("c",), **found), reading(shown=("d",), outcome=Outcome.WEAK)]
    assert most_used(readings, 9) == [("b", 2), ("a", 1)]


WORDS = st.sampled_from(["", "key", "Where is the KEY?", "who"])


@settings(max_examples=30)
@given(
    filters=st.builds(
        ReadingFilter,
        client=st.sampled_from(["", "kite", "owl"]),
        words=WORDS,
        unanswered=st.booleans(),
        memory=st.sampled_from([None, "m"]),
    ),
    one=st.builds(
        reading,
        WORDS,
        client=st.sampled_from(["kite", "owl"]),
        outcome=st.sampled_from(Outcome),
        shown=st.sampled_from([(), ("m",)]),
    ),
)
def test_a_filter_less_takes_no_less(filters, one):
    if filters.takes(one):
        assert ReadingFilter().takes(one)
        assert ReadingFilter(client=filters.client, words=filters.words).takes(one)
