"""What an installation says that it does to a file."""

import json

import pytest

from hybrid_memory_mcp.clients.changes import Parts
from hybrid_memory_mcp.clients.installer import Step
from hybrid_memory_mcp.clients.step_words import change_in_words

ENTRY = {"command": "hybrid-memory-mcp"}
HOOK = {"command": "hybrid-memory-mcp hook stop --client cursor"}
OLD = {"command": "/old/hybrid-memory-mcp hook stop --client cursor"}
PARTS = Parts(path=("mcpServers", "memory"), entry=ENTRY, hooks={"stop": [HOOK]})


def text(entry=None, hooks=()):
    return json.dumps({"mcpServers": {"memory": entry} if entry else {}, "hooks": {"stop": list(hooks)}})


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("", text(ENTRY, [HOOK]), "adds the server `memory` and 1 hook"),
        (text(), text(ENTRY, [HOOK, HOOK]), "adds the server `memory` and 2 hooks"),
        (text({"command": "npx"}), text(ENTRY), "replaces the server `memory`"),
        (text({"command": "npx"}), text(ENTRY, [HOOK]), "replaces the server `memory`, adds 1 hook"),
        (text(ENTRY, [OLD]), text(ENTRY, [HOOK]), "updates 1 hook"),
        (text(ENTRY, [HOOK]), text(ENTRY), "removes 1 hook"),
        (text(ENTRY, [HOOK]), text(), "removes the server `memory` and 1 hook"),
        (text(ENTRY), "", "removes the server `memory`, and the file"),
        (text(ENTRY), text(ENTRY) + "\n", "tidies up"),
        (text(ENTRY), text(ENTRY), ""),
    ],
)
def test_a_step_is_told_in_a_phrase(tmp_path, before, after, words):
    step = Step(tmp_path / "mcp.json", PARTS, uninstall=False, before=before, after=after)
    assert change_in_words(step) == words
