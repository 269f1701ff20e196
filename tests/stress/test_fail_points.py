"""SIGKILL at named places: what was acknowledged is there, at most one write more, whole, and nobody hears of a loss.

The process ends itself when it comes to the place for the n-th time; where an opening passes a place once, n processes are killed
one after another. The page cache stays alive: `test_damage` has what a power cut may leave.
"""

import json
import os
import random
import shutil
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from tests.core.store.damage import DATABASE, JOURNAL, LOG, lay_out, zeroed
from tests.core.store.making import put

from hybrid_memory.encoding.text_encoder import text_of
from hybrid_memory.model import MemoryId
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.testing import FakeClock
from hybrid_memory_mcp.runtime.library_patches import install_pandas_stub

if sys.platform == "win32":
    pytest.skip("needs fork", allow_module_level=True)

from tests.stress.cases import seeds
from tests.stress.failing import POINTS, KillSwitch, embedder_of, pair

HITS = 5
SEEDS = seeds(3)
QUICK = (
    "amid a record of the journal",
    "before the replacement of the journal",
    "after quarantine",
    "after a row of the switch",
)


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_a_kill_at_a_named_place_loses_nothing(tmp_path, name):
    assert trial(tmp_path, name, hit=1, seed=1) == 1


@pytest.mark.stress
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", POINTS)
def test_kills_at_all_named_places_lose_nothing(tmp_path, name):
    kills = 0
    for seed in SEEDS:
        for hit in range(1, HITS + 1):
            kills += trial(tmp_path, name, hit, seed)
    print(f"{name}: {HITS * len(SEEDS)} stores, {kills} kills, seeds {SEEDS}")  # noqa: T201 - the figures


def trial(tmp_path: Path, name: str, hit: int, seed: int) -> int:
    """Kill at a place and look at what is left; returns how many processes were killed."""
    point = POINTS[name]
    case = f"{name}, hit {hit}, seed {seed}"
    path, acknowledged = found(tmp_path, point.found, seed)
    kills = 0
    for _ in range(hit if point.row else 1):
        said, killed = run(point, path, 1 if point.row else hit, seed)
        acknowledged += said
        if not killed:
            break
        kills += 1
    assert kills, f"{case}: it was never reached"
    try:
        check(path, dict(acknowledged), damaged=point.found == "damaged")
    except BaseException as error:
        error.add_note(case)
        raise
    return kills


def run(point, path, hit, seed):
    """Run the work of a point in a forked process; returns what it acknowledged and whether it was killed."""
    reading, pipe = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        with suppress(BaseException):
            os.close(reading)
            install_pandas_stub()
            kill_switch = KillSwitch(pipe, hit, seed)
            point.set(kill_switch)
            point.work(path, kill_switch)
            code = 0
        os._exit(code)
    os.close(pipe)
    with os.fdopen(reading, "rb") as stream:
        said = [tuple(json.loads(line)) for line in stream]
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, -9), code
    return said, code != 0


def found(tmp_path: Path, state: str, seed: int):
    """Return a store as it is found before the work, and what it has acknowledged."""
    home = tmp_path / "s"
    if state == "new":
        return lay_out(home, {}), []
    name = "after a record of the journal" if state == "ahead" else "after the number in the journal"
    said, _ = run(POINTS[name], lay_out(home, {}), 30, seed)
    files = {name: (home / name).read_bytes() for name in (DATABASE, LOG, JOURNAL)}
    if state == "damaged":
        length = len(files[LOG])
        files[LOG] = zeroed(files[LOG], random.Random(seed).randrange(length // 4, length // 2))
    return lay_out(home, files), said


def check(path: Path, acknowledged, *, damaged: bool) -> None:
    for _ in range(2):
        store = DuckStore.open(path, FakeClock())
        try:
            check_content(store, acknowledged)
            told = store.info().notices
            assert damaged or told == ()
            assert all("nothing that was acknowledged is missing" in one for one in told), told
            assert store.check().sound, store.check()
        finally:
            store.close()
    store = DuckStore.open(path, FakeClock())
    put(store, "later")
    assert "later" in store.get("default", [MemoryId("later")])
    store.close()
    shutil.rmtree(path.parent)


def check_content(store: DuckStore, acknowledged) -> None:
    """Nothing acknowledged is missing, and at most one write more is there, whole."""
    ids = [MemoryId(one.decode()) for part in store.snapshot("default").ids for one in part.tolist()]
    memories = store.get("default", ids)
    stored = {one.id: one.content for one in memories.values()}
    assert acknowledged.items() <= stored.items()
    more = [one for one in ids if one not in acknowledged]
    vectors = store.vectors("default", ids)
    embedder = embedder_of(store.info().embedder or "")
    if embedder is None:
        number = len(acknowledged) // 2
        assert not more or sorted(more) == [one.id for one in pair(number)]
        assert set(vectors) == {one for one in ids if one[0] == "a"}
        return
    assert len(more) <= 1
    assert all(stored[one].startswith(f"statement {len(acknowledged)} ") for one in more)
    made = embedder.embed([text_of(memories[one]) for one in ids])
    assert np.array_equal(np.array([vectors[one] for one in ids]).reshape(made.shape), made)
