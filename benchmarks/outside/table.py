"""The figures of a run as the tables of `docs/benchmarks.md`.

python -m benchmarks.outside.table FILE.json
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Found = Mapping[str, Mapping[str, Any]]
Cell = Callable[[Mapping[str, Any]], str]


def _pair(one: str, other: str) -> Cell:
    return lambda figures: f"{_number(figures[one])} / {_number(figures[other])}"


def _times(size: str, what: str) -> Cell:
    def cell(figures: Mapping[str, Any]) -> str:
        if size not in figures:
            return f"not reached ({figures['reached']})"
        return f"{_number(figures[size][what]['p50'])} / {_number(figures[size][what]['p95'])}"

    return cell


def _leaves(figures: Mapping[str, Any]) -> str:
    return "no" if figures["leaves"] is None else f"{figures['leaves']:.2f}"


def _kept(figures: Mapping[str, Any]) -> str:
    there = figures["acknowledged"] - figures["lost"]
    return (
        f"{figures['acknowledged']:,} / **{there:,}**"
        if figures["lost"]
        else f"{figures['acknowledged']:,} / {there:,}"
    )


def _seen(figures: Mapping[str, Any]) -> str:
    if figures["started"] < figures["clients"]:
        return "one of them does not start"
    if not all(figures["sees_its_own"]):
        return "one of them cannot write"
    return "yes" if all(figures["sees_the_other"]) else "**no**"


ROWS: tuple[tuple[str, str, Cell], ...] = (
    ("start", "initialize, new store / again, s", _pair("initialize_new", "initialize_again")),
    ("start", "first write acknowledged, new / again, s", _pair("write_new", "write_again")),
    ("start", "RSS of all its processes, MB", lambda one: f"{one['megabytes']:.0f}"),
    ("start", "tools / tokens of the tool list", lambda one: f"{one['tools']} / {one['tokens']:,}"),
    ("start", "leaves after the end of its input, s", _leaves),
    ("inproc", "50 writes at once, one process: acknowledged / there", _kept),
    ("two", "2 processes × 200 writes: acknowledged / there", _kept),
    ("see", "... each finds what the other has just written", _seen),
    ("ten", "10 processes × 100 writes: acknowledged / there", _kept),
    ("ten", "... failed reads of 200", lambda one: str(one["failed_reads"] + 200 - one["reads"])),
    ("ten", "... seconds", lambda one: _number(one["seconds"])),
    ("kill", "kill -9 while writing, 5 times: acknowledged / there", _kept),
    ("kill", "... opens again", lambda one: f"{one['opened']} of {one['rounds']}"),
    ("latency", "write at 100, p50 / p95, ms", _times("100", "write")),
    ("latency", "read at 100", _times("100", "read")),
    ("latency", "write at 1,000", _times("1000", "write")),
    ("latency", "read at 1,000", _times("1000", "read")),
)


def compared(found: Mapping[str, Found]) -> str:
    """Return the table of all servers as Markdown, a column each; what was not tried is left empty."""
    names = list(dict.fromkeys(name for rows in found.values() for name in rows))
    lines = [["", *names], ["---"] * (len(names) + 1)]
    for trial, title, cell in ROWS:
        rows = found.get(trial, {})
        if any(name in rows for name in names):
            lines.append([title, *(_cell(cell, rows.get(name)) for name in names)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(cell: Cell, figures: Mapping[str, Any] | None) -> str:
    if figures is None:
        return ""
    return str(figures["gone"]) if "gone" in figures else cell(figures)


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if value < 10 else f"{value:,.0f}"


def main() -> None:
    """Run from the command line."""
    print(compared(json.loads(Path(sys.argv[1]).read_text("utf-8"))))


if __name__ == "__main__":
    main()
