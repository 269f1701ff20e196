"""The journal of readings alongside the service: what is noted, what is not, and that nobody waits for it."""

from datetime import timedelta

import pytest
from tests.core.speaking import remember

from hybrid_memory.errors import StoreFull
from hybrid_memory.model import Scope, Tier
from hybrid_memory.requests import ReadRequest, ReadResult, Where
from hybrid_memory.service.reading_journal import QUESTION_CHARACTERS, STORED_AT_ONCE, ReadingJournal, Shown
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.store.readings import Asked, Outcome, Way
from hybrid_memory.testing import START, FakeClock

SCOPE = Scope(session="morning", actor="claude-code")
KEY = "sk-ant-api03-" + "Ab1_" * 24 + "AA"


@pytest.fixture
def journal():
    return ReadingJournal(MemoryStore(FakeClock(START)).readings, keep=5, days=30)


def note(journal, query="where does Ada live?", *, at=START, result=None, shown=(), **request):
    found = result or ReadResult(hits=(), total=0)
    journal.note(SCOPE, Way.TOOL, ReadRequest(query=query, **request), found, Shown(ids=shown, tokens=7), at)


def latest(journal, now=START):
    return journal.latest(None, now)


def test_who_asked_what_and_when_is_told_with_what_was_shown(journal):
    note(journal, shown=["m1", "m2"], result=ReadResult(hits=(), total=9))
    (found,) = latest(journal)
    told = (found.client, found.session, found.way, found.asked, found.question, found.at)
    assert told == ("claude-code", "morning", Way.TOOL, Asked.QUESTION, "where does Ada live?", START)
    assert (found.shown, found.matched, found.tokens) == (("m1", "m2"), 9, 7)


@pytest.mark.parametrize(
    ("request_", "asked"),
    [
        ({"query": ""}, Asked.BRIEF),
        ({"query": "", "ids": ("m1",)}, Asked.IDS),
        ({"query": "who?", "cursor": "x"}, Asked.MORE),
        ({"query": "who?"}, Asked.QUESTION),
    ],
)
def test_what_sort_of_reading_it_was(journal, request_, asked):
    note(journal, **request_)
    assert latest(journal)[0].asked is asked


def test_filters_are_told_by_the_names_of_the_tool(journal):
    note(journal, where=Where(tags=("home",), since=START, session="s"))
    assert latest(journal)[0].filters == {"tags": ["home"], "session": "s", "since": START.isoformat()}


def test_filters_that_are_very_long_are_told_by_their_names_alone(journal):
    note(journal, where=Where(metadata={"a": "x" * 5000}))
    assert latest(journal)[0].filters == {"metadata": "..."}


def test_a_secret_in_a_question_or_a_filter_is_never_stored(journal):
    note(journal, f"is {KEY} still right?", where=Where(tags=(KEY,)))
    assert KEY[20:60] not in str(latest(journal))


