"""Opening, reading and listing over PostgreSQL, alongside the same memories in a DuckDB file, in one run.

    python -m benchmarks.postgres_reading [--sizes 100000,1000000] [--rounds 100] [--pairs 3] [--keep FOLDER]

A server of its own is started, with PostgreSQL's own settings for durability; each size is made as `benchmarks.scale` makes it, moved
there by ``migrate``, and both are measured by the same function, in turns, each time in a new process. Loading is reading all memories
of a namespace into search structures; the first answer waits for no more than that.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks.scale import measured, prepare

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hybrid_memory.store.base import Store

_DURABLE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "shared_buffers": "512MB"}
_PAGE = 20


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", default="100000", help="memories, with commas between")
    parser.add_argument("--rounds", type=int, default=100, help="reads and writes of each process")
    parser.add_argument("--pairs", type=int, default=3, help="processes for each store, in turns")
    parser.add_argument("--keep", type=Path, help="a folder whose stores are made once and used again")
    parser.add_argument("--load", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.load:
        json.dump(_loaded(Path(given.load[0]), given.load[1] or None), sys.stdout)
        return
    from tests.postgres.server import running_server

    with tempfile.TemporaryDirectory() as own, running_server(**_DURABLE) as server, Progress() as progress:
        for size in map(int, given.sizes.split(",")):
            home = (given.keep or Path(own)) / str(size)
            prepare(home, size, progress)
            database = server.create_database(f"of{size}")
            _move(home, database.conninfo_of("keeper"))
            server.rows("VACUUM ANALYZE", database=database.name)
            found: dict[str, list[dict[str, Any]]] = {"DuckDB file": [], "PostgreSQL": []}
            for _ in range(given.pairs):
                for name, address in (("DuckDB file", None), ("PostgreSQL", database.address)):
                    progress.console.print(f"{size:,} {name}")
                    found[name].append(_load(home, address) | measured(home, given.rounds, address))
            Console().print(_table(size, found))


def _move(home: Path, conninfo: str) -> None:
    from hybrid_memory.admin.migrate import migrate
    from hybrid_memory.clock import SystemClock
    from hybrid_memory.store.home_files import BACKUPS
    from hybrid_memory.store.moving import copy_of_folder, file_source
    from hybrid_memory_postgres.moving_store import database_target

    copy = home / BACKUPS / "moment.duckdb"
    copy.parent.mkdir(mode=0o700, exist_ok=True)
    try:
        copy_of_folder(home, SystemClock(), copy)
        now = SystemClock().now()
        with file_source(copy) as source, database_target(conninfo, now) as target:
            migrate(source, target, now)
    finally:
        copy.unlink(missing_ok=True)


def _load(home: Path, address: str | None) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.postgres_reading", "--load", str(home), address or ""]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _loaded(home: Path, address: str | None) -> dict[str, Any]:
    """Return how long a store takes to load, and what is asked of it without its search structures; in milliseconds."""
    from hybrid_memory.settings import limit_threads, store_settings

    limit_threads()
    from hybrid_memory_mcp.runtime.library_patches import install_pandas_stub

    install_pandas_stub()
    import random

    from hybrid_memory.clock import SystemClock
    from hybrid_memory.model import MemoryId
    from hybrid_memory.requests import ListRequest
    from hybrid_memory.retrieval.index import load
    from hybrid_memory.store.opening import open_store

    clock = SystemClock()
    store: Store = open_store(store_settings(home, store=address), home, clock)
    try:
        dimensions = store.info().dimensions
        began = time.perf_counter()
        columns, _, _ = load(store.snapshot("default"), store.hasher, dimensions)
        taken = _since(began)
        ids = [MemoryId(one) for one in random.Random(1).sample(columns.ids.values.tolist(), 200)]
        page = ListRequest(limit=_PAGE)
        return {
            "load": taken,
            "get": _middle(lambda at: store.get("default", ids[at : at + 8]), range(0, 160, 8)),
            "list": _middle(lambda _: store.list_memories(["default"], page, clock.now()), range(5)),
        }
    finally:
        store.close()


def _middle(work: Callable[[int], object], over: Sequence[int]) -> float:
    taken = []
    for one in over:
        began = time.perf_counter()
        work(one)
        taken.append(_since(began))
    return median(taken)


def _since(began: float) -> float:
    return round(1000 * (time.perf_counter() - began), 3)


def _table(size: int, found: dict[str, list[dict[str, Any]]]) -> Table:
    shown = Table("what", *found, title=f"{size:,} memories, ms (median of the processes; p50 / p95 of the calls)")
    for name, what in (
        ("load", "load 'default' into search structures"),
        ("open_to_first_answer", "open the store, first answer"),
        ("read", "read_memories"),
        ("read_session", "read_memories of a session"),
        ("write", "write_memory"),
        ("get", "8 memories by id"),
        ("list", "a page of a list, with its total"),
    ):
        shown.add_row(what, *(_figure([one[name] for one in of]) for of in found.values()))
    return shown


def _figure(values: list[Any]) -> str:
    if isinstance(values[0], dict):
        return " / ".join(f"{median(one[part] for one in values):.2f}" for part in ("p50", "p95"))
    return f"{median(values):.1f} ({', '.join(f'{one:.0f}' for one in values)})"


if __name__ == "__main__":
    main()
