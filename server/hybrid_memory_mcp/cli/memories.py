"""The commands about memories: ``recall``, ``history``."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from hybrid_memory.requests import BRIEF_PAGE, DEFAULT_PAGE
from hybrid_memory_mcp.cli import project
from hybrid_memory_mcp.cli.by_ids import call_by_ids
from hybrid_memory_mcp.cli.operation_call import AsJson, Home, Namespace, Reveal, call_or_exit
from hybrid_memory_mcp.cli.output import one_line_errors, out, print_json

_LINKS = ("supersedes", "superseded_by", "disputes", "duplicate_of")
_OF_AN_OLDER_HUB = {"id": "", "newer": None, "section": None}
"""What a hub that was started before an upgrade does not tell of a hit; it answers until its last client leaves."""


def recall(
    query: Annotated[str, typer.Argument(help="A question in your own words; empty for a brief.")] = "",
    home: Home = None,
    namespace: Namespace = None,
    limit: Annotated[
        int | None,
        typer.Option(min=1, max=100, help=f"How many memories; {DEFAULT_PAGE} unless told, {BRIEF_PAGE} of a brief."),
    ] = None,
    reveal: Reveal = False,
    as_json: AsJson = False,
) -> None:
    """Search a store from the terminal."""
    brief = not query.strip()
    shown = limit or (BRIEF_PAGE if brief else DEFAULT_PAGE)
    asked: dict[str, Any] = {"query": query, "limit": shown, "reveal": reveal}
    with one_line_errors():
        here = project.place_here(home, namespace)
    if namespace is None and here.project is not None:  # as an assistant reads that works in this folder
        namespace = here.namespace
        asked["personal"] = here.personal
    result = call_or_exit(home, "recall", asked, namespace=namespace)
    if as_json:
        print_json(result)
        return
    console = Console()
    if result.get("unknown"):
        from hybrid_memory_mcp.mcp_api.tool_results import PROBABLY_UNKNOWN

        console.print(PROBABLY_UNKNOWN)
    last = "section" if brief else "score"
    table = Table("", "when", "tier", "memory", last, title="brief" if brief else query, show_lines=True)
    hits = [_OF_AN_OLDER_HUB | {"when": hit["created_at"]} | hit for hit in result["hits"]]
    places = {hit["id"]: place for place, hit in enumerate(hits, 1)}
    for place, hit in enumerate(hits, 1):
        when = datetime.fromisoformat(hit["when"])
        table.add_row(str(place), f"{when:%Y-%m-%d %H:%M}", hit["tier"], escape(hit["content"]), _judged(hit, places))
    console.print(table)
    if result["words_alone"]:
        console.print("searched by words alone: the embedding model is not at hand (`embedder status` says why)")
    if result["total"] > len(hits) and not result.get(
        "unknown"
    ):  # of what is unknown three are shown, whatever the limit
        console.print(f"{result['total'] - len(result['hits'])} more; raise --limit to see them")


def _judged(hit: dict[str, Any], places: dict[str, int]) -> str:
    """Return the section of a line of a brief; else the score and what is claimed of the hit, a newer one by its place in the table."""
    if hit["section"] is not None:
        return str(hit["section"])
    remarks = ["weak"] if hit["weak"] else []
    remarks += [f"newer: {places.get(hit['newer'], hit['newer'])}"] if hit["newer"] else []
    score = "" if hit["score"] is None else f"{hit['score']:.2f}"
    return score + (f" ({', '.join(remarks)})" if remarks else "")


def history(
    memory_id: Annotated[str, typer.Argument(metavar="ID", help="The id of a memory, or of one that was purged.")],
    home: Home = None,
    namespace: Namespace = None,
    reveal: Reveal = False,
    as_json: AsJson = False,
) -> None:
    """Show one memory's life: its versions, what happened to each, when, why and by which client, and how often it was recalled."""
    found = call_by_ids(home, "history", {"id": memory_id, "reveal": reveal}, namespace, may_look_there=True)
    if as_json:
        print_json(found)
        return
    console = out()
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
    table = Table("when", "memory", "what", "by", "changed", title=f"history of {escape(memory_id)}")
    for event in found["events"]:
        row = (_moment(event["at"]), event["id"], event["action"], event["by"], event["note"])
        table.add_row(*map(escape, row))
    console.print(table)


def _moment(written: str) -> str:
    return f"{datetime.fromisoformat(written).astimezone():%Y-%m-%d %H:%M:%S}"
