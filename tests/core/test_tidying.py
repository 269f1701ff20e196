"""What fades in the background: what is over, and later copies of what is kept already. Nothing that is said changes."""

from datetime import timedelta

import numpy as np
import pytest
from tests.changing import changes_everything
from tests.core.speaking import remember, texts

from hybrid_memory.changes.endings import EndingModel
from hybrid_memory.model import Origin, Tier
from hybrid_memory.requests import GroupSort, Insight, UpdateRequest


@pytest.fixture
def tidied(service, scope, clock):
    """Look for what may fade some days later, when all passing matters are over."""
    dimensions = service.encode_texts(["x"]).shape[1]
    service.ending_model = lambda: EndingModel(weights=np.ones(dimensions + 1, np.float32) * 9, threshold=0.5)

    def tidy(days=0):
        for day in range(days):
            clock.advance(days=1)
            remember(service, scope, f"tick {day} tock {days}")
        service.warm_up(scope)

    return tidy


def kept(service, scope, content, **fields):
    return remember(service, scope, content, origin=Origin.USER, memory_type="long_term", **fields).id


def tier_of(service, scope, id_):
    return service.get(scope, id_).tier


def test_what_is_over_fades_and_is_found_all_the_same(service, scope, clock, tidied):
    party = kept(service, scope, f"the zebra party is on {clock.now() + timedelta(days=2):%-d %B %Y}")
    tidied(days=6)
    assert tier_of(service, scope, party) is Tier.FADED
    assert texts(service, scope, "zebra party")[0].startswith("the zebra party")


def test_what_is_still_to_come_does_not_fade(service, scope, clock, tidied):
    party = kept(service, scope, f"the zebra party is on {clock.now() + timedelta(days=20):%-d %B %Y}")
    tidied(days=6)
    assert tier_of(service, scope, party) is Tier.LONG_TERM


def test_what_is_pinned_does_not_fade(service, scope, clock, tidied):
    party = kept(service, scope, f"the zebra party is on {clock.now() + timedelta(days=2):%-d %B %Y}")
    service.update(scope, UpdateRequest(id=party, pinned=True))
    tidied(days=6)
    assert tier_of(service, scope, party) is Tier.LONG_TERM


def test_of_copies_in_nearly_the_same_words_the_first_stays(service, scope, clock, tidied):
    first = kept(service, scope, "The zebra lives in Porto")
    clock.advance(days=1)
    again = kept(service, scope, "the zebra lives in “Porto”.")
    tidied()
    assert (tier_of(service, scope, first), tier_of(service, scope, again)) == (Tier.LONG_TERM, Tier.FADED)


@pytest.mark.parametrize("other", ["The zebra does not live in Porto", "The zebra lives in Lisbon"])
def test_what_says_something_else_is_no_copy(service, scope, other, tidied):
    ids = [kept(service, scope, one) for one in ("The zebra lives in Porto", other)]
    tidied()
    assert [tier_of(service, scope, one) for one in ids] == [Tier.LONG_TERM] * 2


def test_a_tool_makes_no_copy_of_what_the_user_said(service, scope, tidied):
    kept(service, scope, "The zebra lives in Porto")
    tool = remember(service, scope, "the zebra lives in porto.", origin=Origin.TOOL, memory_type="long_term").id
    tidied()
    assert tier_of(service, scope, tool) is Tier.LONG_TERM


def test_reflection_leaves_out_what_is_over_and_what_is_said_twice(service, scope, clock, tidied):
    day = f"{clock.now() + timedelta(days=2):%-d %B %Y}"
    for said in (f"the zebra party is on {day}", "the zebra party needs a cake", "The zebra party needs a cake."):
        kept(service, scope, said)
    tidied(days=6)
    offered = service.offer_reflection(scope)
    assert not any("party" in memory.content for group in offered for memory in group.memories)


def test_a_contradiction_left_open_comes_first_and_is_settled_by_an_insight(service, scope):
    old = kept(service, scope, "the zebra lives in Porto")
    service.change_model = changes_everything
    new = kept(service, scope, "the zebra is in Lisbon now")
    first, *_ = service.offer_reflection(scope)
    assert (first.sort, [one.id for one in first.memories][-1]) == (GroupSort.CONFLICT, new)
    service.store_insights(scope, [Insight(text="it moved", evidence=tuple(one.id for one in first.memories))])
    assert all(group.sort is not GroupSort.CONFLICT for group in service.offer_reflection(scope))
    assert tier_of(service, scope, old) is not Tier.FADED


def test_what_a_tool_says_is_no_contradiction_to_think_about(service, scope):
    remember(service, scope, "the zebra lives in Porto", origin=Origin.TOOL, memory_type="long_term")
    service.change_model = changes_everything
    kept(service, scope, "the zebra is in Lisbon now")
    assert all(group.sort is not GroupSort.CONFLICT for group in service.offer_reflection(scope))


def test_a_subject_says_what_it_changed_and_that_nothing_was_told_for_long(service, scope, clock):
    old = kept(service, scope, "the zebra lives in Porto")
    new = service.update(scope, UpdateRequest(id=old, content="the zebra lives in Lisbon")).id
    kept(service, scope, "the zebra lives in Lisbon with a goat")
    clock.advance(days=100)
    (group,) = service.offer_reflection(scope)
    assert (new in {one.id for one in group.memories}, group.changed, group.silent) == (True, (old,), True)


def test_a_repeated_saying_is_offered_with_its_evidence(service, scope):
    said = [
        remember(
            service, scope_of, "the marmalade was rather bitter", importance=0.3, origin=Origin.USER, episode=True
        ).id
        for scope_of in (scope, type(scope)(session="evening"))
    ]
    (group,) = service.offer_reflection(scope)
    assert (group.sort, {one.id for one in group.memories}) == (GroupSort.REPEATED, set(said))
