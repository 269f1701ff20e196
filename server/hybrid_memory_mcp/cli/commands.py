"""The typer application: all commands are registered here. Each has an operation done (``operation_call.py``) and prints the result."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from hybrid_memory.requests import BRIEF_PAGE, DEFAULT_PAGE
from hybrid_memory_mcp.cli import admin, embedders, hooks, project, tokens
from hybrid_memory_mcp.cli.command_group import CommandGroup
from hybrid_memory_mcp.cli.install import install
from hybrid_memory_mcp.cli.operation_call import AsJson, Home, Namespace, Reveal, call_or_exit
from hybrid_memory_mcp.cli.output import one_line_errors

_OF_AN_OLDER_HUB = {"id": "", "newer": None, "section": None}
"""What a hub that was started before an upgrade does not tell of a hit; it answers until its last client leaves."""

app = typer.Typer(
    name="hybrid-memory-mcp",
    help="A memory for every MCP client. Without a command it serves MCP over stdin and stdout, as clients start it.",
    cls=CommandGroup,
    no_args_is_help=False,
    pretty_exceptions_show_locals=False,  # they may be somebody's memories
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(embedders.app, name="embedder")
app.add_typer(tokens.app, name="token")
app.add_typer(project.app, name="project")
app.command()(install)
app.command()(embedders.reembed)
app.command()(admin.doctor)
app.command()(admin.backup)
app.command()(admin.restore)
app.command()(admin.export)
app.command("import")(admin.import_)
app.command()(admin.purge)
app.command()(admin.redact)
app.command()(admin.history)


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.", is_eager=True)] = False,
) -> None:
    """Show the version, if that is asked for."""
    if version:
        from importlib.metadata import version as installed

        typer.echo(installed("hybrid-memory-mcp"))
        raise typer.Exit


@app.command(
    help="Serve MCP over stdin and stdout; what a client runs. The same happens without any command. With --http over HTTP.",
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []},
)
def serve(context: typer.Context) -> None:
    """Serve MCP over stdin and stdout, or over HTTP."""
    if {"-h", "--help"} & set(context.args):
        from hybrid_memory_mcp.http.settings import make_http_parser
        from hybrid_memory_mcp.runtime.client_options import make_parser

        typer.echo(make_parser().format_help())
        typer.echo(make_http_parser().format_help())
        return
    if "--http" in context.args:
        from hybrid_memory_mcp.http import server

        server.main(context.args)
    from hybrid_memory_mcp.relay import relay

    relay.main(context.args)


@app.command(
    help="What a client runs at an event of a conversation: session-start, prompt, pre-compact, stop or session-end. "
    "Reads the client's JSON, prints its answer, never fails. `install` writes it into the client's files.",
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)
def hook(
    context: typer.Context,
    event: Annotated[str, typer.Argument(metavar="EVENT")],
    client: Annotated[str, typer.Option(help="claude-code, codex, gemini, cursor or windsurf.")],
) -> None:
    """Serve one event of a client."""
    from hybrid_memory_mcp.hooks import program

    program.main([event, "--client", client, *context.args])


@app.command()
def demo(
    keep: Annotated[Path | None, typer.Option(help="Keep the demo's store in this folder to look at it.")] = None,
) -> None:
    """Play a short life on a real MCP client: write, repeat, correct, reflect, restart, remember."""
    from hybrid_memory_mcp.cli.demo import run

    raise typer.Exit(run(keep))


@app.command()
def status(home: Home = None, namespace: Namespace = None, as_json: AsJson = False) -> None:
    """Show what a store holds, how it is, and who is connected."""
    console = Console()
    with one_line_errors():
        place = project.place_here(home, namespace)
    values = call_or_exit(home, "status", namespace=namespace)
    of_project = project.namespace_of(place)
    of_it = {} if of_project is None else call_or_exit(home, "status", namespace=of_project)
    counted: dict[str, int] = {name: of_it[name] for name in ("memories", "insights") if name in of_it}
    values["project"] = project.described(place, counted)
    with one_line_errors():
        values["hooks"] = hooks.described(home)
    if as_json:
        console.print_json(json.dumps(values))
        return
    table = Table("what", "value", title="hybrid-memory-mcp")
    for name, value in values.items():
        if name == "project":
            count, insights = counted.get("memories", 0), counted.get("insights", 0)
            some = "1 memory is" if count == 1 else f"{count} memories are"
            more = f", insights: {insights}" if insights else ""
            kept = f" {some} kept for it{more}." if counted else ""
            table.add_row(name, escape(project.in_words(place) + kept))
        elif name == "hooks":
            table.add_row(name, escape(hooks.in_words(value)))
        elif name not in ("session", "clients"):
            table.add_row(name.replace("_", " "), escape(_plain(value)))
    console.print(table)
    _print_clients(console, values["clients"])


def _print_clients(console: Console, clients: list[dict[str, object]]) -> None:
    if not clients:
        console.print("nobody is connected")
        return
    columns = ("client", "pid", "namespace", "session", "since", "requests")
    table = Table(*columns, title="connected")
    for one in clients:
        table.add_row(*(escape(str(one.get(column, ""))) for column in columns))
    console.print(table)


@app.command()
def recall(
    query: Annotated[str, typer.Argument(help="A question in your own words; empty for a brief.")] = "",
    home: Home = None,
    namespace: Namespace = None,
    limit: Annotated[
        int | None,
        typer.Option(min=1, max=100, help=f"How many memories; {DEFAULT_PAGE} unless told, {BRIEF_PAGE} of a brief."),
    ] = None,
    reveal: Reveal = False,
) -> None:
    """Search a store from the terminal."""
    console = Console()
    brief = not query.strip()
    shown = limit or (BRIEF_PAGE if brief else DEFAULT_PAGE)
    asked: dict[str, Any] = {"query": query, "limit": shown, "reveal": reveal}
    with one_line_errors():
        here = project.place_here(home, namespace)
    if namespace is None and here.project is not None:  # as an assistant reads that works in this folder
        namespace = here.namespace
        asked["personal"] = here.personal
    result = call_or_exit(home, "recall", asked, namespace=namespace)
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


def _plain(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, dict):
        return ", ".join(f"{name} {count}" for name, count in value.items() if count) or "none"
    if isinstance(value, tuple | list):
        return "; ".join(str(one) for one in value) or "none"
    return str(value)
