"""The commands that look after a store: ``doctor``, ``backup``, ``restore``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hybrid_memory_mcp.cli.operation_call import AsJson, Force, Home, Yes, absolute, call_or_exit
from hybrid_memory_mcp.cli.output import cell, confirm, megabytes, moment, note, print_result, print_rows, say, shown

_COLOURS = {"error": "red", "warning": "yellow", "note": "dim"}  # by severity


def doctor(
    home: Home = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Keep a damaged store aside and save what can be read of it.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check the store, or repair it. Every row is read, and what must agree is compared. Exit code 1 when something is wrong."""
    report = call_or_exit(home, "repair" if repair else "doctor")
    print_result(report, as_json, lambda: _print_findings(report))
    if not report["sound"]:
        raise typer.Exit(1)


def backup(
    file: Annotated[
        Path | None, typer.Argument(help="Where to put it. Default: `backups` in the store's folder.")
    ] = None,
    home: Home = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Copy the store into one checked file. Clients may use the store meanwhile; the copy is read again before it counts.

    Without FILE the newest 10 stay (`keep_backups` in config.toml). Settings are not part of it.
    """
    made = call_or_exit(home, "backup", {"file": absolute(file), "force": force})

    def table() -> None:
        say(f"memories: {made['memories']}, {megabytes(made['bytes'])}, checked: {made['file']}")
        if made["removed"]:
            say(f"older ones removed: {made['removed']}; `keep_backups` in config.toml says how many stay")

    print_result(made, as_json, table)


def restore(
    file: Annotated[Path | None, typer.Argument(help="The backup. Default: the newest in the store's folder.")] = None,
    home: Home = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Replace the store with a backup. The store may be damaged; what was there is put aside in `quarantine`.

    The backup is read whole first. Clients may stay: their calls wait.
    """
    arguments: dict[str, Any] = {"file": absolute(file), "preview": True}
    if not yes:
        seen = call_or_exit(home, "restore", arguments, may_be_new=True)
        note(f"the backup can be used: memories: {seen['memories']}, from {seen['file']}")
        confirm("Everything remembered since that backup leaves the store (and is put aside). Go on?")
        arguments["file"] = seen["file"]
    done = call_or_exit(home, "restore", arguments | {"preview": False}, may_be_new=True)

    def table() -> None:
        say(f"memories: {done['memories']}, from {done['file']}")
        if done["aside"]:
            say(f"what was there before, with all that was written until now: {done['aside']}")
        if done.get("embedder"):
            say(f"its vectors are of another model than before: {done['embedder']}")

    print_result(done, as_json, table)


def _print_findings(report: dict[str, Any]) -> None:
    findings = [(one["severity"], one["what"], one["remedy"]) for one in report["findings"]]
    rows = [[cell(word, _COLOURS[finding[0]], lines=True) for word in finding] for finding in findings]
    if rows:
        print_rows(("how bad", "what", "what to do"), rows, title="hybrid-memory-mcp doctor")
    else:
        say("nothing is wrong")
    read = ", ".join(f"{count} of {name}" for name, count in report["rows"].items() if count)
    if read:
        note(f"read whole: {read}")
    if "embedder" in report:
        note(f"embedder: {report['embedder']}")
    for one in report.get("synchronised", ()):
        note(
            f"synchronised through {shown(one['folder'])}, last news {moment(one['last']) if one['last'] else 'unknown'}"
        )
