"""A table of cases in one test hides no case that fails."""

import inspect

import pytest
from tests.tables import each


def test_all_cases_have_their_turn_and_those_that_fail_are_named():
    tried = []

    @each("word, length", [("one", 3), ("two", 4), ("three", 4), ("four", 4)])
    def test(word, length):
        tried.append(word)
        assert len(word) == length

    with pytest.raises(ExceptionGroup) as failed:
        test()
    assert tried == ["one", "two", "three", "four"]
    assert [error.__notes__ for error in failed.value.exceptions] == [
        ["in the case 'two', 4"],
        ["in the case 'three', 4"],
    ]


def test_what_the_table_does_not_give_is_a_fixture():
    @each("word", ["one", "two"])
    def test(word, folder):
        assert folder == "here"

    assert list(inspect.signature(test).parameters) == ["folder"]
    test(folder="here")


def test_a_case_with_too_few_values_fails():
    @each("word, length", [("one",)])
    def test(word, length): ...

    with pytest.raises(ExceptionGroup):
        test()


def test_a_table_without_cases_is_refused():
    with pytest.raises(ValueError, match="without cases"):
        each("word", [])
