"""The view of one memory: its chain, what it rests on, what rests on it, who wrote it, its life."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import pytest

from hybrid_memory.errors import InvalidInput, NotFound
from hybrid_memory.model import MemoryId, MemoryType, Origin
from hybrid_memory.requests import ForgetRequest, Insight, UpdateRequest, WriteRequest
from hybrid_memory_mcp.views.memory import load
from hybrid_memory_mcp.views.view import ViewRequest

KEY = "ghp_9fQ2mZ7Lr4Xc8Vb1Nw6Ty3Kd5Hs0JaP4xQ7z"


@pytest.mark.parametrize("name", ["berlin", "lisbon", "porto"])
def test_each_version_shows_the_whole_chain(look, moves, name):
    shown = look("memory", id=moves[name])
    assert json.dumps(shown)
    assert [one["content"] for one in shown["versions"]] == [
        "Ada lives in Berlin.",
        "Ada lives in Lisbon.",
        "Ada lives in Porto.",
    ]
    assert [one["id"] == moves[name] for one in shown["versions"]].count(True) == 1


def test_the_chain_says_when_it_was_learned_and_what_was_believed_before(look, moves):
    berlin, lisbon, porto = look("memory", id=moves["porto"])["versions"]
    assert berlin["times"]["believed_until"] == lisbon["times"]["learned"] == "2026-01-20T12:00:00+00:00"
    assert berlin["times"]["true_until"] == lisbon["times"]["true_from"] == "2026-01-15T12:00:00+00:00"
    assert porto["times"]["ended"] is None
    assert [part["text"] for part in lisbon["diff"] if part["op"] == "removed"] == ["Berlin"]
    assert lisbon["by"] == "Claude Code"


def test_the_beginning_of_an_id_is_enough(look, moves):
    assert look("memory", id=moves["porto"][:12])["id"] == moves["porto"]


@pytest.mark.parametrize("given", ["", "x", "abcdefgh", "../../etc/passwd", "<b>" * 100, "\x00", "a" * 100_000])
def test_what_is_no_id_is_not_found(look, say, given):
    say("Something.")
    with pytest.raises(NotFound, match="no memory"):
        look("memory", id=given)


def test_a_beginning_of_several_ids_says_so(look, say):
    first, second = say("One thing."), say("Another thing.")
    common = first[: next(at for at in range(20) if first[at] != second[at])]
    with pytest.raises(InvalidInput, match="several"):
        look("memory", id=common)


def test_evidence_stands_with_the_insight_and_the_insight_with_its_evidence(look, moves, service, scope):
    (insight,) = service.store_insights(
        scope, [Insight(text="Ada moves west.", evidence=(moves["lisbon"], moves["porto"]))]
    )
    assert [one["id"] for one in look("memory", id=insight)["evidence"]] == [moves["lisbon"], moves["porto"]]
    assert [one["id"] for one in look("memory", id=moves["porto"])["children"]] == [insight]


def test_evidence_that_was_erased_is_told_as_gone(look, say, service, scope):
    old = say("Ada likes tea.")
    (insight,) = service.store_insights(scope, [Insight(text="Ada likes hot drinks.", evidence=(old,))])
    service.store._data.namespaces["default"].memories.pop(old)
    assert look("memory", id=insight)["evidence"] == [{"id": old, "gone": True}]


def test_a_dispute_is_shown_from_both_sides(look, moves, say):
    madrid = say("Ada lives in Madrid.", origin=Origin.TOOL, supersedes=moves["porto"])
    assert look("memory", id=madrid)["disputes"]["id"] == moves["porto"]
    assert [one["id"] for one in look("memory", id=moves["porto"])["disputed_by"]] == [madrid]


def test_the_same_words_elsewhere_are_shown_from_both_sides(look, service, scope):
    said = WriteRequest(content="Tea is in the second drawer.", memory_type=MemoryType.LONG_TERM)
    first = service.write(scope, said).id
    again = service.write(replace(scope, session="evening"), said).id
    assert [one["id"] for one in look("memory", id=first)["duplicates"]] == [again]
    assert [one["id"] for one in look("memory", id=again)["duplicates"]] == [first]


def test_who_wrote_it_where_is_told(look, service, scope):
    one = service.write(
        replace(scope, session="kitchen", actor="cursor"), WriteRequest(content="Salt.", source="a book")
    )
    written = look("memory", id=one.id)["written"]
    assert (written["by"], written["session"], written["source"], written["origin"]) == (
        "Cursor",
        "kitchen",
        "a book",
        "agent",
    )


def test_what_is_about_the_same_thing_stands_beside_it(look, say):
    tea, other = say("Ada drinks green tea every morning."), say("Ada drinks green tea every evening.")
    assert [one["id"] for one in look("memory", id=tea)["alike"]] == [other]


def test_the_audit_says_in_plain_words_what_happened_the_newest_first(look, say, service, scope, clock):
    old = say("Ada likes tea.")
    clock.advance(seconds=5)
    service.update(scope, UpdateRequest(id=old, pinned=True, importance=0.9))
    service.forget(scope, ForgetRequest(ids=(old,)))
    told = [(one["title"], one["details"]) for one in look("memory", id=old)["events"]]
    assert told == [
        ("Forgotten", ["is no longer found"]),
        ("Changed", ["comes first in every brief", "importance from 0.53 to 0.90"]),
        ("Learned", ["began as “kept”"]),
    ]


def test_a_forgotten_memory_can_be_seen(look, say, service, scope):
    gym = say("The climbing gym.")
    service.forget(scope, ForgetRequest(ids=(gym,)))
    shown = look("memory", id=gym)
    assert (shown["memory"]["state"], shown["memory"]["times"]["ended"]) == ("forgotten", "forgotten")


def test_what_was_erased_has_a_life_in_the_log(look, say, service):
    old = say("Erased.")
    service.store._data.namespaces["default"].memories.pop(old)
    shown = look("memory", id=old)
    assert shown["memory"] is None
    assert [one["title"] for one in shown["events"]] == ["Learned"]


def test_secrets_are_masked_in_every_part_unless_asked_for(look, say, clock):
    first = say(f"The key is {KEY}.")
    clock.advance(seconds=1)
    second = say(f"The key is {KEY} still.", supersedes=first)
    assert KEY not in json.dumps(look("memory", id=second))
    assert KEY in look("memory", id=second, reveal="1")["versions"][0]["content"]


def test_a_chain_that_bites_its_tail_is_shown_once(look, say, service):
    first, second = say("One."), say("Two.")
    memories = service.store._data.namespaces["default"].memories
    memories[first] = replace(memories[first], superseded_by=second, supersedes=second)
    memories[second] = replace(memories[second], superseded_by=first, supersedes=first)
    assert len(look("memory", id=first)["versions"]) == 2


def test_what_lies_with_the_person_is_found_from_a_project(service, scope, say):
    tea = say("Ada likes tea.")
    project = replace(scope, namespace="project:atlas", personal="default")
    shown = load(service, ViewRequest(scope=project, parameters={"id": tea}))
    assert shown["memory"]["namespace"] == "default"


def test_the_life_goes_through_the_tiers(look, service, scope, clock):
    ids = []
    for number in range(12):
        clock.advance(seconds=60)
        ids.append(service.write(scope, WriteRequest(content=f"Small thing number {number}.", importance=0.2)).id)
    shown = look("memory", id=ids[0])["life"]
    tiers = [stage["tier"] for stage in shown["stages"]]
    assert tiers[0] == "sensory"
    assert len(tiers) > 1
    for stage, following in itertools.pairwise(shown["stages"]):
        assert stage["until"] == following["from"]
    assert shown["stages"][-1]["until"] is None
    assert shown["stages"][-1]["tier"] == service.revealed(scope, [MemoryId(ids[0])])[ids[0]].tier.value
    assert set(tiers) == set(shown["levels"])


def test_a_chain_of_hundreds_of_versions_shows_those_around_one_and_both_ends(look, say, service, scope, clock):
    ids = [say("Build 0 of the map is green.")]
    for number in range(1, 90):
        clock.advance(hours=1)
        ids.append(service.update(scope, UpdateRequest(id=ids[-1], content=f"Build {number} of the map is green.")).id)
    shown = look("memory", id=ids[30])
    numbers = [one["number"] for one in shown["versions"]]
    assert numbers == [1, *range(11, 51), 90]
    assert shown["versions_left_out"] == 90 - len(numbers)
    assert ["diff" in one for one in shown["versions"]] == [False, False, *[True] * 39, False]
    assert [one["number"] for one in look("memory", id=ids[0])["versions"]] == [*range(1, 41), 90]
    assert [one["number"] for one in look("memory", id=ids[-1])["versions"]] == [1, *range(51, 91)]
