import subprocess
import sys
from pathlib import Path

import pytest
from tests.core.store.making import always, memory

from hybrid_memory.model import MemoryId
from hybrid_memory.store.interface import Put, RequestKey

FILLS = """
import resource, signal, sys
from pathlib import Path
from hybrid_memory.errors import StoreFull
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.store.interface import Put, RequestKey
from hybrid_memory.testing import FakeClock
from tests.core.store.making import always, memory

store = DuckStore.open(Path(sys.argv[1]), FakeClock())
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
number = 0
try:
    while True:
        made = memory(f"m{number}", content="x" * 5_000)
        store.write("default", RequestKey("relay", number), always(puts=(Put(made),)))
        number += 1
except StoreFull:
    assert store.head("default") == number
    print(number, flush=True)
sys.stdout.flush()
import os
os._exit(0)
"""


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
        timeout=25,
        check=False,
    )
    assert run.stderr == ""
    written = int(run.stdout)
    assert written > 10
    store = open_duck()
    assert store.head("default") == written
    assert len(store.get("default", [MemoryId(f"m{number}") for number in range(written + 1)])) == written
    again = store.write("default", RequestKey("relay", written), always(puts=(Put(memory("next")),)))
    assert (again.replayed, again.position) == (False, written + 1)
