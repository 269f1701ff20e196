"""What each step of the ranking brings: all sets together, each one vote, with the step and without it.

    python -m benchmarks.ablation SET.json [SET.json ...] [alike] [--embedder universal|static|minilm] [--markdown]

For each step of `hybrid_memory.retrieval.ranking_parameters.STEPS` a line: hit@1 / recall@10 / nDCG@10 with it minus without it, for
the mean of the sets and for each. Above them the whole ranking, and alongside it a textbook's BM25, our words alone and our vectors
alone. A step should help the mean
and cost no set more than a point; what it costs more is in bold.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.indexed import IndexedSet, Triple, load_sets, mean_of, written
from hybrid_memory.embedding.registry import make_embedder
from hybrid_memory.retrieval.query import Scorer
from hybrid_memory.retrieval.ranking_parameters import FITTED, STEPS

TOLERATED = 0.01  # of any measure of any set; a step that costs more is called out


def ablation(sets: Sequence[IndexedSet]) -> dict[str, dict[str, Triple]]:
    """Return for each step, by its name, what it adds to each set; "whole" holds the figures of the whole ranking."""
    whole = {one.name: one.triple() for one in sets}
    rows = {"whole": whole}
    for step in track(STEPS, "steps", console=Console(stderr=True)):
        parameters = FITTED.without(step)
        rows[step] = {one.name: _difference(whole[one.name], one.triple(parameters)) for one in sets}
    return rows


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--embedder", default="universal")
    parser.add_argument("--markdown", action="store_true", help="print a table for docs/benchmarks.md")
    arguments = parser.parse_args()
    embedder = make_embedder(arguments.embedder)
    sets = load_sets(arguments.sets, embedder)
    plain = {"plain BM25": {one.name: one.plain_triple() for one in sets}} | {
        name: {one.name: one.triple() for one in load_sets(arguments.sets, embedder, scorer)}
        for name, scorer in (("words alone", Scorer.LEXICAL), ("vectors alone", Scorer.DENSE))
    }
    rows = ablation(sets)
    lines = [
        (name, _cells(figures, written)) for name, figures in (plain | {"whole ranking": rows.pop("whole")}).items()
    ]
    lines += [(f"+ {step}", _cells(figures, _signed)) for step, figures in rows.items()]
    header = ("step", "mean", *next(iter(plain.values())))
    if arguments.markdown:
        print("| " + " | ".join(header) + " |")
        print("|---" * len(header) + "|")
        for name, cells in lines:
            print("| " + " | ".join((name, *cells)) + " |")
        return
    table = Table(*header)
    for name, cells in lines:
        table.add_row(name, *(cell.replace("**", "") for cell in cells))
    Console().print(table)


def _cells(figures: Mapping[str, Triple], show: Callable[[Triple], str]) -> list[str]:
    return [show(one) for one in (mean_of(figures), *figures.values())]


def _difference(a: Triple, b: Triple) -> Triple:
    first, second, third = (x - y for x, y in zip(a, b, strict=True))
    return first, second, third


def _signed(triple: Triple) -> str:
    text = " / ".join(f"{100 * one:+.1f}" for one in triple)
    return f"**{text}**" if min(triple) < -TOLERATED else text


if __name__ == "__main__":
    main()
