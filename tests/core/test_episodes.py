"""What was said in passing: found when asked for, never shown unasked, promoted by what comes of it, and gone after a while."""

from dataclasses import replace

import pytest
from tests.core.speaking import remember, texts

from hybrid_memory.model import Origin, Tier, Verdict
from hybrid_memory.requests import JudgeRequest, ReadRequest, UpdateRequest, WriteRequest

SAID = "the marmalade of the zebra was rather bitter"


def in_passing(service, scope, content=SAID, **fields):
    return remember(service, scope, content, importance=0.3, origin=Origin.USER, episode=True, **fields)


def after_a_quarter(service, scope, clock):
    """Let 92 days pass in which the memory is used: a clock that jumps is not believed."""
    for week in range(4):
        clock.advance(days=23)
        remember(service, scope, f"tick {week}")
    service.warm_up(scope)


def test_an_episode_is_found_when_it_is_asked_for(service, scope):
    in_passing(service, scope)
    assert texts(service, scope, "zebra marmalade") == [SAID]


def test_a_brief_holds_no_episode(service, scope):
    in_passing(service, scope)
    remember(service, scope, "Jo lives in Porto", origin=Origin.USER)
    assert texts(service, scope) == ["Jo lives in Porto"]


def test_a_quiet_recall_tells_no_episode(service, scope):
    in_passing(service, scope)
    assert texts(service, scope, "zebra marmalade", quiet=True) == []


def test_the_most_recent_memories_are_no_episodes(service, scope):
    in_passing(service, scope)
    assert service.recent(scope) == ()


def test_no_reflection_is_offered_on_episodes(service, scope):
    for number in range(6):
        in_passing(service, scope, f"{SAID} on day {number}")
    assert service.offer_reflection(scope) == ()


def test_an_episode_ends_nothing_that_was_kept(service, scope, clock):
    remember(service, scope, "our database is postgres", origin=Origin.USER)
    clock.advance(days=1)
    in_passing(service, scope, "our database is sqlite")
    hits = service.read(scope, ReadRequest(query="what is our database")).hits
    assert all(hit.newer is None for hit in hits)


def test_an_episode_that_is_asked_for_again_and_again_is_promoted(service, scope):
    written = in_passing(service, scope)
    service.end_session(scope)
    for _ in range(2):
        texts(service, scope, "zebra marmalade")
    service.flush_recalls()
    assert (service.get(scope, written.id).tier, texts(service, scope)) == (Tier.LONG_TERM, [SAID])


def test_what_is_said_in_three_conversations_is_promoted(service, scope):
    first = in_passing(service, scope)
    for number in range(2):
        in_passing(service, replace(scope, session=f"session {number}"))
    assert service.get(scope, first.id).tier is Tier.LONG_TERM


def test_what_is_kept_on_purpose_after_it_was_said_in_passing_is_shown(service, scope):
    in_passing(service, scope)
    remember(service, scope, SAID, origin=Origin.USER)
    assert texts(service, scope) == [SAID]


def test_an_episode_fades_with_its_conversation_and_is_found_still(service, scope):
    written = in_passing(service, scope)
    service.end_session(scope)
    assert (service.get(scope, written.id).tier, texts(service, scope, "zebra marmalade")) == (Tier.FADED, [SAID])


def test_a_named_conversation_of_episodes_that_fell_silent_has_ended(service, scope, clock):
    written = in_passing(service, scope)
    clock.advance(days=2)
    service.warm_up(scope)
    assert service.get(scope, written.id).tier is Tier.FADED


def test_an_old_episode_is_swept(service, scope, clock):
    in_passing(service, scope)
    after_a_quarter(service, scope, clock)
    assert SAID not in texts(service, scope, "zebra marmalade")


def test_a_promoted_episode_is_not_swept(service, scope, clock):
    in_passing(service, scope)
    for number in range(2):
        in_passing(service, replace(scope, session=f"session {number}"))
    after_a_quarter(service, scope, clock)
    assert SAID in texts(service, scope, "zebra marmalade")


def test_an_episode_that_speaks_of_a_day_ahead_is_not_swept_before_it(service, scope, clock):
    in_passing(service, scope, "the zebra parade is on 3 May 2031")
    after_a_quarter(service, scope, clock)
    assert "the zebra parade is on 3 May 2031" in texts(service, scope, "zebra parade")


def test_an_episode_of_the_person_in_another_project_is_swept_too(service, scope, clock):
    person = replace(scope, namespace="me")
    in_passing(service, person)
    after_a_quarter(service, replace(scope, namespace="project", personal="me"), clock)
    assert texts(service, person, "zebra marmalade") == []


@pytest.mark.parametrize("kept", [True, False])
def test_only_what_somebody_decided_to_keep_stays_when_its_conversation_ends(service, scope, kept):
    written = service.write(scope, WriteRequest(content=SAID, importance=0.3, episode=not kept))
    service.end_session(scope)
    assert service.get(scope, written.id).tier is (Tier.LONG_TERM if kept else Tier.FADED)


def test_an_episode_that_a_person_calls_true_is_promoted(service, scope):
    written = in_passing(service, scope)
    service.acts.judge(scope, JudgeRequest(ids=(written.id,), verdict=Verdict.TRUE))
    assert (service.get(scope, written.id).tier, texts(service, scope)) == (Tier.LONG_TERM, [SAID])


def test_calling_an_episode_true_can_be_undone(service, scope):
    written = in_passing(service, scope)
    done = service.acts.judge(scope, JudgeRequest(ids=(written.id,), verdict=Verdict.TRUE))
    service.acts.undo(scope, done.undo)
    assert texts(service, scope) == []


def test_an_episode_that_is_pinned_is_promoted(service, scope):
    written = in_passing(service, scope)
    service.update(scope, UpdateRequest(id=written.id, pinned=True))
    assert (service.get(scope, written.id).tier, texts(service, scope)) == (Tier.LONG_TERM, [SAID])


def test_an_episode_that_is_corrected_is_promoted(service, scope):
    written = in_passing(service, scope)
    corrected = service.update(scope, UpdateRequest(id=written.id, content="the marmalade was sweet"))
    assert (corrected.tier, texts(service, scope)) == (Tier.LONG_TERM, ["the marmalade was sweet"])


def test_what_is_promoted_is_in_no_buffer_when_its_conversation_ends(service, scope):
    written = in_passing(service, scope)
    service.update(scope, UpdateRequest(id=written.id, pinned=True))
    service.end_session(scope)
    assert service.get(scope, written.id).tier is Tier.LONG_TERM


def test_several_episodes_that_are_pinned_at_once_leave_the_buffers_together(service, scope):
    said = [in_passing(service, scope, f"{SAID} on day {number}").id for number in range(6)]
    service.acts.pin(scope, said)
    service.end_session(scope)
    assert {service.get(scope, one).tier for one in said} == {Tier.LONG_TERM}
    assert service.store.buffer("default", "morning", "default") is None
