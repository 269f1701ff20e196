"""Several hubs in processes of their own, each with real clients, over one database: one order explains what all of them saw."""

import os
import random
import signal
from functools import partial

import anyio
import pytest
from tests.history.calls import Act, Outcome
from tests.postgres.harms import kill_a_backend, restart
from tests.postgres.proxy import Proxy
from tests.server.hubs import short_folder
from tests.stress.cases import seed_of_one
from tests.stress.clients import Places, audit, one_call
from tests.stress.hubs import check_hubs, machines
from tests.stress.processes import hub_of, until

pytestmark = [pytest.mark.postgres, pytest.mark.anyio, pytest.mark.daily]
STATIC = ("--embedder", "static")


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def folder():
    with short_folder() as path:
        yield path


async def worked(running, places, seed, calls):
    """Have every client make so many calls, of all sorts, at the same time."""
    await started(running, places)

    async def work(client):
        draw = random.Random(f"{seed} {client.name}")
        for _ in range(calls):
            await one_call(client, draw, places)

    async with anyio.create_task_group() as group:
        for client in running.clients:
            group.start_soon(work, client)
    await ended(running, places)


async def started(running, places):
    """Make the lists that all append to, and wait until every hub shows them."""
    for name in places.lists:
        await running.clients[0].start_list(name)
    for client in running.of_each():
        for name in places.lists:
            with anyio.fail_after(60):
                while not (await client._call("read_memories", query=name, where={"tags": [name]}))["memories"]:  # noqa: ASYNC110 - another process sets no event here
                    await anyio.sleep(0.01)


async def ended(running, places):
    """Read every place through every hub."""
    for client in running.of_each():
        await audit(client, places)


async def harmed(running, places, seed, harms, least):
    """Have clients call on while ``harms`` happen, each after clients have had some answers.

    A list of harms is of all clients; of several lists each is of one hub's, and happens alongside the others.
    """
    await started(running, places)
    over = anyio.Event()

    async def work(client):
        draw = random.Random(f"{seed} {client.name}")
        while not over.is_set():
            await one_call(client, draw, places)

    async def harm(clients, some):
        for one in some:
            await answered(running, clients, least)
            await one()

    async with anyio.create_task_group() as group:
        for client in running.clients:
            group.start_soon(work, client)
        async with anyio.create_task_group() as harming:
            for clients, some in together(running, harms):
                harming.start_soon(harm, clients, some)
        await answered(running, running.clients, least)
        over.set()
    await ended(running, places)


def together(running, harms):
    """Return which clients have to be answered before each of some harms, which happen one after the other."""
    if not isinstance(harms[0], list):
        return [(running.clients, harms)]
    return [(running.of_hub(number), some) for number, some in enumerate(harms)]


async def answered(running, clients, least):
    before = {one.name: running.recorder.answers(one.name) for one in clients}
    await until(lambda: all(running.recorder.answers(name) >= count + least for name, count in before.items()))


def not_done(running):
    """Return what clients were told instead of an answer, and the calls of which they do not know whether these were done."""
    told = [told for client in running.clients for told in client.refused]
    return told + [call for call in running.recorder.history() if call.outcome is Outcome.UNKNOWN]


async def test_two_hubs_agree_with_their_clients(database, folder):
    places = Places.many(topics=6, lists=1, keys=1)
    async with machines(folder, database.address, 2, 2, *STATIC) as running:
        await worked(running, places, 1, 12)
    print(check_hubs(running, "two-hubs", 1))  # noqa: T201 - the figures
    assert not_done(running) == []


async def test_a_write_in_one_hub_is_read_in_the_other(database, folder):
    async with machines(folder, database.address, 2, 1, *STATIC) as running:
        first, second = running.clients
        await first.write("tea")
        with anyio.fail_after(60):
            while not await second.read(Act.READ, "tea"):  # noqa: ASYNC110 - another process sets no event here
                await anyio.sleep(0.005)
    check_hubs(running, "one-write", 1)


@pytest.mark.stress
@pytest.mark.timeout(1200)
async def test_four_hubs_with_sixteen_clients_have_one_order(durable, folder):
    seed = seed_of_one()
    places = Places.many(topics=120)
    async with machines(folder, durable.address, 4, 4, *STATIC) as running:
        await worked(running, places, seed, 120)
    print(check_hubs(running, "four-hubs", seed))  # noqa: T201 - the figures
    assert not_done(running) == []


@pytest.mark.stress
@pytest.mark.timeout(3600)
async def test_hubs_that_are_killed_a_hundred_times_lose_nothing(durable, folder):
    seed = seed_of_one()
    places = Places.many(topics=200)

    async def kill(home):
        await until(lambda: hub_of(home) is not None)
        os.kill(hub_of(home), signal.SIGKILL)

    # Each machine by itself: a hub that starts takes seconds alongside so many processes, and often several are away at once.
    async with machines(folder, durable.address, 4, 2, *STATIC) as running:
        await harmed(running, places, seed, [[partial(kill, home)] * 25 for home in running.homes], 10)
    print(check_hubs(running, "killed-hubs", seed))  # noqa: T201 - the figures
    assert not_done(running) == []


@pytest.mark.stress
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("harm", "times"), [(kill_a_backend, 100), (restart, 20)], ids=["backends", "restarts"])
async def test_a_server_that_crashes_again_and_again_costs_the_clients_of_hubs_nothing(
    durable,
    folder,
    harm,
    times,
):
    seed = seed_of_one()
    places = Places.many(topics=200)
    once = partial(anyio.to_thread.run_sync, harm, durable, random.Random(seed))
    async with machines(folder, durable.address, 4, 2, *STATIC) as running:
        await harmed(running, places, seed, [once] * times, 2)
    print(check_hubs(running, f"server-{harm.__name__}", seed))  # noqa: T201 - the figures
    assert not_done(running) == []


@pytest.mark.stress
@pytest.mark.timeout(1800)
async def test_a_network_that_drops_delays_and_halves_costs_the_clients_of_hubs_nothing(durable, folder):
    seed = seed_of_one()
    draw, places = random.Random(seed), Places.many(topics=150)
    proxy = Proxy(durable)

    async def harm():
        kind = draw.randrange(4)
        if kind == 0:
            proxy.cut_all()
        elif kind == 1:
            proxy.cut_after(draw.randrange(3000), draw.choice(list(proxy.carried)))
        elif kind == 2:
            proxy.delay(draw.choice([0.0, 0.005, 0.02]))
        else:
            proxy.refuse()
            proxy.cut_all()
            await anyio.sleep(draw.uniform(0, 1.5))
            proxy.go_on()

    try:
        async with machines(folder, proxy.address, 4, 2, *STATIC) as running:
            await harmed(running, places, seed, [harm] * 60, 2)
    finally:
        proxy.close()
    print(check_hubs(running, "bad-network", seed))  # noqa: T201 - the figures
    assert not_done(running) == []
