"""The commands on a whole store: doctor, backup, restore, export, import, purge."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from hybrid_memory.errors import HybridMemoryError
from hybrid_memory_mcp.cli.operation_call import (
    AsJson,
    Home,
    Namespace,
    Reveal,
    call_operation,
    call_or_exit,
)
from hybrid_memory_mcp.cli.output import one_line_errors
from hybrid_memory_mcp.cli.project import other_namespace

if TYPE_CHECKING:
    from hybrid_memory_mcp.admin.operations import ProgressCallback

_LINKS = ("supersedes", "superseded_by", "disputes", "duplicate_of")
_NOT_THERE = ("no such memory", "not in this namespace")  # in what operations on ids say
_MEGABYTE = 1e6  # bytes
_COLOURS = {"error": "red", "warning": "yellow", "note": "dim"}  # by severity

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a file of that name.")]
All = Annotated[str | None, typer.Option("--namespace", help="Only this one. Default: all.")]


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
        _print_findings(console, report["findings"], report["rows"])
        if "embedder" in report:
            console.print(f"embedder: {escape(report['embedder'])}")
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
    """Copy the store into one file, also while clients use it; the copy is read again before it counts.

    Without FILE the newest 10 stay (`keep_backups` in config.toml). Settings are not part of it.
    """
    made = call_or_exit(home, "backup", {"file": _absolute(file), "force": force})
    if _print_json(made, as_json):
        return
    console = _console()
    console.print(f"memories: {made['memories']}, {made['bytes'] / _MEGABYTE:.1f} MB, checked: {escape(made['file'])}")
    if made["removed"]:
        console.print(f"older ones removed: {made['removed']}; `keep_backups` in config.toml says how many stay")


def restore(
    file: Annotated[Path | None, typer.Argument(help="The backup. Default: the newest in the store's folder.")] = None,
    home: Home = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Put a backup in the place of the store, damaged or not; what was there is put aside in `quarantine`.

    The backup is read whole first. Clients may stay: their calls wait.
    """
    if not yes:
        typer.confirm("Everything remembered since that backup leaves the store (and is put aside). Go on?", abort=True)
    done = call_or_exit(home, "restore", {"file": _absolute(file)}, may_be_new=True)
    if _print_json(done, as_json):
        return
    console = _console()
    console.print(f"memories: {done['memories']}, from {escape(done['file'])}")
    if done["aside"]:
        console.print(f"what was there before: {escape(done['aside'])}")
    if done.get("embedder"):
        console.print(f"its vectors are of another model than before: {escape(done['embedder'])}")


