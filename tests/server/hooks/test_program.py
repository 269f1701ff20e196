"""The program that clients run: whatever happens it ends with exit code 0, and prints its answer or nothing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.server.hooks.hooking import Talk, environment, run_hook, started_hook
from tests.server.hubs import FakeHub, short_folder

from hybrid_memory_mcp.__main__ import role_of
from hybrid_memory_mcp.hooks import program, tool_calls
from hybrid_memory_mcp.hooks.definitions import EVENT_NAMES
from hybrid_memory_mcp.hooks.state import Conversations
from hybrid_memory_mcp.relay import protocol
from hybrid_memory_mcp.relay.protocol import read_fields

GIVEN = {
    "session_id": "s",
    "transcript_path": "/none",
    "cwd": "/",
    "prompt": "Which editor do I use?",
    "source": "startup",
}


@pytest.fixture
def home():
    with short_folder() as folder:
        folder.parent.mkdir(exist_ok=True)
        yield folder


class AnsweringHub(FakeHub):
    """A hub that answers each hook with the same."""

    def run_hook(self, given, event="prompt", client="codex", kind=protocol.RESULT, **answer):
        """Run a hook alongside this hub; return what was asked of it and what the hook printed."""
        with started_hook(Path(self.listener.getsockname()).parent, event, client, given) as process:
            asked = self.accept()
            hello = dict(read_fields(asked.receive_frame(protocol.HELLO).payload))
            values = {"context": "", "shown": [], "kept": 0, "loaded": 0} | answer
            asked.send_frame(kind, json.dumps(values).encode())
            said = process.stdout.read()
        assert process.returncode == 0
        return json.loads(hello["given"]), json.loads(said) if said else None


@pytest.mark.slow
@pytest.mark.parametrize(
    "given",
    [b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b"{}" * 2, b"[" * 100_000, b'{"session_id": {}}', b" " * 100],
)
@pytest.mark.parametrize("event", ["session-start", pytest.param("stop", marks=pytest.mark.daily)])
def test_any_input_is_answered_with_nothing(home, event, given):
    """Nothing was ever said, so nothing is known."""
    assert run_hook(home, event, given=given) == b""


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["prompt"],
        ["nonsense", "--client", "codex"],
        ["prompt", "--client", "zed"],
        ["prompt", "--client"],
        ["--client=codex"],
    ],
)
def test_any_arguments_are_answered_with_nothing(home, arguments):
    command = [sys.executable, "-m", "hybrid_memory_mcp", "hook", *arguments]
    done = subprocess.run(command, input=b"{}", capture_output=True, env=environment(home), timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert not home.exists()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="descriptors are closed by a shell")
@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-", "1>/dev/full"])
def test_closed_streams_are_no_error(home, closed):
    line = f"{sys.executable} -m hybrid_memory_mcp hook session-start --client codex {closed}; exit $?"
    done = subprocess.run(["/bin/sh", "-c", line], input=b"{}", env=environment(home), timeout=60, check=False)
    assert done.returncode == 0


def test_a_reader_that_has_left_is_no_error(home):
    with AnsweringHub(home) as hub, started_hook(home, "prompt", "codex", GIVEN) as process:
        asked = hub.accept()
        asked.receive_frame(protocol.HELLO)
        process.stdout.close()
        asked.send_frame(protocol.RESULT, json.dumps({"context": "known", "shown": ["a"], "loaded": 1}).encode())
    assert process.returncode == 0


def test_without_a_home_folder_it_ends_well():
    command = [sys.executable, "-m", "hybrid_memory_mcp", "hook", "prompt", "--client", "codex"]
    bare = environment("/nonexistent/store")
    del bare["HYBRID_MEMORY_HOME"]
    done = subprocess.run(command, input=b"{}", capture_output=True, env=bare, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, b"")


@pytest.mark.slow
@pytest.mark.parametrize("event", ["session-start", "prompt", "stop"])
def test_a_store_that_cannot_be_made_is_no_error(tmp_path, event):
    (tmp_path / "file").write_text("")
    transcript = tmp_path / "t.jsonl"
    transcript.write_text('{"type": "user", "message": {"content": "I prefer tabs."}}\n')
    given = GIVEN | {"transcript_path": str(transcript)}
    told = run_hook(tmp_path / "file" / "store", event, "codex", given)
    says_so = {"systemMessage": "Memory: its folder cannot be written, so nothing is kept or loaded"}
    assert (json.loads(told) if told else {}) == (says_so if event == "session-start" else {})


def test_a_client_that_keeps_its_end_open_is_answered(home):
    with AnsweringHub(home) as hub, started_hook(home, "prompt", "codex", GIVEN, keeps_open=True) as process:
        asked = hub.accept()
        asked.receive_frame(protocol.HELLO)
        asked.send_frame(protocol.RESULT, json.dumps({"context": "known", "shown": ["a"], "loaded": 1}).encode())
        assert b"known" in process.stdout.read()


@pytest.mark.slow
def test_a_damaged_store_gives_nothing(home):
    home.mkdir(mode=0o700)
    (home / "memory.duckdb").write_bytes(b"no database" * 1000)
    assert Talk(home, "s").start() == ""


@pytest.mark.slow
@pytest.mark.parametrize("event", ["prompt", "stop"])
def test_a_hub_that_hangs_is_left_alone_in_time(home, event):
    """The limit of the event ends the program; what was said waits for the next event."""
    with FakeHub(home):
        talk = Talk(home, "s").say("I prefer tabs.")
        assert talk.hook(event, prompt="I prefer tabs.") is None
    waiting = Conversations(str(home)).load("claude-code", "s")
    assert waiting.transcript == str(talk.transcript)
    assert waiting.mark.get("offset", 0) == 0
    assert [turn["text"] for turn in waiting.waiting][:1] == ["I prefer tabs."]


@pytest.mark.parametrize("kind", [protocol.FAILED, protocol.REFUSED])
def test_a_hub_that_fails_loses_nothing(home, kind):
    with AnsweringHub(home) as hub:
        _, said = hub.run_hook(GIVEN, kind=kind, message="broken")
    assert said is None
    assert len(Conversations(str(home)).load("codex", "s").waiting) == 1


def test_why_a_hub_refuses_is_said_when_a_conversation_starts(home):
    with AnsweringHub(home) as hub:
        _, said = hub.run_hook(GIVEN, "session-start", kind=protocol.REFUSED, message="serves another store")
    assert "serves another store" in said["systemMessage"]


def test_what_was_shown_and_said_is_told_to_the_hub_and_not_twice(home):
    with AnsweringHub(home) as hub:
        asked, said = hub.run_hook(GIVEN, context="known", shown=["a"], loaded=1, done=[True])
        assert (asked["prompt"], asked["shown"]) == (GIVEN["prompt"], [])
        assert said["hookSpecificOutput"]["additionalContext"] == "known"
        again, _ = hub.run_hook(GIVEN | {"prompt": "And which shell?"}, done=[True])
    assert again["shown"] == ["a"]
    assert [turn["text"] for turn in again["batches"][0]["turns"]] == ["And which shell?"]


def test_turns_that_the_hub_could_not_keep_are_told_again(home):
    with AnsweringHub(home) as hub:
        hub.run_hook(GIVEN, done=[False])
        again, _ = hub.run_hook(GIVEN | {"prompt": "And which shell?"}, done=[True])
    assert [turn["text"] for turn in again["batches"][0]["turns"]] == [GIVEN["prompt"], "And which shell?"]


def test_after_a_compaction_the_conversation_holds_nothing_any_more(home):
    with AnsweringHub(home) as hub:
        hub.run_hook(GIVEN, shown=["a"], loaded=1, done=[True])
        asked, _ = hub.run_hook(GIVEN | {"source": "compact"}, "session-start")
    assert (asked["shown"], asked["shortened"]) == ([], True)


def test_a_conversation_that_was_there_before_the_hooks_is_not_read(home):
    talk = Talk(home, "s", client="codex").say("I prefer tabs.")
    with AnsweringHub(home) as hub:
        asked, _ = hub.run_hook(talk.given("session-start", source="resume"), "session-start")
        assert asked["batches"] == []
        talk.say("I prefer spaces.")
        asked, _ = hub.run_hook(talk.given("stop"), "stop", done=[True])
    assert [turn["text"] for turn in asked["batches"][0]["turns"]] == ["I prefer spaces."]


@pytest.mark.slow
def test_what_another_conversation_left_is_told_when_one_starts(home):
    ended = Talk(home, "ended", client="codex").say("I prefer tabs.")
    with FakeHub(home):
        ended.hook("stop")
    (home / "hub.sock").unlink()
    with AnsweringHub(home) as hub:
        asked, _ = hub.run_hook(Talk(home, "new", client="codex").given("session-start"), "session-start", done=[True])
        (batch,) = asked["batches"]
        assert (batch["session"], [turn["text"] for turn in batch["turns"]]) == ("ended", ["I prefer tabs."])
        asked, _ = hub.run_hook(Talk(home, "third", client="codex").given("session-start"), "session-start")
    assert asked["batches"] == []


@pytest.mark.slow
@pytest.mark.parametrize("word", ["off", "OFF", "0", "false"])
def test_a_variable_switches_all_of_it_off(home, word):
    talk = Talk(home, "s", variables={program.SWITCH: word}).say("I prefer tabs.")
    for event in ("session-start", "prompt", "stop", "session-end"):
        assert talk.hook(event, prompt="I prefer tabs.") is None
    assert not home.exists()


@pytest.mark.slow
def test_what_was_said_while_hooks_were_off_is_not_read_later(home):
    talk = Talk(home, "s", client="codex").say("I prefer tabs.")
    with AnsweringHub(home) as hub:
        hub.run_hook(talk.given("stop"), "stop", done=[True])
        talk.say("I prefer spaces.")
        talk.variables = {program.SWITCH: "off"}
        talk.hook("stop")
        talk.say("I prefer dots.")
        asked, _ = hub.run_hook(talk.given("stop"), "stop", done=[True])
    assert [turn["text"] for turn in asked["batches"][0]["turns"]] == ["I prefer dots."]


@pytest.mark.slow
def test_that_holds_for_a_transcript_that_its_client_once_began_anew_too(home):
    talk = Talk(home, "s", client="codex").say("I prefer a long line of words, which the new file has not.")
    with AnsweringHub(home) as hub:
        hub.run_hook(talk.given("stop"), "stop", done=[True])
        talk.transcript.write_text("")
        talk.say("I prefer tabs.")
        hub.run_hook(talk.given("stop"), "stop", done=[True])
        talk.say("I prefer spaces.")
        talk.variables = {program.SWITCH: "off"}
        talk.hook("stop")
        talk.say("I prefer dots.")
        asked, _ = hub.run_hook(talk.given("stop"), "stop", done=[True])
    assert [turn["text"] for turn in asked["batches"][0]["turns"]] == ["I prefer dots."]


@pytest.mark.slow
@pytest.mark.parametrize(
    "given",
    [
        GIVEN | {"agent_id": "a1"},
        GIVEN | {"cursor_version": "3.7"},
        GIVEN | {"prompt": "<task-notification>done</task-notification>"},
        GIVEN | {"prompt": "/compact"},
    ],
)
def test_what_is_not_the_persons_conversation_is_passed_over(home, given):
    assert run_hook(home, "prompt", "codex", given) == b""
    assert not home.exists()


@pytest.mark.parametrize(
    ("client", "given"),
    [
        ("cursor", {"conversation_id": "c", "workspace_roots": ["/w"], "prompt": "Tabs.", "cursor_version": "3"}),
        ("windsurf", {"trajectory_id": "c", "tool_info": {"user_prompt": "Tabs.", "cwd": "/w"}}),
        ("gemini", {"session_id": "c", "cwd": "/w", "prompt": "<hook_context>x</hook_context>\n\nTabs."}),
    ],
)
def test_the_input_of_each_client_is_understood(home, client, given):
    with AnsweringHub(home) as hub:
        asked, _ = hub.run_hook(given, client=client, done=[True])
    assert (asked["session"], asked["folder"], asked["prompt"]) == ("c", "/w", "Tabs.")


def test_each_event_of_each_client_has_a_limit():
    events = {event for names in EVENT_NAMES.values() for event in names}
    assert events | set(tool_calls.EVENTS) == set(program.LIMIT_SECONDS)


def test_the_word_hook_runs_the_program_and_help_is_the_command_lines():
    assert role_of(["hook", "stop", "--client", "codex"]) == "hook"
    assert role_of(["hook", "--help"]) == "commands"
