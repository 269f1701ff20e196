"""What a client tells of a tool call, and what is made of it: Claude Code, Codex and Gemini CLI."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_memory_mcp.hooks.tool_calls import EVENTS, read_call

BEFORE = {"session_id": "s", "cwd": "/shop", "tool_name": "Bash", "tool_input": {"command": "npm test"}}

FAILED = {
    "Claude Code": {"error": "Exit code 127\nnpm: command not found"},
    "Codex, a text": {"tool_response": "Exit code: 127\nWall time: 0.1 seconds\nOutput:\nnpm: command not found"},
    "Codex, an object": {"tool_response": {"output": "npm: command not found", "metadata": {"exit_code": 127}}},
    "Gemini CLI": {"tool_response": {"llmContent": "Output: npm: command not found\nExit Code: 127"}},
}
WORKED = {
    "Claude Code": {"tool_response": {"stdout": "ok", "stderr": "", "interrupted": False}},
    "Codex, a text": {"tool_response": "Exit code: 0\nOutput:\nexit code 3 is mentioned"},
    "Codex, an object": {"tool_response": {"output": "ok", "metadata": {"exit_code": 0}}},
    "Gemini CLI": {"tool_response": {"llmContent": "Output: ok\nExit Code: 0"}},
}


@pytest.mark.parametrize("more", FAILED.values(), ids=FAILED)
def test_a_command_that_failed_has_what_it_printed(more):
    assert "npm: command not found" in read_call("post-tool", BEFORE | more).error


@pytest.mark.parametrize("more", WORKED.values(), ids=WORKED)
def test_a_command_that_worked_has_no_error(more):
    assert read_call("post-tool", BEFORE | more).error is None


def test_before_a_command_its_line_and_its_folder_are_known():
    call = read_call("pre-tool", BEFORE)
    assert (call.line, call.folder, call.session) == ("npm test", "/shop", "s")


def test_a_command_that_is_told_as_a_list_is_its_line():
    assert read_call("pre-tool", BEFORE | {"tool_input": {"command": ["bash", "-lc", "npm test"]}}).line == "npm test"


def test_a_call_that_the_person_stopped_says_nothing():
    assert read_call("post-tool", BEFORE | {"error": "interrupted", "is_interrupt": True}) is None


def test_an_edit_of_a_file_counts_only_once_it_is_done():
    edit = BEFORE | {"tool_name": "Edit", "tool_input": {"file_path": "a.py"}}
    assert read_call("post-tool", edit).edits
    assert read_call("pre-tool", edit) is None


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
