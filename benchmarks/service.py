"""Start and latency of the real server beside the smallest server of the same SDK, in one run.

    python -m benchmarks.service [--size 10000] [--rounds 300] [--starts 9] [--json]

Times are medians in milliseconds, as a client sees them over stdio; machines are noisy, so read the ratios and differences.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import anyio
from mcp import Client
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks.client import bare, call, memory

_SUBJECTS = ["Ada", "Bruno", "Chen", "Dara", "Elif", "Femi", "Greta", "Hugo", "Ines", "Jonas"]
_VERBS = [
    "likes",
    "plans",
    "visited",
    "bought",
    "finished",
    "cancelled",
    "forgot",
    "repaired",
    "recommends",
    "dislikes",
]
_THINGS = [
    "green tea",
    "a trip to Porto",
    "the old bridge",
    "a second-hand bicycle",
    "the quarterly report",
    "a piano lesson",
    "the dentist appointment",
    "a vegetable garden",
    "the team meeting",
    "a film about whales",
]
_TIMES = ["in spring", "on Monday", "last year", "before lunch", "every week", "at night", "in the rain", "after work"]


def sentence(rng: random.Random, number: int) -> str:
    """Return a sentence like one that an assistant would store; the number keeps them apart."""
    parts = (rng.choice(_SUBJECTS), rng.choice(_VERBS), rng.choice(_THINGS), rng.choice(_TIMES))
    return " ".join(parts) + f", note {number}."


async def starts(server: Callable[[], AbstractAsyncContextManager[Client]], times: int) -> list[float]:
    """Return the milliseconds from spawn to the answer of the first request, several times."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        async with server():
            taken.append(1000 * (time.perf_counter() - began))
    return taken


async def timed(times: int, work: Callable[[int], Awaitable[Any]]) -> list[float]:
    """Return the milliseconds of several calls, one after the other."""
    taken = []
    for number in range(times):
        began = time.perf_counter()
        await work(number)
        taken.append(1000 * (time.perf_counter() - began))
    return taken


async def fill(client: Client, size: int, rng: random.Random, progress: Progress) -> None:
    """Write ``size`` memories, several in flight."""
    task = progress.add_task("filling", total=size)
    numbers = iter(range(size))

    async def worker() -> None:
        for number in numbers:
            await call(client, "write_memory", content=sentence(rng, number))
            progress.advance(task)

    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(worker)


def size_of(home: Path) -> int:
    """Return the bytes that the files of a folder hold."""
    return sum(file.stat().st_size for file in home.iterdir() if file.is_file())


async def measure(size: int, rounds: int, times: int, progress: Progress) -> dict[str, Any]:
    """Return all figures of one run."""
    rng = random.Random(1)
    with tempfile.TemporaryDirectory(prefix="hybrid-memory-bench-") as folder:
        home = Path(folder)
        async with memory(home) as client:
            await fill(client, size, rng, progress)
        disk = size_of(home)
        start_bare: list[float] = []
        start_memory: list[float] = []
        task = progress.add_task("starting", total=times)
        for _ in range(times):
            start_bare += await starts(bare, 1)
            start_memory += await starts(lambda: memory(home), 1)
            progress.advance(task)
        async with memory(home) as client, bare() as echo:
            first_read = await timed(1, lambda _: call(client, "read_memories", query="the old bridge"))
            echoes = await timed(rounds, lambda n: call(echo, "echo", text=sentence(rng, n)))
            writes = await timed(rounds, lambda n: call(client, "write_memory", content=sentence(rng, size + n)))
            reads = await timed(rounds, lambda n: call(client, "read_memories", query=sentence(rng, n)))
    return {
        "memories": size,
        "start_bare": _spread(start_bare),
        "start_memory": _spread(start_memory),
        "start_ratio": round(median(start_memory) / median(start_bare), 2),
        "first_read_after_start": round(first_read[0], 1),
        "disk_bytes_a_memory": round(disk / size),
        "echo": _spread(echoes),
        "write": _spread(writes),
        "read": _spread(reads),
        "write_above_echo": round(median(writes) - median(echoes), 2),
        "read_above_echo": round(median(reads) - median(echoes), 2),
    }


def _spread(taken: list[float]) -> dict[str, float]:
    return {"p50": round(median(taken), 2), "p95": round(quantiles(taken, n=20)[-1], 2)}


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--starts", type=int, default=9)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with Progress(console=Console(stderr=True)) as progress:
        figures = anyio.run(lambda: measure(arguments.size, arguments.rounds, arguments.starts, progress))
    if arguments.json:
        json.dump(figures, sys.stdout)
        print()
        return
    table = Table("what", "p50", "p95", title=f"{figures['memories']} memories, times in ms")
    for name, value in figures.items():
        if isinstance(value, dict):
            table.add_row(name, f"{value['p50']:.2f}", f"{value['p95']:.2f}")
        elif name != "memories":
            table.add_row(name, f"{value:.2f}", "")
    Console().print(table)


if __name__ == "__main__":
    main()
