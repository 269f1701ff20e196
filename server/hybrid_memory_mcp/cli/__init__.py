"""The command line for people. ``__main__.py`` imports it only where no relay or hub is asked for."""

from __future__ import annotations

import codecs
import io
import json
import os
import sys


def main() -> None:
    """Run the command line."""
    from hybrid_memory_mcp.cli.streams import run

    def program() -> None:
        _print_everything()
        from hybrid_memory_mcp.cli import quick

        done = quick.run(sys.argv[1:], os.environ)  # noqa: TID251 - handed on
        if done is not None:
            sys.exit(done)
        from hybrid_memory_mcp.cli import commands, operation_call

        operation_call.starts_hubs = True
        commands.app()

    run(program)


def _print_everything() -> None:
    """Let nothing be unprintable: a character that the output's encoding lacks (a file on Windows, a plain terminal) is written out.

    As JSON writes it, so that what is printed for a program stays what it says.
    """
    codecs.register_error("hybrid-memory", _written_out)
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":  # the other one never fails
        sys.stdout.reconfigure(errors="hybrid-memory")


def _written_out(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    characters = error.object[error.start : error.end]
    return "".join("..." if one == "…" else json.dumps(one)[1:-1] for one in characters), error.end
