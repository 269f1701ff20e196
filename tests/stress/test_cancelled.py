"""Clients that stop waiting: what they asked for is done whole or not at all, and nothing of it stays behind."""

import random
import threading

import anyio
import pytest
from tests.history.calls import Outcome
from tests.stress.cases import check, seed_of_one
from tests.stress.clients import Places, audit, one_call
from tests.stress.serving import opened, serving

from hybrid_memory.requests import Where
from hybrid_memory.store.writing import ChangeType

TASKS = 20
LONGEST = 0.1
CALLS_AT_ONCE = 8
BESIDE = 4
"""Threads that come with the first calls and stay: news, related memories, the engine's, the loop's."""

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("quick_binding")]


@pytest.mark.slow
@pytest.mark.parametrize("calls", [40, pytest.param(500, marks=[pytest.mark.stress, pytest.mark.timeout(300)])])
async def test_cancelled_calls_are_done_whole_or_not_at_all_and_leave_nothing_behind(tmp_path, calls):
    seed = seed_of_one()
    path = tmp_path / "memory.duckdb"
    places = Places.many(topics=12)
    threads = []
    async with serving(path, TASKS) as running:
        for name in places.lists:
            await running.clients[0].start_list(name)
        before = threading.active_count()

        async def one(number):
            draw = random.Random(f"{seed} {number}")
            for _ in range(calls // TASKS):
                with anyio.move_on_after(draw.uniform(0, LONGEST)):
                    await one_call(running.clients[number], draw, places)
                threads.append(threading.active_count())

        async with anyio.create_task_group() as group:
            for number in range(TASKS):
                group.start_soon(one, number)
        await audit(running.clients[0], places)
        with anyio.fail_after(30):
            while running.provider.workers.busy:  # noqa: ASYNC110 - threads tell nobody that they are done
                await anyio.sleep(0.01)
    history = running.recorder.history()
    assert {Outcome.OK, Outcome.UNKNOWN} <= {call.outcome for call in history}
    check(history, "cancelled", seed)
    assert max(threads) <= before + CALLS_AT_ONCE + BESIDE
    assert_whole(path)


def assert_whole(path):
    """Every memory has its text, its vector, its words and one entry of the log that puts it."""
    service = opened(path)
    try:
        index = service._index_cache.get("default")
        batches = service.store.snapshot("default").batches
        ids = [one.decode() for batch in batches for one in batch.ids.tolist()]
        puts = [e.id for e in service.store.changes("default", 0, 10**6) if e.change is ChangeType.INSERT]
        assert sorted(puts) == sorted(ids)
        assert set(service.store.vectors("default", ids)) == set(ids)
        assert set(index.select(Where(), service.now())) <= set(service.store.get("default", ids))
    finally:
        service.close()
