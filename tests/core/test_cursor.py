import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory.errors import InvalidInput
from hybrid_memory.requests import PagePosition, decode_cursor, encode_cursor
from hybrid_memory.testing import START


@given(st.integers(0, 10**9), st.text(st.characters(exclude_categories=["Cs"])))
def test_a_cursor_comes_back_as_it_went(offset, last):
    place = PagePosition(offset, START, last)
    assert decode_cursor(encode_cursor(place, "abc"), "abc") == place


def test_a_reading_goes_on_behind_the_last_memory_shown():
    assert PagePosition(2, START, "b").within(["a", "b", "c"]) == 2
    assert PagePosition(2, START, "b").within(["b", "c"]) == 1


def test_where_the_last_memory_shown_is_gone_the_next_ones_have_moved_up():
    assert PagePosition(2, START, "b").within(["a", "c"]) == 1


@given(st.text())
def test_what_is_not_a_cursor_is_refused(text):
    with pytest.raises(InvalidInput, match="cursor"):
        decode_cursor(text, "abc")


def test_a_cursor_of_another_question_is_refused():
    with pytest.raises(InvalidInput, match="another question"):
        decode_cursor(encode_cursor(PagePosition(3, START), "abc"), "def")


def test_a_cursor_with_a_negative_place_is_refused():
    with pytest.raises(InvalidInput):
        decode_cursor(encode_cursor(PagePosition(-1, START), "abc"), "abc")
