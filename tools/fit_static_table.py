"""Fit an int8 table of word-piece vectors and one small layer to the teacher's sentence vectors.

A text's vector is the sum of its rows, made unit length, plus what a layer of a few hidden units says to that sum, made
unit length again. The start is a rotation of the teacher's own single-token vectors with smooth-inverse-frequency
weights and a layer that says nothing. Adam lowers three things: 1 - cosine to the teacher, the difference of the two
similarity matrices within a batch, and the cross entropy of finding a question's statement among those of the batch.

    python fit_static_table.py TEACHER.npz VOCAB OUT_DIR [--dims 256] [--hidden 256] [--steps 4000]

TEACHER.npz  as written by embed_with_teacher.py
VOCAB        the teacher's full vocab.txt
OUT_DIR      table.npy (int8), scale.npy (float16 a row), layer.npy (float16), vocab.txt; the [unused] rows are dropped
Seeded, but sums differ in the last bits between machines, so hashes may differ.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

KINDS = ("sentences", "wordnet", "families", "notes", "mixtures")
SHARES = np.array([0.3, 0.2, 0.15, 0.25, 0.1])
FIRST_WORD = 998  # rank in the vocabulary from which frequency order starts
HELD_OUT = 0.01
REPORTED = 3_000
Bags = tuple[torch.Tensor, torch.Tensor]


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line may change."""

    dims: int = 256
    hidden: int = 256
    steps: int = 4_000
    batch: int = 1_024
    rate: float = 2e-3
    gram: float = 8.0
    contrast: float = 0.05
    temperature: float = 0.05
    in_pairs: float = 0.2
    seed: int = 0


