"""The command ``import`` of what other programs wrote; `hybrid_memory_mcp.cli.importing` reads the command line."""

from __future__ import annotations

import gc
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from hybrid_memory.admin.user_files import file_errors
from hybrid_memory.capture.gate import Gate, load_gate
from hybrid_memory.embedding.registry import UNIVERSAL
from hybrid_memory.errors import EmbedderUnavailable, InvalidInput
from hybrid_memory.project_names import OFF
from hybrid_memory.settings import client_settings, store_settings
from hybrid_memory.store.home_files import SPOOLS
from hybrid_memory.store.opening import is_missing
from hybrid_memory_importers import operations
from hybrid_memory_importers.formats import Format, find_format, format_named, format_names
from hybrid_memory_importers.plan import Plan, Wish, make_plan
from hybrid_memory_importers.preview import as_values, say_done, say_plan
from hybrid_memory_importers.selection import Choice, Messages
from hybrid_memory_importers.source import Source, open_source
from hybrid_memory_mcp.cli.importing import Asked, check_can_ask, undo_line
from hybrid_memory_mcp.cli.operation_call import call_or_exit, named_file
from hybrid_memory_mcp.cli.output import confirm, err, note, print_result, progress, say
from hybrid_memory_mcp.clients.places import this_machine

_CLIENTS_OWN = {"claude-code": "{CLAUDE_CONFIG_DIR|~/.claude}/projects", "codex": "{CODEX_HOME|~/.codex}/sessions"}
"""Where a client keeps its transcripts, as `hybrid_memory_mcp.clients.places` reads it; by what is typed instead of a path."""
_EMPTY = "is empty; there is nothing in it that could come in"
_COUNTS = ("new", "there", "known", "secrets", "refused", "longer", "other_namespaces")
_SAMPLES = 6  # shown of what comes in
_NOTHING_BYTES = 4  # as much as an empty list and a line's end take

_ALLOCATIONS = 70_000  # more than were freed, between two looks for cycles


def import_source(asked: Asked) -> None:
    """Show what would come in of another program's file, ask, and store it.

    Raises:
        InvalidInput: it cannot be read, or is in no format that is known.
    """
    path, format_ = asked.path, None if asked.format is None else format_named(asked.format)
    if not path.exists() and str(path) in _CLIENTS_OWN:
        path, format_ = _own_folder(str(path)), format_ or format_named(str(path))
    with named_file(path):
        source = open_source(path)
    check_can_ask(asked)
    with named_file(path):
        _import(asked, source, format_ or _recognised(source))


def _own_folder(name: str) -> Path:
    folder = this_machine().path(_CLIENTS_OWN[name])
    if not folder.is_dir():
        raise InvalidInput(
            "path", f"{name} has no conversations on this machine; name the folder if they are elsewhere"
        )
    return folder


def _recognised(source: Source) -> Format:
    found = find_format(source)
    if found is None and all(file.size <= _NOTHING_BYTES for file in source.files()):
        raise InvalidInput("path", _EMPTY)
    if found is None:
        raise InvalidInput(
            "path", f"is in no format that is recognised; say with --format what it is: {', '.join(format_names())}"
        )
    return found


@contextmanager
def _collecting_seldom() -> Iterator[None]:
    """Look for cycles a hundred times less often: what readers make are trees, and looking through them is a tenth of the work."""
    before = gc.get_threshold()
    gc.set_threshold(_ALLOCATIONS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _import(asked: Asked, source: Source, format_: Format) -> None:
    settings = client_settings(home=asked.home, namespace=asked.namespace)
    messages = Messages.ALL if asked.with_assistant else Messages.PERSON if asked.all_messages else Messages.TOLD
    gate = _gate(settings.folder()) if messages is Messages.TOLD else None
    wish = Wish(namespace=settings.namespace, choice=Choice(messages, gate), told=asked.told)
    with _working_folder(settings.folder()) as folder:
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
                f"stopped: what came in so far can be taken back with {undo_line(asked.home, plan.id)}, or the import done again"
            )
            raise
    values["undo"] = undo_line(asked.home, plan.id)
    values |= {
        "new": done["new"],
        "here_already": done["there"] + done["known"] + done["longer"],
        "stored": done["new"],
    }
    print_result(values, asked.as_json, lambda: say_done(values))


def _gate(home: Path) -> Gate | None:
    """Return what judges which of a person's words are worth keeping; None for a store without the encoder that it needs."""
    if store_settings(home).embedder != UNIVERSAL:
        return None
    from hybrid_memory.embedding.universal import load_encoder

    with suppress(EmbedderUnavailable):
        return load_gate(load_encoder().meanings)
    return None


