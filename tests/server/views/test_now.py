"""The view Now: what is new, what needs the person, where memories are and what moved them."""

from __future__ import annotations

import inspect
import re
from dataclasses import replace
from datetime import UTC

import pytest
from tests.tables import each

from hybrid_memory.model import MemoryType, Origin, Scope
from hybrid_memory.requests import ForgetRequest, UpdateRequest, WriteRequest
from hybrid_memory.tiers import flow
from hybrid_memory_mcp.views.now import load
from hybrid_memory_mcp.views.view import ViewRequest
from hybrid_memory_mcp.words.event_words import why_it_moved

pytestmark = pytest.mark.usefixtures("machine")

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


def test_what_was_said_in_passing_and_memories_make_what_the_tiers_count(look, hear):
    hear("The train was late.")
    hear("It rained all morning.", episode=True)

    seen = look("now")

    assert (seen["memories"], seen["episodes"]) == (1, 1)
    assert sum(one["count"] for one in seen["tiers"]) == 2


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


@pytest.fixture
def look_since(service, scope, machine):
    """Returns what Now shows somebody who looked at a moment before."""
    return lambda moment: load(service, ViewRequest(scope=scope, zone=UTC, last_look=moment))


def test_what_was_learned_since_the_last_look_is_counted_and_shown(look_since, service, scope, say, clock):
    first = say("Ada lives in Berlin.")
    clock.advance(days=1)
    looked = clock.now()
    clock.advance(seconds=1)
    service.update(scope, UpdateRequest(id=first, content="Ada lives in Lisbon."))
    gone = say("The door is blue.")
    service.forget(scope, ForgetRequest(ids=(gone,)))

    learned = look_since(looked)["learned"]

    assert (learned["new"], learned["corrected"], learned["forgotten"]) == (1, 1, 1)
    assert [(one["content"], one["before"]) for one in learned["memories"]] == [
        ("Ada lives in Lisbon.", "Ada lives in Berlin.")
    ]


def test_what_was_learned_many_times_is_shown_once(look_since, say, clock):
    looked = clock.now()
    clock.advance(seconds=1)
    for number in range(5):
        say("The door is blue.", session=f"s{number}", origin=Origin.TOOL)

    assert look_since(looked)["learned"]["new"] == 1


def test_where_nothing_is_new_what_came_last_is_shown(look_since, say, clock):
    say("Ada lives in Berlin.")
    clock.advance(days=1)

    learned = look_since(clock.now())["learned"]

    assert (learned["new"], [one["content"] for one in learned["memories"]]) == (0, ["Ada lives in Berlin."])


def test_what_tools_said_needs_the_person(look, say):
    say("The build passed.", origin=Origin.TOOL)

    assert [(one["kind"], one["count"]) for one in look("now")["needs"]] == [("untrusted", 1)]


def test_what_contradicts_is_shown_with_what_it_contradicts(look, say):
    said = say("Ada has a dog")
    say("Ada has a wolf", origin=Origin.TOOL, supersedes=said)

    (one,) = look("now")["contradictions"]

    assert (one["content"], one["other"]["content"]) == ("Ada has a wolf", "Ada has a dog")


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

    seen = load(service, ViewRequest(scope=replace(project, personal="default")))

    assert seen["memories"] == 2
    assert {memory["text"] for one in seen["happened"] for memory in one["memories"]} == {
        "Ada lives in Berlin.",
        "The release is on Friday.",
    }


def test_a_first_day_is_empty_and_says_so(look):
    seen = look("now")

    assert (seen["memories"], seen["happened"], seen["learned"]["memories"], seen["needs"]) == (0, [], [], [])


@each(
    "reason, words",
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
