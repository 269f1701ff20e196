"""Fits the numbers of the ranking (`hybrid_memory.retrieval.ranking_parameters`) to retrieval sets, each one vote.

    python tools/fit_ranking.py SET.json [SET.json ...] [alike] [--embedder static|minilm|multilingual] [--sweeps 2] [--jobs 2]
                                [--questions N] [--from-scratch]

Coordinate descent: each number in turn takes the value of its grid (`GRID`) with the best mean of hit@1, recall@10 and nDCG@10 over the
sets, if that is better by `LEAST_GAIN`. It begins with the present numbers, or ``--from-scratch`` with all steps off. It is done once
with all sets, which gives the numbers to use, and once without each set: that set's figures then tell what to expect of text that the
numbers were not fitted to. Those left-out figures, and no others, are the figures of the ranking (docs/benchmarks.md).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.indexed import IndexedSet, Triple, load_sets, mean_of, written
from rich.console import Console
from rich.progress import Progress

from hybrid_memory.embedding.registry import make_embedder
from hybrid_memory.retrieval.ranking_parameters import FITTED, STEPS, RankingParameters

LEAST_GAIN = 0.001  # of the mean of the three measures, from 0 to 1; less is noise, and the number stays as it is

GRID: Mapping[str, tuple[float, ...]] = {
    "rarity_floor": (0.15, 0.3, 0.6),
    "rarity_power": (0.0, 0.25, 0.5, 0.75),
    "name_weight": (0.0, 0.25, 0.5),
    "time_word_weight": (0.25, 0.5, 0.75, 1.0),
    "dense_weight": (0.2, 0.3, 0.4, 0.5),
    "dense_weight_unknown": (0.3, 0.4, 0.5, 0.6),
    "spoken_dense_weight": (0.1, 0.2, 0.3),
    "spoken_dense_weight_unknown": (0.15, 0.3, 0.45),
    "dense_spread": (3.0, 4.0, 5.0),
    "passage_share": (0.0, 0.25, 0.5),
    "context_floor": (0.15, 0.25, 0.35),
    "reply_weight": (0.4, 0.6, 0.8),
    "followed_weight": (0.1, 0.2, 0.3),
    "session_weight": (0.4, 0.6, 0.8),
    "speaker_weight": (0.2, 0.3, 0.4),
    "period_weight": (0.5, 0.7, 0.9),
}
"""The values that each number is tried with; "known_from" and "known_to" stand for a property of the vocabulary and are not fitted."""

ALL_OFF = FITTED.without(*(step for step in STEPS if step not in ("vectors", "newer")))

Scores = Mapping[str, Triple]
Score = Callable[[RankingParameters], Scores]

_sets: tuple[IndexedSet, ...] = ()


def objective(scores: Scores, left_out: str | None = None) -> float:
    """Return the mean of the three measures over the sets but one."""
    return fmean(mean_of({name: triple for name, triple in scores.items() if name != left_out}))


def fitted(score: Score, start: RankingParameters, left_out: str | None, sweeps: int) -> RankingParameters:
    """Return the numbers that coordinate descent finds without one set."""
    best, reached = start, objective(score(start), left_out)
    for _ in range(sweeps):
        before = best
        for name, values in GRID.items():
            for value in values:
                tried = replace(best, **{name: value})
                if tried == best:
                    continue
                found = objective(score(tried), left_out)
                if found > reached + LEAST_GAIN:
                    best, reached = tried, found
        if best == before:
            break
    return best


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--embedder", default="static")
    parser.add_argument("--sweeps", type=int, default=2)
    parser.add_argument("--questions", type=int, default=10_000, help="asked of each set at most, evenly chosen")
    parser.add_argument("--from-scratch", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    console = Console(stderr=True)
    names = tuple(arguments.sets)
    with (
        get_context("spawn").Pool(arguments.jobs, _open_sets, (names, arguments.embedder, arguments.questions)) as pool,
        Progress(console=console) as progress,
    ):
        known: dict[RankingParameters, Scores] = {}
        task = progress.add_task("rankings of all sets", total=None)

        def score(parameters: RankingParameters) -> Scores:
            if parameters not in known:
                known[parameters] = dict(pool.starmap(_score_set, [(at, parameters) for at in range(len(names))], 1))
                progress.advance(task)
            return known[parameters]

        _report(score, ALL_OFF if arguments.from_scratch else FITTED, arguments.sweeps)


def _report(score: Score, start: RankingParameters, sweeps: int) -> None:
    present = score(FITTED)
    everywhere = fitted(score, start, None, sweeps)
    left_out = {name: score(fitted(score, start, name, sweeps))[name] for name in present}
    at_hand = score(everywhere)
    print("set: present | fitted to all | fitted without it")
    for name in present:
        print(f"{name}: {written(present[name])} | {written(at_hand[name])} | {written(left_out[name])}")
    print(f"mean: {written(mean_of(present))} | {written(mean_of(at_hand))} | {written(mean_of(left_out))}")
    print(json.dumps({name: value for name, value in asdict(everywhere).items() if value != asdict(FITTED)[name]}))


def _open_sets(names: Sequence[str], embedder: str, questions: int) -> None:
    global _sets  # noqa: PLW0603 - a process of the pool holds the sets, which are too large to send with each call
    _sets = tuple(one.sample(questions) for one in load_sets(names, make_embedder(embedder)))


def _score_set(at: int, parameters: RankingParameters) -> tuple[str, Triple]:
    return _sets[at].name, _sets[at].triple(parameters)


if __name__ == "__main__":
    main()
