"""What a person does to memories, and undoes."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid_memory.errors import ChangedSince, InvalidInput, NotFound
from hybrid_memory.model import MemoryType, Origin, Scope, Tier, Trust, Verdict
from hybrid_memory.requests import (
    ForgetRequest,
    Insight,
    JudgeRequest,
    MergeRequest,
    ReadRequest,
    SplitRequest,
    UpdateRequest,
    Where,
    WriteRequest,
)
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.store.writing import KEPT_UNDOS
from hybrid_memory.testing import FakeClock, FakeRandomSource, HashEmbedder

PERSON = Scope(session="one", actor="person (page)")
ASSISTANT = Scope(session="one", actor="assistant")


class Life:
    """A service over one store, with short words for what the tests do."""

    def __init__(self, store, clock):
        self.clock = clock
        self.store = store
        self.service = MemoryService(store, HashEmbedder(8), clock=clock, random_source=FakeRandomSource(1))
        self.acts = self.service.acts

    def tell(self, content, **fields):
        self.clock.advance(seconds=1)
        return self.service.write(ASSISTANT, WriteRequest(content=content, **fields)).id

    def judge(self, *ids, verdict, until=None):
        self.clock.advance(seconds=1)
        return self.acts.judge(PERSON, JudgeRequest(ids, verdict, until))

    def undo(self, done):
        self.clock.advance(seconds=1)
        return self.acts.undo(PERSON, done.undo)

    def __getitem__(self, one):
        return self.store.get("default", [one])[one]

    @property
    def current(self):
        return {hit.memory.content for hit in self.service.read(PERSON, ReadRequest(limit=100)).hits}

    def found(self, query, **where):
        asked = ReadRequest(query=query, limit=100, where=Where(**where), weak=True, recalls=False)
        return {hit.memory.content for hit in self.service.read(PERSON, asked).hits}


@pytest.fixture
def life():
    clock = FakeClock()
    return Life(MemoryStore(clock), clock)


@pytest.fixture
def kept(tmp_path):
    clock = FakeClock()
    life = Life(DuckStore.open(tmp_path / "memory.duckdb", clock), clock)
    yield life
    life.service.close()


def test_of_merged_memories_the_new_words_alone_are_found(life):
    ids = (life.tell("Ada lived in Rome"), life.tell("Ada moved to Paris"))
    life.acts.merge(PERSON, MergeRequest(ids, "Ada moved from Rome to Paris"))
    assert life.found("Ada") == {"Ada moved from Rome to Paris"}


def test_all_that_was_merged_leads_to_the_merged_text(life):
    ids = (life.tell("Ada lived in Rome"), life.tell("Ada moved to Paris"))
    (merged,) = life.acts.merge(PERSON, MergeRequest(ids, "Ada moved from Rome to Paris")).ids
    assert {life[one].superseded_by for one in ids} == {merged}
    assert life[merged].supersedes == ids[1]


def test_merged_words_are_the_persons_and_are_kept(life):
    ids = (life.tell("a page says A", origin=Origin.TOOL), life.tell("a page says B", origin=Origin.TOOL))
    (merged,) = life.acts.merge(PERSON, MergeRequest(ids, "A and B")).ids
    assert (life[merged].origin, life[merged].trust, life[merged].tier) == (Origin.USER, Trust.USER, Tier.LONG_TERM)


def test_what_is_merged_with_a_confirmed_memory_is_confirmed(life):
    ids = (life.tell("Ada lives in Rome"), life.tell("Ada has a dog"))
    life.judge(ids[0], verdict=Verdict.TRUE)
    (merged,) = life.acts.merge(PERSON, MergeRequest(ids, "Ada lives in Rome with a dog")).ids
    assert life[merged].trust is Trust.CONFIRMED


def test_a_merge_keeps_tags_pins_and_evidence_of_all(life):
    ids = (life.tell("Ada sails", tags=("sea",), pinned=True), life.tell("Ada rows", tags=("river",)))
    (merged,) = life.acts.merge(PERSON, MergeRequest(ids, "Ada sails and rows")).ids
    assert set(life[merged].tags) == {"sea", "river"}
    assert life[merged].pinned


@pytest.mark.parametrize("count", [0, 1])
def test_a_merge_takes_two_memories_at_least(life, count):
    ids = (life.tell("Ada sails"),) * count
    with pytest.raises(InvalidInput, match="ids"):
        life.acts.merge(PERSON, MergeRequest(ids, "Ada sails"))


def test_an_older_version_is_not_merged(life):
    old, other = life.tell("Ada sails"), life.tell("Ada rows")
    life.acts.edit(PERSON, UpdateRequest(id=old, content="Ada sails a lot"))
    with pytest.raises(InvalidInput, match="superseded"):
        life.acts.merge(PERSON, MergeRequest((old, other), "Ada sails and rows"))


def test_of_a_split_memory_the_parts_alone_are_found(life):
    one = life.tell("Ada has a dog and a cat")
    life.acts.split(PERSON, SplitRequest(one, ("Ada has a dog", "Ada has a cat")))
    assert life.found("Ada") == {"Ada has a dog", "Ada has a cat"}


def test_each_part_tells_what_it_was_split_from(life):
    one = life.tell("Ada has a dog and a cat")
    first, second = life.acts.split(PERSON, SplitRequest(one, ("Ada has a dog", "Ada has a cat"))).ids
    assert (life[first].supersedes, life[one].superseded_by) == (one, first)
    assert (life[first].parents, life[second].parents) == ((one,), (one,))


def test_parts_keep_tags_and_the_time_it_happened(life):
    when = life.clock.now() - timedelta(days=3)
    one = life.tell("Ada got a dog and a cat", tags=("pets",), occurred_at=when)
    parts = life.acts.split(PERSON, SplitRequest(one, ("Ada got a dog", "Ada got a cat"))).ids
    assert {(life[part].tags, life[part].occurred_at) for part in parts} == {(("pets",), when)}


def test_the_same_part_said_twice_is_one(life):
    one = life.tell("Ada has a dog and a cat")
    with pytest.raises(InvalidInput, match="parts"):
        life.acts.split(PERSON, SplitRequest(one, ("Ada has a dog", "Ada  has a dog ")))


def test_what_a_person_calls_true_is_confirmed(life):
    one = life.tell("Ada lives in Rome", origin=Origin.TOOL)
    life.judge(one, verdict=Verdict.TRUE)
    assert (life[one].trust, life[one].verdict) == (Trust.CONFIRMED, Verdict.TRUE)


def test_what_disputed_a_memory_takes_its_place_when_it_is_called_true(life):
    said = life.tell("Ada's number is 12", origin=Origin.USER)
    disputing = life.tell("Ada's number is 15", origin=Origin.TOOL, supersedes=said)
    life.judge(disputing, verdict=Verdict.TRUE)
    assert life.found("Ada's number") == {"Ada's number is 15"}
    assert (life[disputing].disputes, life[disputing].supersedes, life[said].superseded_by) == (None, said, disputing)


def test_a_dispute_stays_when_the_disputed_memory_is_called_true(life):
    said = life.tell("Ada's number is 12", origin=Origin.USER)
    disputing = life.tell("Ada's number is 15", origin=Origin.TOOL, supersedes=said)
    life.judge(said, verdict=Verdict.TRUE)
    assert life[disputing].disputes == said


def test_what_is_called_untrue_is_not_found_and_keeps_the_verdict(life):
    one = life.tell("Ada lives in Rome")
    life.judge(one, verdict=Verdict.UNTRUE)
    assert life.found("Ada") == set()
    assert (life[one].verdict, life[one].forgotten_at is not None) == (Verdict.UNTRUE, True)


def test_what_an_untrue_correction_replaced_is_current_again(life):
    said = life.tell("Ada lives in Rome", origin=Origin.USER)
    wrong = life.service.update(ASSISTANT, UpdateRequest(id=said, content="Ada lives in Oslo")).id
    assert life.judge(wrong, verdict=Verdict.UNTRUE).revived == (said,)
    assert life.found("Ada") == {"Ada lives in Rome"}


def test_what_an_untrue_correction_of_equal_trust_replaced_is_current_again(life):
    said = life.tell("Ada lives in Rome")
    wrong = life.service.update(ASSISTANT, UpdateRequest(id=said, content="Ada lives in Oslo")).id
    life.judge(wrong, verdict=Verdict.UNTRUE)
    assert life.found("Ada") == {"Ada lives in Rome"}


def test_an_untrue_part_does_not_bring_back_the_whole_that_was_split(life):
    one = life.tell("Ada has a dog and a cat")
    first, _ = life.acts.split(PERSON, SplitRequest(one, ("Ada has a dog", "Ada has a cat"))).ids
    life.judge(first, verdict=Verdict.UNTRUE)
    assert life.found("Ada") == {"Ada has a cat"}


def test_who_restores_what_was_called_untrue_takes_the_verdict_back(life):
    one = life.tell("Ada lives in Rome")
    life.judge(one, verdict=Verdict.UNTRUE)
    life.acts.restore(PERSON, [one])
    assert life[one].verdict is None


def test_what_ended_is_found_as_of_an_earlier_moment_alone(life):
    one = life.tell("Ada lives in Rome")
    life.clock.advance(hours=48)
    ended = life.clock.now() - timedelta(hours=1)
    life.judge(one, verdict=Verdict.ENDED, until=ended)
    assert life.found("Ada") == set()
    assert life.found("Ada", as_of=ended - timedelta(hours=1)) == {"Ada lives in Rome"}


def test_nothing_ends_before_it_began_or_in_the_future(life):
    one = life.tell("Ada lives in Rome", occurred_at=life.clock.now())
    for wrong in (timedelta(days=-400), timedelta(days=1)):
        with pytest.raises(InvalidInput, match="until"):
            life.judge(one, verdict=Verdict.ENDED, until=life.clock.now() + wrong)


def test_what_ended_and_is_called_true_again_is_found_again(life):
    one = life.tell("Ada lives in Rome")
    life.judge(one, verdict=Verdict.ENDED)
    life.judge(one, verdict=Verdict.TRUE)
    assert life.found("Ada") == {"Ada lives in Rome"}


def test_an_assistants_words_after_a_persons_verdict_do_not_inherit_it(life):
    one = life.tell("Ada lives in Rome")
    life.judge(one, verdict=Verdict.ENDED)
    new = life.service.update(ASSISTANT, UpdateRequest(id=one, content="Ada lived in Rome, Italy")).id
    assert life[new].verdict is Verdict.ENDED  # it ended in whatever words
    other = life.tell("Ada has a dog")
    life.judge(other, verdict=Verdict.TRUE)
    disputing = life.service.update(ASSISTANT, UpdateRequest(id=other, content="Ada has a cat")).id
    assert (life[disputing].verdict, life[disputing].disputes) == (None, other)


def test_an_insight_tells_that_its_evidence_was_called_untrue(life):
    one = life.tell("Ada lives in Rome")
    (insight,) = life.service.store_insights(ASSISTANT, [Insight(text="Ada is Italian", evidence=(one,))])
    life.judge(one, verdict=Verdict.UNTRUE)
    (hit,) = life.service.read(PERSON, ReadRequest(ids=(insight,))).hits
    assert hit.evidence_forgotten == 1


def test_everything_is_audited_as_the_persons(life):
    one = life.tell("Ada has a dog and a cat")
    life.acts.split(PERSON, SplitRequest(one, ("Ada has a dog", "Ada has a cat")))
    entry = life.store.history("default", [one])[-1]
    assert (entry.actor, entry.action) == ("person (page)", "split")


def all_of(life):
    """Return each memory without what an undo leaves to the rules of attention."""
    ids = [one for batch in life.store.snapshot("default").batches for one in map(bytes.decode, batch.ids.tolist())]
    return {one.id: replace(one, rev=0, tier=Tier.FADED) for one in life.store.get("default", ids).values()}


def acts_on(life, ids):
    """Return all acts on two memories, each as something to be called."""
    first, second = ids
    person = PERSON
    acts = life.acts
    return {
        "edit": lambda: acts.edit(person, UpdateRequest(id=first, content="other words")),
        "rate": lambda: acts.edit(person, UpdateRequest(id=first, importance=0.1, tags=("new",))),
        "pin": lambda: acts.pin(person, ids),
        "forget": lambda: acts.forget(person, ids),
        "merge": lambda: acts.merge(person, MergeRequest(tuple(ids), "both in one")),
        "split": lambda: acts.split(person, SplitRequest(second, ("one half", "the other half"))),
        "true": lambda: acts.judge(person, JudgeRequest(tuple(ids), Verdict.TRUE)),
        "untrue": lambda: acts.judge(person, JudgeRequest(tuple(ids), Verdict.UNTRUE)),
        "ended": lambda: acts.judge(person, JudgeRequest(tuple(ids), Verdict.ENDED)),
    }


NAMES = ["edit", "rate", "pin", "forget", "merge", "split", "true", "untrue", "ended"]


@pytest.mark.parametrize("name", NAMES)
def test_an_undo_sets_everything_back_and_a_second_one_does_it_again(life, name):
    ids = [life.tell("Ada has a dog", origin=Origin.USER), life.tell("Ada has a cat", origin=Origin.TOOL)]
    before = all_of(life)
    done = acts_on(life, ids)[name]()
    after = all_of(life)
    undone = life.undo(done)
    found = all_of(life)
    assert {id_: found[id_] for id_ in before} == before
    assert all(found[id_].forgotten_at is not None for id_ in found.keys() - before.keys())
    life.undo(undone)
    assert all_of(life) == after


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=4),
    st.lists(st.sampled_from(Origin), min_size=2, max_size=2),
    st.booleans(),
)
def test_acts_undone_in_turn_leave_what_was_there(names, origins, disputed):
    clock = FakeClock()
    life = Life(MemoryStore(clock), clock)
    first = life.tell("Ada has a dog", origin=origins[0])
    ids = [first, life.tell("Ada has a cat", origin=origins[1], supersedes=first if disputed else None)]
    before, done = all_of(life), []
    for name in names:
        try:
            done.append(acts_on(life, ids)[name]())
        except (NotFound, InvalidInput):
            continue  # it was forgotten or replaced before
    for one in reversed([each for each in done if each.undo is not None]):
        life.undo(one)
    found = all_of(life)
    assert {id_: found[id_] for id_ in before} == before
    assert life.current == {one.content for one in before.values() if one.superseded_by is None}


def test_what_was_changed_since_is_not_undone(life):
    one = life.tell("Ada lives in Rome")
    pinned = life.acts.pin(PERSON, [one])
    life.service.update(ASSISTANT, UpdateRequest(id=one, content="Ada lives in Oslo"))
    with pytest.raises(ChangedSince, match=one):
        life.undo(pinned)
    assert life[one].pinned


def test_other_fields_may_change_meanwhile(life):
    one = life.tell("Ada lives in Rome")
    pinned = life.acts.pin(PERSON, [one])
    life.acts.edit(PERSON, UpdateRequest(id=one, tags=("home",)))
    life.undo(pinned)
    assert (life[one].pinned, life[one].tags) == (False, ("home",))


def test_nothing_is_undone_twice(life):
    done = life.acts.forget(PERSON, [life.tell("Ada lives in Rome")])
    life.undo(done)
    with pytest.raises(NotFound, match="cannot be undone any more"):
        life.undo(done)


def test_what_changes_nothing_needs_no_undo(life):
    one = life.tell("Ada lives in Rome")
    life.acts.pin(PERSON, [one])
    again = life.acts.pin(PERSON, [one])
    assert (again.undo, again.unchanged) == (None, (one,))


def test_a_task_does_not_come_back_beside_the_one_that_has_its_key_by_now(life):
    task = life.tell("step 1", key="step", memory_type=MemoryType.WORKING)
    done = life.acts.forget(PERSON, [task])
    life.tell("step 2", key="step", memory_type=MemoryType.WORKING)
    with pytest.raises(ChangedSince, match="key"):
        life.undo(done)


@pytest.mark.parametrize("name", ["edit", "forget", "merge", "untrue", "ended"])
@pytest.mark.parametrize("acted_on", [Origin.TOOL, Origin.USER])
def test_what_stood_beside_another_under_one_key_does_so_again(life, name, acted_on):
    ids = {
        origin: life.tell(f"step of {origin}", key="step", memory_type=MemoryType.WORKING, origin=origin)
        for origin in (Origin.USER, Origin.TOOL)
    }
    other = life.tell("Ada rows")
    before = life.current
    life.undo(acts_on(life, [ids[acted_on], other])[name]())
    assert life.current == before


@pytest.mark.parametrize("name", ["edit", "merge"])
def test_a_persons_words_for_a_tools_take_the_place_of_what_a_person_keeps_under_the_key(life, name):
    task = {"key": "step", "memory_type": MemoryType.WORKING}
    life.tell("step 1", **task)
    other = life.tell("step 3", origin=Origin.TOOL, memory_type=MemoryType.WORKING)
    tools = life.tell("step 2", origin=Origin.TOOL, **task)
    before = life.current
    done = acts_on(life, [tools, other])[name]()
    assert {life[one].content for one in done.ids} == {one for one in life.current if one != "step 3"}
    life.undo(done)
    assert life.current == before


def test_a_task_that_is_corrected_from_the_terminal_is_the_only_one_of_its_key(life):
    task = {"key": "step", "memory_type": MemoryType.WORKING}
    life.tell("step 1", **task)
    tools = life.tell("step 2", origin=Origin.TOOL, **task)
    life.service.update(PERSON, UpdateRequest(id=tools, content="step 3", origin=Origin.USER))
    assert life.current == {"step 3"}


def test_what_was_merged_does_not_come_back_beside_the_one_that_has_its_key_by_now(life):
    task = life.tell("step 1", key="step", memory_type=MemoryType.WORKING)
    merged = life.acts.merge(PERSON, MergeRequest((task, life.tell("Ada rows")), "Ada rows at step 1")).ids[0]
    newer = life.tell("step 2", key="step", memory_type=MemoryType.WORKING)
    done = life.judge(merged, verdict=Verdict.UNTRUE)
    assert (done.held, life.current) == ({task: newer}, {"step 2", "Ada rows"})


@pytest.mark.parametrize("name", ["untrue", "forget"])
def test_a_first_version_does_not_come_back_beside_the_newest_that_has_its_key(life, name):
    task = {"key": "step", "memory_type": MemoryType.WORKING}
    first, second = life.tell("step 1", origin=Origin.USER, **task), life.tell("step 2", **task)
    third = life.tell("step 3", **task)
    done = acts_on(life, [second, second])[name]()
    assert (done.held, life.current) == ({first: third}, {"step 3"})


def test_what_ended_does_not_come_back_beside_the_one_that_has_its_key_by_now(life):
    task = life.tell("step 1", key="step", memory_type=MemoryType.WORKING)
    done = life.judge(task, verdict=Verdict.ENDED)
    life.tell("step 2", key="step", memory_type=MemoryType.WORKING)
    with pytest.raises(ChangedSince, match="key"):
        life.undo(done)


def test_a_part_that_is_brought_back_does_not_bring_back_the_whole_beside_it(life):
    whole = life.tell("Ada sails and rows")
    first = life.acts.split(PERSON, SplitRequest(whole, ("Ada sails", "Ada rows")))
    life.undo(first)
    second = life.acts.split(PERSON, SplitRequest(whole, ("Ada sails far", "Ada rows far")))
    life.acts.forget(PERSON, second.ids)
    life.acts.restore(PERSON, first.ids[:1])
    assert life.current == {"Ada sails"}


def test_the_whole_does_not_come_back_beside_a_part_of_it(life):
    whole = life.tell("Ada sails and rows")
    first, second = life.acts.split(PERSON, SplitRequest(whole, ("Ada sails", "Ada rows"))).ids
    life.acts.forget(PERSON, [first])
    done = life.acts.restore(PERSON, [whole])
    assert (done.held, life.current) == ({whole: second}, {"Ada rows"})


def test_the_whole_does_not_come_back_for_an_assistant_beside_a_part_of_it(life):
    whole = life.tell("Ada sails and rows")
    first, second = life.acts.split(PERSON, SplitRequest(whole, ("Ada sails", "Ada rows"))).ids
    life.acts.forget(PERSON, [first])
    done = life.service.forget(ASSISTANT, ForgetRequest(ids=(whole,), restore=True))
    assert done.held == {whole: second}


def test_the_whole_comes_back_when_all_of_its_parts_are_forgotten(life):
    whole = life.tell("Ada sails and rows")
    life.acts.forget(PERSON, life.acts.split(PERSON, SplitRequest(whole, ("Ada sails", "Ada rows"))).ids)
    life.acts.restore(PERSON, [whole])
    assert life.current == {"Ada sails and rows"}


@pytest.mark.parametrize("origin", [Origin.USER, Origin.AGENT])
@pytest.mark.parametrize("first", [0, 1])
def test_versions_that_are_brought_back_in_turn_do_not_stand_beside_each_other(life, origin, first):
    older = life.tell("Ada lives in Rome", origin=Origin.USER)
    newer = life.tell("Ada lives in Oslo", supersedes=older, origin=origin)
    life.acts.forget(PERSON, [newer])
    life.acts.restore(PERSON, [older])
    life.acts.forget(PERSON, [older])
    for one in ((older, newer), (newer, older))[first]:
        life.acts.restore(PERSON, [one])
    assert life.current == {"Ada lives in Oslo"}


def test_the_version_before_takes_the_place_in_attention_of_the_one_that_is_undone(life):
    one = life.tell("Ada lives in Rome")
    tier = life[one].tier
    done = life.acts.edit(PERSON, UpdateRequest(id=one, content="Ada lives in Oslo"))
    life.undo(done)
    assert life[one].tier is tier


def test_an_act_on_a_persons_and_a_projects_memory_is_one_and_is_undone_as_one(life):
    both = replace(PERSON, namespace="project", personal="default")
    ids = [life.tell("Ada lives in Rome"), life.service.write(both, WriteRequest(content="the project is green")).id]
    done = life.acts.forget(both, ids)
    assert {one.namespace for one in life.acts.recent(both)} == {"default", "project"}
    assert set(life.acts.undo(both, done.undo).ids) == set(ids)


def test_memories_of_two_places_are_not_merged(life):
    both = replace(PERSON, namespace="project", personal="default")
    ids = (life.tell("Ada lives in Rome"), life.service.write(both, WriteRequest(content="the project is green")).id)
    with pytest.raises(InvalidInput, match="project"):
        life.acts.merge(both, MergeRequest(ids, "both"))


def test_recent_acts_are_told_with_who_and_what(life):
    one = life.tell("Ada lives in Rome")
    life.acts.pin(PERSON, [one])
    (act,) = life.acts.recent(PERSON)
    assert (act.action, act.actor, act.ids) == ("pin", "person (page)", (one,))


@pytest.mark.slow
def test_a_file_keeps_what_undoes_an_act_when_it_is_opened_again(kept, tmp_path):
    one = kept.tell("Ada lives in Rome")
    done = kept.judge(one, verdict=Verdict.UNTRUE)
    kept.service.close()
    again = Life(DuckStore.open(tmp_path / "memory.duckdb", kept.clock), kept.clock)
    try:
        again.undo(done)
        assert again.found("Ada") == {"Ada lives in Rome"}
        assert again[one].verdict is None
    finally:
        again.service.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_file_undoes_as_a_store_in_memory_does(kept, name):
    ids = [kept.tell("Ada has a dog", origin=Origin.USER), kept.tell("Ada has a cat", origin=Origin.TOOL)]
    before = all_of(kept)
    kept.undo(acts_on(kept, ids)[name]())
    found = all_of(kept)
    assert {id_: found[id_] for id_ in before} == before


def test_both_stores_keep_so_many_acts_and_no_more(life, monkeypatch):
    monkeypatch.setattr("hybrid_memory.store.memory.data.KEPT_UNDOS", 3)
    one = life.tell("Ada lives in Rome")
    for at in range(5):
        life.acts.pin(PERSON, [one], pinned=at % 2 == 0)
    assert len(life.acts.recent(PERSON, limit=KEPT_UNDOS)) == 3


@pytest.mark.slow
def test_a_file_lets_old_acts_go(kept, monkeypatch):
    monkeypatch.setattr("hybrid_memory.store.duck.write_transaction.KEPT_UNDOS", 3)
    monkeypatch.setattr("hybrid_memory.store.duck.write_transaction.SPARE_UNDOS", 1)
    one = kept.tell("Ada lives in Rome")
    for at in range(8):
        kept.acts.pin(PERSON, [one], pinned=at % 2 == 0)
    assert 3 <= len(kept.acts.recent(PERSON, limit=100)) <= 4


@pytest.mark.slow
def test_a_purge_takes_what_undoes_acts_along(kept, tmp_path):
    from hybrid_memory.admin.purge import purge
    from hybrid_memory.store.store_file import file_eraser
    from hybrid_memory.store.transfer import PurgeSelection

    one, other = kept.tell("Ada lives in Rome"), kept.tell("Bo lives in Oslo")
    kept.acts.pin(PERSON, [one, other])
    kept.acts.pin(PERSON, [other], pinned=False)
    kept.service.close()
    purge(
        file_eraser(tmp_path),
        PurgeSelection(namespace="default", ids=(one,)),
        kept.clock.now(),
        actor="command line",
        count=1,
    )
    again = Life(DuckStore.open(tmp_path / "memory.duckdb", kept.clock), kept.clock)
    try:
        assert [act.ids for act in again.acts.recent(PERSON)] == [(other,)]
    finally:
        again.service.close()


def test_a_forgetting_by_the_assistant_is_undone_by_a_restore_as_ever(life):
    one = life.tell("Ada lives in Rome")
    life.service.forget(ASSISTANT, ForgetRequest(ids=(one,)))
    assert life.acts.restore(PERSON, [one]).ids == (one,)
