from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.server.mcpserver.exceptions import ToolError
from tests.server.services import call, refusal

from hybrid_memory.errors import InvalidInput
from hybrid_memory_mcp.mcp_api.schemas import moment


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("write_memory", {}, "content: is required"),
        ("write_memory", {"content": ""}, "content: must not be empty"),
        ("write_memory", {"content": "x" * 100_001}, "content: must have at most 100000 characters"),
        ("write_memory", {"content": 5}, "content: must be text"),
        ("write_memory", {"content": "a", "importance": 7}, "importance: must be at most 1"),
        ("write_memory", {"content": "a", "importance": -0.5}, "importance: must be at least 0"),
        ("write_memory", {"content": "a", "importance": True}, "importance: must be a number"),
        ("write_memory", {"content": "a", "tags": "b"}, "tags: must be a list"),
        ("write_memory", {"content": "a", "tags": [1]}, "tags.0: must be text"),
        ("write_memory", {"content": "a", "metadata": []}, "metadata: must be an object"),
        (
            "write_memory",
            {"content": "a", "memory_type": "forever"},
            "memory_type: must be 'short_term', 'working', 'long_term' or 'episodic'",
        ),
        (
            "write_memory",
            {"content": "a", "occurred_at": "yesterday"},
            "occurred_at: is not an ISO 8601 date; write 2026-01-31 or 2026-01-31T09:30",
        ),
        ("read_memories", {"limit": 101}, "limit: must be at most 100"),
        ("read_memories", {"limit": 2.5}, "limit: must be a whole number"),
        ("read_memories", {"token_budget": 99}, "token_budget: must be at least 100"),
        ("read_memories", {"where": {"colour": "red"}}, "where.colour: unknown argument; leave it out"),
        ("read_memories", {"where": "red"}, "where: must be an object"),
        ("read_memories", {"explain": "yes"}, "explain: must be true or false"),
        ("reflect", {"insights": [{"text": "a"}]}, "insights.0.evidence: is required"),
        ("reflect", {"insights": []}, "insights: must hold at least 1"),
        ("update_memory", {"id": "a", "colour": 1}, "unknown argument; update_memory takes id, content, importance"),
    ],
)
async def test_a_wrong_argument_is_named_with_what_it_must_be(server, tool, arguments, told):
    with pytest.raises(ToolError) as caught:
        await server.call_tool(tool, arguments)
    assert told in str(caught.value)


@pytest.mark.anyio
async def test_a_refusal_holds_neither_the_value_nor_a_link(client):
    told = await refusal(client, "write_memory", content="a", importance="VALUE", origin="VALUE", tags="VALUE")
    assert "VALUE" not in told
    assert "http" not in told
    assert "pydantic" not in told


@pytest.mark.anyio
async def test_a_made_up_name_is_shown_without_its_strange_characters(client):
    told = await refusal(client, "write_memory", content="a", **{"x\n<b>": 1})
    assert told.startswith("x??b?: unknown argument")


@pytest.mark.anyio
async def test_many_problems_are_not_all_listed(client):
    told = await refusal(client, "write_memory", **{f"made_up_{n}": n for n in range(50)})
    assert len(told.splitlines()) == 9


@pytest.mark.anyio
async def test_null_is_taken_for_an_optional_argument_that_is_left_out(client):
    await call(client, "write_memory", content="Ada", tags=None, importance=None, occurred_at=None, key=None)


@pytest.mark.anyio
async def test_a_list_sent_as_the_text_of_its_json_is_understood(client, service):
    written = await call(client, "write_memory", content="Ada", tags='["music"]', metadata='{"a": 1}')
    assert service.memories[written["id"]].tags == ("music",)


@pytest.mark.anyio
async def test_a_whole_number_may_be_written_with_a_point(client):
    await call(client, "read_memories", limit=8.0)


def test_a_date_without_a_zone_is_in_the_zone_of_the_client():
    berlin = ZoneInfo("Europe/Berlin")
    assert moment("since", "2026-07-01T12:00", berlin) == datetime(2026, 7, 1, 10, tzinfo=UTC)
    assert moment("since", "2026-01-01", berlin) == datetime(2025, 12, 31, 23, tzinfo=UTC)


def test_a_date_with_a_zone_keeps_it():
    assert moment("since", "2026-07-01T12:00:00Z", ZoneInfo("Asia/Tokyo")) == datetime(2026, 7, 1, 12, tzinfo=UTC)


def test_without_a_configured_zone_the_zone_of_the_process_is_used():
    assert moment("since", "2026-07-01T12:00", None) == datetime(2026, 7, 1, 12).astimezone()


def test_a_date_outside_the_calendar_is_refused():
    for text in ("0001-01-01T00:00", "9999-12-31T23:59"):
        with pytest.raises(InvalidInput, match="since"):
            moment("since", text, timezone(timedelta(hours=14 if text < "1" else -14)))


@given(st.text(max_size=40))
def test_any_text_is_a_moment_or_is_refused(text):
    try:
        found = moment("since", text, UTC)
    except InvalidInput:
        return
    assert found is not None
    assert found.tzinfo is not None
