"""What the assertions on a memory check, and what they show when they fail."""

import re

import pytest

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
async def used(memory):
    """A memory with which an agent has worked."""
    memory.remember("Ada is allergic to peanuts.", tags=["health"], importance=0.9)
    async with memory.client() as client:
        await client.call_tool("read_memories", {"query": "What must Ada not eat?"})
        await client.call_tool("write_memory", {"content": "Ada lives in Bonn.", "tags": ["home"]})
        await client.call_tool("write_memory", {"content": "Ada plays chess."})
    return memory


def message_of(check, *arguments, **named):
    with pytest.raises(AssertionError) as raised:
        check(*arguments, **named)
    return str(raised.value)


async def test_what_is_there_is_found_by_its_words_and_its_fields(used):
    assert used.assert_remembered("allergic", "peanut", origin="user", tags=["health"]).importance == 0.9
    used.assert_remembered(re.compile("B.nn"))
    used.assert_not_remembered("walnuts")
    used.assert_not_remembered("peanuts", origin="agent")


async def test_what_is_missing_is_told_with_all_that_is_there(used):
    message = message_of(used.assert_remembered, "walnuts")
    assert message.startswith("no memory says 'walnuts'\n")
    assert "'Ada is allergic to peanuts.' [health]" in message
    assert "2. write_memory(content='Ada lives in Bonn.', tags=[\"home\"])" in message


async def test_all_words_are_to_stand_in_one_memory(used):
    assert message_of(used.assert_remembered, "allergic", "Bonn").startswith("no memory says 'allergic' and 'Bonn'")


async def test_what_was_replaced_is_not_remembered_and_the_message_says_what_became_of_it(used):
    old = used.assert_remembered("Bonn").id
    async with used.client() as client:
        await client.call_tool("update_memory", {"id": old, "content": "Ada lives in Rome."})
    used.assert_not_remembered("Bonn")
    message = message_of(used.assert_remembered, "Bonn")
    assert f"'Ada lives in Bonn.' [home] (replaced by {used.memories[0].id})" in message


async def test_what_was_forgotten_is_not_remembered(used):
    async with used.client() as client:
        await client.call_tool("forget_memories", {"ids": [used.assert_remembered("chess").id]})
    used.assert_not_remembered("chess")
    assert "(forgotten at 2026-01-10 12:00:04)" in message_of(used.assert_remembered, "chess")


async def test_what_must_not_be_there_is_looked_for_in_all_its_fields(memory):
    memory.remember("See the note.", metadata={"card": "4111"}, tags=["visa"])
    for word in ("4111", "visa", "card 4111"):
        assert "'See the note.'" in message_of(memory.assert_not_remembered, word)


async def test_how_often_something_is_remembered_can_be_said(used):
    async with used.client() as client:
        await client.call_tool("write_memory", {"content": "Ada still plays chess."})
    used.assert_remembered("Bonn", times=1)
    assert message_of(used.assert_remembered, "chess", times=1).startswith("2 memories say 'chess', not 1")


async def test_nothing_to_look_for_is_an_error(used):
    with pytest.raises(ValueError, match="say what"):
        used.assert_remembered()


async def test_what_a_question_brings_up_can_be_checked(used):
    assert used.assert_recalled("What must Ada not eat?", "peanuts").tags == ("health",)
    message = message_of(used.assert_recalled, "What must Ada not eat?", "Rome")
    assert message.startswith("'What must Ada not eat?' does not bring up 'Rome', but:\n")
    used.assert_recalled("Where does Ada live?", "Bonn", within=1)
    assert "within the first 1, but" in message_of(used.assert_recalled, "Where does Ada live?", "chess", within=1)
    assert len(used.transcript) == 3


async def test_calls_are_found_by_tool_and_arguments(used):
    assert used.assert_called("write_memory").arguments == {"content": "Ada plays chess."}
    used.assert_called("write_memory", content="Bonn", tags=["home"], times=1)
    used.assert_called("write_memory", times=2)
    used.assert_not_called("forget_memories")
    used.assert_not_called("write_memory", content="Rome")
    used.assert_calls("read_memories", "write_memory", "write_memory")


async def test_a_call_that_was_not_made_is_told_with_those_that_were(used):
    message = message_of(used.assert_called, "write_memory", content="Rome")
    assert message.startswith("write_memory(content='Rome') was not called\n")
    assert "1. read_memories(query='What must Ada not eat?')" in message
    assert "was called 2 times, not 1" in message_of(used.assert_called, "write_memory", times=1)
    assert "write_memory(content=...) was called 2 times" in message_of(
        used.assert_not_called, "write_memory", content=...
    )
    assert "the calls were not reflect, but read_memories, write_memory, write_memory" in message_of(
        used.assert_calls, "reflect"
    )


async def test_a_refused_call_is_seen(used):
    used.assert_no_refusals()
    async with used.client() as client:
        await client.call_tool("write_memory", {"content": ""})
    assert message_of(used.assert_no_refusals).startswith("1 call refused, the first: content: ")


async def test_a_transcript_begins_anew(used):
    used.transcript.clear()
    used.assert_calls()
    used.assert_remembered("Bonn")


async def test_a_transcript_can_be_looked_through(used):
    assert used.transcript.tools == ["read_memories", "write_memory", "write_memory"]
    assert [call.tool for call in used.transcript[1:]] == ["write_memory", "write_memory"]
    assert used.transcript.of("write_memory", tags=...)[0].arguments["content"] == "Ada lives in Bonn."
    assert used.transcript[0].answer["memories"][0]["text"] == "Ada is allergic to peanuts."
