"""Reading transcripts of Claude Code and rollouts of Codex."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.importers.chats import folder, read, read_as, reasons, said

from hybrid_memory.errors import InvalidInput
from hybrid_memory_importers.record import Author, Record

SESSION = "-home-ada-proj/11111111-2222-3333-4444-555555555555.jsonl"
ROLLOUT = "2026/03/01/rollout-2026-03-01T09-00-00-0199.jsonl"


def line(text: Any, kind: str = "user", name: str = "u1", **more: Any) -> dict[str, Any]:
    """Return a line of a transcript of Claude Code."""
    return {
        "parentUuid": None,
        "isSidechain": False,
        "type": kind,
        "message": {"role": kind, "content": text},
        "uuid": name,
        "timestamp": "2026-03-01T09:00:00.000Z",
        "cwd": "/home/ada/proj",
        "sessionId": "s1",
    } | more


def test_what_a_person_typed_comes_with_its_session_title_and_folder(tmp_path: Path) -> None:
    lines = [
        line("My name is Ada."),
        line([{"type": "text", "text": "Hello Ada."}], "assistant", "a1"),
        {"type": "ai-title", "aiTitle": "Names", "sessionId": "s1"},
    ]
    found = read(folder(tmp_path, {SESSION: lines}), "claude-code")
    first, second = found
    assert isinstance(first, Record)
    assert (first.text, first.conversation, first.title) == ("My name is Ada.", "s1", "Names")
    assert first.metadata == {"folder": "/home/ada/proj"}
    assert isinstance(second, Record)
    assert (second.text, second.author, second.speaker) == ("Hello Ada.", Author.ASSISTANT, "Claude")


@pytest.mark.parametrize(
    "more",
    [
        {"isMeta": True},
        {"isSidechain": True},
        {"toolUseResult": {}},
        {"isCompactSummary": True},
        {"promptSource": "system"},
        {"origin": {"kind": "task"}},
        {"message": {"content": [{"type": "tool_result", "content": "I always want tabs."}]}},
        {"message": {"content": "<command-name>/clear</command-name>"}},
        {"message": {"content": "/compact now"}},
        {"message": None},
    ],
)
def test_what_programs_put_under_a_persons_name_is_not_theirs(tmp_path: Path, more: dict[str, Any]) -> None:
    found = read(
        folder(tmp_path, {SESSION: [line("hello there"), line("I always want tabs.", name="u2", **more)]}),
        "claude-code",
    )
    assert said(found) == ["hello there"]


def test_a_message_of_a_resumed_session_comes_once(tmp_path: Path) -> None:
    files = {
        SESSION: [line("one of them")],
        "p/other.jsonl": [line("one of them", sessionId="s2"), line("two of them", name="u2")],
    }
    found = read(folder(tmp_path, files), "claude-code")
    assert sorted(said(found)) == ["one of them", "two of them"]


def test_transcripts_of_sub_agents_are_left_out_whole(tmp_path: Path) -> None:
    found = read(
        folder(
            tmp_path, {SESSION: [line("hello there")], "p/agent-12.jsonl": [line("I always want tabs.", name="u2")]}
        ),
        "claude-code",
    )
    assert said(found) == ["hello there"]


def test_lines_that_cannot_be_read_do_not_stop_the_others(tmp_path: Path) -> None:
    import json

    text = "\n".join([json.dumps(line("first one")), "{torn", "[1]", "null", json.dumps(line("last one", name="u2"))])
    found = read(folder(tmp_path, {SESSION: text}), "claude-code")
    assert said(found) == ["first one", "last one"]
    assert reasons(found) == ["a line that is no JSON"]


def event(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    """Return a line of a rollout."""
    return {"timestamp": "2026-03-01T09:00:00.000Z", "type": kind, "payload": payload}


def meta(**more: Any) -> dict[str, Any]:
    """Return the first line of a rollout."""
    return event("session_meta", {"id": "0199", "cwd": "/home/ada/proj", "source": "cli"} | more)


def spoken(role: str, *texts: str) -> dict[str, Any]:
    """Return a message with what is around it."""
    kind = "output_text" if role == "assistant" else "input_text"
    return event(
        "response_item", {"type": "message", "role": role, "content": [{"type": kind, "text": one} for one in texts]}
    )


def test_of_what_codex_writes_twice_the_plain_one_comes(tmp_path: Path) -> None:
    lines = [
        meta(),
        spoken("user", "<environment_context>\n<cwd>/x</cwd>\n</environment_context>"),
        spoken("user", "# AGENTS.md instructions\nAlways tabs."),
        spoken("user", "I use fish."),
        event("event_msg", {"type": "user_message", "message": "I use fish.", "kind": "plain"}),
        spoken("assistant", "Noted."),
    ]
    found = read(folder(tmp_path, {ROLLOUT: lines}), "codex")
    first, second = found
    assert isinstance(first, Record)
    assert (first.text, first.conversation, first.metadata) == ("I use fish.", "0199", {"folder": "/home/ada/proj"})
    assert isinstance(second, Record)
    assert (second.text, second.author) == ("Noted.", Author.ASSISTANT)


def test_a_rollout_without_events_is_read_by_its_messages(tmp_path: Path) -> None:
    lines = [meta(), spoken("user", "<environment_context>x</environment_context>"), spoken("user", "I use fish.")]
    assert said(read(folder(tmp_path, {ROLLOUT: lines}), "codex")) == ["I use fish."]


def test_old_rollouts_have_no_frame_around_messages(tmp_path: Path) -> None:
    lines = [
        {"id": "0198", "timestamp": "2025-05-01T09:00:00Z", "instructions": None},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "I use fish."}]},
    ]
    (found,) = read(folder(tmp_path, {ROLLOUT: lines}), "codex")
    assert isinstance(found, Record)
    assert (found.text, found.conversation) == ("I use fish.", "0198")


@pytest.mark.parametrize("more", [{"thread_source": "subagent"}, {"source": {"subagent": {"thread_spawn": {}}}}])
def test_sessions_that_agents_led_are_left_out_whole(tmp_path: Path, more: dict[str, Any]) -> None:
    found = read(folder(tmp_path, {ROLLOUT: [meta(**more), spoken("user", "I use fish.")]}), "codex")
    assert reasons(found) == ["a session that an agent led with another one"]


@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_what_holds_no_transcript_is_refused_by_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match="holds no"):
        read_as(folder(tmp_path, {"a.jsonl": [{"a": 1}]}), name)
