"""The command `config`: what holds, where it comes from, and changing it."""

import json
import tomllib

import pytest
from typer.testing import CliRunner

from hybrid_memory.settings import OWN_NOTES, ClientSettings, StoreSettings
from hybrid_memory_mcp.cli.commands import app
from hybrid_memory_mcp.cli.config import _OFTEN

MINE = """# what I like
keep_backups = 3  # few
keep_bakups = 4

[hooks]
capture = false  # never
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    for name in ("KEEP_BACKUPS", "NAMSPACE", "ALPHA", "HOOKS", "SECRETS"):
        monkeypatch.delenv(f"HYBRID_MEMORY_{name}", raising=False)
    (tmp_path / "config.toml").write_text(MINE)
    return tmp_path


def run(home, *words):
    return CliRunner().invoke(app, ["config", *words, "--home", str(home)])


def seen(home):
    values = json.loads(run(home, "--json").stdout)
    return values | {"settings": {one["name"]: one for one in values["settings"]}}


def test_every_setting_of_the_program_is_shown_with_what_it_means(home):
    shown = seen(home)["settings"]
    names = {*ClientSettings.model_fields, *StoreSettings.model_fields} - {"hooks"} - OWN_NOTES
    assert names <= shown.keys()
    assert all(one["meaning"] for one in shown.values())


def names(shown):
    return [line.split("\t")[0] for line in shown.stdout.splitlines()]


def test_a_person_sees_about_twenty_settings_and_all_of_them_if_asked(home):
    assert 15 <= len(names(run(home))) <= 22
    assert names(run(home, "--all")) == list(seen(home)["settings"])
    assert f"{len(seen(home)['settings']) - len(names(run(home)))} more are at their default" in run(home).stderr


def test_a_setting_that_somebody_turned_or_that_is_wrong_is_always_shown(home, monkeypatch):
    assert not {"short_term_buffer", "alpha"} & {*names(run(home))}
    (home / "config.toml").write_text("short_term_buffer = 7\n")
    monkeypatch.setenv("HYBRID_MEMORY_ALPHA", "heavy")
    assert {"short_term_buffer", "alpha"} <= {*names(run(home))}


def test_what_is_shown_first_are_settings(home):
    assert seen(home)["settings"].keys() >= _OFTEN


def test_a_value_says_where_it_comes_from(home, monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_SECRETS", "mask")
    shown = seen(home)["settings"]
    assert (shown["home"]["source"], shown["home"]["place"]) == ("option", "--home")
    assert (shown["secrets"]["value"], shown["secrets"]["place"]) == ("mask", "HYBRID_MEMORY_SECRETS")
    assert (shown["keep_backups"]["value"], shown["keep_backups"]["place"]) == (3, str(home / "config.toml"))
    assert (shown["hooks.capture"]["value"], shown["hooks.capture"]["source"]) == (False, "file")
    assert (shown["scorer"]["value"], shown["scorer"]["source"]) == ("fused", "default")


def test_a_variable_wins_over_the_file(home, monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_KEEP_BACKUPS", "7")
    assert seen(home)["settings"]["keep_backups"]["value"] == 7


def test_without_an_option_the_variable_or_the_default_names_the_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_HOME", str(tmp_path))
    (home, *_) = json.loads(CliRunner().invoke(app, ["config", "--json"]).stdout)["settings"]
    assert (home["value"], home["place"]) == (str(tmp_path), "HYBRID_MEMORY_HOME")
    monkeypatch.delenv("HYBRID_MEMORY_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    (home, *_) = json.loads(CliRunner().invoke(app, ["config", "--json"]).stdout)["settings"]
    assert home["source"] == "default"
    assert home["value"].endswith("hybrid-memory-mcp")


def test_names_that_are_no_setting_are_told_with_the_nearest(home, monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_NAMSPACE", "x")
    unknown = {one["name"]: one["nearest"] for one in seen(home)["unknown"]}
    assert unknown == {"HYBRID_MEMORY_NAMSPACE": "HYBRID_MEMORY_NAMESPACE", "keep_bakups": "keep_backups"}
    assert "keep_bakups" in run(home).stderr


def test_a_setting_of_an_earlier_version_is_told_and_can_be_taken_out_but_not_set(home, monkeypatch):
    (home / "config.toml").write_text("linger_seconds = 7\n")
    monkeypatch.setenv("HYBRID_MEMORY_CONNECTIONS", "7")
    assert [(one["name"], one["former"]) for one in seen(home)["unknown"]] == [
        ("HYBRID_MEMORY_CONNECTIONS", True),
        ("linger_seconds", True),
    ]
    assert f"linger_seconds in {home / 'config.toml'} is no longer used" in run(home).stderr
    assert run(home, "set", "linger_seconds", "5").exit_code == 2
    assert run(home, "unset", "linger_seconds").exit_code == 0
    assert (home / "config.toml").read_text() == ""


def test_a_value_that_cannot_be_used_is_shown_with_what_is_wrong(home, monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_ALPHA", "heavy")
    alpha = seen(home)["settings"]["alpha"]
    assert (alpha["value"], alpha["problem"]) == ("heavy", "must be a number")


def test_setting_a_value_keeps_comments_and_all_else(home):
    assert run(home, "set", "keep_backups", "30").exit_code == 0
    assert (home / "config.toml").read_text() == MINE.replace("= 3 ", "= 30 ")


def test_a_new_value_stands_before_the_tables(home):
    run(home, "set", "secrets", "mask")
    assert tomllib.loads((home / "config.toml").read_text())["secrets"] == "mask"


@pytest.mark.parametrize(("word", "value"), [("off", False), ("true", True)])
def test_a_switch_is_set_in_its_table(home, word, value):
    run(home, "set", "hooks.brief", word)
    assert tomllib.loads((home / "config.toml").read_text())["hooks"] == {"capture": False, "brief": value}
    assert "# never" in (home / "config.toml").read_text()


def test_one_switch_is_set_where_a_single_word_stood_for_all(home):
    (home / "config.toml").write_text("hooks = false\n")
    run(home, "set", "hooks.recall", "on")
    held = tomllib.loads((home / "config.toml").read_text())["hooks"]
    assert held == {"brief": False, "recall": True, "capture": False, "lessons": False}


def test_all_switches_are_set_by_one_word(home):
    assert run(home, "set", "hooks", "off").exit_code == 0
    assert [one["value"] for name, one in seen(home)["settings"].items() if name.startswith("hooks.")] == [False] * 4


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("keep_backups", "0", "must be at least 1"),
        ("keep_backups", "many", "must be a whole number"),
        ("keep_bakups", "3", "the nearest is keep_backups"),
        ("namespace", "x", "HYBRID_MEMORY_NAMESPACE"),
        ("embedder", "static", "embedder use"),
    ],
)
def test_what_cannot_be_set_is_refused_and_nothing_changes(home, name, value, words):
    done = run(home, "set", name, value)
    assert done.exit_code == 2
    assert words in " ".join(done.stderr.replace("│", " ").split())
    assert (home / "config.toml").read_text() == MINE


def test_a_value_is_taken_out_and_so_is_what_was_written_by_mistake(home):
    run(home, "unset", "keep_backups")
    run(home, "unset", "keep_bakups")
    assert "bakups" not in (home / "config.toml").read_text()
    assert seen(home)["settings"]["keep_backups"]["source"] == "default"


def test_who_sets_what_a_variable_overrules_is_told(home, monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_KEEP_BACKUPS", "7")
    assert "wins over the file" in run(home, "set", "keep_backups", "30").stderr


def test_how_long_episodes_are_kept_is_answered_with_what_is_deleted(home):
    answer = run(home, "set", "episode_days", "0").stdout
    assert answer.startswith("episode_days = 0 (")
    assert "nothing more is kept from now on" in answer
    assert "deleted for good" in answer


def test_a_number_below_zero_is_a_value_and_is_refused_with_the_range(home):
    refused = run(home, "set", "episode_days", "-1")
    assert (refused.exit_code, "must be at least 0" in refused.stderr) == (2, True), refused.stderr


def test_a_value_is_got_for_scripts(home):
    assert run(home, "get", "keep_backups").stdout == "3\n"
    assert run(home, "get", "alpha").stdout == "not set\n"


def test_looking_makes_nothing(tmp_path):
    CliRunner().invoke(app, ["config", "--home", str(tmp_path / "new")])
    assert not (tmp_path / "new").exists()


def test_a_file_that_is_no_toml_is_told(home):
    (home / "config.toml").write_text("keep = = 3")
    done = run(home)
    assert (done.exit_code, "is not valid TOML" in done.stderr) == (1, True)


def test_options_before_the_word_are_refused_instead_of_passed_over(home):
    assert CliRunner().invoke(app, ["config", "--home", str(home), "get", "keep_backups"]).exit_code == 2


def test_the_project_of_this_folder_is_shown_with_the_file_that_names_it(home, tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("acme")
    monkeypatch.chdir(folder)
    assert seen(home)["settings"]["project"]["source"] == "default"
    (folder / ".hybrid-memory.toml").write_text('namespace = "acme"\n')
    project = seen(home)["settings"]["project"]
    assert (project["value"], project["place"]) == ("acme", str(folder / ".hybrid-memory.toml"))
