from __future__ import annotations

import json

import pytest
from mcp.client import Client
from mcp.server.mcpserver.exceptions import ToolError
from tests.server.services import call

from hybrid_memory_mcp.mcp_api.memory_server import INSTRUCTIONS

pytestmark = pytest.mark.anyio


async def listed(client):
    return [
        tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in (await client.list_tools()).tools
    ]


def objects(schema):
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for inner in schema.values():
            yield from objects(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from objects(inner)


def nodes(schema):
    yield schema
    for inner in schema.get("properties", {}).values():
        yield from nodes(inner)
    if "items" in schema:
        yield from nodes(schema["items"])


async def test_there_are_five_tools_in_a_fixed_order(client):
    names = [tool["name"] for tool in await listed(client)]
    assert names == ["write_memory", "read_memories", "reflect", "update_memory", "forget_memories"]


async def test_what_a_model_sees_of_the_list_is_at_most_1200_tokens(client):
    """The contract is 1,500; what is below it belongs to later arguments."""
    seen = [{key: tool[key] for key in ("name", "description", "inputSchema")} for tool in await listed(client)]
    assert len(json.dumps(seen)) / 4 <= 1200


async def test_a_date_may_be_told_in_words(client):
    tools = await listed(client)
    told = tools[0]["inputSchema"]["properties"]["occurred_at"]["description"]
    assert told == tools[1]["inputSchema"]["properties"]["where"]["properties"]["since"]["description"]
    assert told == "ISO 8601 or words: last Friday"


@pytest.mark.parametrize("told", ["secrets", "supersedes", "names and dates"])
async def test_writing_says_what_models_get_wrong(client, told):
    assert told in json.dumps((await listed(client))[0])


async def test_importance_has_examples_of_both_ends(client):
    described = (await listed(client))[0]["inputSchema"]["properties"]["importance"]["description"]
    assert "0.9" in described
    assert "0.2" in described


async def test_the_filters_of_forgetting_are_those_that_reading_lists(client, service):
    kept = service.keep("note", session="s-old").id
    names = (await listed(client))[1]["inputSchema"]["properties"]["where"]["properties"]
    assert {"session", "tags", "since", "until"} <= set(names)
    gone = await call(client, "forget_memories", where={"session": "s-old"}, count=1)
    assert gone["ids"] == [kept]


async def test_the_whole_list_is_at_most_3000_tokens(client):
    assert len(json.dumps(await listed(client))) / 4 <= 3000


async def test_input_schemas_hold_nothing_that_some_clients_cannot_read(client):
    """google-genai fails on additionalProperties; a least length of an optional argument forbids the empty value of strict callers."""
    for tool in await listed(client):
        for schema in objects(tool["inputSchema"]):
            assert "additionalProperties" not in schema
            required = schema.get("required", ())
            optional = [inner for name, inner in schema.get("properties", {}).items() if name not in required]
            assert not any({"minLength", "minItems"} & set(inner) for inner in optional)


async def test_schemas_hold_no_references_titles_or_defaults(client):
    for tool in await listed(client):
        given = json.dumps([tool["inputSchema"], tool["outputSchema"]])
        for noise in ("$ref", "$defs", '"title"', '"default"', '"type": ['):
            assert noise not in given
        assert "anyOf" not in json.dumps(tool["inputSchema"])


async def test_every_tool_has_a_title_and_all_four_annotations(client):
    for tool in await listed(client):
        assert tool["title"]
        assert {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} <= set(tool["annotations"])
        assert tool["annotations"]["openWorldHint"] is False


async def test_only_reading_is_read_only_and_only_forgetting_is_destructive(client):
    tools = {tool["name"]: tool["annotations"] for tool in await listed(client)}
    assert [name for name, hints in tools.items() if hints["readOnlyHint"]] == ["read_memories"]
    assert [name for name, hints in tools.items() if hints["destructiveHint"]] == ["forget_memories"]
    assert [name for name, hints in tools.items() if hints["idempotentHint"]] == ["read_memories", "forget_memories"]


async def test_input_schemas_are_written_in_the_words_that_every_provider_reads(client):
    """Strict function calling of one or the other refuses limits, references, alternatives, or an object of anything."""
    for tool in await listed(client):
        for node in nodes(tool["inputSchema"]):
            assert set(node) <= {"type", "description", "properties", "required", "items", "enum"}
            assert isinstance(node["type"], str)
            assert ("properties" in node) is (node["type"] == "object")
            assert ("items" in node) is (node["type"] == "array")


async def test_no_object_takes_more_than_is_listed(client, server):
    """`quiet` is for programs."""
    for tool in await listed(client):
        with pytest.raises(ToolError, match="unknown argument"):
            await server.call_tool(tool["name"], {"colour": "red"})


async def test_a_newer_client_may_keep_the_lists_and_nothing_that_is_remembered(server):
    async with Client(server, mode="2026-07-28") as client:
        lists = [
            await client.list_tools(),
            await client.list_prompts(),
            await client.list_resources(),
            await client.list_resource_templates(),
        ]
        read = await client.read_resource("memory://status")
    assert {(one.ttl_ms, one.cache_scope) for one in lists} == {(3_600_000, "public")}
    assert (read.ttl_ms, read.cache_scope) == (0, "private")


async def test_the_instructions_are_given_and_short(client):
    assert client.instructions == INSTRUCTIONS
    assert len(INSTRUCTIONS) < 500


async def test_a_tool_added_through_the_sdk_is_listed_and_called_too(server):
    @server.tool()
    def echo(text: str) -> str:
        return text

    assert [tool.name for tool in await server.list_tools()][-1] == "echo"
    result = await server.call_tool("echo", {"text": "hi"})
    assert result.content[0].text == "hi"
