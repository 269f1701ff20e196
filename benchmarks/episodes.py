"""What becomes of what a person says over months: kept or said in passing, and what is found of it when it is asked for.

    python -m benchmarks.episodes [FILE ...] [--embedder universal|static] [--misses]

Each FILE is a person's messages (`tests/data/dialogues/check-*.jsonl`, `tools/dialogues/*.jsonl`) with questions of the same name in
the folder ``asked`` alongside it; without FILE the check set is played. The messages go the way of a hook's; after the last one the person
asks. Three stores are compared: as it is; without tiers (all that was kept is long-term); and without episodes.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

from hybrid_memory.capture.model import Turn
from hybrid_memory.capture.statements import statements
from hybrid_memory.model import Scope, Tier
from hybrid_memory.requests import Hit, ReadRequest
from hybrid_memory.service.corrections import keep
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.settings import StoreSettings
from hybrid_memory.store.writing import SetTier, WriteBatch
from hybrid_memory.testing import FakeClock, FakeRandomSource

CHECK = Path(__file__).parent.parent / "tests" / "data" / "dialogues"
STORES = ("as it is", "without tiers", "without episodes")
_LATER = timedelta(days=14)
_FEW = 3


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, when what answers it was said, and when what is over was said; ``kept`` says that it was worth keeping."""

    question: str
    right: frozenset[datetime]
    over: frozenset[datetime]
    kept: bool


@dataclass(frozen=True, slots=True)
class Life:
    """A person's messages in order with their conversations, and the questions."""

    name: str
    turns: Sequence[tuple[str, Turn]]
    asked: Sequence[Asked]


def life_of(path: Path) -> Life:
    """Return the life of a file."""
    turns: list[tuple[str, Turn]] = []
    said_at: dict[str, datetime] = {}
    before: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        told = json.loads(line)
        if told.get("role") == "assistant":
            before = told
            continue
        at = datetime.fromisoformat(told["at"])
        answers = before["text"] if before.get("conv") == told["conv"] else ""
        turns.append((told["conv"], Turn(told["text"], at, answers=answers)))
        before = {}
        said_at |= {one["id"]: at for one in told["keep"]}
    asked = [
        _asked(json.loads(line), said_at)
        for line in (path.parent / "asked" / path.name).read_text(encoding="utf-8").splitlines()
    ]
    return Life(path.stem, sorted(turns, key=lambda one: one[1].said_at), asked)


def _asked(told: Mapping[str, Any], said_at: Mapping[str, datetime]) -> Asked:
    right = [said_at[one] for one in told.get("ids", ())] + [datetime.fromisoformat(one) for one in told.get("at", ())]
    over = [said_at[one] for one in told.get("old", ())]
    return Asked(told["q"], frozenset(right), frozenset(over) - frozenset(right), "ids" in told)


def play(life: Life, service: MemoryService, clock: FakeClock, *, episodes: bool) -> Scope:
    """Let a person say all this; returns where it was kept."""
    scope = Scope(session="s", actor="hook")
    for conversation, some in groupby(life.turns, key=lambda one: one[0]):
        here = replace(scope, session=f"client:{conversation}")
        for _, turn in some:
            clock.set(turn.said_at)
            for one in statements([turn], fragments=True, gate=service.gate(), episodes=episodes):
                keep(service, here, one, "hook:client")
        clock.advance(days=1)
        service.warm_up(here)
        service.end_session(here)
    clock.advance(seconds=_LATER.total_seconds())
    return scope


def promote_all(service: MemoryService, scope: Scope) -> None:
    """Set every memory to long-term; the service has to be opened again to see it."""
    ids = service.look(scope, lambda columns, now: columns.ids.ids_of(np.flatnonzero(columns.visible(now))))
    changes = tuple(SetTier(one, Tier.LONG_TERM) for one in ids)
    service.store.write(scope.namespace, None, lambda _: WriteBatch(action="x", actor="x", tier_changes=changes))


def answers(life: Life, service: MemoryService, scope: Scope, *, misses: bool) -> Counter[str]:
    """Ask all questions and count what is right."""
    found: Counter[str] = Counter()
    for one in life.asked:
        hits = service.read(scope, ReadRequest(query=one.question, limit=10, recalls=False)).hits
        sort = "kept" if one.kept else "passing"
        places = [place for place, hit in enumerate(hits) if _when(hit) & one.right]
        best = places[0] if places else 99
        found[f"{sort} asked"] += 1
        found[f"{sort} first"] += best == 0
        found[f"{sort} in three"] += best < _FEW
        stale = [place for place, hit in enumerate(hits) if _when(hit) & one.over and not _when(hit) & one.right]
        found["stale above"] += bool(stale) and stale[0] < best
        if misses and best >= _FEW:
            print(life.name, sort, best, one.question, [hit.memory.content[:60] for hit in hits[:3]])
    return found


def _when(hit: Hit) -> set[datetime | None]:
    return {hit.memory.occurred_at}


def measure(paths: Sequence[Path], embedder: str, *, misses: bool) -> dict[str, Counter[str]]:
    """Play all lives in each sort of store."""
    totals: dict[str, Counter[str]] = {name: Counter() for name in STORES}
    for path in track(paths, "lives", console=Console(stderr=True)):
        life = life_of(path)
        for store in STORES:
            with tempfile.TemporaryDirectory() as home:
                clock = FakeClock(life.turns[0][1].said_at)
                settings = StoreSettings(embedder=embedder)
                opened = partial(
                    MemoryService.open, Path(home), clock=clock, random_source=FakeRandomSource(), settings=settings
                )
                with closing(opened()) as service:
                    scope = play(life, service, clock, episodes=store != "without episodes")
                    if store == "without tiers":
                        promote_all(service, scope)
                with closing(opened()) as service:
                    totals[store] += answers(life, service, scope, misses=misses and store == "as it is")
                    held = service.status(scope)
                    totals[store] += Counter(memories=held.memories, promoted=held.tiers["long_term"])
    return totals


def main() -> None:
    """Print what is found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--embedder", default="universal")
    parser.add_argument("--misses", action="store_true")
    options = parser.parse_args()
    totals = measure(options.files or sorted(CHECK.glob("check-*.jsonl")), options.embedder, misses=options.misses)
    for store, counts in totals.items():
        print(store, dict(counts))


if __name__ == "__main__":
    main()