def test_a_secret_where_a_long_question_is_cut_is_not_left_in_half(journal):
    note(journal, "x " * (QUESTION_CHARACTERS // 2 - 10) + KEY)
    assert "sk-ant" not in str(latest(journal))


def test_a_long_question_is_cut(journal):
    note(journal, "why " * 5000)
    assert len(latest(journal)[0].question) <= QUESTION_CHARACTERS


def test_a_prompt_that_showed_nothing_is_not_noted(journal):
    note(journal, "please refactor this", quiet=True)
    note(journal, "where does Ada live?", quiet=True, shown=["m1"])
    assert [one.question for one in latest(journal)] == ["where does Ada live?"]


def test_half_a_character_takes_no_other_reading_along(journal):
    note(journal, "first")
    note(journal, "\ud800 second")
    assert [one.question for one in latest(journal)] == ["? second", "first"]


@pytest.mark.parametrize("days", [30, 36_500_000])
def test_no_more_and_no_older_ones_are_told_than_the_limits_allow(days):
    journal = ReadingJournal(MemoryStore(FakeClock(START)).readings, keep=2, days=days)
    for number in range(3):
        note(journal, f"q{number}")
    assert [one.question for one in latest(journal)] == ["q2", "q1"]
    later = latest(journal, START + timedelta(days=31))
    assert len(later) == (0 if days == 30 else 2)


def test_a_journal_that_is_off_notes_nothing_and_empties_what_is_there():
    readings = MemoryStore(FakeClock(START)).readings
    on, off = ReadingJournal(readings, keep=5, days=30), ReadingJournal(readings, keep=0, days=30)
    note(on)
    on.flush(START)
    note(off)
    off.flush(START)
    assert (latest(off), off.is_on) == ([], False)


def test_a_clock_that_may_be_wrong_takes_no_reading_away(journal):
    note(journal)
    journal.flush(START)
    journal.flush(START + timedelta(days=10_000), forget_old=False)
    assert len(latest(journal)) == 1


class Full:
    """Readings of a store that is full."""

    def add(self, readings, **limits):  # noqa: ARG002 - takes none
        raise StoreFull("full")


def test_what_a_full_store_does_not_take_waits_for_the_next_time(journal):
    store, journal._store = journal._store, Full()
    for number in range(3):
        note(journal, f"q{number}")
    journal.flush(START)
    journal._store = store
    assert [one.question for one in latest(journal)] == ["q2", "q1", "q0"]


def note_for(service, scope, request, shown=None):
    found = service.read(scope, request)
    ids = [hit.memory.id for hit in found.hits] if shown is None else shown
    service.journal.note(scope, Way.TOOL, request, found, Shown(ids=ids), service.now())
    return service.journal.latest(scope.namespaces, service.now())[0]


def test_an_answer_is_told_from_the_claim_that_nothing_is_known(service, scope):
    remember(service, scope, "Ada keeps her bicycle in the cellar")
    for number in range(30):
        remember(service, scope, f"The number {number} bus stops at the old mill by the river")
    found = note_for(service, scope, ReadRequest(query="where is Ada's bicycle?"))
    assert found.is_answered
    assert found.used == found.shown[0]
    assert note_for(service, scope, ReadRequest(query="When was Zebedee's wedding?")).is_unanswered


def test_many_that_fit_a_question_alike_are_no_clear_answer(service, scope):
    for number in range(30):
        remember(service, scope, f"The number {number} bus stops at the old mill by the river")
    found = note_for(service, scope, ReadRequest(query="where does the bus stop?"))
    assert (found.outcome, found.used) == (Outcome.WEAK, None)
    assert not found.is_answered
    assert not found.is_unanswered


def test_an_empty_store_answers_nothing(service, scope):
    assert note_for(service, scope, ReadRequest(query="who am I?")).outcome is Outcome.NOTHING
    assert not note_for(service, scope, ReadRequest()).is_unanswered


def test_a_reading_writes_nothing_before_there_is_time(service, scope):
    remember(service, scope, "Ada lives in Riga")
    found = service.read(scope, ReadRequest(query="Ada"))
    service.journal.note(scope, Way.TOOL, ReadRequest(query="Ada"), found, Shown(), service.now())
    assert service.store.readings.latest() == []
    service.flush_recalls()
    assert len(service.store.readings.latest()) == 1


def test_many_readings_are_stored_by_a_background_step(service, scope):
    for _ in range(STORED_AT_ONCE):
        note(service.journal)
    service.run_background_step()
    assert len(service.store.readings.latest()) == STORED_AT_ONCE


def test_a_journal_counts_as_no_use_of_a_memory(service, scope):
    one = remember(service, scope, "Ada lives in Riga")
    before = service.store.usage("default", [one.id])
    note(service.journal, shown=[one.id])
    service.flush_recalls()
    assert service.store.usage("default", [one.id]) == before
    assert service.get(scope, one.id).tier is Tier.SENSORY
