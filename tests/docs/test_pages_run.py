"""The commands in the pages are run, each page from its top in a home of its own; what is not run says why."""

import tempfile
from pathlib import Path

import pytest
from tests.docs.page_blocks import PROJECT, SHELLS, Block, blocks_of, command_lines
from tests.docs.scratch_home import ScratchHome, _same_lines, has_shell
from tests.tables import each

# Pages for people who work on the project or publish it: their commands take minutes to hours, or need accounts. CI is what runs them.
FOR_CONTRIBUTORS = {"architecture.md", "benchmarks.md", "benchmarks-details.md", "publishing.md", "packages.md"}
PAGES = [
    PROJECT / "README.md",
    *[one for one in sorted((PROJECT / "docs").glob("*.md")) if one.name not in FOR_CONTRIBUTORS],
]
IN_SHELLS = {page: [block for block in blocks_of(page) if block.language in SHELLS] for page in PAGES}


def marked(page):
    return pytest.param(page, id=page.name, marks=pytest.mark.slow if page.name == "README.md" else pytest.mark.tools)


@pytest.mark.timeout(900)
@pytest.mark.skipif(not has_shell(), reason="the pages' commands are written for a POSIX shell")
@pytest.mark.parametrize("page", [marked(page) for page, blocks in IN_SHELLS.items() if blocks])
def test_the_commands_of_a_page_do_what_it_says(page, monkeypatch):
    monkeypatch.delenv("HYBRID_MEMORY_HOME", raising=False)
    # a short path: sockets have little room for their names
    with tempfile.TemporaryDirectory(prefix="hm-", ignore_cleanup_errors=True) as folder:
        scratch = ScratchHome(Path(folder), knows_something=page.name != "README.md")  # a newcomer reads that
        try:
            for block in IN_SHELLS[page]:
                if block.not_run is None:
                    scratch.run(block)
        finally:
            scratch.close()


@each("page", PAGES)
def test_commands_stand_in_blocks_that_are_run_or_say_why_not(page):
    lines = page.read_text(encoding="utf-8").splitlines()
    ours = ("    hybrid-memory-mcp ", "    uv ", "    pip ", "    claude ", "    codex ")
    assert [line for line in lines if line.startswith(ours)] == []


def block(language, text):
    return Block(PROJECT / "README.md", 1, language, text, None)


def test_a_line_that_goes_on_is_one_command():
    assert command_lines(block("sh", "# first\none \\\n  two\nthree\n")) == ["one two", "three"]


def test_of_a_console_only_what_is_typed_is_a_command():
    assert command_lines(block("console", "$ one\nshown\n$ two\n")) == ["one", "two"]


def test_a_comment_above_a_block_says_why_it_is_not_run(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("<!-- not run: needs an account -->\n```sh\na\n```\n\n```sh\nb\n```\n", encoding="utf-8")
    assert [one.not_run for one in blocks_of(page)] == ["needs an account", None]


@each(
    "said, shown, same",
    [
        ("at 2026-01-05 09:00\n", "at 2025-11-03 10:15\n", True),
        ("06dte8j6g1jh68k9w39q  tea\n", "06d5ayz5g1jh68k9w39q tea\n", True),
        ("tea\n", "coffee\n", False),
        ("one\ntwo\nthree\n", "one\n...\n", True),
        ("one\ntwo\nthree\n", "...\nthree\n", True),
        ("one\ntwo\nthree\n", "...\nfour\n", False),
    ],
)
def test_what_a_page_shows_is_compared_but_for_ids_and_times(said, shown, same):
    assert _same_lines(said, shown) is same


@pytest.mark.slow
def test_the_environment_of_a_page_is_not_that_of_who_runs_the_test(tmp_path, monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_NAMESPACE", "somebody")
    scratch = ScratchHome(tmp_path)
    assert "HYBRID_MEMORY_NAMESPACE" not in scratch.environment
    assert scratch.environment["HOME"] == str(tmp_path / "home")
