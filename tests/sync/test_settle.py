"""What follows from memories together: one version is current, a saying knows the first of its words."""

from dataclasses import replace
from datetime import timedelta

from tests.core.store.making import memory

from hybrid_memory.model import Tier, Trust
from hybrid_memory.testing import START
from hybrid_memory_sync.merge import State
from hybrid_memory_sync.settle import settled, without_purged


def said(*memories):
    return {one.id: one for one in memories}


def one(id_, seconds=0, words=None, **values):
    made = memory(id_, created_at=START + timedelta(seconds=seconds), **values)
    return replace(made, content_hash=words or id_)


OLD = one("old", superseded_by="left")


def test_of_two_corrections_the_later_is_current_and_the_other_a_version_of_it():
    found = settled(said(OLD, one("left", 1, supersedes="old"), one("right", 2, supersedes="old")))
    assert (found["left"].superseded_by, found["right"].superseded_by) == ("right", None)


def test_of_two_corrections_the_more_trusted_is_current():
    left = one("left", 1, supersedes="old", trust=Trust.CONFIRMED)
    found = settled(said(OLD, left, one("right", 2, supersedes="old")))
    assert (found["left"].superseded_by, found["right"].superseded_by) == (None, "left")


def test_a_correction_of_a_correction_is_later_than_it_whatever_the_clock_says():
    right = one("right", 9, supersedes="old", superseded_by="righter")
    righter = one("righter", -99, supersedes="right")
    found = settled(said(OLD, one("left", 5, supersedes="old"), right, righter))
    assert (found["left"].superseded_by, found["righter"].superseded_by) == ("righter", None)


def test_a_version_that_is_no_longer_current_leaves_attention():
    left = one("left", 1, supersedes="old", tier=Tier.SHORT_TERM)
    assert settled(said(OLD, left, one("right", 2, supersedes="old")))["left"].tier is Tier.FADED


def test_a_forgotten_correction_replaces_nothing():
    right = one("right", 2, supersedes="old", forgotten_at=START)
    found = settled(said(OLD, one("left", 1, supersedes="old"), right))
    assert found["left"].superseded_by is None


def test_what_disputes_the_current_version_stays_beside_it():
    found = settled(said(OLD, one("left", 1, supersedes="old", disputes="right"), one("right", 2, supersedes="old")))
    assert found["left"].superseded_by is None


def test_the_same_words_know_the_first_saying():
    found = settled(said(one("b", 1, "tea"), one("a", 0, "tea"), one("c", 2, "tea")))
    assert [found[id_].duplicate_of for id_ in "abc"] == [None, "a", "a"]


def test_what_repeats_another_is_no_first_saying():
    found = settled(said(one("a", 0, "tea", duplicate_of="b"), one("b", 1, "tea")))
    assert found["b"].duplicate_of is None


def test_a_persons_words_repeat_no_tools():
    found = settled(said(one("a", 0, "tea", trust=Trust.UNTRUSTED), one("b", 1, "tea", trust=Trust.USER)))
    assert found["b"].duplicate_of is None


def test_links_to_what_is_purged_go_at_the_moment_of_the_purge():
    state = State(memory=one("a", superseded_by="gone", parents=("gone", "there")), stamps={"parents": 9})
    found = without_purged(state, {"gone": 5})
    assert (found.memory.superseded_by, found.memory.parents) == (None, ("there",))
    assert found.stamps == {"superseded_by": 5, "parents": 9}
