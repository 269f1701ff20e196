"""What the name of a conversation tells: which program it comes from, and whether somebody chose it or it is an id. Pure."""

from __future__ import annotations

import re

from hybrid_memory.extras import load_extra, names_of_extras
from hybrid_memory.ids import is_unnamed_session
from hybrid_memory_mcp.clients.table import BY_NAME

_IMPORT = "import"  # as `hybrid_memory.admin.untrusted_lines.SESSION`, which costs a terminal too much to load
_FORMATS = "hybrid_memory.import_formats"
_FIRST_WORDS = 90  # characters
_AN_ID = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}|(?<![^\W_])(?=(?:[a-z]*\d){3})[0-9a-z]{12,}(?![^\W_])|^terminal-\d{4}-\d\d-\d\d$",
    re.IGNORECASE,
)


def given_name(session: str) -> str | None:
    """Return the name that a person or an assistant gave a conversation, without the program that it comes from; None for an id."""
    source, _, rest = session.partition(":")
    if source == _IMPORT:
        program, _, name = rest.partition(":")
        rest = name if program in names_of_extras(_FORMATS) else rest
    elif source in BY_NAME and rest:
        return None
    else:
        rest = session
    return None if not rest or is_unnamed_session(rest) or _AN_ID.search(rest) else rest


def source_of(session: str) -> str:
    """Return the program that the name of a conversation tells it comes from: "Claude Code", "imported from ChatGPT"; else ""."""
    source, _, rest = session.partition(":")
    if source == _IMPORT:
        title = title_of_format(rest.partition(":")[0])
        return "imported" if title is None else f"imported from {title}"
    return BY_NAME[source].title if source in BY_NAME and rest else ""


def title_of_format(name: str) -> str | None:
    """Return what people call a format that `import` reads; None for another name, and where the part that reads it is missing."""
    return str(load_extra(_FORMATS, name).TITLE) if name in names_of_extras(_FORMATS) else None


def session_line(session: str) -> str:
    """Return a conversation as a terminal prints it, in which its name must be there to be used: "Claude Code (claude-code:d108...)"."""
    source = source_of(session)
    return f"{source} ({session})" if source else session


def first_words(text: str) -> str:
    """Return the beginning of a text as a title: its first line, cut between words."""
    line = " ".join(next(iter(text.strip().splitlines()), "").split())
    if len(line) <= _FIRST_WORDS:
        return line.removesuffix(".")
    return line[: _FIRST_WORDS - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"
