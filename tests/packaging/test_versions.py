"""One version everywhere, and one command that sets it."""

import re
import shutil
import subprocess

import pytest
from tools import set_version
from tools.set_version import CHANGELOG, PLACES, PROJECT

from hybrid_memory_mcp import __version__


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """The files that name the version, in a folder of their own."""
    for file in {CHANGELOG, *(place.file for place in PLACES)}:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(PROJECT / file, tmp_path / file)
    monkeypatch.setattr(set_version, "PROJECT", tmp_path)
    return tmp_path


def test_every_file_names_the_version_of_the_program():
    assert set_version.problems() == []


def test_the_first_place_is_the_program_itself():
    assert PLACES[0].found() == [__version__]


def test_one_command_sets_it_everywhere(copy, capsys):
    assert set_version.main(["7.8.9"]) == 0
    assert capsys.readouterr().out == "7.8.9 everywhere\n"


def test_setting_it_makes_what_is_unreleased_that_release(copy):
    set_version.set_version("7.8.9", "2030-01-02")
    text = (copy / CHANGELOG).read_text(encoding="utf-8")
    assert "## [Unreleased]\n\n## [7.8.9] - 2030-01-02\n" in text


def test_setting_it_twice_makes_one_release(copy):
    set_version.set_version("7.8.9", "2030-01-02")
    set_version.set_version("7.8.9", "2030-01-03")
    assert (copy / CHANGELOG).read_text(encoding="utf-8").count("## [7.8.9]") == 1


def test_setting_it_changes_nothing_but_versions(copy):
    set_version.set_version("7.8.9", "2030-01-02")
    for file in {place.file for place in PLACES}:
        assert (copy / file).read_bytes().replace(b"7.8.9", __version__.encode()) == (PROJECT / file).read_bytes()


@pytest.mark.parametrize("place", PLACES[1:], ids=lambda place: f"{place.file}:{place.before.strip()}")
def test_a_file_that_was_left_behind_is_named(copy, place):
    place.write("7.8.9")
    assert [line for line in set_version.problems() if line.startswith(f"{place.file}: 7.8.9")]


@pytest.mark.parametrize("word", ["v1.0.0", "1.0", "latest", "1.0.0-beta", ">=1.0.0", ""])
def test_what_is_no_version_is_refused(copy, word):
    assert set_version.main([word]) == 2
    assert set_version.problems() == []


def tracked(*folders):
    """Return the files of the repository that name no version yet, as far as it is known which do."""
    listed = subprocess.run(
        ["git", "ls-files", *folders], cwd=PROJECT, capture_output=True, text=True, check=False
    ).stdout.split()
    known = {place.file for place in PLACES} | {CHANGELOG}
    return [PROJECT / file for file in listed if file not in known and (PROJECT / file).is_file()]


def test_no_other_file_pins_a_version_of_the_program():
    others = [file for file in tracked() if not file.is_relative_to(PROJECT / "tests")]
    pinned = re.compile(rb"hybrid-memory-mcp==[0-9]")
    assert [file for file in others if pinned.search(file.read_bytes())] == []


def test_no_other_manifest_has_a_version_of_its_own():
    around = tracked(":(glob)*", "plugin", "packaging", ".claude-plugin", ".agents")
    named = re.compile(rb"""(?i)\bversion["']?\s*[:=]\s*["']?[0-9]+\.[0-9]+\.[0-9]""")
    assert [file for file in around if named.search(file.read_bytes())] == []
