import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory.cursor import decode_cursor, encode_cursor
from hybrid_memory.errors import InvalidInput
from hybrid_memory.testing import START


@given(st.integers(0, 10**9))
def test_a_cursor_comes_back_as_it_went(offset):
    assert decode_cursor(encode_cursor(offset, START, "abc"), "abc") == (offset, START)


@given(st.text())
def test_what_is_not_a_cursor_is_refused(text):
    with pytest.raises(InvalidInput, match="cursor"):
        decode_cursor(text, "abc")


def test_a_cursor_of_another_question_is_refused():
    with pytest.raises(InvalidInput, match="another question"):
        decode_cursor(encode_cursor(3, START, "abc"), "def")


def test_a_cursor_with_a_negative_place_is_refused():
    with pytest.raises(InvalidInput):
        decode_cursor(encode_cursor(-1, START, "abc"), "abc")
