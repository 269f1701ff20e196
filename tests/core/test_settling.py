"""What a judge decides about memories is done in one act: as far as trust allows, and as far as all is still as the judge saw it."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import Kind, MemoryType, Origin, Scope, Tier
from hybrid_memory.requests import Insight, ReadRequest, SettledChange, Settlement, WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.testing import FakeClock, FakeRandomSource, HashEmbedder
from hybrid_memory.trust import BESIDE_OTHERS

HERE = Scope(session="one", actor="model small-1")
BOTH = Scope(namespace="work", personal="default", session="one", actor="model small-1")


class Life:
    """A service over a store, and short words for what the tests do."""

    def __init__(self):
        self.clock = FakeClock()
        self.service = MemoryService(
            MemoryStore(self.clock), HashEmbedder(8), clock=self.clock, random_source=FakeRandomSource(1)
        )

    def tell(self, content, *, namespace="default", passing=False, **fields):
        self.clock.advance(seconds=1)
        given = {"memory_type": MemoryType.SHORT_TERM if passing else MemoryType.LONG_TERM, "origin": Origin.USER}
        request = WriteRequest(content=content, episode=passing, **given | fields)
        return self.service.write(Scope(namespace=namespace, session="one"), request).id

    def settle(self, *changes, kept=(), scope=HERE):
        pairs = tuple(SettledChange(later, earlier, ends=True) for later, earlier in changes)
        return self.service.acts.settle(scope, Settlement(kept=dict.fromkeys(kept, ("plan",)), changes=pairs))

    def __getitem__(self, one):
        return self.service.revealed(BOTH, [one])[one]


@pytest.fixture
def life():
    return Life()


def test_of_a_chain_the_last_statement_holds(life):
    first, second, third = (life.tell(f"The code is {at}") for at in (1, 2, 3))
    life.settle((third, second), (second, first))
    assert [life[one].superseded_by for one in (first, second, third)] == [second, third, None]


def test_of_two_that_end_each_other_one_is_left(life):
    first, second = life.tell("The code is 1"), life.tell("The code is 2")
    life.settle((first, second), (second, first))
    assert [life[one].superseded_by for one in (first, second)].count(None) == 1


def test_words_that_may_be_somebody_elses_change_nothing(life):
    old = life.tell("The code is 1")
    new = life.tell("The code is 2", source=f"hook:codex{BESIDE_OTHERS}")
    assert life.settle((new, old)).undo is None


def test_what_a_tool_says_is_put_beside_what_a_person_said(life):
    old, new = life.tell("The code is 1"), life.tell("The code is 2", origin=Origin.TOOL)
    life.settle((new, old))
    assert (life[old].superseded_by, life[new].disputes) == (None, old)


@pytest.mark.parametrize("which", ["later", "earlier"])
def test_what_was_said_in_passing_and_is_not_kept_ends_nothing(life, which):
    old, new = life.tell("The code is 1"), life.tell("The code is 2", passing=which == "later")
    life.settle((new, old))
    assert (life[old].superseded_by is None) == (which == "later")


def test_a_statement_of_one_place_changes_nothing_in_another(life):
    old, new = life.tell("The code is 1"), life.tell("The code is 2", namespace="work")
    assert life.settle((new, old), scope=BOTH).undo is None


def test_each_place_has_what_is_decided_about_it_and_one_undo_takes_back_both(life):
    mine, ours = (life.tell("the kiln went cold", passing=True, namespace=one) for one in ("default", "work"))
    done = life.settle(kept=(mine, ours), scope=BOTH)
    assert {life[one].tier for one in (mine, ours)} == {Tier.LONG_TERM}
    life.service.acts.undo(BOTH, done.undo)
    assert all(life[one].is_episode for one in (mine, ours))


def test_an_insight_is_no_statement_that_ends(life):
    sources = (life.tell("Ada is in Rome"), life.tell("Ada is in Paris"))
    (insight,) = life.service.store_insights(HERE, [Insight(text="Ada travels", evidence=sources)])
    new = life.tell("Ada is at home")
    assert life.settle((new, insight)).undo is None


def test_what_is_kept_is_told_unasked_from_then_on(life):
    said = life.tell("my sister fires the kiln", passing=True)
    before = life.service.read(HERE, ReadRequest()).hits
    life.settle(kept=(said,))
    assert (before, [hit.memory.id for hit in life.service.read(HERE, ReadRequest()).hits]) == ((), [said])


def test_nothing_decided_is_no_act(life):
    with pytest.raises(InvalidInput, match="at least one"):
        life.settle()


def test_insights_that_are_an_act_are_undone_as_one(life):
    sources = (life.tell("Ada is in Rome"), life.tell("Ada is in Paris"))
    ids = life.service.store_insights(HERE, [Insight(text="Ada travels", evidence=sources)], as_act=True)
    (act,) = life.service.acts.recent(HERE)
    life.service.acts.undo(HERE, act.undo)
    assert [life[one].forgotten_at is not None for one in ids] == [True]
    assert [life[one].forgotten_at for one in sources] == [None, None]


@given(
    kept=st.sets(st.integers(0, 5)),
    pairs=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.booleans()), max_size=8),
)
def test_whatever_is_decided_nothing_is_lost_and_undo_brings_all_back(kept, pairs):
    life = Life()
    ids = [life.tell(f"The code of door {at} is {at}", passing=at % 2 == 1) for at in range(6)]
    before = {one: life[one] for one in ids}
    changes = tuple(SettledChange(ids[later], ids[earlier], ends) for later, earlier, ends in pairs)
    settlement = Settlement(kept=dict.fromkeys((ids[at] for at in kept), ()), changes=changes)
    if not settlement.ids:
        return
    done = life.service.acts.settle(HERE, settlement)
    for one in ids:  # each that has ended leads to one that holds
        seen = [one]
        while (after := life[seen[-1]].superseded_by) is not None:
            assert after not in seen
            seen.append(after)
        assert all(life[older].superseded_by == newer for older, newer in pairwise(seen))
    if done.undo is not None:
        life.service.acts.undo(HERE, done.undo)
    names = ("superseded_by", "supersedes", "disputes", "tags", "importance", "is_episode", "forgotten_at")
    assert [[getattr(life[one], name) for name in names] for one in ids] == [
        [getattr(before[one], name) for name in names] for one in ids
    ]
    assert {life[one].kind for one in ids} == {Kind.OBSERVATION, Kind.EPISODE}
