"""The memory that people test their agents with."""

import logging
import os
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest
from mcp.client import Client

from hybrid_memory_testing import build_server, memory_for_tests

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def written(memory, content, **fields):
    async with memory.client() as client:
        return await client.call_tool("write_memory", {"content": content, **fields})


async def test_what_an_agent_writes_is_remembered(memory):
    await written(memory, "I am allergic to peanuts.")
    found = memory.assert_remembered("peanuts")
    assert found.content == "I am allergic to peanuts."


async def test_each_protocol_era_can_be_spoken(memory):
    async with memory.client(mode="legacy") as client:
        await client.call_tool("write_memory", {"content": "one"})
    async with memory.client(mode="2026-07-28") as client:
        await client.call_tool("write_memory", {"content": "two"})
    memory.assert_calls("write_memory", "write_memory")


async def test_every_test_begins_with_an_empty_memory_and_the_same_ids():
    ids = []
    for _ in range(2):
        with memory_for_tests() as memory:
            memory.assert_not_remembered("tea")
            await written(memory, "Ada likes tea.")
            ids.append([one.id for one in memory.memories])
    assert ids[0] == ids[1]


async def test_another_seed_draws_other_ids():
    found = set()
    for seed in (1, 2):
        with memory_for_tests(seed=seed) as memory:
            found.add(memory.remember("Ada likes tea."))
    assert len(found) == 2


async def test_calls_made_at_once_are_done_in_their_order(memory):
    async with memory.client() as client, anyio.create_task_group() as group:
        for number in range(5):
            group.start_soon(client.call_tool, "write_memory", {"content": f"number {number}"})
    assert [call.arguments["content"] for call in memory.transcript] == [f"number {at}" for at in range(5)]


async def test_the_transcript_has_each_call_as_it_was_sent_and_answered(memory):
    async with memory.client(session="monday") as client:
        await client.call_tool("write_memory", {"content": "Ada likes tea.", "tags": "drinks"})
        await client.call_tool("write_memory", {"contents": "x"})
    first, second = memory.transcript
    assert (first.tool, first.arguments) == ("write_memory", {"content": "Ada likes tea.", "tags": "drinks"})
    assert (first.session, first.failed, first.at) == ("monday", False, datetime(2026, 1, 10, 12, tzinfo=UTC))
    assert first.answer["id"] == memory.memories[0].id
    assert second.failed
    assert "unknown argument" in second.text
    assert str(memory.transcript).startswith(
        "1. write_memory(content='Ada likes tea.', tags='drinks')\n    -> Remembered"
    )


async def test_resources_and_prompts_stand_in_the_transcript(memory):
    memory.remember("Ada likes tea.")
    async with memory.client() as client:
        await client.read_resource("memory://most_recent_memories")
        await client.get_prompt("reflect_on_topic", {"topic": "tea"})
    memory.assert_calls("resources/read", "prompts/get")
    assert "Ada likes tea." in memory.assert_called("resources/read", uri="memory://most_recent_memories").text


async def test_time_passes_when_the_test_says_so(memory):
    memory.remember("Ada likes tea.")
    memory.clock.advance(days=30)
    await written(memory, "Ada likes coffee.")
    new, old = memory.memories
    assert new.created_at - old.created_at == timedelta(days=30, seconds=1)


async def test_what_expires_is_remembered_until_then(memory):
    await written(memory, "The parcel comes tomorrow.", expires_at="in 2 days")
    memory.assert_remembered("parcel")
    memory.clock.advance(days=4)
    memory.assert_not_remembered("parcel")
    assert memory.recall("When does the parcel come?") == []


def test_the_clock_can_begin_on_any_day_and_jump():
    with memory_for_tests(start="2024-02-29", timezone="Europe/Berlin") as memory:
        memory.remember("Leap day.")
        memory.clock.set("2024-03-01T08:00+01:00")
        memory.remember("Breakfast.")
    assert [str(call) for call in memory.transcript] == []
    assert memory.clock.now() == datetime(2024, 3, 1, 7, 0, 1, tzinfo=UTC)


async def test_an_unnamed_conversation_ends_with_its_client_and_a_named_one_goes_on(memory):
    async with memory.client() as first, memory.client(session="monday") as named:
        await first.call_tool("write_memory", {"content": "passing", "memory_type": "working", "key": "a"})
        await named.call_tool("write_memory", {"content": "staying", "memory_type": "working", "key": "a"})
    memory.assert_not_remembered("passing")
    memory.assert_remembered("staying", session="monday")


async def test_clients_hear_of_each_others_writes(memory):
    heard = anyio.Event()

    async def hear(events):
        async for _ in events:
            heard.set()

    async with (
        memory.client() as listening,
        memory.client() as writing,
        listening.listen(resource_subscriptions=["memory://most_recent_memories"]) as events,
        anyio.create_task_group() as group,
    ):
        group.start_soon(hear, events)
        await writing.call_tool("write_memory", {"content": "news"})
        with anyio.fail_after(10):
            await heard.wait()
        group.cancel_scope.cancel()


async def test_a_server_of_this_process_is_for_other_clients(memory):
    async with Client(memory.server(session="monday")) as client:
        await client.call_tool("write_memory", {"content": "Ada likes tea."})
    memory.assert_remembered("tea", session="monday")


async def test_what_was_prepared_is_the_users_and_no_call_of_the_agent(memory):
    made = memory.remember("Ada is allergic to nuts.", tags=("health",), occurred_at=datetime(2025, 1, 1), pinned=True)  # noqa: DTZ001
    found = memory.assert_remembered("nuts", origin="user", tags=["health"], pinned=True, session="earlier")
    assert (found.id, found.occurred_at) == (made, datetime(2025, 1, 1, tzinfo=UTC))
    memory.assert_calls()


