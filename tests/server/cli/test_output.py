"""What all commands print with: text that does nothing to a terminal, JSON, errors, rows."""

import json
import unicodedata

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each
from typer.testing import CliRunner

from hybrid_memory.errors import ConfirmationNeeded, StoreLocked, StoreMissing, error_code
from hybrid_memory_mcp.admin.hub_client import OperationFailed
from hybrid_memory_mcp.cli import output
from hybrid_memory_mcp.cli.command_group import CommandGroup
from hybrid_memory_mcp.cli.operation_call import AsJson
from hybrid_memory_mcp.cli.output import shown

ACTS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@given(st.text(st.one_of(st.characters(), st.sampled_from("\x1b\u202e\u2066\x9b\r\n\u2028\U000e0041")), max_size=30))
def test_shown_text_has_no_character_that_acts_on_a_terminal(text):
    for one in shown(text):
        assert unicodedata.category(one) not in {"Cc", "Cs", "Zl", "Zp"}
        assert unicodedata.bidirectional(one) not in ACTS


@each(
    "text",
    [
        "¿Dónde?",
        "猫が好き",
        "هو يحب القهوة",
        "👩 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "naïve — 50 %",
        "میخواهم",
    ],
)
def test_letters_of_all_scripts_and_emoji_are_shown_as_they_are(text):
    assert shown(text) == text


def test_an_escape_sequence_is_written_out():
    assert shown("a\x1b]0;owned\x07b\u202ec") == "a\\u001b]0;owned\\u0007b\\u202ec"


def test_a_text_of_several_lines_is_shown_in_one_unless_lines_are_wanted():
    assert shown("a\n\nb\r\nc") == "a ⏎ b ⏎ c"
    assert shown("a\nb", lines=True) == "a\nb"


@pytest.mark.slow
@given(
    st.recursive(
        st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    )
)
def test_printed_json_is_the_value_and_harmless(value):
    printed = _printed(lambda: output.print_json(value))
    assert json.loads(printed) == value
    assert not any(unicodedata.bidirectional(one) in ACTS or one in "\x1b\x9b" for one in printed)


def _printed(work):
    app = typer.Typer()
    app.command()(work)
    return CliRunner().invoke(app, []).stdout


def test_rows_in_a_pipe_are_lines_with_tabs_between():
    printed = _printed(lambda: output.print_rows(("id", "text"), [("a1", "x\ty\nz [bold]"), ("b2", None)]))
    assert printed == "a1\tx    y ⏎ z [bold]\nb2\t\n"


def test_values_in_a_pipe_are_lines_with_names():
    assert _printed(lambda: output.print_values([("size", 3), ("what", ":smile:")])) == "size: 3\nwhat: :smile:\n"


def test_progress_leaves_a_line_now_and_then_where_no_terminal_is(monkeypatch, capsys):
    now = 0.0
    monkeypatch.setattr(output.time, "monotonic", lambda: now)
    with output.progress("importing") as tell:
        for done in range(12):
            now = float(done)
            tell(done, 12)
    captured = capsys.readouterr()
    assert captured.err == "importing: 5 of 12\nimporting: 10 of 12\n"
    assert captured.out == ""


def test_an_error_has_the_name_of_its_class_for_programs():
    assert error_code(StoreLocked()) == "store_locked"
    assert error_code(ConfirmationNeeded(3)) == "confirmation_needed"
    assert error_code(OperationFailed("x", "not_found")) == "not_found"
    assert error_code(OperationFailed("x", None)) == "failed"


@pytest.fixture
def app():
    app = typer.Typer(cls=CommandGroup)

    @app.callback()
    def root():
        pass

    @app.command()
    def fails(number: int = 0, as_json: AsJson = False):
        with output.one_line_errors():
            raise StoreMissing("/nowhere")

    @app.command()
    def crashes(as_json: AsJson = False):
        raise ZeroDivisionError

    @app.command()
    def asks(as_json: AsJson = False):
        output.confirm("Sure?")

    def run(*arguments, **options):
        return CliRunner().invoke(app, arguments, **options)

    return run


def test_an_error_is_one_line_on_stderr(app):
    done = app("fails")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "there is no memory in /nowhere yet" in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_error_is_json_too_where_json_is_wanted(app):
    done = app("fails", "--json")
    error = json.loads(done.stdout)["error"]
    assert (done.exit_code, error["code"], error["exit_code"]) == (1, "store_missing", 1)
    assert error["message"] in done.stderr


@pytest.mark.parametrize(
    "wrong", [["fails", "--no-such"], ["no-such"], ["fails", "--number", "x"], ["--no-such", "fails"]]
)
def test_a_command_line_that_is_wrong_is_told_as_json_too(app, wrong):
    done = app(*wrong, "--json")
    error = json.loads(done.stdout)["error"]
    assert (done.exit_code, error["code"], error["exit_code"]) == (2, "usage", 2)
    assert app(*wrong).stdout == ""


def test_a_bug_is_told_as_json_without_its_words(app):
    done = app("crashes", "--json")
    assert (done.exit_code, json.loads(done.stdout)["error"]["code"]) == (1, "internal")


def test_a_question_is_answered_by_yes(app):
    assert app("asks", input="y\n").exit_code == 0


def test_a_question_answered_with_no_ends_with_one_and_one_that_nobody_answers_with_two(app):
    assert app("asks", input="n\n").exit_code == 1
    done = app("asks", "--json", input="")
    assert (done.exit_code, json.loads(done.stdout)["error"]["code"]) == (2, "usage")
    assert "--yes" in done.stderr


def test_a_grid_names_what_several_rows_belong_to_once_and_cuts_nothing(monkeypatch, capsys):
    monkeypatch.setattr(output, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    rows = [("cursor", "adds 5 hooks", "x" * 30), ("cursor", "adds the server", "\x1b[2J"), ("zed", "nothing", "")]
    output.print_grid(rows)
    printed = capsys.readouterr().out
    assert (printed.count("cursor"), printed.count("x")) == (1, 30)
    assert "\x1b[2J" not in printed
    assert max(map(len, printed.splitlines())) <= 40


def test_a_grid_is_a_line_for_each_row_in_a_pipe(capsys):
    output.print_grid([("cursor", "a"), ("cursor", "b")])
    assert capsys.readouterr().out == "cursor\ta\ncursor\tb\n"


def test_rows_stand_below_each_other_where_a_terminal_is_too_narrow_for_a_table(monkeypatch, capsys):
    monkeypatch.setattr(output, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "30")
    output.print_rows(
        ("setting", "value", "what it means"), [("keep_backups", 10, "Backups kept in the store's folder.")]
    )
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "keep_backups"
    assert printed[1].startswith("  value: 10; what it means")
    assert max(map(len, printed)) <= 30
