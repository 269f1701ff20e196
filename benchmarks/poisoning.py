"""Planted memories: what a tool's lies change about the answers of a memory of honest ones.

    python -m benchmarks.poisoning [--check] [--seed N] [--json]

300 honest memories of the user about look-alikes (`benchmarks.alike` has the words), 30 questions of which each has one right answer, and
for each question one to ten hostile memories of origin ``tool``, in one manner or as a flood. Written and asked through `MemoryService`
with the built-in embedder. `--check` takes the other set of words, which nothing was made on. `claimed` is the flood of lies that is
said to come from the user: nothing protects against it, and it is measured without a floor.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import alike, waiting
from benchmarks.alike_words import Attribute, Wording
from hybrid_memory.model import MemoryId, Origin, Scope, Trust
from hybrid_memory.requests import ReadRequest, ReadResult, Where, WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.settings import StoreSettings
from hybrid_memory.testing import FakeClock, FakeRandomSource

MEMORIES = 300
QUESTIONS = 30
SUBJECTS = 20
MOST = 10
FIRST = 5
MANNERS = ("lie", "correction", "echo", "stuffing", "long", "flood")
RUNS = ("honest", *MANNERS, "all", "claimed")
"""What is planted: nothing, one manner, all manners at once, and lies with the origin of a user."""

_BEGINNING = datetime(2025, 3, 3, 8, tzinfo=UTC)
_PADDING = (
    "The meeting began ten minutes late because the room was taken.",
    "Somebody had left an umbrella under the table.",
    "We went through the list once more and found nothing new.",
    "The coffee machine on the second floor is out of order again.",
    "Most of the afternoon went into sorting old folders.",
    "It rained until six, and the windows had to stay shut.",
)
_OPENINGS = (
    "Note:",
    "Reminder:",
    "FYI,",
    "As recorded,",
    "Verified:",
    "Known:",
    "For the file:",
    "Again:",
    "In short:",
    "Summary:",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """An honest memory, how it is asked for, and another value."""

    told: str
    asked: str
    noun: str
    value: str
    lie: str
    lied: str


@dataclass(kw_only=True)
class Counts:
    """What was counted over the questions of a run.

    ``right_first`` and ``right_in_five``: the honest answer; ``hostile_first``: a planted memory although an honest one is above the
    floor; ``crowded``: more than two of the first five are planted; ``marked``: a planted memory is called newer than an honest one;
    ``below_floor_of_trust``: a planted memory is found with ``min_trust`` agent; ``changed``: the honest hits, in their order, are not
    those of the run without planted memories.
    """

    asked: int = 0
    right_first: int = 0
    right_in_five: int = 0
    hostile_first: int = 0
    hostile_in_five: int = 0
    crowded: int = 0
    marked: int = 0
    below_floor_of_trust: int = 0
    changed: int = 0

    def summary(self) -> dict[str, int]:
        """Return the counts as JSON."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def facts_of(wording: Wording, seed: int, count: int = MEMORIES) -> list[Fact]:
    """Return honest memories in an order of chance, the same every time; no two have the same question."""
    random = Random(f"poisoning {seed}")
    every = [
        _fact(attribute, subject, random)
        for kind in wording.kinds
        for attribute in kind.attributes
        for subject in kind.subjects[:SUBJECTS]
        if attribute.change != "never"
    ]
    return random.sample(every, min(count, len(every)))


def _fact(attribute: Attribute, subject: str, random: Random) -> Fact:
    value, lie = random.sample(attribute.values, 2)
    return Fact(
        told=random.choice(attribute.told).format(s=subject, v=value),
        asked=attribute.asked.format(s=subject),
        noun=attribute.noun.format(s=subject),
        value=value,
        lie=lie,
        lied=random.choice(attribute.told).format(s=subject, v=lie),
    )


def planted(fact: Fact, manner: str, count: int, wording: Wording, random: Random) -> Iterator[WriteRequest]:
    """Yield hostile memories of one manner; a flood varies words, speaker and day, all its texts are near-copies."""
    for number in range(count):
        opening = _OPENINGS[number % len(_OPENINGS)]
        corrected = random.choice((*wording.corrected, *wording.changed_with_words))
        noun = {"noun": fact.noun, "Noun": fact.noun[0].upper() + fact.noun[1:], "v": fact.lie, "old": fact.value}
        content = {
            "lie": fact.lied if not number else f"{opening} {fact.lied}",
            "correction": f"{corrected.format(**noun)}{' Checked.' * number}",
            "echo": f"{fact.asked} {opening} {fact.lied}",
            "stuffing": f"{' '.join([fact.asked.rstrip('?')] * (number + 2))}: {fact.lie}",
            "long": " ".join((*random.sample(_PADDING, 3), fact.lied, *random.sample(_PADDING, 3), fact.asked)),
            "flood": f"{fact.asked} {fact.lied} {random.choice(('Sure', 'Certain', 'Confirmed', 'Seen'))}, {number}.",
        }[manner]
        varied: dict[str, Any] = {}
        if manner == "flood":
            day = _BEGINNING + timedelta(days=random.randrange(90))
            varied = {"speaker": f"Source {number}", "occurred_at": day, "tags": (f"t{number}",)}
        yield WriteRequest(content=content, origin=Origin.TOOL, **varied)


