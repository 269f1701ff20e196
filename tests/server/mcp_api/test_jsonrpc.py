from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCNotification
from tests.tables import each

from hybrid_memory_mcp.mcp_api.jsonrpc import read_line, write_message
from hybrid_memory_mcp.relay.protocol import MAX_MESSAGE_BYTES, LineSplitter, Oversized


def split(chunks, limit=MAX_MESSAGE_BYTES):
    splitter = LineSplitter(limit)
    return [line for chunk in chunks for line in splitter.feed(chunk)]


@given(st.lists(st.binary(max_size=30).filter(lambda one: b"\n" not in one), max_size=10), st.integers(1, 50))
def test_lines_are_the_same_however_the_bytes_arrive(lines, size):
    whole = b"".join(line + b"\n" for line in lines)
    assert split(whole[at : at + size] for at in range(0, len(whole), size)) == lines


@pytest.mark.parametrize("size", [1000, 7000, 100_000])
def test_of_a_line_over_the_limit_only_the_ends_are_kept(size):
    whole = b"{" + b"x" * 50_000 + b"}\nnext\n"
    big, following = split((whole[at : at + size] for at in range(0, len(whole), size)), limit=9000)
    assert isinstance(big, Oversized)
    assert big.head.startswith(b"{xx")
    assert big.tail.endswith(b"xx}")
    assert len(big.head) <= 4096
    assert len(big.tail) <= 4096
    assert following == b"next"


def test_a_line_of_just_the_limit_is_whole():
    assert split([b"x" * 10 + b"\n"], limit=10) == [b"x" * 10]


def test_a_message_is_read():
    read = read_line(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
    assert isinstance(read, SessionMessage)
    assert read.message.method == "ping"


def test_a_lone_surrogate_becomes_a_noncharacter_that_the_memory_refuses_by_name():
    read = read_line(
        b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":["x\\ud800y",{"\\udfff":1}],"b":"\\ud83d\\ude42"}}'
    )
    assert read.message.params == {"a": ["x\ufffey", {"\ufffe": 1}], "b": "🙂"}


def test_bytes_that_are_no_utf8_are_read_with_replacement_characters():
    read = read_line(b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\xff"}}')
    assert read.message.params == {"a": "\ufffd"}


IGNORED = [
    b"",
    b"   ",
    b"\r",
    b"\xef\xbb\xbf",
    b'{"id":1,"result":5}',
    b'{"id":1,"error":5}',
    b'{"jsonrpc":"2.0","method":"notifications/x","params":[1]}',
]


@each("line", IGNORED)
def test_blank_lines_notifications_and_answers_get_no_answer(line):
    assert read_line(line) is None


@each(
    "line, request_id",
    [
        (b"garbage", None),
        (b"{", None),
        (b'{"jsonrpc":"2.0","id":7,"method":"ping"', 7),
        (b'{"jsonrpc":"2.0","id":"a","method":"ping",}', "a"),
        (b'{"jsonrpc":"2.0","id":7,"method":"ping"}}', 7),
        (b'{"method":"x","params":{"a":tru},"jsonrpc":"2.0","id":7}', 7),
        (b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}', None),
        (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":' + b"9" * 5000 + b"}}", 7),
        (b'{"params":{"a":-' + b"9" * 50_000 + b'},"method":"ping","jsonrpc":"2.0","id":7}', 7),
        ('{"jsonrpc":"2.0","id":7,"method":"ping"}'.encode("utf-16"), None),
        ('{"jsonrpc":"2.0","id":7,"method":"ping"}'.encode("utf-16-be"), None),
        ('{"jsonrpc":"2.0","id":7,"method":"ping"}'.encode("utf-32"), None),
        (b"\x00", None),
        (b"\x1f\x8b\x08\x00", None),
    ],
)
def test_what_is_no_json_is_answered_under_its_id_where_that_can_be_known(line, request_id):
    read = read_line(line)
    assert isinstance(read, JSONRPCError)
    assert (read.id, read.error.code) == (request_id, -32700)


@each("line", [b"5", b'"x"', b"null", b"{}", b'{"method":5}', b'{"jsonrpc":"2.0","params":{}}'])
def test_json_that_is_no_message_is_answered(line):
    read = read_line(line)
    assert (read.id, read.error.code) == (None, -32600)


@pytest.mark.parametrize(
    "line", [b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}', b'{"jsonrpc":"2.0","id":1,"method":"ping"}\r']
)
def test_a_byte_order_mark_and_a_carriage_return_do_no_harm(line):
    assert read_line(line).message.id == 1


@each(
    "line, request_id",
    [
        (b'{"jsonrpc":"2.0","id":7,"method":5}', 7),
        (b'{"id":"seven","method":"ping"}', "seven"),
        (b'{"jsonrpc":"2.0","id":7}', 7),
        (b'{"jsonrpc":"2.0","id":7,"method":"x","params":[1]}', 7),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', None),
        (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', None),
        (b'[{"jsonrpc":"2.0","id":7,"method":"ping"}]', None),
    ],
)
def test_a_line_that_is_json_but_no_message_is_answered_with_an_error(line, request_id):
    read = read_line(line)
    assert isinstance(read, JSONRPCError)
    assert (read.id, read.error.code) == (request_id, -32600)


def test_a_message_nested_too_deep_is_answered_with_an_error():
    read = read_line(b'{"jsonrpc":"2.0","id":9,"method":"x","params":{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}}")
    assert (read.id, read.error.code) == (9, -32600)


@pytest.mark.parametrize("number", ["9", '"n\\"ine"'])
def test_a_message_too_long_is_answered_whichever_end_its_id_is_at(number):
    first = Oversized(f'{{"jsonrpc": "2.0", "id": {number}, "method": "tools/'.encode(), b'xxx"}}}')
    last = Oversized(
        b'{"method":"tools/call","params":{"id":5,', f'"a":{{"id":3}}}},"jsonrpc":"2.0","id":{number}}}'.encode()
    )
    for line in (first, last):
        assert read_line(line).id == json.loads(number)


def test_an_id_with_a_lone_surrogate_is_answered_all_the_same():
    for line in (Oversized(b'{"id":"\\ud800","method":"', b'"}'), b'{"id":"\\ud800","method":5}'):
        assert b"\xef\xbf\xbe" in write_message(read_line(line))


def test_the_id_of_something_inside_a_message_too_long_is_not_taken_for_its_own():
    assert read_line(Oversized(b'{"method":"x","params":{"a":"', b'"},"b":{"id":3}}')).id is None


@given(
    st.one_of(st.binary(max_size=200), st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
)
def test_no_line_whatever_it_holds_stops_the_reading(line):
    read = read_line(line)
    if isinstance(read, JSONRPCError):
        json.loads(write_message(read))


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=5,
)


@given(
    st.fixed_dictionaries(
        {}, optional=dict.fromkeys(("jsonrpc", "id", "method", "params", "result", "error"), json_values)
    ),
    st.booleans(),
)
def test_every_request_like_line_is_served_or_answered(value, proper):
    if proper:
        value["jsonrpc"] = "2.0"
    read = read_line(json.dumps(value).encode())
    if isinstance(read, JSONRPCError):
        json.loads(write_message(read))
    elif read is None:
        assert "id" not in value or ("method" not in value and {"result", "error"} & set(value))
    else:
        assert isinstance(read.message, JSONRPCNotification) is ("id" not in value)
