from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS
from tests.core.secret_detection.planted import TOKENS

pytestmark = pytest.mark.anyio

RECENT = "memory://most_recent_memories"


async def read(client, uri):
    (content,) = (await client.read_resource(uri)).contents
    return content


async def failure(client, uri):
    with pytest.raises(MCPError) as caught:
        await client.read_resource(uri)
    return caught.value.error


async def test_the_most_recent_memories_are_quoted_newest_first(client, service):
    service.keep("first thing")
    service.keep("second thing")
    content = await read(client, RECENT)
    assert content.mime_type == "text/markdown"
    assert content.text.index("| second thing") < content.text.index("| first thing")


async def test_the_most_recent_memories_are_the_brief_that_reading_without_a_query_gives(client, service):
    service.keep("I'm allergic to penicillin")
    service.keep("Need to renew the passport")
    for number in range(30):
        service.keep(f"note {number}")
    text = (await read(client, RECENT)).text
    shown = (await client.call_tool("read_memories", {})).structured_content["memories"]
    places = [text.index(f"| {one['text']}\n") for one in shown]
    assert places == sorted(places)
    assert text.index("About the user:") < text.index("Open:") < text.index("Recent:")


async def test_a_resource_tells_when_a_thing_happened(client, service):
    service.keep("Ada moved to Porto", occurred_at=datetime(2021, 3, 1, 12, tzinfo=UTC))
    assert 'time="2021-03-01T12:00:00Z"' in (await read(client, RECENT)).text


async def test_an_empty_memory_says_so(client):
    assert "Nothing is remembered yet" in (await read(client, RECENT)).text


async def test_a_session_has_its_own_most_recent_memories(client, service):
    service.keep("of the other", session="a/../b c")
    service.keep("of this one")
    text = (await read(client, RECENT + "/a%2F..%2Fb%20c")).text
    assert "| of the other" in text
    assert "of this one" not in text


async def test_one_memory_is_shown_whole(client, service):
    memory = service.keep("x" * 100_000)
    assert "x" * 100_000 in (await read(client, f"memory://memories/{memory.id}")).text


@pytest.mark.slow
async def test_long_memories_are_cut_among_the_most_recent(client, service):
    for number in range(20):
        service.keep(f"{number} " + "記" * 2_000)
    text = (await read(client, RECENT)).text
    assert text.count("…[cut; read by ids]") == 20
    assert len(text) < 12_000


async def test_the_status_is_json_that_a_client_takes_for_text(client, service):
    service.keep("x")
    content = await read(client, "memory://status")
    assert content.mime_type == "text/plain"
    assert json.loads(content.text)["memories"] == 1


async def test_a_secret_in_the_name_of_a_session_is_not_shown_by_its_resource(client, service):
    token = TOKENS["GitHub token"]
    service.keep("the deploy is done", session=f"deploy {token}")
    for uri in (f"{RECENT}/deploy%20{token}", "memory://status", RECENT):
        assert token not in (await read(client, uri)).text


async def test_an_unknown_resource_is_invalid_parameters(client):
    assert (await failure(client, "memory://nowhere")).code == INVALID_PARAMS


async def test_an_unexpected_failure_tells_nothing_of_its_text(client, service):
    service.failure = RuntimeError("SECRET")
    for uri in (RECENT, "memory://status", RECENT + "/x", "memory://memories/x"):
        error = await failure(client, uri)
        assert error.code == INTERNAL_ERROR
        assert "SECRET" not in str(error)
