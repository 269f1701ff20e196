from dataclasses import replace
from datetime import timedelta

import pytest
from tests.changing import changes_everything
from tests.core.speaking import remember, texts

from hybrid_memory.errors import EmbedderUnavailable, InvalidInput, NotFound
from hybrid_memory.model import MemoryId, MemoryType, Origin, Tier
from hybrid_memory.requests import ReadRequest, UpdateRequest, Where, WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.store.writing import RequestKey
from hybrid_memory.testing import HashEmbedder


def test_a_written_memory_is_found_at_once(service, scope):
    remember(service, scope, "The red bicycle stands in the cellar")
    assert texts(service, scope, "red bicycle") == ["The red bicycle stands in the cellar"]


@pytest.mark.parametrize(
    "text", ["猫は屋根の上で寝ている", "الكتاب على الطاولة", "🎉🎊 🦜", "x" * 30_000, "naïve café"]
)
def test_text_of_any_script_is_found_and_comes_back_unchanged(service, scope, text):
    written = remember(service, scope, text)
    assert service.get(scope, written.id).content == text
    assert text in texts(service, scope, text[:100])


def test_a_memory_that_every_buffer_dropped_is_still_found(service, scope):
    remember(service, scope, "zebra crossing near the school", importance=0.05)
    for number in range(40):
        remember(service, scope, f"filler statement number {number}", importance=0.05)
    assert "zebra crossing near the school" in texts(service, scope, "zebra crossing")


def test_the_same_words_in_the_same_session_are_one_memory(service, scope):
    first = remember(service, scope, "I like tea")
    again = remember(service, scope, "i  LIKE tea")
    assert (again.id, again.duplicate_of) == (first.id, first.id)
    assert len(texts(service, scope, "tea")) == 1


def test_the_same_words_in_another_session_are_another_occasion_of_the_first(service, scope):
    first = remember(service, scope, "I like tea")
    other = remember(service, scope, "I like tea", session="evening")
    assert other.id != first.id
    assert other.duplicate_of == first.id


def test_the_same_words_about_another_time_are_another_occasion(service, scope, clock):
    first = remember(service, scope, "We met", occurred_at=clock.now() - timedelta(days=3))
    other = remember(service, scope, "We met", occurred_at=clock.now() - timedelta(days=1))
    assert other.id != first.id


def test_a_repetition_adds_what_it_says_more(service, scope):
    first = remember(service, scope, "I like tea", tags=("drink",), importance=0.2)
    remember(service, scope, "I like tea", tags=("habit",), importance=0.6, metadata={"cup": "blue"})
    memory = service.get(scope, first.id)
    assert (memory.tags, memory.importance, memory.metadata) == (("drink", "habit"), 0.6, {"cup": "blue"})


def test_a_statement_repeated_often_enough_becomes_long_term(service, scope):
    first = remember(service, scope, "I go running every morning", importance=0.4)
    for _ in range(4):
        remember(service, scope, "I go running every morning", importance=0.4)
    assert service.get(scope, first.id).tier is Tier.LONG_TERM


def test_the_same_words_in_three_sessions_make_a_habit(service, scope):
    first = remember(service, scope, "I go running", session="one")
    remember(service, scope, "I go running", session="two")
    third = remember(service, scope, "I go running", session="three")
    assert [(move.id, move.after) for move in third.moved] == [(first.id, Tier.LONG_TERM)]
    habit = service.get(scope, first.id)
    assert (habit.tier, habit.parents[-1]) == (Tier.LONG_TERM, third.id)


@pytest.mark.parametrize("session", ["one", "two", "three"])
def test_what_three_sessions_hold_is_a_habit_again_when_what_stood_for_it_was_corrected(service, scope, session):
    stood = remember(service, scope, "I go running", session="one", origin=Origin.USER)
    said = [remember(service, scope, "I go running", session=one).id for one in ("one", "two", "three")]
    assert service.get(scope, stood.id).tier is Tier.LONG_TERM
    service.update(scope, UpdateRequest(id=stood.id, content="I go swimming"))
    remember(service, scope, "I go running", session=session)
    habit = service.get(scope, said[0])
    assert (habit.tier, set(habit.parents)) == (Tier.LONG_TERM, set(said[1:]))
    assert Tier.LONG_TERM not in {service.get(scope, one).tier for one in said[1:]}


def test_a_group_that_is_consolidated_keeps_its_members_and_their_lineage(service, scope):
    first = remember(service, scope, "the tea is green and hot", importance=0.4)
    others = [remember(service, scope, "the tea is green and hot" + " now" * n, importance=0.4) for n in range(1, 12)]
    moved = [move for one in others for move in one.moved if move.members]
    assert moved
    for move in moved:
        head = service.get(scope, move.id)
        assert (head.tier, head.parents) == (Tier.LONG_TERM, move.members)
        assert all(service.get(scope, member).content for member in move.members)
    assert service.get(scope, first.id).content == "the tea is green and hot"


def test_long_term_can_be_written_directly(service, scope):
    assert remember(service, scope, "Her name is Ada", memory_type=MemoryType.LONG_TERM).tier is Tier.LONG_TERM


def test_writing_a_known_statement_as_long_term_promotes_it(service, scope):
    first = remember(service, scope, "Her name is Ada")
    again = remember(service, scope, "Her name is Ada", memory_type=MemoryType.LONG_TERM)
    assert again.id == first.id
    assert service.get(scope, first.id).tier is Tier.LONG_TERM


