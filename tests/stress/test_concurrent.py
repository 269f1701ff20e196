"""Many calls in flight at once against the real server and store: nothing lost, doubled or out of order."""

import random

import anyio
import pytest
from tests.stress.cases import check, seeds
from tests.stress.clients import Places, audit, said_twice, work
from tests.stress.serving import serving

TASKS = 16
LONG = [pytest.mark.stress, pytest.mark.timeout(300)]

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("quick_binding")]


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "calls"), [(0, 3), *(pytest.param(seed, 250, marks=LONG) for seed in seeds(20))])
async def test_calls_of_many_clients_at_once_have_an_order_that_explains_all_that_they_saw(tmp_path, seed, calls):
    """Every tenth seed goes to a file, where the engine's transactions take part; the others go through more orders."""
    places = Places.many(topics=2 + calls // 2, keys=1)
    async with serving(tmp_path / "memory.duckdb" if seed % 10 == 0 else None, TASKS) as running:
        for name in places.lists:
            await running.clients[0].start_list(name)
        gate = anyio.Event()

        async def one(number):
            await gate.wait()
            await work(running.clients[number], random.Random(f"{seed} {number}"), places, calls)

        async with anyio.create_task_group() as group:
            for number in range(TASKS):
                group.start_soon(one, number)
            gate.set()
        await audit(running.clients[0], places)
    check(running.recorder.history(), "concurrent", seed)
    assert [told for client in running.clients for told in client.refused] == []
    assert said_twice(running.clients) == []
