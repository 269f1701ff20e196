"""A store changes its embedder while a client reads and writes: how long it takes, and what the client notices.

    python -m benchmarks.reembedding --to fastembed:FOLDER [--size 10000] [--json]

Fills a store with the built-in embedder, then starts the real server with the other one and calls it over stdio, one call
after the other, until the change is done. Times are milliseconds as the client sees them; read the ratios.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import anyio
from mcp import Client
from mcp.types import TextResourceContents
from rich.console import Console
from rich.progress import Progress

from benchmarks.client import call, memory
from benchmarks.service import fill, sentence

_ROUNDS = 200
_PAUSE_SECONDS = 0.02


async def status(client: Client) -> dict[str, Any]:
    """Return what memory://status says."""
    content = (await client.read_resource("memory://status")).contents[0]
    assert isinstance(content, TextResourceContents)
    told: dict[str, Any] = json.loads(content.text)
    return told


async def live(client: Client, rng: random.Random, number: int, taken: dict[str, list[float]]) -> None:
    """Write one memory and ask one question, as a busy assistant would."""
    for tool, arguments in (
        ("write_memory", {"content": sentence(rng, number)}),
        ("read_memories", {"query": sentence(rng, number)}),
    ):
        began = time.perf_counter()
        await call(client, tool, **arguments)
        taken[tool].append(1000 * (time.perf_counter() - began))
        await anyio.sleep(_PAUSE_SECONDS)


async def measure(size: int, to: str, progress: Progress) -> dict[str, Any]:
    """Return all figures of one run."""
    rng = random.Random(1)
    before: dict[str, list[float]] = {"write_memory": [], "read_memories": []}
    during: dict[str, list[float]] = {"write_memory": [], "read_memories": []}
    with tempfile.TemporaryDirectory(prefix="hybrid-memory-bench-") as folder:
        home = Path(folder)
        async with memory(home) as client:
            await fill(client, size, rng, progress)
            for number in range(_ROUNDS):
                await live(client, rng, size + number, before)
        (home / "config.toml").write_text(f"embedder = {json.dumps(to)}\n", encoding="utf-8")
        async with memory(home) as client:
            began, number, now = time.perf_counter(), size + _ROUNDS, await status(client)
            former = now["embedder"]
            task = progress.add_task("changing", total=size)
            while now["embedder"] == former:
                await live(client, rng, number, during)
                number += 1
                if number % 10 == 0:
                    now = await status(client)
                    progress.update(task, completed=(now["reembedding"] or {"done": 0})["done"])
            seconds = time.perf_counter() - began
            pending = (await status(client))["pending_vectors"]
    return {
        "memories": size,
        "to": now["embedder"],
        "seconds": round(seconds, 1),
        "calls_during": len(during["write_memory"]) * 2,
        "pending_after": pending,
        "before": {tool: _spread(times) for tool, times in before.items()},
        "during": {tool: _spread(times) for tool, times in during.items()},
    }


def _spread(taken: list[float]) -> dict[str, float]:
    return {
        "p50": round(median(taken), 1),
        "p95": round(quantiles(taken, n=20)[-1], 1),
        "worst": round(max(taken), 1),
    }


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--to", required=True)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with Progress(console=Console(stderr=True)) as progress:
        figures = anyio.run(lambda: measure(arguments.size, arguments.to, progress))
    json.dump(figures, sys.stdout, indent=None if arguments.json else 2)
    print()


if __name__ == "__main__":
    main()
