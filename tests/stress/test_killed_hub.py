"""kill -9 of the hub and of relays under live clients: they notice nothing, and nothing is lost or done twice."""

import os
import random
import signal
import statistics
import sys
import time

import anyio
import pytest
from tests.history.calls import Act, Outcome
from tests.server.raw import started
from tests.stress.cases import check, seed_of_one
from tests.stress.clients import Places, audit, one_call, said_twice
from tests.stress.processes import client_of, hub_of, is_alive, kill_hub, recording_clients, until

CLIENTS = 3
SERVED_WITHIN = 2.0
GOES_ON_WITHIN = 5.0
LEAVES_WITHIN = 10.0

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL"),
]
KILLS = 60


@pytest.mark.stress
@pytest.mark.timeout(600)
async def test_clients_of_a_hub_that_is_killed_again_and_again_see_no_error_and_lose_nothing(tmp_path):
    seed = seed_of_one()
    places = Places.many(topics=KILLS, lists=2)
    over = anyio.Event()

    async def work(client):
        draw = random.Random(f"{seed} {client.name}")
        while not over.is_set():
            await one_call(client, draw, places)

    async with recording_clients(tmp_path, CLIENTS) as clients:
        recorder = clients[0].recorder
        for name in places.lists:
            await clients[0].start_list(name)
        async with anyio.create_task_group() as group:
            for client in clients:
                group.start_soon(work, client)
            await kill_often(tmp_path, recorder, random.Random(seed), KILLS)
            over.set()
        await audit(clients[0], places)
    history = recorder.history()
    check(history, "killed-hub", seed)
    assert [told for client in clients for told in client.refused] == []
    assert said_twice(clients) == []
    assert [call for call in history if call.outcome is Outcome.UNKNOWN] == []


async def kill_often(home, recorder, draw, kills):
    """Kill the hub at moments of a call, always after every client got answers from it."""
    for _ in range(kills):
        answered = {f"c{number}": recorder.answers(f"c{number}") for number in range(CLIENTS)}
        least = draw.randrange(1, 8)
        await until(lambda: all(recorder.answers(name) >= count + least for name, count in answered.items()))  # noqa: B023 - used at once
        await anyio.sleep(draw.uniform(0, 0.03))
        await kill_hub(home)


@pytest.mark.stress
@pytest.mark.timeout(600)
async def test_two_clients_see_each_others_writes_at_once_and_the_second_is_served_in_time(tmp_path):
    waits = []
    for number in range(8):
        home = tmp_path / str(number)
        async with recording_clients(home, 1) as (first,):
            await first.write("first")
            begun = time.monotonic()
            async with client_of(home) as client:
                second = type(first)("c1", client, first.recorder, first.known)
                await second.read(Act.READ, "first")
                waits.append(time.monotonic() - begun)
                async with anyio.create_task_group() as group:
                    group.start_soon(write_and_look, first, "first", "second")
                    group.start_soon(write_and_look, second, "second", "first")
                await audit(first, Places(("first", "second"), (), ()))
        check(first.recorder.history(), "two-clients", number)
        assert len(first.known) == 51
    print(f"second client served within {statistics.median(waits):.2f} s (median), {max(waits):.2f} s (longest)")  # noqa: T201 - a figure
    assert statistics.median(waits) <= SERVED_WITHIN


async def write_and_look(client, mine, others):
    for _ in range(25):
        await client.write(mine)
        await client.read(Act.READ, others)


@pytest.mark.stress
@pytest.mark.timeout(600)
async def test_after_a_kill_the_other_clients_go_on_in_time(tmp_path):
    waits = []
    async with recording_clients(tmp_path, 2) as clients:
        for _ in range(20):
            await clients[0].write("topic")
            await kill_hub(tmp_path)
            begun = time.monotonic()
            await clients[1].read(Act.READ, "topic")
            waits.append(time.monotonic() - begun)
        await audit(clients[1], Places(("topic",), (), ()))
    check(clients[0].recorder.history(), "goes-on", 0)
    print(f"goes on within {statistics.median(waits):.2f} s (median), {max(waits):.2f} s (longest)")  # noqa: T201 - a figure
    assert statistics.median(waits) <= GOES_ON_WITHIN


@pytest.mark.stress
async def test_a_killed_relay_harms_nobody_else(tmp_path):
    async with recording_clients(tmp_path, 2) as clients:
        for number in range(10):
            with started(tmp_path, alone=False) as victim:
                victim.initialize()
                victim.call(1, "write_memory", content=f"kept remark v{number}", tags=["kept"])
                async with anyio.create_task_group() as group:
                    for client in clients:
                        group.start_soon(client.write, f"topic{number}")
                    victim.process.send_signal(signal.SIGKILL)
        kept = await clients[0].read(Act.READ, "kept")
        assert kept is not None
        await audit(clients[1], Places(tuple(f"topic{number}" for number in range(10)), (), ()))
    history = [call for call in clients[0].recorder.history() if call.place != "kept"]
    check(history, "killed-relay", 0)
    assert {call.outcome for call in history} == {Outcome.OK}
    assert sum(word.startswith("v") for word in clients[0].known) == 10


@pytest.mark.stress
async def test_when_all_clients_are_gone_no_process_is_left(tmp_path):
    async with recording_clients(tmp_path, 2) as clients:
        await clients[0].write("topic")
        pid = hub_of(tmp_path)
        assert pid is not None
    waited = await until(lambda: not is_alive(pid))
    assert waited <= LEAVES_WITHIN
    assert not (tmp_path / "memory.duckdb.wal").exists()


@pytest.mark.stress
async def test_a_program_that_has_the_store_open_is_named_and_nothing_else_is_told(tmp_path):
    from hybrid_memory.clock import SystemClock, SystemRandomSource
    from hybrid_memory.service.memory_service import MemoryService

    service = MemoryService.open(tmp_path, clock=SystemClock(), random_source=SystemRandomSource())
    try:
        with started(tmp_path, alone=False) as raw:
            raw.initialize()
            refused = raw.call(1, "read_memories")
            assert refused["isError"] is True
            assert f"process {os.getpid()}" in refused["content"][0]["text"]
            service.close()
            assert raw.call(2, "read_memories")["isError"] is False
            raw.process.stdin.close()
            assert b"Traceback" not in raw.process.stderr.read()
    finally:
        service.close()
    assert "Traceback" not in (tmp_path / "logs" / "hub.log").read_text()
