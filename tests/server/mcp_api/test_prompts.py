from __future__ import annotations

from datetime import UTC, datetime

import pytest
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, PromptReference, ResourceTemplateReference

pytestmark = pytest.mark.anyio


async def prompt(client, name, **arguments):
    (message,) = (await client.get_prompt(name, arguments)).messages
    assert message.role == "user"
    return message.content.text


async def failure(client, name, arguments):
    with pytest.raises(MCPError) as caught:
        await client.get_prompt(name, arguments)
    return caught.value.error


async def test_the_prompts_are_listed_with_their_arguments(client):
    listed = {one.name: [argument.name for argument in one.arguments] for one in (await client.list_prompts()).prompts}
    assert listed == {
        "answer_with_memories": ["question"],
        "remember_exchange": ["question", "thought"],
        "reflect_on_topic": ["topic"],
    }


async def test_every_argument_of_a_prompt_is_described(client):
    described = [one.description for prompt in (await client.list_prompts()).prompts for one in prompt.arguments]
    assert len(described) == 4
    assert all(described)


async def test_an_answer_stands_on_quoted_memories(client, service):
    service.keep("Ada plays the cello")
    text = await prompt(client, "answer_with_memories", question="What does Ada play?")
    assert "| Ada plays the cello" in text
    assert text.index("cello") < text.index("Question: What does Ada play?")


@pytest.mark.parametrize(("name", "argument"), [("answer_with_memories", "question"), ("reflect_on_topic", "topic")])
async def test_a_prompt_tells_when_a_thing_happened(client, service, name, argument):
    for text in ("Ada plays the cello", "Ada plays the cello at home", "Ada plays the old cello"):
        service.keep(text, occurred_at=datetime(2021, 3, 1, 12, tzinfo=UTC))
    text = await prompt(client, name, **{argument: "Ada plays the cello"})
    assert 'time="2021-03-01T12:00:00Z"' in text
    assert "2026" not in text


async def test_what_is_quoted_stands_under_a_heading_that_is_true_of_all_of_it(client, service):
    service.keep("Ada plays the cello")
    text = await prompt(client, "answer_with_memories", question="What does Ada play?")
    assert text.startswith("What is remembered:")


async def test_what_a_prompt_shows_does_not_count_as_recalled(client, service):
    service.keep("Ada plays the cello")
    await prompt(client, "answer_with_memories", question="What does Ada play?")
    assert not service._recalls


async def test_a_memory_found_and_recent_is_quoted_once(client, service):
    service.keep("Ada plays the cello")
    text = await prompt(client, "answer_with_memories", question="cello")
    assert text.count("| Ada plays the cello") == 1


async def test_an_answer_without_memories_is_the_question(client):
    text = await prompt(client, "answer_with_memories", question="Who is Ada?")
    assert text.startswith("Question: Who is Ada?")


async def test_an_exchange_is_handed_over_to_be_remembered(client):
    text = await prompt(client, "remember_exchange", question="I am Bob", thought="Hello Bob")
    assert "user: I am Bob" in text
    assert "assistant: Hello Bob" in text
    assert "write_memory" in text


async def test_a_topic_comes_with_its_memories(client, service):
    service.keep("tea in the morning")
    service.keep("tea in the evening")
    text = await prompt(client, "reflect_on_topic", topic="tea")
    assert "| tea in the morning" in text
    assert "Topic: tea" in text


async def test_a_topic_without_memories_says_so(client):
    assert "Nothing is remembered on this topic" in await prompt(client, "reflect_on_topic", topic="tea")


async def test_an_unknown_prompt_is_invalid_parameters(client):
    error = await failure(client, "sing", {})
    assert error.code == INVALID_PARAMS
    assert "answer_with_memories" in error.message


async def test_an_unknown_argument_is_invalid_parameters(client):
    error = await failure(client, "reflect_on_topic", {"topic": "x", "colour": "red"})
    assert error.code == INVALID_PARAMS
    assert "reflect_on_topic takes topic" in error.message


async def test_a_control_character_in_an_argument_is_invalid_parameters(client):
    assert (await failure(client, "reflect_on_topic", {"topic": "a\x00b"})).code == INVALID_PARAMS


async def test_an_unexpected_failure_tells_nothing_of_its_text(client, service):
    service.failure = RuntimeError("SECRET")
    assert "SECRET" not in str(await failure(client, "reflect_on_topic", {"topic": "x"}))


async def test_sessions_and_ids_of_templates_are_completed(client, service):
    memory = service.keep("x", session="s-long-ago")
    sessions = ResourceTemplateReference(type="ref/resource", uri="memory://most_recent_memories/{session}")
    found = await client.complete(sessions, {"name": "session", "value": "s-l"})
    assert found.completion.values == ["s-long-ago"]
    ids = ResourceTemplateReference(type="ref/resource", uri="memory://memories/{id}")
    found = await client.complete(ids, {"name": "id", "value": memory.id[:3]})
    assert found.completion.values == [memory.id]


async def test_at_most_a_hundred_values_are_suggested(client, service):
    for group in range(3):
        service.keep(f"x {group}", tags=tuple(f"tag-{group * 50 + n:03}" for n in range(50)))
    found = await client.complete(
        PromptReference(type="ref/prompt", name="reflect_on_topic"), {"name": "topic", "value": ""}
    )
    assert len(found.completion.values) == 100
    assert found.completion.has_more


async def test_what_cannot_be_completed_gives_nothing(client):
    found = await client.complete(
        PromptReference(type="ref/prompt", name="answer_with_memories"), {"name": "question", "value": "W"}
    )
    assert found.completion.values == []
