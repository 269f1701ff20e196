"""What each client is told: its documented JSON, only where it is heard, and nothing where there is nothing to say."""

import json

import pytest
from tests.tables import each

from hybrid_memory_mcp.hooks.answers import answer
from hybrid_memory_mcp.hooks.definitions import EVENT_NAMES, EVENTS

PAIRS = [(client, event) for client, names in EVENT_NAMES.items() for event in names]


def told(client, event, context="", kept=0, loaded=0):
    said = answer(client, event, context, kept=kept, loaded=loaded)
    return json.loads(said) if said else None


@each("client, event", PAIRS)
def test_where_nothing_was_kept_or_loaded_nothing_is_printed(client, event):
    assert answer(client, event, "", kept=0, loaded=0) == b""


@each("client, event", PAIRS)
def test_nothing_that_is_printed_can_hold_a_conversation_up(client, event):
    said = told(client, event, "context", 2, 3) or {}
    assert not {"decision", "continue", "stopReason", "reason", "followup_message", "permission"} & set(said)


@each("client", ["claude-code", "codex", "gemini"])
@each("event", ["session-start", "prompt"])
def test_context_and_a_word_for_the_person(client, event):
    assert told(client, event, "known", 2, 3) == {
        "systemMessage": "Memory: 2 kept, 3 loaded",
        "hookSpecificOutput": {"hookEventName": EVENT_NAMES[client][event], "additionalContext": "known"},
    }


@pytest.mark.parametrize("client", ["claude-code", "codex", "gemini"])
def test_at_the_end_of_a_turn_the_person_is_told_and_the_model_is_not(client):
    """Context there makes a client go on."""
    assert told(client, "stop", "known", 1) == {"systemMessage": "Memory: 1 kept"}


@pytest.mark.parametrize("client", ["claude-code", "codex", "cursor"])
def test_at_the_end_of_a_conversation_nobody_listens(client):
    assert told(client, "session-end", "", 4) is None


def test_cursor_takes_context_at_the_start_and_a_message_before_it_compacts():
    assert told("cursor", "session-start", "known", 0, 3) == {"additional_context": "known"}
    assert told("cursor", "pre-compact", "", 2) == {"user_message": "Memory: 2 kept"}
    assert told("cursor", "prompt", "known", 2, 3) is told("cursor", "stop", "", 2) is None


@each("event", EVENTS)
def test_windsurf_gives_nothing_to_its_model(event):
    assert told("windsurf", event, "known", 2, 3) is None
