"""kill -9 of a writer: what it acknowledged is there, and what it did not is whole or absent.

This keeps the page cache alive, so it says nothing about a power cut.
"""

import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hybrid_memory.model import MemoryId
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.store.writing import RequestKey
from hybrid_memory.testing import FakeClock

WRITES = """
import sys
from pathlib import Path
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.store.writing import Insert, RequestKey
from hybrid_memory.testing import FakeClock
from tests.core.store.making import DIMENSIONS, always, memory, vector

store = DuckStore.open(Path(sys.argv[1]), FakeClock())
store.pin_embedder("e", DIMENSIONS)
number = int(sys.argv[2])
while True:
    pair = (Insert(memory(f"a{number}"), vector(number)), Insert(memory(f"b{number}")))
    store.write("default", RequestKey("relay", number), always(inserts=pair, result={"n": number}))
    number += 1
    sys.stdout.write(".")
    sys.stdout.flush()
"""


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [2, pytest.param(150, marks=[pytest.mark.stress, pytest.mark.timeout(300)])])
def test_a_killed_writer_loses_nothing_that_it_acknowledged(path, rounds):
    chance = random.Random(7)
    stored = 0
    for _ in range(rounds):
        acknowledged = stored + killed_after(path, stored, chance.randrange(1, 30), chance.uniform(0.0, 0.01))
        store = DuckStore.open(path, FakeClock())
        try:
            stored = stored_writes(store)
        finally:
            store.close()
        assert acknowledged <= stored <= acknowledged + 1


def killed_after(path: Path, start: int, writes: int, longer: float) -> int:
    """Kill a writer some time after its n-th acknowledgement; returns how many there were."""
    command = [sys.executable, "-c", WRITES, str(path), str(start)]
    with subprocess.Popen(command, cwd=Path(__file__).parents[3], stdout=subprocess.PIPE) as writer:
        first = writer.stdout.read(writes)
        killer = threading.Timer(longer, writer.kill)
        killer.start()
        rest = writer.stdout.read()
        killer.join()
    assert len(first) == writes
    return len(first) + len(rest)


def stored_writes(store: DuckStore) -> int:
    """Check that writes are whole, in order and without gaps; returns how many there are."""
    stored = store.head("default") // 2
    assert store.head("default") == 2 * stored
    ids = [MemoryId(f"{half}{number}") for number in range(stored + 1) for half in "ab"]
    assert list(store.get("default", ids)) == ids[: 2 * stored]
    assert len(store.vectors("default", ids)) == stored
    assert [entry.position for entry in store.changes("default", 0, 10**6)] == list(range(1, 2 * stored + 1))
    assert [store.result("default", RequestKey("relay", number)) for number in (stored - 1, stored)] == [
        {"n": stored - 1},
        None,
    ]
    return stored
