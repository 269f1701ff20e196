from dataclasses import replace

import pytest
from tests.core.speaking import remember, texts

from hybrid_memory.errors import ConfirmationNeeded, InvalidInput, NotFound
from hybrid_memory.model import Kind, MemoryId, MemoryType, Origin, Tier, Trust
from hybrid_memory.requests import ForgetRequest, Insight, ReadRequest, UpdateRequest, Where
from hybrid_memory.store.writing import BufferState, WriteBatch


def test_new_words_make_a_new_version_and_keep_the_attributes(service, scope):
    old = remember(service, scope, "Lives in Rome", tags=("home",), importance=0.9, memory_type=MemoryType.LONG_TERM)
    new = service.update(scope, UpdateRequest(id=old.id, content="Lives in Turin"))
    memory = service.get(scope, new.id)
    assert (memory.content, memory.tags, memory.importance, memory.supersedes, memory.tier) == (
        "Lives in Turin",
        ("home",),
        0.9,
        old.id,
        Tier.LONG_TERM,
    )
    assert texts(service, scope, "Where does she live? Rome Turin lives") == ["Lives in Turin"]


def test_attributes_change_without_a_new_version(service, scope):
    old = remember(service, scope, "Lives in Rome")
    changed = service.update(scope, UpdateRequest(id=old.id, importance=1.0, tags=("home",)))
    assert (changed.id, changed.supersedes) == (old.id, None)
    assert service.get(scope, old.id).tags == ("home",)


def test_an_update_must_change_something(service, scope):
    old = remember(service, scope, "Lives in Rome")
    with pytest.raises(InvalidInput, match="nothing to change"):
        service.update(scope, UpdateRequest(id=old.id))


def test_what_is_forgotten_is_not_found_and_can_be_restored(service, scope):
    written = remember(service, scope, "The old password rule")
    service.forget(scope, ForgetRequest(ids=(written.id,)))
    assert texts(service, scope, "password rule") == []
    with pytest.raises(NotFound):
        service.get(scope, written.id)
    service.forget(scope, ForgetRequest(ids=(written.id,), restore=True))
    assert texts(service, scope, "password rule") == ["The old password rule"]


def test_forgetting_twice_changes_nothing_the_second_time(service, scope):
    written = remember(service, scope, "The old password rule")
    service.forget(scope, ForgetRequest(ids=(written.id,)))
    again = service.forget(scope, ForgetRequest(ids=(written.id,)))
    assert (again.ids, again.unchanged) == ((), (written.id,))


def test_forgetting_an_unknown_id_changes_nothing_at_all(service, scope):
    written = remember(service, scope, "The old password rule")
    with pytest.raises(NotFound):
        service.forget(scope, ForgetRequest(ids=(written.id, MemoryId("0" * 20))))
    assert service.get(scope, written.id).forgotten_at is None


def test_forgetting_by_filter_needs_the_count(service, scope):
    for number in range(3):
        remember(service, scope, f"draft {number}", tags=("draft",))
    where = Where(tags=("draft",))
    with pytest.raises(ConfirmationNeeded) as wanted:
        service.forget(scope, ForgetRequest(where=where))
    assert wanted.value.count == 3
    done = service.forget(scope, ForgetRequest(where=where, count=3))
    assert len(done.ids) == 3


def test_a_forgotten_memory_leaves_its_buffer(service, scope):
    written = remember(service, scope, "held in the sensory buffer")
    service.forget(scope, ForgetRequest(ids=(written.id,)))
    service.forget(scope, ForgetRequest(ids=(written.id,), restore=True))
    assert service.get(scope, written.id).tier is Tier.FADED


def test_the_end_of_a_session_keeps_what_somebody_decided_to_keep(service, scope):
    written = remember(service, scope, "allergic to peanuts", importance=0.2)
    passing = remember(service, scope, "the bus was late", importance=0.2, episode=True)
    service.end_session(scope)
    assert service.get(scope, written.id).tier is Tier.LONG_TERM
    assert service.get(scope, passing.id).tier is Tier.FADED


def test_working_memory_is_gone_with_its_session(service, scope, clock):
    remember(service, scope, "writing chapter two", memory_type=MemoryType.WORKING, key="task")
    service.end_session(scope)
    clock.advance(seconds=1)
    assert texts(service, scope, where=Where(memory_type=MemoryType.WORKING)) == []


