"""Half a year of three persons: what is kept by tier, what is found of each month at the end, which contradictions stay open.

    python -m benchmarks.months [FILE ...] [--check] [--messages N] [--plain] [--picture SVG] [--json]

Each FILE is a half year (`tests/data/half_years`). What its assistant stored is written by the tool on its day; around it the person says
what other persons said in passing (`tools/dialogues`), which goes the way of a hook's, 10,000 messages in all. A conversation ends with
its day. Once a week the store is swept, and `reflect` is called: of what it offers as a contradiction the earlier
side is forgotten if the file says that it changed, otherwise an insight says that all holds; what was said in several conversations becomes
an insight. ``--plain`` does without both. On day 180 all questions whose answer was told by then are asked.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks import waiting
from benchmarks.lives import Chatter, Life, read_life
from benchmarks.plots import picture
from hybrid_memory.capture.model import Turn
from hybrid_memory.capture.statements import statements
from hybrid_memory.embedding.universal import Encoder, UniversalEmbedder
from hybrid_memory.model import MemoryId, Scope
from hybrid_memory.requests import ForgetRequest, GroupSort, Insight, ReadRequest, ReflectionGroup, WriteRequest
from hybrid_memory.service.keeping import keep
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.settings import StoreSettings
from hybrid_memory.testing import FakeClock, FakeRandomSource

HALF_YEARS = Path(__file__).parent.parent / "tests" / "data" / "half_years"
DEVELOPED_ON = ("dev-backend.json", "dev-mother.json", "dev-restaurant.json")
DAYS = 180
_WEEK = 7
_FEW = 3
_OPEN_AT = timedelta(hours=1)


@dataclass
class Course:
    """What was counted: ``weeks`` the sizes at the end of each week, ``asked`` and the others by the month of the answer."""

    weeks: list[Counter[str]] = field(default_factory=list)
    asked: Counter[int] = field(default_factory=Counter)
    first: Counter[int] = field(default_factory=Counter)
    in_three: Counter[int] = field(default_factory=Counter)
    messages: int = 0

    def __add__(self, other: Course) -> Course:
        weeks = [one + two for one, two in itertools.zip_longest(self.weeks, other.weeks, fillvalue=Counter[str]())]
        return Course(
            weeks,
            self.asked + other.asked,
            self.first + other.first,
            self.in_three + other.in_three,
            self.messages + other.messages,
        )

    def as_json(self) -> dict[str, Any]:
        """Return the counts as JSON values."""
        recall = {month: [self.first[month], self.in_three[month], self.asked[month]] for month in sorted(self.asked)}
        return {"messages": self.messages, "weeks": [dict(one) for one in self.weeks], "recall": recall}


class _Months:
    """Plays one life over a store of its own."""

    def __init__(self, life: Life, home: Path, messages: int, *, plain: bool) -> None:
        self._life, self._home, self._messages, self._plain = life, home, messages, plain
        self._begin = life.collection.items[0].at.replace(hour=0, minute=0)
        self._clock = FakeClock(self._begin)
        self._course = Course()
        self._ids: dict[str, MemoryId] = {}
        self._names: dict[MemoryId, set[str]] = defaultdict(set)
        self._scope = Scope(namespace=life.collection.id, session="none")

    def play(self) -> Course:
        """Live through it all, then ask."""
        chatter = itertools.cycle(Chatter().texts())
        due = self._by_day()
        with closing(self._opened()) as service:
            for day in range(DAYS):
                count = self._messages * (day + 1) // DAYS - self._messages * day // DAYS
                self._live(service, day, due.get(day, []), itertools.islice(chatter, count))
                if (day + 1) % _WEEK and day + 1 < DAYS:
                    continue
                if not self._plain:
                    service._conversations.sweep(self._scope)  # noqa: SLF001 - as a hub does each hour
                    self._reflect(service)
                self._course.weeks.append(self._sizes(service))
            self._ask(service)
        return self._course

    def _opened(self) -> MemoryService:
        service = MemoryService.open(
            self._home, clock=self._clock, random_source=FakeRandomSource(), settings=StoreSettings()
        )
        waiting.read(service, self._scope, ReadRequest(query="the model is there"))
        return service

    def _by_day(self) -> dict[int, list[str]]:
        found: dict[int, list[str]] = defaultdict(list)
        for item in self._life.collection.items:
            found[(item.at - self._begin).days].append(item.id)
        return found

    def _live(self, service: MemoryService, day: int, written: Sequence[str], said: Iterator[str]) -> None:
        begins = self._begin + timedelta(days=day, hours=8)
        self._clock.set(begins)
        scope = replace(self._scope, session=f"day {day}")
        hook = replace(self._scope, session=f"client:day {day}", actor="hook")
        for name in written:
            memory = self._life.written[name]
            fields = {key: memory[key] for key in ("importance", "speaker") if memory.get(key) is not None}
            id_ = service.write(scope, WriteRequest(content=memory["text"], **fields)).id
            self._ids[name] = id_
            self._names[id_].add(name)
            self._course.messages += 1
        heard = list(said)
        for text in heard:
            self._clock.advance(seconds=60)
            for one in statements([Turn(text, self._clock.now())], fragments=True, gate=service.gate(), episodes=True):
                keep(service, hook, one, "hook:client")
            self._course.messages += 1
        for one in [scope] * bool(written) + [hook] * bool(heard):
            service.end_session(one)

    def _reflect(self, service: MemoryService) -> None:
        for group in service.offer_reflection(self._scope, limit=6):
            ids = tuple(one.id for one in group.memories)
            if group.sort is GroupSort.CONFLICT:
                self._settle(service, group)
            elif group.sort is GroupSort.REPEATED:
                service.store_insights(self._scope, [Insight(text=group.memories[-1].content, evidence=ids)])

    def _settle(self, service: MemoryService, group: ReflectionGroup) -> None:
        ids = [one.id for one in group.memories]
        names = {id_: self._names[id_] for id_ in ids}
        stale = tuple(
            old
            for old, new in itertools.permutations(ids, 2)
            if any((a, b) in self._life.updates for a in names[old] for b in names[new])
        )
        if stale:
            service.forget(self._scope, ForgetRequest(ids=tuple(dict.fromkeys(stale))))
        else:
            service.store_insights(self._scope, [Insight(text="all of these hold", evidence=tuple(ids))])

    def _sizes(self, service: MemoryService) -> Counter[str]:
        status = service.status(self._scope)
        attention = status.tiers["sensory"] + status.tiers["short_term"]
        listed = service.recent(self._scope, limit=5_000)
        marked = service.as_hits(self._scope, listed)
        told = {one for hit in marked for one in self._names.get(hit.memory.id, ())}
        return Counter(
            {
                "long-term": status.tiers["long_term"],
                "faded": status.tiers["faded"],
                "just heard": attention,
                "contradictions open": sum(hit.contradicted_by is not None for hit in marked),
                "changed, both kept": sum({old, new} <= told for old, new in self._life.updates),
            }
        )

    def _ask(self, service: MemoryService) -> None:
        end = self._begin + timedelta(days=DAYS)
        told_at = {item.id: item.at for item in self._life.collection.items if item.at < end}
        self._clock.set(end + _OPEN_AT)
        for question in self._life.collection.questions:
            told = [told_at[one] for one in question.gold if one in told_at]
            if not told or len(told) < len(question.gold):
                continue
            month = (max(told) - self._begin).days // 30 + 1
            hits = service.read(self._scope, ReadRequest(query=question.text, limit=8, recalls=False)).hits
            wanted = {self._ids[one] for one in question.gold}
            places = [at for at, hit in enumerate(hits) if {hit.memory.id, *hit.repeats} & wanted]
            self._course.asked[month] += 1
            self._course.first[month] += bool(places) and places[0] == 0
            self._course.in_three[month] += bool(places) and places[0] < _FEW


@contextmanager
def _each_text_encoded_once(texts: Sequence[str]) -> Iterator[None]:
    """Keep what the encoder makes of a text, some in advance: the lives hear the same, and encoding costs most."""
    original, known = Encoder.meanings, dict[str, NDArray[np.float32]]()

    def meanings(self: Encoder, some: Sequence[str]) -> NDArray[np.float32]:
        missing = [one for one in dict.fromkeys(some) if one not in known]
        known.update(zip(missing, original(self, missing), strict=True))
        return np.stack([known[one] for one in some]) if some else original(self, some)

    with patch.object(Encoder, "meanings", meanings):
        UniversalEmbedder().embed(texts)
        yield


def run(paths: Sequence[Path], messages: int, *, plain: bool = False) -> Course:
    """Play the lives of some files, which share the messages; return what was counted of all."""
    found = Course()
    with _each_text_encoded_once(Chatter().texts()[: messages // len(paths)]):
        for path in track(paths, "half years", console=Console(stderr=True)):
            life = read_life(path)
            written = sum(
                item.at < life.collection.items[0].at + timedelta(days=DAYS) for item in life.collection.items
            )
            with tempfile.TemporaryDirectory(prefix="hybrid-memory-bench-") as home:
                share = max(messages // len(paths) - written, 0)
                found += _Months(life, Path(home), share, plain=plain).play()
    return found


def drawn(course: Course) -> str:
    """Return a picture of the sizes over the weeks."""
    days = [min((week + 1) * _WEEK, DAYS) for week in range(len(course.weeks))]
    names = ("long-term", "faded", "just heard", "contradictions open")
    series: Mapping[str, Sequence[float]] = {name: [one[name] for one in course.weeks] for name in names}
    return picture(f"Memories of three persons over {DAYS} days", days, series, logarithmic=False)


def _print(course: Course) -> None:
    table = Table("at the end of day", *course.weeks[-1])
    for week in sorted({0, *range(3, len(course.weeks), 4), len(course.weeks) - 1}):
        counts = course.weeks[week]
        table.add_row(str(min((week + 1) * _WEEK, DAYS)), *(str(counts[name]) for name in course.weeks[-1]))
    recall = Table("answer told in month", "asked", "first", "in three")
    for month in sorted(course.asked):
        recall.add_row(str(month), *(str(one[month]) for one in (course.asked, course.first, course.in_three)))
    recall.add_row("all", *(str(one.total()) for one in (course.asked, course.first, course.in_three)))
    for one in (f"{course.messages:,} messages", table, recall):
        Console(width=120).print(one)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--check", action="store_true", help="play the half years that nothing is tuned to")
    parser.add_argument("--messages", type=int, default=10_000, help="of all lives together")
    parser.add_argument("--plain", action="store_true", help="without sweeps and reflection")
    parser.add_argument("--picture", type=Path, help="where to draw the sizes, as SVG")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    files = sorted(HALF_YEARS.glob("check-*.json")) if arguments.check else [HALF_YEARS / one for one in DEVELOPED_ON]
    course = run(arguments.files or files, arguments.messages, plain=arguments.plain)
    if arguments.picture:
        arguments.picture.write_text(drawn(course), encoding="utf-8")
    if arguments.json:
        json.dump(course.as_json(), sys.stdout)
        print()
    else:
        _print(course)


if __name__ == "__main__":
    main()
