"""Played lives: what an assistant stored over weeks, what its person asks later, and what the tools then answer.

    python -m benchmarks.lives [FILE ...] [--check] [--chatter N [--without-tiers]] [--misses] [--json]
        [--embedder universal|static|multilingual|minilm|fastembed:MODEL]

Every memory is a call of `write_memory` at its own time, every question a call of `read_memories` without other arguments, and on the
morning after the last session a call without a query asks for the brief. What is counted is what a model sees. Without FILE the lives
`tests/data/lives/dev-*.json` are played; the `check-*` with them (`--check`) are for checking alone, so their questions are never shown.
The same questions are asked of the same memories by a textbook's BM25, and by the product's own words alone (its scorer `lexical`).
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any

from mcp.types import CallToolResult, TextContent
from rich.console import Console
from rich.table import Table

from benchmarks import waiting
from benchmarks.plain_bm25 import ranked
from benchmarks.sets import Collection, Question, collections_of
from hybrid_memory.model import MemoryType, Origin, Scope
from hybrid_memory.requests import ReadRequest, WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.settings import StoreSettings
from hybrid_memory.testing import FakeClock, FakeRandomSource
from hybrid_memory_mcp.mcp_api.schemas import WriteArguments
from hybrid_memory_mcp.mcp_api.tools import TOOLS, CallContext

LIVES = Path(__file__).parent.parent / "tests" / "data" / "lives"
_TOOLS = {tool.name: tool for tool in TOOLS}
_PASSED = ("tags", "importance", "memory_type", "origin", "speaker", "pinned")
"""What a memory of a file may carry and a model passes as it is."""

DIALOGUES = Path(__file__).parent.parent / "tools" / "dialogues"
_IN_PASSING = frozenset({"moment", "smalltalk", "joke", "feedback", "order", "hypothetical", "task"})
_LONGEST_CHATTER = 200
_UNLIKELY = 0.2  # importance of what was said in passing
_NIGHT = timedelta(hours=12)
_NO_BRIEF: Mapping[str, Any] = {"parts": (), "wrong": ()}
_FEW = 3
_NOWHERE = 1_000_000
"""The place of a memory that is not shown: behind any other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """A life: ``written`` are the arguments of each write by the memory's id, ``updates`` pairs (old id, new id).

    ``brief_parts`` are sets of ids, one of each of which a brief must show; none of ``brief_wrong`` may be there.
    """

    collection: Collection
    written: Mapping[str, Mapping[str, Any]]
    updates: frozenset[tuple[str, str]]
    brief_parts: tuple[frozenset[str], ...]
    brief_wrong: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One memory of an answer: the ids it stands for, and those of the memory named as newer."""

    ids: frozenset[str]
    newer: frozenset[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a model sees of one read."""

    shown: tuple[Shown, ...]
    unknown: bool
    characters: int


@dataclass
class Score:
    """What was counted over one life or several; ``asked_of`` and ``first_of`` by the kind of answerable questions."""

    answerable: int = 0
    first: int = 0
    in_three: int = 0
    changed: int = 0
    stale_above: int = 0
    absent: int = 0
    absent_unknown: int = 0
    near: int = 0
    near_unknown: int = 0
    false_alarms: int = 0
    marks: int = 0
    true_marks: int = 0
    hits: int = 0
    characters: int = 0
    brief_parts: int = 0
    brief_found: int = 0
    brief_wrong: int = 0
    brief_characters: int = 0
    bm25_first: int = 0
    bm25_in_three: int = 0
    lexical_first: int = 0
    lexical_in_three: int = 0
    asked_of: Counter[str] = field(default_factory=Counter)
    first_of: Counter[str] = field(default_factory=Counter)
    misses: list[str] = field(default_factory=list)

    def __add__(self, other: Score) -> Score:
        return Score(**{name: getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__})

    @property
    def reads(self) -> int:
        """How many questions were asked."""
        return self.answerable + self.absent + self.near

    def summary(self) -> dict[str, Any]:
        """Return the counts as JSON, hits and characters as the mean of a read."""
        counts = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "misses"}
        means = {name: round(counts[name] / max(self.reads, 1), 1) for name in ("hits", "characters")}
        return counts | means


