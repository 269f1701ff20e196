"""The commands that put memories right beyond new words: merge, split, judge, undo."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from hybrid_memory.model import Verdict
from hybrid_memory.requests import UNDO
from hybrid_memory_mcp.cli.given import ids_of, moment_of, text_of
from hybrid_memory_mcp.cli.memories import Ids, Namespace, OneId, call_here
from hybrid_memory_mcp.cli.memory_text import print_memories
from hybrid_memory_mcp.cli.operation_call import AsJson, Home, Reveal
from hybrid_memory_mcp.cli.output import moment, note, print_json, say, shown
from hybrid_memory_mcp.cli.told import place_again

_KEPT = 500  # acts that can be undone, at most


def merge(
    ids: Ids,
    *,
    text: Annotated[str, typer.Option("--text", metavar="TEXT", help="What they say together; - reads it from stdin.")],
    home: Home = None,
    namespace: Namespace = None,
    as_json: AsJson = False,
) -> None:
    """Say several memories in one from now on, in your words. They are kept as its older versions; `undo` takes it back."""
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
    """Say one memory in several from now on, in your words. It is kept as an older version; `undo` takes it back."""
    told = text_of(parts).splitlines() if parts == ["-"] else list(parts)
    _tell(_act(home, namespace, "split", {"id": memory_id, "parts": told}), as_json, home, namespace)


def judge(
    verdict: Annotated[
        Verdict, typer.Argument(help="true: nothing but your word replaces it; untrue; ended: it was true once.")
    ],
    ids: Ids,
    *,
    until: Annotated[
        str | None, typer.Option(help="When it ended: a date, or words such as last Friday. Default: now.")
    ] = None,
    home: Home = None,
    namespace: Namespace = None,
    as_json: AsJson = False,
) -> None:
    """Say that memories are true, that they are not, or that they were until a day. `undo` takes it back."""
    given = {"ids": ids_of(ids), "verdict": verdict.value, "until": moment_of("--until", until, "moment")}
    _tell(_act(home, namespace, "judge", given), as_json, home, namespace)


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
    """Undo what you did last to memories, here or on the page, unless something changed it since; typed again, what you did before.

    What was undone is done again by `undo ACT`, with the ACT that the undo prints.
    """
    acts = call_here(home, "acts", {"limit": _KEPT}, namespace)["acts"]
    if listed:
        _list(acts, as_json)
        return
    named = next((one["undo"] for one in acts if (one["undo"].startswith(act) if act else one["action"] != UNDO)), act)
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
    for one in acts:
        say("\t".join((one["undo"], moment(one["at"]), one["action"], f"{len(one['ids'])}", shown(one["actor"]))))
    if not acts:
        note("nothing that was done here can be undone")
