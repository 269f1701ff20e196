"""kill -9 while the embedder changes and statements are written: nothing acknowledged is lost, and no vectors are mixed."""

import random
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from hybrid_memory.encoding.text_encoder import text_of
from hybrid_memory.model import MemoryId, Scope
from hybrid_memory.requests import ReadRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.testing import FakeClock, FakeRandomSource, HashEmbedder

EMBEDDERS = {"a": HashEmbedder(24, "a"), "b": HashEmbedder(24, "b")}
OTHER = {"a": "b", "b": "a"}
SCOPE = Scope(session="s")

CHANGES = """
import sys
import threading
from pathlib import Path
from hybrid_memory.service import background
from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.model import MemoryType
from hybrid_memory.requests import WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.store.duck.store import DuckStore
from tests.core.test_reembedding_kill import EMBEDDERS, OTHER, SCOPE

background.BATCH_MEMORIES, background.SWITCH_MEMORIES = 8, 4
store = DuckStore.open(Path(sys.argv[1]), SystemClock())
candidate, pinned = store.embedder_change.next_embedder(), store.info().embedder or "a"
target = candidate.identity if candidate else OTHER[pinned]
service = MemoryService(
    store, EMBEDDERS[target], clock=SystemClock(), random_source=SystemRandomSource(), previous=EMBEDDERS[OTHER[target]]
)
if store.info().embedder is None:
    store.pin_embedder("a", 24)

def say(line):
    sys.stdout.write(line + "\\n")
    sys.stdout.flush()

def write():
    number = int(sys.argv[2])
    while True:
        request = WriteRequest(content=f"statement{number} was made", memory_type=MemoryType.LONG_TERM)
        say(f"w {service.write(SCOPE, request).id}")
        number += 1

threading.Thread(target=write, daemon=True).start()
while True:
    service.reembed(EMBEDDERS[target], progress=lambda done: say(f"p {done.done}"))
    say(f"s {target}")
    target = OTHER[target]
"""


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [2, pytest.param(60, marks=[pytest.mark.stress, pytest.mark.timeout(900)])])
def test_a_change_that_is_killed_again_and_again_loses_and_mixes_nothing(tmp_path, rounds):
    chance = random.Random(11)
    path = tmp_path / "memory.duckdb"
    acknowledged: list[str] = []
    switches = 0
    for _ in range(rounds):
        lines = killed_after(path, len(acknowledged), chance.randrange(2, 60), chance.uniform(0, 0.02))
        acknowledged += [line[2:] for line in lines if line.startswith("w ")]
        switches += sum(line.startswith("s ") for line in lines)
        check(path, acknowledged)
    assert acknowledged
    finish(path)


def killed_after(path: Path, start: int, lines: int, longer: float) -> list[str]:
    """Kill the process some time after its n-th line; returns what it said."""
    command = [sys.executable, "-c", CHANGES, str(path), str(start)]
    with subprocess.Popen(command, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True) as process:
        said = [process.stdout.readline() for _ in range(lines)]
        killer = threading.Timer(longer, process.kill)
        killer.start()
        rest = process.stdout.read().splitlines(keepends=True)
        killer.join()
    return [line.strip() for line in (*said, *rest) if line.endswith("\n")]


def check(path: Path, acknowledged: list[str]) -> None:
    store = DuckStore.open(path, FakeClock())
    try:
        pinned = EMBEDDERS[store.info().embedder]
        ids = [MemoryId(one.decode()) for part in store.snapshot("default").ids for one in part.tolist()]
        assert set(acknowledged) <= set(ids)
        memories = store.get("default", ids)
        assert_made_by(pinned, memories, store.vectors("default", ids), len(ids))
        candidate = store.embedder_change.next_embedder()
        if candidate is not None:
            assert candidate.identity == OTHER[pinned.identity]
            assert_made_by(
                EMBEDDERS[candidate.identity], memories, store.embedder_change.vectors("default", ids), candidate.done
            )
        service = MemoryService(store, pinned, clock=FakeClock(), random_source=FakeRandomSource())
        hits = service.read(SCOPE, ReadRequest(query=memories[MemoryId(acknowledged[-1])].content, limit=3)).hits
        assert acknowledged[-1] in {hit.memory.id for hit in hits}
    finally:
        store.close()


def assert_made_by(embedder, memories, vectors, count):
    assert len(vectors) == count
    rows = embedder.embed([text_of(memories[id_]) for id_ in vectors])
    assert np.array_equal(np.array(list(vectors.values())).reshape(rows.shape), rows)


def finish(path: Path) -> None:
    store = DuckStore.open(path, FakeClock())
    try:
        target = EMBEDDERS[OTHER[store.info().embedder]]
        service = MemoryService(store, target, clock=FakeClock(), random_source=FakeRandomSource())
        assert service.reembed().done == store.info().memories
        assert store.info().embedder == target.identity
    finally:
        store.close()