def read_life(path: Path) -> Life:
    """Return the life that a file holds; its form is in `tests/data/lives/README.md`."""
    data = json.loads(path.read_text(encoding="utf-8"))
    (store,), (collection,) = data["stores"], collections_of(data)
    return Life(
        collection=collection,
        written={memory["id"]: memory for memory in store["memories"]},
        updates=_followed((old, new) for old, new in store["true_updates"]),
        brief_parts=tuple(frozenset(part["any_of"]) for part in store.get("brief", _NO_BRIEF)["parts"]),
        brief_wrong=frozenset(store.get("brief", _NO_BRIEF)["wrong"]),
    )


@dataclass(frozen=True, slots=True)
class Chatter:
    """What other persons said in passing, ``count`` messages after each write; without ``tiers`` it is kept as any other memory."""

    count: int = 0
    tiers: bool = True

    def texts(self) -> list[str]:
        """Return short messages with nothing to keep, in an order that is always the same."""
        found = set()
        for path in DIALOGUES.glob("*.jsonl"):
            told = map(json.loads, path.read_text(encoding="utf-8").splitlines())
            found.update(one["text"] for one in told if not one.get("keep") and one.get("kind") in _IN_PASSING)
        texts = sorted(one for one in found if len(one) <= _LONGEST_CHATTER)
        random.Random(len(texts)).shuffle(texts)
        return texts


def play(life: Life, *, embedder: str | None = None, chatter: Chatter = Chatter()) -> Score:
    """Return what was counted when a life was played, and again by words alone.

    Without an ``embedder`` the store has the default one.
    """
    score = Score()
    settings = StoreSettings() if embedder is None else StoreSettings(embedder=embedder)
    with _played(life, settings, chatter) as player:
        for question, answer in player.answers():
            _count(score, life, question, answer)
            _count_bm25(score, life, question)
        _count_brief(score, life, player.brief)
    with _played(life, StoreSettings(embedder="static", scorer="lexical")) as player:
        for question, answer in player.answers():
            place = _first_place(answer, question.gold)
            score.lexical_first += place == 0
            score.lexical_in_three += place < _FEW
    return score


@contextmanager
def _played(life: Life, settings: StoreSettings, chatter: Chatter = Chatter()) -> Iterator[_Player]:
    """Open a store of its own for a life."""
    with tempfile.TemporaryDirectory(prefix="hybrid-memory-bench-") as folder:
        player = _Player(life, Path(folder), settings, chatter)
        try:
            yield player
        finally:
            player.close()


