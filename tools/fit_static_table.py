"""Fit an int8 table of word-piece vectors to the teacher's sentence vectors, in numpy.

A text's vector is the sum of its rows, made unit length. The start is a rotation of the teacher's own
single-token vectors with smooth-inverse-frequency weights; Adam then lowers 1 - cosine to the teacher plus
the difference of the two similarity matrices within a batch.

    python fit_static_table.py TEACHER.npz VOCAB OUT_DIR [--dims 256] [--steps 2200] [--batch 1024]

TEACHER.npz  as written by embed_with_teacher.py
VOCAB        the teacher's full vocab.txt
OUT_DIR      table.npy (int8), scale.npy (float16 per row), vocab.txt; the [unused] rows are dropped
Needs numpy and scipy. Seeded, but sums differ in the last bits between BLAS builds, so hashes may differ.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from scipy import sparse

GROUPS = ("docs", "templates", "mixtures")
FIRST_WORD = 998  # rank in the vocabulary from which frequency order starts
DRAW_WEIGHT = np.array([1.0, 1.0, 0.8])
HELD_OUT = 0.02


def unit(x: np.ndarray) -> np.ndarray:
    """Return the rows at length 1."""
    return x / (np.linalg.norm(x, axis=1, keepdims=True) + 1e-9)


def rotation(teacher: np.ndarray, dims: int) -> np.ndarray:
    """Return the leading directions of the uncentred second moment: it keeps dot products best."""
    values, vectors = np.linalg.eigh(teacher.T @ teacher / len(teacher))
    print(f"{dims} dimensions keep {values[::-1][:dims].sum() / values.sum():.3f} of the energy")
    return vectors[:, ::-1][:, :dims].astype(np.float32)


def frequency_weight(size: int, a: float = 1e-4) -> np.ndarray:
    """Return smooth-inverse-frequency weights, taking the vocabulary's order for Zipf's ranks."""
    p = 1 / (np.maximum(np.arange(size) - FIRST_WORD, 1) + 1.0)
    p /= p.sum()
    return (a / (a + p)).astype(np.float32)


def report(table: np.ndarray, bags: sparse.csr_matrix, target: np.ndarray, group: np.ndarray) -> str:
    """Say the held-out cosine for each kind of text and the correlation of all pair similarities."""
    got = unit(bags @ table)
    cosine = (got * target).sum(1)
    parts = [f"{name} {cosine[group == k].mean():.3f}" for k, name in enumerate(GROUPS) if (group == k).any()]
    upper = np.triu_indices(len(got), 1)
    return ", ".join(parts) + f", pairs {np.corrcoef((got @ got.T)[upper], (target @ target.T)[upper])[0, 1]:.3f}"


def fit(
    data: dict[str, np.ndarray], dims: int, steps: int, batch: int, rate: float, gram: float, pull: float, seed: int
) -> np.ndarray:
    """Return the fitted float table, one row for each token of the full vocabulary."""
    rng = np.random.default_rng(seed)
    teacher, vocab, group = unit(data["teacher"]), data["vocab"], data["group"]
    size, count = len(vocab), len(teacher)
    bags = sparse.csr_matrix((np.ones(len(data["rows"]), np.float32), data["rows"], data["starts"]), (count, size))
    turn = rotation(teacher, dims)
    target = unit(teacher @ turn)
    start = (unit(vocab) @ turn) * frequency_weight(size)[:, None]
    start /= np.linalg.norm(start, axis=1).mean()
    held = rng.random(count) < HELD_OUT
    train, rest = np.flatnonzero(~held), np.flatnonzero(held)
    odds = DRAW_WEIGHT[group[train]]
    odds /= odds.sum()
    batch = min(batch, int((odds > 0).sum()))
    table, mean, square = start.copy(), np.zeros_like(start), np.zeros_like(start)
    print("start:", report(table, bags[rest], target[rest], group[rest]))
    began = time.monotonic()
    for step in range(1, steps + 1):
        chosen = rng.choice(train, batch, p=odds, replace=False)
        bag, goal = bags[chosen], target[chosen]
        summed = bag @ table
        length = np.linalg.norm(summed, axis=1, keepdims=True) + 1e-9
        got = summed / length
        slope = -goal / batch
        off = got @ got.T - goal @ goal.T
        np.fill_diagonal(off, 0)
        slope = slope + gram * 8 * (4 * (off @ got) / batch**2)
        slope = (slope - got * (slope * got).sum(1, keepdims=True)) / length
        gradient = bag.T @ slope + pull * (table - start) / size
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.99 * square + 0.01 * gradient * gradient
        pace = rate * min(1, step / 50) * 0.5 * (1 + np.cos(np.pi * step / steps))
        table -= pace * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
        if step % 250 == 0 or step == steps:
            print(
                f"{step}: {report(table, bags[rest], target[rest], group[rest])}, {time.monotonic() - began:.0f} s",
                flush=True,
            )
    return table


def write(table: np.ndarray, vocabulary: list[str], out: Path) -> None:
    """Quantise each row to int8 with its own scale and drop the tokens that never occur."""
    scale = np.abs(table).max(1) / 127
    scale[scale == 0] = 1
    whole = np.round(table / scale[:, None]).clip(-127, 127).astype(np.int8)
    keep = [i for i, token in enumerate(vocabulary) if not token.startswith("[unused")]
    out.mkdir(parents=True, exist_ok=True)
    np.save(out / "table.npy", whole[keep])
    np.save(out / "scale.npy", scale[keep].astype(np.float16))
    (out / "vocab.txt").write_text("\n".join(vocabulary[i] for i in keep), encoding="utf-8")
    print(f"{out}: {len(keep)} rows x {table.shape[1]}, {sum(p.stat().st_size for p in out.iterdir())} bytes")


def main() -> None:
    """Fit and write a table as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("teacher", type=Path)
    parser.add_argument("vocab", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--dims", type=int, default=256)
    parser.add_argument("--steps", type=int, default=2200)
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--gram", type=float, default=1.0, help="weight of the similarity-matrix part")
    parser.add_argument("--pull", type=float, default=1e-3, help="pull of unseen rows towards their start")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    vocabulary = args.vocab.read_text(encoding="utf-8").splitlines()
    with np.load(args.teacher) as stored:
        data = {name: stored[name] for name in stored.files}
    table = fit(data, args.dims, args.steps, args.batch, args.rate, args.gram, args.pull, args.seed)
    write(table, vocabulary, args.out)


if __name__ == "__main__":
    main()
