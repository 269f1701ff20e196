"""``hybrid-memory-mcp``: decides what to be before it imports anything that takes time."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

_HELP = frozenset({"-h", "--help", "--version", "--install-completion", "--show-completion"})
_ELSEWHERE = frozenset({"--http"})


def main() -> None:
    """Be a relay, a server alone, a hub, or the command line."""
    arguments = sys.argv[1:]
    role = role_of(arguments)
    if role == "relay":
        from hybrid_memory_mcp.relay import relay

        _tell_a_person()
        relay.main(arguments)
    elif role == "standalone":
        serve(arguments)
    elif role == "hub":
        from hybrid_memory_mcp.hub import program

        program.main(arguments[1:])
    else:
        from importlib import import_module

        import_module("hybrid_memory_mcp.cli").main()


def role_of(arguments: Sequence[str]) -> str:
    """Return what the arguments ask for: ``relay`` (none, or options alone), ``standalone``, ``hub`` or ``commands``."""
    first = arguments[0] if arguments else "serve"
    if first == "hub":
        return "hub"
    serves = first == "serve" or first.startswith("-")
    if not serves or _HELP & set(arguments) or _ELSEWHERE & set(arguments):
        return "commands"
    return "standalone" if "--standalone" in arguments else "relay"


def _tell_a_person() -> None:
    if sys.stdin is not None and sys.stdin.isatty():
        print("Waiting for an MCP client on standard input; --help shows what else there is.", file=sys.stderr)  # noqa: T201 - for a person


def serve(arguments: Sequence[str]) -> NoReturn:
    """Serve over standard input and output in this process, with options such as ``--namespace``."""
    import gc

    from hybrid_memory_mcp.descriptors import claim

    _tell_a_person()
    try:
        wire = claim()
    except OSError:
        sys.exit("hybrid-memory-mcp: standard input or output is closed; start it from an MCP client")
    # Collecting garbage while thousands of classes are made costs a third of the start (measured with mcp 2.3).
    gc.disable()
    import logging

    logging.basicConfig(level=logging.WARNING, format="hybrid-memory-mcp: %(levelname)s %(name)s: %(message)s")
    from hybrid_memory.errors import InvalidInput
    from hybrid_memory_mcp.mcp_api.sdk import disable_sdk_logging
    from hybrid_memory_mcp.runtime.client_options import read_options

    try:
        options = read_options(arguments)
    except InvalidInput as error:
        sys.exit(f"hybrid-memory-mcp: {error}")
    disable_sdk_logging()
    from hybrid_memory_mcp import lifecycle

    gc.enable()
    gc.freeze()
    lifecycle.serve(wire, options)


if __name__ == "__main__":
    main()
