"""Fits which later memory changes what an earlier one told (`hybrid_memory.retrieval.update_detection`), each set one vote.

    python tools/fit_updates.py [SET.json ...] [--embedder static|minilm]

Pairs come from the questions of sets whose outdated answers are known: the look-alikes (`benchmarks/alike.py`), the lives
(`tests/data/lives/dev-*.json`), and the sets given. True are the pairs that a set names, or an outdated answer with the present one;
false is each other pair with an answer in it. A regularised logistic regression is done with all sets, which gives the
coefficients to use, and once without each set: those left-out figures are the figures of the step (docs/benchmarks.md).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.alike import stores
from benchmarks.indexed import Asked, IndexedCollection, IndexedSet, load_sets
from rich.console import Console

from hybrid_memory.embedding.registry import make_embedder
from hybrid_memory.retrieval.update_detection import (
    FITTED_FEATURES,
    FITTED_UPDATES,
    UpdateParameters,
    pair_features,
    settle_updates,
)

PENALTY = (
    0.001  # of the squared coefficients; a tenth of it or ten times as much changes no left-out figure by its noise
)
SHOWN = 8  # hits of a read whose marks are counted
_LIVES = sorted((Path(__file__).resolve().parents[1] / "tests/data/lives").glob("dev-*.json"))
_STEPS = 60  # of Newton's method, which needs ten

Updates = frozenset[tuple[str, str]]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Pairs:
    """The pairs of a set: (pairs, features), and which of them are true."""

    features: Floats
    true: Floats


def true_updates() -> Mapping[str, Updates]:
    """Return the pairs that replace one another, by the id of their store, where a set names them all."""
    found = {store.collection.id: store.true_updates for store in stores()}
    for path in _LIVES:
        for store in json.loads(path.read_text(encoding="utf-8"))["stores"]:
            found[store["id"]] = _closed(frozenset((older, newer) for older, newer in store["true_updates"]))
    return found


def _closed(pairs: Updates) -> Updates:
    """Return the pairs with those that a chain of them makes."""
    while True:
        more = pairs | {(first, last) for first, one in pairs for other, last in pairs if one == other}
        if more == pairs:
            return pairs
        pairs = more


def labelled(indexed: IndexedSet, truth: Mapping[str, Updates]) -> Pairs:
    """Return the pairs of a set's questions that can be judged."""
    features: list[list[float]] = []
    true: list[bool] = []
    for part, one in _asked(indexed):
        for earlier, later, values in _pairs(part, one):
            label = _label(one, earlier, later, truth.get(part.collection.id))
            if label is not None:
                features.append(values)
                true.append(label)
    return Pairs(np.array(features).reshape(-1, len(FITTED_FEATURES)), np.array(true, np.float64))


def _asked(indexed: IndexedSet) -> Iterator[tuple[IndexedCollection, Asked]]:
    return ((part, one) for part in indexed.parts for one in part.asked)


def _pairs(part: IndexedCollection, one: Asked) -> Iterator[tuple[str, str, list[float]]]:
    rivals = part.index.search(one.query).rivals
    if rivals is not None:
        for (earlier, later), pair in pair_features(rivals, one.question.text, part.memories):
            yield rivals.ids[earlier], rivals.ids[later], [getattr(pair, name) for name in FITTED_FEATURES]


def _label(one: Asked, earlier: str, later: str, updates: Updates | None) -> bool | None:
    """Return whether a pair is true, None where nobody can tell."""
    gold, stale = one.question.gold, one.question.stale
    if updates is not None:
        if (earlier, later) in updates:
            return True
        return False if earlier in gold or later in gold or earlier in stale else None
    if stale:
        if earlier in stale and (later in gold or later in stale):
            return True
        return False if earlier in gold or earlier in stale else None
    return False if earlier in gold and later not in gold else None


