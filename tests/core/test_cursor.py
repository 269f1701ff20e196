import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory.cursor import PagePosition, decode_cursor, encode_cursor, mark_of
from hybrid_memory.errors import InvalidInput
from hybrid_memory.testing import START

OURS, ANOTHER = b"abcd", b"efgh"
IDS = [f"{number:020d}" for number in range(40)]


def after(offset, last):
    return PagePosition(offset, START, mark_of(last))


@given(st.integers(0, 10**9), st.text(st.characters(exclude_categories=["Cs"])))
def test_a_cursor_comes_back_as_it_went(offset, last):
    assert decode_cursor(encode_cursor(after(offset, last), OURS), OURS) == after(offset, last)


@given(st.integers(0, 65_535), st.sampled_from(IDS))
def test_a_cursor_has_at_most_24_characters(offset, last):
    assert len(encode_cursor(after(offset, last), OURS)) <= 24


def test_a_reading_goes_on_behind_the_last_memory_shown():
    assert after(2, "b").within(["a", "b", "c"]) == 2
    assert after(2, "b").within(["b", "c"]) == 1


def test_a_memory_brought_back_before_the_last_one_shown_is_not_shown_and_shifts_nothing():
    assert after(2, "b").within(["a", "again", "b", "c"]) == 3


def test_where_the_last_memory_shown_is_gone_the_next_ones_have_moved_up():
    assert after(2, "b").within(["a", "c"]) == 1


@given(st.sets(st.sampled_from(IDS)), st.integers(1, len(IDS)))
def test_whatever_is_forgotten_before_the_last_memory_shown_all_behind_it_are_shown(forgotten, shown):
    left = [one for one in IDS if one not in forgotten - {IDS[shown - 1]}]
    rest = left[after(shown, IDS[shown - 1]).within(left) :]
    assert rest == [one for one in IDS[shown:] if one not in forgotten]


@given(st.text())
def test_what_is_not_a_cursor_is_refused(text):
    with pytest.raises(InvalidInput, match="cursor"):
        decode_cursor(text, OURS)


@given(st.binary(max_size=80))
def test_what_only_looks_like_a_cursor_is_refused(plain):
    with pytest.raises(InvalidInput, match="cursor"):
        decode_cursor(base64.urlsafe_b64encode(plain).decode().rstrip("="), b"\x8e\x13\x77\xc5")


def test_a_cursor_of_an_earlier_version_is_told_to_be_left_out():
    old = base64.urlsafe_b64encode(b"8.1767960000000000.0123456789ab.06gzh21e6ndjkvr6d7pw").decode()
    with pytest.raises(InvalidInput, match="leave it out to start over"):
        decode_cursor(old, OURS)


def test_a_cursor_of_another_question_is_refused():
    with pytest.raises(InvalidInput, match="another question"):
        decode_cursor(encode_cursor(after(3, "a"), OURS), ANOTHER)