def test_an_unnamed_session_that_fell_silent_is_swept(service, scope, clock):
    gone = replace(scope, session="s-0123456789ab")
    passing = remember(service, gone, "the bus was late", importance=0.2, episode=True)
    clock.advance(days=2)
    service.warm_up(scope)
    assert service.get(scope, passing.id).tier is Tier.FADED


def test_recalls_bring_a_faded_memory_back_up(service, scope):
    written = remember(service, scope, "the zebra likes marmalade", importance=0.05)
    service.end_session(scope)
    assert service.get(scope, written.id).tier is Tier.FADED
    for _ in range(2):
        texts(service, scope, "zebra marmalade")
    service.flush_recalls()
    assert service.get(scope, written.id).tier is Tier.LONG_TERM


def test_reading_changes_nothing_that_is_stored(service, scope):
    remember(service, scope, "the zebra likes marmalade")
    head = service.store.head("default")
    texts(service, scope, "zebra marmalade")
    texts(service, scope)
    assert service.store.head("default") == head


def test_reflection_offers_related_memories_and_takes_an_insight_with_its_evidence(service, scope):
    for text in ("Ada learns the piano piece", "Ada practises the piano piece", "Ada plays the piano piece"):
        remember(service, scope, text)
    (group, *_) = service.offer_reflection(scope)
    evidence = tuple(memory.id for memory in group.memories)
    (stored,) = service.store_insights(scope, [Insight(text="Music matters to Ada", evidence=evidence)])
    insight = service.get(scope, stored)
    assert (insight.kind, insight.tier, insight.parents) == (Kind.INSIGHT, Tier.LONG_TERM, evidence)


def an_insight_on_two(service, scope):
    evidence = tuple(remember(service, scope, text).id for text in ("Ada bought a piano", "Ada rents a music room"))
    (insight,) = service.store_insights(scope, [Insight(text="Music matters to Ada", evidence=evidence)])
    return insight, evidence


def lost_evidence(service, scope, insight):
    (hit,) = service.read(scope, ReadRequest(ids=(insight,))).hits
    return hit.evidence_forgotten


def test_an_insight_tells_how_many_of_its_evidence_were_forgotten(service, scope):
    insight, evidence = an_insight_on_two(service, scope)
    told = [lost_evidence(service, scope, insight)]
    for one in evidence:
        service.forget(scope, ForgetRequest(ids=(one,)))
        told.append(lost_evidence(service, scope, insight))
    assert told == [0, 1, 2]


def test_evidence_that_was_replaced_or_brought_back_is_not_forgotten(service, scope):
    insight, evidence = an_insight_on_two(service, scope)
    service.update(scope, UpdateRequest(id=evidence[0], content="Ada bought a grand piano"))
    service.forget(scope, ForgetRequest(ids=evidence[1:]))
    service.forget(scope, ForgetRequest(ids=evidence[1:], restore=True))
    assert lost_evidence(service, scope, insight) == 0


def test_an_insight_found_by_a_question_tells_of_its_lost_evidence_too(service, scope):
    insight, evidence = an_insight_on_two(service, scope)
    service.forget(scope, ForgetRequest(ids=evidence))
    found = {hit.memory.id: hit for hit in service.read(scope, ReadRequest(query="Does music matter to Ada?")).hits}
    assert found[insight].evidence_forgotten == 2


def test_what_was_reflected_upon_and_insights_are_not_offered_again(service, scope):
    for text in ("Ada learns the piano piece", "Ada practises the piano piece"):
        remember(service, scope, text)
    (group,) = service.offer_reflection(scope)
    evidence = tuple(memory.id for memory in group.memories)
    service.store_insights(scope, [Insight(text="Ada works on the piano piece", evidence=evidence)])
    assert service.offer_reflection(scope) == ()


def test_an_insight_cannot_rest_on_an_insight(service, scope):
    written = remember(service, scope, "Ada learns the piano")
    (insight,) = service.store_insights(scope, [Insight(text="Ada likes music", evidence=(written.id,))])
    with pytest.raises(InvalidInput, match="evidence"):
        service.store_insights(scope, [Insight(text="Ada is musical", evidence=(insight,))])


def test_an_insight_needs_evidence_that_exists_here(service, scope):
    written = remember(service, replace(scope, namespace="other"), "Ada learns the piano")
    with pytest.raises(NotFound, match="evidence"):
        service.store_insights(scope, [Insight(text="Ada likes music", evidence=(written.id,))])


