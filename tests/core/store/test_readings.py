"""The journal of readings: what both stores keep of who asked what, how it is bounded, and what takes readings out of it."""

from datetime import timedelta

import pytest
from tests.postgres.fixtures import POSTGRES

from hybrid_memory.admin.purge import purge
from hybrid_memory.admin.redact import redact
from hybrid_memory.errors import ConstraintViolation
from hybrid_memory.model import Scope
from hybrid_memory.requests import WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.store.readings import Asked, Outcome, Reading, Way
from hybrid_memory.store.store_file import file_eraser
from hybrid_memory.store.transfer import PurgeSelection
from hybrid_memory.testing import START, FakeClock

EVER = START - timedelta(days=3650)


@pytest.fixture(params=["duck", "memory", POSTGRES])
def store(request, tmp_path, open_postgres):
    clock = FakeClock(START)
    if request.param == "postgres":
        opened = open_postgres(clock)
    else:
        opened = DuckStore.open(tmp_path / "memory.duckdb", clock) if request.param == "duck" else MemoryStore(clock)
    yield opened
    opened.close()


def reading(question="where does Ada live?", *, namespace="default", at=START, **more):
    given = {"session": "s", "client": "claude", "way": Way.TOOL, "asked": Asked.QUESTION, "matched": 1, "tokens": 40}
    return Reading(question=question, namespace=namespace, at=at, **(given | more))


def questions(store, namespaces=None):
    return [one.question for one in store.readings.latest(namespaces)]


def test_a_reading_comes_back_as_it_was_stored(store):
    one = reading(filters={"tags": ["home"], "since": None}, shown=("m1", "m2"), outcome=Outcome.WEAK)
    store.readings.add([one], keep=10, since=EVER)
    (found,) = store.readings.latest()
    assert found == Reading(**{name: getattr(one, name) for name in Reading.__slots__} | {"number": 1})


def test_the_latest_stand_first_and_those_of_other_namespaces_are_not_told(store):
    store.readings.add([reading("a"), reading("b", namespace="other"), reading("c")], keep=10, since=EVER)
    assert (questions(store, ["default"]), questions(store)) == (["c", "a"], ["c", "b", "a"])


def test_no_more_are_kept_than_are_wanted(store):
    for text in "abcde":
        store.readings.add([reading(text)], keep=3, since=EVER)
    store.readings.add([reading(text) for text in "fghij"], keep=2, since=EVER)
    assert questions(store) == ["j", "i"]


def test_what_is_too_old_goes_with_the_next_one(store):
    store.readings.add([reading("old", at=START - timedelta(days=9)), reading("new")], keep=10, since=EVER)
    store.readings.add([reading("newest")], keep=10, since=START - timedelta(days=1))
    assert questions(store) == ["newest", "new"]


def test_keeping_none_empties_the_journal_unless_others_share_it(store, request):
    store.readings.add([reading("kept")], keep=10, since=EVER)
    store.readings.add([reading("not kept")], keep=0, since=EVER)
    assert questions(store) == (["kept"] if "postgres" in request.node.name else [])


def test_a_journal_makes_no_namespace_and_moves_no_head(store):
    store.readings.add([reading(namespace="asked only")], keep=10, since=EVER)
    assert (store.namespaces(), store.head("asked only"), store.last_write()) == ([], 0, None)


def test_a_reading_in_the_place_of_one_that_went_is_told(tmp_path):
    store = DuckStore.open(tmp_path / "memory.duckdb", FakeClock(START))
    store.readings.add([reading("first"), reading("second")], keep=10, since=EVER)
    assert questions(store) == ["second", "first"]
    with store._engine.transaction() as (session, _, _):
        session.change("DELETE FROM reading WHERE question = ?", "second")
    store.readings.add([reading("third")], keep=10, since=EVER)
    assert questions(store) == ["third", "first"]
    store.close()


