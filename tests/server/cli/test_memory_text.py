"""How memories look in a terminal of any width, and in a pipe."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from hybrid_memory_mcp.cli import memory_text
from hybrid_memory_mcp.cli.memory_text import marks_of, print_memories, print_whole

ID = "06h082aa7p6hm85pxyqj"
TEXTS = {
    "latin": "The rehearsal of the string quartet was moved from Tuesday to Thursday because the hall is taken. " * 3,
    "hebrew": "החזרה של הרביעייה הועברה מיום שלישי ליום חמישי כי האולם תפוס באותו ערב " * 3,
    "chinese": "四重奏的排练从星期二改到星期四，因为那天晚上大厅已经被别人预订了。" * 5,
    "one word": "x" * 500,
}


def told(**fields):
    return {
        "id": ID,
        "content": "a",
        "kind": "observation",
        "tier": "long_term",
        "created_at": "2026-01-10T12:00:00+00:00",
    } | fields


@pytest.fixture
def terminal(monkeypatch, capsys):
    """Prints memories on a terminal of some width; returns its lines."""

    def lines(width, *memories, whole=False):
        monkeypatch.setattr(memory_text, "is_terminal", lambda: True)
        monkeypatch.setenv("COLUMNS", str(width))
        if whole:
            print_whole(memories[0])
        else:
            print_memories(memories)
        return capsys.readouterr().out.splitlines()

    return lines


@pytest.mark.parametrize("width", [60, 200])
@pytest.mark.parametrize("script", TEXTS)
def test_no_line_is_wider_than_the_terminal_and_no_id_is_cut(terminal, width, script):
    lines = terminal(width, told(content=TEXTS[script], tags=["music", "work"], pinned=True))
    assert all(cell_len(line) <= width for line in lines)
    assert lines[0].startswith(f"{ID}  ")
    told_below = lines[1:] if "#work" in lines[0] else lines[2:]
    assert "".join(line.strip() for line in told_below).replace(" ", "") == TEXTS[script].replace(" ", "")


def test_text_stands_on_lines_of_its_own_so_that_one_that_runs_from_the_right_turns_nothing_else_round(terminal):
    lines = terminal(80, told(content="שלום עולם"))
    assert lines[1:] == ["  שלום עולם"]


def test_a_very_long_text_leaves_room_for_others_and_is_whole_where_it_is_shown(terminal):
    long = "word " * 2_000
    assert len(terminal(80, told(content=long))) < 12
    whole = [line for line in terminal(80, told(content=long), whole=True) if line.startswith("  ")]
    assert sum(line.count("word") for line in whole) == 2_000


@given(st.text(min_size=1, max_size=60), st.lists(st.text(min_size=1, max_size=9), max_size=2))
def test_in_a_pipe_each_memory_is_one_line_of_four_parts(text, tags):
    with pytest.MonkeyPatch.context() as patch:
        printed = []
        patch.setattr(memory_text, "is_terminal", lambda: False)
        patch.setattr(memory_text, "print_line", printed.append)
        print_memories([told(content=text, tags=tags)])
    (line,) = printed
    assert len(line.split("\t")) == 4
    assert len((line + ".").splitlines()) == 1
    assert "\x1b" not in line


def test_what_is_remarkable_is_told():
    assert marks_of(told()) == marks_of(told(occurred_at=told()["created_at"])) == ["kept"]
    assert marks_of(told(occurred_at="2021-06-01T12:00:00+00:00")) == ["kept", "happened 2021-06-01"]
    assert marks_of(
        told(kind="insight", state="superseded", pinned=True, trust="untrusted", origin="tool", tags=("a",))
    ) == [
        "insight",
        "superseded",
        "pinned",
        "untrusted, from tool",
        "#a",
    ]
