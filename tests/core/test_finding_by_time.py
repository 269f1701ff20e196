"""Questions about a time find what happened then and what speaks of it, and no others for their words alone."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hybrid_memory.model import Scope
from hybrid_memory.requests import ReadRequest, WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.testing import FakeClock, FakeRandomSource

DIARY = (
    (datetime(2026, 10, 1, 9, tzinfo=UTC), "Heron uses Postgres 15"),
    (datetime(2026, 10, 1, 9, 1, tzinfo=UTC), "The birthday of Mia was last week"),
    (datetime(2026, 10, 1, 9, 2, tzinfo=UTC), "From 1 December the office is in Leeds"),
    (datetime(2026, 10, 1, 9, 3, tzinfo=UTC), "The family flies to Porto on 21 December and is back on 4 January"),
    (datetime(2026, 10, 1, 9, 4, tzinfo=UTC), "Grandma's 80th birthday party is on the 14th of February"),
    (datetime(2026, 10, 2, 9, tzinfo=UTC), "The chimney sweep wants to come on 9 December"),
    (datetime(2026, 11, 10, 9, tzinfo=UTC), "Heron: the deploy to staging failed because of a missing key"),
    (datetime(2026, 11, 10, 9, 1, tzinfo=UTC), "Nils went swimming, last week too"),
    (datetime(2026, 11, 12, 9, tzinfo=UTC), "Decided to move Heron's launch to spring"),
    (datetime(2026, 11, 12, 9, 1, tzinfo=UTC), "Team dinner was great"),
)
NOW = datetime(2026, 11, 19, 9, tzinfo=UTC)


@pytest.fixture(scope="module")
def diary(tmp_path_factory):
    clock = FakeClock(DIARY[0][0])
    service = MemoryService.open(tmp_path_factory.mktemp("diary"), clock=clock, random_source=FakeRandomSource(1))
    for moment, text in DIARY:
        clock.set(moment)
        service.write(Scope(session=str(moment.date())), WriteRequest(content=text))
    clock.set(NOW)
    yield service
    service.close()


def found(diary, query, count=1):
    hits = diary.read(Scope(session="now"), ReadRequest(query=query)).hits
    return [hit.memory.content for hit in hits[:count]]


def test_a_subject_at_a_time_is_not_beaten_by_the_words_of_the_time(diary):
    assert "Heron" in found(diary, "What did we talk about last week about Heron?")[0]


def test_what_happened_last_week_comes_before_what_was_last_week_long_ago(diary):
    assert "The birthday of Mia was last week" not in found(diary, "What did we do last week?", 2)


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ("What is planned for the end of December?", "Porto"),
        ("Where will we be at Christmas?", "Porto"),
        ("What happens on 21 December?", "Porto"),
        ("Who comes on 9 December?", "chimney"),
        ("Where is the office from December on?", "Leeds"),
        ("What is on in February?", "Grandma"),
        ("Was ist am 14. Februar?", "Grandma"),
        ("¿Qué hay el 9 de diciembre?", "chimney"),
    ],
)
def test_a_day_that_a_memory_names_is_found_by_that_day(diary, query, word):
    assert word in found(diary, query)[0]


@pytest.mark.parametrize("query", ["What happened on 10 November?", "What did we talk about on 10 November?"])
def test_a_question_for_a_day_alone_finds_what_was_on_that_day(diary, query):
    assert found(diary, query)[0] in {text for moment, text in DIARY if (moment.month, moment.day) == (11, 10)}


def test_a_time_is_a_bonus_and_no_filter(diary):
    assert "Postgres" in found(diary, "Which Postgres did Heron use last week?")[0]