class _Player:
    """Plays one life over a store of its own, through the functions of the tools."""

    def __init__(self, life: Life, folder: Path, settings: StoreSettings, chatter: Chatter) -> None:
        self.brief = Answer(shown=(), unknown=False, characters=0)
        self._life = life
        self._chatter = chatter
        self._said = itertools.cycle(chatter.texts())
        self._clock = FakeClock(life.collection.items[0].at)
        self._service = MemoryService.open(
            folder, clock=self._clock, random_source=FakeRandomSource(), settings=settings
        )
        self._id_of: dict[str, str] = {}  # of a memory of the file in the store
        self._names_of: dict[str, set[str]] = defaultdict(
            set
        )  # the other way round; two where the same was written twice

        waiting.read(self._service, self._scope("before"), ReadRequest(query="the model is there"))

    def close(self) -> None:
        """Close the store."""
        self._service.close()

    def answers(self) -> Iterator[tuple[Question, Answer]]:
        """Live through it all in the order of time; yield each question with its answer, and keep the brief."""
        items, session = list(self._life.collection.items), None
        morning = items[-1].at + _NIGHT
        moments = [(item.at, 0, item) for item in items]
        moments += [(morning, 1, None)]
        moments += [(question.now, 2, question) for question in self._life.collection.questions]
        for at, _, what in sorted(moments, key=lambda moment: moment[:2]):
            self._clock.set(at)
            if what is None:
                self.brief = self._read("the morning after", {})
            elif isinstance(what, Question):
                yield what, self._read(f"asked {at:%Y-%m-%d}", {"query": what.text})
            else:
                if session not in (None, what.session):
                    self._service.end_session(self._scope(session))
                session = what.session
                self._write(what.id, session)

    def _write(self, name: str, session: str) -> None:
        memory = self._life.written[name]
        arguments = {key: memory[key] for key in _PASSED if memory.get(key) not in (None, [])}
        pinned = "pinned" in arguments and "pinned" not in WriteArguments.model_fields
        if pinned:
            del arguments["pinned"]
        if "supersedes" in memory:
            arguments["supersedes"] = self._id_of[memory["supersedes"]]
        answer = self._call("write_memory", session, {"content": memory["text"], **arguments})
        written = (answer.structured_content or {})["id"]
        self._id_of[name] = written
        self._names_of[written].add(name)
        if pinned:
            self._call("update_memory", session, {"id": written, "pinned": True})

        for text in itertools.islice(self._said, self._chatter.count):
            said = WriteRequest(
                content=text,
                memory_type=MemoryType.SHORT_TERM if self._chatter.tiers else MemoryType.LONG_TERM,
                importance=_UNLIKELY,
                origin=Origin.USER,
                episode=self._chatter.tiers,
            )
            self._service.write(self._scope(f"talk {session}"), said)

    def _read(self, session: str, arguments: Mapping[str, Any]) -> Answer:
        waiting.complete(self._service, self._scope(session))
        waiting.settle(self._service)
        answer = self._call("read_memories", session, arguments)
        structured = answer.structured_content or {}
        shown = tuple(
            Shown(
                ids=frozenset().union(*(self._names_of[one] for one in (entry["id"], *entry.get("repeats", ())))),
                newer=frozenset(self._names_of[entry["newer"]]) if "newer" in entry else None,
            )
            for entry in structured["memories"]
        )
        text = "".join(part.text for part in answer.content if isinstance(part, TextContent))
        return Answer(shown=shown, unknown=bool(structured.get("unknown")), characters=len(text))

    def _call(self, tool: str, session: str, arguments: Mapping[str, Any]) -> CallToolResult:
        spec = _TOOLS[tool]
        context = CallContext(self._scope(session), UTC)
        return spec.run(self._service, context, spec.takes.model_validate(dict(arguments)))

    def _scope(self, session: str) -> Scope:
        return Scope(namespace=self._life.collection.id, session=session)


def _count(score: Score, life: Life, question: Question, answer: Answer) -> None:
    score.hits += len(answer.shown)
    score.characters += answer.characters
    marks = [
        any((old, new) in life.updates for old in one.ids for new in one.newer)
        for one in answer.shown
        if one.newer is not None
    ]
    score.marks += len(marks)
    score.true_marks += sum(marks)
    if question.gold:
        _count_answerable(score, life, question, answer)
    elif question.category == "none-absent":
        score.absent += 1
        score.absent_unknown += answer.unknown
    else:
        score.near += 1
        score.near_unknown += answer.unknown


def _count_answerable(score: Score, life: Life, question: Question, answer: Answer) -> None:
    place = _first_place(answer, question.gold)
    score.answerable += 1
    score.first += place == 0
    score.asked_of[question.category] += 1
    score.first_of[question.category] += place == 0
    score.in_three += place < _FEW
    score.false_alarms += answer.unknown
    if question.stale:
        score.changed += 1
        score.stale_above += _first_place(answer, question.stale) < place
    if place:
        first = " / ".join(sorted(answer.shown[0].ids)) if answer.shown else "nothing"
        right = "not shown" if place == _NOWHERE else f"at {place + 1}"
        score.misses.append(
            f"{life.collection.id} {question.category}: {question.text} → {first} (right: {question.gold}, {right})"
        )


def _count_bm25(score: Score, life: Life, question: Question) -> None:
    known = [item for item in life.collection.items if item.at <= question.now]
    first = [known[at].id in question.gold for at in ranked(question.text, [item.text for item in known])[:_FEW]]
    score.bm25_first += any(first[:1])
    score.bm25_in_three += any(first)


