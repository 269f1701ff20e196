"""A client that one task opens and another one closes, as fixtures of pytest-asyncio do."""

import asyncio  # noqa: TID251 - what is tested is what asyncio's tasks do
from contextlib import asynccontextmanager

import anyio
import pytest

from hybrid_memory_testing.connection import held_open

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def in_a_task(call, *arguments):
    return await asyncio.create_task(call(*arguments))


async def test_a_client_is_opened_used_and_closed_by_three_tasks(memory):
    connected = memory.client()
    client = await in_a_task(connected.__aenter__)
    result = await in_a_task(client.call_tool, "write_memory", {"content": "Ada likes tea."})
    assert not result.is_error
    await in_a_task(connected.__aexit__, None, None, None)
    memory.assert_remembered("tea")
    with pytest.raises(RuntimeError):
        await client.list_tools()


@asynccontextmanager
async def failing(before=None, after=None):
    async with anyio.create_task_group():
        if before is not None:
            raise before
        yield 7
        if after is not None:
            raise after


async def test_what_fails_when_connecting_or_leaving_is_raised():
    for options in ({"before": OSError("x")}, {"after": OSError("x")}):
        with pytest.raises(ExceptionGroup) as raised:
            async with held_open(lambda given=options: failing(**given)):
                pass
        assert raised.group_contains(OSError, match="x")


async def test_the_error_of_the_block_is_the_one_that_is_raised():
    with pytest.raises(KeyError, match="of the block"):
        async with held_open(lambda: failing(after=OSError("x"))):
            raise KeyError("of the block")


async def test_who_gives_up_connecting_leaves_no_task_behind():
    @asynccontextmanager
    async def never():
        await anyio.sleep_forever()
        yield

    with anyio.move_on_after(0.01) as scope:
        async with held_open(never):
            pass
    assert scope.cancelled_caught
    assert [one.get_name() for one in asyncio.all_tasks() if "connected client" in one.get_name()] == []
