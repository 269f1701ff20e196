"""The command line for people. ``__main__.py`` imports it only where no relay or hub is asked for."""

from __future__ import annotations

import codecs
import io
import json
import sys


def main() -> None:
    """Run the command line."""
    from hybrid_memory_mcp.cli.commands import app
    from hybrid_memory_mcp.cli.streams import run

    def program() -> None:
        _print_everything()
        app()

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