def test_a_working_memory_keeps_one_value_a_key(service, scope):
    old = remember(service, scope, "step one", memory_type=MemoryType.WORKING, key="progress")
    new = remember(service, scope, "step two", memory_type=MemoryType.WORKING, key="progress")
    assert service.get(scope, old.id).superseded_by == new.id
    assert texts(service, scope, where=Where(memory_type=MemoryType.WORKING)) == ["step two"]


def test_a_key_needs_working_memory(service, scope):
    with pytest.raises(InvalidInput, match="key"):
        remember(service, scope, "step one", key="progress")


def test_superseding_hides_the_old_statement_but_keeps_it(service, scope):
    old = remember(service, scope, "The meeting is on Monday")
    new = remember(service, scope, "The meeting is on Friday", supersedes=old.id)
    assert texts(service, scope, "When is the meeting?") == ["The meeting is on Friday"]
    (kept,) = service.read(scope, ReadRequest(ids=(old.id,))).hits
    assert kept.newer == new.id


def test_what_was_superseded_cannot_be_superseded_again(service, scope):
    old = remember(service, scope, "The meeting is on Monday")
    new = remember(service, scope, "The meeting is on Friday", supersedes=old.id)
    with pytest.raises(InvalidInput, match=str(new.id)):
        remember(service, scope, "The meeting is on Sunday", supersedes=old.id)


def test_an_unknown_memory_cannot_be_superseded(service, scope):
    with pytest.raises(NotFound):
        remember(service, scope, "The meeting is on Friday", supersedes=MemoryId("0" * 20))


def test_a_memory_that_is_likely_changed_is_named_with_an_excerpt(service, scope):
    service.change_model = changes_everything
    old = remember(service, scope, "The dentist appointment is on Tuesday at ten")
    written = remember(service, scope, "The dentist appointment is on Thursday at ten")
    assert [(one.id, one.excerpt) for one in written.related] == [
        (old.id, "The dentist appointment is on Tuesday at ten")
    ]


def test_a_repeated_request_key_writes_once(service, scope):
    request = WriteRequest(content="once only")
    key = RequestKey("relay", 7)
    first = service.write(scope, request, key=key)
    assert service.write(scope, request, key=key) == first
    assert len(texts(service, scope, "once only")) == 1


def test_an_expired_memory_is_not_found(service, scope, clock):
    remember(service, scope, "The code is 4711", expires_at=clock.now() + timedelta(hours=1))
    clock.advance(hours=2)
    assert texts(service, scope, "code 4711") == []


def test_namespaces_are_walls(service, scope):
    written = remember(service, scope, "secret of the first")
    other = replace(scope, namespace="other")
    assert texts(service, other, "secret of the first") == []
    with pytest.raises(NotFound):
        service.get(other, written.id)
    assert service.read(other, ReadRequest(ids=(written.id,))).missing == (written.id,)


def test_a_brief_shows_pinned_memories_first_then_working_ones(service, scope):
    pinned = remember(service, scope, "Answer in French")
    service.update(scope, UpdateRequest(id=pinned.id, pinned=True))
    remember(service, scope, "writing chapter two", memory_type=MemoryType.WORKING, key="task")
    remember(service, scope, "It is raining")
    hits = service.read(scope, ReadRequest()).hits
    assert [(hit.section, hit.memory.content) for hit in hits] == [
        ("pinned", "Answer in French"),
        ("open", "writing chapter two"),
        ("recent", "It is raining"),
    ]


def test_pages_continue_where_the_last_one_ended(service, scope):
    for number in range(25):
        remember(service, scope, f"note about gardening number {number}")
    seen = []
    cursor = None
    while True:
        page = service.read(scope, ReadRequest(query="gardening", limit=10, cursor=cursor))
        seen += [hit.memory.id for hit in page.hits]
        cursor = page.cursor_after(len(page.hits))
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == 25


def test_memories_written_between_two_pages_do_not_shift_the_second(service, scope, clock):
    for number in range(6):
        remember(service, scope, f"note about gardening number {number}")
    first = service.read(scope, ReadRequest(query="gardening", limit=3))
    clock.advance(seconds=1)
    remember(service, scope, "gardening gardening gardening")
    second = service.read(scope, ReadRequest(query="gardening", limit=3, cursor=first.cursor_after(3)))
    assert len({hit.memory.id for hit in (*first.hits, *second.hits)}) == 6


def test_a_cursor_of_another_question_is_refused(service, scope):
    for number in range(5):
        remember(service, scope, f"note about gardening number {number}")
    cursor = service.read(scope, ReadRequest(query="gardening", limit=2)).cursor_after(2)
    with pytest.raises(InvalidInput, match="cursor"):
        service.read(scope, ReadRequest(query="cooking", cursor=cursor))


class Missing(HashEmbedder):
    """A model that is not there until somebody installs it."""

    there = False

    def embed(self, texts):
        if not self.there:
            raise EmbedderUnavailable("not installed")
        return super().embed(texts)


def test_a_memory_stored_without_the_model_gets_its_vector_when_the_model_is_there(clock, random_source, scope):
    model = Missing()
    service = MemoryService(MemoryStore(clock), model, clock=clock, random_source=random_source)
    written = remember(service, scope, "the lighthouse keeper counts ships")
    assert written.pending
    assert texts(service, scope, "lighthouse") == ["the lighthouse keeper counts ships"]
    model.there = True
    service.warm_up(scope)
    assert service.status(scope).pending_vectors == 0
    assert written.id in service.store.vectors("default", [written.id])
    assert service.backfill(scope) == 0


def test_warming_up_pins_no_embedder_to_a_store_that_holds_nothing(service, scope):
    service.warm_up(scope)
    assert service.store.info().embedder is None
