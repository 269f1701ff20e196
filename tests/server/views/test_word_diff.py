"""What changed between two texts, word by word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory_mcp.views.word_diff import word_diff

WORDS = st.lists(st.sampled_from(("Ada", "lives", "in", "Rome", " ", "  ", "\n", ".", "ü", "東京", "🙂")), max_size=12)
TEXTS = WORDS.map("".join) | WORDS.map(" ".join) | st.text(max_size=30)


def told(before, after):
    return [(part["op"], part["text"]) for part in word_diff(before, after)]


@pytest.mark.slow
@given(before=TEXTS, after=TEXTS)
def test_the_parts_give_both_texts_whole(before, after):
    parts = told(before, after)
    assert "".join(text for op, text in parts if op != "added") == before
    assert "".join(text for op, text in parts if op != "removed") == after
    assert all(text for _, text in parts)


def test_a_word_that_changed_is_told_alone():
    assert told("The dentist is on Tuesday.", "The dentist is on Thursday.") == [
        ("same", "The dentist is on "),
        ("removed", "Tuesday"),
        ("added", "Thursday"),
        ("same", "."),
    ]


def test_neighbouring_words_that_changed_are_one_change():
    assert told("Ada lives in old Rome today", "Ada lives in new Turin today") == [
        ("same", "Ada lives in "),
        ("removed", "old Rome"),
        ("added", "new Turin"),
        ("same", " today"),
    ]


def test_in_scripts_without_spaces_a_character_is_a_word():
    assert told("来年は東京へ行く", "来年は京都へ行く")[0] == ("same", "来年は")


def test_two_other_sentences_are_not_picked_to_pieces():
    parts = told("The buttons of Atlas are blue", "Maria moved to Ghent of all places")
    assert [op for op, _ in parts] == ["removed", "added"]


def test_the_same_text_has_no_change():
    assert told("Ada", "Ada") == [("same", "Ada")]


@pytest.mark.parametrize("words", [60_000, 100_000])
def test_very_long_texts_are_compared_at_once(words):
    before, after = "a b " * (words // 4), "c d " * (words // 4)
    assert [op for op, _ in told(before, after)] == ["removed", "added"]
