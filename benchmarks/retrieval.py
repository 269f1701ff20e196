"""How well memories are found: a retrieval set written and asked through `MemoryService`.

    python -m benchmarks.retrieval --data FILE|alike [--embedder universal|static|minilm|fastembed:MODEL] [--ranked OUT.jsonl] [--json]

FILE holds conversations, stores of an assistant's memories, pairs of memory and question, or pairs of statements; `alike`
is the generated set of look-alikes. Every memory is a `write` and every question a `read` of the service on which the tools
stand; each collection is a namespace. In the same run the same memories are asked by words alone (BM25), by vectors alone,
and by the reference system's formula.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks import alike, measures, waiting
from benchmarks.pairs import of_pairs
from benchmarks.sets import Collection, Item, Question, collections_of, pairs_of
from hybrid_memory.clock import SystemRandomSource
from hybrid_memory.model import MemoryId, Origin, Scope
from hybrid_memory.requests import Hit, ReadRequest, WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.settings import StoreSettings
from hybrid_memory.testing import FakeClock

BASELINES = {"bm25": "lexical", "dense": "dense", "reference": "reference"}
PAGE = 100


@dataclass(frozen=True, slots=True)
class Answer:
    """The ranking of one question."""

    ranked: tuple[str, ...]
    top: float
    floor: bool


@dataclass
class Figures:
    """The measures of one way of ranking."""

    rows: dict[str, list[dict[str, float]]] = field(default_factory=lambda: defaultdict(list))
    newest: list[float] = field(default_factory=list)
    tops: dict[bool, list[float]] = field(default_factory=lambda: {True: [], False: []})
    floors: dict[bool, list[bool]] = field(default_factory=lambda: {True: [], False: []})

    def add(self, question: Question, answer: Answer, session_of: Mapping[str, str]) -> None:
        """Take in the answer to one question."""
        answerable = bool(question.gold)
        self.tops[answerable].append(answer.top)
        self.floors[answerable].append(answer.floor)
        if answerable:
            self.rows[question.category].append(measures.of_question(answer.ranked, question.gold, session_of))
        if question.stale and question.gold:
            self.newest.append(measures.newest_first(answer.ranked, question.gold, question.stale))

    def summary(self) -> dict[str, Any]:
        """Return the figures as JSON; ``overall`` leaves adversarial questions out."""
        overall = [row for name, rows in self.rows.items() if name != measures.ADVERSARIAL for row in rows]
        result: dict[str, Any] = {
            "overall": measures.mean_of(overall),
            "by_category": {name: measures.mean_of(rows) for name, rows in sorted(self.rows.items())},
        }
        if self.newest:
            result["update_newest_first"] = round(sum(self.newest) / len(self.newest), 4)
        if self.tops[False] and self.tops[True]:
            result["none_auroc"] = round(measures.auroc(self.tops[True], self.tops[False]), 4)
            result["floor"] = {
                "said_of_unanswerable": round(sum(self.floors[False]) / len(self.floors[False]), 4),
                "said_of_answerable": round(sum(self.floors[True]) / len(self.floors[True]), 4),
            }
        return result


class Library:
    """The store of one collection, asked by one scorer or another; its clock begins with the first memory."""

    def __init__(self, home: Path, settings: StoreSettings, collection: Collection) -> None:
        self.collection = collection
        self.scope = Scope(namespace=collection.id, session="the question's own")
        self._home = home
        self._settings = settings
        self._clock = FakeClock(min(item.at for item in collection.items))
        self._ids: dict[MemoryId, list[str]] = defaultdict(list)

    @contextmanager
    def opened(self, scorer: str) -> Iterator[MemoryService]:
        """Open the store with a scorer."""
        settings = self._settings.model_copy(update={"scorer": scorer})
        service = MemoryService.open(
            self._home, clock=self._clock, random_source=SystemRandomSource(), settings=settings
        )
        try:
            yield service
        finally:
            service.close()

    def write(self, service: MemoryService, item: Item) -> None:
        """Write one memory at its time; of words repeated in a session there is one memory."""
        self._clock.set(item.at)
        written = service.write(
            Scope(namespace=self.collection.id, session=item.session),
            WriteRequest(
                content=item.text,
                speaker=item.speaker,
                tags=item.tags,
                origin=Origin.USER,
                occurred_at=item.at if item.spoken else None,
            ),
        )
        self._ids[written.id].append(item.id)

    def set_time(self, moment: datetime) -> None:
        """Let it be ``moment`` for what is asked next."""
        self._clock.set(moment)

    def items_of(self, hit: Hit) -> list[str]:
        """Return the items that a hit shows: its own, and those that repeat it."""
        return [item for one in (hit.memory.id, *hit.repeats) for item in self._ids[one]]

    def ids_of(self, items: Sequence[str]) -> list[MemoryId]:
        """Return the memories that hold some items."""
        return [id_ for id_, held in self._ids.items() if not set(held).isdisjoint(items)]

    def items_named(self, memory: MemoryId) -> list[str]:
        """Return the items of a memory; two where the same was written twice."""
        return list(self._ids[memory])

    def ask(self, service: MemoryService, question: Question) -> Answer:
        """Return the whole ranking of a question, at its own time."""
        self.set_time(question.now)
        request = ReadRequest(query=question.text, limit=PAGE, weak=True, zone=UTC)
        ranked: list[str] = []
        top, floor = 0.0, True
        while True:
            result = waiting.read(service, self.scope, request)
            if request.cursor is None and result.hits:
                top, floor = result.hits[0].score or 0.0, result.unknown
            for hit in result.hits:
                ranked.extend(self.items_of(hit))
            cursor = result.cursor_after(len(result.hits))
            if cursor is None:
                return Answer(tuple(ranked), top, floor)
            request = replace(request, cursor=cursor)


def read_set(name: str) -> Any:
    """Return what `run` takes: a generated set for ``alike`` or ``alike-check``, else what the file of this name holds."""
    if name in alike.WORDINGS:
        return alike.collections(wording=alike.WORDINGS[name])
    return json.loads(Path(name).read_text(encoding="utf-8"))


def run(
    data: Any,
    *,
    embedder: str = "static",
    baselines: bool = True,
    ranked: IO[str] | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write and ask a whole set, collections or what `collections_of` reads; ``ranked`` takes a line of JSON a question.

    Returns the figures.
    """
    settings = StoreSettings(embedder=embedder)
    pairs = pairs_of(data)
    if pairs is not None:
        return of_pairs(pairs, settings)
    collections = data if isinstance(data, tuple) else collections_of(data)
    scorers = {"fused": "fused", **(BASELINES if baselines else {})}
    figures: dict[str, Figures] = {name: Figures() for name in scorers}
    for collection in collections:
        with tempfile.TemporaryDirectory(prefix="hybrid-memory-bench-") as folder:
            library = Library(Path(folder), settings, collection)
            _replay(library, figures["fused"], ranked, progress)
            for name, scorer in scorers.items():
                if name != "fused":
                    _repeat(library, scorer, figures[name], progress)
    summary = figures["fused"].summary()
    if baselines:
        summary["baselines"] = {name: figures[name].summary() for name in BASELINES}
    return {"embedder": embedder, **summary}


