"""The program ``hybrid-memory-mcp``: looks at the arguments and runs a relay, a hub, a client's hook, or the command line.

It decides before it imports anything that takes time, because a client waits for its relay.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_HELP_OPTIONS = frozenset({"-h", "--help", "--version", "--install-completion", "--show-completion"})
_COMPLETION = "_HYBRID_MEMORY_MCP_COMPLETE"  # a shell that completes a command line sets it, and gives the words apart
_COMMAND_LINE_OPTIONS = frozenset({"--http"})  # a person starts it, so importing the command line first is no loss

_COMMANDS = frozenset(
    "install demo status inspect remember recall list show correct forget pin merge split undo reflect import export sync backup "  # noqa: SIM905 - 29 lines
    "restore doctor purge redact eval embedder postgres config project token".split()
)
_FORMER_COMMANDS = frozenset(  # they work for one release, see `cli.former_names`
    ("search", "timeline", "tiers", "restore-memory", "history", "judge", "reembed", "migrate", "store")
)
_WITH_VALUES = frozenset(
    ("--home", "--namespace", "--agent", "--session", "--timezone", "--project", "--prompts", "--embedder")
)


def main() -> None:
    """Run what the arguments ask for, see `role_of`."""
    arguments = sys.argv[1:]
    role = "commands" if _COMPLETION in os.environ else role_of(arguments)  # noqa: TID251 - decided before settings are imported
    if role in ("relay", "standalone"):
        from hybrid_memory_mcp.relay import relay

        _print_hint_on_terminal()
        relay.main(arguments)
    elif role == "hook":
        from hybrid_memory_mcp.hooks import program as hook

        hook.main(arguments[1:])
    elif role == "hub":
        from hybrid_memory_mcp.hub import program

        program.main(arguments[1:])
    else:
        from importlib import import_module

        try:
            import_module("hybrid_memory_mcp.cli").main()
        except KeyboardInterrupt:  # while it was imported
            sys.exit(130)


def role_of(arguments: Sequence[str]) -> str:
    """Return what the arguments ask for: ``relay`` (none, or options alone), ``standalone``, ``hub``, ``hook`` or ``commands``."""
    first = arguments[0] if arguments else "serve"
    if first == "hub":
        return "hub"
    if first == "hook":
        # Whatever else is there: the command line would refuse what it does not know, with a code that stops a client.
        return "commands" if list(arguments[1:]) in (["-h"], ["--help"]) else "hook"
    serves = first == "serve" or first.startswith("-")
    if _names_command(arguments):
        return "commands"  # a person wrote the options before it; a client's relay would wait forever
    if not serves or _HELP_OPTIONS & set(arguments) or _COMMAND_LINE_OPTIONS & set(arguments):
        return "commands"
    return "standalone" if "--standalone" in arguments else "relay"


def _names_command(arguments: Sequence[str]) -> bool:
    """Return True if a command comes behind options, as in ``--home FOLDER status``."""
    before = ""
    for one in arguments:
        if (one in _COMMANDS or one in _FORMER_COMMANDS) and before not in _WITH_VALUES:
            return True
        before = one
    return False


def _print_hint_on_terminal() -> None:
    """Tell a person who typed the command what it waits for; a client's input is no terminal."""
    if sys.stdin is not None and sys.stdin.isatty():
        print("Waiting for an MCP client on standard input; --help shows what else there is.", file=sys.stderr)  # noqa: T201 - for a person


if __name__ == "__main__":
    main()
