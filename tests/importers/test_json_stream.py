import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory.errors import InvalidInput
from hybrid_memory_importers import json_stream
from hybrid_memory_importers.json_stream import MOST_NESTED, json_items, json_lines
from hybrid_memory_importers.record import Skipped

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def _items(data: bytes, prefix: str = "item") -> list:
    return list(json_items(io.BytesIO(data), prefix))


class _Dripping(io.BytesIO):
    """Gives few bytes at a time, so that strings and escapes are cut at every place."""

    def __init__(self, data: bytes, step: int) -> None:
        super().__init__(data)
        self._step = step

    def read(self, size: int | None = -1) -> bytes:  # noqa: ARG002 - it gives what it likes
        return super().read(self._step)


@pytest.mark.slow
@given(st.lists(_JSON, max_size=5), st.booleans(), st.integers(1, 7))
@settings(max_examples=60)
def test_the_items_of_an_array_are_those_that_were_written(values, plain, step):
    data = json.dumps(values, ensure_ascii=plain).encode("utf-8", "replace")
    expected = json.loads(data)
    if not any(
        "\\ud" in json.dumps(one) and plain for one in expected
    ):  # a lone surrogate is nothing that could be stored
        assert list(json_items(_Dripping(data, step), "item")) == expected


def test_the_items_of_a_field_are_found_by_its_name():
    assert _items(b'{"other": [1], "messages": [{"a": 2}, {"a": 3.5}]}', "messages.item") == [{"a": 2}, {"a": 3.5}]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_file_of_a_windows_program_is_read(encoding):
    assert _items('["Käse"]'.encode(encoding)) == ["Käse"]


def test_bytes_that_are_no_text_cost_only_themselves():
    assert _items(b'["a\xffb", "c"]') == ["a\ufffdb", "c"]


def test_a_file_that_was_cut_short_is_refused_and_what_it_is_said():
    with pytest.raises(InvalidInput, match="ends in the middle"):
        _items(b'[{"a": 1}, {"a"')


@each("data", [b"", b"hello", b'{"a": nope}', b"[1] [2]"])
def test_what_is_no_json_is_refused(data):
    with pytest.raises(InvalidInput, match="no whole JSON"):
        _items(data)


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"a":'])
def test_nesting_without_an_end_is_refused_before_it_is_followed(opening):
    with pytest.raises(InvalidInput, match="nested deeper"):
        _items(opening * 1_000_000)


def test_brackets_in_words_are_no_nesting():
    text = "[" * (3 * MOST_NESTED) + '"{'
    assert _items(json.dumps([text]).encode()) == [text]


def test_a_text_of_quotes_alone_is_read_as_fast_as_any_other():
    text = '"' * 300_000 + "\\" * 300_001
    assert list(json_items(_Dripping(json.dumps([text]).encode(), 100_001))) == [text]


def test_a_giant_text_is_refused_before_it_fills_the_memory(monkeypatch):
    monkeypatch.setattr(json_stream, "MOST_STRING_BYTES", 1000)
    with pytest.raises(InvalidInput, match="has a text of more than"):
        list(json_items(_Dripping(b'["' + b"a" * 5000 + b'"]', 100)))


def test_a_giant_item_is_refused_before_it_fills_the_memory(monkeypatch):
    monkeypatch.setattr(json_stream, "MOST_ITEM_BYTES", 1000)
    with pytest.raises(InvalidInput, match="one item of more than"):
        list(json_items(_Dripping(b"[[" + b"1," * 5000 + b"1]]", 100)))


def test_a_number_beyond_all_measure_is_refused():
    with pytest.raises(InvalidInput):
        _items(b"[" + b"9" * 5000 + b"]")


def test_lines_are_values_with_their_numbers():
    assert list(json_lines(io.BytesIO(b'\xef\xbb\xbf{"a": 1}\r\n\n[2]'))) == [(1, {"a": 1}), (3, [2])]


@each("bad", [b"{torn", b'{"a":' * 5000, b"[" * 500 + b"]" * 500, b"\x00\x01", b"9" * 5000])
def test_a_bad_line_does_not_lose_the_others(bad):
    found = dict(json_lines(io.BytesIO(b"1\n" + bad + b"\n2\n")))
    assert (found[1], type(found[2]), found[3]) == (1, Skipped, 2)


def test_a_line_that_is_too_long_is_passed_over_whole(monkeypatch):
    monkeypatch.setattr(json_stream, "MOST_LINE_BYTES", 10)
    found = dict(json_lines(io.BytesIO(b"1\n" + b"3" * 100 + b"\n2\n")))
    assert found == {1: 1, 2: Skipped("a line that is too long to be read", "line 2"), 3: 2}


@each("odd", ["9223372036854775808", "-1e400", "NaN", "Infinity", str(2**200)])
def test_one_number_that_the_stream_cannot_read_costs_no_other_item(odd):
    found = _items(b'{"messages": [{"a": 1}, {"a": ' + odd.encode() + b'}, {"a": "last"}]}', "messages.item")
    assert [one["a"] for one in (found[0], found[2])] == [1, "last"]


def test_a_file_that_is_wrong_in_the_middle_is_refused_by_either_reader():
    with pytest.raises(InvalidInput, match="is wrong shortly before byte"):
        _items(b'[{"a": 1}, {"a" 2}, {"a": 3}]')
