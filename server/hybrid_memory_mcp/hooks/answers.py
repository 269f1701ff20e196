"""What each client wants to hear from a hook: its documented JSON, or nothing at all. Pure.

Nothing here can hold a conversation up: no decision, no ``continue``, and at the end of a turn no context, for which clients go on.
"""

from __future__ import annotations

import json

from hybrid_memory_mcp.hooks.definitions import EVENT_NAMES, TOOL_EVENTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What a hook says at these events a client throws away, or nobody sees any more.
_UNHEARD = frozenset(
    {
        ("claude-code", "pre-compact"),
        ("claude-code", "session-end"),
        ("codex", "session-end"),
        ("cursor", "session-end"),
    }
)
_WITH_CONTEXT = frozenset({"session-start", "prompt"})


def answer(client: str, event: str, context: str, *, kept: int, loaded: int, notice: str = "") -> bytes:
    """Return what is printed for a client: ``context`` for the model where the event takes some, and a word for the person.

    ``kept`` and ``loaded`` count memories that were written and that the context holds, ``notice`` is for the person too.
    Empty where there is nothing to say.
    """
    told = _told(kept, loaded, notice)
    if client == "windsurf" or (client, event) in _UNHEARD:
        return b""
    values = _of_cursor(event, context, told) if client == "cursor" else _of_others(client, event, context, told)
    return json.dumps(values).encode() + b"\n" if values else b""


def at_tool_call(client: str, event: str, context: str, *, asks: bool) -> bytes:
    """Return what is printed at a tool call: ``context`` for the model, and with ``asks`` that the person is asked first.

    A hook that decides nothing leaves the client's own permissions as they are. Only Claude Code asks a person because of a hook.
    """
    name = next((name for ours, name, _ in TOOL_EVENTS.get(client, ()) if ours == event), None)
    if not context or name is None:
        return b""
    values = {"hookEventName": name, "additionalContext": context}
    if asks and client == "claude-code":
        values |= {"permissionDecision": "ask", "permissionDecisionReason": context}
    return json.dumps({"hookSpecificOutput": values}).encode() + b"\n"


def _told(kept: int, loaded: int, notice: str) -> str:
    """Return the word for the person; nothing where nothing was kept, nothing loaded and nothing is to be said."""
    parts = [f"{count} {word}" for count, word in ((kept, "kept"), (loaded, "loaded")) if count]
    parts += [notice] if notice else []
    return f"Memory: {', '.join(parts)}" if parts else ""


def _of_others(client: str, event: str, context: str, told: str) -> dict[str, Any]:
    values: dict[str, Any] = {"systemMessage": told} if told else {}
    if context and event in _WITH_CONTEXT:
        values["hookSpecificOutput"] = {
            "hookEventName": EVENT_NAMES[client][event],
            "additionalContext": context,
        }
    return values


def _of_cursor(event: str, context: str, told: str) -> dict[str, Any]:
    if event == "session-start":
        return {"additional_context": context} if context else {}
    # A message to the person at a prompt is shown as the reason of a refusal, and one at the end of a turn is sent as a prompt.
    return {"user_message": told} if event == "pre-compact" and told else {}