def _count_brief(score: Score, life: Life, brief: Answer) -> None:
    shown = frozenset().union(*(one.ids for one in brief.shown))
    score.brief_parts += len(life.brief_parts)
    score.brief_found += sum(bool(part & shown) for part in life.brief_parts)
    score.brief_wrong += len(life.brief_wrong & shown)
    score.brief_characters += brief.characters


def _first_place(answer: Answer, wanted: Sequence[str]) -> int:
    """Return the place of the first wanted memory, `_NOWHERE` if none is shown."""
    return next((at for at, one in enumerate(answer.shown) if one.ids & set(wanted)), _NOWHERE)


def _followed(pairs: Iterable[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    """Return the pairs, and those that follow from chains of them."""
    found = set(pairs)
    while more := {(old, newest) for old, new in found for older, newest in found if new == older} - found:
        found |= more
    return frozenset(found)


def run(paths: Sequence[Path], *, embedder: str | None = None, chatter: Chatter = Chatter()) -> dict[str, Score]:
    """Play the lives of some files; return what was counted in each."""
    lives = [read_life(path) for path in paths]
    return {life.collection.id: play(life, embedder=embedder, chatter=chatter) for life in lives}


def files(*, check: bool = False) -> list[Path]:
    """Return the lives to develop on, or those to check with."""
    return sorted(LIVES.glob("check-*.json" if check else "dev-*.json"))


def _print(scores: Mapping[str, Score]) -> None:
    table = Table("", *scores)
    for title, written in _ROWS:
        table.add_row(title, *(written(score) for score in scores.values()))
    for kind in sorted(set().union(*(score.asked_of for score in scores.values()))):
        told = (f"{score.first_of[kind]} of {score.asked_of[kind]}" for score in scores.values())
        table.add_row(f"first, {kind}", *told)
    Console(width=120).print(table)


_ROWS = (
    ("right one first", lambda it: f"{it.first} of {it.answerable}"),
    ("... in three", lambda it: f"{it.in_three}"),
    ("... by plain BM25, both", lambda it: f"{it.bm25_first} / {it.bm25_in_three}"),
    ("... by own words alone, both", lambda it: f"{it.lexical_first} / {it.lexical_in_three}"),
    ("stale above current", lambda it: f"{it.stale_above} of {it.changed}"),
    ("unknown: absent / near / false alarms", lambda it: (
        f"{it.absent_unknown} of {it.absent} / {it.near_unknown} of {it.near} / {it.false_alarms}")),
    ("newer right", lambda it: f"{it.true_marks} of {it.marks}"),
    ("hits a read", lambda it: f"{it.hits / it.reads:.1f}"),
    ("characters a read", lambda it: f"{it.characters / it.reads:.0f}"),
    ("brief: parts / wrong", lambda it: f"{it.brief_found} of {it.brief_parts} / {it.brief_wrong}"),
    ("brief: characters", lambda it: f"{it.brief_characters}"),
)  # fmt: skip


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--check", action="store_true", help="play the lives that nothing is tuned to")
    parser.add_argument("--embedder", help="the one to choose; without it nobody chooses one")
    parser.add_argument(
        "--chatter", type=int, default=0, metavar="N", help="messages said in passing behind each memory"
    )
    parser.add_argument("--without-tiers", action="store_true", help="keep that chatter as any other memory")
    parser.add_argument("--misses", action="store_true", help="print the questions whose right memory is not first")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    chatter = Chatter(arguments.chatter, tiers=not arguments.without_tiers)
    scores = run(arguments.files or files(check=arguments.check), embedder=arguments.embedder, chatter=chatter)
    scores["together"] = sum(scores.values(), start=Score())
    if arguments.json:
        json.dump({name: score.summary() for name, score in scores.items()}, sys.stdout)
        print()
        return
    _print(scores)
    if arguments.misses and not arguments.check:
        print("\n".join(scores["together"].misses))


if __name__ == "__main__":
    main()
