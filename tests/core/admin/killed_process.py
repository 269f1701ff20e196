"""Runs a step of keeping in a process of its own that is killed at a named point."""

import subprocess
import sys
from pathlib import Path

import pytest

RUNS = """
import os, signal, sys
from datetime import timedelta
from pathlib import Path
from hybrid_memory.testing import START

what, home, point, *rest = sys.argv[1:]
home, times = Path(home), 0
point, _, wanted = point.partition(":")

def on_step(name):
    global times
    if name == point:
        times += 1
        if times >= int(wanted or 1):
            os.kill(os.getpid(), signal.SIGKILL)

if what == "restore":
    from hybrid_memory.admin.backup import restore
    restore(home, Path(rest[0]), START, on_step=on_step)
elif what == "backup":
    from hybrid_memory.admin.backup import create_backup
    from hybrid_memory.clock import SystemClock
    from hybrid_memory.store.duck.store import DuckStore
    store = DuckStore.open(home / "memory.duckdb", SystemClock())
    create_backup(store, home, START, keep=10, on_step=on_step)
elif what == "purge":
    from hybrid_memory.admin.purge import purge
    from hybrid_memory.store.store_file import file_eraser
    from hybrid_memory.store.transfer import PurgeSelection
    from hybrid_memory.model import MemoryId
    purge(file_eraser(home), PurgeSelection(namespace="default", ids=(MemoryId(rest[0]),)), START, actor="test", on_step=on_step)
elif what == "migrate":
    # ``rest``: a file and, where the target is no folder, a database; or a database alone.
    from hybrid_memory.admin.migrate import migrate
    from hybrid_memory.store.moving import file_source, folder_target
    told = lambda done, total: on_step("chunk")
    if "host=" in " ".join(rest):
        from hybrid_memory_postgres.moving_store import database_source, database_target
    from_where = database_source(rest[0]) if "host=" in rest[0] else file_source(Path(rest[0]))
    to_where = database_target(rest[1], START) if rest[1:] else folder_target(home, START)
    with from_where as source, to_where as target:
        migrate(source, target, START, on_step=on_step, on_progress=told)
elif what == "import":
    from hybrid_memory.clock import SystemClock
    from hybrid_memory.admin.export_import import import_file
    from hybrid_memory.admin.export_import import ImportPolicy
    from hybrid_memory.store.duck.store import DuckStore
    store = DuckStore.open(home / "memory.duckdb", SystemClock())
    incoming = ImportPolicy(now=START + timedelta(days=9), trusted=True)
    import_file(store, Path(rest[0]), incoming, embed=lambda _: None, actor="t", on_progress=lambda _, __: on_step("batch"))
    store.close()
print("finished")
"""


def also(*points):
    """Mark points of which a quick run leaves the rest to `just stress`."""
    return [pytest.param(point, marks=pytest.mark.stress) for point in points]


def killed_at(what: str, home: Path, point: str, *rest: object) -> bool:
    """Run it until the point (``name:n`` is its n-th time); says whether the point was on_step."""
    command = [sys.executable, "-c", RUNS, what, str(home), point, *map(str, rest)]
    done = subprocess.run(
        command, cwd=Path(__file__).parents[3], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode in (0, -9), done.stderr
    return done.returncode == -9
