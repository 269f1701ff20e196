"""A client's tool call, before and after it, and an agent that it starts: its documented JSON, read leniently. Pure.

Claude Code and Codex tell of a call in ``tool_name``, ``tool_input`` and ``tool_response``; Claude Code of a failed one in an event of its
own with ``error``. Gemini CLI puts the exit code of a command into the text of ``tool_response``.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

AGENTS = ("subagent-start", "subagent-stop")
EVENTS = ("pre-tool", "post-tool", *AGENTS)
MOST_OUTPUT = 20_000  # characters of an error that the hub is told

_SHELLS = frozenset({"Bash", "bash", "shell", "local_shell", "exec_command", "run_shell_command"})
_EDITS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit", "apply_patch", "replace", "write_file"})
_EXIT_CODE = re.compile(
    r"^\W*(?:process )?exit(?:ed with)?(?: code| status)?\W+(\d{1,5})\b", re.IGNORECASE | re.MULTILINE
)


class ToolCall:
    """A call of a shell (``line``), an edit of files (``edits``), or an ``agent`` that starts, or ends with the report ``line``.

    ``error`` is what a failed command printed, None for one that worked or has not run yet.
    """

    __slots__ = ("agent", "edits", "error", "folder", "line", "session")

    def __init__(
        self, session: str, folder: str, line: str, *, edits: bool = False, error: str | None = None, agent: str = ""
    ) -> None:
        self.session = session
        self.folder = folder
        self.line = line
        self.edits = edits
        self.error = error
        self.agent = agent


def read_call(event: str, given: Mapping[str, Any]) -> ToolCall | None:
    """Return the tool call that a client tells of; None for a tool that is of no interest, and for one that the person stopped."""
    tool, put_in = _text(given.get("tool_name")), given.get("tool_input")
    session, folder = _text(given.get("session_id")), _text(given.get("cwd"))
    if tool in _EDITS:
        return ToolCall(session, folder, "", edits=True) if event == "post-tool" else None
    line = _line(put_in.get("command") if isinstance(put_in, dict) else None)
    if tool not in _SHELLS or not line or given.get("is_interrupt") is True:
        return None
    return ToolCall(session, folder, line, error=_error(given) if event == "post-tool" else None)


def read_agent(event: str, given: Mapping[str, Any]) -> ToolCall | None:
    """Return an agent that starts or ends; None for one that ends without a word."""
    report = _text(given.get("last_assistant_message"))[:MOST_OUTPUT] if event == "subagent-stop" else ""
    if event == "subagent-stop" and not report.strip():
        return None
    name = _text(given.get("agent_type")) or "agent"
    return ToolCall(_text(given.get("session_id")), _text(given.get("cwd")), report, agent=name)


def _line(command: object) -> str:
    """Return the line of a shell that is called, also where a client tells it as a list: ``["bash", "-lc", "npm test"]``."""
    if not isinstance(command, list) or not all(isinstance(word, str) for word in command):
        return _text(command)
    match command:
        case [_, flag, line] if flag.startswith("-"):
            return str(line)
    return " ".join(command)


def _error(given: Mapping[str, Any]) -> str | None:
    if isinstance(given.get("error"), str):
        return str(given["error"])[:MOST_OUTPUT]
    response = given.get("tool_response")
    if isinstance(response, str):
        return response[:MOST_OUTPUT] if _code_in(response) else None
    if not isinstance(response, dict):
        return None
    inner = response.get("metadata")
    code = next((one["exit_code"] for one in (response, inner) if isinstance(one, dict) and "exit_code" in one), None)
    texts = [_text(response.get(name)) for name in ("stderr", "output", "stdout", "llmContent", "error")]
    printed = "\n".join(filter(None, texts))
    failed = code not in (None, 0) or (code is None and _code_in(_text(response.get("llmContent"))))
    return printed[:MOST_OUTPUT] if failed else None


def _code_in(text: str) -> int:
    found = _EXIT_CODE.search(text)
    return int(found[1]) if found else 0


def _text(value: object) -> str:
    return value if isinstance(value, str) and "\0" not in value else ""
