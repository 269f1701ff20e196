import errno
import subprocess
import sys
from pathlib import Path

import pytest
from tests.core.store.empty_database import discard
from tests.core.store.making import always, memory, put

from hybrid_memory.errors import StoreFull
from hybrid_memory.model import MemoryId
from hybrid_memory.store.duck.files.database_file import log_file
from hybrid_memory.store.duck.recovery.journal import Journal
from hybrid_memory.store.writing import Insert, RequestKey

FILLS = """
import resource, signal, sys
from pathlib import Path
from hybrid_memory.errors import StoreFull
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.store.writing import Insert, RequestKey
from hybrid_memory.testing import FakeClock
from tests.core.store.making import always, memory

store = DuckStore.open(Path(sys.argv[1]), FakeClock())
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
number = 0
try:
    while True:
        made = memory(f"m{number}", content="x" * 5_000)
        store.write("default", RequestKey("relay", number), always(inserts=(Insert(made),)))
        number += 1
except StoreFull:
    assert store.head("default") == number
    print(number, flush=True)
sys.stdout.flush()
import os
os._exit(0)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no such limits")
@pytest.mark.parametrize(
    "limit", [600_007, *(pytest.param(n, marks=pytest.mark.stress) for n in range(400_000, 900_000, 33_333))]
)
def test_a_full_disk_loses_nothing_that_was_acknowledged(path, open_duck, limit):
    run = subprocess.run(
        [sys.executable, "-c", FILLS, str(path), str(limit)],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.stderr == ""
    written = int(run.stdout)
    assert written > 10
    store = open_duck()
    assert store.head("default") == written
    assert len(store.get("default", [MemoryId(f"m{number}") for number in range(written + 1)])) == written
    again = store.write("default", RequestKey("relay", written), always(inserts=(Insert(memory("next")),)))
    assert (again.replayed, again.position) == (False, written + 1)


CHECKPOINTS = """
import resource, signal, sys
from pathlib import Path
from hybrid_memory.errors import StoreError
from hybrid_memory.store.duck.files.database_file import log_file
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.testing import FakeClock
from tests.core.store.making import put

path = Path(sys.argv[1])
store = DuckStore.open(path, FakeClock())
for number in range(30):
    put(store, f"m{number}", content="x" * 100_000)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
limit = log_file(path).stat().st_size + 10_000
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
try:
    with store._engine.reading() as session:
        session.rows("CHECKPOINT")
except StoreError as error:
    print(type(error).__name__)
print(len(store.get("default", [f"m{number}" for number in range(30)])))
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
put(store, "later")
store.close()
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no such limits")
def test_a_disk_that_is_full_at_a_checkpoint_does_not_break_the_store_for_good(path, open_duck):
    run = subprocess.run(
        [sys.executable, "-c", CHECKPOINTS, str(path)],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (run.stdout, run.stderr) == ("StoreFull\n30\n", "")
    store = open_duck()
    assert (len(store.get("default", ["m0", "m29", "later"])), store.info().notices) == (3, ())


def no_room(*_, **__):
    raise OSError(errno.ENOSPC, "full")


def test_a_write_that_the_journal_does_not_take_is_refused_and_the_next_one_works(duck, monkeypatch):
    put(duck, "first")
    with monkeypatch.context() as full:
        full.setattr(Journal, "_write", no_room)
        with pytest.raises(StoreFull):
            put(duck, "second")
    put(duck, "third")
    assert set(duck.get("default", ["first", "second", "third"])) == {"first", "third"}


def test_a_journal_that_cannot_begin_again_goes_on(duck, open_duck, path, monkeypatch):
    put(duck, "first")
    with monkeypatch.context() as full:
        full.setattr("hybrid_memory.store.duck.recovery.journal.prepare_replacement", no_room)
        duck._engine._connection.execute("CHECKPOINT")
        put(duck, "second")
    put(duck, "third")
    assert_the_journal_makes_up_for_the_log(duck, open_duck, path)


def test_after_a_checkpoint_the_first_write_is_in_the_journal_too(duck, open_duck, path):
    put(duck, "first", "second")
    duck._engine._connection.execute("CHECKPOINT")
    put(duck, "third")
    assert_the_journal_makes_up_for_the_log(duck, open_duck, path)


def assert_the_journal_makes_up_for_the_log(duck, open_duck, path):
    discard(duck)
    log_file(path).write_bytes(b"damage")
    assert set(open_duck().get("default", ["first", "second", "third"])) == {"first", "second", "third"}
