from datetime import timedelta

import pytest
from tests.core.speaking import remember

from hybrid_memory.errors import InvalidInput, NotFound
from hybrid_memory.model import MemoryId
from hybrid_memory.requests import ForgetRequest, Insight, ReadRequest
from hybrid_memory.validation import METADATA_LIMIT, TAGS_LIMIT

UNKNOWN = MemoryId("no-such-memory-anywhere")


@pytest.mark.slow
def test_a_long_text_among_many_short_ones_is_found_by_the_word_that_it_alone_holds(service, scope):
    long = remember(service, scope, "zymurgy " + "the minutes of our monthly meeting " * 800)
    for number in range(300):
        remember(service, scope, f"short note {number}")
    best = service.read(scope, ReadRequest(query="zymurgy")).hits[0]
    assert (best.memory.id, best.weak) == (long.id, False)


@pytest.mark.parametrize("session", [None, "evening", "night"])
def test_memories_written_between_two_pages_do_not_shift_a_brief(service, scope, clock, session):
    for number in range(6):
        remember(service, scope, f"note {number}")
        remember(service, scope, f"remark {number}", session="evening")
    seen, cursor = [], None
    while not seen or cursor is not None:
        page = service.read(scope, ReadRequest(limit=3, cursor=cursor))
        seen += [hit.memory.id for hit in page.hits]
        cursor = page.cursor_after(len(page.hits))
        clock.advance(seconds=1)
        remember(service, scope, f"written meanwhile at {clock.now()}", session=session)
    assert len(seen) == len(set(seen)) == 12


def test_repetitions_cannot_pile_up_tags(service, scope):
    first = remember(service, scope, "I like tea", tags=tuple(f"a{number}" for number in range(TAGS_LIMIT)))
    with pytest.raises(InvalidInput, match="tags"):
        remember(service, scope, "I like tea", tags=("one more",))
    assert len(service.get(scope, first.id).tags) == TAGS_LIMIT


def test_repetitions_cannot_pile_up_metadata(service, scope):
    first = remember(service, scope, "I like tea", metadata={"a": "x" * (METADATA_LIMIT - 100)})
    with pytest.raises(InvalidInput, match="metadata"):
        remember(service, scope, "I like tea", metadata={"b": "x" * 200})
    assert list(service.get(scope, first.id).metadata) == ["a"]


def test_an_unknown_id_is_told_by_its_place_and_not_repeated(service, scope):
    known = remember(service, scope, "I like tea").id
    with pytest.raises(NotFound, match=r"^ids\.1: ") as caught:
        service.forget(scope, ForgetRequest(ids=(known, UNKNOWN)))
    assert UNKNOWN not in str(caught.value)


def test_unknown_evidence_is_told_by_its_place_and_not_repeated(service, scope):
    known = remember(service, scope, "I like tea").id
    with pytest.raises(NotFound, match=r"^insights\.0\.evidence\.2: ") as caught:
        service.store_insights(scope, [Insight(text="tea matters", evidence=(known, known, UNKNOWN))])
    assert UNKNOWN not in str(caught.value)


def test_evidence_is_counted_once(service, scope):
    known = remember(service, scope, "I like tea").id
    (insight,) = service.store_insights(scope, [Insight(text="tea matters", evidence=(known, known))])
    assert service.get(scope, insight).parents == (known,)


def test_a_page_never_shows_what_expired_meanwhile(service, scope, clock):
    for number in range(4):
        remember(service, scope, f"note {number}", expires_at=clock.now() + timedelta(hours=1))
    first = service.read(scope, ReadRequest(limit=2))
    clock.advance(hours=2)
    assert service.read(scope, ReadRequest(limit=2, cursor=first.cursor_after(2))).hits == ()
