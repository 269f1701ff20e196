"""What a read claims, against what is true: the right one first, marks of a newer version, and "nothing is known".

    python -m benchmarks.claims [--embedder universal|static|fastembed:MODEL] [--check] [--seed N] [--misses N] [--json]

The generated look-alikes (`benchmarks.alike`) are written and asked through `MemoryService`, as `benchmarks.retrieval` does it. A *false
mark* is a `newer` between two memories of which the later does not replace the earlier.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import alike, waiting
from benchmarks.alike import AlikeStore
from benchmarks.retrieval import Library
from benchmarks.sets import Question
from hybrid_memory.requests import Hit, ReadRequest, ReadResult
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.settings import StoreSettings

SHOWN = 8
"""Hits of a read that are looked at: as many as `read_memories` shows."""


@dataclass
class Claims:
    """What was counted over the questions of one category."""

    asked: int = 0
    right_first: int = 0
    stale_first: int = 0
    right_shown: int = 0
    marks: int = 0
    true_marks: int = 0
    falsely_marked_reads: int = 0
    unknown: int = 0
    misses: list[str] = field(default_factory=list)

    def __add__(self, other: Claims) -> Claims:
        return Claims(**{name: getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__})

    def summary(self) -> dict[str, Any]:
        """Return the counts as JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "misses"}


def run(stores: Sequence[AlikeStore], *, embedder: str = "static", scorer: str = "fused") -> dict[str, Claims]:
    """Write and ask every store; return the counts by category."""
    counted: dict[str, Claims] = defaultdict(Claims)
    for store in stores:
        with tempfile.TemporaryDirectory(prefix="hybrid-memory-bench-") as folder:
            library = Library(Path(folder), StoreSettings(embedder=embedder), store.collection)
            with library.opened(scorer) as service:
                for item in store.collection.items:
                    library.write(service, item)
                waiting.complete(service, library.scope)
                for question in store.collection.questions:
                    _count(counted[question.category], question, _answer(library, service, question), library, store)
    return dict(counted)


def _answer(library: Library, service: MemoryService, question: Question) -> ReadResult:
    library.set_time(question.now)
    return waiting.read(service, library.scope, ReadRequest(query=question.text, limit=SHOWN, zone=UTC))


def _count(claims: Claims, question: Question, result: ReadResult, library: Library, store: AlikeStore) -> None:
    shown = [frozenset(library.items_of(hit)) for hit in result.hits]
    gold, stale = frozenset(question.gold), frozenset(question.stale)
    claims.asked += 1
    first = shown[0] if shown else frozenset()
    if gold & first:
        claims.right_first += 1
    elif gold:
        claims.misses.append(_told_miss(question, result.hits, library))
    claims.stale_first += bool(stale & first)
    claims.right_shown += any(gold & one for one in shown)
    claims.unknown += result.unknown
    marks = [
        any((old, new) in store.true_updates for old in items for new in library.items_named(hit.newer))
        for hit, items in zip(result.hits, shown, strict=True)
        if hit.newer is not None
    ]
    claims.marks += len(marks)
    claims.true_marks += sum(marks)
    claims.falsely_marked_reads += not all(marks)


def _told_miss(question: Question, hits: Sequence[Hit], library: Library) -> str:
    text_of = {item.id: item.text for item in library.collection.items}
    first = hits[0].memory.content if hits else "nothing"
    return f"{question.category}: {question.text} → {first} (right: {text_of[question.gold[0]]})"


def total(counted: Mapping[str, Claims], *, answerable: bool) -> Claims:
    """Return the sum over the categories that can be answered, or that cannot."""
    return sum((one for name, one in counted.items() if name.endswith("unknown") != answerable), start=Claims())


def as_json(counted: Mapping[str, Claims]) -> dict[str, Any]:
    """Return the counts of all categories and of both sums."""
    summary = {name: one.summary() for name, one in sorted(counted.items())}
    for name, answerable in (("answerable", True), ("unanswerable", False)):
        summary[name] = total(counted, answerable=answerable).summary()
    return summary


def _print(summary: Mapping[str, Mapping[str, int]], misses: Sequence[str]) -> None:
    columns = (
        "asked",
        "right_first",
        "stale_first",
        "right_shown",
        "falsely_marked_reads",
        "marks",
        "true_marks",
        "unknown",
    )
    table = Table("", *(name.replace("_", " ") for name in columns))
    for name, row in summary.items():
        table.add_row(name, *(str(row[column]) for column in columns))
    Console(width=140).print(table)
    for miss in misses:
        print(miss)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedder", default="universal")
    parser.add_argument("--scorer", default="fused")
    parser.add_argument("--check", action="store_true", help="other words, which nothing is fitted to")
    parser.add_argument("--seed", type=int, default=alike.SEED)
    parser.add_argument("--misses", type=int, default=0, help="questions to print whose right memory is not first")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    wording = alike.WORDINGS["alike-check" if arguments.check else "alike"]
    counted = run(alike.stores(arguments.seed, wording), embedder=arguments.embedder, scorer=arguments.scorer)
    if arguments.json:
        json.dump(as_json(counted), sys.stdout)
        print()
    else:
        every = total(counted, answerable=True).misses
        _print(as_json(counted), [] if arguments.check else every[: arguments.misses])


if __name__ == "__main__":
    main()
