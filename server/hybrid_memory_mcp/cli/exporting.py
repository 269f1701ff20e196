"""The command ``export``."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from hybrid_memory_mcp.cli.operation_call import All, AsJson, Force, Home, Reveal, absolute, call_or_exit
from hybrid_memory_mcp.cli.output import megabytes, note, print_result, progress, say


def export(
    file: Annotated[Path, typer.Argument(help="The file to write: JSON lines. `-` writes them to stdout.")],
    home: Home = None,
    namespace: All = None,
    vectors: Annotated[bool, typer.Option("--vectors", help="With the vectors, about three times as long.")] = False,
    force: Force = False,
    reveal: Reveal = False,
    as_json: AsJson = False,
) -> None:
    """Write everything as text: one JSON object a line, with all fields, forgotten and superseded memories included.

    `import --trusted` of it into an empty store gives the same store, whose export is the same byte by byte. What looks like a secret
    is masked, and so not in that store, unless you say --reveal.
    """
    arguments: dict[str, Any] = {
        "namespaces": None if namespace is None else [namespace],
        "vectors": vectors,
        "force": force,
        "reveal": reveal,
    }
    if str(file) == "-":
        if as_json:
            raise typer.BadParameter("stdout is the export itself; leave --json out, or name a file", param_hint="FILE")
        _export_to_stdout(home, arguments)
        return
    with progress("exporting") as on_progress:
        done = call_or_exit(home, "export", arguments | {"file": absolute(file)}, on_progress=on_progress)

    def table() -> None:
        counts = f"memories: {done['memories']}, namespaces: {len(done['namespaces'])}, {megabytes(done['bytes'])}"
        say(f"{counts}: {file}")
        _note_left_out(done)

    print_result(done, as_json, table)


def _export_to_stdout(home: Path | None, arguments: dict[str, Any]) -> None:
    """Copy an export to stdout when it is whole: whoever has the store open writes files, and a part must not look whole."""
    with tempfile.TemporaryDirectory(prefix="hybrid-memory-export-") as folder:  # for this user's eyes alone
        part = Path(folder) / "export.jsonl"
        with progress("exporting") as on_progress:
            done = call_or_exit(home, "export", arguments | {"file": str(part)}, on_progress=on_progress)
        with part.open("rb") as whole:
            shutil.copyfileobj(whole, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    _note_left_out(done)


def _note_left_out(done: dict[str, Any]) -> None:
    if done["left_out"]:
        note(f"left out, because it cannot be read: {done['left_out']}; run `hybrid-memory-mcp doctor`")
