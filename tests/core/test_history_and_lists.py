"""Questions for what was before, and for all of a kind."""

from __future__ import annotations

import pytest
from tests.core.test_finding_by_time import found
from tests.tables import each

from hybrid_memory.clock import SystemRandomSource
from hybrid_memory.model import Scope
from hybrid_memory.requests import ForgetRequest, ReadRequest, WriteRequest
from hybrid_memory.retrieval.current_state import asks_for_several
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.testing import FakeClock

SCOPE = Scope(session="now")


@pytest.fixture
def service(tmp_path):
    service = MemoryService.open(tmp_path, clock=FakeClock(), random_source=SystemRandomSource())
    yield service
    service.close()


@pytest.fixture
def moved(service):
    """The ids of two addresses, the second instead of the first."""
    old = service.write(SCOPE, WriteRequest(content="Ada lives in Lisbon, near the river.")).id
    return old, service.write(SCOPE, WriteRequest(content="Ada lives in Porto.", supersedes=old)).id


def test_a_question_for_what_was_before_finds_what_was_replaced_and_says_by_what(service, moved):
    old, new = moved
    hits = service.read(SCOPE, ReadRequest(query="Where did Ada live before?")).hits
    assert {hit.memory.id: hit.newer for hit in hits} == {old: new, new: None}


def test_a_question_about_now_does_not(service, moved):
    assert found(service, "Where does Ada live?", 5) == ["Ada lives in Porto."]


def test_what_was_forgotten_is_no_history(service, moved):
    service.forget(SCOPE, ForgetRequest(ids=(moved[0],)))
    assert found(service, "Where did Ada live before?", 5) == ["Ada lives in Porto."]


@each(
    "text",
    [
        "Which of my friends play chess?",
        "List my allergies",
        "what pets do we have",
        "Welche meiner Freunde spielen?",
        "我有哪些朋友",
    ],
)
def test_all_of_a_kind_are_asked_for(text):
    assert asks_for_several(text)


@each("text", ["Where does Ada live?", "What is his address?", "Which bus goes there?", "Wer ist das?"])
def test_one_thing_is_asked_for(text):
    assert not asks_for_several(text)


def test_where_all_are_asked_for_none_that_fits_is_held_back(service):
    told = (
        "Ada plays chess on Mondays.",
        "Bo took up chess last year.",
        "Cem is in the chess club of Leeds.",
        "Dara likes chess puzzles.",
        "Edda won a cup at chess.",
        "Finn prefers to play chess online, with strangers.",
    )
    for text in (*told, "Greta plays the cello.", "Hugo has a garden."):
        service.write(SCOPE, WriteRequest(content=text))
    assert set(told) <= set(found(service, "Which of my friends play chess?", 8))