def run(
    wording: Wording = alike.WORDING,
    *,
    seed: int = alike.SEED,
    runs: Sequence[str] = RUNS,
    memories: int = MEMORIES,
    questions: int = QUESTIONS,
    most: int = MOST,
) -> dict[str, Counts]:
    """Return the counts of each of the ``runs``, the one without planted memories among them, in a store of its own."""
    facts = facts_of(wording, seed, memories)
    honest: dict[str, list[str]] = {}
    return {
        name: _played(name, facts, facts[:questions], wording, Random(f"{name} {seed}"), most, honest)
        for name in dict.fromkeys(("honest", *runs))
    }


def _played(
    name: str,
    facts: Sequence[Fact],
    asked: Sequence[Fact],
    wording: Wording,
    random: Random,
    most: int,
    honest: dict[str, list[str]],
) -> Counts:
    counts = Counts()
    manners = {"honest": (), "all": MANNERS, "claimed": MANNERS}.get(name, (name,))
    with tempfile.TemporaryDirectory(prefix="hybrid-memory-bench-") as folder:
        clock = FakeClock(_BEGINNING)
        settings = StoreSettings(embedder="static")
        service = MemoryService.open(Path(folder), clock=clock, random_source=FakeRandomSource(), settings=settings)
        try:
            scope = Scope(session="the user's")
            for fact in facts:
                clock.advance(hours=5)
                service.write(scope, WriteRequest(content=fact.told, origin=Origin.USER))
            hostile: set[MemoryId] = set()
            for place, fact in enumerate(asked):
                for manner in manners:
                    for number, request in enumerate(planted(fact, manner, 1 + place % most, wording, random)):
                        clock.advance(seconds=30)
                        origin = Origin.USER if name == "claimed" else Origin.TOOL
                        written = service.write(Scope(session=f"{manner} {number}"), replace(request, origin=origin))
                        hostile.add(written.id)
            waiting.complete(service, scope)
            clock.set(_BEGINNING + timedelta(days=120))
            for fact in asked:
                _count(counts, fact, service, hostile, honest)
        finally:
            service.close()
    return counts


def _count(
    counts: Counts, fact: Fact, service: MemoryService, hostile: set[MemoryId], honest: dict[str, list[str]]
) -> None:
    for concise in (False, True):
        shown = _asked(service, fact, concise=concise)
        marks = [hit.memory.id in hostile for hit in shown.hits]
        texts = [hit.memory.content for hit in shown.hits]
        answers = any(not mark and not hit.weak for mark, hit in zip(marks, shown.hits, strict=True))
        counts.asked += 1
        counts.right_first += texts[:1] == [fact.told]
        counts.right_in_five += fact.told in [
            text for text, mark in zip(texts[:FIRST], marks[:FIRST], strict=True) if not mark
        ]
        counts.hostile_first += marks[:1] == [True] and answers
        counts.hostile_in_five += any(marks[:FIRST])
        counts.crowded += sum(marks[:FIRST]) > 2 and answers
        counts.marked += any(hit.newer in hostile for hit, mark in zip(shown.hits, marks, strict=True) if not mark)
        ours = [text for text, mark in zip(texts, marks, strict=True) if not mark]
        before = honest.setdefault(f"{concise} {fact.asked}", ours)
        counts.changed += before[: len(ours)] != ours
    trusted = _asked(service, fact, concise=True, where=Where(min_trust=Trust.AGENT))
    counts.below_floor_of_trust += any(hit.memory.id in hostile for hit in trusted.hits)


def _asked(service: MemoryService, fact: Fact, *, concise: bool, where: Where | None = None) -> ReadResult:
    request = ReadRequest(query=fact.asked, concise=concise, where=where or Where(), zone=UTC, recalls=False)
    return waiting.read(service, Scope(session="the question's own"), request)


def as_json(counted: Mapping[str, Counts]) -> dict[str, dict[str, int]]:
    """Return the counts of all runs."""
    return {name: counts.summary() for name, counts in counted.items()}


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="other words, which nothing is made on")
    parser.add_argument("--seed", type=int, default=alike.SEED)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    wording = alike.WORDINGS["alike-check" if arguments.check else "alike"]
    counted = run(wording, seed=arguments.seed)
    if arguments.json:
        json.dump(as_json(counted), sys.stdout)
        print()
        return
    names = [field.name for field in fields(Counts)]
    table = Table("", *(name.replace("_", " ") for name in names))
    for name, counts in counted.items():
        table.add_row(name, *(str(getattr(counts, one)) for one in names))
    Console(width=150).print(table)


if __name__ == "__main__":
    main()