class Data:
    """The texts as token ids, their teacher vectors turned onto the leading directions, and the pairs."""

    def __init__(self, path: Path, dims: int, rng: np.random.Generator) -> None:
        data = np.load(path)
        teacher, self.kind = data["teacher"], data["kind"]
        self._rows, self._starts = data["rows"].astype(np.int64), data["starts"]
        vocab = data["vocab"].astype(np.float32)
        sample = teacher[rng.permutation(len(teacher))[:60_000]].astype(np.float32)
        values, vectors = np.linalg.eigh(sample.T @ sample)
        print(f"{dims} dimensions keep {values[::-1][:dims].sum() / values.sum():.3f} of the energy")
        turn = vectors[:, ::-1][:, :dims].astype(np.float32).copy()
        self.goal = np.empty((len(teacher), dims), np.float32)
        for at in range(0, len(teacher), 50_000):
            self.goal[at : at + 50_000] = unit(teacher[at : at + 50_000].astype(np.float32) @ turn)
        self.start = (unit(vocab) @ turn) * frequency_weight(len(vocab))[:, None]
        self.start /= np.linalg.norm(self.start, axis=1).mean()
        held = rng.random(len(teacher)) < HELD_OUT
        self.train, self.rest = np.flatnonzero(~held), rng.permutation(np.flatnonzero(held))[:REPORTED]
        pairs = data["pairs"]
        pairs = pairs[~held[pairs[:, 1:]].any(1)]
        self.families, self.others = pairs[pairs[:, 0] >= 0], pairs[pairs[:, 0] < 0]
        odds = (SHARES / np.bincount(self.kind, minlength=len(KINDS)).clip(min=1))[self.kind[self.train]]
        self._odds = np.cumsum(odds / odds.sum())

    def bags(self, chosen: np.ndarray) -> Bags:
        """Return the token ids of the chosen texts one after another, and where each text begins."""
        sizes = self._starts[chosen + 1] - self._starts[chosen]
        begins = np.cumsum(sizes) - sizes
        tokens = self._rows[np.repeat(self._starts[chosen] - begins, sizes) + np.arange(sizes.sum())]
        return torch.from_numpy(tokens), torch.from_numpy(begins)

    def draw(self, texts: int, pairs: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return numbers of texts and pairs (group, question, statement), two of three out of a family."""
        lone = self.train[np.searchsorted(self._odds, rng.random(texts)).clip(max=len(self.train) - 1)]
        of_family = rng.choice(self.families, pairs * 2 // 3)
        of_others = rng.choice(self.others, pairs - len(of_family))
        of_others[:, 0] = -1 - np.arange(len(of_others))
        return np.unique(lone), np.concatenate([of_family, of_others])


class Student(torch.nn.Module):
    """The table and the layer in floats."""

    def __init__(self, start: np.ndarray, hidden: int) -> None:
        super().__init__()
        dims = start.shape[1]
        self.table = torch.nn.Parameter(torch.from_numpy(start).clone())
        self.into = torch.nn.Linear(dims, hidden)
        self.out = torch.nn.Linear(hidden, dims, bias=False)
        torch.nn.init.normal_(self.into.weight)
        torch.nn.init.zeros_(self.out.weight)

    def forward(self, bags: Bags) -> torch.Tensor:
        """Return unit vectors."""
        tokens, begins = bags
        summed = functional.normalize(functional.embedding_bag(tokens, self.table, begins, mode="sum", sparse=True))
        return functional.normalize(summed + self.out(torch.relu(self.into(summed))))


def unit(x: np.ndarray) -> np.ndarray:
    """Return the rows at length 1."""
    return x / (np.linalg.norm(x, axis=1, keepdims=True) + 1e-9)


def frequency_weight(size: int, a: float = 1e-4) -> np.ndarray:
    """Return smooth-inverse-frequency weights, taking the vocabulary's order for Zipf's ranks."""
    p = 1 / (np.maximum(np.arange(size) - FIRST_WORD, 1) + 1.0)
    p /= p.sum()
    return (a / (a + p)).astype(np.float32)


def report(student: Student, data: Data) -> str:
    """Say the held-out cosine for each kind of text and the correlation of all pair similarities."""
    with torch.no_grad():
        got = student(data.bags(data.rest)).numpy()
    goal, kind = data.goal[data.rest], data.kind[data.rest]
    cosine = (got * goal).sum(1)
    parts = [f"{name} {cosine[kind == k].mean():.3f}" for k, name in enumerate(KINDS) if (kind == k).any()]
    upper = np.triu_indices(len(got), 1)
    return ", ".join(parts) + f", pairs {np.corrcoef((got @ got.T)[upper], (goal @ goal.T)[upper])[0, 1]:.3f}"


def loss_of(got: torch.Tensor, goal: torch.Tensor, groups: torch.Tensor, options: Options) -> torch.Tensor:
    """Return the loss of a batch: questions first, then their statements in the same order, then lone texts.

    The other statements of a question's own family are no wrong answers: they are left out.
    """
    similar = got @ got.T
    off = similar - goal @ goal.T
    off = off - torch.diag(torch.diag(off))
    pairs = len(groups)
    same = (groups[:, None] == groups[None]) & ~torch.eye(pairs, dtype=torch.bool)
    left_out = functional.pad(same, (0, len(got) - 2 * pairs))
    found = (similar[:pairs, pairs:] / options.temperature).masked_fill(left_out, -1e4)
    return (
        1
        - (got * goal).sum(1).mean()
        + options.gram * (off**2).sum() / len(got) ** 2
        + options.contrast * functional.cross_entropy(found, torch.arange(pairs))
    )


def fit(data: Data, options: Options) -> Student:
    """Return the fitted student."""
    rng = np.random.default_rng(options.seed)
    torch.manual_seed(options.seed)
    student = Student(data.start, options.hidden)
    layer = [*student.into.parameters(), *student.out.parameters()]
    optimizers = [
        torch.optim.SparseAdam([student.table], options.rate, betas=(0.9, 0.99)),
        torch.optim.Adam(layer, options.rate, betas=(0.9, 0.99)),
    ]
    pairs = int(options.batch * options.in_pairs / 2)
    print("start:", report(student, data), flush=True)
    began = time.monotonic()
    for step in range(1, options.steps + 1):
        lone, drawn = data.draw(options.batch - 2 * pairs, pairs, rng)
        chosen = np.concatenate([drawn[:, 1], drawn[:, 2], lone])
        got = student(data.bags(chosen))
        loss = loss_of(got, torch.from_numpy(data.goal[chosen]), torch.from_numpy(drawn[:, 0]), options)
        pace = options.rate * min(1, step / 50) * 0.5 * (1 + math.cos(math.pi * step / options.steps)) + 1e-6
        student.zero_grad()
        loss.backward()
        for optimizer in optimizers:
            optimizer.param_groups[0]["lr"] = pace
            optimizer.step()
        if step % 1_000 == 0 or step == options.steps:
            print(f"{step}: {report(student, data)}, {time.monotonic() - began:.0f} s", flush=True)
    return student


def write(student: Student, vocabulary: list[str], out: Path) -> None:
    """Quantise each row to int8 with its own scale and drop the tokens that never occur."""
    table = student.table.detach().numpy()
    scale = np.abs(table).max(1) / 127
    scale[scale == 0] = 1
    whole = np.round(table / scale[:, None]).clip(-127, 127).astype(np.int8)
    keep = [i for i, token in enumerate(vocabulary) if not token.startswith("[unused")]
    layer = torch.cat([student.into.weight, student.into.bias[:, None], student.out.weight.T], 1).detach().numpy()
    out.mkdir(parents=True, exist_ok=True)
    np.save(out / "table.npy", whole[keep])
    np.save(out / "scale.npy", scale[keep].astype(np.float16))
    np.save(out / "layer.npy", layer.astype(np.float16))
    (out / "vocab.txt").write_text("\n".join(vocabulary[i] for i in keep), encoding="utf-8")
    print(f"{out}: {len(keep)} rows x {table.shape[1]}, {sum(p.stat().st_size for p in out.iterdir())} bytes")


def run(teacher: Path, vocab: Path, out: Path, options: Options, threads: int = 1) -> None:
    """Fit and write a table."""
    torch.set_num_threads(threads)
    data = Data(teacher, options.dims, np.random.default_rng(options.seed))
    write(fit(data, options), vocab.read_text(encoding="utf-8").splitlines(), out)


def main() -> None:
    """Fit and write a table as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("teacher", type=Path)
    parser.add_argument("vocab", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    defaults = Options()
    for name in Options.__slots__:
        value = getattr(defaults, name)
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    args = parser.parse_args()
    options = Options(**{name: getattr(args, name) for name in Options.__slots__})
    run(args.teacher, args.vocab, args.out, options, args.threads)


if __name__ == "__main__":
    main()
