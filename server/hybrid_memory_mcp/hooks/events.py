"""One event of a client: its documented JSON, read leniently, and always the same for the rest of the program. Pure."""

from __future__ import annotations

from hybrid_memory_mcp.hooks.typed import typed_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_LONGEST_NAME = 200  # characters of a conversation's name; real ones have 36
UNNAMED = "unnamed"
"""The session of a client that does not name its conversations: all of them have it."""


class Event:
    """What happened in a client.

    ``name`` is ours, ``session`` the client's name of the conversation. ``folder`` is where the client is at work, ``root`` the project's
    folder, ``transcript`` the file that the client keeps of the conversation. ``said`` is what the person has just typed, ``source``
    why a session starts, ``whose`` the hook is: a plugin's, or the client's.
    """

    __slots__ = ("client", "folder", "name", "root", "said", "session", "source", "transcript", "whose")

    def __init__(
        self,
        name: str,
        client: str,
        session: str,
        *,
        folder: str = "",
        transcript: str = "",
        said: str = "",
        source: str = "",
    ) -> None:
        self.name = name
        self.client = client
        self.session = session
        self.folder = folder
        self.root = ""
        self.whose = ""
        self.transcript = transcript
        self.said = said
        self.source = source


def read_event(name: str, client: str, given: Mapping[str, Any]) -> Event | None:
    """Return the event that a client tells; None for one that is not the person's conversation, or another program's."""
    # Of an agent that the assistant started. And Cursor runs Claude Code's hooks too, alongside its own.
    if given.get("agent_id") or (client != "cursor" and "cursor_version" in given):
        return None
    of_tool = given.get("tool_info")
    inner: Mapping[str, Any] = of_tool if isinstance(of_tool, dict) else {}
    roots = given.get("workspace_roots")
    session = _text(given, "session_id", "conversation_id", "trajectory_id")[:_LONGEST_NAME]
    said = _text(given, "prompt") or _text(inner, "user_prompt")
    return Event(
        name,
        client,
        session or UNNAMED,
        folder=_text(given, "cwd")
        or (str(roots[0]) if isinstance(roots, list) and roots else "")
        or _text(inner, "cwd"),
        transcript=_text(given, "transcript_path") or _text(inner, "transcript_path"),
        said=typed_text(said),
        source=_text(given, "source"),
    )


def _text(given: Mapping[str, Any], *names: str) -> str:
    """Return the first of the fields that holds text."""
    for name in names:
        found = given.get(name)
        if isinstance(found, str) and found and "\0" not in found:
            return found
    return ""
