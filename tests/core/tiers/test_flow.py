from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory.model import MemoryId, Tier
from hybrid_memory.tiers.buffers import Buffers, Item, ShortTermRules
from hybrid_memory.tiers.flow import FlowRules, admit, end_session, recall, repeat, with_new_version, without_memories


@dataclass
class Facts:
    """Everything is alike as ``cosine`` says, and every draw succeeds."""

    cosine: float = 0.0
    used: dict = field(default_factory=dict)
    pins: set = field(default_factory=set)
    decided: bool = False

    def similarity(self, *_):
        return self.cosine

    def draw(self, *_):
        return 0.0

    def uses(self, memory_id):
        return self.used.get(memory_id, 0)

    def pinned(self, memory_id):
        return memory_id in self.pins

    def is_decided(self, _):
        return self.decided


def item(number, importance=0.4):
    return Item(MemoryId(f"m{number}"), "", importance)


def live(buffers):
    return [one.id for one in buffers.sensory] + [held.item.id for held in buffers.short_term]


def play(items, facts, rules):
    buffers, tiers = Buffers(), {}
    for one in items:
        step = admit(buffers, one, facts, rules)
        buffers = step.buffers
        tiers[one.id] = Tier.SENSORY
        tiers.update({move.id: move.after for move in step.moved})
    return buffers, tiers


def test_an_observation_waits_in_the_sensory_buffer():
    step = admit(Buffers(), item(1), Facts(), FlowRules())
    assert (step.moved, live(step.buffers)) == ((), ["m1"])


def test_a_full_sensory_buffer_passes_everything_on():
    buffers, tiers = play([item(n) for n in range(5)], Facts(), FlowRules(sensory_buffer=4))
    assert set(tiers.values()) == {Tier.SHORT_TERM}
    assert buffers.sensory == ()


def test_what_is_below_the_threshold_fades_instead_of_vanishing():
    _, tiers = play([item(1, 0.05)], Facts(), FlowRules(sensory_buffer=0))
    assert tiers == {"m1": Tier.FADED}


def test_a_full_short_term_buffer_lets_the_least_important_fade():
    rules = FlowRules(sensory_buffer=0, short_term=ShortTermRules(buffer_size=2))
    _, tiers = play([item(1, 0.3), item(2, 0.2), item(3, 0.5)], Facts(), rules)
    assert tiers == {"m1": Tier.SHORT_TERM, "m2": Tier.FADED, "m3": Tier.SHORT_TERM}


def test_what_earned_it_goes_to_long_term_when_it_must_leave():
    rules = FlowRules(sensory_buffer=0, short_term=ShortTermRules(buffer_size=1))
    _, important = play([item(1, 0.8), item(2, 0.9)], Facts(), rules)
    _, used = play([item(1), item(2)], Facts(used={"m1": 2}), rules)
    _, pinned = play([item(1), item(2)], Facts(pins={"m1"}), rules)
    assert [tiers["m1"] for tiers in (important, used, pinned)] == [Tier.LONG_TERM] * 3


def test_what_somebody_decided_to_keep_does_not_fade():
    rules = FlowRules(sensory_buffer=0, short_term=ShortTermRules(buffer_size=1))
    _, tiers = play([item(1), item(2)], Facts(decided=True), rules)
    assert tiers["m1"] is Tier.LONG_TERM


def test_what_weighs_nothing_fades_though_somebody_decided_to_keep_it():
    _, tiers = play([item(1, 0.05)], Facts(decided=True), FlowRules(sensory_buffer=0))
    assert tiers == {"m1": Tier.FADED}


def test_enough_enhancement_moves_the_head_with_its_members():
    rules = FlowRules(sensory_buffer=0)
    buffers = Buffers()
    for number in range(4):
        step = admit(buffers, item(number), Facts(cosine=1.0), rules)
        buffers = step.buffers
    (move,) = [move for move in step.moved if move.after is Tier.LONG_TERM]
    assert (move.id, move.members) == ("m0", ("m1", "m2", "m3"))


def test_a_repetition_is_counted_for_certain():
    rules = FlowRules(sensory_buffer=0, short_term=ShortTermRules(enhance_threshold=1))
    buffers = admit(Buffers(), item(1), Facts(), rules).buffers
    step = repeat(buffers, item(1), Tier.SHORT_TERM, Facts(), rules)
    assert [(move.id, move.after) for move in step.moved] == [("m1", Tier.LONG_TERM)]


def test_a_repetition_draws_a_sensory_memory_into_short_term():
    buffers = admit(Buffers(), item(1), Facts(), FlowRules()).buffers
    step = repeat(buffers, item(1), Tier.SENSORY, Facts(), FlowRules())
    assert step.buffers.sensory == ()
    assert [held.count for held in step.buffers.short_term] == [1]


def test_a_recalled_memory_enhances_but_is_not_taken_in():
    rules = FlowRules(sensory_buffer=0)
    buffers = admit(Buffers(), item(1), Facts(), rules).buffers
    step = recall(buffers, item(9), Tier.LONG_TERM, Facts(cosine=1.0), rules)
    assert live(step.buffers) == ["m1"]
    assert step.buffers.short_term[0].count == 1


def test_a_faded_memory_comes_back_when_it_was_used_often_enough():
    step = recall(Buffers(), item(1), Tier.FADED, Facts(used={"m1": 2}), FlowRules())
    assert [(move.id, move.after) for move in step.moved] == [("m1", Tier.LONG_TERM)]


def test_the_end_of_a_session_empties_the_buffers():
    buffers, _ = play([item(n) for n in range(8)], Facts(), FlowRules())
    step = end_session(buffers, Facts(), FlowRules())
    assert step.buffers == Buffers()
    assert {move.after for move in step.moved} == {Tier.FADED}


def test_a_memory_that_leaves_is_no_enhancer_any_more():
    rules = FlowRules(sensory_buffer=0)
    buffers, _ = play([item(1), item(2)], Facts(cosine=1.0), rules)
    assert buffers.short_term[0].count == 1
    assert without_memories(buffers, {MemoryId("m2")}).short_term[0].count == 0


def test_a_new_version_takes_the_place_of_the_old_one():
    buffers, _ = play([item(n) for n in range(6)], Facts(), FlowRules())
    changed = with_new_version(buffers, MemoryId("m1"), item(77))
    assert MemoryId("m77") in live(changed)
    assert MemoryId("m1") not in live(changed)


@given(
    importances=st.lists(st.floats(0, 1), max_size=60),
    cosine=st.floats(-1, 1),
    sensory=st.integers(0, 6),
    size=st.integers(0, 6),
)
def test_nothing_disappears_and_no_buffer_overflows(importances, cosine, sensory, size):
    rules = FlowRules(sensory_buffer=sensory, short_term=ShortTermRules(buffer_size=size))
    items = [item(number, importance) for number, importance in enumerate(importances)]
    buffers, tiers = play(items, Facts(cosine=cosine), rules)
    assert set(tiers) == {one.id for one in items}
    assert len(buffers.sensory) <= sensory
    assert len(buffers.short_term) <= size
    assert [one.id for one in buffers.sensory] == [i for i, tier in tiers.items() if tier is Tier.SENSORY]
    held = {held.item.id for held in buffers.short_term}
    assert held == {i for i, tier in tiers.items() if tier is Tier.SHORT_TERM}
