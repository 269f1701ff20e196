"""The command ``import``: what people told other assistants and wrote down elsewhere is looked at, brought along, and taken back."""

from __future__ import annotations

import gc
import os
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hybrid_memory_mcp.cli.exit_codes import WRONG_USE
from hybrid_memory_mcp.cli.import_preview import as_values, say_done, say_plan
from hybrid_memory_mcp.cli.operation_call import AsJson, Home, Yes, absolute, call_or_exit, named_file
from hybrid_memory_mcp.cli.output import (
    can_ask,
    confirm,
    err,
    fail,
    moment,
    note,
    one_line_errors,
    print_result,
    print_rows,
    progress,
    say,
)

if TYPE_CHECKING:
    from hybrid_memory.admin.import_plan import Plan
    from hybrid_memory.capture.gate import Gate
    from hybrid_memory.importing.formats import Format
    from hybrid_memory.importing.source import Source

_CLIENTS_OWN = {"claude-code": "{CLAUDE_CONFIG_DIR|~/.claude}/projects", "codex": "{CODEX_HOME|~/.codex}/sessions"}
"""Where a client keeps its transcripts, as `hybrid_memory_mcp.clients.places` reads it; by what is typed instead of a path."""
_LAST = "last"  # instead of an id
_EMPTY = "is empty; there is nothing in it that could come in"
_COUNTS = ("new", "there", "known", "secrets", "refused", "longer", "other_namespaces")
_SAMPLES = 6  # shown of what comes in
_NOTHING_BYTES = 4  # as much as an empty list and a line's end take

_ALLOCATIONS = 70_000  # more than were freed, between two looks for cycles


def _formats(incomplete: str) -> list[str]:
    """Complete the name of a format."""
    from hybrid_memory.importing.formats import format_names

    return [name for name in format_names() if name.startswith(incomplete)]


@dataclass(frozen=True)
class _Asked:
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
    undo: Annotated[
        str | None, typer.Option("--undo", metavar="ID", help="Take an import back, by its ID; `last`: the newest.")
    ] = None,
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
            _Asked(path, home, namespace, format_, all_messages, with_assistant, told, trusted, yes, dry_run, as_json)
        )


@one_line_errors()
def _import(asked: _Asked) -> None:
    from hybrid_memory.importing.formats import format_named
    from hybrid_memory.importing.source import open_source
    from hybrid_memory.settings import limit_threads

    limit_threads()
    path, format_ = asked.path, None if asked.format is None else format_named(asked.format)
    if not path.exists() and str(path) in _CLIENTS_OWN:
        path, format_ = _own_folder(str(path)), format_ or format_named(str(path))
    with named_file(path):
        source = open_source(path)
    if not (asked.yes or asked.dry_run or can_ask()):
        fail(
            "nobody can be asked here: --yes imports without a question, --dry-run only shows what would come in",
            code="usage",
            exit_code=WRONG_USE,
        )
    with named_file(path):
        if format_ is None and _is_lines(source):
            _import_lines(asked, path)
        else:
            _import_source(asked, source, format_ or _recognised(source))


def _own_folder(name: str) -> Path:
    from hybrid_memory.errors import InvalidInput
    from hybrid_memory_mcp.clients.places import this_machine

    folder = this_machine().path(_CLIENTS_OWN[name])
    if not folder.is_dir():
        raise InvalidInput(
            "path", f"{name} has no conversations on this machine; name the folder if they are elsewhere"
        )
    return folder


def _recognised(source: Source) -> Format:
    from hybrid_memory.errors import InvalidInput
    from hybrid_memory.importing.formats import find_format, format_names

    found = find_format(source)
    if found is None and all(file.size <= _NOTHING_BYTES for file in source.files()):
        raise InvalidInput("path", _EMPTY)
    if found is None:
        raise InvalidInput(
            "path", f"is in no format that is recognised; say with --format what it is: {', '.join(format_names())}"
        )
    return found


