"""What a regular expression needs is true of each of its matches, so that looking for it first changes no result."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from hybrid_memory.lazy_pattern import LazyPattern
from hybrid_memory.pattern_needs import first_characters, needed_texts

TURNS = Path(__file__).parents[2] / "benchmarks" / "capture_turns" / "others.txt"


@pytest.mark.parametrize(
    ("source", "first", "texts"),
    [
        ("abc", "a", ("abc",)),
        ("(?:ab|cd)e", "ac", ("abe", "cde")),
        (r"\bmy (?:dog|cat)s?\b", "m", ("my ",)),
        ("a?bc", "ab", ("bc",)),
        ("(?!a)b+c{2}", "b", ("b",)),
        ("[xy]z", "xy", ("xz", "yz")),
        ("(?P<who>i|we) (?:like|love)", "iw", ("i l", "we l")),
        ("(?=.{0,9}day)on .*", "o", ("on ",)),
    ],
)
def test_an_expression_says_how_it_begins_and_what_it_holds(source, first, texts):
    assert first_characters(source) == frozenset(first)
    assert set(needed_texts(source) or ()) == set(texts)


@pytest.mark.parametrize(
    "source", ["a*", "(?:ab|)", r"\w+", ".x", "[^a]b", "(?i)abc", "(?i:a)bc", r"()\1abc", "(?:a|\\d)"]
)
def test_nothing_is_said_of_the_beginning_where_it_may_be_anything(source):
    assert first_characters(source) is None


@pytest.mark.parametrize("source", ["a*", "(?:abc)?", r"\w+", "(?i)abc", "(?:abc|.)"])
def test_no_text_is_needed_where_a_match_may_do_without(source):
    assert needed_texts(source) is None


def test_what_is_no_expression_says_nothing():
    assert first_characters("(") is None
    assert needed_texts("(") is None


def test_capitals_by_a_flag_say_nothing():
    assert first_characters("abc", re.IGNORECASE) is None
    assert needed_texts("abc", re.IGNORECASE) is None


def _patterns() -> list[LazyPattern]:
    names = (
        "english",
        "foreign",
        "refusals",
        "replacing",
        "telling_words",
        "sentences",
        "own_words",
        "frames",
        "statements",
    )
    found: dict[int, LazyPattern] = {}
    for name in names:
        waiting = list(vars(import_module(f"hybrid_memory.capture.{name}")).values())
        while waiting:
            one = waiting.pop()
            if isinstance(one, LazyPattern):
                found[id(one)] = one
            elif isinstance(one, tuple):
                waiting += one
            elif hasattr(one, "pattern"):
                waiting.append(one.pattern)
    return list(found.values())


@pytest.mark.slow
def test_the_rules_of_capture_find_the_same_as_without_what_they_need():
    texts = [line.lower() for line in TURNS.read_text("utf-8").splitlines()[::5]]
    texts += [text[at + 1 :] for text in texts for at in range(0, len(text), 25)] + [""]
    for pattern in _patterns():
        source, flags = pattern.compiled.pattern, pattern.compiled.flags
        first, needed = first_characters(source, flags), needed_texts(source, flags)
        for text in texts:
            begun, held = pattern.compiled.match(text), pattern.compiled.search(text)
            assert begun is None or first is None or text[:1] in first
            assert held is None or needed is None or any(one in text for one in needed)


def test_a_pattern_that_is_used_often_finds_the_same():
    pattern = LazyPattern("(?:so )?my (?:dog|cat)")
    found = [
        (pattern.match(text) is None, pattern.search(text) is None, pattern.fullmatch(text) is None)
        for _ in range(300)
        for text in ("my cat is old", "see my dog", "my cat", "what a day", "")
    ]
    assert pattern.first == frozenset("sm")
    assert set(map(tuple, zip(*[iter(found)] * 5, strict=True))) == {
        ((False, False, True), (True, False, True), (False, False, False), (True, True, True), (True, True, True))
    }
