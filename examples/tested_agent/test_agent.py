"""Tests of the kitchen assistant with the fixture `memory`, offline.

    pytest examples/tested_agent               all pass
    pytest examples/tested_agent --hybrid-memory-off   those that are about the memory fail, as they should

The fixture comes with hybrid-memory-mcp: there is nothing to configure. docs/testing.md explains it.
"""

import pytest
from agent import KitchenAssistant, Turn

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


class ScriptedModel:
    """Follows the rules as a good model would: so what a test sees is the program's doing, not a model's mood."""

    async def turn(self, messages, tools):
        last, said = messages[-1], [one.text for one in messages if one.role == "user"][-1]
        if last.tool == "read_memories" and said.startswith("Actually"):
            old = last.answer["memories"][0]["id"]
            return Turn(tool="write_memory", arguments={"content": said, "origin": "user", "supersedes": old})
        if last.tool == "read_memories":
            known = [one["text"] for one in last.answer["memories"]]
            return Turn(text=f"Minding that: {known[0]}" if known else "How about satay with peanuts?")
        if last.tool == "write_memory":
            return Turn(text="Noted.")
        if said.endswith("?") or said.startswith("Actually"):
            about = said.removeprefix("Actually, ") if said.startswith("Actually") else "What must the user not eat?"
            return Turn(tool="read_memories", arguments={"query": about})
        return Turn(tool="write_memory", arguments={"content": said, "origin": "user"})


async def test_what_the_user_tells_is_remembered_as_the_users(memory):
    async with memory.client() as client:
        answer = await KitchenAssistant(client, ScriptedModel()).say("I am allergic to peanuts.")

    assert answer == "Noted."
    memory.assert_remembered("allergic to peanuts", origin="user")
    memory.assert_no_refusals()


async def test_the_next_conversation_minds_what_was_said_in_the_first(memory):
    async with memory.client() as monday:
        await KitchenAssistant(monday, ScriptedModel()).say("I am allergic to peanuts.")
    memory.clock.advance(days=90)
    async with memory.client() as spring:
        answer = await KitchenAssistant(spring, ScriptedModel()).say("What shall I cook tonight?")

    assert "allergic to peanuts" in answer
    memory.assert_called("read_memories", query="not eat")


async def test_a_conversation_begins_with_what_is_known(memory):
    memory.remember("I am a vegetarian.")
    async with memory.client() as client:
        assistant = KitchenAssistant(client, ScriptedModel())
        await assistant.say("What shall I cook tonight?")

    assert "I am a vegetarian." in assistant.messages[0].text


async def test_a_correction_takes_the_place_of_what_was_wrong(memory):
    memory.remember("I eat dinner at six.")
    async with memory.client() as client:
        await KitchenAssistant(client, ScriptedModel()).say("Actually, I eat dinner at eight.")

    memory.assert_remembered("dinner at eight")
    memory.assert_not_remembered("dinner at six")
    memory.assert_called("write_memory", supersedes=...)


async def test_nothing_is_asked_or_written_when_nothing_is_said(memory):
    async with memory.client() as client:
        KitchenAssistant(client, ScriptedModel())

    memory.assert_calls()
