"""Whole conversations through the real server: every turn written, every question asked.

    python -m benchmarks.conversations --data FILE [--json] [--limit 10]

FILE holds ``conversations[] {conversation, turns[] {id, session, at, speaker, text, photo?}, questions[] {question,
evidence[], category}}``. One turn is one `write_memory` with its session, speaker and time; one conversation is one
namespace; one question is one `read_memories`. Recall is the share of the evidence among the first results.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

import anyio
from mcp import Client
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from benchmarks.client import call, memory
from benchmarks.sets import text_of, time_of

ADVERSARIAL = 5


@dataclass
class Figures:
    """What came of the conversations: recall by question category, and whether anything was refused."""

    written: int = 0
    acknowledged: int = 0
    recalls: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def summary(self, limit: int) -> dict[str, Any]:
        """Return the figures as JSON; ``overall`` leaves the adversarial category out."""
        answerable = [one for name, many in self.recalls.items() if name != str(ADVERSARIAL) for one in many]
        return {
            "written": self.written,
            "acknowledged": self.acknowledged,
            "questions": sum(len(many) for many in self.recalls.values()),
            f"recall@{limit}": round(fmean(answerable), 4) if answerable else None,
            "by_category": {
                name: {"n": len(many), f"recall@{limit}": round(fmean(many), 4)}
                for name, many in sorted(self.recalls.items())
            },
        }


async def write_turns(client: Client, turns: Sequence[Mapping[str, Any]], figures: Figures) -> dict[str, set[str]]:
    """Write the turns in order and return the turns of each memory's id; one repeated word for word shares its memory."""
    turns_of: dict[str, set[str]] = {}
    for turn in turns:
        figures.written += 1
        result = await call(
            client,
            "write_memory",
            content=text_of(turn),
            speaker=turn["speaker"],
            session=str(turn["session"]),
            occurred_at=time_of(turn["at"]).isoformat(),
            origin="user",
        )
        figures.acknowledged += bool(result["id"])
        turns_of.setdefault(result["id"], set()).add(turn["id"])
    return turns_of


async def ask_questions(
    client: Client,
    questions: Sequence[Mapping[str, Any]],
    turns_of: Mapping[str, set[str]],
    limit: int,
    figures: Figures,
) -> None:
    """Ask the questions and note how much of the evidence is among the first ``limit`` memories."""
    for question in questions:
        result = await call(client, "read_memories", query=question["question"], limit=limit, token_budget=20_000)
        found = set().union(*(turns_of.get(one["id"], set()) for one in result["memories"]))
        evidence = set(question["evidence"])
        if evidence:
            figures.recalls[str(question["category"])].append(len(evidence & found) / len(evidence))


async def run(data: Mapping[str, Any], *, limit: int = 10, progress: Progress | None = None) -> Figures:
    """Put every conversation through a server of its own store and return the figures."""
    figures = Figures()
    conversations = data["conversations"]
    task = progress.add_task("conversations", total=len(conversations)) if progress else None
    for conversation in conversations:
        with tempfile.TemporaryDirectory(prefix="hybrid-memory-bench-") as folder:
            async with memory(Path(folder), "--namespace", str(conversation["conversation"])) as client:
                turns_of = await write_turns(client, conversation["turns"], figures)
                await ask_questions(client, conversation["questions"], turns_of, limit, figures)
        if progress is not None and task is not None:
            progress.advance(task)
    return figures


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    data = json.loads(arguments.data.read_text(encoding="utf-8"))
    with Progress(console=Console(stderr=True)) as progress:
        figures = anyio.run(lambda: run(data, limit=arguments.limit, progress=progress))
    summary = figures.summary(arguments.limit)
    if arguments.json:
        json.dump(summary, sys.stdout)
        print()
        return
    table = Table("category", "questions", f"recall@{arguments.limit}")
    for name, row in summary["by_category"].items():
        table.add_row(name, str(row["n"]), f"{100 * row[f'recall@{arguments.limit}']:.1f}")
    table.add_row("1 to 4", "", f"{100 * summary[f'recall@{arguments.limit}']:.1f}")
    Console().print(table, f"{summary['acknowledged']} of {summary['written']} writes acknowledged")


if __name__ == "__main__":
    main()
