"""What a person calls those that write and ask: "Claude Code", not "hook of claude-code". Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hybrid_memory_mcp.clients.table import CLIENTS

_AROUND = re.compile(r"hook of (.+)|person \(in (.+)\)|token [^/]*/(.+)")  # as the log has them
_OTHERS = {
    "claude-ai": "Claude",
    "command line": "the command line",
    "person (page)": "you",
    "unknown": "an unknown program",
}


def client_name(actor: str) -> str:
    """Return the name of a program as its makers write it; that of one that is not known as it is.

    A hook of a client is that client, and so is a server's name of it with more behind: "codex-mcp-client", "cursor-vscode".
    """
    found = _AROUND.fullmatch(actor)
    plain = found[found.lastindex or 0] if found else actor
    known = (one.title for one in CLIENTS if plain == one.name or plain.startswith(f"{one.name}-"))
    return _OTHERS.get(plain) or next(known, plain)


def client_names(actors: Iterable[str]) -> list[str]:
    """Return the names of some programs, each once."""
    return list(dict.fromkeys(client_name(one) for one in actors if one))
