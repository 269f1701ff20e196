"""What a person did on one machine is so on the other, an undo too."""

import pytest
from tests.sync.machines import Machine

from hybrid_memory.model import Trust, Verdict
from hybrid_memory.requests import JudgeRequest, MergeRequest, ReadRequest, SplitRequest, UpdateRequest


@pytest.fixture
def two(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    machines = Machine(tmp_path / "m1", 1), Machine(tmp_path / "m2", 2)

    def meet():
        for one in (*machines, *machines):
            one.sync(folder)
        assert machines[0].export() == machines[1].export()

    yield (*machines, meet)
    for one in machines:
        one.discard()


def found(machine):
    return {hit.memory.content for hit in machine.service.read(machine.scope(), ReadRequest(limit=100)).hits}


@pytest.mark.slow
def test_the_parts_of_a_split_memory_are_all_current_on_the_other_machine(two):
    one, other, meet = two
    whole = one.write("Ada has a dog and a cat")
    one.service.acts.split(one.scope(), SplitRequest(whole, ("Ada has a dog", "Ada has a cat")))
    meet()
    assert found(other) == {"Ada has a dog", "Ada has a cat"}


@pytest.mark.slow
def test_a_merged_text_replaces_all_that_it_is_made_of(two):
    one, other, meet = two
    ids = (one.write("Ada has a dog"), one.write("Ada has a cat"))
    meet()
    one.service.acts.merge(one.scope(), MergeRequest(ids, "Ada has a dog and a cat"))
    meet()
    assert found(other) == {"Ada has a dog and a cat"}


@pytest.mark.slow
def test_a_verdict_and_its_undo_travel(two):
    one, other, meet = two
    ids = [one.write("Ada has a dog"), one.write("Ada has a cat")]
    true = one.service.acts.judge(one.scope(), JudgeRequest((ids[0],), Verdict.TRUE))
    one.service.acts.judge(one.scope(), JudgeRequest((ids[1],), Verdict.UNTRUE))
    meet()
    assert (other.get(ids[0]).trust, other.get(ids[1]).verdict) == (Trust.CONFIRMED, Verdict.UNTRUE)
    one.clock.advance(seconds=1)
    one.service.acts.undo(one.scope(), true.undo)
    meet()
    assert (other.get(ids[0]).trust, other.get(ids[0]).verdict) == (Trust.AGENT, None)


@pytest.mark.slow
def test_an_undone_edit_is_undone_on_the_other_machine(two):
    one, other, meet = two
    old = one.write("Ada lives in Rome")
    done = one.service.acts.edit(one.scope(), UpdateRequest(id=old, content="Ada lives in Oslo"))
    meet()
    one.clock.advance(seconds=1)
    one.service.acts.undo(one.scope(), done.undo)
    meet()
    assert found(other) == {"Ada lives in Rome"}


@pytest.mark.slow
def test_what_another_machine_changed_since_is_not_undone(two):
    from hybrid_memory.errors import ChangedSince

    one, other, meet = two
    old = one.write("Ada lives in Rome")
    meet()
    done = one.service.acts.pin(one.scope(), [old])
    meet()
    other.forget(old)
    meet()
    with pytest.raises(ChangedSince):
        one.service.acts.undo(one.scope(), done.undo)
