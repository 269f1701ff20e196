"""What a client sees in both eras of the protocol: with a handshake (up to 2025-11-25) and without one (from 2026-07-28 on).

The other tests of this folder speak the older one: behind these the same code serves both.
"""

from __future__ import annotations

import json

import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS, Implementation, PromptReference
from tests.server.services import ERAS, call, make_server, refusal

from hybrid_memory.store.writing import RequestKey
from hybrid_memory_mcp.runtime.error_log import UNEXPECTED_FAILURE

pytestmark = pytest.mark.anyio

RECENT = "memory://most_recent_memories"


@pytest.fixture
def client(client_of_each_era):
    return client_of_each_era


async def test_the_list_of_tools_is_the_same(server):
    lists = []
    for era in ERAS:
        async with Client(server, mode=era) as client:
            lists.append([tool.model_dump(mode="json") for tool in (await client.list_tools()).tools])
    assert lists[0] == lists[1]
    assert len(lists[0]) == 5


async def test_a_write_is_readable_at_once_in_both_parts_of_an_answer(client):
    written = await call(client, "write_memory", content="Ada plays the cello", tags=["music"])
    result = await client.call_tool("read_memories", {"query": "cello"})
    (found,) = result.structured_content["memories"]
    assert (found["id"], found["text"], found["tags"]) == (written["id"], "Ada plays the cello", ["music"])
    assert written["id"] in result.content[0].text


async def test_a_wrong_argument_is_an_error_of_the_tool(client):
    assert (
        await refusal(client, "write_memory", content="a", importance=7)
        == "importance: must be a number from 0 to 1, as 0.8"
    )


async def test_an_unknown_tool_is_answered_with_those_that_exist(client):
    told = await refusal(client, "make_coffee")
    assert "unknown tool" in told
    assert "write_memory" in told
    assert "coffee" not in told


async def test_an_unexpected_failure_is_told_without_its_text(client, service):
    service.failure = RuntimeError("SECRET row")
    assert await refusal(client, "read_memories", query="x") == UNEXPECTED_FAILURE


async def test_the_resources_and_templates_are_listed(client):
    assert [one.uri for one in (await client.list_resources()).resources] == [RECENT, "memory://status"]
    templates = [one.uri_template for one in (await client.list_resource_templates()).resource_templates]
    assert templates == [RECENT + "/{session}", "memory://memories/{id}"]


async def test_resources_are_read(client, service):
    memory = service.keep("first thing")
    for uri in (RECENT, RECENT + "/s-here", f"memory://memories/{memory.id}"):
        (content,) = (await client.read_resource(uri)).contents
        assert "| first thing" in content.text
    (status,) = (await client.read_resource("memory://status")).contents
    assert json.loads(status.text)["memories"] == 1


async def test_errors_of_resources_have_their_codes(client, service):
    with pytest.raises(MCPError) as unknown:
        await client.read_resource("memory://memories/0000")
    assert unknown.value.error.code == INVALID_PARAMS
    assert unknown.value.error.data == {"uri": "memory://memories/0000"}
    service.failure = RuntimeError("SECRET")
    with pytest.raises(MCPError) as failed:
        await client.read_resource(RECENT)
    assert failed.value.error.code == INTERNAL_ERROR
    assert "SECRET" not in str(failed.value.error)


async def test_a_prompt_is_given_and_a_wrong_one_refused(client, service):
    service.keep("Ada plays the cello")
    (message,) = (await client.get_prompt("answer_with_memories", {"question": "What does Ada play?"})).messages
    assert "| Ada plays the cello" in message.content.text
    with pytest.raises(MCPError) as missing:
        await client.get_prompt("remember_exchange", {"question": "x"})
    assert (missing.value.error.code, missing.value.error.message) == (INVALID_PARAMS, "thought: is required")


async def test_arguments_are_completed(client, service):
    service.keep("x", tags=("music", "museum", "home"))
    found = await client.complete(
        PromptReference(type="ref/prompt", name="reflect_on_topic"), {"name": "topic", "value": "mu"}
    )
    assert found.completion.values == ["museum", "music"]


@pytest.mark.parametrize("mode", ERAS)
async def test_a_write_is_made_in_the_name_of_the_client(server, service, mode):
    info = Implementation(name="Some\nClient", version="1")
    async with Client(server, mode=mode, client_info=info) as client:
        await call(client, "write_memory", content="Ada")
    assert service.actors == ["SomeClient"]


@pytest.mark.parametrize("mode", ERAS)
async def test_a_request_key_reaches_every_write(provider, service, mode):
    def request_key_of(context):
        return RequestKey("relay", int(context.request_id))

    async with Client(make_server(provider, request_key_of=request_key_of), mode=mode) as client:
        written = await call(client, "write_memory", content="Ada")
        await call(client, "update_memory", id=written["id"], pinned=True)
        await call(client, "reflect", insights=[{"text": "so", "evidence": [written["id"]]}])
        await call(client, "forget_memories", ids=[written["id"]])
    assert [key.relay for key in service.keys] == ["relay"] * 4
    assert len({key.number for key in service.keys}) == 4
