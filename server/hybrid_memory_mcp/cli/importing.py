"""The command ``import``: what people told other assistants and wrote down elsewhere is looked at, brought along, and taken back."""

from __future__ import annotations

import json
import os
import shlex
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from hybrid_memory.extras import load_extra, names_of_extras
from hybrid_memory_mcp.cli.exit_codes import WRONG_USE
from hybrid_memory_mcp.cli.operation_call import AsJson, Home, Yes, absolute, call_or_exit, named_file
from hybrid_memory_mcp.cli.output import (
    can_ask,
    confirm,
    fail,
    moment,
    note,
    one_line_errors,
    print_result,
    print_rows,
    progress,
    say,
)

_LAST = "last"  # instead of an id
_LONGEST_LINE = 1 << 26  # bytes that are read of a line to see what it is


def _formats(incomplete: str) -> list[str]:
    """Complete the name of a format."""
    return [name for name in names_of_extras("hybrid_memory.import_formats") if name.startswith(incomplete)]


@dataclass(frozen=True)
class Asked:
    """What was typed."""

    path: Path
    home: Path | None
    namespace: str | None
    format: str | None
    all_messages: bool
    with_assistant: bool
    told: bool | None
    trusted: bool
    yes: bool
    dry_run: bool
    as_json: bool

    @property
    def vouched(self) -> bool:
        """Whether an export of this program is the person's own, so that all of it counts."""
        return self.trusted or self.told is True


Undo = Annotated[
    str | None, typer.Option("--undo", metavar="ID", help="Take an import back, by its ID; `last`: the newest.")
]


def import_(
    path: Annotated[
        Path | None,
        typer.Argument(
            help="A file, a folder or a zip archive, as the other program exported it. `claude-code` and `codex` alone mean what "
            "those have on this machine."
        ),
    ] = None,
    home: Home = None,
    namespace: Annotated[
        str | None,
        typer.Option(
            help="Where the memories go: `default` is known in every project, `project:NAME` in one. Of an export with several "
            "namespaces, the only one that comes in."
        ),
    ] = None,
    *,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            autocompletion=_formats,
            help="What the source is, where it is not recognised: chatgpt, claude, gemini, claude-code, codex, letta, mem0, zep, "
            "memory-server, okf or markdown.",
        ),
    ] = None,
    all_messages: Annotated[
        bool, typer.Option("--all-messages", help="Every message of mine, also questions, orders and pasted texts.")
    ] = False,
    with_assistant: Annotated[
        bool, typer.Option("--with-assistant", help="The assistant's messages too, untrusted.")
    ] = False,
    mine: Annotated[bool, typer.Option("--mine", help="I wrote this (Markdown, OKF): take it as mine.")] = False,
    untrusted: Annotated[
        bool, typer.Option("--untrusted", help="Somebody else wrote this: it stands behind what is mine.")
    ] = False,
    trusted: Annotated[
        bool,
        typer.Option("--trusted", help="An export of this program, my own: keep origin, trust and all else as in it."),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would come in.")] = False,
    yes: Yes = False,
    undo: Undo = None,
    listed: Annotated[bool, typer.Option("--list", help="Show the imports, with their IDs.")] = False,
    as_json: AsJson = False,
) -> None:
    """Import what you told other assistants and wrote down elsewhere.

    Exports of ChatGPT, Claude and Gemini, transcripts of Claude Code and Codex, the memories of the official memory server, mem0, Letta and
    Zep, Markdown folders and OKF, exports of this program, and JSON lines with `content`. First it shows what would come in, and asks. Of
    conversations it takes what you told, not what you asked for. What is here already is passed over, so an import can be repeated. The
    last line says how to take it back.
    """
    ways = (path is not None, undo is not None, listed)
    if sum(ways) != 1:
        raise typer.BadParameter("name what to import, or one of --undo and --list", param_hint="PATH")
    if mine and untrusted:
        raise typer.BadParameter("it is one or the other", param_hint="--mine, --untrusted")
    if undo is not None:
        _undo(home, undo, as_json)
    elif listed:
        _list(home, as_json)
    elif path is not None:
        told = True if mine or trusted else False if untrusted else None
        _import(
            Asked(path, home, namespace, format_, all_messages, with_assistant, told, trusted, yes, dry_run, as_json)
        )


@one_line_errors()
def _import(asked: Asked) -> None:
    """Import lines of our own form here; what other programs wrote is read by the part that knows their formats."""
    from hybrid_memory.settings import limit_threads

    limit_threads()
    if asked.format is None and _is_lines(asked.path):
        check_can_ask(asked)
        with named_file(asked.path):
            _import_lines(asked)
    else:
        load_extra("hybrid_memory_mcp.command_parts", "import")(asked)


def check_can_ask(asked: Asked) -> None:
    """Fail where somebody has to be asked and nobody can."""
    if not (asked.yes or asked.dry_run or can_ask()):
        fail(
            "nobody can be asked here: --yes imports without a question, --dry-run only shows what would come in",
            code="usage",
            exit_code=WRONG_USE,
        )


