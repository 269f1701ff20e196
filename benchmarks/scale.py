"""How reading, opening, writing, memory and disk grow with the number of memories, alongside a plain matrix product.

    python -m benchmarks.scale [--sizes 1000,10000,100000,1000000] [--rounds 100] [--json] [--plot FOLDER] [--keep FOLDER]

Each size is measured in a process of its own, through `MemoryService` and the built-in embedder. Times are in milliseconds;
search is exact (`hnsw_from` is out of reach).
The limit alongside a figure comes from the product of the same matrix with one vector, timed between the reads of the same run.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

_SIZES = "1000,10000,100000,1000000"
_OPEN = {100_000: (1_500.0, 700.0), 1_000_000: (6_000.0, 3_000.0)}
"""Most milliseconds until the first answer: what must be kept, and what is aimed at."""
_NEVER = 10**12
_RAM = (3_072, 2_048)
_DISK = (2_560, 1_536)


def measure(home: Path, rounds: int, store: str | None = None) -> dict[str, Any]:
    """Return the figures of the store in a folder, or at an address; run in a process that did nothing else before."""
    from hybrid_memory.settings import limit_threads, store_settings

    limit_threads()
    from hybrid_memory_mcp.runtime.library_patches import install_pandas_stub

    install_pandas_stub()
    import duckdb  # noqa: F401 - loaded before anything is timed, as numpy is
    import numpy as np

    if store is not None:
        import psycopg_pool  # noqa: F401 - as above
    from benchmarks.scale_store import Texts
    from hybrid_memory.clock import SystemClock, SystemRandomSource
    from hybrid_memory.model import Scope
    from hybrid_memory.requests import ReadRequest, Where, WriteRequest
    from hybrid_memory.service.memory_service import MemoryService

    facts = json.loads((home / "facts.json").read_text())
    size, texts, scope = facts["memories"], Texts(7), Scope(session="bench")
    texts.new_session()
    began = time.perf_counter()
    settings = store_settings(home, store=store)
    service = MemoryService.open(
        home, clock=SystemClock(), random_source=SystemRandomSource(), settings=settings, hnsw_from=_NEVER
    )
    service.read(scope, ReadRequest(query="the old bridge over the river", limit=8))
    opened = _since(began)
    service.warm_up(scope)
    _settle()
    held = _resident()
    if not size:
        service.close()
        return {"resident": held}
    matrix, vector = _matrix_of(service), np.ones(256, np.float32) / 16
    questions = [" ".join(texts.words(random.Random(number).randint(3, 8))) for number in range(rounds)]

    def read(question: str, **where: Any) -> None:
        service.read(scope, ReadRequest(query=question, limit=8, where=Where(**where)))

    product: list[float] = []
    reads: list[float] = []
    for question in questions:
        product += _timed(lambda _: matrix @ vector, [None])
        reads += _timed(read, [question])
    some = questions[: max(rounds // 4, 5)]
    since = _middle(size)
    filtered = {
        "session": _timed(lambda one: read(one, session="s-000000000003"), some),
        "tag": _timed(lambda one: read(one, tags=("work",)), some),
        "since": _timed(lambda one: read(one, since=since), some),
    }
    writes = _timed(
        lambda number: service.write(scope, WriteRequest(content=f"{texts.sentence()} {number}")), range(rounds)
    )
    service.close()
    return facts | {
        "matrix_product": _spread(product),
        "read": _spread(reads),
        **{f"read_{name}": _spread(taken) for name, taken in filtered.items()},
        "write": _spread(writes),
        "open_to_first_answer": opened,
        "resident": held,
        "disk_bytes_a_memory": round(facts["disk_bytes"] / size),
        "text_bytes_a_memory": round(facts["text_bytes"] / size),
    }


def limits(figures: dict[str, Any]) -> dict[str, tuple[float, float, float]]:
    """Return for each figure with a limit: the figure, what must be kept, and what is aimed at."""
    product, text = figures["matrix_product"]["p50"], figures["text_bytes_a_memory"]
    found = {
        "read p50": (figures["read"]["p50"], 4 * product + 3, 2 * product + 1),
        "RAM bytes a memory": (figures["ram_bytes_a_memory"], *_RAM),
        "disk bytes a memory": (figures["disk_bytes_a_memory"], *(limit + text for limit in _DISK)),
    }
    if figures["memories"] in _OPEN:
        found["open to first answer"] = (figures["open_to_first_answer"], *_OPEN[figures["memories"]])
    return found


def prepare(home: Path, size: int, progress: Progress) -> None:
    """Make a store of a size in a folder, unless it is there already."""
    from benchmarks.scale_store import make_store

    if (home / "facts.json").exists():
        return
    home.mkdir(parents=True, exist_ok=True)
    task = progress.add_task(f"making {size:,}", total=size)
    written = make_store(home, size, lambda count: progress.advance(task, count))
    disk = sum(file.stat().st_size for file in home.iterdir() if file.is_file())
    (home / "facts.json").write_text(json.dumps({"memories": size, "text_bytes": written, "disk_bytes": disk}))


def run(sizes: Iterable[int], rounds: int, folder: Path, progress: Progress) -> list[dict[str, Any]]:
    """Return the figures of all sizes."""
    found = []
    prepare(folder / "0", 0, progress)
    empty = measured(folder / "0", rounds)["resident"]
    for size in sizes:
        home = folder / str(size)
        prepare(home, size, progress)
        task = progress.add_task(f"measuring {size:,}", total=None)
        figures = measured(home, rounds)
        figures["ram_bytes_a_memory"] = round((figures.pop("resident") - empty) / size)
        figures["limits"] = {
            name: dict(zip(("figure", "floor", "goal"), values, strict=True))
            for name, values in limits(figures).items()
        }
        found.append(figures)
        progress.update(task, total=1, completed=1)
    return found


def table(found: list[dict[str, Any]]) -> Table:
    """Return the figures for people."""
    shown = Table("what", *(f"{figures['memories']:,}" for figures in found), title="p50 / p95 / p99 in ms")
    for name in ("matrix_product", "read", "read_session", "read_tag", "read_since", "write"):
        shown.add_row(name, *(" / ".join(f"{value:.2f}" for value in one[name].values()) for one in found))
    for name in dict.fromkeys(name for one in found for name in one["limits"]):
        shown.add_row(name, *(_verdict(one["limits"].get(name)) for one in found))
    return shown


def measured(home: Path, rounds: int, store: str | None = None) -> dict[str, Any]:
    """Return what `measure` gives in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.scale", "--rounds", str(rounds), "--measure", str(home)]
    command += [] if store is None else ["--store", store]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _verdict(limit: dict[str, float] | None) -> str:
    if limit is None:
        return ""
    word = "goal" if limit["figure"] <= limit["goal"] else "kept" if limit["figure"] <= limit["floor"] else "MISSED"
    return f"{limit['figure']:,.1f} (goal {limit['goal']:,.1f}, floor {limit['floor']:,.1f}: {word})"


