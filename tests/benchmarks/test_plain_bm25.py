"""The textbook's BM25 alongside which rankings are measured."""

from __future__ import annotations

import pytest
from benchmarks.plain_bm25 import ranked, terms_of
from hypothesis import given
from hypothesis import strategies as st

TEXTS = ["the cat sleeps", "the dog barks at the cat", "rain in Bergen"]


def test_words_are_told_apart_by_nothing_but_their_letters():
    assert terms_of("Bergen, BERGEN's rain") == ["bergen", "bergen", "s", "rain"]


def test_chinese_writing_is_read_in_pairs():
    assert terms_of("我住在柏林 now") == ["now", "我住", "住在", "在柏", "柏林"]


def test_a_single_character_is_a_term():
    assert terms_of("猫") == ["猫"]


def test_the_shorter_of_two_texts_with_the_word_is_first():
    assert ranked("cat", TEXTS) == [0, 1]


def test_the_rarer_word_weighs_more():
    assert ranked("the rain", TEXTS)[0] == 2


def test_of_equal_texts_the_later_is_first():
    assert ranked("cat", ["a cat", "a cat"]) == [1, 0]


@pytest.mark.parametrize("query", ["", "?", "unheard"])
def test_what_shares_no_word_is_not_found(query):
    assert ranked(query, TEXTS) == []


@given(st.text(), st.lists(st.text()))
def test_every_place_is_found_at_most_once(query, texts):
    found = ranked(query, texts)
    assert len(set(found)) == len(found)
    assert set(found) <= set(range(len(texts)))
