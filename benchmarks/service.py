"""Starts, imports, reads and writes of the real server next to the smallest server of the same SDK, in one run.

    python -m benchmarks.service [--sizes 600 10000] [--texts alike mixed] [--rounds 200] [--starts 5] [--beside FOLDER]
        [--embedder static] [--json]

FOLDER is another checkout with its own `.venv`, such as a worktree of an earlier commit: it does the same in turns with this one.
Times are milliseconds that a client waits over stdio; imports are processor seconds. Machines are noisy: read the ratios.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import anyio
from mcp import Client
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks.client import bare, call, memory
from hybrid_memory.admin.jsonl import item_line
from hybrid_memory.clock import SystemClock
from hybrid_memory.language.text import content_hash
from hybrid_memory.model import Kind, Memory, MemoryId, Origin, Tier, Trust
from hybrid_memory.store.transfer import MemoryItem

_LATE_VECTORS_A_SECOND = 1_000  # at least: an import leaves its last vectors to the hub, which is not what is measured
_NAMES = ["Ada", "Bruno", "Chen", "Dara", "Elif", "Femi", "Greta", "Hugo"]
_VERBS = ["likes", "plans", "visited", "bought", "finished", "cancelled", "forgot", "repaired", "recommends"]
_THINGS = [
    "green tea",
    "a trip to Porto",
    "the old bridge",
    "a second-hand bicycle",
    "the quarterly report",
    "a piano lesson",
    "the dentist appointment",
    "a vegetable garden",
    "a film about whales",
]
_TIMES = ["in spring", "on Monday", "last year", "before lunch", "every week", "at night", "in the rain", "after work"]
_MIXED = [
    "{name} told me that {thing} is more work than expected, number {n}.",
    "We met {name} {time} and talked about {thing} for {n} minutes.",
    "{name} {verb} {thing} {time}, and {other} came along; it cost {n} euros.",
    "Room {n} is where {name} keeps {thing}.",
    "{other} asked {name} about {thing}; the answer was due {time}, ticket {n}.",
]
_QUESTIONS = [
    "What does {name} think of {thing}?",
    "Where is {thing} of {name}?",
    "What did {name} do {time}?",
    "Who {verb} {thing}?",
]


def sentence(rng: random.Random, number: int, texts: str = "alike") -> str:
    """Return a sentence like one that an assistant would store, of one form or of several; the number keeps them apart."""
    form = "{name} {verb} {thing} {time}, note {n}." if texts == "alike" else rng.choice(_MIXED)
    return form.format(n=number, **_words(rng))


def question(rng: random.Random) -> str:
    """Return a question about one of the sentences."""
    return rng.choice(_QUESTIONS).format(**_words(rng))


def _words(rng: random.Random) -> dict[str, str]:
    name, other = rng.sample(_NAMES, 2)
    return {
        "name": name,
        "other": other,
        "verb": rng.choice(_VERBS),
        "thing": rng.choice(_THINGS),
        "time": rng.choice(_TIMES),
    }


@dataclass
class Program:
    """A checkout that is measured: its Python, and what was found, by what was done."""

    name: str
    python: Path
    home: Path
    taken: dict[str, list[float]] = field(default_factory=dict)

    async def timed(self, what: str, work: Callable[[], Awaitable[Any]]) -> None:
        """Do something and note the milliseconds that it took."""
        began = time.perf_counter()
        await work()
        self.taken.setdefault(what, []).append(1000 * (time.perf_counter() - began))

    def import_file(self, file: Path, home: Path, *options: str) -> float:
        """Import a file into a folder and return the processor seconds that it took."""
        command = [str(self.python), "-m", "hybrid_memory_mcp", "import", str(file), "--home", str(home), *options]
        asks = "--yes" in subprocess.run([*command[:4], "--help"], capture_output=True, text=True, check=True).stdout
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([*command, *(["--yes"] if asks else [])], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


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


def _own_export(contents: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Return the lines of an export that holds some statements of the user's, with the fields that earlier versions know too."""
    yield {
        "format": "hybrid-memory",
        "version": 1,
        "namespaces": ["default"],
        "memories": len(contents),
        **dict.fromkeys(("embedder", "dimensions")),
        **dict.fromkeys(("buffers", "conversations", "entries"), 0),
    }
    begun = SystemClock().now() - timedelta(minutes=len(contents))
    for number, text in enumerate(contents):
        memory = Memory(
            id=MemoryId(f"{number:020}"),
            namespace="default",
            session="s",
            agent="default",
            content=text,
            kind=Kind.OBSERVATION,
            tier=Tier.LONG_TERM,
            importance=0.5,
            created_at=begun + timedelta(minutes=number),
            content_hash=content_hash(text),
            origin=Origin.USER,
            trust=Trust.USER,
        )
        line: dict[str, Any] = json.loads(item_line(MemoryItem(memory)))
        del line["disputes"]
        yield line


