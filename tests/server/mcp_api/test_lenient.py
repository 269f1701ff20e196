from __future__ import annotations

import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory_mcp.mcp_api import lenient, not_given

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
NAMES = st.text(string.ascii_letters + string.digits + "_", min_size=1)
ALL = (
    *(lenient.number, lenient.whole, lenient.flag, lenient.names, lenient.ids, lenient.several, lenient.choice),
    *(lenient.text, lenient.not_zero, lenient.pairs, lenient.is_zero),
)
KEEP_THEIR_TYPE = (lenient.number, lenient.whole, lenient.flag, lenient.several, lenient.choice)


@given(values)
def test_nothing_that_is_sent_raises(value):
    for one in ALL:
        one(value)


@pytest.mark.slow
@given(values)
def test_what_has_its_type_already_stays_as_it_is(value):
    for one in KEEP_THEIR_TYPE:
        if isinstance(value, (bool, int, list)) or value is None:
            assert one(value) == value


@given(st.lists(NAMES, min_size=1))
def test_a_list_may_be_written_with_commas_or_as_json(given_names):
    for read in (lenient.names, lenient.ids):
        assert read(", ".join(given_names)) == read(json.dumps(given_names)) == given_names


def test_a_tag_of_two_words_is_one_tag_and_two_ids_are_two():
    assert lenient.names("summer house, garden") == ["summer house", "garden"]
    assert lenient.ids("06gzh21e6 06gzh21e7") == ["06gzh21e6", "06gzh21e7"]


@given(st.integers(-(10**12), 10**12))
def test_a_number_may_be_text(number):
    assert lenient.whole(str(number)) == number
    assert lenient.number(f" {number}.0 ") == number


def test_a_number_is_the_text_of_its_digits_and_a_truth_is_none():
    told = (5, 5.0, 0.25, -3, True, None, "5", [5])
    assert [lenient.text(one) for one in told] == ["5", "5", "0.25", "-3", True, None, "5", [5]]


def test_a_list_of_pairs_is_an_object_and_any_other_list_is_not():
    assert lenient.pairs([{"key": "a", "value": [1]}, {"name": "b", "value": 2}]) == {"a": [1], "b": 2}
    assert lenient.pairs([]) == {}
    for other in ([1], [{"key": "a"}], [{"key": {}, "value": 1}], [{"key": "a", "value": 1, "more": 2}], {"a": 1}, "a"):
        assert lenient.pairs(other) == other


def test_what_is_no_number_in_digits_is_left_to_be_refused():
    for text in ("five", "1e3", "0x10", "1,5", "nan", "inf", "80%", "", "٣"):
        assert lenient.number(text) == text


def test_only_true_and_false_and_yes_and_no_and_one_and_zero_are_flags():
    said = ("true", "False", " TRUE ", "Yes", "no", "1", " 0 ", 1, 0, 1.0, "y", 2, "2", "on", -1)
    read = [lenient.flag(one) for one in said]
    assert read[:10] == [True, False, True, True, False, True, False, True, False, True]
    assert all(isinstance(one, bool) for one in read[:10])
    assert read[10:] == ["y", 2, "2", "on", -1]


def test_what_is_empty_in_a_list_is_left_out_of_it():
    for read in (lenient.names, lenient.ids):
        assert read(["a", "", None, " ", "b"]) == read('["a", "", null, "b"]') == ["a", "b"]


@given(values, st.dictionaries(st.sampled_from("abw"), values), st.sampled_from((None, {}, {"a": 1}, "{}", "x")))
def test_gathering_loses_nothing_and_overwrites_nothing(anything, outside, inside):
    lenient.gathered(anything, "w", "ab", not_given.says)
    told = {**outside, "w": inside}
    got = lenient.gathered(told, "w", "ab", not_given.says)
    for name in "ab":
        if name in told and not_given.says(name, told[name]):
            assert name in got or got["w"][name] == told[name]
        if inside == {"a": 1}:
            assert got["w"]["a"] == 1