def fitted(sets: Sequence[Pairs], penalty: float = PENALTY) -> UpdateParameters:
    """Return the coefficients that tell true pairs from false ones best, each set counting the same."""
    features = np.concatenate([np.c_[one.features, np.ones(len(one.true))] for one in sets])
    true = np.concatenate([one.true for one in sets])
    weights = np.concatenate([np.full(len(one.true), 1 / max(len(one.true), 1) / len(sets)) for one in sets])
    damping = np.eye(features.shape[1]) * penalty
    damping[-1, -1] = 0
    found = np.zeros(features.shape[1])
    for _ in range(_STEPS):
        likely = 1 / (1 + np.exp(-np.clip(features @ found, -30, 30)))
        slope = features.T @ (weights * (true - likely)) - damping @ found
        bend = (features * (weights * likely * (1 - likely))[:, None]).T @ features + damping
        found += np.linalg.solve(bend + 1e-9 * np.eye(len(found)), slope)
    values = dict(zip((*FITTED_FEATURES, "constant"), found.round(2).tolist(), strict=True))
    return replace(FITTED_UPDATES, **values)


@dataclass(frozen=True)
class Figures:
    """What the step does to a set: hit@1 without and with it, newest above stale likewise, claims that are in the labels and others."""

    hit: tuple[float, float]
    newest: tuple[float, float] | None
    right: int
    other: int
    reads: int

    def __str__(self) -> str:
        newest = "-" if self.newest is None else f"{self.newest[0]:.2f} -> {self.newest[1]:.2f}"
        hit = f"{100 * self.hit[0]:5.1f} -> {100 * self.hit[1]:5.1f}"
        return f"hit@1 {hit}   newest above stale {newest:>12}   newer right {self.right:3} other {self.other:2} ({self.reads} reads)"


def figures(indexed: IndexedSet, truth: Mapping[str, Updates], parameters: UpdateParameters) -> Figures:
    """Return what the step does to a set with some parameters."""
    hits: list[tuple[bool, bool]] = []
    newest: list[tuple[bool, bool]] = []
    right = other = reads = 0
    for part, one in _asked(indexed):
        before = part.index.search(one.query)
        after = settle_updates(before, one.question.text, part.memories, parameters)
        gold, stale = frozenset(one.question.gold), frozenset(one.question.stale)
        orders = before.ids.tolist(), after.ids.tolist()
        if gold:
            hits.append((_first(orders[0], gold) == 0, _first(orders[1], gold) == 0))
        if stale:
            newest.append(tuple(_first(order, gold) < _first(order, stale) for order in orders))  # type: ignore[arg-type]
        known = truth.get(part.collection.id, frozenset((old, new) for old in stale for new in gold | stale))
        marks = [(old, new) for old, new in after.newer.items() if old in orders[1][:SHOWN]]
        right += sum(mark in known for mark in marks)
        other += sum(mark not in known for mark in marks)
        reads += 1
    return Figures(_means(hits), _means(newest) if newest else None, right, other, reads)


def _first(order: Sequence[str], wanted: frozenset[str]) -> int:
    return next((place for place, id_ in enumerate(order) if id_ in wanted), len(order))


def _means(rows: Sequence[tuple[bool, bool]]) -> tuple[float, float]:
    return fmean(row[0] for row in rows), fmean(row[1] for row in rows)


def main() -> None:
    """Fit, print the coefficients, and the figures of each set with it and without it among those fitted to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", type=Path)
    parser.add_argument("--embedder", default="static")
    options = parser.parse_args()
    console, truth = Console(width=160), true_updates()
    loaded = load_sets(["alike", *_LIVES, *options.sets], make_embedder(options.embedder))
    pairs = {one.name: labelled(one, truth) for one in loaded}
    lives = {path.stem for path in _LIVES}
    groups = {one.name: lives if one.name in lives else {one.name} for one in loaded}

    def fit(left_out: set[str]) -> UpdateParameters:
        own = [pairs[one.name] for one in loaded if one.name not in lives | left_out and len(pairs[one.name].true)]
        told = [pairs[name] for name in sorted(lives - left_out)]
        if told:
            own.append(
                Pairs(np.concatenate([one.features for one in told]), np.concatenate([one.true for one in told]))
            )
        return fitted(own)

    everything = fit(set())
    console.print({name: getattr(everything, name) for name in (*FITTED_FEATURES, "constant")})
    for one in loaded:
        console.print(f"{one.name:14} fitted   {figures(one, truth, everything)}", highlight=False)
        console.print(f"{'':14} left out {figures(one, truth, fit(groups[one.name]))}", highlight=False)


if __name__ == "__main__":
    main()
