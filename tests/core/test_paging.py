"""What changes between two pages of a reading neither repeats nor hides a memory that was there at the first and still is."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.speaking import remember

from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import Scope
from hybrid_memory.requests import ForgetRequest, ReadRequest, UpdateRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.settings import StoreSettings
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.testing import FakeClock, FakeRandomSource, HashEmbedder

SCOPE = Scope(session="s")
PLACES = ("Rome", "Oslo", "Lima", "Cork", "Kyiv", "Bonn", "Graz", "Pune", "Bath", "Nice", "Doha", "Bern")
changes = st.lists(
    st.tuples(st.sampled_from(("pin", "unpin", "forget", "write")), st.integers(0, len(PLACES) - 1)), max_size=4
)


def made():
    clock = FakeClock()
    service = MemoryService(
        MemoryStore(clock), HashEmbedder(), clock=clock, random_source=FakeRandomSource(), settings=StoreSettings()
    )
    ids = []
    for number, place in enumerate(PLACES):
        clock.advance(seconds=1)
        ids.append(remember(service, SCOPE, f"The ferry to {place} leaves at {number + 7}", pinned=number % 5 == 0).id)
    clock.advance(seconds=1)
    return service, clock, ids


def change(service, clock, kind, memory_id, forgotten):
    clock.advance(seconds=1)
    if kind == "write":
        remember(service, SCOPE, f"The ferry was late on day {clock.now().isoformat()}", pinned=True)
    elif kind == "forget":
        service.forget(SCOPE, ForgetRequest(ids=(memory_id,)))
        forgotten.add(memory_id)
    elif memory_id not in forgotten:
        service.update(SCOPE, UpdateRequest(id=memory_id, pinned=kind == "pin"))


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(query=st.sampled_from(["", "When does the ferry leave?"]), between=st.lists(changes, min_size=6, max_size=6))
def test_whatever_changes_between_pages_each_memory_that_stays_is_shown_once(query, between):
    service, clock, ids = made()
    shown, forgotten, cursor = Counter(), set(), None
    for some in (*between, *[[]] * 10):
        page = service.read(SCOPE, ReadRequest(query=query, limit=3, cursor=cursor, weak=True))
        shown.update(hit.memory.id for hit in page.hits)
        cursor = page.cursor_after(len(page.hits))
        if cursor is None:
            break
        for kind, number in some:
            change(service, clock, kind, ids[number], forgotten)
    service.close()
    assert cursor is None
    assert {one: shown[one] for one in ids if one not in forgotten} == dict.fromkeys(set(ids) - forgotten, 1)
    assert max(shown.values()) == 1


def test_a_memory_pinned_while_somebody_pages_is_shown_and_nothing_twice():
    service, clock, ids = made()
    first = service.read(SCOPE, ReadRequest(limit=3))
    change(service, clock, "pin", ids[6], set())
    second = service.read(SCOPE, ReadRequest(limit=20, cursor=first.cursor_after(3)))
    found = [hit.memory.id for page in (first, second) for hit in page.hits]
    assert sorted(found) == sorted(ids)
    service.close()


def test_a_reading_that_is_no_longer_known_goes_on_in_the_order_of_the_moment():
    service, _, ids = made()
    first = service.read(SCOPE, ReadRequest(limit=3))
    service._readings.__init__()
    second = service.read(SCOPE, ReadRequest(limit=20, cursor=first.cursor_after(3)))
    assert sorted(hit.memory.id for page in (first, second) for hit in page.hits) == sorted(ids)
    with pytest.raises(InvalidInput):
        service.read(SCOPE, ReadRequest(query="another", cursor=first.cursor_after(3)))
    service.close()
