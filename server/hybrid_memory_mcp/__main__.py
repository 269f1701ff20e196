"""``hybrid-memory-mcp``: decides what to start before it imports anything that takes time."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

_HELP = frozenset({"-h", "--help", "--version", "--install-completion", "--show-completion"})


def main() -> None:
    """Serve over standard input and output, or hand over to the command line."""
    arguments = sys.argv[1:]
    if serves_here(arguments):
        serve(arguments)
    else:
        from importlib import import_module

        import_module("hybrid_memory_mcp.cli").main()


def serves_here(arguments: Sequence[str]) -> bool:
    """Say whether the arguments ask for a server in this process: none, options alone, or ``serve --standalone``."""
    if not arguments:
        return True
    if _HELP & set(arguments):
        return False
    return arguments[0].startswith("-") or (arguments[0] == "serve" and "--standalone" in arguments)


def serve(arguments: Sequence[str]) -> NoReturn:
    """Serve over standard input and output in this process, with options such as ``--namespace``."""
    import gc

    from hybrid_memory_mcp.descriptors import claim

    if sys.stdin is not None and sys.stdin.isatty():
        print("Waiting for an MCP client on standard input; --help shows what else there is.", file=sys.stderr)  # noqa: T201 - for a person
    try:
        wire = claim()
    except OSError:
        sys.exit("hybrid-memory-mcp: standard input or output is closed; start it from an MCP client")
    # Collecting garbage while thousands of classes are made costs a third of the start (measured with mcp 2.3).
    gc.disable()
    import logging

    logging.basicConfig(level=logging.WARNING, format="hybrid-memory-mcp: %(levelname)s %(name)s: %(message)s")
    from hybrid_memory.errors import InvalidInput
    from hybrid_memory_mcp import quiet
    from hybrid_memory_mcp.options import read_options

    try:
        options = read_options(arguments)
    except InvalidInput as error:
        sys.exit(f"hybrid-memory-mcp: {error}")
    quiet.keep_logging()
    from hybrid_memory_mcp import lifecycle

    gc.enable()
    gc.freeze()
    lifecycle.serve(wire, options)


if __name__ == "__main__":
    main()
