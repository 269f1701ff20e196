"""The view of what was asked: who, when, what was shown, what nothing answered; and what the pages of one memory and session take of it."""

from __future__ import annotations

import json

import pytest

from hybrid_memory.errors import InvalidInput, NotFound
from hybrid_memory.model import MemoryId, Scope
from hybrid_memory.requests import ForgetRequest, ReadRequest, ReadResult
from hybrid_memory.service.reading_journal import Shown
from hybrid_memory.store.readings import Way
from hybrid_memory_inspector.views.recalls import MEMORIES_OF_A_READING
from hybrid_memory_mcp.views.readings import readings_of
from hybrid_memory_mcp.views.view import ViewRequest

KEY = "sk-ant-api03-" + "Ab1_" * 24 + "AA"


@pytest.fixture
def ask(service, clock):
    """Lets a client ask something; ``shown`` is what was in the answer (nothing: nothing was known), of which the first is ``clear``."""

    def ask(question, *shown, client="claude-code", session="morning", way=Way.TOOL, clear=True):
        clock.advance(seconds=60)
        scope = Scope(session=session, actor=client)
        hits = service.as_hits(scope, service.revealed(scope, shown).values())
        result = ReadResult(hits=hits, total=len(shown), recalled=shown[0] if shown and clear else None)
        request = ReadRequest(query=question)
        service.journal.note(scope, way, request, result, Shown(ids=shown, tokens=50), service.now())

    return ask


def test_a_first_day_has_an_empty_page_that_says_what_is_kept(look):
    shown = look("recalls")
    assert (shown["on"], shown["total"], shown["readings"], shown["gaps"]) == (True, 0, [], [])
    assert shown["keeps"] == {"readings": 2000, "days": 90}
    assert json.dumps(shown)


def test_a_reading_tells_who_asked_what_and_what_was_shown(look, say, ask):
    one = say("Ada lives in Porto.")
    ask("where does Ada live?", one)
    (shown,) = look("recalls")["readings"]
    assert json.dumps(shown)
    told = (shown["client"], shown["did"], shown["question"], shown["found"], shown["session"])
    assert told == ("claude-code", "asked", "where does Ada live?", "answered", "morning")
    assert [memory["content"] for memory in shown["memories"]] == ["Ada lives in Porto."]


@pytest.mark.parametrize(
    ("way", "question", "did"),
    [
        (Way.TOOL, "", "took a brief"),
        (Way.HOOK, "", "got a brief as the conversation began"),
        (Way.HOOK, "Ada?", "got these memories with a prompt"),
        (Way.PROMPT, "Ada?", "took the prompt with an answer to"),
        (Way.RESOURCE, "", "took a brief"),
    ],
)
def test_a_reading_says_what_the_client_did(look, say, ask, way, question, did):
    ask(question, say("Ada lives in Porto."), way=way)
    assert look("recalls")["readings"][0]["did"] == did


def test_of_many_memories_the_first_are_told_and_the_others_counted(look, say, ask):
    ids = [say(f"Ada owns boat number {number}.") for number in range(MEMORIES_OF_A_READING + 3)]
    ask("boats?", *ids)
    (shown,) = look("recalls")["readings"]
    assert ([one["id"] for one in shown["memories"]], shown["more"]) == (ids[:MEMORIES_OF_A_READING], 3)


def test_a_forgotten_memory_was_shown_all_the_same_and_says_that_it_is_forgotten(look, say, ask, service, scope):
    one = say("Ada lives in Porto.")
    ask("where does Ada live?", one)
    service.forget(scope, ForgetRequest(ids=(one,)))
    assert look("recalls")["readings"][0]["memories"][0]["state"] == "forgotten"


def test_secrets_in_what_was_shown_are_masked_unless_the_person_asks(look, say, ask):
    ask("the key?", say(f"The key of the map server is {KEY}."))
    assert KEY not in json.dumps(look("recalls"))
    assert KEY in json.dumps(look("recalls", reveal="1"))


@pytest.fixture
def asked(say, ask):
    """Four readings by two clients, of which one question found nothing, twice."""
    one = say("Ada lives in Porto.")
    ask("where does Ada live?", one)
    ask("When is Bo's wedding?", client="cursor")
    ask("when is Bo's wedding", client="cursor", session="evening")
    ask("", one, way=Way.HOOK)
    return one


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        ({}, 4),
        ({"client": "cursor"}, 2),
        ({"way": "hook"}, 1),
        ({"session": "evening"}, 1),
        ({"q": "WEDDING"}, 2),
        ({"unanswered": "1"}, 2),
        ({"unanswered": "1", "client": "claude-code"}, 0),
    ],
)
def test_filters_leave_what_passes_all_of_them(look, asked, filters, count):
    assert look("recalls", **filters)["total"] == count


