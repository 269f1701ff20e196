"""Measure memory servers from outside: this one, and the others that are installed in a folder.

    python -m benchmarks.outside [--peers FOLDER] [--only NAME ...] [--trials NAME ...] [--out FILE.json]

A file that is there already is added to: what is tried again replaces what it holds of that.
Linux only. What the trials do is in `docs/benchmarks.md`, how to install the peers too.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.outside import machine
from benchmarks.outside.hubs import HUB_TRIALS
from benchmarks.outside.targets import OURS, Target, installed
from benchmarks.outside.trials import TRIALS, Figures
from benchmarks.outside.wire import ServerGone

_err = Console(stderr=True)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--trials", nargs="*", default=[*TRIALS, *HUB_TRIALS], choices=[*TRIALS, *HUB_TRIALS])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    found: dict[str, dict[str, Any]] = {}
    if arguments.out and arguments.out.exists():
        found = json.loads(arguments.out.read_text("utf-8"))
    for trial in arguments.trials:
        for target, program in installed(arguments.peers, arguments.only):
            if trial in HUB_TRIALS and target is not OURS:
                continue
            figures = run(trial, target, program, arguments.seed)
            found.setdefault(trial, {})[target.name] = figures
            _err.print(trial, target.name, json.dumps(figures), soft_wrap=True, highlight=False, markup=False)
            if arguments.out:
                arguments.out.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    for trial, rows in found.items():
        show(trial, rows)


def run(trial: str, target: Target, program: Path, seed: int) -> Figures:
    """Return what one trial found; a server that does not answer is a finding too."""
    began = time.perf_counter()
    try:
        figures = HUB_TRIALS[trial](program, seed) if trial in HUB_TRIALS else TRIALS[trial](target, program, seed)
    except ServerGone as gone:
        figures = {"gone": str(gone)}
    return figures | {"load": machine.load(), "took": round(time.perf_counter() - began, 1)}


def show(trial: str, rows: dict[str, dict[str, Any]]) -> None:
    """Print the figures of one trial, a column a server."""
    table = Table("", *rows, title=trial)
    for name in dict.fromkeys(name for figures in rows.values() for name in figures):
        table.add_row(name, *(str(figures.get(name, "")) for figures in rows.values()))
    Console(file=sys.stdout).print(table)


if __name__ == "__main__":
    main()