def export(
    file: Annotated[Path, typer.Argument(help="The file to write: JSON lines.")],
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
    arguments = {
        "file": _absolute(file),
        "namespaces": None if namespace is None else [namespace],
        "vectors": vectors,
        "force": force,
        "reveal": reveal,
    }
    with _progress("exporting") as on_progress:
        done = call_or_exit(home, "export", arguments, on_progress=on_progress)
    if not _print_json(done, as_json):
        what = (
            f"memories: {done['memories']}, namespaces: {len(done['namespaces'])}, {done['bytes'] / _MEGABYTE:.1f} MB"
        )
        _console().print(f"{what}: {escape(str(file))}")
        if done["left_out"]:
            _console().print(f"left out, because it cannot be read: {done['left_out']}; run `hybrid-memory-mcp doctor`")


def import_(
    file: Annotated[Path, typer.Argument(help="JSON lines: an export, or objects with at least `content`.")],
    home: Home = None,
    namespace: Annotated[
        str | None,
        typer.Option(help="Where the memories go. Of an export with several namespaces, the only one that comes in."),
    ] = None,
    trusted: Annotated[
        bool,
        typer.Option("--trusted", help="The file is my own export: keep origin, trust and all else as they are in it."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Remember what a file holds. It is read whole first; when a line is wrong, nothing happens.

    Without --trusted only words, times and links within the file count, and all goes into one namespace: the memories
    have origin `import` and are untrusted. What is there already is passed over, so an import that was interrupted is
    done again. Lines of another program may have content, created_at, occurred_at, expires_at, tags, metadata, source,
    speaker and session (importance is not believed).
    """
    arguments = {"file": _absolute(file), "namespace": namespace, "trusted": trusted}
    with _progress("importing") as on_progress:
        done = call_or_exit(home, "import", arguments, may_be_new=True, on_progress=on_progress)
    if _print_json(done, as_json):
        return
    console = _console()
    console.print(f"new: {done['new']}, here already: {done['there']}, left out: {done['left_out']}")
    if done.get("secrets"):
        told = f"lines with what looks like a secret: {done['secrets']}"
        console.print(f"{told}; `secrets` in config.toml says what is done about them")
    if done["trusted"] or "namespace" not in done:  # a hub that was started before an upgrade does not tell it
        return
    console.print(f"into the namespace {escape(done['namespace'])}, untrusted")
    if done["other_namespaces"]:
        console.print(f"of other namespaces, left out: {done['other_namespaces']}; name one with --namespace")
    if done["links_dropped"]:
        console.print(f"links to memories that are not new with this file, dropped: {done['links_dropped']}")
    if done["ours"]:
        console.print(
            "if the file is your own, `--trusted` (into a store without them) keeps trust, origin and buffers"
        )


def purge(
    ids: Annotated[list[str] | None, typer.Argument(help="Ids of memories.")] = None,
    *,
    session: Annotated[str | None, typer.Option(help="All of this session, its conversation included.")] = None,
    forgotten: Annotated[bool, typer.Option("--forgotten", help="All that is forgotten.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="All of the namespace, its log included.")] = False,
    keep_derived: Annotated[
        bool,
        typer.Option("--keep-derived", help="Keep insights and summaries made from it; they may repeat its words."),
    ] = False,
    home: Home = None,
    namespace: Namespace = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Erase memories for good: no byte of them stays in the store, its backups, its quarantine and its logs.

    Older versions go along, and insights and summaries made from them. Exports, and backups that you put elsewhere, are
    yours to remove. It cannot be undone; `forget_memories` can.
    """
    arguments: dict[str, Any] = {
        "ids": ids or [],
        "session": session,
        "forgotten": forgotten,
        "everything": everything,
        "derived": not keep_derived,
        "count": None,
        "preview": True,
    }
    if not yes:
        seen = _call_by_ids(home, "purge", arguments, namespace)
        _preview(seen, Console(stderr=True, soft_wrap=True))
        typer.confirm("Erase them for good?", abort=True, err=True)
        arguments["count"] = seen["memories"]
    with _progress("purging") as on_progress:
        done = _call_by_ids(home, "purge", arguments | {"preview": False}, namespace, on_progress=on_progress)
    if _print_json(done, as_json):
        return
    console = _console()
    console.print(f"gone for good: {done['memories']}; other copies rewritten: {done['rewritten']}")
    if done["removed"]:
        console.print(f"files removed because they could not be rewritten: {done['removed']}")
    _print_what_stays(done, console)


def redact(
    ids: Annotated[list[str], typer.Argument(help="Ids of memories.")],
    *,
    words: Annotated[
        bool, typer.Option("--words", help="Ask for the words to take out, where they are not recognised.")
    ] = False,
    home: Home = None,
    namespace: Namespace = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Take keys, passwords and card numbers out of memories for good; the memories stay, with marks in their place.

    The same secrets go out of all other memories and conversations of the namespace, and out of the store's backups, its quarantine and
    its logs. The audit log tells that it was done. Exports, and backups that you put elsewhere, are yours to remove.
    """
    asked = typer.prompt("What is to be taken out", hide_input=True, err=True) if words else None
    arguments: dict[str, Any] = {"ids": ids, "words": asked, "count": None, "preview": True}
    if not yes:
        seen = _call_by_ids(home, "redact", arguments, namespace)
        console = Console(stderr=True, soft_wrap=True)
        console.print(
            f"found: {escape(', '.join(seen['kinds']))}; memories: {seen['memories']} ({seen['named']} named)"
        )
        console.print(f"entries of conversations: {seen['entries']}; also in backups: {seen['backups']}")
        typer.confirm("Take it out for good?", abort=True, err=True)
        arguments["count"] = seen["memories"]
    done = _call_by_ids(home, "redact", arguments | {"preview": False}, namespace)
    if _print_json(done, as_json):
        return
    console = _console()
    console.print(f"taken out of memories: {done['memories']}; other copies rewritten: {done['rewritten']}")
    if done["removed"]:
        console.print(f"files removed because they could not be rewritten: {done['removed']}")


def history(
    memory_id: Annotated[str, typer.Argument(metavar="ID", help="The id of a memory, or of one that was purged.")],
    home: Home = None,
    namespace: Namespace = None,
    reveal: Reveal = False,
    as_json: AsJson = False,
) -> None:
    """Show one memory's life: its versions, what happened to each, when, why and by which client, and how often it was recalled."""
    found = _call_by_ids(home, "history", {"id": memory_id, "reveal": reveal}, namespace, may_look_there=True)
    if _print_json(found, as_json):
        return
    console = _console()
    for one in found["versions"]:
        told = [
            one["kind"],
            one["tier"],
            f"origin {one['origin']}",
            f"trust {one['trust']}",
            f"session {one['session']}",
        ]
        told += [f"said by {one['speaker']}"] if "speaker" in one else []
        told += [f"{name.replace('_', ' ')} {one[name]}" for name in _LINKS if name in one]
        told += [f"evidence {' '.join(one['parents'])}"] if "parents" in one else []
        told.append(
            f"recalled {one['recalls']} times" + (f", last {_moment(one['recalled_at'])}" if one["recalled_at"] else "")
        )
        console.print(f"[bold]{escape(one['id'])}[/bold] {escape(json.dumps(one['content'], ensure_ascii=False))}")
        console.print(f"  {escape('; '.join(told))}")
    if not found["versions"]:
        console.print("purged: nothing is left but what the audit log tells")
    table = Table("when", "memory", "what", "by", "changed", title=f"history of {memory_id}")
    for event in found["events"]:
        row = (_moment(event["at"]), event["id"], event["action"], event["by"], event["note"])
        table.add_row(*map(escape, row))
    console.print(table)


@one_line_errors()
def _call_by_ids(
    home: Path | None,
    operation: str,
    arguments: dict[str, Any],
    namespace: str | None,
    *,
    may_look_there: bool = False,
    on_progress: ProgressCallback | None = None,
) -> dict[str, Any]:
    """Have an operation done on memories that are named; say where else they may lie, or look there where nothing is changed."""
    try:
        return call_operation(home, operation, arguments, namespace=namespace, on_progress=on_progress)
    except HybridMemoryError as error:
        other = other_namespace(home, namespace)
        if other is None or not any(words in str(error) for words in _NOT_THERE):
            raise
        if may_look_there:
            return call_operation(home, operation, arguments, namespace=other)
        raise HybridMemoryError(
            f"{error}; those of the project in this folder go by --namespace {json.dumps(other)}"
        ) from None


def _moment(written: str) -> str:
    return f"{datetime.fromisoformat(written).astimezone():%Y-%m-%d %H:%M:%S}"


def _print_findings(console: Console, findings: list[dict[str, str]], rows: dict[str, int]) -> None:
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


def _preview(seen: dict[str, Any], console: Console) -> None:
    parts = [f"{seen['named']} named", f"{seen['versions']} older versions", f"{seen['derived']} made from them"]
    console.print(f"memories: {seen['memories']} ({', '.join(parts)}); entries of conversations: {seen['entries']}")
    console.print(f"also in backups: {seen['backups']}; files in quarantine: {seen['set_aside']}")
    _print_what_stays(seen, console)


def _print_what_stays(told: dict[str, Any], console: Console) -> None:
    for name, what in (
        ("newer", "newer versions stay"),
        ("same_words", "the same words stay in other memories"),
        ("kept_derived", "what was made from them stays"),
        ("kept_older", "older versions that are more trusted stay, and are current again"),
        ("derived_elsewhere", "what was made from them in other namespaces stays; purge that there"),
    ):
        if told.get(name):  # a hub that was started before an upgrade may not tell it
            console.print(f"{what}: {escape(' '.join(told[name]))}")


@contextmanager
def _progress(what: str) -> Iterator[ProgressCallback]:
    """Give what shows on the terminal how far something is; it is gone afterwards."""
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def _absolute(file: Path | None) -> str | None:
    return None if file is None else str(file.expanduser().absolute())


def _print_json(values: dict[str, Any], as_json: bool) -> bool:
    """Print the values if JSON was asked for; returns whether it was."""
    if as_json:
        _console().print_json(json.dumps(values))
    return as_json


def _console() -> Console:
    return Console(soft_wrap=True)
