"""Every time that comes in, from wherever, is one that can be kept and calculated with; any other is refused by its name."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.speaking import remember, texts
from tests.tables import each

from hybrid_memory.admin.jsonl import parse_foreign_line
from hybrid_memory.cursor import FINGERPRINT_BYTES, PagePosition, decode_cursor, encode_cursor
from hybrid_memory.errors import ConstraintViolation, InvalidInput
from hybrid_memory.model import MemoryId
from hybrid_memory.moments import EARLIEST, EARLIEST_MICROS, LATEST, LATEST_MICROS, is_in_range, stored_moment
from hybrid_memory.requests import ForgetRequest, ReadRequest, UpdateRequest, Where, WriteRequest
from hybrid_memory.retrieval.question import parse_question
from hybrid_memory.store.encoding import check_moment
from hybrid_memory.store.writing import Update, WriteBatch
from hybrid_memory.testing import HASHER, START

BEHIND_THE_END = datetime(9999, 12, 31, 23, 59, 59, tzinfo=timezone(timedelta(hours=-12)))
BEFORE_THE_BEGINNING = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))
BEYOND = (BEHIND_THE_END, BEFORE_THE_BEGINNING, datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC))
ZONES = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@pytest.mark.parametrize("moment", BEYOND)
@pytest.mark.parametrize(
    "entrance",
    [
        lambda service, scope, moment: remember(service, scope, "tea", occurred_at=moment),
        lambda service, scope, moment: remember(service, scope, "tea", expires_at=moment),
        lambda service, scope, moment: service.update(scope, UpdateRequest(id=MemoryId("m"), expires_at=moment)),
        lambda service, scope, moment: service.read(scope, ReadRequest(query="tea", where=Where(since=moment))),
        lambda service, scope, moment: service.read(scope, ReadRequest(query="tea", where=Where(until=moment))),
        lambda service, scope, moment: service.read(scope, ReadRequest(query="tea", where=Where(as_of=moment))),
        lambda service, scope, moment: service.read(scope, ReadRequest(where=Where(as_of=moment))),
        lambda service, scope, moment: service.forget(scope, ForgetRequest(where=Where(since=moment), count=0)),
        lambda service, scope, moment: service.offer_reflection(scope, since=moment),
    ],
)
def test_a_time_beyond_the_calendar_in_utc_is_refused_by_its_name_at_every_entrance(service, scope, entrance, moment):
    with pytest.raises(InvalidInput) as refused:
        entrance(service, scope, moment)
    assert refused.value.field.split(".")[-1] in {"occurred_at", "expires_at", "since", "until", "as_of"}


@each("name", ["created_at", "occurred_at", "expires_at"])
@each("moment", BEYOND)
def test_a_line_of_another_program_with_such_a_time_is_refused_with_its_number(name, moment):
    with pytest.raises(InvalidInput, match=f"line 7.*{name}.*2 to 9998"):
        parse_foreign_line(json.dumps({"content": "tea", name: moment.isoformat()}).encode(), 7)


@each("moment", BEYOND)
def test_a_store_refuses_such_a_time_whoever_hands_it_over(moment):
    with pytest.raises(ConstraintViolation, match="2 to 9998"):
        check_moment(moment)


@pytest.mark.parametrize("moment", BEYOND[2:])
def test_a_cursor_from_the_ends_of_time_is_none_of_ours(moment):
    fingerprint = b"x" * FINGERPRINT_BYTES
    with pytest.raises(InvalidInput):
        decode_cursor(encode_cursor(PagePosition(1, moment), fingerprint), fingerprint)


@pytest.mark.parametrize("edge", [EARLIEST, LATEST])
@pytest.mark.parametrize("question", ["what was last week?", "in 3 months", "9000 years ago", "before 1 January 0002"])
def test_what_was_known_at_either_end_of_time_is_answered(service, scope, edge, question):
    remember(service, scope, "tea at noon", occurred_at=edge)
    for hours in (-12, 14):
        local = edge.astimezone(timezone(timedelta(hours=hours)))
        assert service.read(scope, ReadRequest(query=question, where=Where(as_of=local))).hits is not None
        assert parse_question(question, local, HASHER).words is not None


@given(st.datetimes(timezones=ZONES))
def test_what_is_in_range_can_be_moved_by_a_month_in_any_zone(moment):
    if is_in_range(moment):
        for step in (timedelta(days=31), timedelta(days=-31)):
            (moment.astimezone(UTC) + step).astimezone(timezone(timedelta(hours=14)))


@given(st.integers(-(2**63), 2**63 - 1) | st.integers(EARLIEST_MICROS - 10**14, LATEST_MICROS + 10**14))
def test_a_stored_number_is_a_moment_in_range_or_none_at_all(micros):
    try:
        moment = stored_moment(micros)
    except OverflowError:
        assert not EARLIEST_MICROS <= micros <= LATEST_MICROS
    else:
        assert is_in_range(moment)


@pytest.mark.parametrize("name", ["expires_at", "forgotten_at"])
def test_what_expired_or_was_forgotten_before_1970_is_not_found(service, scope, name):
    written = remember(service, scope, "tea at noon")
    stored = service.get(scope, written.id)
    _store_as(service, scope, replace(stored, **{name: datetime(1950, 1, 1, tzinfo=UTC)}))
    assert not texts(service, scope, "tea at noon")
    assert not texts(service, scope)


def test_what_was_forgotten_before_1970_can_be_brought_back(service, scope):
    written = remember(service, scope, "tea at noon")
    stored = service.get(scope, written.id)
    _store_as(service, scope, replace(stored, forgotten_at=datetime(1950, 1, 1, tzinfo=UTC)))
    restored = service.forget(scope, ForgetRequest(where=Where(session=scope.session), count=1, restore=True))
    assert restored.ids == (written.id,)


def _store_as(service, scope, memory):
    service._commits.commit(
        scope.namespace, None, lambda _: WriteBatch(action="test", actor="test", updates=(Update(memory),))
    )


def test_a_good_time_in_any_zone_is_kept(service, scope):
    when = START.astimezone(timezone(timedelta(hours=-11)))
    written = service.write(scope, WriteRequest(content="tea", occurred_at=when))
    assert service.get(scope, written.id).occurred_at == when


def test_a_line_of_a_file_with_an_offset_that_no_place_has_is_refused():
    with pytest.raises(InvalidInput, match="offset"):
        parse_foreign_line(b'{"content": "x", "created_at": "2024-06-01T00:00:00+23:59"}', 1)
