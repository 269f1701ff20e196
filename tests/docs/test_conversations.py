"""The conversations that the guide and the page on hooks show are held with the real hooks, and go as they are shown.

A block marked `conversation` has conversations between empty lines. The first line of each names it, and ends with "begins with" where
what it begins with is shown; "> " is typed, and below it is what the hook answers: its line for the person, and what comes with it.
"""

import re
from pathlib import Path

import pytest
from tests.docs.page_blocks import PROJECT, blocks_of
from tests.server.hubs import short_folder
from tools.first_minute import Conversation, Player, context_of

from hybrid_memory_mcp.admin.hub_client import stop_hub

BLOCKS = [
    block
    for page in sorted((PROJECT / "docs").glob("*.md"))
    for block in blocks_of(page)
    if block.language == "conversation"
]
_LINE = re.compile(r'^[0-9a-z]{20} \S+ \S+ (".*)$', re.MULTILINE)
_ID = re.compile(r"\b[0-9a-z]{20}\b")


@pytest.fixture
def player():
    with short_folder() as home:
        home.mkdir()
        player = Player(home)
        player.connect()
        yield player
        player.leave()
        for database in home.rglob("memory.duckdb"):
            stop_hub(database.parent)


def shown(context):
    """The lines of memories that a model is given, without ids and days."""
    return [_ID.sub("ID", line) for line in _LINE.findall(context)]


def held(player, text):
    """A block as it goes: each conversation begins where it is shown to, and each message is typed."""
    lines = []
    for number, part in enumerate(text.strip().split("\n\n")):
        name, *rest = part.splitlines()
        conversation = Conversation(f"{number}", "", "gemini", "Gemini CLI")
        lines.append(name)
        if name.endswith("begins with"):
            start = player.event(conversation, "session-start", "SessionStart", source="startup")
            lines += shown(context_of(start))
        for line in rest:
            if line.startswith("> "):
                answer = player.event(conversation, "prompt", "BeforeAgent", prompt=line[2:])
                said = answer.get("systemMessage")
                lines += [line, *([said] if said else []), *shown(context_of(answer))]
        player.event(conversation, "session-end", "SessionEnd")
        lines.append("")
    return "\n".join(lines[:-1]) + "\n"


@pytest.mark.daily
@pytest.mark.slow
@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_a_conversation_goes_as_the_page_shows_it(block, player):
    assert held(player, block.text) == block.text


def test_the_guide_and_the_page_on_hooks_show_conversations():
    assert {Path(block.page).name for block in BLOCKS} == {"guide.md", "hooks.md"}
