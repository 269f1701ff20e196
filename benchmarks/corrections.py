"""What a correction in ordinary words does in a small store: what is found afterwards, and what the next brief says.

    python -m benchmarks.corrections [FILE ...] [--misses]

Each FILE holds short lives (`tests/data/short_lives`, `tools/short_lives`): a few messages, and one that changes what one of them told,
or only looks as if it did. They go the way of a hook's; two weeks later the question is asked, with the model and without.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from hybrid_memory.capture.model import Turn
from hybrid_memory.capture.statements import statements
from hybrid_memory.model import Scope
from hybrid_memory.requests import Hit, ReadRequest
from hybrid_memory.service.corrections import keep
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.settings import StoreSettings
from hybrid_memory.testing import FakeClock, FakeRandomSource

CHECK = Path(__file__).parent.parent / "tests" / "data" / "short_lives"
_DAYS_LATER = 14


@dataclass(frozen=True, slots=True)
class Found:
    """Where a page holds the earlier statement and the later one (None: nowhere), and whether the earlier one says that it may be over."""

    old: int | None
    new: int | None
    marked: bool


def play(life: Mapping[str, Any], service: MemoryService, clock: FakeClock) -> None:
    """Let a person say all this, and let two weeks pass."""
    service.load_model(Scope(session="none"))
    here = Scope(session="none")
    for one in (*life["before"], life["later"]):
        is_next = one is not life["later"] or not life["same_talk"]
        there = Scope(session=f"client:{one['at'][:10]}", actor="hook") if is_next else here
        if here.session not in ("none", there.session):
            service.warm_up(here)
            service.end_session(here)
        here = there
        clock.set(max(_at(one), clock.now()))
        turn = Turn(one["user"], _at(one), answers=one.get("assistant", ""))
        for statement in statements([turn], fragments=True, gate=service.gate(), episodes=True):
            keep(service, here, statement, "hook:client")
    service.warm_up(here)
    service.end_session(here)
    clock.advance(days=_DAYS_LATER)


def _at(message: Mapping[str, str]) -> datetime:
    return datetime.fromisoformat(message["at"])


def found_in(hits: Sequence[Hit], life: Mapping[str, Any]) -> Found:
    """Return what a page of hits holds of a life's last message, and of the one that it changes or seems to change."""
    earlier, later = life["before"][life["old"]], life["later"]

    def place(message: Mapping[str, str], value: str) -> int | None:
        return next(
            (
                at
                for at, hit in enumerate(hits)
                if hit.memory.occurred_at == _at(message) and value.casefold() in hit.memory.content.casefold()
            ),
            None,
        )

    old = place(earlier, life["old_value"])
    return Found(old, place(later, life.get("new_value", "")), old is not None and _is_marked(hits[old]))


def _is_marked(hit: Hit) -> bool:
    return hit.contradicted_by is not None or hit.memory.superseded_by is not None


def counted(life: Mapping[str, Any], page: Found, brief: Found, prompt: Found) -> Counter[str]:
    """Return what counts of a life's question, the brief of the next session, and the same question as a prompt."""
    if life["kind"] == "decoy":
        return Counter(
            {
                "decoys": 1,
                "decoys: ended": page.old is None,
                "decoys: marked": page.marked,
                "decoys: not first": page.new is not None and (page.old is None or page.new < page.old),
            }
        )
    ended = page.old is None and page.new is not None
    current = page.new is not None and (page.old is None or page.new < page.old)
    return Counter(
        {
            "changes": 1,
            "current alone or first": current,
            "ended or marked": ended or page.marked,
            **{
                f"{name}: {what}": is_so
                for name, one in (("brief", brief), ("prompt", prompt))
                for what, is_so in (
                    ("current", one.new is not None and one.old is None),
                    ("both", one.new is not None and one.old is not None),
                    ("stale only", one.new is None and one.old is not None),
                )
            },
        }
    )


def measure(lives: Sequence[Mapping[str, Any]], *, misses: bool) -> Counter[str]:
    """Play all lives, each in a store of its own."""
    total: Counter[str] = Counter()
    for life in track(lives, "lives", console=Console(stderr=True)):
        with tempfile.TemporaryDirectory() as home:
            clock = FakeClock(_at(life["before"][0]))
            opened = MemoryService.open(
                Path(home),
                clock=clock,
                random_source=FakeRandomSource(),
                settings=StoreSettings(embedder="universal"),
            )
            with closing(opened) as service:
                play(life, service, clock)
                asker = Scope(session="asker")
                question = life["question"]
                asked, brief, prompt = (
                    found_in(service.read(asker, request).hits, life)
                    for request in (
                        ReadRequest(query=question, limit=10, recalls=False),
                        ReadRequest(),
                        ReadRequest(query=question, quiet=True, recalls=False),
                    )
                )
            found = counted(life, asked, brief, prompt)
            total += found
            if misses and (found["decoys: not first"] or (found["changes"] and not found["current alone or first"])):
                print(life["id"], life["kind"], asked, repr(life["later"]["user"]), repr(question))
    return total


def main() -> None:
    """Print what is found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--misses", action="store_true")
    options = parser.parse_args()
    for path in options.files or sorted(CHECK.glob("*.jsonl")):
        lives = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        print(path.stem, json.dumps(dict(measure(lives, misses=options.misses)), indent=1))


if __name__ == "__main__":
    main()
