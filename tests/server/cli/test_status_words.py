"""What `status` says first: who has the memory, what is new, what waits for the person."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from hybrid_memory_mcp.cli.status_words import assistant_rows, maker_rows, memory_rows, waiting_rows, where_rows
from hybrid_memory_mcp.projects import place_of
from hybrid_memory_mcp.runtime.client_options import read_options

NOW = datetime(2026, 11, 28, 9, tzinfo=UTC)
LATELY = dict.fromkeys(("learned", "corrected", "kept", "faded", "forgotten", "erased"), 0)
STORE = {
    "folder": "/m",
    "bytes": 5_500_000,
    "backups": {"count": 0, "bytes": 0, "newest": None},
    "set_aside": {"count": 0, "bytes": 0, "newest": None},
}
VALUES = {
    "version": "1",
    "memories": 0,
    "insights": 0,
    "others": {},
    "forgotten": 0,
    "embedder": "universal:1",
    "lately": {"days": 7, **LATELY, "newest": []},
    "needs_you": [],
    "notices": [],
    "used": {},
    "clients": [],
    "assistants": [],
    "store": STORE,
    "hooks": {"brief": True, "recall": True, "capture": True, "lessons": True, "off_by": None, "clients": {}},
    "other_hubs": [],
    "behind": None,
    "synchronised": [],
    "project": {},
}


def assistant(name, title, state="installed"):
    return {"name": name, "title": title, "state": state}


def said(rows):
    return [": ".join(row) for row in rows]


@pytest.fixture
def nowhere(tmp_path):
    return place_of(str(tmp_path), read_options([]))


def test_an_assistant_is_known_by_what_its_program_calls_itself():
    used = {
        "codex-mcp-client": {"asked": "2026-11-28T08:00:00+00:00", "told": "2026-11-26T09:00:00+00:00"},
        "codex": {"asked": None, "told": "2026-11-28T08:50:00+00:00"},
    }
    rows = said(assistant_rows(VALUES | {"assistants": [assistant("codex", "Codex")], "used": used}, NOW))
    assert rows == ["assistants: Codex: asked 60 minutes ago, told something 10 minutes ago"]


def test_one_that_never_used_it_says_so_and_one_whose_hooks_ran_says_when():
    hooks = VALUES["hooks"] | {"clients": {"gemini": {"at": "2026-11-27T09:00:00+00:00"}}}
    both = [assistant("zed", "Zed"), assistant("gemini", "Gemini CLI", "plugin")]
    assert said(assistant_rows(VALUES | {"assistants": both, "hooks": hooks}, NOW)) == [
        "assistants: Zed: has it, not used yet",
        "assistants: Gemini CLI: its hooks ran 1 day ago",
    ]


def test_a_program_that_install_does_not_know_is_named_as_it_names_itself():
    values = VALUES | {
        "used": {"goose": {"asked": "2026-11-28T08:59:50+00:00", "told": None}},
        "clients": [{"client": "goose"}, {"client": "Zed"}],
        "assistants": [assistant("zed", "Zed")],
    }
    assert said(assistant_rows(values, NOW)) == [
        "assistants: Zed: has it, not used yet; connected",
        "assistants: goose: asked just now; connected",
    ]


def test_an_assistant_is_named_as_people_call_it():
    used = {"cursor-vscode": {"asked": "2026-11-28T08:59:50+00:00", "told": None}}
    assert said(assistant_rows(VALUES | {"used": used}, NOW)) == ["assistants: Cursor: asked just now"]


def test_assistants_without_it_are_named_with_what_gives_it_to_them():
    lacking = [assistant("zed", "Zed", "absent"), assistant("cursor", "Cursor", "absent")]
    (row,) = said(assistant_rows(VALUES | {"assistants": lacking}, NOW))
    assert row == "assistants: without it: Zed, Cursor (`hybrid-memory-mcp install` gives it to them)"


def test_no_assistant_at_all_is_told_how_to_begin():
    assert "install --print" in said(assistant_rows(VALUES, NOW))[0]


def test_what_did_not_happen_and_what_is_not_there_is_not_counted_out(nowhere):
    assert said(memory_rows(VALUES | {"memories": 1}, nowhere, {}, NOW)) == ["memories: 1"]


def test_where_nothing_is_kept_yet_it_says_what_to_do_next(nowhere):
    (row,) = said(memory_rows(VALUES, nowhere, {}, NOW))
    assert row.startswith("memories: none yet; ")
    assert "`hybrid-memory-mcp remember TEXT`" in row


def test_where_a_hook_heard_something_just_now_nothing_yet_is_not_the_last_word(nowhere):
    hooks = VALUES["hooks"] | {"clients": {"codex": {"at": (NOW - timedelta(seconds=5)).isoformat()}}}
    (row,) = said(memory_rows(VALUES | {"hooks": hooks}, nowhere, {}, NOW))
    assert row == "memories: none yet; what you said just now may still be judged, so look again in a minute"


def test_what_is_new_is_told_in_words_with_the_newest(nowhere):
    lately = VALUES["lately"] | {"learned": 2, "kept": 1, "newest": [{"content": "Ada keeps bees.\nAnd goats."}]}
    rows = said(memory_rows(VALUES | {"memories": 3, "insights": 1, "lately": lately}, nowhere, {}, NOW))
    assert rows == [
        "memories: 3; 1 insight",
        "last 7 days: 2 learned, 1 kept for good",
        "newest: Ada keeps bees. And goats.",
    ]


def test_what_other_projects_have_is_told_with_how_to_see_it(nowhere):
    rows = said(memory_rows(VALUES | {"others": {"project:blog": 3, "project:acme shop": 9}}, nowhere, {}, NOW))
    more = "12 more elsewhere: 9 in project acme shop, 3 in project blog"
    assert rows == ["memories: 0", f"memories: {more} (`list --namespace 'project:acme shop'`)"]


def test_the_memories_of_a_project_are_among_those_that_are_counted(nowhere):
    rows = said(memory_rows(VALUES | {"memories": 3}, nowhere, {"memories": 1_200, "insights": 0}, NOW))
    assert rows[0] == "memories: 1,203, 1,200 of them of this project"


OF_A_TOOL = {"kind": "untrusted", "says": "1 memory comes from a tool or a file", "command": ""}
NO_BACKUP = {"kind": "health", "says": "There is no backup yet.", "command": "hybrid-memory-mcp backup"}


@pytest.mark.parametrize(
    ("needs", "notices", "rows"),
    [
        ([], [], ["needs you: nothing"]),
        ([], ["12 memories could not be read."], ["notice: 12 memories could not be read."]),
        (
            [OF_A_TOOL, NO_BACKUP],
            [],
            [
                "needs you: 1 memory comes from a tool or a file (`hybrid-memory-mcp inspect`)",
                "needs you: There is no backup yet (`hybrid-memory-mcp backup`)",
            ],
        ),
    ],
)
def test_what_needs_the_person_is_said_or_that_nothing_does(needs, notices, rows):
    assert said(waiting_rows(VALUES | {"needs_you": needs, "notices": notices})) == rows


def test_where_it_lies_is_one_line_as_long_as_all_is_as_usual():
    assert said(where_rows(VALUES)) == ["store: /m (5.5 MB; no backup yet)"]


def test_where_it_will_lie_is_said_before_the_first_memory():
    assert said(where_rows(VALUES | {"store": STORE | {"bytes": 0}})) == ["store: /m (made with the first memory)"]


def test_hooks_that_are_paused_are_told_with_what_goes_on():
    off = dict.fromkeys(("brief", "recall", "capture", "lessons"), False)
    rows = said(where_rows(VALUES | {"hooks": VALUES["hooks"] | off}))
    assert rows[1] == "hooks: paused; `hybrid-memory-mcp config unset hooks` goes on"


def test_hooks_that_are_off_other_hubs_and_folders_are_told():
    values = VALUES | {
        "hooks": VALUES["hooks"] | {"capture": False, "lessons": True},
        "other_hubs": ["b (1)"],
        "behind": {"changes": 3, "seconds": 1.25},
        "synchronised": [{"folder": "/s", "last": None}],
    }
    assert said(where_rows(values))[1:] == [
        "hooks: brief on, recall on, capture off, lessons on",
        "also served by: b (1)",
        "behind: 3 changes, 1.2 s behind other hubs",
        "synchronised: /s (last news unknown)",
    ]


def test_how_the_store_works_inside_is_told_last_and_no_zero_of_it(nowhere):
    rows = said(maker_rows(VALUES | {"clients": [{"client": "zed", "pid": 7, "session": "d108ae34-9a1c"}]}, nowhere))
    assert "embedder: universal:1" in rows
    assert rows[-1] == "connected: Zed, pid 7"
    assert not any(row.startswith(("forgotten", "memories", "store")) for row in rows)
