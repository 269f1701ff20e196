import threading

import anyio
import anyio.lowlevel
import pytest

from hybrid_memory_mcp.runtime.workers import WorkerPool

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def until(condition):
    with anyio.fail_after(10):
        while not condition():
            await anyio.lowlevel.checkpoint()


async def begun(workers, work, *limiters):
    """Begin work whose caller gives up while it is being done."""
    started = threading.Event()

    def watched():
        started.set()
        return work()

    async with anyio.create_task_group() as group:
        group.start_soon(workers.run, watched, *limiters)
        await until(started.is_set)
        group.cancel_scope.cancel()


async def test_work_gives_its_answer_and_its_place_back():
    workers = WorkerPool(1)
    assert [await workers.run(lambda: 1), await workers.run(lambda: 2)] == [1, 2]
    assert workers.busy == 0


async def test_an_error_reaches_the_caller_and_gives_the_place_back():
    workers = WorkerPool(1)
    with pytest.raises(ZeroDivisionError):
        await workers.run(lambda: 1 // 0)
    assert workers.busy == 0


async def test_work_whose_caller_left_keeps_its_place_until_it_is_done():
    workers, end = WorkerPool(1), threading.Event()
    await begun(workers, end.wait)
    assert workers.busy == 1
    end.set()
    await until(lambda: workers.busy == 0)


async def test_work_that_had_to_wait_is_not_begun_when_its_caller_left():
    workers, end, done = WorkerPool(1), threading.Event(), []
    async with anyio.create_task_group() as group:
        group.start_soon(workers.run, end.wait)
        await until(lambda: workers.busy == 1)
        async with anyio.create_task_group() as impatient:
            impatient.start_soon(workers.run, lambda: done.append("late"))
            await anyio.lowlevel.checkpoint()
            impatient.cancel_scope.cancel()
        end.set()
    assert await workers.run(lambda: "next") == "next"
    assert done == []


async def test_work_whose_caller_left_keeps_its_place_in_its_lane_too():
    workers, limiter, end = WorkerPool(2), anyio.CapacityLimiter(1), threading.Event()
    await begun(workers, end.wait, limiter)
    assert limiter.borrowed_tokens == 1
    end.set()
    await until(lambda: limiter.borrowed_tokens == 0 and workers.busy == 0)


async def test_who_leaves_before_there_is_a_place_gives_back_the_one_in_the_lane():
    workers, limiter, end = WorkerPool(1), anyio.CapacityLimiter(1), threading.Event()
    async with anyio.create_task_group() as group:
        group.start_soon(workers.run, end.wait)
        await until(lambda: workers.busy == 1)
        with anyio.move_on_after(0):
            await workers.run(lambda: None, limiter)
        assert limiter.borrowed_tokens == 0
        end.set()
