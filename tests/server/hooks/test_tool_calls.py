"""What a client tells of a tool call, and what is made of it: Claude Code, Codex and Gemini CLI."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory_mcp.hooks.tool_calls import EVENTS, read_agent, read_call

# What Claude Code 2.1.330, Codex 0.169.0 and Gemini CLI 0.61.0 gave to a hook, without ids and paths of transcripts.
BEFORE = {"session_id": "s", "cwd": "/shop", "tool_name": "Bash", "tool_input": {"command": "npm test"}}
OF_CLAUDE = BEFORE | {"hook_event_name": "PostToolUse", "tool_use_id": "toolu_1", "duration_ms": 22}
OF_CODEX = BEFORE | {"hook_event_name": "PostToolUse", "turn_id": "t", "permission_mode": "bypassPermissions"}
OF_GEMINI = BEFORE | {"hook_event_name": "AfterTool", "tool_name": "run_shell_command"}
RESPONSE = {"stdout": "", "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False}


def failure_of_claude(error, *, is_interrupt=False):
    return OF_CLAUDE | {"hook_event_name": "PostToolUseFailure", "error": error, "is_interrupt": is_interrupt}


def of_gemini(told):
    return OF_GEMINI | {"tool_response": {"llmContent": f"<untrusted_context>\n{told}\n</untrusted_context>"}}


NOT_FOUND = "/bin/bash: line 1: npm: command not found"
FAILED = {
    "Claude Code": (failure_of_claude(f"Exit code 127\n{NOT_FOUND}"), None, f"Exit code 127\n{NOT_FOUND}"),
    "Codex": (OF_CODEX | {"tool_response": f"{NOT_FOUND}\n"}, 127, f"{NOT_FOUND}\n"),
    "Gemini CLI": (
        of_gemini(f"Output: {NOT_FOUND}\nExit Code: 127\nProcess Group PGID: 4396"),
        None,
        NOT_FOUND,
    ),
    "Gemini CLI, without a word": (of_gemini("Output: (empty)\nExit Code: 1\nProcess Group PGID: 17759"), None, ""),
    "Gemini CLI, with processes left": (of_gemini("Output: no\nExit Code: 1\nBackground PIDs: 1, 2"), None, "no"),
}
WORKED = {
    "Claude Code": (OF_CLAUDE | {"tool_response": RESPONSE | {"stdout": "ok"}}, None),
    "Claude Code, grep without a hit": (
        OF_CLAUDE | {"tool_response": RESPONSE | {"returnCodeInterpretation": "No matches found"}},
        None,
    ),
    "Codex": (OF_CODEX | {"tool_response": "Process exited with code 3 is mentioned\n"}, 0),
    "Gemini CLI": (of_gemini("Output: ok\nProcess Group PGID: 4429"), None),
    "Gemini CLI, whose output names a code": (of_gemini("Output: x\nExit Code: 3\nerr\nProcess Group PGID: 1"), None),
}
# Claude Code 2.1.330 tells nothing at all of a command that was stopped with Esc; the first two are its documentation's.
UNKNOWN = {
    "Claude Code, stopped by the person": failure_of_claude("[Request interrupted by user]", is_interrupt=True),
    "Claude Code, stopped with output": OF_CLAUDE | {"tool_response": RESPONSE | {"interrupted": True}},
    "Claude Code, in the background": OF_CLAUDE | {"tool_response": RESPONSE | {"backgroundTaskId": "bxd6xp0sg"}},
    "Codex, whose transcript does not tell": OF_CODEX | {"tool_response": f"{NOT_FOUND}\n"},
    "Gemini CLI, ended by a signal": of_gemini("Output: (empty)\nSignal: 9\nProcess Group PGID: 18156"),
    "Gemini CLI, in the background": of_gemini("Command moved to background (PID: 1). Output hidden."),
    "Gemini CLI, cancelled": of_gemini("Command was cancelled by user before it could complete."),
}


@each("told, code, printed", FAILED.values())
def test_a_command_that_failed_has_what_it_printed(told, code, printed):
    assert read_call("post-tool", told, exit_code=code).error == printed


@each("told, code", WORKED.values())
def test_a_command_that_worked_has_no_error(told, code):
    assert read_call("post-tool", told, exit_code=code).error is None


@each("told", UNKNOWN.values())
def test_of_a_command_that_still_runs_or_was_stopped_nobody_knows_how_it_ended(told):
    assert read_call("post-tool", told) is None


def test_before_a_command_its_line_and_its_folder_are_known():
    call = read_call("pre-tool", BEFORE)
    assert (call.line, call.folder, call.session) == ("npm test", "/shop", "s")


def test_an_edit_of_a_file_counts_only_once_it_is_done():
    edit = BEFORE | {"tool_name": "Edit", "tool_input": {"file_path": "a.py"}}
    assert read_call("post-tool", edit).edits
    assert read_call("pre-tool", edit) is None


def test_the_command_by_which_codex_edits_files_is_an_edit_of_which_it_tells_only_before():
    call = read_call("pre-tool", BEFORE | {"tool_input": {"command": "apply_patch <<'EOF'\n*** Begin Patch\nEOF"}})
    assert (call.edits, call.line) == (True, "")


@pytest.mark.parametrize(
    "told",
    [
        {"agent_id": "a2ea", "agent_type": "Explore", "stop_hook_active": False, "background_tasks": []},
        {"agent_id": "01a2", "agent_type": "explorer", "stop_hook_active": False, "turn_id": "t"},
    ],
    ids=["Claude Code", "Codex"],
)
def test_an_agent_that_ends_has_its_name_and_its_report(told):
    given = {"session_id": "s", "cwd": "/shop", "last_assistant_message": "The login is in src/auth/login.ts."} | told
    call = read_agent("subagent-stop", given)
    assert (call.agent, call.line) == (told["agent_type"], "The login is in src/auth/login.ts.")


def test_an_agent_of_claude_code_that_sums_a_conversation_up_is_none_of_the_assistants():
    told = {"agent_id": "a8dd", "agent_type": "", "last_assistant_message": "All right.", "stop_hook_active": False}
    assert read_agent("subagent-stop", told) is None


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
_FIELDS = st.sampled_from(["session_id", "cwd", "tool_name", "tool_input", "tool_response", "error", "is_interrupt"])


@given(st.sampled_from(EVENTS), st.dictionaries(_FIELDS, _JSON), st.booleans())
def test_whatever_a_client_tells_is_read_or_passed_over(event, told, is_shell):
    more = {"tool_name": "Bash", "tool_input": {"command": "npm test"}} if is_shell else {}
    call = read_call(event, told | more)
    assert call is None or (isinstance(call.line, str) and (call.error is None or isinstance(call.error, str)))
