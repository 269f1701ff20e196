"""`quiet: true` of read_memories, which hooks send and no model hears of."""

from __future__ import annotations

import json

import pytest
from tests.server.services import call, refusal

from hybrid_memory.language.token_estimate import estimate_tokens
from hybrid_memory_mcp.mcp_api.tool_results import QUIET_FENCE, as_json

pytestmark = pytest.mark.anyio

EMPTY = {"memories": [], "remaining": 0, "cursor": None, "below_floor": 0}


async def said(client, prompt, **arguments):
    result = await client.call_tool("read_memories", {"query": prompt, "quiet": "text", **arguments})
    assert not result.is_error
    return result.content[0].text


async def test_it_is_accepted_and_not_listed(client):
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert "quiet" not in tools["read_memories"].input_schema["properties"]
    assert await call(client, "read_memories", query="hi", quiet="true") == EMPTY


async def test_a_refusal_does_not_name_it(client):
    assert "quiet" not in await refusal(client, "read_memories", colour="red")


async def answered(client, prompt):
    result = await client.call_tool("read_memories", {"query": prompt, "quiet": True})
    return json.loads(result.content[0].text)


async def test_the_text_is_the_answer_of_a_hook(client, service):
    kept = service.keep("Emma is allergic to hazelnuts")
    told = (await answered(client, "a cake for Emma"))["hookSpecificOutput"]
    assert told["hookEventName"] == "UserPromptSubmit"
    assert told["additionalContext"].splitlines()[1:] == [f'{kept.id} Sat 2026-01-10 "Emma is allergic to hazelnuts"']


async def test_nothing_known_is_an_empty_answer_of_a_hook(client, service):
    service.keep("Emma is allergic to hazelnuts")
    assert await answered(client, "fix the failing test in main.py") == {}
    assert await answered(client, "") == {}


async def test_nothing_known_is_an_empty_text(client, service):
    service.keep("Emma is allergic to hazelnuts")
    assert await said(client, "fix the failing test in main.py") == ""
    assert await said(client, "") == ""


async def test_what_bears_follows_one_line_that_says_what_it_is(client, service):
    kept = service.keep("Emma is allergic to hazelnuts")
    text = await said(client, "a cake for Emma")
    assert text.splitlines() == [QUIET_FENCE, f'{kept.id} Sat 2026-01-10 "Emma is allergic to hazelnuts"']


@pytest.mark.parametrize("other", [{}, {"query": "what may Emma eat?"}])
async def test_what_any_read_of_the_conversation_showed_does_not_come_again(client, service, other):
    service.keep("Emma is allergic to hazelnuts")
    await call(client, "read_memories", **other)
    assert await said(client, "a cake for Emma") == ""


@pytest.mark.slow
@pytest.mark.parametrize("budget", [100, 150, 225, 600])
async def test_a_budget_holds_and_from_225_on_in_both_parts(client, service, budget):
    for number in range(4):
        service.keep(f"Zoltan wants zymurgy kit {number}: " + "and it must be made of the finest copper " * 20)
    result = await client.call_tool(
        "read_memories", {"query": "the zymurgy kits of Zoltan", "quiet": "text", "token_budget": budget}
    )
    assert result.structured_content["memories"]
    assert estimate_tokens(result.content[0].text) <= budget
    assert budget < 225 or estimate_tokens(as_json(result.structured_content)) <= budget


async def test_a_prompt_of_any_length_is_no_error(client, service):
    service.keep("Emma is allergic to hazelnuts")
    assert "hazelnuts" in await said(client, "It rains a little. " * 5_000 + "\nWhat must Emma not eat, hazelnuts?")
