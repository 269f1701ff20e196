"""How many hits are worth showing: what the cut of an answer saves, and which right answers it loses.

    python -m benchmarks.cutoff --data FILE... [--records OUT.jsonl]    # ask, and judge the rule as it is
    python -m benchmarks.cutoff --from OUT.jsonl [--fit]                # judge answers asked before; --fit: by many parameters

The first eight hits of each question are taken as they are ranked, and `hybrid_memory.retrieval.cutoff` says how many of them would be
shown. Each set has one vote, however many questions it holds. Ask again when the ranking has changed: the rule looks at scores.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import measures, waiting
from benchmarks.retrieval import Library
from benchmarks.sets import Collection, collections_of, pairs_of
from hybrid_memory.requests import ReadRequest
from hybrid_memory.retrieval.cutoff import CutRules, hits_worth_showing
from hybrid_memory.settings import StoreSettings

PAGE = 8  # as `read_memories` shows at most when nothing else is said
_SHARES = (0.0, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7)
_GAPS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 1.1)
_LEAST = (1, 2, 3, 4)
_SHOWN_FITS = 40  # lines of the table of parameters
_HARMLESS = 0.01  # a parameter that loses more than this share of a set's answers is not worth a look


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One question: the set it is of, and its first hits, best first, with their scores, weak marks, and which answer it."""

    set: str
    scores: tuple[float, ...]
    weak: tuple[bool, ...]
    gold: tuple[bool, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a rule does to one set: hits shown on average, and of what the uncut answer held the shares it lost.

    ``first_lost``: questions that lost their best right hit. ``gold_lost``: right hits lost.
    """

    shown: float
    first_lost: float
    gold_lost: float


def judge(records: Sequence[Record], rules: CutRules) -> Judgement:
    """Return what the rule does to the questions of one set."""
    shown = [hits_worth_showing(one.scores, one.weak, rules) for one in records]
    answered = [(one, count) for one, count in zip(records, shown, strict=True) if any(one.gold)]
    held = sum(sum(one.gold) for one, _ in answered)
    return Judgement(
        shown=fmean(shown),
        first_lost=fmean([not any(one.gold[:count]) for one, count in answered] or [0.0]),
        gold_lost=sum(sum(one.gold[count:]) for one, count in answered) / max(held, 1),
    )


def by_set(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Return the records of each set."""
    sets: dict[str, list[Record]] = defaultdict(list)
    for one in records:
        sets[one.set].append(one)
    return dict(sets)


def asked(path: Path, embedder: str) -> Iterator[Record]:
    """Write the memories of a set and ask its questions, each at its time; adversarial ones are left out."""
    data = json.loads(path.read_text(encoding="utf-8"))
    if pairs_of(data) is not None:
        return
    for collection in collections_of(data):
        yield from _asked(path.stem, collection, StoreSettings(embedder=embedder))


def _asked(name: str, collection: Collection, settings: StoreSettings) -> Iterator[Record]:
    with tempfile.TemporaryDirectory(prefix="hybrid-memory-bench-") as folder:
        library = Library(Path(folder), settings, collection)
        unwritten = list(reversed(collection.items))
        with library.opened("fused") as service:
            for question in sorted(collection.questions, key=lambda question: question.now):
                while unwritten and unwritten[-1].at <= question.now:
                    library.write(service, unwritten.pop())
                waiting.complete(service, library.scope)
                if question.category != measures.ADVERSARIAL:
                    library.set_time(question.now)
                    request = ReadRequest(query=question.text, limit=PAGE, zone=UTC)
                    hits = waiting.read(service, library.scope, request).hits
                    yield Record(
                        set=name,
                        scores=tuple(hit.score or 0.0 for hit in hits),
                        weak=tuple(hit.weak for hit in hits),
                        gold=tuple(not set(question.gold).isdisjoint(library.items_of(hit)) for hit in hits),
                    )


def _print(sets: dict[str, list[Record]], rules: CutRules) -> None:
    table = Table("", "questions", "hits shown", "best right hit lost, %", "right hits lost, %")
    judged = {name: judge(records, rules) for name, records in sorted(sets.items())}
    for name, one in judged.items():
        table.add_row(name, str(len(sets[name])), *_row(one))
    table.add_row("each set one vote", "", *_row(mean_of(judged.values())))
    Console().print(rules)
    Console().print(table)


def mean_of(judged: Iterable[Judgement]) -> Judgement:
    """Return the mean, each set one vote."""
    rows = list(judged)
    return Judgement(**{name: fmean(getattr(one, name) for one in rows) for name in asdict(rows[0])})


def _row(one: Judgement) -> tuple[str, ...]:
    return f"{one.shown:.2f}", f"{100 * one.first_lost:.1f}", f"{100 * one.gold_lost:.1f}"


def fits(sets: dict[str, list[Record]]) -> list[tuple[CutRules, Judgement]]:
    """Return the parameters that no other beats in both: fewer hits shown, fewer questions without their best right hit."""
    tried = []
    for share, gap, least in product(_SHARES, _GAPS, _LEAST):
        rules = CutRules(least=least, share=share, gap=gap)
        tried.append((rules, mean_of(judge(records, rules) for records in sets.values())))
    tried.sort(key=lambda one: (one[1].shown, one[1].gold_lost))
    best: list[tuple[CutRules, Judgement]] = []
    for rules, judged in tried:
        if all(judged.gold_lost < other.gold_lost for _, other in best) and judged.first_lost <= 5 * _HARMLESS:
            best.append((rules, judged))
    return best[-_SHOWN_FITS:]


def _print_fits(sets: dict[str, list[Record]]) -> None:
    table = Table("at least", "share of the best", "gap", "hits shown", "best right hit lost, %", "right hits lost, %")
    for rules, judged in fits(sets):
        table.add_row(str(rules.least), f"{rules.share}", f"{rules.gap}", *_row(judged))
    Console().print(table)


def _records_in(path: Path) -> list[Record]:
    lines: list[dict[str, Any]] = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        Record(**{name: tuple(value) if isinstance(value, list) else value for name, value in one.items()})
        for one in lines
    ]


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, nargs="*", default=[])
    parser.add_argument("--embedder", default="universal")
    parser.add_argument("--records", type=Path)
    parser.add_argument("--from", dest="known", type=Path)
    parser.add_argument("--fit", action="store_true")
    arguments = parser.parse_args()
    records = [] if arguments.known is None else _records_in(arguments.known)
    for path in arguments.data:
        records += asked(path, arguments.embedder)
        Console(stderr=True).print(f"{path.stem}: {len(records)}")
    if arguments.records is not None:
        arguments.records.write_text("".join(json.dumps(asdict(one)) + "\n" for one in records), encoding="utf-8")
    _print(by_set(records), CutRules())
    if arguments.fit:
        _print_fits(by_set(records))


if __name__ == "__main__":
    main()
