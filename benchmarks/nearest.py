"""From how many vectors on HNSW with exact re-ranking is faster than the exact product, and what building it costs.

    python -m benchmarks.nearest [--dimensions 384,768,1024] [--sizes 100000,300000,1000000] [--rounds 50] [--json FILE]

Runs the product's own `Matrix` and `ApproximateSearch` with VSS, on one thread each, as a hub has it. The vectors are those of a real
model (all-MiniLM-L6-v2 over texts that are made of the words of `scale_store`), 384 values each; a wider one is made of the vectors of
as many related texts side by side. Recall is the share of the true ten nearest among the ten that come out; questions are texts of
their own. ``disturbed`` is the exact search's p95 while the graph is being built, over its p95 at rest.
"""

from __future__ import annotations

import argparse
import json
import random
import threading
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

_WIDTH = 384
_DISTINCT = 60_000  # texts that the model embeds; more vectors are mixed from pairs of neighbours
_COUNT = 10
_NEVER_FEWER = 0


def real_vectors(count: int) -> NDArray[np.float32]:
    """Return unit vectors of so many made texts, (count, 384)."""
    from benchmarks.scale_store import Texts
    from hybrid_memory.embedding.registry import make_embedder

    texts, draw = Texts(7), random.Random(1)
    texts.new_session()
    embedder = make_embedder("minilm")
    made = [" ".join(texts.words(draw.randint(6, 18))) for _ in range(count)]
    parts = [
        np.asarray(embedder.embed(made[at : at + 256]), np.float32) for at in track(range(0, count, 256), "embedding")
    ]
    return np.concatenate(parts)


def widened(base: NDArray[np.float32], rows: int, dimensions: int, seed: int) -> NDArray[np.float32]:
    """Return ``rows`` unit vectors of a length: each made of texts' vectors side by side, mixed with a related one."""
    draw = np.random.default_rng(seed)
    made = np.empty((rows, dimensions), np.float32)
    for at in range(0, rows, 20_000):
        n = min(20_000, rows - at)
        first = draw.integers(0, len(base), n)
        for left in range(0, dimensions, _WIDTH):
            width = min(_WIDTH, dimensions - left)
            # The related text lies near in the list: the same session of the made texts.
            beside = (first + draw.integers(1, 12, n)) % len(base)
            share = draw.uniform(0.0, 0.5, (n, 1)).astype(np.float32)
            made[at : at + n, left : left + width] = ((1 - share) * base[first] + share * base[beside])[:, :width]
            first = (first + draw.integers(0, 3, n)) % len(base)
        made[at : at + n] /= np.linalg.norm(made[at : at + n], axis=1, keepdims=True)
    return made


def measure(vectors: NDArray[np.float32], questions: NDArray[np.float32]) -> dict[str, Any]:
    """Return times in milliseconds, recall at ten, and what the graph costs, of one set of vectors."""
    from hybrid_memory.retrieval.approximate_search import ApproximateSearch
    from hybrid_memory.retrieval.vectors import Matrix
    from hybrid_memory.store.duck import vss

    rows, dimensions = vectors.shape
    matrix = Matrix(dimensions)
    matrix.add_rows(rows)
    matrix.fill(0, vectors)
    mask = np.ones(rows, np.bool_)
    exact, truth = _searched(matrix, questions, mask)
    resident = _resident()
    search = ApproximateSearch(matrix, threading.RLock(), vss.open_hnsw, _NEVER_FEWER)
    began = time.perf_counter()
    search.maintain(mask)
    beside: list[float] = []
    waiting = threading.Thread(target=search.wait)
    waiting.start()
    while waiting.is_alive():
        beside += _searched(matrix, questions[:5], mask)[0]
        waiting.join(0.2)
    built = time.perf_counter() - began
    matrix.approximate = search
    near, found = _searched(matrix, questions, mask)
    hits = sum(len(set(one) & set(other)) for one, other in zip(truth, found, strict=True))
    again, _ = _searched_exactly(matrix, questions, mask)
    held = _resident() - resident
    search.close()
    return {
        "rows": rows,
        "dimensions": dimensions,
        "exact_p50": min(_p(exact, 0.5), _p(again, 0.5)),
        "exact_p95": min(_p(exact, 0.95), _p(again, 0.95)),
        "hnsw_p50": _p(near, 0.5),
        "hnsw_p95": _p(near, 0.95),
        "recall": hits / (_COUNT * len(questions)),
        "build_seconds": built,
        "graph_mb": held,
        "disturbed": _p(beside, 0.95) / _p(exact, 0.95) if beside else 1.0,
    }


def _searched_exactly(matrix: Any, questions: Any, mask: Any) -> tuple[list[float], list[list[int]]]:
    matrix.approximate, former = None, matrix.approximate
    try:
        return _searched(matrix, questions, mask)
    finally:
        matrix.approximate = former


def _searched(
    matrix: Any, questions: NDArray[np.float32], mask: NDArray[np.bool_]
) -> tuple[list[float], list[list[int]]]:
    times, found = [], []
    for vector in questions:
        began = time.perf_counter()
        rows, _ = matrix.top(vector, _COUNT, mask)
        times.append((time.perf_counter() - began) * 1e3)
        found.append(rows.tolist())
    return times, found


def _p(times: list[float], share: float) -> float:
    return median(times) if share == 0.5 else sorted(times)[min(int(share * len(times)), len(times) - 1)]


def _resident() -> float:
    """Return the megabytes that this process holds (Linux)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20


def main() -> None:
    """Measure each size at each length, and print a table."""
    from hybrid_memory.settings import limit_threads

    limit_threads()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dimensions", default="384,768,1024")
    parser.add_argument("--sizes", default="100000,300000,1000000")
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--distinct", type=int, default=_DISTINCT)
    parser.add_argument("--base", type=Path, help="a file for the model's vectors, made where it is missing")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    base = np.load(given.base) if given.base and given.base.exists() else real_vectors(given.distinct)
    if given.base and not given.base.exists():
        np.save(given.base, base)
    questions_base, base = base[: given.rounds * 4], base[given.rounds * 4 :]
    table = Table(
        "memories",
        "values",
        "exact p50 ms",
        "p95",
        "HNSW p50 ms",
        "p95",
        "recall@10",
        "build s",
        "graph MB",
    )
    results = []
    for size in map(int, given.sizes.split(",")):
        for dimensions in map(int, given.dimensions.split(",")):
            questions = widened(questions_base, given.rounds, dimensions, 2)
            one = measure(widened(base, size, dimensions, 1), questions)
            results.append(one)
            Console(stderr=True).print(one)
            if given.json:
                given.json.write_text(json.dumps(results, indent=1))
            table.add_row(
                f"{size:,}",
                str(dimensions),
                f"{one['exact_p50']:.1f}",
                f"{one['exact_p95']:.1f}",
                f"{one['hnsw_p50']:.1f}",
                f"{one['hnsw_p95']:.1f}",
                f"{one['recall']:.3f}",
                f"{one['build_seconds']:.0f}",
                f"{one['graph_mb']:.0f}",
            )
    Console().print(table)


if __name__ == "__main__":
    main()
