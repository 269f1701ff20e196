"""Reading clients' transcripts: the person's words alone, each once, whatever happens to the file."""

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory_mcp.hooks import transcripts
from hybrid_memory_mcp.hooks.transcripts import exit_code_of, last_answer, read_turns

DATA = Path(__file__).resolve().parents[2] / "data" / "hooks"


def read(path, client="claude-code", mark=None):
    turns, mark = read_turns(str(path), client, mark or {}, time.monotonic() + 10)
    return [turn["text"] for turn in turns], mark


def line(text, **more):
    message = {"role": "user", "content": text}
    return json.dumps({"type": "user", "message": message, "timestamp": "2026-11-22T10:00:00Z"} | more) + "\n"


@each(
    "client, sample, said",
    [
        (
            "claude-code",
            "claude-code.jsonl",
            [
                "I always want tabs instead of spaces, please remember.",
                "Please ask an agent. My sister Nora lives in Graz.",
                "And now: what next? I decided to use PostgreSQL.",
            ],
        ),
        ("claude-code", "claude-code-subagent.jsonl", []),
        ("codex", "codex.jsonl", ["My name is Ada and I always want tabs instead of spaces."]),
        (
            "gemini",
            "gemini.jsonl",
            ["My name is Ada and I always want tabs instead of spaces.", "My sister Nora lives in Graz."],
        ),
    ],
)
def test_of_a_real_transcript_the_persons_words_are_read_and_nothing_else(client, sample, said):
    """Not tool results, the words of subagents, hooks' context, notices, commands or summaries, which the samples hold."""
    assert read(DATA / sample, client)[0] == said


def test_a_turn_has_the_time_that_the_client_tells(tmp_path):
    (tmp_path / "t").write_text(line("I prefer tabs."))
    (turn,), _ = read_turns(str(tmp_path / "t"), "claude-code", {}, time.monotonic() + 1)
    assert turn["at"] == "2026-11-22T10:00:00Z"


@pytest.mark.parametrize(
    "more",
    [
        {"isSidechain": True},
        {"isMeta": True},
        {"isCompactSummary": True},
        {"toolUseResult": {"stdout": "x"}},
        {"origin": {"kind": "task-notification"}},
        {"promptSource": "system"},
        {"forkedFrom": {"sessionId": "other"}},
        {"type": "assistant"},
    ],
)
def test_a_line_of_claude_code_that_is_not_the_persons_is_passed_over(tmp_path, more):
    (tmp_path / "t").write_text(line("I prefer spaces.", **more) + line("I prefer tabs."))
    assert read(tmp_path / "t")[0] == ["I prefer tabs."]


def test_images_are_passed_over_and_the_words_beside_them_are_read(tmp_path):
    content = [{"type": "image", "source": {"data": "x" * 100}}, {"type": "text", "text": "My desk."}]
    (tmp_path / "t").write_text(line(content))
    assert read(tmp_path / "t")[0] == ["My desk."]


def test_what_was_typed_while_the_assistant_worked_is_read(tmp_path):
    queued = {
        "type": "attachment",
        "attachment": {"type": "queued_command", "prompt": "Use tabs.", "commandMode": "prompt"},
    }
    (tmp_path / "t").write_text(json.dumps(queued) + "\n")
    assert read(tmp_path / "t")[0] == ["Use tabs."]


@pytest.mark.parametrize(
    ("client", "told"),
    [
        ("codex", {"type": "event_msg", "payload": {"type": "user_message", "message": "Use tabs.", "kind": "plain"}}),
        (
            "codex",
            {
                "type": "response_item",
                "payload": {
                    "type": "message",
                    "role": "user",
                    "content": [{"type": "input_text", "text": "Use tabs."}],
                },
            },
        ),
        (
            "cursor",
            {"role": "user", "message": {"content": [{"type": "text", "text": "<user_query>Use tabs.</user_query>"}]}},
        ),
        ("windsurf", {"type": "user_input", "status": "done", "user_input": {"user_response": "Use tabs."}}),
        ("gemini", {"type": "user", "content": "Use tabs."}),
    ],
)
def test_other_forms_of_lines_are_read_too(tmp_path, client, told):
    (tmp_path / "t").write_text(json.dumps(told) + "\n")
    assert read(tmp_path / "t", client)[0] == ["Use tabs."]


def test_an_old_transcript_of_gemini_is_one_value_and_each_turn_is_read_once(tmp_path):
    said = [{"type": "user", "content": f"Fact {n}."} for n in range(3)]
    (tmp_path / "t").write_text(json.dumps({"sessionId": "s", "messages": said[:2]}, indent=2))
    first, mark = read(tmp_path / "t", "gemini")
    (tmp_path / "t").write_text(json.dumps({"sessionId": "s", "messages": said}, indent=2))
    second, _ = read(tmp_path / "t", "gemini", mark)
    assert (first, second) == (["Fact 0.", "Fact 1."], ["Fact 2."])


@given(
    st.lists(st.sampled_from(["Tabs, please.", "Größe ist 🙂", "x" * 300]), max_size=6),
    st.lists(st.integers(0, 3000), max_size=4),
)
def test_however_a_file_grows_between_readings_each_turn_is_read_once(tmp_path_factory, said, cuts):
    path = tmp_path_factory.mktemp("t") / "t"
    whole = "".join(line(f"{n} {text}") + '{"type":"assistant"}\n' for n, text in enumerate(said)).encode()
    found, mark = [], {}
    for cut in [*sorted(min(cut, len(whole)) for cut in cuts), len(whole)]:
        path.write_bytes(whole[:cut])
        turns, mark = read(path, mark=mark)
        found += turns
    assert found == [f"{n} {text}" for n, text in enumerate(said)]


