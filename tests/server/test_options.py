from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from hybrid_memory.errors import InvalidInput
from hybrid_memory_mcp.__main__ import serves_here
from hybrid_memory_mcp.options import read_options


@pytest.fixture(autouse=True)
def no_variables(monkeypatch):
    for name in ("HOME", "NAMESPACE", "AGENT", "SESSION", "TIMEZONE", "PROMPTS", "EMBEDDER"):
        monkeypatch.delenv(f"HYBRID_MEMORY_{name}", raising=False)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], True),
        (["--standalone"], True),
        (["--namespace", "work"], True),
        (["serve", "--standalone"], True),
        (["serve", "--standalone", "--home", "x"], True),
        (["serve", "--http"], False),
        (["serve", "--help"], False),
        (["--help"], False),
        (["-h"], False),
        (["--version"], False),
        (["doctor"], False),
    ],
)
def test_only_serving_in_this_process_is_done_without_the_command_line(arguments, expected):
    assert serves_here(arguments) is expected


def test_without_anything_the_defaults_hold():
    options = read_options([])
    assert (options.namespace, options.agent, options.session, options.zone) == ("default", "default", None, None)
    assert options.scope("s-made-up").session == "s-made-up"


def test_variables_are_read_and_arguments_win(monkeypatch, tmp_path):
    monkeypatch.setenv("HYBRID_MEMORY_NAMESPACE", "from-variable")
    monkeypatch.setenv("HYBRID_MEMORY_TIMEZONE", "Europe/Berlin")
    monkeypatch.setenv("HYBRID_MEMORY_HOME", str(tmp_path))
    options = read_options(["serve", "--standalone", "--namespace", "from-argument", "--session", "s"])
    assert options.namespace == "from-argument"
    assert options.zone == ZoneInfo("Europe/Berlin")
    assert options.home == tmp_path
    assert options.scope("s-made-up").session == "s"


def test_an_unknown_zone_is_refused():
    with pytest.raises(InvalidInput, match="timezone"):
        read_options(["--timezone", "../../etc/passwd"])


def test_an_unknown_option_ends_the_program(capsys):
    with pytest.raises(SystemExit):
        read_options(["--colour"])
    assert "--colour" in capsys.readouterr().err


def test_folders_may_begin_with_a_tilde(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "templates").mkdir()
    assert read_options(["--prompts", "~/templates"]).prompts == tmp_path / "templates"


def test_a_folder_of_templates_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="prompts"):
        read_options(["--prompts", str(tmp_path / "nowhere")])
