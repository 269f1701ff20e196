"""A long day of one server: memory, files and threads of the process stay as they are when what is stored stays."""

import gc
import os
import random
import sys
import threading
from pathlib import Path

import pytest
from tests.stress.cases import seed_of_one
from tests.stress.serving import serving

TOPICS = 40
MOST_GROWTH = 15 * 1024 * 1024

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.usefixtures("quick_binding"),
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
]


def state():
    """Return resident bytes, open files and threads of this process."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE"), len(list(Path("/proc/self/fd").iterdir())), threading.active_count()


async def one_call(client, draw):
    """Make a call that leaves as many memories as there were."""
    topic = f"topic{draw.randrange(TOPICS)}"
    word, (place, memory) = draw.choice(list(client.known.items()))
    chance = draw.random()
    if chance < 0.45:
        await client._call("read_memories", query=topic, where={"tags": [topic]}, limit=20)
    elif chance < 0.65:
        await client._call("read_memories", query=f"what is said about {topic}?")
    elif chance < 0.75:
        await client._call("read_memories")
    elif chance < 0.87:
        again = await client._call("write_memory", content=f"{place} remark {word}", tags=[place])
        assert again["duplicate_of"] == memory
    elif chance < 0.95:
        await client._call("update_memory", id=memory, importance=draw.random())
    else:
        await client._call("forget_memories", ids=[memory])
        await client._call("forget_memories", ids=[memory], restore=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("known", "calls", "warm"),
    [(10, 30, 10), pytest.param(400, 30_000, 6_000, marks=[pytest.mark.stress, pytest.mark.timeout(1800)])],
)
async def test_a_long_day_costs_neither_memory_nor_files_nor_threads(tmp_path, known, calls, warm):
    draw = random.Random(seed_of_one())
    async with serving(tmp_path / "memory.duckdb", 1) as running:
        (client,) = running.clients
        for number in range(known):
            await client.write(f"topic{number % TOPICS}")
        for _ in range(warm):
            await one_call(client, draw)
        memory, files, threads = state()
        for _ in range(calls - warm):
            await one_call(client, draw)
        later = state()
        assert client.refused == []
    print(f"grown by {(later[0] - memory) / 1e6:.1f} MB, {later[1:]} after {(files, threads)}")  # noqa: T201 - a figure
    assert later[0] - memory <= MOST_GROWTH
    assert later[1] <= files
    assert later[2] <= threads  # fewer where one that loaded, or had nothing to do for ten seconds, has ended
