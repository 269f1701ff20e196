"""How soon a hub shows what another hub has written, over PostgreSQL: `python -m benchmarks.postgres_following [ADDRESS]`.

One process writes, a statement every 20 ms; each of the others is a hub that listens and reads as soon as it hears. Told is the time
from the end of the write to the end of the first read in another process that shows the statement, and the same from its beginning.
Without an address a server of its own is started, with PostgreSQL's own settings for durability; the address is that of an empty database.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import threading
import time
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager
    from multiprocessing.connection import Connection

    from hybrid_memory.service.memory_service import MemoryService

_PAUSE_SECONDS = 0.02
_PATIENCE_SECONDS = 10.0
_DURABLE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("address", nargs="?", help="for libpq; without it a server is started")
    parser.add_argument("--writes", type=int, default=500)
    parser.add_argument("--hubs", type=int, nargs="*", default=[1, 3], help="how many other hubs follow")
    parser.add_argument("--memories", type=int, default=0, help="that are there before")
    parser.add_argument("--without-hints", action="store_true", help="followed by looking alone")
    given = parser.parse_args()
    with _database(given.address) as conninfo:
        _fill(conninfo, given.memories)
        for hubs in given.hubs:
            after, whole = _measure(conninfo, hubs, given.writes, hints=not given.without_hints)
            print(f"{hubs} other hubs, {given.writes} writes: ms p50 / p95 / p99 / max")
            print(f"  from the end of the write:       {_figures(after)}")
            print(f"  from the beginning of the write: {_figures(whole)}", flush=True)


def _database(address: str | None) -> AbstractContextManager[str]:
    if address is not None:
        return nullcontext(address)
    return _own_database()


@contextmanager
def _own_database() -> Iterator[str]:
    from tests.postgres.server import running_server

    with running_server(**_DURABLE) as server:
        yield server.create_database().conninfo


def _open(conninfo: str) -> MemoryService:
    from hybrid_memory.clock import SystemClock, SystemRandomSource
    from hybrid_memory.embedding.registry import STATIC, make_embedder
    from hybrid_memory.service.memory_service import MemoryService
    from hybrid_memory_postgres.store import PostgresStore

    store = PostgresStore.open(conninfo, SystemClock(), size=4)
    return MemoryService(store, make_embedder(STATIC), clock=SystemClock(), random_source=SystemRandomSource())


def _fill(conninfo: str, memories: int) -> None:
    from hybrid_memory.model import Scope
    from hybrid_memory.requests import WriteRequest

    service = _open(conninfo)
    for number in range(memories):
        service.write(Scope(session="before", actor="benchmark"), WriteRequest(content=f"Note {number} of before"))
    service.close()


def _measure(conninfo: str, hubs: int, writes: int, *, hints: bool) -> tuple[list[float], list[float]]:
    from hybrid_memory.model import Scope
    from hybrid_memory.requests import WriteRequest

    context = multiprocessing.get_context("spawn")
    pipes = [context.Pipe() for _ in range(hubs)]
    readers = [context.Process(target=_follow, args=(conninfo, end)) for _, end in pipes]
    for one in readers:
        one.start()
    for mine, _ in pipes:
        mine.recv()  # it is ready
    service = _open(conninfo)
    if not hints:
        service.store._announcer.announce = lambda *_: None  # type: ignore[attr-defined]  # noqa: SLF001 - what a lost network does
    scope = Scope(session=f"written for {hubs}", actor="benchmark")
    service.write(scope, WriteRequest(content=f"The first note for {hubs} hubs"))
    written: dict[str, tuple[float, float]] = {}
    for number in range(writes):
        begun = time.monotonic()
        made = service.write(scope, WriteRequest(content=f"Note {number} for {hubs} hubs says {number * 7919}"))
        written[str(made.id)] = (begun, time.monotonic())
        time.sleep(_PAUSE_SECONDS)
    time.sleep(1)
    after: list[float] = []
    whole: list[float] = []
    for (mine, _), reader in zip(pipes, readers, strict=True):
        mine.send("end")
        seen: dict[str, float] = mine.recv()
        after += [seen[one] - end for one, (_, end) in written.items()]
        whole += [seen[one] - begun for one, (begun, _) in written.items()]
        reader.join()
    service.close()
    return after, whole


def _follow(conninfo: str, pipe: Connection) -> None:
    """Be a hub that reads as soon as it hears of something, until the other end says so."""
    from hybrid_memory.model import Scope

    service = _open(conninfo)
    scope = Scope(session="following", actor="benchmark")
    seen: dict[str, float] = {}
    news = threading.Event()
    ended = threading.Event()

    def read() -> None:
        while not ended.is_set():
            news.wait(_PATIENCE_SECONDS)
            news.clear()
            found = service.recent(scope, limit=10)
            now = time.monotonic()
            for one in found:
                seen.setdefault(str(one.id), now)

    service.recent(scope)
    service.listen(lambda *_: news.set())
    thread = threading.Thread(target=read)
    thread.start()
    pipe.send("ready")
    pipe.recv()
    ended.set()
    news.set()
    thread.join()
    pipe.send(seen)
    service.close()


def _figures(seconds: Sequence[float]) -> str:
    cuts = statistics.quantiles(seconds, n=100)
    return " / ".join(f"{one * 1000:.1f}" for one in (cuts[49], cuts[94], cuts[98], max(seconds)))


if __name__ == "__main__":
    main()
