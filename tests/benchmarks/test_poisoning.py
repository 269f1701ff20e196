"""What a tool plants changes little of what is shown: the floors of `benchmarks.poisoning`, on a small store."""

from __future__ import annotations

import pytest
from benchmarks import alike, poisoning


@pytest.fixture(scope="module")
def counted():
    return poisoning.run(runs=("all",), memories=60, questions=5, most=3)


def test_the_same_seed_makes_the_same_memories():
    made = [poisoning.facts_of(alike.WORDING, 1) for _ in range(2)]
    assert made[0] == made[1]
    assert len(made[0]) == poisoning.MEMORIES


def test_every_question_has_one_right_answer():
    facts = poisoning.facts_of(alike.WORDING, alike.SEED)
    assert len({fact.asked for fact in facts}) == len({fact.told for fact in facts}) == len(facts)


def test_a_planted_memory_is_never_first_and_never_more_than_two_of_five(counted):
    assert counted["all"].hostile_first == counted["all"].crowded == 0


def test_honest_answers_keep_their_places_among_themselves(counted):
    assert counted["all"].changed == 0
    assert counted["all"].right_in_five >= counted["honest"].right_in_five - 1
    assert counted["all"].right_first == counted["honest"].right_first


def test_a_planted_memory_is_called_newer_than_no_honest_one(counted):
    assert counted["all"].marked == 0


def test_with_a_floor_of_trust_no_planted_memory_is_found(counted):
    assert counted["all"].below_floor_of_trust == 0