def _is_lines(path: Path) -> bool:
    """Return whether a file is an export of this program, or JSON lines that have what such a line has and nothing else."""
    from hybrid_memory.admin.jsonl import ForeignLine, is_header
    from hybrid_memory.private_files import NotPlainFileError, open_plain_file

    try:
        with open_plain_file(path.expanduser()) as stream:
            first = stream.readline(_LONGEST_LINE)
            if is_header(first):
                return True
            stream.seek(0)
            line = next((one for one in iter(lambda: stream.readline(_LONGEST_LINE), b"") if one.strip()), b"")
        value = json.loads(line.decode("utf-8-sig", "replace"))
    except (OSError, ValueError, RecursionError, NotPlainFileError):
        return False
    return isinstance(value, dict) and "content" in value and set(value) <= set(ForeignLine.model_fields)


def _import_lines(asked: Asked) -> None:
    """Import lines of our own form; what would come in is shown and asked as of any other source."""
    arguments = {
        "file": absolute(asked.path),
        "namespace": asked.namespace,
        "trusted": asked.trusted,
    }
    if asked.dry_run or not asked.yes:
        seen = _lines_looked_at(asked, arguments)
        if not asked.as_json:
            _say_lines(seen)
        if asked.dry_run:
            print_result(seen | {"undo": None}, asked.as_json, lambda: say("nothing was stored"))
            return
        if seen["new"]:
            confirm("Remember it?" if seen["new"] == 1 else f"Remember these {seen['new']:,}?", default=True)
    with progress("importing") as on_progress:
        done = call_or_exit(asked.home, "import", arguments, may_be_new=True, on_progress=on_progress)
    done["undo"] = undo_line(asked.home, done["id"]) if "id" in done and done["new"] else None

    def table() -> None:
        if asked.yes:
            _say_lines(done)
        else:
            say(f"remembered: {done['new']:,}")
        if done["undo"]:
            say(f"take it back with: {done['undo']}")

    print_result(done, asked.as_json, table)


def _lines_looked_at(asked: Asked, arguments: dict[str, Any]) -> dict[str, Any]:
    """Ask the store what lines come to; without a store one that is gone afterwards, so that looking alone makes none."""
    from hybrid_memory.settings import client_settings
    from hybrid_memory.store.opening import is_missing

    home = client_settings(home=asked.home).folder()
    with ExitStack() as stack:
        if is_missing(home):
            home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hybrid-memory-import-")))
        with progress("reading") as on_progress:
            return call_or_exit(
                home, "import", arguments | {"only_check": True}, may_be_new=True, on_progress=on_progress
            )


def _say_lines(done: dict[str, Any]) -> None:
    say(f"new: {done['new']}, here already: {done['there']}, left out: {done['left_out']}")
    if done.get("secrets"):
        told = f"lines with what looks like a secret: {done['secrets']}"
        say(f"{told}; `secrets` in config.toml says what is done about them")
    if done["trusted"] or "namespace" not in done:  # a hub that was started before an upgrade does not tell it
        return
    say(f"into the namespace {done['namespace']}, untrusted")
    if done["other_namespaces"]:
        say(f"of other namespaces, left out: {done['other_namespaces']}; name one with --namespace")
    if done["links_dropped"]:
        say(f"links to memories that are not new with this file, dropped: {done['links_dropped']}")
    if done["ours"]:
        say("if the file is your own, `--trusted` (into a store without them) keeps trust, origin and buffers")


def _undo(home: Path | None, import_id: str, as_json: bool) -> None:
    if import_id == _LAST:
        imports = call_or_exit(home, "imports")["imports"]
        if not imports:
            fail("nothing was imported, or all of it was undone", code="not_found")
        import_id = imports[-1]["id"]
    done = call_or_exit(home, "import_undo", {"id": import_id})

    def table() -> None:
        many = "1 memory is" if done["memories"] == 1 else f"{done['memories']:,} memories are"
        say(f"undone: {many} no longer here (import {done['id']}, {done['format']})")
        if done["resting_on"]:
            say("what was concluded from them stays; `forget` takes it away:")
            for one in done["resting_on"]:
                say(f"  {one['id']} (namespace {one['namespace']})")
        if done.get("later"):
            say("what a later import found here already is gone too; do that one again, and it comes in:")
            for one in done["later"]:
                say(f"  {one}")

    print_result(done, as_json, table)


def _list(home: Path | None, as_json: bool) -> None:
    found = call_or_exit(home, "imports")["imports"][::-1]  # the newest first, as in `list`

    def table() -> None:
        if not found:
            note("nothing was imported, or all of it was undone")
            return
        columns = ("id", "when", "what", "memories", "from", "to", "namespace")
        print_rows(columns, [_row(one) for one in found], title="imports")

    print_result(found, as_json, table)


def _row(one: dict[str, Any]) -> tuple[object, ...]:
    days = (moment(one["first"])[:10], moment(one["last"])[:10])
    return one["id"], moment(one["at"]), one["format"], one["memories"], *days, ", ".join(one["namespaces"])


def undo_line(home: Path | None, import_id: str) -> str:
    """Return the command line that takes an import back."""
    place = "" if home is None else f" --home {_quoted(str(home))}"
    return f"hybrid-memory-mcp import --undo {import_id}{place}"


def _quoted(text: str) -> str:
    return f'"{text}"' if os.name == "nt" else shlex.quote(text)
