"""The view Now: where memories stand, what moved them, and what waits."""

from __future__ import annotations

import inspect
import re
from dataclasses import replace

import pytest

from hybrid_memory.model import MemoryType, Origin, Scope
from hybrid_memory.requests import ForgetRequest, UpdateRequest, WriteRequest
from hybrid_memory.tiers import flow
from hybrid_memory_mcp.inspector.move_words import why_it_moved
from hybrid_memory_mcp.inspector.table import view_named
from hybrid_memory_mcp.inspector.view import ViewRequest

THINGS = ("The train was late.", "It rained.", "Bo ate soup.", "The door is blue.", "A parcel came.", "The cat slept.")


@pytest.fixture
def hear(say, clock):
    """Lets an assistant note something in passing."""

    def hear(text, **fields):
        clock.advance(seconds=1)
        return say(text, memory_type=MemoryType.SHORT_TERM, origin=Origin.AGENT, **fields)

    return hear


def tier_of(seen, name):
    return next(one for one in seen["tiers"] if one["tier"] == name)


def test_what_was_just_heard_is_in_the_first_tier(look, hear):
    heard = hear("The train was late.")

    assert [one["id"] for one in tier_of(look("now"), "sensory")["memories"]] == [heard]


def test_each_tier_counts_all_its_memories_and_shows_some(look, say, clock):
    for number in range(12):
        clock.advance(seconds=1)
        say(f"Fact {number} is kept.")

    kept = tier_of(look("now"), "long_term")

    assert kept["count"] == 12
    assert len(kept["memories"]) == 7


def test_a_full_buffer_tells_why_its_memories_moved_on(look, hear):
    for text in THINGS:
        hear(text, importance=0.5)

    moved = [one for one in look("now")["happened"] if "moved" in one]

    assert moved[0]["moved"] == {
        "from": "sensory",
        "to": "short_term",
        "why": "more came in, so everything just heard was sorted",
    }


def test_what_moved_together_is_told_together(look, hear):
    for text in THINGS:
        hear(text, importance=0.5)

    moved = next(one for one in look("now")["happened"] if "moved" in one)

    assert moved["count"] == 4
    assert {memory["text"] for memory in moved["memories"]} == set(THINGS[:4])


def test_what_one_write_moved_to_two_places_is_told_in_two_lines(look, hear):
    for number in range(20):
        hear(f"{THINGS[number % 6]} On day {number}.", importance=0.5)

    lines = [(one["moved"]["to"], one["count"]) for one in look("now")["happened"] if "moved" in one]

    assert lines[:2] in ([("long_term", 5), ("short_term", 4)], [("short_term", 4), ("long_term", 5)])


def test_what_is_said_again_is_seen_to_become_stronger(look, hear):
    for text in THINGS:
        hear(text, importance=0.5)
    hear(THINGS[0], importance=0.5)

    stronger = [one for one in tier_of(look("now"), "short_term")["memories"] if one["enhanced"]]

    assert [(one["content"], one["enhanced"], one["enhanced_of"]) for one in stronger] == [(THINGS[0], 1, 3)]


def test_a_memory_that_was_kept_says_what_for(look, service, scope, hear):
    hear("Ada is allergic to peanuts.", importance=0.9)
    service.end_session(scope)

    kept = tier_of(look("now"), "long_term")["memories"][0]

    assert kept["why"] == "the conversation ended, and it is important"


def test_what_happened_today_is_counted(look, service, scope, say):
    first = say("Ada lives in Berlin.")
    service.update(scope, UpdateRequest(id=first, content="Ada lives in Lisbon."))
    gone = say("The door is blue.")
    service.forget(scope, ForgetRequest(ids=(gone,)))

    today = look("now")["today"]

    assert (today["learned"], today["corrected"], today["forgotten"]) == (2, 1, 1)


def test_what_happened_yesterday_is_not_of_today(look, say, clock):
    say("Ada lives in Berlin.")
    clock.advance(days=1)

    assert look("now")["today"]["learned"] == 0


def test_what_tools_said_waits_for_the_person(look, say):
    say("The build passed.", origin=Origin.TOOL)

    assert look("now")["waiting"] == [{"kind": "untrusted", "count": 1}]


def test_a_memory_that_does_not_hold_any_more_is_in_no_tier(look, service, scope, say):
    gone = say("The door is blue.")
    service.forget(scope, ForgetRequest(ids=(gone,)))

    assert tier_of(look("now"), "long_term") == {"tier": "long_term", "count": 0, "room": None, "memories": []}


def test_looking_at_it_changes_nothing(look, service, scope, say):
    say("Ada lives in Berlin.")
    before = service.store.head("default")

    look("now")
    service.flush_recalls()

    assert service.store.head("default") == before


def test_a_persons_and_a_projects_memories_are_seen_as_one(service, say):
    say("Ada lives in Berlin.")
    project = Scope(namespace="project:acme", session="s", actor="x", personal=None)
    service.write(project, WriteRequest(content="The release is on Friday."))

    seen = view_named("now").load(service, ViewRequest(scope=replace(project, personal="default")))

    assert seen["memories"] == 2
    assert {memory["text"] for one in seen["happened"] for memory in one["memories"]} == {
        "Ada lives in Berlin.",
        "The release is on Friday.",
    }


def test_a_first_day_is_empty_and_says_so(look):
    seen = look("now")

    assert (seen["memories"], seen["happened"], seen["newest"], seen["waiting"]) == (0, [], [], [])


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("the short-term buffer was full; used", "newer things took its place, and it was used"),
        ("enhanced 3 times", "it came up 3 times"),
        ("said in 4 sessions", "it was said in 4 conversations"),
        ("written again as long_term", "it was said again, to be kept"),
        ("a reason of a later version", "a reason of a later version"),
        ("", ""),
    ],
)
def test_a_reason_is_told_in_words(reason, words):
    assert why_it_moved(reason) == words


def test_every_reason_of_the_tiers_has_words():
    source = inspect.getsource(flow)
    reasons = re.findall(r'Tier\.\w+, "([^"]+)"|return "(\w+)"', source)
    plain = {one for pair in reasons for one in pair if one}

    assert len(plain) >= 8
    assert [one for one in plain if why_it_moved(one) == one] == []
