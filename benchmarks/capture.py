"""What capture keeps of what people type, against what they would want kept: precision and recall by language and kind.

    python -m benchmarks.capture [FILE ...] [--check] [--history] [--misses] [--json]

Without FILE the turns of `benchmarks/capture_turns/dev.txt` are read, with --check those with them, whose single cases are never shown.
With --history the turns are read as an import reads them (`hybrid_memory_importers.told_statements`), which takes more.
The form of a file is in `benchmarks/capture_turns/README.md`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from hybrid_memory.capture.model import Statement, Turn
from hybrid_memory.capture.statements import statements
from hybrid_memory.language.text import words
from hybrid_memory_importers.told_statements import told

TURNS = Path(__file__).parent / "capture_turns"
_SAID = datetime(2026, 3, 2, 9, tzinfo=UTC)
_ARROW = " \u21d2 "  # before each statement that is expected
_MAYBE = "maybe"
_MOST_OF = 0.7  # of the characters that are wanted: "remember that the key is with Eva" and "the key is with Eva"
_SHOWN_KINDS = ("preference", "decision", "plan", "correction", "fact")


@dataclass(frozen=True, slots=True)
class Expected:
    """Words that a kept statement has to hold; ``kind`` "maybe": it may be kept or not."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Session:
    """Turns in a language, and what of them is worth keeping."""

    language: str
    turns: tuple[str, ...]
    expected: tuple[Expected, ...]


@dataclass
class Counts:
    """What was counted: ``kept`` statements of which ``right`` are expected, ``expected`` ones of which ``found`` were kept."""

    turns: int = 0
    kept: int = 0
    right: int = 0
    expected: int = 0
    found: int = 0
    same_kind: int = 0
    misses: list[str] = field(default_factory=list)

    def summary(self) -> dict[str, float]:
        """Return the counts and their shares as JSON."""
        counts = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "misses"}
        return counts | {"precision": self.precision, "recall": self.recall}

    @property
    def precision(self) -> float:
        """The share of what is kept that is right; 1 where nothing is."""
        return round(self.right / self.kept, 3) if self.kept else 1.0

    @property
    def recall(self) -> float:
        """The share of what is worth keeping that is kept; 1 where nothing is."""
        return round(self.found / self.expected, 3) if self.expected else 1.0


def read(path: Path) -> Iterator[Session]:
    """Yield the sessions of a file."""
    lines: list[str] = []
    for line in [*path.read_text(encoding="utf-8").splitlines(), ""]:
        if line.startswith("+ "):
            lines.append(line)
            continue
        if lines:
            yield _session(lines)
        lines = [line] if line and not line.startswith("#") else []


def _session(lines: Sequence[str]) -> Session:
    language, first = lines[0].split(" ", 1)
    turns: list[str] = []
    expected: list[Expected] = []
    for line in (first, *(one[2:] for one in lines[1:])):
        turn, *wanted = line.split(_ARROW)
        turns.append(turn.strip().replace("\\n", "\n"))
        expected += [Expected(*one.strip().split(": ", 1)) for one in wanted]
    return Session(language, tuple(turns), tuple(expected))


def count(sessions: Sequence[Session], *, history: bool = False) -> Mapping[str, Counts]:
    """Return what was counted by language, by kind and over "all"; of a ``history`` as an import reads it."""
    counted: dict[str, Counts] = defaultdict(Counts)
    for session in sessions:
        kept = _of_history(session) if history else statements([Turn(text, _SAID) for text in session.turns])
        groups = (counted["all"], counted[session.language])
        for group in groups:
            group.turns += len(session.turns)
        _count(session, kept, groups, counted)
    return counted


def _of_history(session: Session) -> tuple[Statement, ...]:
    """Return what an import takes of a session: what corrects something comes alongside it, and what was corrected stays (superseded)."""
    found = [one for text in session.turns for one in told(text, _SAID).statements]
    return tuple(one for one in found if not one.fragment or len(session.turns) > 1)


def _count(
    session: Session, kept: Sequence[Statement], groups: Sequence[Counts], counted: Mapping[str, Counts]
) -> None:
    waiting = list(kept)
    for wanted in session.expected:
        hit = next((one for one in waiting if _holds(one.text, wanted.text)), None)
        if hit is not None:
            waiting.remove(hit)
        if wanted.kind == _MAYBE:
            continue
        for group in (*groups, counted[f"kind {wanted.kind}"]):
            group.expected += 1
            group.found += hit is not None
            group.kept += hit is not None
            group.right += hit is not None
            group.same_kind += hit is not None and hit.kind == wanted.kind
        if hit is None:
            groups[0].misses.append(f"- {session.language} {wanted.kind}: {wanted.text!r} of {session.turns}")
    for wrong in waiting:
        for group in (*groups, counted[f"kind {wrong.kind}"]):
            group.kept += 1
        groups[0].misses.append(f"+ {session.language} {wrong.kind}: {wrong.text!r} of {session.turns}")


def _holds(text: str, wanted: str) -> bool:
    """Return True if a statement says what is wanted, but for a word before or behind it, and not much alongside it."""
    folded, needed = _folded(text), _folded(wanted)
    if len(words(text)) > 2 * len(words(wanted)) + 8:
        return False
    return needed in folded or (len(folded) >= _MOST_OF * len(needed) and folded in needed)


def _folded(text: str) -> str:
    return " ".join(text.casefold().replace("\u2019", "'").split()).strip(" .!")


def main() -> int:
    """Count, and print a table or JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--check", action="store_true", help="the turns to check with; their misses are not shown")
    parser.add_argument("--history", action="store_true", help="as an import reads them, which takes more")
    parser.add_argument("--misses", action="store_true", help="show what was missed (-) and what was kept wrongly (+)")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    files = args.files or [TURNS / ("check.txt" if args.check else "dev.txt")]
    counted = count([session for file in files for session in read(file)], history=args.history)
    if args.json:
        print(json.dumps({name: one.summary() for name, one in counted.items()}, indent=1))
    else:
        _print(counted)
    if args.misses and not args.check:
        print("\n".join(counted["all"].misses))
    return 0


def _print(counted: Mapping[str, Counts]) -> None:
    table = Table("", "turns", "worth keeping", "kept", "precision", "recall", "kind right")
    for name, one in counted.items():
        table.add_row(
            name,
            str(one.turns or ""),
            str(one.expected),
            str(one.kept),
            f"{one.precision:.2f}",
            f"{one.recall:.2f}",
            f"{one.same_kind / max(one.found, 1):.2f}",
        )
    Console(width=120).print(table)


if __name__ == "__main__":
    sys.exit(main())