def _matrix_of(service: Any) -> Any:
    return service._index_cache.get("default")._matrix.values  # noqa: SLF001 - the very matrix that is searched


def _middle(size: int) -> Any:
    from benchmarks.scale_store import APART, START

    return START + APART * (size * 9 // 10)


def _timed(work: Callable[[Any], Any], over: Iterable[Any]) -> list[float]:
    taken = []
    for one in over:
        began = time.perf_counter()
        work(one)
        taken.append(_since(began))
    return taken


def _since(began: float) -> float:
    return round(1000 * (time.perf_counter() - began), 3)


def _settle() -> None:
    """Wait until what was begun in the background is done, so that it is not measured along."""
    import threading

    for thread in threading.enumerate():
        if thread.name in {"sort terms", "vector index"}:
            thread.join()


def _spread(taken: list[float]) -> dict[str, float]:
    ordered = sorted(taken)
    return {"p50": round(median(ordered), 3)} | {
        f"p{share}": round(ordered[min(len(ordered) * share // 100, len(ordered) - 1)], 3) for share in (95, 99)
    }


def _resident() -> int:
    """Return the bytes of this process that are in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    import resource

    return pages * resource.getpagesize()


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=_SIZES)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--keep", type=Path, help="Folder in which stores are kept, and found again.")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--store", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure is not None:
        json.dump(measure(arguments.measure, arguments.rounds, arguments.store), sys.stdout)
        return
    sizes = [int(size) for size in arguments.sizes.split(",")]
    with tempfile.TemporaryDirectory(prefix="hybrid-memory-scale-") as made:
        folder = Path(made) if arguments.keep is None else arguments.keep
        with Progress(console=Console(stderr=True)) as progress:
            found = run(sizes, arguments.rounds, folder, progress)
    if arguments.plot is not None:
        from benchmarks.plots import draw

        draw(found, arguments.plot)
    if arguments.json:
        json.dump({"sizes": found}, sys.stdout)
        print()
    else:
        Console().print(table(found))


if __name__ == "__main__":
    main()
