"""Whatever is in an export, a reader gives records and reasons, never an error."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hybrid_memory_importers.formats import format_named
from hybrid_memory_importers.record import Record, Skipped
from hybrid_memory_importers.selection import Choice, select
from hybrid_memory_importers.source import open_source

WORDS = """
mapping message author role content content_type parts text user assistant current_node parent children metadata create_time root
user_editable_context user_context_message_data chat_messages sender human uuid parent_message_uuid conversations_memory
project_memories memory_files docs prompt_template messages contentBlocks header title time products safeHtmlItem html
conversation_turns user_turn system_turn prompt Prompted type payload event_msg user_message response_item session_meta input_text
attachment timestamp id
""".split()  # noqa: SIM905 - so that they are read as a list
FILES = {
    "chatgpt": "conversations.json",
    "claude": "conversations.json",
    "gemini": "MyActivity.json",
    "claude-code": "s.jsonl",
    "codex": "rollout-1.jsonl",
}
SIGNS = {
    "claude-code": '{"sessionId": "s", "parentUuid": null}\n',
    "codex": '{"type": "session_meta", "payload": {}}\n',
}
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**62), 2**62)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(WORDS)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=6),
    max_leaves=25,
)


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(values=st.lists(st.dictionaries(st.sampled_from(WORDS), VALUES, min_size=1, max_size=8) | VALUES, max_size=4))
def test_any_json_is_read_to_its_end(tmp_path_factory, name, values):
    folder = tmp_path_factory.mktemp("any")
    lines = SIGNS.get(name, "") + "".join(json.dumps(one) + "\n" for one in values)
    (folder / FILES[name]).write_text(lines if FILES[name].endswith("l") else json.dumps(values), encoding="utf-8")

    found = list(format_named(name).read(open_source(folder)))

    assert all(isinstance(one, Record | Skipped) for one in found)
    keys = [one.key for one in found if isinstance(one, Record)]
    assert len(keys) == len(set(keys))
    assert all(one.text.strip() and (one.at is None or one.at.tzinfo) for one in found if isinstance(one, Record))
    assert len(list(select(found, Choice()))) >= len(keys)
