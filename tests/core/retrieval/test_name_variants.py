"""Other ways to write a name, which keep a claim from being made."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory.retrieval.name_variants import digits_apart, is_abbreviated, names_alike, spellings_of_name


@each(
    "asked, held",
    [
        ("cathy", "catherine"),
        ("kathi", "katharina"),
        ("katharina", "kathi"),
        ("debbie", "deborah"),
        ("deborah", "debbie"),
        ("cate", "kate"),
        ("robert", "bob"),
        ("bettina", "tina"),
    ],
)
def test_a_name_and_its_short_form_are_alike(asked, held):
    assert held in names_alike(asked)


@each("asked, held", [("basalt", "basel"), ("zorana", "zoe"), ("marta", "mark"), ("heron", "heron")])
def test_other_names_are_not_alike(asked, held):
    assert held not in names_alike(asked)


@each(
    "name, written, other",
    [
        ("mueller", "Mueller", "muller"),
        ("muller", "Müller", "mueller"),
        ("kubernetes", "kubernetes", "k8s"),
        ("javascript", "JavaScript", "js"),
    ],
)
def test_a_name_has_other_spellings(name, written, other):
    assert other in list(spellings_of_name(name, written))


def test_letters_and_digits_are_told_apart():
    assert digits_apart("server01") == ["server", "01"]


def test_a_number_among_letters_abbreviates_a_word():
    assert is_abbreviated("k8s")
    assert not is_abbreviated("server01")


@given(st.text(max_size=40))
def test_any_name_is_read_without_an_error(name):
    assert name not in names_alike(name)
    assert list(spellings_of_name(name, name)) is not None
