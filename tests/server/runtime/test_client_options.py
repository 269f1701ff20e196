from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest
from tests.tables import each

from hybrid_memory.errors import InvalidInput
from hybrid_memory_mcp.__main__ import role_of
from hybrid_memory_mcp.runtime.client_options import read_options


@each(
    "arguments, role",
    [
        ([], "relay"),
        (["--namespace", "work"], "relay"),
        (["serve"], "relay"),
        (["serve", "--home", "x"], "relay"),
        (["--standalone"], "standalone"),
        (["serve", "--standalone"], "standalone"),
        (["serve", "--standalone", "--home", "x"], "standalone"),
        (["hub", "--home", "x"], "hub"),
        (["serve", "--http"], "commands"),
        (["serve", "--help"], "commands"),
        (["--help"], "commands"),
        (["-h"], "commands"),
        (["--version"], "commands"),
        (["doctor"], "commands"),
    ],
)
def test_the_arguments_alone_say_what_the_process_is(arguments, role):
    assert role_of(arguments) == role


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


def test_an_unknown_option_is_told():
    with pytest.raises(InvalidInput, match="--colour"):
        read_options(["--colour"])


def test_folders_may_begin_with_a_tilde(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "templates").mkdir()
    assert read_options(["--prompts", "~/templates"]).prompts == tmp_path / "templates"


def test_a_folder_of_templates_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="prompts"):
        read_options(["--prompts", str(tmp_path / "nowhere")])