def _is_lines(source: Source) -> bool:
    """Return whether a source is an export of this program, or JSON lines that have what such a line has and nothing else."""
    from hybrid_memory.admin.jsonl import ForeignLine, is_header
    from hybrid_memory.importing.source import json_lines

    if source.is_folder or source.is_archive:
        return False
    (file,) = source.files()
    with file.open() as stream:
        first = stream.readline(1 << 20)
    if is_header(first):
        return True
    with file.open() as stream:
        _, value = next(json_lines(stream), (0, None))
    return isinstance(value, dict) and "content" in value and set(value) <= set(ForeignLine.model_fields)


def _import_lines(asked: _Asked, path: Path) -> None:
    """Import lines of our own form; what would come in is shown and asked as of any other source."""
    arguments = {
        "file": absolute(path),
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
    done["undo"] = _undo_line(asked.home, done["id"]) if "id" in done and done["new"] else None

    def table() -> None:
        if asked.yes:
            _say_lines(done)
        else:
            say(f"remembered: {done['new']:,}")
        if done["undo"]:
            say(f"take it back with: {done['undo']}")

    print_result(done, asked.as_json, table)


def _lines_looked_at(asked: _Asked, arguments: dict[str, Any]) -> dict[str, Any]:
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


@contextmanager
def _collecting_seldom() -> Iterator[None]:
    """Look for cycles a hundred times less often: what readers make are trees, and looking through them is a tenth of the work."""
    before = gc.get_threshold()
    gc.set_threshold(_ALLOCATIONS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _import_source(asked: _Asked, source: Source, format_: Format) -> None:
    from hybrid_memory.admin.import_plan import Wish, make_plan
    from hybrid_memory.errors import InvalidInput
    from hybrid_memory.importing.selection import Choice, Messages
    from hybrid_memory.settings import client_settings
    from hybrid_memory_mcp.cli.import_folder import working_folder

    settings = client_settings(home=asked.home, namespace=asked.namespace)
    messages = Messages.ALL if asked.with_assistant else Messages.PERSON if asked.all_messages else Messages.TOLD
    gate = _gate(settings.folder()) if messages is Messages.TOLD else None
    wish = Wish(namespace=settings.namespace, choice=Choice(messages, gate), told=asked.told)
    with working_folder(settings.folder()) as folder:
        with _counting(format_.TITLE) as on_read, _collecting_seldom():
            plan = make_plan(source, format_, wish, folder, on_read=on_read)
        found = plan.messages or plan.memories
        if not (found or plan.left_out) and format_.recognises(source):
            raise InvalidInput("path", _EMPTY)
        if not (found or format_.recognises(source)):
            raise InvalidInput(
                "format", f"nothing in it is of the form {format_.NAME}; leave --format out, or name another"
            )
        seen = _looked_at(asked, plan, settings.folder())
        values = as_values(plan, seen, as_exported=plan.exported is not None and asked.vouched)
        if not asked.as_json:
            say_plan(values)
        if asked.dry_run or not seen["new"]:
            _end(
                asked,
                values,
                "nothing was stored" if asked.dry_run else "there is nothing new in it; nothing was stored",
            )
            return
        if not asked.yes:
            confirm("Remember it?" if seen["new"] == 1 else f"Remember these {seen['new']:,}?", default=True)
        try:
            done = _store(asked, plan)
        except KeyboardInterrupt:
            note(
                f"stopped: what came in so far can be taken back with {_undo_line(asked.home, plan.id)}, or the import done again"
            )
            raise
    values["undo"] = _undo_line(asked.home, plan.id)
    values |= {
        "new": done["new"],
        "here_already": done["there"] + done["known"] + done["longer"],
        "stored": done["new"],
    }
    print_result(values, asked.as_json, lambda: say_done(values))


def _gate(home: Path) -> Gate | None:
    """Return what judges which of a person's words are worth keeping; None for a store without the encoder that it needs."""
    from hybrid_memory.capture.gate import load_gate
    from hybrid_memory.embedding.registry import UNIVERSAL
    from hybrid_memory.errors import EmbedderUnavailable
    from hybrid_memory.settings import store_settings

    if store_settings(home).embedder != UNIVERSAL:
        return None
    from hybrid_memory.embedding.universal import load_encoder

    with suppress(EmbedderUnavailable):
        return load_gate(load_encoder().meanings)
    return None


def _end(asked: _Asked, values: dict[str, Any], sentence: str) -> None:
    undo = None if asked.dry_run else _undo_line_of(asked, values)

    def table() -> None:
        say(sentence)
        if undo:
            say(f"it came in before; take it back with: {undo}")

    print_result(values | {"stored": 0, "undo": undo}, asked.as_json, table)


def _undo_line_of(asked: _Asked, values: dict[str, Any]) -> str | None:
    """Return the line that takes back an import that was done before, as by a command that was killed at its end; None where it was not."""
    if not values["here_already"]:
        return None
    found = call_or_exit(asked.home, "imports")["imports"]
    return _undo_line(asked.home, values["id"]) if any(one["id"] == values["id"] for one in found) else None


def _looked_at(asked: _Asked, plan: Plan, folder: Path) -> dict[str, Any]:
    """Ask the store what of a plan is new; without a store all of it is."""
    from hybrid_memory.store.opening import is_missing

    if is_missing(folder):
        others = _of_other_namespaces(asked, plan)
        counts = dict.fromkeys(_COUNTS, 0) | {"new": plan.chosen - others, "other_namespaces": others}
        projects: Sequence[Any] = ()
        if plan.file is not None and _by_folder(asked):
            from hybrid_memory_mcp.admin.import_operations import projects_without_store

            projects = projects_without_store(plan.file, plan.namespace)
        return counts | {"projects": projects, "samples": None}
    total: dict[str, Any] = dict.fromkeys(_COUNTS, 0)
    samples: list[Any] = []
    projects = []
    for operation, arguments in _parts(asked, plan, "import_preview"):
        seen = call_or_exit(asked.home, operation, arguments | {"only_check": True}, namespace=plan.namespace)
        for name in total:
            total[name] += seen.get(name, 0)
        samples += seen.get("samples", ())
        projects += seen.get("projects", ())
    return total | {"projects": projects, "samples": samples[:_SAMPLES]}


def _of_other_namespaces(asked: _Asked, plan: Plan) -> int:
    """Return how many memories of an export will be left out since they are of other namespaces than the one they would go to."""
    counts = plan.exported_namespaces
    target = asked.namespace if asked.vouched else plan.namespace
    return 0 if target is None or target not in counts else counts.total() - counts[target]


def _store(asked: _Asked, plan: Plan) -> dict[str, int]:
    total = dict.fromkeys(_COUNTS, 0)
    with progress("remembering") as on_progress:
        for operation, arguments in _parts(asked, plan, "import_records"):
            done = call_or_exit(
                asked.home, operation, arguments, namespace=plan.namespace, may_be_new=True, on_progress=on_progress
            )
            for name in total:
                total[name] += done.get(name, 0)
    return total


def _parts(asked: _Asked, plan: Plan, operation: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the operations for the files of a plan, with their arguments."""
    named = {"id": plan.id, "format": plan.format, "by_folder": _by_folder(asked)}
    if plan.exported is not None:
        own = {"file": str(plan.exported), "namespace": asked.namespace, "trusted": asked.vouched}
        yield "import", named | own
    if plan.file is not None:
        yield operation, named | {"file": str(plan.file)}


def _by_folder(asked: _Asked) -> bool:
    """Return whether what belongs to a folder goes to the project there."""
    from hybrid_memory.project_names import OFF
    from hybrid_memory.settings import client_settings

    return asked.namespace is None and client_settings().project != OFF


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


def _undo_line(home: Path | None, import_id: str) -> str:
    place = "" if home is None else f" --home {_quoted(str(home))}"
    return f"hybrid-memory-mcp import --undo {import_id}{place}"


def _quoted(text: str) -> str:
    return f'"{text}"' if os.name == "nt" else shlex.quote(text)


@contextmanager
def _counting(title: str) -> Iterator[Callable[[int], None]]:
    """Show on the terminal's stderr how much of a source was read; how much there is nobody knows before."""
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn(f"reading {title}: {{task.completed:,.0f}}"), TimeElapsedColumn())
    with Progress(*columns, console=err(), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("", total=None)
        yield lambda number: bar.update(task, completed=number)
