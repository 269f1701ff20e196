"""A clock that was wrong for one write: what was written stays, what is right comes back, and it is told."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.store.empty_database import lay_empty
from tests.postgres.fixtures import POSTGRES

from hybrid_memory.admin.health_check import check_open
from hybrid_memory.clock import LONGEST_GAP, MOST_CARRIED, never_back
from hybrid_memory.ids import new_session
from hybrid_memory.model import Scope
from hybrid_memory.requests import ReadRequest, WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.testing import START, FakeClock, FakeRandomSource, HashEmbedder

SCOPE = Scope(session="s-1")
STEPS = st.timedeltas(timedelta(days=-800), timedelta(days=800))


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture(params=["memory", "duck", POSTGRES])
def store(request, clock, tmp_path, open_postgres):
    if request.param == "postgres":
        opened = open_postgres(clock)
    else:
        opened = (
            MemoryStore(clock) if request.param == "memory" else DuckStore.open(lay_empty(tmp_path / "home"), clock)
        )
    yield opened
    opened.close()


def serving(store, clock):
    return MemoryService(store, HashEmbedder(), clock=clock, random_source=FakeRandomSource())


@pytest.fixture
def service(store, clock):
    return serving(store, clock)


def write(service, content, **request):
    return service.write(SCOPE, WriteRequest(content=content, **request)).id


def write_a_year_ahead(service, clock, content="The kiosk sells stamps."):
    clock.advance(days=365)
    written = write(service, content)
    clock.advance(days=-365)
    return written


def found(service, query):
    return [hit.memory.id for hit in service.read(SCOPE, ReadRequest(query=query)).hits if not hit.weak]


@given(STEPS, STEPS)
def test_time_goes_back_with_the_clock_or_by_nothing(now, last):
    now, last = START + now, START + last
    told = never_back(now, last)
    assert told in (now, last)
    assert now <= told <= now + MOST_CARRIED


def test_a_clock_set_back_by_seconds_stays_where_it_was(service, clock):
    write(service, "The kiosk sells stamps.")
    clock.advance(seconds=-90)
    assert service.now() == START
    clock.advance(seconds=-3600)
    assert service.now() == clock.now()


def test_after_a_write_a_year_ahead_times_are_right_again(service, store, clock):
    short = write(service, "The lamp is on loan.", expires_at=START + timedelta(days=3))
    write_a_year_ahead(service, clock)
    assert service.now() == START
    assert found(service, "lamp on loan") == [short]
    later = write(service, "The ladder is rented.", expires_at=START + timedelta(days=1))
    assert store.get("default", [later])[later].created_at == START


def test_what_was_written_a_year_ahead_is_found_and_listed(service, clock):
    ahead = write_a_year_ahead(service, clock)
    assert found(service, "kiosk stamps") == [ahead]
    assert [one.id for one in service.recent(SCOPE)] == [ahead]
    page = service.read(SCOPE, ReadRequest())
    assert [hit.memory.id for hit in page.hits] == [ahead]


def test_it_is_not_the_newest_for_ever(service, clock):
    first = write(service, "The lamp is on loan.")
    ahead = write_a_year_ahead(service, clock)
    clock.advance(days=1)
    last = write(service, "The ladder is rented.")
    assert [one.id for one in service.recent(SCOPE)] == [last, ahead, first]


def test_its_session_is_not_the_last_for_ever(service, clock):
    clock.advance(days=365)
    service.write(Scope(session="ahead"), WriteRequest(content="The kiosk sells stamps."))
    clock.advance(days=-364)
    service.write(Scope(session="after"), WriteRequest(content="The ladder is rented."))
    assert service.suggest(SCOPE, "session", "a") == ["after", "ahead"]
    (told,) = [hit.memory.session for hit in service.read(SCOPE, ReadRequest()).hits if hit.section == "last session"]
    assert told == "after"


def test_the_status_and_doctor_tell_of_it(service, store, clock):
    write(service, "The lamp is on loan.")
    assert service.status(SCOPE).notices == ()
    write_a_year_ahead(service, clock)
    assert service.status(SCOPE).notices[0].startswith("1 memory has a time in the future")
    if isinstance(store, DuckStore):
        assert "1 memory has a time in the future" in check_open(store).findings[0].what


def test_a_clock_before_the_first_memory_hides_nothing(service, clock):
    kept = write(service, "The kiosk sells stamps.")
    clock.advance(days=-4000)
    assert found(service, "kiosk stamps") == [kept]
    assert service.now() == clock.now()


UNNAMED = Scope(session=new_session(FakeRandomSource()))


def test_a_start_with_a_clock_far_ahead_ends_no_session(store, clock):
    serving(store, clock).write(UNNAMED, WriteRequest(content="The kiosk sells stamps."))
    clock.advance(days=365)
    serving(store, clock).warm_up(SCOPE)
    assert store.buffer("default", UNNAMED.session, "default") is not None


def test_the_second_start_ends_it_if_time_has_passed(store, clock):
    serving(store, clock).write(UNNAMED, WriteRequest(content="The kiosk sells stamps."))
    clock.advance(seconds=LONGEST_GAP.total_seconds() + 1)
    first = serving(store, clock)
    first.warm_up(SCOPE)
    write(first, "The lamp is on loan.")
    assert store.buffer("default", UNNAMED.session, "default") is not None
    serving(store, clock).warm_up(SCOPE)
    assert store.buffer("default", UNNAMED.session, "default") is None
