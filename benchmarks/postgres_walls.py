"""What row-level security costs: the same calls of the same database by three logins, in turns, in one run.

    python -m benchmarks.postgres_walls [--memories 100000] [--rounds 300]

``none`` is a superuser, whom no wall holds; ``walls`` is what hubs log in as; ``walls and roles`` the same with a role for each namespace.
Each call goes to the other namespace than the one before, so that a role is never the former call's.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from itertools import count
from statistics import median, quantiles
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.table import Table

from hybrid_memory.clock import SystemClock
from hybrid_memory.model import Kind, Memory, MemoryId, Tier
from hybrid_memory.store.writing import Decision, Insert, WriteBatch

if TYPE_CHECKING:
    from tests.postgres.server import Database

    from hybrid_memory_postgres.store import PostgresStore

_DURABLE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "shared_buffers": "512MB"}
_NAMESPACES = ("one", "two")
_DIMENSIONS = 256
_WORDS = "what somebody said at some time, long enough to be a sentence as people write them into a memory of theirs. "
_AT_ONCE = 500
_SECOND_HUB = "hub_with_roles"
_PARTS = 20  # quantiles: the last one is the 95th of a hundred


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--memories", type=int, default=100_000, help="of each of two namespaces")
    parser.add_argument("--rounds", type=int, default=300, help="calls of each kind by each login")
    given = parser.parse_args()
    from tests.postgres.server import ADMIN, HUB, running_server

    from hybrid_memory_postgres.store import PostgresStore

    with ExitStack() as stack:
        database = stack.enter_context(running_server(**_DURABLE)).create_database()
        _make_roles(database)
        stores: dict[str, PostgresStore] = {}
        for name, login in (("none", ADMIN), ("walls", HUB), ("walls and roles", _SECOND_HUB)):
            stores[name] = PostgresStore.open(database.conninfo_of(login), SystemClock())
            stack.callback(stores[name].close)
        _fill(stores["walls"], given.memories)
        database.rows("VACUUM ANALYZE")
        Console().print(_table(given.memories, _measured(stores, given.memories, given.rounds)))


def _make_roles(database: Database) -> None:
    from tests.postgres.server import KEEPER

    from hybrid_memory_postgres.connections import Connections
    from hybrid_memory_postgres.preparing import prepare

    keeper = Connections(database.conninfo_of(KEEPER), size=1)
    keeper.open()
    now = SystemClock().now()
    prepare(keeper, now, _SECOND_HUB)
    for namespace in _NAMESPACES:
        prepare(keeper, now, f"wall_of_{namespace}", [namespace], _SECOND_HUB)
    keeper.close()


def _memory(namespace: str, name: str) -> Memory:
    now = SystemClock().now()
    return Memory(
        id=MemoryId(name),
        namespace=namespace,
        session="s",
        agent="a",
        content=_WORDS * 2,
        kind=Kind.OBSERVATION,
        tier=Tier.LONG_TERM,
        importance=0.5,
        created_at=now,
        content_hash=name,
        terms=tuple(range(20)),
    )


def _fill(store: PostgresStore, memories: int) -> None:
    store.pin_embedder("benchmark", _DIMENSIONS)
    vectors = np.random.default_rng(1).standard_normal((_AT_ONCE, _DIMENSIONS)).astype(np.float32)
    for namespace in _NAMESPACES:
        for begin in range(0, memories, _AT_ONCE):
            inserts = tuple(
                Insert(_memory(namespace, f"m{at}"), vectors[at - begin]) for at in range(begin, begin + _AT_ONCE)
            )
            store.write(namespace, None, _always(inserts))


def _always(inserts: tuple[Insert, ...]) -> Decision:
    return lambda _view: WriteBatch(action="w", actor="b", inserts=inserts)


def _measured(stores: Mapping[str, PostgresStore], memories: int, rounds: int) -> dict[tuple[str, str], list[float]]:
    numbers = count()
    step = max(memories // rounds // 8, 1)

    def get(store: PostgresStore, at: int) -> None:
        ids = [MemoryId(f"m{(at * 8 + one) * step % memories}") for one in range(8)]
        assert len(store.get(_NAMESPACES[at % 2], ids)) == len(set(ids))

    def write(store: PostgresStore, at: int) -> None:
        namespace = _NAMESPACES[at % 2]
        made = Insert(_memory(namespace, f"n{next(numbers)}"), np.ones(_DIMENSIONS, np.float32))
        store.write(namespace, None, _always((made,)))

    def load(store: PostgresStore, at: int) -> None:
        found = store.snapshot(_NAMESPACES[at % 2])
        for batch in found.batches:
            assert len(batch.ids)
        for part in found.vectors:
            assert len(part.ids)

    taken: dict[tuple[str, str], list[float]] = {}
    calls: tuple[tuple[str, Callable[[PostgresStore, int], None], int], ...] = (
        ("8 memories by id", get, rounds),
        ("write one memory", write, rounds),
        ("read a namespace whole", load, 6),
    )
    for what, call, times in calls:
        for at in range(-2, times):  # the first calls prepare statements
            for name, store in stores.items():
                began = time.perf_counter()
                call(store, at)
                if at >= 0:
                    taken.setdefault((what, name), []).append(1000 * (time.perf_counter() - began))
    return taken


def _table(memories: int, taken: Mapping[tuple[str, str], list[float]]) -> Table:
    logins = list(dict.fromkeys(name for _, name in taken))
    shown = Table("what", *logins, title=f"two namespaces of {memories:,} memories; ms, p50 / p95")
    for what in dict.fromkeys(what for what, _ in taken):
        cells = (taken[what, name] for name in logins)
        shown.add_row(what, *(f"{median(one):.2f} / {quantiles(one, n=_PARTS)[-1]:.2f}" for one in cells))
    return shown


if __name__ == "__main__":
    main()
