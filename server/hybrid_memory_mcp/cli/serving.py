"""The commands that clients run, ``serve`` and ``hook``, and ``demo``, which runs a client; each starts a program of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hybrid_memory_mcp.cli.operation_call import AsJson


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


def hook(
    context: typer.Context,
    event: Annotated[str, typer.Argument(metavar="EVENT")],
    client: Annotated[str, typer.Option(help="claude-code, codex, gemini, cursor or windsurf.")],
) -> None:
    """Serve one event of a client."""
    from hybrid_memory_mcp.hooks import program

    program.main([event, "--client", client, *context.args])


def demo(
    keep: Annotated[Path | None, typer.Option(help="Keep the demo's store in this folder to look at it.")] = None,
    as_json: AsJson = False,
) -> None:
    """See it work: a short scripted session with a real MCP client. It writes, repeats, corrects, reflects, restarts and remembers."""
    from hybrid_memory_mcp.cli.demo import run

    raise typer.Exit(run(keep, as_json=as_json))
