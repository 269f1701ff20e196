"""``doctor``: examines a store and repairs it."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from hybrid_memory_mcp.cli.operation_call import AsJson, Home, call_or_exit

_COLOURS = {"error": "red", "warning": "yellow", "note": "dim"}


def doctor(
    home: Home = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Keep a damaged store aside and save what can be read of it.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Read every row of a store and compare what must agree. Exit code 1 when something is wrong."""
    console = Console()
    report = call_or_exit(home, "repair" if repair else "doctor")
    if as_json:
        console.print_json(json.dumps(report))
    else:
        _print(console, report["findings"], report["rows"])
    if not report["sound"]:
        raise typer.Exit(1)


def _print(console: Console, findings: list[dict[str, str]], rows: dict[str, int]) -> None:
    if findings:
        table = Table("how bad", "what", "what to do", title="hybrid-memory-mcp doctor")
        for finding in findings:
            colour = _COLOURS[finding["severity"]]
            words = (finding["severity"], finding["what"], finding["remedy"])
            table.add_row(*(f"[{colour}]{escape(word)}[/{colour}]" if word else "" for word in words))
        console.print(table)
    else:
        console.print("nothing is wrong")
    read = ", ".join(f"{count} of {name}" for name, count in rows.items() if count)
    if read:
        console.print(f"read whole: {read}")
