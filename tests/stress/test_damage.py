"""Thousands of ways to harm a store: nothing that was acknowledged is lost without a word, and every store opens or explains.

A failing case is kept in `tests/corpus/new`; the quick tier replays those that are moved to `tests/corpus`. Seeds are the
numbers of the cases. SIGKILL leaves the page cache alive; cut, zeroed and turned bytes stand in for a power cut.
"""

import os
import random
import resource
import signal
import struct
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import duckdb  # noqa: F401 - imported before the forks, which then start at once
import pytest
from tests.core.store.corpus import replay, saved_when_failing
from tests.core.store.damage import DATABASE, JOURNAL, LOG, Template, judged, lay_out, make_template
from tests.core.store.making import always, memory, put, vector

from hybrid_memory.errors import HybridMemoryError, StoreFull, StoreReadOnly
from hybrid_memory.model import MemoryId
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.store.writing import Insert
from hybrid_memory.testing import FakeClock
from hybrid_memory_mcp.runtime.library_patches import install_pandas_stub

pytestmark = [
    pytest.mark.stress,
    pytest.mark.timeout(1500),
    pytest.mark.skipif(sys.platform == "win32", reason="needs fork"),
]

SHARE = float(os.environ.get("HYBRID_MEMORY_STRESS_SHARE", "1"))  # noqa: TID251 - how many of the cases to run


def cases(count):
    return range(max(int(count * SHARE), 1))


@pytest.fixture(scope="module")
def templates(tmp_path_factory) -> list[Template]:
    """Stores whose log holds all, some and few of their writes."""
    folder = tmp_path_factory.mktemp("templates")
    return [make_template(folder / f"t{closed}", 45, closed_at=closed) for closed in (0, 20, 40)]


def run(templates, home, name, kinds, count, *, wholly=False):
    told = Counter()
    for seed in cases(count):
        case = (seed % len(templates), kinds[seed % len(kinds)], name, f"{name} {seed}")
        with saved_when_failing(case):
            outcome = replay(templates, home, case, twice=seed % 5 == 0)
            assert not wholly or outcome == "whole", (case, outcome)
        told[outcome] += 1
    print(f"{name}, {'/'.join(kinds)}: {sum(told.values())} cases, {dict(told)}")  # noqa: T201 - the figures


def test_cut_logs(templates, tmp_path):
    run(templates, tmp_path / "s", LOG, ["cut"], 2_000, wholly=True)


def test_zeroed_logs(templates, tmp_path):
    run(templates, tmp_path / "s", LOG, ["zeroed", "zeros behind", "garbage"], 1_000, wholly=True)


@pytest.mark.parametrize(("name", "count"), [(LOG, 500), (DATABASE, 500), (JOURNAL, 200)])
def test_turned_bits(templates, tmp_path, name, count):
    run(templates, tmp_path / "s", name, ["flipped"], count, wholly=name != DATABASE)


def test_cut_and_zeroed_databases(templates, tmp_path):
    run(templates, tmp_path / "s", DATABASE, ["cut", "zeroed", "garbage"], 300)


def test_a_damaged_log_beside_a_damaged_journal(templates, tmp_path):
    told = Counter()
    for seed in cases(500):
        template = templates[seed % len(templates)]
        files = dict(template.files)
        for name in (LOG, JOURNAL):
            content, chance = files[name], random.Random(f"both {name} {seed}")
            files[name] = content[: chance.randrange(len(content))] + bytes(chance.choice([0, 70]))
        told[judged(lay_out(tmp_path / "s", files), template)] += 1
    print(f"log and journal: {dict(told)}")  # noqa: T201 - the figures


