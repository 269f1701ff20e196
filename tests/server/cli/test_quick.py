"""`recall` and `remember` without typer: the same command lines, read in the same way, or left to typer."""

import subprocess
import sys

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each
from typer.testing import CliRunner

from hybrid_memory.clock import SystemClock
from hybrid_memory.model import Kind, MemoryType, Trust
from hybrid_memory.requests import BRIEF_PAGE, DEFAULT_PAGE, MemoryState
from hybrid_memory_mcp.cli import memories, memory_text, quick
from hybrid_memory_mcp.cli.commands import app

HEAVY = ("duckdb", "numpy", "mcp", "pydantic", "anyio", "asyncio", "typer", "rich", "hybrid_memory.settings")
COMMANDS = {name: typer.main.get_command(app).commands[name] for name in quick.OPTIONS}
PARTS = [
    "Ada",
    "likes tea",
    "-",
    "--",
    "- buy milk",
    "-5",
    "",
    "--json",
    "--reveal",
    "--pin",
    "--limit",
    "--limit=3",
    "7",
    "101",
    "--tag",
    "--tag=work",
    "--importance",
    "0.5",
    "2",
    "nan",
    "--session",
    "--namespace",
    "project:",
    "--home",
    "somewhere",
    "--help",
    "--no-such",
]


class Asked(Exception):
    """What a command has asked for."""


def by_typer(command, arguments, monkeypatch):
    """The home, the namespace and the arguments of the operation that typer's command asks for; None where it asks for none."""

    def asked(home, operation, given, namespace, *, writes=False):
        raise Asked(home and str(home), operation, dict(given), namespace)

    monkeypatch.setattr(memories, "call_here", asked)
    monkeypatch.setattr("hybrid_memory_mcp.cli.arguments.can_ask", lambda: False)
    found = CliRunner().invoke(app, [command, *arguments]).exception
    return found.args if isinstance(found, Asked) else None


def by_quick(command, arguments):
    try:
        line = quick.read_line(arguments, quick.OPTIONS[command])
        given = quick.given_of(command, line)
    except quick.NotPlain:
        return None
    return line.values.get("--home"), command, given, line.values.get("--namespace")


@pytest.mark.slow
@given(st.sampled_from(sorted(quick.OPTIONS)), st.lists(st.sampled_from(PARTS), max_size=5))
def test_what_is_read_without_typer_is_what_typer_reads(command, arguments):
    plain = by_quick(command, arguments)
    if plain is not None:
        with pytest.MonkeyPatch.context() as patch:
            assert by_typer(command, arguments, patch) == plain


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("recall", ["Where", "does Ada live?", "--limit", "3", "--json"]),
        ("recall", []),
        ("remember", ["Ada likes tea", "--importance=0.5", "--tag", "work", "--tag", "tea", "--pin"]),
        ("remember", ["Ada likes tea", "--namespace", "work", "--home", "somewhere"]),
    ],
)
def test_what_people_mostly_type_is_read_without_typer(command, arguments, monkeypatch):
    assert by_quick(command, arguments) == by_typer(command, arguments, monkeypatch) is not None


@each("wrong", [["--no-such"], ["-h"], ["--limit"], ["--since", "yesterday"], ["-"], ["--home="]])
def test_what_is_not_plain_is_left_to_typer(wrong):
    assert by_quick("recall", ["Ada", *wrong]) is None


@pytest.mark.parametrize("command", sorted(quick.OPTIONS))
def test_the_options_are_those_of_the_command(command):
    of_typer = {name: one.is_flag for one in COMMANDS[command].params for name in one.opts if name.startswith("--")}
    plain = quick.OPTIONS[command]
    told = dict.fromkeys(plain[quick.FLAGS], True) | dict.fromkeys(plain[quick.VALUES], False)
    assert {name: of_typer.get(name) for name in told} == told


def test_numbers_and_words_are_those_of_the_library():
    assert (quick.DEFAULT_LIMIT, quick.BRIEF_LIMIT) == (DEFAULT_PAGE, BRIEF_PAGE)
    assert quick.given_of("remember", quick.read_line(["x"], quick.OPTIONS["remember"]))["memory_type"] == (
        MemoryType.LONG_TERM.value
    )
    assert (
        Kind.OBSERVATION.value,
        MemoryState.CURRENT.value,
        Trust.UNTRUSTED.value,
    ) == (memory_text.OBSERVATION, memory_text.CURRENT, memory_text.UNTRUSTED)


def test_what_is_remembered_today_is_of_one_session():
    assert quick.session_of_today() == f"terminal-{SystemClock().now().astimezone():%Y-%m-%d}"


@pytest.mark.parametrize("chosen", ["HYBRID_MEMORY_NAMESPACE", "hybrid_memory_timezone"])
def test_a_person_who_chose_more_is_left_to_typer(chosen, tmp_path):
    assert quick.run(["remember", "Ada", "--home", str(tmp_path)], {chosen: "x"}) is None


def test_a_question_where_no_store_is_is_left_to_typer(tmp_path):
    home = tmp_path / "none"
    assert quick.run(["recall", "Ada", "--home", str(home)], {}) is None
    assert not home.exists()


def test_nothing_that_takes_long_is_imported_before_the_answer():
    asked = f"import sys, hybrid_memory_mcp.cli.quick, hybrid_memory_mcp.cli.streams; print(*set({HEAVY}) & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert found.stdout.split() == []
