"""What one step of an installation does to its file, in a phrase: "adds the server `memory` and 5 hooks". Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hybrid_memory_mcp.clients import changes
from hybrid_memory_mcp.clients.table import SERVER

if TYPE_CHECKING:
    from hybrid_memory_mcp.clients.changes import Parts
    from hybrid_memory_mcp.clients.installer import Step


def change_in_words(step: Step) -> str:
    """Return what a step does to its file; empty if it changes nothing."""
    if not step.changes:
        return ""
    before, after = (changes.present(text, step.parts) for text in (step.before, step.after))
    was_there = changes.entry_in(step.before, step.parts) is not None
    server = _verb(before and before.entry, after and after.entry, was_there=was_there)
    hooks = _verb(before and before.hooks, after and after.hooks)
    count = _count(after) or _count(before)
    parts = [(server, f"the server `{SERVER}`"), (hooks, f"{count} hook" if count == 1 else f"{count} hooks")]
    named = [(verb, what) for verb, what in parts if verb]
    if len({verb for verb, _ in named}) == 1:
        words = f"{named[0][0]} {' and '.join(what for _, what in named)}"
    else:
        words = ", ".join(f"{verb} {what}" for verb, what in named) or "tidies up"
    return words if step.after else f"{words}, and the file"


def _verb(before: object, after: object, *, was_there: bool = False) -> str:
    """Return what happens to a part of ours; ``was_there`` says that something was in its place, whoever's it is."""
    if not before and not after:
        return ""
    if not before:
        return "replaces" if was_there else "adds"
    if not after:
        return "removes"
    return "" if before == after else "updates"


def _count(parts: Parts | None) -> int:
    return 0 if parts is None else sum(len(items) for items in (parts.hooks or {}).values())