def _write_lines(file: Path, lines: Iterator[dict[str, Any]]) -> None:
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


async def measure(
    size: int, texts: str, rounds: int, starts: int, programs: Sequence[Program], embedder: str | None
) -> None:
    """Fill the folders of the programs with the same memories, and use them in turns; each has its own default ``embedder`` where None."""
    rng = random.Random(1)
    contents = [sentence(rng, number, texts) for number in range(size)]
    folder = programs[0].home.parent
    _write_lines(folder / "own.jsonl", _own_export(contents))
    _write_lines(folder / "foreign.jsonl", ({"content": text} for text in contents))
    for one in programs:
        other = one.home.with_suffix(".imported")
        for home in (one.home, other) if embedder else ():
            home.mkdir(mode=0o700)
            (home / "config.toml").write_text(f"embedder = {json.dumps(embedder)}\n", encoding="utf-8")
        one.import_file(folder / "own.jsonl", one.home, "--trusted")
        one.taken["import, CPU s"] = [one.import_file(folder / "foreign.jsonl", other)]
    for _ in range(starts):
        for one in programs:
            async with AsyncExitStack() as stack:
                server = memory(one.home, python=one.python)
                await one.timed("start", lambda stack=stack, server=server: stack.enter_async_context(server))
        async with AsyncExitStack() as stack:
            await programs[0].timed("start of echo", lambda stack=stack: stack.enter_async_context(bare()))
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(memory(one.home, python=one.python)) for one in programs]
        echo = await stack.enter_async_context(bare())
        for one, client in zip(programs, clients, strict=True):
            await one.timed("first read", lambda client=client: call(client, "read_memories", query="the old bridge"))
        await anyio.sleep(size / _LATE_VECTORS_A_SECOND)
        for number in range(rounds):
            said, asked = sentence(rng, size + number, texts), question(rng)
            await programs[0].timed("echo", lambda said=said: call(echo, "echo", text=said))
            for one, client in list(zip(programs, clients, strict=True))[:: -1 if number % 2 else 1]:
                await one.timed("read", lambda c=client, asked=asked: call(c, "read_memories", query=asked))
                await one.timed("write", lambda c=client, said=said: call(c, "write_memory", content=said))


def rows_of(programs: Sequence[Program]) -> Iterator[tuple[str, list[str]]]:
    """Return what was done, and for each program p50 and p95; with two, the ratio of the first to the second."""
    for what in ("import, CPU s", "start of echo", "start", "first read", "echo", "read", "write"):
        found = [one.taken[what] for one in programs if what in one.taken]
        cells = [f"{median(each):.1f} ({_p95(each):.1f})" if len(each) > 1 else f"{each[0]:.1f}" for each in found]
        ratio = [f"{median(found[0]) / median(found[1]):.2f}"] if len(found) > 1 else []
        if found:
            yield what, cells + ratio


def _p95(taken: Sequence[float]) -> float:
    return quantiles(taken, n=20)[-1]


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[600, 10_000])
    parser.add_argument("--texts", nargs="+", choices=["alike", "mixed"], default=["alike", "mixed"])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--beside", type=Path)
    parser.add_argument("--embedder")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    pythons = {"here": Path(sys.executable)}
    if given.beside is not None:
        pythons[given.beside.name] = given.beside / ".venv" / "bin" / "python"
    for texts in given.texts:
        for size in given.sizes:
            with tempfile.TemporaryDirectory(prefix="hybrid-memory-bench-") as folder:
                programs = [Program(name, python, Path(folder) / name) for name, python in pythons.items()]
                anyio.run(measure, size, texts, given.rounds, given.starts, programs, given.embedder)
            if given.json:
                print(json.dumps({"memories": size, "texts": texts} | {one.name: one.taken for one in programs}))
                continue
            table = Table("p50 (p95), ms", *pythons, title=f"{size} memories, {texts}")
            if len(programs) > 1:
                table.add_column("ratio")
            for what, cells in rows_of(programs):
                table.add_row(what, *cells)
            Console().print(table)


if __name__ == "__main__":
    main()