def _end(asked: Asked, values: dict[str, Any], sentence: str) -> None:
    undo = None if asked.dry_run else _undo_line_of(asked, values)

    def table() -> None:
        say(sentence)
        if undo:
            say(f"it came in before; take it back with: {undo}")

    print_result(values | {"stored": 0, "undo": undo}, asked.as_json, table)


def _undo_line_of(asked: Asked, values: dict[str, Any]) -> str | None:
    """Return the line that takes back an import that was done before, as by a command that was killed at its end; None where it was not."""
    if not values["here_already"]:
        return None
    found = call_or_exit(asked.home, "imports")["imports"]
    return undo_line(asked.home, values["id"]) if any(one["id"] == values["id"] for one in found) else None


def _looked_at(asked: Asked, plan: Plan, folder: Path) -> dict[str, Any]:
    """Ask the store what of a plan is new; without a store all of it is."""
    if is_missing(folder):
        others = _of_other_namespaces(asked, plan)
        counts = dict.fromkeys(_COUNTS, 0) | {"new": plan.chosen - others, "other_namespaces": others}
        projects: Sequence[Any] = ()
        if plan.file is not None and _by_folder(asked):
            projects = operations.projects_without_store(plan.file, plan.namespace)
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


def _of_other_namespaces(asked: Asked, plan: Plan) -> int:
    """Return how many memories of an export will be left out since they are of other namespaces than the one they would go to."""
    counts = plan.exported_namespaces
    target = asked.namespace if asked.vouched else plan.namespace
    return 0 if target is None or target not in counts else counts.total() - counts[target]


def _store(asked: Asked, plan: Plan) -> dict[str, int]:
    total = dict.fromkeys(_COUNTS, 0)
    with progress("remembering") as on_progress:
        for operation, arguments in _parts(asked, plan, "import_records"):
            done = call_or_exit(
                asked.home, operation, arguments, namespace=plan.namespace, may_be_new=True, on_progress=on_progress
            )
            for name in total:
                total[name] += done.get(name, 0)
    return total


def _parts(asked: Asked, plan: Plan, operation: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the operations for the files of a plan, with their arguments."""
    named = {"id": plan.id, "format": plan.format, "by_folder": _by_folder(asked)}
    if plan.exported is not None:
        own = {"file": str(plan.exported), "namespace": asked.namespace, "trusted": asked.vouched}
        yield "import", named | own
    if plan.file is not None:
        yield operation, named | {"file": str(plan.file)}


def _by_folder(asked: Asked) -> bool:
    """Return whether what belongs to a folder goes to the project there."""
    return asked.namespace is None and client_settings().project != OFF


@contextmanager
def _counting(title: str) -> Iterator[Callable[[int], None]]:
    """Show on the terminal's stderr how much of a source was read; how much there is nobody knows before."""
    columns = (SpinnerColumn(), TextColumn(f"reading {title}: {{task.completed:,.0f}}"), TimeElapsedColumn())
    with Progress(*columns, console=err(), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("", total=None)
        yield lambda number: bar.update(task, completed=number)


@contextmanager
def _working_folder(home: Path) -> Iterator[Path]:
    """Give a new folder for the lines of one import, which is gone afterwards; what killed commands left is removed too.

    It lies in the store's folder, or among the machine's temporary files while there is no store, so that looking alone makes none.
    """
    if not home.is_dir():
        with tempfile.TemporaryDirectory(prefix="hybrid-memory-import-") as made:
            yield Path(made)
        return
    spools = home / SPOOLS
    with file_errors():
        spools.mkdir(mode=0o700, exist_ok=True)
        with FileLock(spools / ".lock"):
            _sweep(spools)
            folder = Path(tempfile.mkdtemp(dir=spools))
            held = FileLock(folder / ".lock")
            held.acquire()
    try:
        yield folder
    finally:
        held.release()
        shutil.rmtree(folder, ignore_errors=True)


def _sweep(spools: Path) -> None:
    """Remove the folders of commands that are gone: a command at work holds the lock in its own."""
    for folder in spools.iterdir():
        if folder.is_symlink() or not folder.is_dir():
            continue
        with suppress(Timeout, OSError):
            FileLock(folder / ".lock").acquire(timeout=0).lock.release()
            shutil.rmtree(folder, ignore_errors=True)