def forked(work):
    """Run ``work`` in a forked process with the writing end of a pipe; returns its id and the reading end."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        with suppress(BaseException):
            os.close(reading)
            install_pandas_stub()
            work(writing)
            code = 0
        os._exit(code)
    os.close(writing)
    return child, reading


def received(child, reading):
    """Return what a child wrote until its end, as numbers, and its exit code."""
    with os.fdopen(reading, "rb") as pipe:
        content = pipe.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return [number for (number,) in struct.iter_unpack("<q", content[: len(content) // 8 * 8])], code


def taken(reading, count):
    """Wait for some numbers of a child."""
    content = b""
    while len(content) < 8 * count and (more := os.read(reading, 8 * count - len(content))):
        content += more
    return [number for (number,) in struct.iter_unpack("<q", content)]


def told(pipe, number):
    os.write(pipe, struct.pack("<q", number))


def write_on(path, start):
    def work(pipe):
        store = DuckStore.open(path, FakeClock())
        store.pin_embedder("e", 8)
        told(pipe, -1)
        for number in range(start, start + 100_000):
            pair = (Insert(memory(f"a{number}"), vector(number)), Insert(memory(f"b{number}")))
            store.write("default", None, always(inserts=pair))
            told(pipe, number)
            if number % 37 == 36:
                with store._engine.reading() as session:
                    session.rows("CHECKPOINT")

    return work


def count_whole(path):
    """Report how many pairs a store holds; any half or gap fails."""

    def work(pipe):
        store = DuckStore.open(path, FakeClock())
        stored = store.head("default") // 2
        ids = [MemoryId(f"{half}{number}") for number in range(stored) for half in "ab"]
        assert len(store.get("default", ids)) == 2 * stored == store.head("default")
        assert len(store.vectors("default", ids)) == stored
        assert store.info().notices == ()
        told(pipe, stored)
        if stored % 2:
            store.close()
        os._exit(0)

    return work


def test_killed_writers(tmp_path):
    chance = random.Random(1)
    acknowledged = stored = 0
    for trial in cases(2_000):
        if trial % 25 == 0:
            stored, path = 0, lay_out(tmp_path / "s", {})
        child, reading = forked(write_on(path, stored))
        # One in eight is killed while it opens the store, the others shortly after an acknowledgement.
        first = [] if trial % 8 == 7 else taken(reading, 1 + chance.randrange(15))
        time.sleep(chance.uniform(0, 0.01 if first else 0.1))
        os.kill(child, signal.SIGKILL)
        later, _ = received(child, reading)
        acks = [number for number in (*first, *later) if number >= 0]
        acknowledged += len(acks)
        found, code = received(*forked(count_whole(path)))
        assert code == 0, trial
        assert stored + len(acks) <= found[0] <= stored + len(acks) + 1, trial
        stored = found[0]
    print(f"killed writers: {len(cases(2_000))} trials, {acknowledged} acknowledged writes, 0 lost")  # noqa: T201 - the figures


def fill(path, limit):
    def work(pipe):
        store = DuckStore.open(path, FakeClock())
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        refused = 0
        for number in range(400):
            try:
                put(store, f"m{number}", content="x" * 5_000)
            except HybridMemoryError:
                refused += 1
                if refused > 3:
                    break
            else:
                told(pipe, number)
        with suppress(StoreFull):
            store.close()

    return work


def test_full_disks(tmp_path):
    for seed in cases(100):
        chance = random.Random(f"full {seed}")
        path = lay_out(tmp_path / "s", {})
        DuckStore.open(path, FakeClock()).close()
        numbers, code = received(*forked(fill(path, chance.randrange(5_000, 6_000_000))))
        assert code == 0, seed
        store = DuckStore.open(path, FakeClock())
        there = store.get("default", [MemoryId(f"m{number}") for number in range(400)])
        notices = store.info().notices
        store.close()
        assert {f"m{number}" for number in numbers} <= set(there), seed
        assert notices == (), seed


def read_only(path):
    def work(pipe):
        os.setuid(65534)
        try:
            DuckStore.open(path, FakeClock())
        except StoreReadOnly:
            told(pipe, 1)

    return work


@pytest.mark.skipif(getattr(os, "geteuid", int)() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize("mode", [0o555, 0o755])
def test_a_folder_of_somebody_else_is_refused_with_a_reason(tmp_path, mode):
    for folder in [tmp_path, *tmp_path.parents[:-1]]:
        if folder != Path("/tmp"):  # noqa: S108 - where pytest puts its folders
            folder.chmod(folder.stat().st_mode | 0o055)
    path = lay_out(tmp_path / "s", {})
    DuckStore.open(path, FakeClock()).close()
    path.parent.chmod(mode)
    assert received(*forked(read_only(path))) == ([1], 0)
