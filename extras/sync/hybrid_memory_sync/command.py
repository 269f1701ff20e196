"""The command ``sync``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from hybrid_memory_mcp.cli.operation_call import All, AsJson, Home, absolute, call_or_exit
from hybrid_memory_mcp.cli.output import fail, print_result, progress, say, shown


def sync(
    folder: Annotated[Path, typer.Argument(help="A folder that Dropbox, Syncthing, git or a stick brings along.")],
    home: Home = None,
    namespace: All = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would be done.")] = False,
    backups: Annotated[
        bool,
        typer.Option("--backups", help="Take what other machines purged or redacted out of this store's backups too."),
    ] = False,
    retire: Annotated[
        str | None, typer.Option(help="Remove the files of a machine that is gone for good, by its name in the folder.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Synchronise machines through a shared folder.

    Each machine writes only files of its own there, so nothing collides; run it on each when you like, in any order. What was said on
    two machines stays: of two corrections the later is current, the other an earlier version. The files hold your memories as plain text.
    """
    if retire is not None and (dry_run or namespace is not None):
        raise typer.BadParameter("stands neither with --dry-run nor with --namespace", param_hint="--retire")
    if not folder.expanduser().exists():
        words = f"folder: {shown(folder)} does not exist; make it first, or see that the disk or the carrier is there"
        fail(words, code="invalid_input")
    arguments = {
        "folder": absolute(folder),
        "namespace": namespace,
        "preview": dry_run,
        "backups": backups,
        "retire": retire,
    }
    with progress("synchronising") as on_progress:
        done = call_or_exit(home, "sync", arguments, may_be_new=not dry_run, on_progress=on_progress)
    print_result(done, as_json, lambda: _print(done))


def _print(done: dict[str, Any]) -> None:
    would = "would be " if done["preview"] else ""
    say(
        f"{would}sent: {done['sent']}, {would}new: {done['new']}, {would}changed: {done['changed']}, {would}purged: {done['purged']}"
    )
    if done["renamed"]:
        say("this store is a copy, or a backup took its place: it writes under a new name from now on")
    _say_set_aside(done)
    if done["cleaned"]:
        say(f"files of this machine that lost purged words: {done['cleaned']}")
    if done["retired"]:
        say(f"files of a machine that is gone, removed: {done['retired']}")
    _say_leftovers(done["leftovers"])
    if done["in_backups"]:
        say(
            f"this store's backups may still hold what others purged or redacted: {done['in_backups']}; --backups takes it out"
        )


def _say_set_aside(done: dict[str, Any]) -> None:
    """Say what was not read, and name the files that hold it."""
    if done["torn"]:
        say(f"files that are not whole yet: {done['torn']}; run it again when the folder has arrived")
        say("one that stays so is damaged: delete it, and its machine writes it again")
    if done["newer"]:
        say(f"files of a later version, passed over: {done['newer']}; upgrade this machine to read them")
    if done["ahead"]:
        say(
            f"files of a time that lies a century ahead, passed over: {done['ahead']}; nobody's clock says so: delete them"
        )
    for name in done["passed_over"]:
        say(f"  {name}")
    if done["refused"]:
        say(f"lines that no version writes, set aside: {done['refused']}; the rest of these files was read:")
    for name in done.get("refused_in", ()):
        say(f"  {name}")


def _say_leftovers(leftovers: list[dict[str, str]]) -> None:
    """Say where words that were purged or redacted still stand in the folder, and what takes them away."""
    machines = sorted({one["machine"] for one in leftovers if one["machine"]})
    for machine in machines:
        theirs = [one["written_at"] for one in leftovers if one["machine"] == machine]
        say(f"files of {machine} that still hold purged words: {len(theirs)}, last written {max(theirs)[:10]}")
    if machines:
        say("they go when that machine synchronises; if it is gone for good, --retire NAME removes its files")
    for one in leftovers:
        if not one["machine"]:
            say(f"a copy that still holds purged words, yours to delete: {one['file']}")