def _replay(library: Library, figures: Figures, ranked: IO[str] | None, progress: Progress | None) -> None:
    """Write a collection and ask its questions, each when its time has come: what is written later is hidden from it."""
    collection = library.collection
    session_of = {item.id: item.session for item in collection.items}
    due = sorted(collection.questions, key=lambda question: question.now)
    written, complete = 0, False
    with library.opened("fused") as service:
        for question in _tracked(due, f"{collection.id}", progress):
            while written < len(collection.items) and collection.items[written].at <= question.now:
                library.write(service, collection.items[written])
                written += 1
                complete = False
            if not complete:
                waiting.complete(service, library.scope)
                complete = True
            answer = library.ask(service, question)
            figures.add(question, answer, session_of)
            if ranked is not None:
                line = {
                    "set": collection.id,
                    "question": question.number,
                    "ranked": answer.ranked,
                    "top": answer.top,
                    "floor": answer.floor,
                }
                ranked.write(json.dumps(line) + "\n")


def _repeat(library: Library, scorer: str, figures: Figures, progress: Progress | None) -> None:
    """Ask everything again by another scorer; questions asked before the last memory was written are left out."""
    collection = library.collection
    last = max(item.at for item in collection.items)
    session_of = {item.id: item.session for item in collection.items}
    timely = [question for question in collection.questions if question.now >= last]
    with library.opened(scorer) as service:
        for question in _tracked(timely, f"{collection.id}, {scorer}", progress):
            figures.add(question, library.ask(service, question), session_of)


def _tracked(questions: list[Question], what: str, progress: Progress | None) -> Iterator[Question]:
    if progress is None:
        yield from questions
        return
    task = progress.add_task(what, total=len(questions))
    for question in questions:
        yield question
        progress.advance(task)
    progress.remove_task(task)


def _print(summary: Mapping[str, Any]) -> None:
    columns = ("hit@1", "recall@5", "recall@10", "recall@20", "ndcg@10", "session_hit@10")
    table = Table("", "questions", *columns)
    named = {"overall": summary["overall"], **summary["by_category"]}
    named |= {f"{name} overall": one["overall"] for name, one in summary.get("baselines", {}).items()}
    for name, row in named.items():
        table.add_row(name, str(row["n"]), *(f"{100 * row[column]:.1f}" for column in columns))
    Console().print(table)
    for name in ("update_newest_first", "none_auroc", "floor"):
        if name in summary:
            Console().print(f"{name}: {summary[name]}")


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="a file, or alike")
    parser.add_argument("--embedder", default="universal")
    parser.add_argument("--ranked", type=Path)
    parser.add_argument("--no-baselines", dest="baselines", action="store_false")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    data = read_set(arguments.data)
    options = {"embedder": arguments.embedder, "baselines": arguments.baselines}
    with Progress(console=Console(stderr=True)) as progress:
        if arguments.ranked is None:
            summary = run(data, progress=progress, **options)
        else:
            with arguments.ranked.open("w", encoding="utf-8") as lines:
                summary = run(data, ranked=lines, progress=progress, **options)
    if arguments.json or "overall" not in summary:
        json.dump(summary, sys.stdout)
        print()
    else:
        _print(summary)


if __name__ == "__main__":
    main()