def test_a_wrong_field_of_a_prepared_memory_is_an_error(memory):
    with pytest.raises(ValueError, match="importanc"):
        memory.remember("x", importanc=1)


@pytest.mark.hybrid_memory(settings={"secrets": "refuse"})
async def test_settings_of_the_store_can_be_chosen(memory):
    result = await written(memory, "My key is AKIAIOSFODNN7EXAMPLE")
    assert result.is_error
    memory.assert_not_remembered("AKIAIOSFODNN7EXAMPLE")


def test_a_wrong_setting_is_named():
    with pytest.raises(ValueError, match="settings: colour"):
        memory_for_tests(settings={"colour": "red"})


def test_the_settings_of_the_machine_do_not_count(monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_SECRETS", "refuse")
    monkeypatch.setenv("HYBRID_MEMORY_NAMESPACE", "elsewhere")
    with memory_for_tests() as memory:
        memory.remember("My key is AKIAIOSFODNN7EXAMPLE")
        assert memory.assert_remembered("AKIAIOSFODNN7EXAMPLE").namespace == "default"


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["memory", "stdio"])
async def test_it_leaves_environment_umask_log_and_threads_as_they_were(transport):
    def state():
        mask = os.umask(0o022)
        os.umask(mask)
        root = logging.getLogger()
        variables = dict(os.environ)  # noqa: TID251 - whether they are left alone is the test
        return mask, variables, list(root.handlers), root.level

    before, threads = state(), set(threading.enumerate())
    with memory_for_tests(transport=transport) as memory:
        await written(memory, "Ada likes tea.")
    assert state() == before
    for one in set(threading.enumerate()) - threads:
        one.join(10)  # it was told to end, which takes it a moment on a busy machine
    assert set(threading.enumerate()) <= threads  # those of earlier tests may end meanwhile


def test_a_memory_without_its_block_says_so():
    with pytest.raises(RuntimeError, match="with memory_for_tests"):
        memory_for_tests().remember("x")


def test_a_memory_is_of_one_block():
    memory = memory_for_tests()
    with memory:
        pass
    with pytest.raises(RuntimeError, match="make another one"), memory:
        pass


async def test_a_block_may_be_asynchronous():
    async with memory_for_tests() as memory:
        await written(memory, "Ada likes tea.")
        memory.assert_remembered("tea")


async def test_a_server_can_be_built_with_one_call():
    async with Client(build_server()) as client:
        assert len((await client.list_tools()).tools) == 5
        assert not (await client.call_tool("write_memory", {"content": "Ada likes tea."})).is_error


async def test_a_memory_that_is_off_takes_everything_and_keeps_nothing():
    with memory_for_tests(off=True) as memory:
        assert memory.remember("Ada likes tea.")
        assert not (await written(memory, "Ada likes coffee.")).is_error
        memory.assert_called("write_memory", content="coffee")
        with pytest.raises(AssertionError, match="is switched off"):
            memory.assert_remembered("coffee")


def test_a_variable_switches_the_memory_off(monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_TEST_OFF", "1")
    assert memory_for_tests().is_off
    monkeypatch.setenv("HYBRID_MEMORY_TEST_OFF", "0")
    assert not memory_for_tests().is_off


def test_nothing_heavy_is_imported_with_the_plugin():
    code = (
        "import sys; before = set(sys.modules); import pytest; after = set(sys.modules);"
        "import hybrid_memory_testing.plugin; print(sorted(set(sys.modules) - after))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout
    assert eval(found) == ["hybrid_memory_testing", "hybrid_memory_testing.plugin"]  # noqa: S307


@pytest.mark.hybrid_memory(transport="stdio")
async def test_over_stdio_the_program_is_a_process_and_all_else_is_the_same(memory):
    memory.remember("Ada likes tea.")
    async with memory.client(session="monday") as client:
        found = await client.call_tool("read_memories", {"query": "What does Ada like?"})
        await client.call_tool("write_memory", {"content": "Ada lives in Bonn."})
    assert "Ada likes tea." in found.content[0].text
    bonn = memory.assert_remembered("Bonn", session="monday")
    with memory_for_tests() as other:
        other.remember("Ada likes tea.")
        other.clock.advance(seconds=1)
        assert bonn.created_at == other.clock.now()
    memory.assert_calls("read_memories", "write_memory")


def test_the_command_of_a_client_is_there_over_stdio_alone(memory):
    with pytest.raises(RuntimeError, match="stdio"):
        memory.mcp_config()


def test_an_unknown_transport_is_an_error():
    with pytest.raises(ValueError, match="neither 'memory' nor 'stdio'"):
        memory_for_tests(transport="http")


@pytest.mark.slow
@pytest.mark.hybrid_memory(transport="stdio")
async def test_over_stdio_too_an_unnamed_conversation_has_ended_when_its_client_has_left(memory):
    async with memory.client() as client:
        await client.call_tool("write_memory", {"content": "passing", "memory_type": "working", "key": "a"})
    memory.assert_not_remembered("passing")


def test_a_wrong_time_zone_is_an_error():
    with pytest.raises(ValueError, match="Europe/Berlin"):
        memory_for_tests(timezone="Mars/Base")


def test_a_program_that_is_left_running_ends_with_the_memory_and_leaves_no_folder():
    with memory_for_tests(transport="stdio") as memory:
        command = memory.command()
        home = Path(command[command.index("--home") + 1])
        program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        program.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        program.stdin.flush()
        assert program.stdout.readline()
    with program:
        program.stdin.close()
        program.wait(10)
    assert not home.exists()


def test_the_embedder_is_the_small_table_unless_a_test_names_another(memory):
    memory.remember("I moved to Porto.")
    assert memory.service.store.info().embedder.startswith("static")
