"""A client's tool call, before and after it, and an agent that it starts: the JSON that clients were seen to give, read leniently. Pure.

A failed command comes from Claude Code in an event of its own with ``error``, and from Gemini CLI with its exit code behind the output.
Codex gives the output alone: how the command ended is in its transcript.
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

_SHELLS = frozenset({"Bash", "run_shell_command"})  # Codex names all of its own so
_EDITS = frozenset({"Edit", "Write", "NotebookEdit", "apply_patch", "replace", "write_file"})
_PATCH = "apply_patch"  # a command by which models of Codex edit files; it tells nothing of it afterwards
# What Gemini CLI writes around an output. Of a command that was cancelled, or runs in the background, it says so in its place.
_BEFORE_OUTPUT = re.compile(r"\s*(?:<untrusted_context>\s*)?Output: ")
_AFTER_OUTPUT = re.compile(
    r"(?:\nExit Code: (?P<code>\d+))?(?P<signal>\nSignal: .*)?(?:\n(?:Background PIDs|Process Group PGID): .*)*"
    r"(?:\n</untrusted_context>)?\Z"
)
_LONGEST_AFTER_OUTPUT = 1_000
_NO_OUTPUT = "(empty)"


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


def read_call(event: str, given: Mapping[str, Any], *, exit_code: int | None = None) -> ToolCall | None:
    """Return the tool call that a client tells of; ``exit_code`` is of a command of which the client gives the output alone.

    None for a tool that is of no interest, and for a command of which nobody knows how it ended: it still runs, or the person stopped it.
    """
    tool, put_in = _text(given.get("tool_name")), given.get("tool_input")
    session, folder = _text(given.get("session_id")), _text(given.get("cwd"))
    line = _text(put_in.get("command") if isinstance(put_in, dict) else None)
    if tool in _EDITS and event == "post-tool":
        return ToolCall(session, folder, "", edits=True)
    if tool not in _SHELLS or not line:
        return None
    if event == "pre-tool":
        is_patch = line.startswith(_PATCH)
        return ToolCall(session, folder, "" if is_patch else line, edits=is_patch)
    printed, failed = _outcome(given, exit_code)
    return None if failed is None else ToolCall(session, folder, line, error=printed[:MOST_OUTPUT] if failed else None)


def read_agent(event: str, given: Mapping[str, Any]) -> ToolCall | None:
    """Return an agent that starts or ends; None for one that ends without a word.

    None also for one without a name: Claude Code has its own, which sum a conversation up before a compaction.
    """
    name = _text(given.get("agent_type"))
    report = _text(given.get("last_assistant_message"))[:MOST_OUTPUT] if event == "subagent-stop" else ""
    if not name or (event == "subagent-stop" and not report.strip()):
        return None
    return ToolCall(_text(given.get("session_id")), _text(given.get("cwd")), report, agent=name)


def _outcome(given: Mapping[str, Any], exit_code: int | None) -> tuple[str, bool | None]:
    """Return what a command printed, and whether it failed; None where nobody knows."""
    if isinstance(given.get("error"), str):
        return given["error"], None if given.get("is_interrupt") is True else True
    response = given.get("tool_response")
    if isinstance(response, str):
        return response, None if exit_code is None else exit_code != 0
    if not isinstance(response, dict):
        return "", None
    if isinstance(response.get("llmContent"), str):
        return _outcome_of_gemini(response["llmContent"])
    return "", None if response.get("interrupted") is True or "backgroundTaskId" in response else False


def _outcome_of_gemini(told: str) -> tuple[str, bool | None]:
    begin = _BEFORE_OUTPUT.match(told)
    end = _AFTER_OUTPUT.search(told, max(len(told) - _LONGEST_AFTER_OUTPUT, 0))
    if begin is None or end is None or end["signal"]:
        return "", None
    printed = told[begin.end() : end.start()]
    return "" if printed == _NO_OUTPUT else printed, end["code"] is not None


def _text(value: object) -> str:
    return value if isinstance(value, str) and "\0" not in value else ""
