"""BodyReader of requests: limits, and what is no message."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.http.conftest import Raw

from hybrid_memory_mcp.http.bodies import Body, BodyReader, check_body, is_deeper_than
from hybrid_memory_mcp.http.responses import Refusal
from hybrid_memory_mcp.http.settings import HttpSettings

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
TEXT = st.text(alphabet='[]{}"\\ab\u00e4', max_size=8)
JSON = st.recursive(
    st.none() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=20,
)


def depth_of(value):
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max(map(depth_of, value), default=0) if isinstance(value, list) else 0


@given(JSON, st.integers(0, 6))
def test_the_depth_of_json_is_that_of_its_brackets_outside_strings(value, limit):
    assert is_deeper_than(limit, json.dumps(value, ensure_ascii=False).encode()) == (depth_of(value) > limit)


@given(st.binary(max_size=300))
def test_any_bytes_are_looked_at_without_failing(content):
    assert isinstance(check_body(content, 5), Body | Refusal)


@pytest.mark.parametrize("piece", [b'"\\', b'\\"', b'"', b"[", b"{[", b'["', b'\\"["'])
def test_a_megabyte_of_nonsense_is_looked_at_once(piece):
    """A look that goes back would take hours here."""
    assert isinstance(check_body(piece * (1_000_000 // len(piece)), 100), Refusal)


def test_a_deep_message_is_refused_and_a_flat_one_with_brackets_in_text_is_not():
    deep = b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": ' + b"[" * 200 + b"]" * 200 + b"}"
    assert "nested deeper" in check_body(deep, 100).text
    flat = json.dumps(PING | {"params": {"text": "[" * 1000}}).encode()
    assert isinstance(check_body(flat, 100), Body)


def test_a_lone_surrogate_becomes_the_mark_that_the_memory_refuses():
    body = check_body(b'{"jsonrpc": "2.0", "id": 1, "method": "x", "params": {"text": "\\ud800"}}', 100)
    assert json.loads(body.content)["params"]["text"] == "\ufffe"


NO_MESSAGES = [
    b"",
    b"{",
    b"nonsense",
    b"\xff\xfe{}",
    b"null",
    b"17",
    b'"text"',
    b"[]",
    b"{}",
    b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}',
    b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}',
    b'{"jsonrpc": "2.0", "id": 1, "method": 7}',
    b'{"jsonrpc": "2.0", "id": 1' + b"9" * 5000 + b', "method": "ping"}',
    json.dumps([PING, PING]).encode(),
    b'{"jsonrpc": "2.0", "id": 1, "method": "ping"} {}',
    "{}".encode("utf-16"),
]


@pytest.mark.anyio
@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
async def test_what_is_no_message_is_a_mistake_of_the_client(raw, version):
    session = await raw.initialize()
    for body in NO_MESSAGES:
        answer = await raw.ask(body=body, mcp_session_id=session, mcp_protocol_version=version, mcp_method="ping")
        assert answer.status == 400, body
        assert json.loads(answer.body)["error"]["code"] < 0
    assert (await raw.post(PING, mcp_session_id=session)).json["result"] == {}


@pytest.mark.anyio
@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None])
async def test_forms_that_a_page_can_send_unasked_are_refused(raw, kind):
    session = await raw.initialize()
    answer = await raw.post(PING, mcp_session_id=session, content_type=kind)
    assert answer.status == 400


@pytest.mark.anyio
async def test_a_body_over_the_limit_is_refused_before_it_is_read(serving, token):
    async with serving(max_body_bytes=1000) as app:
        answer = await Raw(app, token).ask(body=[], content_length="1001")
    assert (answer.status, answer.headers["connection"]) == (413, "close")


@pytest.mark.anyio
async def test_a_body_without_a_length_is_cut_off_at_the_limit(serving, token):
    async with serving(max_body_bytes=1000) as app:
        answer = await Raw(app, token).ask(body=[b"x" * 600, b"x" * 600, b""])
    assert answer.status == 413


@pytest.mark.anyio
async def test_a_body_of_exactly_the_limit_is_read(serving, token):
    content = json.dumps(PING | {"params": {"text": "x" * 500}}).encode()
    async with serving(max_body_bytes=len(content)) as app:
        assert (await Raw(app, token).ask(body=content)).status == 400  # there is no session
        assert (await Raw(app, token).ask(body=content + b" ")).status == 413


def test_together_bodies_are_held_up_to_a_limit_and_half_of_it_for_one_token():
    bodies = BodyReader(HttpSettings(state_key=b"k" * 32, max_buffered_bytes=1000))
    with bodies.reserve("laptop") as one, bodies.reserve("laptop") as two, bodies.reserve("phone") as three:
        assert one.try_reserve(400)
        assert not two.try_reserve(101)
        assert three.try_reserve(500)
        assert not two.try_reserve(101)
        assert two.try_reserve(100)
        with bodies.reserve("tablet") as four:
            assert not four.try_reserve(1)
    with bodies.reserve("tablet") as four:
        assert four.try_reserve(500)


@pytest.mark.anyio
async def test_a_body_for_which_there_is_no_room_is_refused_for_now(serving, token):
    async with serving(max_buffered_bytes=1000) as app:
        raw = Raw(app, token)
        refused = await raw.ask(body=b"x" * 501)
        assert (refused.status, refused.headers["retry-after"]) == (503, "1")
        assert (await raw.ask(body=b"x" * 500)).status == 400
        assert (await raw.ask(body=b"x" * 500)).status == 400


@pytest.mark.anyio
async def test_a_body_that_does_not_come_is_not_waited_for_for_ever(serving, token):
    async with serving(body_timeout_seconds=0.01) as app:
        answer = await Raw(app, token).ask(body=[])
    assert answer.status == 408


@pytest.mark.anyio
async def test_a_client_that_leaves_in_the_middle_harms_nothing(raw):
    await raw.ask(body=[b'{"json', None])
    assert await raw.initialize()
