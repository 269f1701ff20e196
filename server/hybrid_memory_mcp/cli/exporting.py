"""The command ``export``."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from hybrid_memory.extras import check_extra
from hybrid_memory_mcp.cli.operation_call import All, AsJson, Home, Reveal, absolute, call_or_exit
from hybrid_memory_mcp.cli.output import megabytes, note, one_line_errors, print_result, progress, say


def export(
    file: Annotated[
        Path | None,
        typer.Argument(help="The file to write: JSON lines. `-` writes them to stdout.", show_default=False),
    ] = None,
    *,
    markdown: Annotated[
        Path | None,
        typer.Option(
            "--markdown", metavar="FOLDER", help="Write Markdown instead: a file for each memory in this folder."
        ),
    ] = None,
    okf: Annotated[
        Path | None,
        typer.Option(
            "--okf", metavar="FOLDER", help="Write a bundle of the Open Knowledge Format into this folder instead."
        ),
    ] = None,
    home: Home = None,
    namespace: All = None,
    vectors: Annotated[bool, typer.Option("--vectors", help="With the vectors, about three times as long.")] = False,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Replace a file of that name, and exported files of a folder that were edited since."
        ),
    ] = False,
    reveal: Reveal = False,
    as_json: AsJson = False,
) -> None:
    """Write everything as text. One JSON object a line, with all fields, forgotten and superseded memories included.

    `import --trusted` of it into an empty store gives the same store, whose export is the same byte by byte. What looks like a secret
    is masked, and so not in that store, unless you say --reveal.

    A folder of Markdown is brought up to date when it is named again: files of memories that are gone go, and files that you edited are
    replaced with --force alone. Files of others are never touched. `import FOLDER` takes it back.
    """
    _check_places(file, markdown, okf, vectors=vectors)
    arguments: dict[str, Any] = {
        "namespaces": None if namespace is None else [namespace],
        "vectors": vectors,
        "force": force,
        "reveal": reveal,
    }
    if file is None:
        _export_folder(home, markdown or okf, arguments | {"layout": "okf" if okf else "markdown"}, as_json=as_json)
        return
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


def _check_places(file: Path | None, markdown: Path | None, okf: Path | None, *, vectors: bool) -> None:
    if sum(place is not None for place in (file, markdown, okf)) != 1:
        raise typer.BadParameter("name one of FILE, --markdown FOLDER and --okf FOLDER", param_hint="FILE")
    if file is None and vectors:
        raise typer.BadParameter("is for JSON lines; files that people read have no vectors", param_hint="--vectors")


@one_line_errors()
def _export_folder(home: Path | None, folder: Path | None, arguments: dict[str, Any], *, as_json: bool) -> None:
    check_extra("hybrid_memory_mcp.operations", "export_folder")
    given = arguments | {"folder": absolute(folder)}
    with progress("exporting") as on_progress:
        done = call_or_exit(home, "export_folder", given, on_progress=on_progress)

    def table() -> None:
        counts = f"memories: {done['memories']}, namespaces: {len(done['namespaces'])}"
        say(f"{counts}, files written: {done['written']}, removed: {done['removed']}: {folder}")
        if done["left_alone"]:
            note(f"not written, because a file of somebody else stands there: {done['left_alone']}")
        _note_left_out(done)

    print_result(done | {"folder": given["folder"]}, as_json, table)


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
