"""Memories that say the same in nearly the same words are shown once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory.retrieval.near_copies import copy_key, fold


@each(
    "one, other",
    [
        ("The weekly sync is on Tuesday at 10.", "weekly sync is on Tuesday at 10"),
        ("Ada's dentist is Dr. Keller", "ada’s dentist is Dr Keller."),
        ("Remember: Ada prefers tea", "Ada prefers tea."),
        ("Please remember that the door code is 4711", "The door code is 4711"),
        ("Note: by the way, Bob sails", "Bob sails"),
        ('We call it "Heron"', "We call it Heron"),
        ("Ada said that she sails", "Ada said she sails"),
        ("Ｔｏｋｙｏ in spring", "Tokyo in spring"),
        ("アダはお茶が好きです。", "アダはお茶が好きです"),
    ],
)
def test_the_same_said_a_little_differently_is_a_copy(one, other):
    assert copy_key(one) == copy_key(other)


@each(
    "one, other",
    [
        ("The tenant will return", "The tenant will not return"),
        ("The tenant will return", "The tenant won't return"),
        ("The rent is 950 euros", "The rent is 905 euros"),
        ("The release is 1.2", "The release is 12"),
        ("It costs 10", "It costs -10"),
        ("Room 10-12", "Room 10, 12"),
        ("Ada's dentist is Dr. Keller", "Eva's dentist is Dr. Keller"),
        ("Project Heron uses C", "Project Heron uses C++"),
        ("Ada beat Bob", "Bob beat Ada"),
        ("The shop opens at nine", "The shop closes at nine"),
        ("Ada lives in Vienna", "Ada lived in Vienna"),
        ("Ada flew to Vienna", "Ada flew from Vienna"),
        ("Does Ada sail?", "Does Ada sail"),
        ("Ada is free on Monday", "Ada is free on Tuesday"),
        ("The deploy was approved", "The deploy was almost approved"),
        ("Wir fahren an den See", "Wir fahren an die See"),
        ("alle Tassen", "keine Tassen"),
        ("Discount 50%", "Discount 50"),
        ("她喜欢茶", "她不喜欢茶"),
        ("file user_id", "file userid"),
    ],
)
def test_what_says_something_else_is_no_copy(one, other):
    assert copy_key(one) != copy_key(other)


def test_a_text_of_articles_alone_is_itself():
    assert copy_key("the") != copy_key("a")


def test_very_long_texts_are_copies_only_when_they_are_equal():
    long = "word " * 1000
    assert copy_key(long) == copy_key(long)
    assert copy_key(long) != copy_key(long.upper())


words = st.lists(st.sampled_from("Ada Bob sails not 4711 Heron never ten".split()), min_size=1, max_size=8)  # noqa: SIM905 - shorter


@given(words, words)
def test_texts_of_telling_words_are_copies_only_in_the_same_words_and_order(one, other):
    assert (copy_key(" ".join(one)) == copy_key(" ".join(other))) == (one == other)


@given(words, st.sampled_from([",", ".", " ,", "...", "!"]))
def test_an_ending_makes_no_other_text(said, ending):
    assert copy_key(" ".join(said)) == copy_key(" ".join(said) + ending)


@pytest.mark.slow
@given(st.text(max_size=100))
def test_any_text_has_a_key(text):
    hash(copy_key(text))


def test_the_newest_of_the_most_trusted_is_shown_in_the_place_of_the_best():
    keys = ["a", "b", "a", "a"]
    ranks = [(2, 1.0), (2, 1.0), (2, 3.0), (0, 9.0)]
    assert fold(keys, ranks) == [(2, 0, 3), (1,)]


@given(st.lists(st.tuples(st.integers(0, 3), st.tuples(st.integers(0, 2), st.floats(0, 9))), max_size=16))
def test_each_hit_is_in_one_group_and_groups_come_in_the_order_of_their_best(hits):
    keys, ranks = [key for key, _ in hits], [rank for _, rank in hits]
    groups = fold(keys, ranks)
    assert sorted(place for group in groups for place in group) == list(range(len(hits)))
    assert [min(group) for group in groups] == sorted(min(group) for group in groups)
    assert all(len({keys[place] for place in group}) == 1 for group in groups)
