"""What comes behind an answer and a brief, and that looking for it changes neither."""

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.core.speaking import remember

from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import MemoryType, Origin, Scope
from hybrid_memory.requests import ForgetRequest, ReadRequest, Where, WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.service.search_reasons import Reason
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.testing import FakeClock, FakeRandomSource, HashEmbedder

WORDS = ("ada", "moved", "to", "porto", "in", "may", "dentist", "not", "bo", "likes", "tea")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
DONE = st.sampled_from(("kept", "forgotten", "replaced", "by a tool"))


@pytest.fixture
def ask(service, scope):
    def one(query, **fields):
        return service.read_with_reasons(scope, ReadRequest(query=query, **fields))

    return one


@pytest.mark.slow
@settings(max_examples=12)
@example(told=[("ada", "replaced")], query="ada in may", concise=False)
@given(st.lists(st.tuples(TEXTS, DONE), min_size=1, max_size=8), TEXTS, st.booleans())
def test_an_answer_is_the_same_with_its_reasons_and_nothing_shown_is_left_out(told, query, concise):
    clock, scope = FakeClock(), Scope(session="s")
    service = MemoryService(MemoryStore(clock), HashEmbedder(), clock=clock, random_source=FakeRandomSource())
    for text, done in told:
        clock.advance(hours=1)
        origin = Origin.TOOL if done == "by a tool" else Origin.USER
        written = service.write(scope, WriteRequest(content=text, memory_type=MemoryType.LONG_TERM, origin=origin))
        if done == "forgotten":
            service.forget(scope, ForgetRequest(ids=(written.id,)))
        elif done == "replaced":
            service.write(scope, WriteRequest(content=f"{text} now", supersedes=written.id, origin=origin))
    request = ReadRequest(query=query, concise=concise, limit=3, recalls=False, explain=True)
    found, reasons = service.read_with_reasons(scope, request)
    assert found == service.read(scope, request)
    shown = {hit.memory.id for hit in found.hits}
    left_out = [one.memory.id for one in reasons.left_out]
    assert len(left_out) == len(set(left_out))
    assert not shown.intersection(left_out)
    service.close()


@pytest.mark.slow
@settings(max_examples=12)
@given(st.lists(TEXTS, min_size=1, max_size=8))
def test_a_brief_is_the_same_with_its_reasons(told):
    clock, scope = FakeClock(), Scope(session="s")
    service = MemoryService(MemoryStore(clock), HashEmbedder(), clock=clock, random_source=FakeRandomSource())
    for text in told:
        clock.advance(hours=1)
        service.write(scope, WriteRequest(content=text, memory_type=MemoryType.LONG_TERM))
    request = ReadRequest(limit=3, begins=True)
    found, reasons = service.brief_with_reasons(scope, request)
    assert found == service.read(scope, request)
    assert not {hit.memory.id for hit in found.hits} & {hit.memory.id for hit in reasons.following}
    service.close()


def test_a_question_is_needed(ask):
    with pytest.raises(InvalidInput, match="query"):
        ask(" ")


def test_the_reason_is_told_for_each_way_out_of_an_answer(service, scope, ask, clock):
    remember(service, scope, "the harbour is closed today", memory_type=MemoryType.LONG_TERM)
    gone = remember(service, scope, "the harbour is closed for good", memory_type=MemoryType.LONG_TERM).id
    old = remember(service, scope, "the harbour opens at nine", memory_type=MemoryType.LONG_TERM).id
    service.forget(scope, ForgetRequest(ids=(gone,)))
    clock.advance(hours=1)
    remember(service, scope, "the harbour opens at ten", supersedes=old, memory_type=MemoryType.LONG_TERM)
    remember(service, scope, "soup for lunch", memory_type=MemoryType.LONG_TERM)
    _, reasons = ask("harbour", limit=1)
    found = {one.memory.content: one.reason for one in reasons.left_out}
    assert found["the harbour is closed for good"] is Reason.FORGOTTEN
    assert found["the harbour opens at nine"] is Reason.REPLACED
    assert found["the harbour is closed today"] is Reason.LIMIT
    assert reasons.counts[Reason.FORGOTTEN] == 1


def test_filters_hold_for_what_is_left_out(service, scope, ask):
    for session in ("home", "work"):
        written = remember(service, replace(scope, session=session), f"the key of {session} is under the mat")
        service.forget(scope, ForgetRequest(ids=(written.id,)))
    _, reasons = ask("key under the mat", where=Where(session="home"))
    assert [one.memory.session for one in reasons.left_out] == ["home"]


def test_what_a_tool_says_waits_for_its_share(service, scope, ask):
    for number in range(8):
        remember(service, scope, f"closed on day {number} says the harbour", origin=Origin.TOOL)
    remember(service, scope, "the harbour was closed once, as I saw on the way home from the station")
    found, reasons = ask("harbour closed", limit=5)
    assert len(found.hits) < 5
    assert Reason.SHARE in {one.reason for one in reasons.left_out}
