"""When a text says something, and when a call is the one that a test expects."""

import functools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory_testing.matching import fits, says

SAID = [
    ("I am allergic to peanuts.", "peanuts"),
    ("I am allergic to peanuts.", "Allergic to PEANUTS"),
    ("The user has a peanut allergy.", "peanuts"),
    ("Ann's café is in Straßburg", "cafe"),
    ("We write C++, not C", "C++"),
    ("mail ada@example.org", "ada@example.org"),
    ("我对花生过敏", "花生"),
    ("我对花生过敏", "花"),
    ("party 🥳 on Friday", "🥳"),
    ("due on 2026-03-01", "2026-03-01"),
]
NOT_SAID = [
    ("keep these separate", "rat"),
    ("planning the tour", "Ann"),
    ("peanuts make me ill, I am allergic", "allergic to peanuts"),
    ("I write C", "C++"),
    ("mail bob@example.org", "ada@example.org"),
    ("", "peanuts"),
]


@each("text, wanted", SAID)
def test_a_text_says_what_stands_in_it(text, wanted):
    assert says(text, wanted)


@each("text, wanted", NOT_SAID)
def test_a_text_does_not_say_what_only_looks_like_it(text, wanted):
    assert not says(text, wanted)


def test_nothing_is_said_by_no_words():
    with pytest.raises(ValueError, match="say which words"):
        says("anything", "  ")


def test_a_regular_expression_is_searched_for():
    assert says("room 12b", re.compile(r"\d+b"))
    assert not says("room 12c", re.compile(r"\d+b"))


@given(st.text(min_size=1).filter(lambda text: text.strip() and text.split()))
def test_every_text_says_itself_and_says_it_among_other_words(text):
    assert says(text, text)
    assert says(f"well , {text} , said she", text)


def test_arguments_that_nobody_mentions_may_be_anything():
    assert fits({"content": "x", "pinned": True}, {})


@each(
    "given_value, expected",
    [
        ({"content": "I am allergic to peanuts."}, {"content": "peanuts"}),
        ({"content": "x"}, {"content": ...}),
        ({"content": "x"}, {"importance": None}),
        ({"content": "x", "importance": None}, {"importance": None}),
        ({"tags": ["a", "b"]}, {"tags": ["a", "b"]}),
        ({"where": {"session": "monday", "tags": ["a"]}}, {"where": {"session": "monday"}}),
        ({"insights": [{"text": "Ada likes tea.", "evidence": ["1"]}]}, {"insights": [{"text": "tea"}]}),
        ({"id": "06dt"}, {"id": re.compile("^06")}),
        ({"importance": 0.8}, {"importance": lambda value: value > 0.5}),
        ({"content": "Ada"}, {"content": str.istitle}),
    ],
)
def test_a_call_fits_what_is_expected(given_value, expected):
    assert fits(given_value, expected)


@each(
    "given_value, expected",
    [
        ({"content": "I like tea."}, {"content": "peanuts"}),
        ({}, {"content": ...}),
        ({"content": None}, {"content": ...}),
        ({"importance": 0.2}, {"importance": None}),
        ({"tags": ["a", "b"]}, {"tags": ["a"]}),
        ({"memory_type": "short_term"}, {"memory_type": "term"}),
        ({"where": {"session": "monday"}}, {"where": {"session": "tuesday"}}),
        ({"where": "monday"}, {"where": {"session": "monday"}}),
        ({}, {"importance": lambda value: value > 0.5}),
        ({"content": 7}, {"content": "7"}),
    ],
)
def test_a_call_does_not_fit_what_differs(given_value, expected):
    assert not fits(given_value, expected)


def test_a_value_that_compares_itself_is_asked():
    class Anything:
        def __eq__(self, other):
            return True

        __hash__ = None

    assert fits({"id": "x"}, {"id": Anything()})
    assert not fits({"id": "x"}, {"id": functools.partial(str.startswith)})
