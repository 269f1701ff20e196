"""Which words are written as names, and where nobody can tell."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory.language.names import name_entries, undecided
from hybrid_memory.testing import HASHER


def names(text, speaker=None):
    """Return the words of a text that are names, and those that may be."""
    entries = {*name_entries(text, speaker, hasher=HASHER)}
    held = dict.fromkeys(word.strip(".,:;!?()'\"") for word in text.split())
    named = [word for word in held if HASHER.terms(word) and {*HASHER.terms(word)} <= entries]
    unsure = [word for word in held if HASHER.terms(word) and {*map(undecided, HASHER.terms(word))} <= entries]
    return named, unsure


@each(
    "text, named",
    [
        ("We moved the Heron launch.", ["Heron"]),
        ("Ada's dentist is Dr. Keller.", ["Ada's", "Keller"]),
        ("lives in New York with J. Smith", ["New", "York", "J", "Smith"]),
        ("BUG-412 is fixed in src/router.py by api_gateway", ["BUG-412", "src/router.py", "api_gateway"]),
        ("we use JavaScript and iPhone", ["JavaScript", "iPhone"]),
        ("the API is slow; the CI too", ["API", "CI"]),
        ("read README.md at https://example.com/a/b first", ["README.md"]),
        ("ticket 99812 for 2026", ["99812"]),
        ("Who knows? He lives in Bonn. She does not.", ["Bonn"]),
    ],
)
def test_capitals_inside_a_sentence_identifiers_acronyms_and_long_numbers_are_names(text, named):
    assert [word for word in names(text)[0] if "://" not in word] == named


@each(
    "text",
    [
        "I'm away on Friday and in March, and I may be late.",
        "the 14th attempt at 5pm took 20km in the 1990s, 10:30 to 12:45",
        "it was a well-known, state-of-the-art, 3-day and/or check-in thing, e.g. this, i.e. that",
        "nothing at all here",
        "",
    ],
)
def test_calendar_words_measures_and_compounds_are_no_names(text):
    assert name_entries(text, hasher=HASHER) == ()


@each("text", ["Heron: offline", "Dinner is ready.", "- Dinner at eight", "Nothing. Dinner then"])
def test_a_word_that_only_opens_a_sentence_may_be_a_name(text):
    named, unsure = names(text)
    assert named == []
    assert {"Heron", "Dinner"} & {*unsure}


@pytest.mark.parametrize("text", ["PLEASE CALL ME BACK", "Meeting Notes About The Project Heron"])
def test_where_every_word_has_a_capital_it_tells_nothing(text):
    assert names(text)[0] == []


def test_in_german_a_capital_tells_nothing_but_behind_another():
    named, unsure = names("Der Zahnarzt von Anna ist Frau Keller, und das Projekt Heron ist in der Stadt bei BUG-412")
    assert named == ["Keller", "Heron", "BUG-412"]
    assert "Anna" in unsure
    assert "Stadt" in unsure


def test_a_speakers_name_is_one():
    assert name_entries("hello", "Ada Keller", hasher=HASHER) == tuple(
        sorted({*HASHER.terms("Ada"), *HASHER.terms("Keller")})
    )
    assert name_entries("hello", "user", hasher=HASHER) == ()


@given(st.integers(-(2**31), 2**31 - 1))
def test_the_undecided_entry_is_another_32_bit_hash_and_leads_back(term):
    assert undecided(term) != term
    assert undecided(undecided(term)) == term
    assert undecided(np.int32([term])).tolist() == [undecided(term)]


@pytest.mark.slow
@given(st.text(max_size=80), st.none() | st.text(max_size=10))
def test_any_text_has_32_bit_entries_each_once(text, speaker):
    entries = name_entries(text, speaker, hasher=HASHER)
    assert len({*entries}) == len(entries)
    assert all(-(2**31) <= one < 2**31 for one in entries)
