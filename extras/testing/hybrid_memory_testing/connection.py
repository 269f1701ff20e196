"""A connected client that may be opened by one task and closed by another, as fixtures are."""

from __future__ import annotations

import asyncio  # noqa: TID251 - anyio has no task that outlives its block, which is what is needed here
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeVar

import anyio

T = TypeVar("T")


@asynccontextmanager
async def held_open(connect: Callable[[], AbstractAsyncContextManager[T]]) -> AsyncIterator[T]:
    """Yield what ``connect`` connects, which a task of its own holds open until the block ends.

    The SDK's client is to be left by the task that entered it, but pytest-asyncio sets a fixture up in one task and ends it in
    another. Under trio, whose fixtures stay in one task, there is no such task.
    """
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        async with connect() as connected:
            yield connected
        return
    ready: asyncio.Future[T] = loop.create_future()
    over = asyncio.Event()

    async def hold() -> None:
        try:
            async with connect() as connected:
                ready.set_result(connected)
                await over.wait()
        except BaseException as error:
            if ready.done():
                raise
            ready.set_exception(error)

    task = loop.create_task(hold(), name="connected client of a test")
    try:
        yield await ready
    finally:
        over.set()
        if not ready.done() or ready.cancelled():  # whoever was to be connected has given up
            task.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait({task})
            failed = None if task.cancelled() else task.exception()
    if failed is not None:
        raise failed
