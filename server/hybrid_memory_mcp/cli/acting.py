"""The commands that put memories right: correct, merge, split, undo."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from hybrid_memory.model import Verdict
from hybrid_memory.requests import UNDO
from hybrid_memory_mcp.cli.arguments import ids_of, moment_of, text_of
from hybrid_memory_mcp.cli.memories import Ids, Namespace, OneId, call_here
from hybrid_memory_mcp.cli.memory_text import print_memories
from hybrid_memory_mcp.cli.operation_call import AsJson, Home, Reveal
from hybrid_memory_mcp.cli.output import moment, note, print_json, print_rows
from hybrid_memory_mcp.cli.told import note_secrets, place_again

_KEPT = 500  # acts that can be undone, at most
_NOT_YOURS = (UNDO, "settle", "reflect")  # what was undone, and what a model of your own judged, is named to be undone
_LISTED = 60  # characters of a memory in their list


def correct(
    memory_id: OneId,
    text: Annotated[
        list[str] | None, typer.Argument(metavar="TEXT", help="What is right; - reads it from stdin.")
    ] = None,
    *,
    is_true: Annotated[
        bool, typer.Option("--true", help="It is true: from now on only your word replaces it.")
    ] = False,
    is_untrue: Annotated[bool, typer.Option("--untrue", help="It is not true, and is found no more.")] = False,
    has_ended: Annotated[bool, typer.Option("--ended", help="It was true once.")] = False,
    until: Annotated[
        str | None, typer.Option(help="When it ended: a date, or words such as last Friday. Default: now.")
    ] = None,
    home: Home = None,
    namespace: Namespace = None,
    as_json: AsJson = False,
) -> None:
    """Give a memory new words, or say that it is true, untrue or over.

    The former version is kept: `list --superseded` and `show --history` show it. With --true, --untrue or --ended
    give ids alone, several if you like. `undo` takes either back.
    """
    said = {Verdict.TRUE: is_true, Verdict.UNTRUE: is_untrue, Verdict.ENDED: has_ended}
    chosen = [verdict for verdict, is_said in said.items() if is_said]
    if len(chosen) > 1:
        raise typer.BadParameter("choose one of --true, --untrue and --ended")
    if until is not None and not has_ended:
        raise typer.BadParameter("goes with --ended", param_hint="--until")
    if chosen:
        given = {
            "ids": ids_of([memory_id, *(text or ())]),
            "verdict": chosen[0].value,
            "until": moment_of("--until", until, "moment"),
        }
        _tell(_act(home, namespace, "judge", given), as_json, home, namespace)
        return
    if not text:
        raise typer.BadParameter("say what is right, or give --true, --untrue or --ended", param_hint="TEXT")
    done = call_here(home, "correct", {"id": memory_id, "content": text_of(text)}, namespace)
    if as_json:
        print_json(done)
        return
    if not done["changed"]:
        note("nothing to change, it says that already:")
    else:
        note(f"corrected; {done['before']['id']} is kept as the former version:")
    print_memories([done["memory"]])
    note_secrets(done, place_again(home, namespace))


def merge(
    ids: Ids,
    *,
    text: Annotated[str, typer.Option("--text", metavar="TEXT", help="What they say together; - reads it from stdin.")],
    home: Home = None,
    namespace: Namespace = None,
    as_json: AsJson = False,
) -> None:
    """Combine several memories into one, in your words. They are kept as its older versions; `undo` takes it back."""
    given = {"ids": ids_of(ids), "text": text_of([text])}
    _tell(_act(home, namespace, "merge", given), as_json, home, namespace)


def split(
    memory_id: OneId,
    parts: Annotated[
        list[str],
        typer.Argument(metavar="TEXT...", help="Each statement in quotes; - reads one from each line of stdin."),
    ],
    home: Home = None,
    namespace: Namespace = None,
    as_json: AsJson = False,
) -> None:
    """Divide one memory into several, in your words. It is kept as an older version; `undo` takes it back."""
    told = text_of(parts).splitlines() if parts == ["-"] else list(parts)
    _tell(_act(home, namespace, "split", {"id": memory_id, "parts": told}), as_json, home, namespace)


def undo(
    act: Annotated[
        str | None,
        typer.Argument(metavar="ACT", help="Which act, of --list; the last one that is not undone yet unless told."),
    ] = None,
    *,
    listed: Annotated[bool, typer.Option("--list", help="Show what can be undone, and undo nothing.")] = False,
    home: Home = None,
    namespace: Namespace = None,
    reveal: Reveal = False,
    as_json: AsJson = False,
) -> None:
    """Undo what you remembered or changed last, here or on the page, unless something changed it since; typed again, what came before.

    What was undone is done again by `undo ACT`, with the ACT that the undo prints.
    """
    acts = call_here(home, "acts", {"limit": _KEPT}, namespace)["acts"]
    if listed:
        _list(acts, as_json)
        return
    named = next(
        (one["undo"] for one in acts if (one["undo"].startswith(act) if act else one["action"] not in _NOT_YOURS)), act
    )
    if named is None:
        if as_json:
            print_json({"done": None, "undo": None, "memories": []})
        note("there is nothing to undo")
        return
    _tell(_act(home, namespace, "undo", {"undo": named, "reveal": reveal}), as_json, home, namespace)


def _act(home: Path | None, namespace: str | None, verb: str, given: Mapping[str, Any]) -> dict[str, Any]:
    return call_here(home, "act", {"verb": verb, **given}, namespace)


def _tell(done: Mapping[str, Any], as_json: bool, home: Path | None, namespace: str | None) -> None:
    """Print the memories as they stand now; what else is to be told goes to stderr."""
    if as_json:
        print_json(done)
        return
    note(f"{done['done']}:" if done["memories"] else str(done["done"]))
    print_memories(done["memories"])
    if done["revived"]:
        note(f"current again: {' '.join(done['revived'])}")
    if done["secrets"]:
        note(f"it holds what looks like a secret ({', '.join(done['secrets'])})", "yellow")
    if done["undo"]:
        note(f"`hybrid-memory-mcp undo {done['undo']}{place_again(home, namespace)}` takes it back")


def _list(acts: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        print_json({"acts": acts})
        return
    if not acts:
        note("nothing that was done here can be undone")
        return
    rows = [
        (one["undo"], moment(one["at"]), one["action"], len(one["ids"]), _words(one.get("text", "")), one["actor"])
        for one in acts
    ]
    print_rows(("act", "when", "what", "memories", "the first of them", "by"), rows)


def _words(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LISTED else f"{line[: _LISTED - 1]}…"