def test_the_readings_of_one_memory_are_found_by_its_id(look, asked):
    assert look("recalls", memory=asked)["total"] == 2


def test_an_unknown_way_is_named(look):
    with pytest.raises(InvalidInput, match="way"):
        look("recalls", way="dream")


def test_what_nothing_answered_is_told_once_however_often_it_was_asked(look, asked):
    (gap,) = look("recalls")["gaps"]
    assert (gap["question"], gap["asked"], gap["clients"]) == ("when is Bo's wedding", 2, ["cursor"])


def test_counts_are_of_questions_and_of_all(look, asked):
    counts = look("recalls")["counts"]
    assert (counts["readings"], counts["questions"], counts["unanswered"], counts["tokens"]) == (4, 3, 2, 200)


def test_only_a_memory_that_stands_out_makes_an_answer(look, say, ask):
    one, two = say("Ada lives in Porto."), say("Ada lives by the sea.")
    ask("where does Ada live?", one, two)
    ask("who is Zoe?", two, one, clear=False)
    ask("when is the wedding?")
    counts = look("recalls")["counts"]
    assert (counts["answered"], counts["unclear"], counts["unanswered"]) == (1, 1, 1)
    assert counts["answered_share"] == 0.3333


def test_what_a_hook_adds_to_a_prompt_is_no_question(look, say, ask):
    ask("write to Ada", say("Ada lives in Porto."), way=Way.HOOK)
    counts = look("recalls")["counts"]
    assert (counts["readings"], counts["questions"], counts["answered_share"]) == (1, 0, None)


def test_what_was_merely_near_a_question_is_not_among_the_most_used(look, say, ask):
    one, two = say("Ada lives in Porto."), say("Ada lives by the sea.")
    for question in ("where does Ada live?", "and where exactly?"):
        ask(question, one, two)
    ask("who is Zoe?", two, clear=False)
    assert [(each["memory"]["id"], each["times"]) for each in look("recalls")["most_used"]] == [(one, 2)]


def test_pages_go_on_where_the_one_before_ended(look, asked):
    first, second = (look("recalls", page=str(page), limit="3")["readings"] for page in (1, 2))
    assert [one["number"] for one in (*first, *second)] == [4, 3, 2, 1]


def test_a_memory_has_its_readings_with_its_place_in_each(service, scope, asked):
    found = readings_of(service, ViewRequest(scope=scope), MemoryId(asked))
    assert (found["total"], found["questions"]) == (2, 1)
    assert [one["place"] for one in found["readings"]] == [1, 1]


def test_another_namespace_sees_nothing_of_it(service, asked):
    other = ViewRequest(scope=Scope(session="s", namespace="other"))
    assert readings_of(service, other, MemoryId(asked))["total"] == 0


def test_sessions_tell_who_was_there_and_what_was_learned(look, asked):
    (shown,) = look("sessions")["sessions"]
    assert json.dumps(shown)
    assert (shown["name"], shown["clients"], shown["questions"]) == ("morning", ["Claude Code", "Cursor"], 2)
    assert [one["content"] for one in shown["learned"]] == ["Ada lives in Porto."]


def test_one_session_is_told_in_the_order_of_time(look, asked):
    shown = look("session", name="morning")
    assert [step["kind"] for step in shown["steps"]] == ["memory", "reading", "reading", "reading"]
    assert shown["steps"][0]["by"] == "Claude Code"


def test_a_session_in_which_somebody_only_asked_has_a_page_too(look, asked):
    shown = look("session", name="evening")
    assert (shown["summary"], shown["clients"], shown["readings"]) == (None, ["Cursor"], 1)


def test_a_session_that_is_not_there_is_not_found(look):
    with pytest.raises(NotFound):
        look("session", name="nobody")


def test_a_session_whose_name_holds_a_secret_is_found_by_what_is_shown_of_it(look, say):
    say("Ada lives in Porto.", session=f"talk {KEY}")
    name = look("sessions")["sessions"][0]["name"]
    assert KEY not in name
    assert look("session", name=name)["summary"]["memories"] == 1


def test_sessions_are_ordered_as_asked_and_other_words_are_refused(look):
    with pytest.raises(InvalidInput, match="order"):
        look("sessions", order="best")
