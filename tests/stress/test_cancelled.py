"""Clients that stop waiting: what they asked for is done whole or not at all, and nothing of it stays behind."""

import random
import threading

import anyio
import pytest
from tests.history.calls import Act, Outcome
from tests.stress.cases import check, seed_of_one
from tests.stress.clients import Places, audit, one_call
from tests.stress.serving import opened, serving

from hybrid_memory.model import MemoryId
from hybrid_memory.store.interface import Change

TASKS = 20
LONGEST = 0.03

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("quick_binding")]


@pytest.mark.parametrize("calls", [60, pytest.param(500, marks=[pytest.mark.stress, pytest.mark.timeout(300)])])
async def test_cancelled_calls_are_done_whole_or_not_at_all(tmp_path, calls):
    seed = seed_of_one()
    path = tmp_path / "memory.duckdb"
    places = Places.many(topics=12)
    threads = []
    async with serving(path, TASKS) as running:
        for name in places.lists:
            await running.hands[0].start_list(name)
        before = threading.active_count()

        async def one(number):
            draw = random.Random(f"{seed} {number}")
            for _ in range(calls // TASKS):
                with anyio.move_on_after(draw.uniform(0, LONGEST)):
                    await one_call(running.hands[number], draw, places)
                threads.append(threading.active_count())

        async with anyio.create_task_group() as group:
            for number in range(TASKS):
                group.start_soon(one, number)
        await audit(running.hands[0], places)
        tokens = running.provider._limiter.statistics()
    history = running.recorder.history()
    print(before, max(threads), tokens, sum(c.outcome is Outcome.UNKNOWN for c in history), len(history))
    check(history, "cancelled", seed)
