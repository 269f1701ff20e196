"""The commands that take something out for good: ``purge`` memories, ``redact`` what is secret in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from hybrid_memory_mcp.cli.by_ids import call_by_ids
from hybrid_memory_mcp.cli.exit_codes import WRONG_USE
from hybrid_memory_mcp.cli.operation_call import AsJson, Home, Namespace, Yes
from hybrid_memory_mcp.cli.output import confirm, fail, note, print_result, progress, say, shown


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
    """Erase memories permanently. No byte of them stays in the store, its backups, its quarantine and its logs.

    Older versions go along, and insights and summaries made from them. Exports, and backups that you put elsewhere, are
    yours to remove. It cannot be undone; `forget` can.
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
    if sum((bool(ids), session is not None, forgotten, everything)) != 1:
        raise typer.BadParameter("name memories, or one of --session, --forgotten and --all", param_hint="IDS")
    if not yes:
        seen = call_by_ids(home, "purge", arguments, namespace)
        _preview(seen)
        _say_synchronised(seen, note)
        confirm("Erase them for good?")
        arguments["count"] = seen["memories"]
    with progress("purging") as on_progress:
        done = call_by_ids(home, "purge", arguments | {"preview": False}, namespace, on_progress=on_progress)

    def table() -> None:
        say(f"gone for good: {done['memories']}; other copies rewritten: {done['rewritten']}")
        _say_removed(done)
        _what_stays(done, say)
        _say_synchronised(done, say)

    print_result(done, as_json, table)


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
    """Erase keys, passwords and card numbers, but keep the memories. Marks take their place.

    The same secrets go out of all other memories and conversations of the namespace, and out of the store's backups, its quarantine and
    its logs. The audit log tells that it was done. Exports, and backups that you put elsewhere, are yours to remove.
    """
    arguments: dict[str, Any] = {"ids": ids, "words": None, "count": None, "preview": True}
    if words:
        call_by_ids(home, "redact", arguments | {"only_ids": True}, namespace)  # before anybody types a secret in vain
        arguments["words"] = _asked_words()
    if not yes:
        seen = call_by_ids(home, "redact", arguments, namespace)
        note(f"found: {', '.join(seen['kinds'])}; memories: {seen['memories']} ({seen['named']} named)")
        note(f"entries of conversations: {seen['entries']}; also in backups: {seen['backups']}")
        _say_synchronised(seen, note)
        confirm("Take it out for good?")
        arguments["count"] = seen["memories"]
    done = call_by_ids(home, "redact", arguments | {"preview": False}, namespace)

    def table() -> None:
        say(f"taken out of memories: {done['memories']}; other copies rewritten: {done['rewritten']}")
        _say_removed(done)
        _say_synchronised(done, say)

    print_result(done, as_json, table)


def _say_synchronised(done: dict[str, Any], tell: Callable[[str], None]) -> None:
    """Say in which folders the words stand until the next synchronisation."""
    for one in done["synchronised"]:
        tell(
            f"the words may still be in {shown(one['folder'])}, through which this store is synchronised, and on the machines there:"
        )
        tell("run sync for it here, then on each machine (there with --backups, to reach its backups too)")


def _asked_words() -> str:
    try:
        return str(typer.prompt("What is to be taken out", hide_input=True, err=True))
    except typer.Abort:
        fail("nobody said what is to be taken out; nothing was changed", code="usage", exit_code=WRONG_USE)


def _preview(seen: dict[str, Any]) -> None:
    parts = [f"{seen['named']} named", f"{seen['versions']} older versions", f"{seen['derived']} made from them"]
    note(f"memories: {seen['memories']} ({', '.join(parts)}); entries of conversations: {seen['entries']}")
    note(f"also in backups: {seen['backups']}; files in quarantine: {seen['set_aside']}")
    _what_stays(seen, note)


def _say_removed(done: dict[str, Any]) -> None:
    if done["removed"]:
        say(f"files removed because they could not be rewritten: {done['removed']}")
    for one in done.get("elsewhere", ()):  # of a store on a server
        say(f"may still hold it: {one}")


def _what_stays(told: dict[str, Any], tell: Callable[[str], None]) -> None:
    for name, what in (
        ("newer", "newer versions stay"),
        ("same_words", "the same words stay in other memories"),
        ("kept_derived", "what was made from them stays"),
        ("kept_older", "older versions that are more trusted stay, and are current again"),
        ("derived_elsewhere", "what was made from them in other namespaces stays; purge that there"),
    ):
        if told.get(name):  # a hub that was started before an upgrade may not tell it
            tell(f"{what}: {' '.join(told[name])}")
