"""Fits which later memory changes what an earlier one told (`hybrid_memory.retrieval.newer`), each set one vote.

    python tools/fit_updates.py [SET.json ...] [--embedder universal]

Pairs come from the questions of sets whose outdated answers are known: the look-alikes (`benchmarks/alike.py`), the lives
(`tests/data/lives`, `tests/data/half_years`), and the sets given. True are the pairs that a set names, or an outdated answer with the
present one; false is each other pair, where a set names all, or one with an answer in it. A regularised logistic regression is done with
all sets, which gives the coefficients to use, and once without each set: those left-out figures are the figures of the step
(docs/benchmarks.md).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.alike import stores
from benchmarks.indexed import Asked, IndexedCollection, IndexedSet, load_sets
from rich.console import Console

from hybrid_memory.embedding.registry import make_embedder
from hybrid_memory.retrieval import newer, rank
from hybrid_memory.retrieval.newer import EVIDENCE, FITTED_UPDATES, UpdateParameters

PENALTY = 0.0003  # of the squared coefficients of evidence with a deviation of 1
_DATA = Path(__file__).resolve().parents[1] / "tests/data"
_LIVES = sorted((*_DATA.glob("lives/dev-*.json"), *_DATA.glob("half_years/dev-*.json")))
_STEPS = 60  # of Newton's method, which needs ten

Updates = frozenset[tuple[str, str]]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Pairs:
    """The pairs of a set: (pairs, kinds of evidence), and which of them are true."""

    evidence: Floats
    true: Floats


def true_updates() -> Mapping[str, Updates]:
    """Return the pairs that replace one another, by the id of their store, where a set names them all."""
    found = {store.collection.id: store.true_updates for store in stores()}
    for path in _LIVES:
        for store in json.loads(path.read_text(encoding="utf-8"))["stores"]:
            found[store["id"]] = _closed(frozenset((older, newer_) for older, newer_ in store["true_updates"]))
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
    evidence: list[Floats] = []
    true: list[bool] = []
    for part in indexed.parts:
        for one in part.asked:
            for earlier, later, values in _pairs(part, one):
                label = _label(one, earlier, later, truth.get(part.collection.id))
                if label is not None:
                    evidence.append(values)
                    true.append(label)
    return Pairs(np.array(evidence).reshape(-1, len(EVIDENCE)), np.array(true, np.float64))


def _pairs(part: IndexedCollection, one: Asked) -> Iterator[tuple[str, str, Floats]]:
    """Yield the ids of each two hits that `find_newer` compares, with what speaks for the later one."""
    caught: list[tuple[newer.Compared, newer.Evidence]] = []
    evidence_of = newer.evidence_of

    def catching(compared: newer.Compared, *others: object) -> newer.Evidence:
        found = evidence_of(compared, *others)  # type: ignore[arg-type]  # handed on as they come
        caught.append((compared, found))
        return found

    with patch.object(newer, "evidence_of", catching):
        part.index.search(one.query)
    for compared, found in caught:
        names = part.index.ids_of(compared.rows)
        stacked = found.stacked()
        for earlier, later in np.argwhere(compared.may).tolist():
            yield names[earlier], names[later], stacked[:, earlier, later].astype(np.float64)


def _label(one: Asked, earlier: str, later: str, updates: Updates | None) -> bool | None:
    """Return whether a pair is true, None where nobody can tell."""
    gold, stale = one.question.gold, one.question.stale
    if updates is not None:
        return (earlier, later) in updates
    if stale:
        if earlier in stale and (later in gold or later in stale):
            return True
        return False if earlier in gold or earlier in stale else None
    return False if earlier in gold and later not in gold else None


def fitted(sets: Sequence[Pairs], penalty: float = PENALTY) -> UpdateParameters:
    """Return the coefficients that tell true pairs from false ones best, each set counting the same."""
    sets = [one for one in sets if len(one.true)]
    raw = np.concatenate([one.evidence for one in sets])
    middle, spread = raw.mean(axis=0), raw.std(axis=0) + 1e-6
    features = np.c_[(raw - middle) / spread, np.ones(len(raw))]
    true = np.concatenate([one.true for one in sets])
    weights = np.concatenate([np.full(len(one.true), 1 / len(one.true) / len(sets)) for one in sets])
    damping = np.eye(features.shape[1]) * 2 * penalty
    damping[-1, -1] = 0
    found = np.zeros(features.shape[1])
    for _ in range(_STEPS):
        likely = 1 / (1 + np.exp(-features @ found))
        gradient = features.T @ (weights * (likely - true)) + damping @ found
        curvature = (features * (weights * likely * (1 - likely))[:, None]).T @ features + damping
        found -= np.linalg.solve(curvature, gradient)
    coefficients = found[:-1] / spread
    named = {name: round(float(value), 2) for name, value in zip(EVIDENCE, coefficients, strict=True)}
    return replace(FITTED_UPDATES, **named, constant=round(float(found[-1] - coefficients @ middle), 2))


@dataclass
class Figures:
    """What a set's questions show with some parameters: hit@1, how often the newest is above the outdated, marks and false ones."""

    first: float
    newest: float
    marks: int
    false_marks: int


def figures(indexed: IndexedSet, parameters: UpdateParameters, truth: Mapping[str, Updates]) -> Figures:
    """Ask a set with some parameters."""
    find = newer.find_newer
    firsts, newest = [], []
    marks = false = 0
    with (
        patch.object(rank, "find_newer", lambda *given: find(*given, parameters)),
        patch.object(newer, "FITTED_UPDATES", parameters),
    ):
        for part in indexed.parts:
            for one in part.asked:
                found = part.rank(one)
                ranked = found.ids[:20].tolist()
                gold, stale = one.question.gold, one.question.stale
                if gold:
                    firsts.append(float(bool(ranked) and ranked[0] in gold))
                if gold and stale:
                    newest.append(float(_place(ranked, gold) < _place(ranked, stale)))
                known = truth.get(part.collection.id)
                marks += len(found.newer)
                false += sum(known is not None and pair not in known for pair in found.newer.items())
    return Figures(fmean(firsts), fmean(newest) if newest else float("nan"), marks, false)


def _place(ranked: Sequence[str], wanted: Sequence[str]) -> int:
    return min((ranked.index(one) for one in wanted if one in ranked), default=len(ranked))


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--embedder", default="universal")
    arguments = parser.parse_args()
    console = Console(width=160)
    sets = load_sets(["alike", *map(str, _LIVES), *arguments.sets], make_embedder(arguments.embedder))
    truth = true_updates()
    pairs = {one.name: labelled(one, truth) for one in sets}
    everything = fitted(list(pairs.values()))
    console.print(everything)
    for one in sets:
        left_out = fitted([found for name, found in pairs.items() if name != one.name])
        console.print(one.name, "off", figures(one, replace(left_out, put_first=99.0), truth))
        console.print(one.name, "left out", figures(one, left_out, truth))
        console.print(one.name, "all", figures(one, everything, truth))


if __name__ == "__main__":
    main()