def test_an_insight_is_trusted_no_further_than_its_evidence(service, scope):
    spoken = remember(service, scope, "I play the piano", origin=Origin.USER)
    scraped = remember(service, scope, "Ada plays the organ", origin=Origin.TOOL)
    (stored,) = service.store_insights(scope, [Insight(text="Keyboards", evidence=(spoken.id, scraped.id))])
    assert service.get(scope, stored).trust is Trust.UNTRUSTED


def test_listeners_hear_of_every_commit_until_they_stop(service, scope):
    heard = []
    stop = service.listen(lambda namespace, sessions: heard.append((namespace, sessions)))
    remember(service, scope, "one")
    stop()
    remember(service, scope, "two")
    assert heard == [("default", frozenset({"morning"}))]


def test_status_counts_what_there_is(service, scope):
    written = remember(service, scope, "one")
    remember(service, scope, "two")
    service.forget(scope, ForgetRequest(ids=(written.id,)))
    status = service.status(scope)
    assert (status.memories, status.forgotten, status.tiers["sensory"]) == (1, 1, 1)


def test_names_are_suggested_by_their_beginning(service, scope):
    remember(service, scope, "one", tags=("garden", "kitchen"), speaker="Ada")
    assert service.suggest(scope, "tag", "gar") == ["garden"]
    assert service.suggest(scope, "speaker", "a") == ["Ada"]
    assert service.suggest(scope, "session", "mor") == ["morning"]
    assert service.suggest(scope, "nonsense", "") == []


def test_forgetting_a_correction_forgets_the_first_wording_too(service, scope):
    old = remember(service, scope, "The code is 1234")
    new = service.update(scope, UpdateRequest(id=old.id, content="The code is 5678"))
    service.forget(scope, ForgetRequest(ids=(new.id,)))
    assert service.read(scope, ReadRequest(ids=(old.id, new.id))).missing == (old.id, new.id)
    service.forget(scope, ForgetRequest(ids=(new.id,), restore=True))
    assert service.get(scope, old.id).superseded_by == new.id


def test_a_correction_by_the_agent_is_trusted_no_further_than_the_agent(service, scope):
    old = remember(service, scope, "Pay Alice", origin=Origin.USER)
    new = service.update(scope, UpdateRequest(id=old.id, content="Pay Mallory"))
    changed = service.get(scope, new.id)
    assert (changed.origin, changed.trust) == (Origin.AGENT, Trust.AGENT)


def test_a_forgotten_memory_cannot_be_superseded(service, scope):
    old = remember(service, scope, "The code is 1234")
    service.forget(scope, ForgetRequest(ids=(old.id,)))
    with pytest.raises(NotFound):
        remember(service, scope, "The code is 5678", supersedes=old.id)


def test_asking_an_empty_memory_stores_nothing(service, scope):
    assert texts(service, scope, "anything?") == []
    assert service.store.info().embedder is None


def test_an_unreadable_buffer_state_costs_enhancements_but_stops_nobody(service, scope):
    for number in range(6):
        remember(service, scope, f"distinct statement number {number} about {'abcdef'[number] * 9}")

    def damage(view):
        state = BufferState("morning", "default", "not json", view.now)
        return WriteBatch(action="damage", actor="test", buffers=(state,))

    service.store.write("default", None, damage)
    written = remember(service, scope, "the next one")
    service.end_session(scope)
    assert service.get(scope, written.id).tier in (Tier.FADED, Tier.LONG_TERM)
    assert service.status(scope).tiers["short_term"] == 0


def test_the_same_insight_twice_in_one_call_is_stored_once(service, scope):
    written = remember(service, scope, "Ada plays the piano")
    thought = Insight(text="Music matters", evidence=(written.id,))
    first, second = service.store_insights(scope, [thought, thought])
    assert first == second


def test_a_correction_between_two_pages_lets_no_memory_be_skipped(service, scope):
    for number in range(6):
        remember(service, scope, f"note about gardening number {number}")
    for query in ("gardening", ""):
        first = service.read(scope, ReadRequest(query=query, limit=3))
        shown = [hit.memory.id for hit in first.hits]
        service.forget(scope, ForgetRequest(ids=(shown[0],)))
        second = service.read(scope, ReadRequest(query=query, limit=10, cursor=first.cursor_after(3)))
        everything = {hit.memory.id for hit in service.read(scope, ReadRequest(query=query, limit=10)).hits}
        assert everything <= {*shown, *(hit.memory.id for hit in second.hits)}
        service.forget(scope, ForgetRequest(ids=(shown[0],), restore=True))
