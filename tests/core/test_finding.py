"""What a reader notices of the ranking: the newest value, times, other words, repeats, and that nothing is known."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hybrid_memory.embedding.static import StaticEmbedder
from hybrid_memory.model import MemoryType, Scope
from hybrid_memory.requests import ForgetRequest, ReadRequest, Where, WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.settings import StoreSettings
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.testing import FakeClock, FakeRandomSource

NOW = datetime(2025, 6, 20, 12, tzinfo=UTC)
DIARY = [
    ("2024-03-04", "The boiler in the cottage is serviced by Oskar Lind, 0155 220."),
    ("2024-07-09", "Rent for the studio is 640 euros a month, paid to Mrs Falk."),
    ("2024-08-12", "We drove to the lake with the kids; the water was too cold to swim."),
    ("2024-10-02", "Broke my wrist falling off the ladder."),
    ("2024-11-20", "Bought winter tyres at Berger's."),
    ("2025-01-15", "Rent for the studio was raised to 710 euros from February."),
    ("2025-02-03", "The physician says that the wrist has healed."),
    ("2025-04-28", "Planted two pear trees behind the shed."),
    ("2025-05-11", "Lessons with the violin teacher moved to Thursdays at five."),
]


@pytest.fixture(scope="module")
def diary():
    clock = FakeClock(datetime(2024, 1, 1, tzinfo=UTC))
    service = MemoryService(
        MemoryStore(clock),
        StaticEmbedder(),
        clock=clock,
        random_source=FakeRandomSource(),
        settings=StoreSettings(embedder="static"),
    )
    for day, text in DIARY:
        clock.set(datetime.fromisoformat(day).replace(tzinfo=UTC))
        service.write(Scope(session=day), WriteRequest(content=text))
    clock.set(NOW)
    yield service
    service.close()


@pytest.fixture
def empty():
    clock = FakeClock(NOW)
    service = MemoryService(
        MemoryStore(clock),
        StaticEmbedder(),
        clock=clock,
        random_source=FakeRandomSource(),
        settings=StoreSettings(embedder="static"),
    )
    yield service
    service.close()


def write(service, day, text, **fields):
    moment = datetime.fromisoformat(day).replace(tzinfo=UTC)
    return service.write(Scope(session=day), WriteRequest(content=text, occurred_at=moment, **fields)).id


def said(service, question, **options):
    return {hit.memory.content for hit in read(service, question, **options).hits}


def read(service, question, **options):
    return service.read(Scope(session="now"), ReadRequest(query=question, zone=UTC, **options))


def first(service, question):
    return read(service, question).hits[0].memory.content


def test_the_newest_value_comes_first(diary):
    assert "710" in first(diary, "What is the rent for the studio?")


def test_a_hit_that_was_changed_later_names_the_newer(diary):
    hits = read(diary, "What is the rent for the studio?").hits
    old, new = (next(hit for hit in hits if value in hit.memory.content) for value in ("640", "710"))
    assert old.newer == new.memory.id
    assert new.newer is None


@pytest.mark.parametrize(
    "question", ["What was the rent for the studio in July 2024?", "What was the rent for the studio last summer?"]
)
def test_a_question_about_the_past_gets_the_value_of_then(diary, question):
    assert "640" in first(diary, question)


def test_this_month_is_that_of_the_moment_that_is_gone_back_to(diary):
    then = Where(as_of=datetime(2025, 2, 10, tzinfo=UTC))
    assert "710" in read(diary, "What is the rent for the studio this month?", where=then).hits[0].memory.content


@pytest.mark.parametrize("question", ["Where does Oskar live?", "Where did Oskar live in February 2024?"])
def test_who_says_the_same_again_is_not_newer(empty, question):
    for day, town in (("2024-02-01", "Paris"), ("2024-06-01", "Rome"), ("2024-10-01", "Paris")):
        write(empty, day, f"Oskar lives in {town} now.")
    hits = {hit.memory.content: hit for hit in read(empty, question).hits}
    assert hits["Oskar lives in Paris now."].repeats
    assert hits["Oskar lives in Paris now."].newer is None


def test_where_nothing_fits_no_memory_lends_its_words_to_others(empty):
    for day, dish in (("2024-02-01", "soup"), ("2024-06-01", "tart")):
        write(empty, day, f"Pumpkin {dish}.")
    assert all("echo" not in hit.terms for hit in read(empty, "\N{SLIGHTLY SMILING FACE}", explain=True).hits)


def test_a_forgotten_memory_does_not_show_in_the_scores_of_others(empty):
    for text in ("The boiler was serviced by Oskar Lind.", "Garden tools are in the shed.", "Paint is in the attic."):
        write(empty, "2024-02-01", text)
    before = {hit.memory.id: hit.score for hit in read(empty, "Who services the boiler?").hits}
    gone = write(empty, "2024-03-01", "Oskar cleans windows.")
    empty.forget(Scope(session="x"), ForgetRequest(ids=(gone,)))
    after = {hit.memory.id: hit.score for hit in read(empty, "Who services the boiler?").hits}
    assert after == pytest.approx(before, rel=1e-5)


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("What did we note last November?", "tyres"),
        ("What did I do in April?", "pear"),
        ("What happened in October last year?", "wrist"),
        ("What did we do in August 2024?", "lake"),
    ],
)
def test_a_period_in_the_question_is_understood(diary, question, word):
    assert word in first(diary, question)


def test_other_words_for_the_same_find_it(diary):
    assert "violin" in first(diary, "Which day is the music tutor?")


def test_beside_a_clear_answer_noise_is_not_shown(diary):
    hits = read(diary, "the boiler in the cottage is serviced by Oskar Lind").hits
    strong = [hit.score for hit in hits if not hit.weak]
    assert min(strong) >= 0.15 * max(strong)
    assert len(hits) < len(DIARY)


def test_what_is_known_is_not_called_weak(diary):
    assert not read(diary, "Who services the boiler?").hits[0].weak


def test_the_summands_explain_the_score(diary):
    for hit in read(diary, "What is the rent for the studio?", explain=True).hits:
        assert sum(hit.terms.values()) == pytest.approx(hit.score, abs=1e-4)


def test_all_memories_can_be_had_in_order(diary):
    assert len(read(diary, "Who won the chess championship?", weak=True, limit=100).hits) == len(DIARY)


def test_the_same_words_from_several_sessions_are_shown_once(diary):
    for session in ("x", "y"):
        diary.write(Scope(session=session, namespace="twice"), WriteRequest(content="The spare key hangs in the barn."))
    diary.write(Scope(session="z", namespace="twice"), WriteRequest(content="The spare tyre lies in the barn."))
    hits = diary.read(Scope(session="now", namespace="twice"), ReadRequest(query="spare key")).hits
    assert [len(hit.repeats) for hit in hits] == [1, 0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The landlord will return the deposit.", "The landlord will not return the deposit."),
        ("The alarm is on.", "The alarm is off."),
        ("Take the pill before lunch.", "Take the pill after lunch."),
    ],
)
def test_words_that_search_passes_over_still_tell_memories_apart(empty, one, other):
    write(empty, "2025-03-03", one)
    write(empty, "2025-03-04", other)
    assert said(empty, one) == {one, other}


def test_memories_of_may_are_told_apart_by_their_first_word(empty):
    write(empty, "2025-05-03", "Cats are allowed.")
    write(empty, "2025-05-04", "Dogs are allowed.")
    assert said(empty, "Which are allowed?") == {"Cats are allowed.", "Dogs are allowed."}


def test_equal_values_under_two_keys_are_two_memories(empty):
    for key in ("theme", "lamp"):
        write(empty, "2025-03-03", "dark", key=key, memory_type=MemoryType.WORKING)
    assert len(read(empty, "dark").hits) == 2


def test_the_same_words_of_two_speakers_are_two_memories(empty):
    for speaker in ("Ann", "Bob"):
        write(empty, "2025-03-03", "I am allergic to nuts.", speaker=speaker)
    assert len(read(empty, "allergic to nuts").hits) == 2


def test_pages_hold_every_memory_once(diary):
    seen, cursor = [], None
    while True:
        result = read(diary, "rent studio wrist lake boiler", limit=2, cursor=cursor, weak=True)
        seen += [hit.memory.id for hit in result.hits]
        cursor = result.cursor_after(len(result.hits))
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == len(DIARY)


@pytest.mark.parametrize("scorer", ["reference", "lexical", "dense"])
def test_other_formulas_can_be_chosen(scorer):
    clock = FakeClock(NOW)
    service = MemoryService(
        MemoryStore(clock),
        StaticEmbedder(),
        clock=clock,
        random_source=FakeRandomSource(),
        settings=StoreSettings(embedder="static", scorer=scorer),
    )
    for content in ("The cat sleeps on the sofa.", "Taxes are due in May."):
        service.write(Scope(session="s"), WriteRequest(content=content))
    hit = service.read(Scope(session="s"), ReadRequest(query="When are taxes due?", explain=True)).hits[0]
    assert "Taxes" in hit.memory.content
    assert set(hit.terms) <= {"lexical", "dense", "recency", "importance"}
    service.close()


def test_a_question_with_a_topic_of_its_own_does_not_bring_what_is_left_to_do(clock, scope):
    service = MemoryService(MemoryStore(clock), StaticEmbedder(), clock=clock, random_source=FakeRandomSource(1))
    for text in ("Remind me to call the plumber about the tap.", "Mr Okonjo broke his hip and would like a grab rail."):
        service.write(scope, WriteRequest(content=text))
    found = service.read(scope, ReadRequest(query="What did we promise to do for Mr Okonjo after his fall?"))
    assert "Okonjo" in found.hits[0].memory.content
