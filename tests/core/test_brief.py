"""What a brief shows, through the service."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.core.speaking import remember

from hybrid_memory.model import MemoryType, Origin
from hybrid_memory.requests import (
    BRIEF_PAGE,
    ForgetRequest,
    Insight,
    ReadRequest,
    UpdateRequest,
    Where,
)

NOTHING_MUCH = (
    "rain over the harbour",
    "the bus was late",
    "a walk by the canal",
    "soup for lunch",
    "the lamp flickers",
)


@pytest.fixture
def tell(service, scope, clock):
    def one(content, *, session="morning", **fields):
        clock.advance(hours=1)
        return remember(service, replace(scope, session=session), content, **fields).id

    return one


@pytest.fixture
def chatter(tell):
    def some(count=60):
        for number in range(count):
            tell(f"{NOTHING_MUCH[number % len(NOTHING_MUCH)]}, day {number}")

    return some


@pytest.fixture
def shown(service, scope):
    def one(section=None, **fields):
        hits = service.read(replace(scope, session="now"), ReadRequest(**fields)).hits
        return [hit.memory.content for hit in hits if section in (None, hit.section)]

    return one


def test_who_the_user_is_stands_in_a_brief_however_long_ago_it_was_said(tell, chatter, shown):
    told = [
        "The user's name is Mira and she is a nurse in Leeds",
        "I'm allergic to penicillin",
        "Prefers short answers",
    ]
    for text in told:
        tell(text)
    chatter(100)
    assert set(shown("about the user")) == set(told)


def test_a_brief_of_eight_lines_holds_name_and_allergy_and_preference(tell, chatter, shown):
    told = [
        "The user's name is Mira",
        "I'm allergic to penicillin",
        "Prefers short answers",
        "We decided to use Postgres",
    ]
    for text in told:
        tell(text)
    chatter()
    assert set(told) <= set(shown(limit=8))


def test_a_brief_without_a_limit_has_more_lines_than_an_answer(chatter, shown):
    chatter()
    assert len(shown()) == BRIEF_PAGE


def test_a_brief_still_shows_the_most_recent(tell, chatter, shown):
    for number in range(40):
        tell(f"I like topic{number}", session="long ago")
    chatter(1)
    assert "rain over the harbour, day 0" in shown()


def test_open_commitments_and_working_memory_stand_together(tell, shown):
    tell("Need to renew the passport")
    tell("writing chapter two", memory_type=MemoryType.WORKING, key="task")
    assert set(shown("open")) == {"Need to renew the passport", "writing chapter two"}


def test_what_is_forgotten_or_replaced_is_not_shown(service, scope, tell, shown):
    gone = tell("I'm allergic to cats")
    old = tell("Prefers tea")
    tell("Prefers coffee", supersedes=old)
    service.forget(scope, ForgetRequest(ids=(gone,)))
    assert shown() == ["Prefers coffee"]


def test_an_insight_is_knowledge_about_the_user(service, scope, tell, shown):
    evidence = [tell(f"quiet harbour {number}") for number in range(3)]
    service.store_insights(scope, [Insight(text="Mornings by the harbour calm Mira", evidence=tuple(evidence))])
    assert shown("about the user") == ["Mornings by the harbour calm Mira"]


def test_what_tools_say_has_a_quarter_of_a_section_at_most(tell, shown):
    for number in range(12):
        tell(f"The user likes thing{number}", origin=Origin.TOOL, importance=0.95)
    for number in range(6):
        tell(f"I like topic{number}")
    found = shown("about the user")
    assert 4 * sum("thing" in text for text in found) <= len(found)


def test_the_last_session_begins_with_its_summary(tell, shown):
    tell("Went through the harbour plans", session="before", memory_type=MemoryType.EPISODIC)
    for text in NOTHING_MUCH:
        tell(text, session="before")
    assert shown("last session")[0] == "Went through the harbour plans"


@pytest.mark.parametrize("limits", [(3, 3, 3, 3), (1, 9, 2, 20)])
def test_pages_continue_without_repeats_whatever_their_size(service, scope, tell, chatter, limits):
    for text in ("The user's name is Mira", "I'm allergic to penicillin", "We decided to use Postgres"):
        tell(text)
    chatter(20)
    whole = [hit.memory.id for hit in service.read(scope, ReadRequest(limit=100)).hits]
    seen, cursor = [], None
    for limit in limits:
        page = service.read(scope, ReadRequest(limit=limit, cursor=cursor))
        seen += [hit.memory.id for hit in page.hits]
        cursor = page.cursor_after(len(page.hits))
    assert seen == whole[: len(seen)]


def test_a_brief_of_one_tag_holds_only_what_has_it(tell, shown):
    tell("I'm allergic to penicillin")
    tell("I like topic maps", tags=("maps",))
    assert shown(where=Where(tags=("maps",))) == ["I like topic maps"]


@pytest.mark.parametrize(
    "question",
    ["What is still to do?", "Was ist noch zu tun?", "Que reste-t-il à faire ?", "¿Qué queda por hacer?"],
)
def test_what_is_still_to_do_shows_what_is_open(service, scope, tell, chatter, question):
    tell("Remind me to call the plumber")
    tell("Ich muss noch die Rechnung an Ada schreiben")
    tell("Called the plumber, done")
    chatter(20)
    hits = service.read(scope, ReadRequest(query=question)).hits
    assert hits[0].memory.content == "Ich muss noch die Rechnung an Ada schreiben"
    assert not hits[0].weak
    assert not any("plumber" in hit.memory.content for hit in hits if not hit.weak)


def test_without_a_topic_all_that_is_not_open_is_weak(service, scope, tell):
    tell("Need to renew the passport")
    for text in (
        "The gym membership ended.",
        "I don't have to renew the car insurance.",
        "What a day it still was to do that",
    ):
        tell(text)
    hits = service.read(scope, ReadRequest(query="What is still to do?")).hits
    assert [hit.memory.content for hit in hits if not hit.weak] == ["Need to renew the passport"]


def test_where_nothing_is_open_every_hit_is_weak(service, scope, tell):
    tell("The gym membership ended.")
    assert all(hit.weak for hit in service.read(scope, ReadRequest(query="What is still to do?")).hits)


def test_the_same_words_stand_once_in_a_brief_whoever_pinned_them(service, scope, tell, shown):
    tell("Answer in French", session="morning")
    tell("answer in  French.", session="evening", pinned=True)
    assert len(shown()) == 1


def test_the_same_words_of_two_speakers_are_two(tell, shown):
    tell("rain over the harbour", speaker="Ada")
    tell("rain over the harbour", speaker="Ben", session="evening")
    assert len(shown()) == 2


def test_a_topic_in_the_question_chooses_among_what_is_open(service, scope, tell):
    for text in ("Need to renew the passport", "Need to order seeds for the garden", "Need to pay the rent"):
        tell(text)
    hits = service.read(scope, ReadRequest(query="What is still to do for the garden?")).hits
    assert hits[0].memory.content == "Need to order seeds for the garden"


def test_pages_of_what_is_open_continue_without_repeats(service, scope, tell):
    for number in range(12):
        tell(f"Need to order part{number}")
    seen, cursor = [], None
    while not seen or cursor is not None:
        page = service.read(scope, ReadRequest(query="What is still to do?", limit=5, cursor=cursor))
        seen += [hit.memory.id for hit in page.hits]
        cursor = page.cursor_after(len(page.hits))
    assert len(seen) == len(set(seen)) == 12


def test_a_memory_can_be_pinned_when_it_is_written(service, scope, tell, chatter):
    pinned = tell("Answer in French", pinned=True)
    chatter()
    assert service.get(scope, pinned).pinned
    first = service.read(scope, ReadRequest()).hits[0]
    assert (first.memory.id, first.section) == (pinned, "pinned")


def test_writing_the_same_words_again_pins_what_is_there_and_never_unpins(service, scope, tell):
    known = tell("Answer in French")
    assert tell("Answer in French", pinned=True) == known
    assert service.get(scope, known).pinned
    tell("Answer in French")
    assert service.get(scope, known).pinned


def test_a_pin_can_be_taken_away(service, scope, tell, shown):
    pinned = tell("the lamp flickers", pinned=True)
    service.update(scope, UpdateRequest(id=pinned, pinned=False))
    assert shown("pinned") == []


def test_what_is_pinned_when_it_is_written_never_fades(service, scope, tell, chatter):
    pinned = tell("the lamp flickers", pinned=True, importance=0.0)
    chatter(40)
    assert service.get(scope, pinned).tier.value in ("sensory", "short_term", "long_term")


@pytest.mark.slow
def test_a_conversation_begins_with_what_the_last_one_said_beside_a_year_of_memories(tell, shown):
    for number in range(400):
        tell(f"I prefer brand {number} of tea number {number * 7}", session=f"day {number // 5}", importance=0.9)
    tell("I'm allergic to penicillin", session="long ago", pinned=True)
    tell("We decided to use Postgres", session="day 90")
    late = ["I prefer tabs", "Never push to main", "Our CI runs on Buildkite", "My boss is called Henrik"]
    for text in late:
        tell(text, session="yesterday")
    page = shown(limit=20, begins=True)
    assert set(page) >= {*late, "I'm allergic to penicillin", "We decided to use Postgres"}
