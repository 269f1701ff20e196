"""How a memory's life looks on a terminal and in a pipe."""

import pytest
from rich.cells import cell_len

from hybrid_memory_mcp.cli import history_text, memory_text
from hybrid_memory_mcp.cli.history_text import print_history

OLD, NEW = "06h082aa7p6hm85pxyqj", "06h0877v2h6hm85pxyqk"
AT = "2026-01-10T12:00:00+00:00"


def version(id_, content, **fields):
    return {
        "id": id_,
        "content": content,
        "kind": "observation",
        "tier": "long_term",
        "state": "current",
        "created_at": AT,
        "origin": "user",
        "trust": "user",
        "session": "s",
        "recalls": 0,
        "recalled_at": None,
    } | fields


def event(id_, action, note, by="command line"):
    return {"id": id_, "at": AT, "action": action, "by": by, "note": note}


LIFE = {
    "versions": [
        version(
            OLD, "The choir rehearses on Tuesdays.", state="superseded", superseded_by=NEW, recalls=3, recalled_at=AT
        ),
        version(NEW, "The choir rehearses on Thursdays.", supersedes=OLD, pinned=True),
    ],
    "events": [
        event(OLD, "remember", "short_term", by="hook of claude-code"),
        event(OLD, "embed", "vector", by="late work"),
        event(OLD, "update", f"superseded by {NEW}"),
        event(NEW, "update", f"long_term, supersedes {OLD}"),
        event(NEW, "update", "pinned"),
    ],
}


@pytest.fixture
def lines(monkeypatch, capsys):
    def lines(found, width=80, *, terminal=True):
        for module in (history_text, memory_text):
            monkeypatch.setattr(module, "is_terminal", lambda: terminal)
        monkeypatch.setattr(history_text, "moment", lambda at: at and "2026-01-10 12:00")
        monkeypatch.setenv("COLUMNS", str(width))
        print_history(found)
        return capsys.readouterr().out.splitlines()

    return lines


def test_each_version_stands_with_what_happened_to_it_and_nothing_is_said_twice(lines):
    assert lines(LIFE) == [
        f"1  {OLD}  kept, superseded",
        "   The choir rehearses on Tuesdays.",
        "   2026-01-10 12:00  Learned by Claude Code: began as “in mind”",
        "   recalled 3 times, last 2026-01-10 12:00",
        f"2  {NEW}  kept, pinned",
        "   The choir rehearses on Thursdays.",
        "   2026-01-10 12:00  Corrected by the command line: began as “kept”",
        "   2026-01-10 12:00  Changed by the command line: comes first in every brief",
    ]


@pytest.mark.parametrize("content", ["word " * 100, "x" * 500, "שלום עולם " * 30])
def test_no_line_is_wider_than_the_terminal_and_no_id_is_cut(lines, content):
    shown = lines({"versions": [version(OLD, content)], "events": LIFE["events"]}, 60)
    assert all(cell_len(line) <= 60 for line in shown)
    assert shown[0].startswith(f"1  {OLD}")


def test_of_what_was_purged_the_log_tells_what_happened(lines):
    shown = lines({"versions": [], "events": [event(OLD, "purge", "")]})
    assert shown == [OLD, "   2026-01-10 12:00  Erased for good by the command line"]


def test_in_a_pipe_each_version_and_each_entry_of_the_log_is_a_line(lines):
    piped = lines(LIFE, terminal=False)
    assert [line.split("\t")[0] for line in piped] == [OLD, NEW, OLD, OLD, OLD, NEW, NEW]
    assert "origin user, trust user, session s" in piped[0]
    assert piped[3].split("\t")[2:] == ["embed", "late work", "vector"]