def test_half_a_character_is_refused(tmp_path):
    store = DuckStore.open(tmp_path / "memory.duckdb", FakeClock(START))
    with pytest.raises(ConstraintViolation):
        store.readings.add([reading("\ud800")], keep=10, since=EVER)
    store.close()


@pytest.fixture
def home(tmp_path):
    tmp_path.chmod(0o700)
    return tmp_path


def remembered(home, *texts):
    service = MemoryService.open(home, clock=FakeClock(START))
    scope = Scope(session="talk")
    ids = [service.write(scope, WriteRequest(content=one)).id for one in texts]
    return service, ids


def left(home):
    store = DuckStore.open(home / "memory.duckdb", FakeClock(START))
    found = store.readings.latest()
    store.close()
    return found


@pytest.mark.slow
def test_a_purged_memory_takes_along_what_was_asked_about_it_in_any_namespace(home):
    service, ids = remembered(home, "Ada lives in Riga", "Bo likes tea")
    service.store.readings.add(
        [
            reading("ada?", shown=ids[:1], namespace="project:x"),
            reading("both?", shown=ids),
            reading("bo?", shown=ids[1:]),
        ],
        keep=10,
        since=EVER,
    )
    service.close()
    purge(file_eraser(home), PurgeSelection(namespace="default", ids=(ids[0],)), START, actor="t")
    assert [one.question for one in left(home)] == ["bo?"]


@pytest.mark.slow
def test_a_reading_that_cannot_be_read_goes_with_any_purge(home):
    service, ids = remembered(home, "Ada lives in Riga")
    service.store.readings.add(
        [reading("odd", shown=("other",)), reading("fine", shown=("other",))], keep=10, since=EVER
    )
    with service.store._engine.transaction() as (session, _, _):
        session.change("UPDATE reading SET shown = ? WHERE question = ?", "[", "odd")
    service.close()
    purge(file_eraser(home), PurgeSelection(namespace="default", ids=(ids[0],)), START, actor="t")
    assert [one.question for one in left(home)] == ["fine"]


@pytest.mark.slow
def test_a_purged_session_takes_along_what_was_asked_in_it(home):
    service, _ = remembered(home, "Ada lives in Riga")
    service.store.readings.add([reading("x", session="talk"), reading("y")], keep=10, since=EVER)
    service.close()
    purge(file_eraser(home), PurgeSelection(namespace="default", session="talk"), START, actor="t")
    assert [one.question for one in left(home)] == ["y"]


@pytest.mark.slow
def test_a_purge_of_everything_takes_the_journal_of_the_namespace_along(home):
    service, _ = remembered(home, "Ada lives in Riga")
    service.store.readings.add([reading("x"), reading("y", namespace="other")], keep=10, since=EVER)
    service.close()
    purge(file_eraser(home), PurgeSelection(namespace="default", everything=True), START, actor="t")
    assert [one.question for one in left(home)] == ["y"]


@pytest.mark.slow
def test_a_redaction_goes_through_the_questions_too(home):
    service, ids = remembered(home, "the gate opens with bluebird-77")
    service.store.readings.add(
        [reading("is it bluebird-77?", filters={"tags": ["bluebird-77"]}), reading("gate?")], keep=10, since=EVER
    )
    service.close()
    redact(file_eraser(home), "default", ids, START, actor="t", words="bluebird-77")
    found = left(home)
    assert (len(found), "bluebird" in str(found)) == (2, False)


def test_doctor_finds_a_reading_that_nobody_wrote_and_reading_passes_over_it(tmp_path):
    store = DuckStore.open(tmp_path / "memory.duckdb", FakeClock(START))
    store.readings.add([reading("fine"), reading("odd")], keep=10, since=EVER)
    with store._engine.transaction() as (session, _, _):
        session.change("UPDATE reading SET way = 'dream' WHERE question = ?", "odd")
    assert questions(store) == ["fine"]
    assert "table reading" in store.check().findings[0].what
    store.close()