@pytest.mark.parametrize("fresh", ["", "shorter", "another beginning " * 40])
def test_a_file_that_was_replaced_or_became_shorter_is_read_anew(tmp_path, fresh):
    path = tmp_path / "t"
    path.write_text(line("First. " * 30) * 3)
    mark = read(path)[1]
    path.write_text((line(fresh, type="assistant") if fresh else "") + line("I prefer tabs."))
    assert read(path, mark=mark)[0][-1:] == ["I prefer tabs."]


def test_a_line_that_is_too_long_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.setattr(transcripts, "_LONGEST_LINE", 1000)
    monkeypatch.setattr(transcripts, "_CHUNK_BYTES", 256)
    (tmp_path / "t").write_text(line("x" * 5000) + line("I prefer tabs."))
    assert read(tmp_path / "t")[0] == ["I prefer tabs."]


def test_what_is_not_read_in_time_is_read_the_next_time(tmp_path):
    (tmp_path / "t").write_text(line("One.") + line("Two."))
    turns, mark = read_turns(str(tmp_path / "t"), "claude-code", {}, time.monotonic() - 1)
    assert [turn["text"] for turn in turns] == ["One."]
    assert read(tmp_path / "t", mark=mark)[0] == ["Two."]


@pytest.mark.parametrize(
    "content", [b"\xff\xfe\x00", b"[1]\n", b'"user"\n', b'{"type":"user"}\n' * 3, b"[" * 5000 + b'user"\n']
)
@pytest.mark.parametrize("client", ["claude-code", "codex", "gemini", "cursor", "windsurf"])
def test_nonsense_is_passed_over(tmp_path, content, client):
    (tmp_path / "t").write_bytes(content)
    assert read(tmp_path / "t", client)[0] == []


def test_what_is_no_plain_file_is_left_alone(tmp_path):
    assert read(tmp_path)[0] == read(tmp_path / "none")[0] == read("/dev/zero")[0] == read("a\0b")[0] == []


def ended(call, code):
    """A line that Codex 0.169.0 wrote before its hook was run, without ids and times."""
    command = {
        "type": "CommandExecution",
        "id": call,
        "command": ["/bin/bash", "-lc", "npm test"],
        "cwd": "file:///shop",
        "source": "unified_exec_startup",
        "status": "failed" if code else "completed",
        "aggregated_output": "/bin/bash: line 1: npm: command not found\n",
        "exit_code": code,
        "duration": {"secs": 0, "nanos": 4988},
    }
    return json.dumps({"type": "event_msg", "payload": {"type": "item_completed", "item": command}}) + "\n"


def test_how_a_command_of_codex_ended_is_in_its_transcript(tmp_path):
    path = tmp_path / "t"
    path.write_text(ended("call_1", 127) + ended("call_2", 0) + line("x") + ended("call_3", 1)[:-9])
    assert [exit_code_of(str(path), f"call_{n}") for n in (1, 2, 3, 4)] == [127, 0, None, None]


def test_only_the_end_of_a_transcript_is_searched_for_it(tmp_path, monkeypatch):
    last = ended("call_2", 1)
    monkeypatch.setattr(transcripts, "_LAST_BYTES", len(last) + 100)
    path = tmp_path / "t"
    path.write_text(ended("call_1", 127) + last)
    assert [exit_code_of(str(path), f"call_{n}") for n in (1, 2)] == [None, 1]


@pytest.mark.parametrize("told", [ended("call_1", None), ended("call_1", "127"), '["CommandExecution"]\n', ""])
def test_a_command_of_which_a_transcript_tells_no_code_has_none(tmp_path, told):
    (tmp_path / "t").write_text(told)
    assert exit_code_of(str(tmp_path / "t"), "call_1") is None
    assert exit_code_of(str(tmp_path), "call_1") is None


def answered(text, **more):
    message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
    return json.dumps({"type": "assistant", "message": message} | more) + "\n"


@each(
    "told",
    [
        answered("On Mondays?"),
        '{"payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "On Mondays?"}]}}\n',
        '{"type": "gemini", "content": "On Mondays?"}\n',
        '{"role": "assistant", "message": {"content": [{"type": "text", "text": "On Mondays?"}]}}\n',
    ],
)
def test_what_the_assistant_said_last_is_at_the_end_of_a_transcript(tmp_path, told):
    (tmp_path / "t").write_text(answered("Hello.") + line("Hi.") + told + line("No."))
    assert last_answer(str(tmp_path / "t")) == "On Mondays?"


def test_of_a_long_answer_the_end_is_taken(tmp_path):
    (tmp_path / "t").write_text(answered("x" * 5_000 + " On Mondays?"))
    assert last_answer(str(tmp_path / "t")).endswith("x On Mondays?")
    assert len(last_answer(str(tmp_path / "t"))) == 1_000


@each(
    "told",
    [
        answered("On Mondays?", isSidechain=True),
        answered("API Error: 529", isApiErrorMessage=True),
        '{"type": "assistant", "message": {"role": "assistant", "content": [{"type": "tool_use", "input": {}}]}}\n',
        '{"type": "assistant", "message": "cut o',
        '["assistant"]\n',
        '{"role": "assistant"}\n',
    ],
)
def test_what_is_no_answer_of_the_assistant_is_passed_over(tmp_path, told):
    (tmp_path / "t").write_text(told)
    assert last_answer(str(tmp_path / "t")) == ""


def test_an_answer_is_taken_as_it_is(tmp_path):
    (tmp_path / "t").write_text(answered("/standup runs <rules> first."))
    assert last_answer(str(tmp_path / "t")) == "/standup runs <rules> first."


def test_without_a_transcript_the_assistant_has_said_nothing(tmp_path):
    assert [last_answer(one) for one in ("", str(tmp_path), str(tmp_path / "none"), "a\0b")] == [""] * 4
