import pytest
from benchmarks.capture import TURNS, count, read


@pytest.mark.parametrize("name", ["dev.txt", "check.txt"])
def test_of_what_rules_keep_nine_in_ten_are_worth_it_and_most_that_is_worth_it_is_kept(name):
    found = count(list(read(TURNS / name)))["en"]

    assert found.precision >= 0.9
    assert found.recall >= 0.6


@pytest.mark.parametrize(("name", "precision"), [("dev.txt", 0.75), ("check.txt", 0.7), ("others.txt", 0.75)])
def test_of_a_history_nine_in_ten_facts_come_in_and_three_in_ten_are_junk_at_most(name, precision):
    found = count(list(read(TURNS / name)), history=True)["all"]

    assert found.precision >= precision
    assert found.recall >= 0.9
