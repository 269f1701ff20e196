"""The view of insights: what they rest on, and what became of that."""

from __future__ import annotations

import json

import pytest

from hybrid_memory.errors import InvalidInput
from hybrid_memory.requests import ForgetRequest, Insight


@pytest.fixture
def think(service, scope):
    def think(text, *evidence):
        return service.store_insights(scope, [Insight(text=text, evidence=evidence)])[0]

    return think


def test_without_insights_there_is_an_empty_page(look):
    shown = look("insights")
    assert (shown["insights"], shown["total"], shown["groups"]) == ([], 0, None)


def test_an_insight_stands_with_its_evidence(look, moves, think):
    think("Ada moves west.", moves["lisbon"], moves["porto"])
    (shown,) = look("insights")["insights"]
    assert json.dumps(shown)
    assert [one["content"] for one in shown["evidence"]] == ["Ada lives in Lisbon.", "Ada lives in Porto."]


def test_evidence_that_was_former_already_shakes_nothing(look, moves, think):
    think("Ada moves west.", moves["lisbon"], moves["porto"])
    shown = look("insights")
    assert shown["insights"][0]["evidence_counts"] == {"current": 1, "former": 1, "changed": 0, "gone": 0}
    assert shown["with_changed_evidence"] == 0


def test_evidence_that_was_replaced_since_is_told_with_what_took_its_place(look, say, think, clock):
    tea = say("Ada likes tea.")
    think("Ada likes hot drinks.", tea)
    clock.advance(days=1)
    say("Ada likes water.", supersedes=tea)
    shown = look("insights", evidence="changed")
    (evidence,) = shown["insights"][0]["evidence"]
    assert (evidence["standing"], evidence["after"]["content"]) == ("changed", "Ada likes water.")
    assert shown["with_changed_evidence"] == 1


def test_evidence_that_was_forgotten_since_is_told(look, say, think, clock, service, scope):
    tea = say("Ada likes tea.")
    think("Ada likes hot drinks.", tea)
    clock.advance(days=1)
    service.forget(scope, ForgetRequest(ids=(tea,)))
    assert look("insights")["insights"][0]["evidence_counts"]["changed"] == 1


def test_evidence_that_was_erased_is_told_as_gone(look, say, think, service):
    tea = say("Ada likes tea.")
    think("Ada likes hot drinks.", tea)
    service.store._data.namespaces["default"].memories.pop(tea)
    shown = look("insights", evidence="changed")
    assert shown["insights"][0]["evidence"] == [{"id": tea, "gone": True, "standing": "gone"}]


def test_what_is_worth_a_thought_is_told_to_who_asks(look, say, clock):
    for place in ("kitchen", "garden", "office", "hall"):
        clock.advance(seconds=1)
        say(f"The lamp in the {place} is broken.")
    groups = look("insights", groups="1")["groups"]
    assert len(groups[0]["memories"]) >= 2


def test_another_word_for_evidence_is_refused(look):
    with pytest.raises(InvalidInput, match="evidence"):
        look("insights", evidence="shaky")
