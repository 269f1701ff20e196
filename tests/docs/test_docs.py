"""What the pages of the project say about it is true."""

import ast
import json
import re
import tomllib
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
README = (PROJECT / "README.md").read_text(encoding="utf-8")


def test_the_readme_names_the_commands_and_ci_runs_the_tests_as_it_says():
    assert "pip install uv && uv run --no-dev hybrid-memory-mcp demo" in README
    assert "pip install uv && uv run pytest" in README
    assert "pip install uv && uv run pytest" in (PROJECT / ".ci" / "run").read_text(encoding="utf-8")


def test_mcp_json_and_the_readme_have_entries_that_depend_on_no_folder():
    ours = json.loads((PROJECT / "mcp.json").read_text(encoding="utf-8"))["mcpServers"]["memory"]
    assert [ours["command"], *ours["args"]] == ["uv", "run", "--quiet", "--no-dev", "hybrid-memory-mcp"]
    shown = re.search(r"```json\n(.*?)```", README, re.DOTALL)
    assert shown is not None
    assert json.loads("{" + shown.group(1) + "}")["memory"]["command"] == "hybrid-memory-mcp"


def test_what_uv_installs_by_default_is_what_the_tests_need():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["tool"]["uv"]["default-groups"] == ["dev"]
    names = {re.split(r"[<>=]", one)[0] for one in project["dependency-groups"]["dev"]}
    assert names == {
        "hybrid-memory-mcp[minilm]",
        "hypothesis",
        "pytest",
        "pytest-randomly",
        "pytest-timeout",
        "pytest-xdist",
    }


@pytest.mark.parametrize(
    "page", sorted(PROJECT.glob("*.md")) + sorted((PROJECT / "docs").rglob("*.md")), ids=lambda page: page.name
)
def test_every_link_between_our_pages_leads_somewhere(page):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_the_readme_lists_every_client_setting():
    from hybrid_memory.settings import PREFIX, ClientSettings

    for name in ClientSettings.model_fields:
        assert PREFIX + name.upper() in README


def lines_of(function):
    """Lines of a function without its docstring."""
    told = function.body[0] if ast.get_docstring(function, clean=False) is not None else None
    docstring = told.end_lineno - told.lineno + 1 if told else 0
    return function.end_lineno - function.lineno + 1 - docstring


def test_every_function_fits_a_screen_of_60_lines():
    too_long = [
        f"{file.name}:{node.lineno} {node.name}"
        for folder in ("memory_core", "server", "prompts", "compat")
        for file in (PROJECT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and lines_of(node) > 60
    ]
    assert too_long == []


def test_the_page_on_templates_names_every_template():
    page = (PROJECT / "docs" / "templates.md").read_text(encoding="utf-8")
    for template in (PROJECT / "prompts" / "hybrid_memory_prompts").glob("*.j2"):
        assert f"`{template.name}`" in page


def test_the_readme_names_every_tool_and_every_argument_of_writing():
    from hybrid_memory_mcp.mcp_api.tools import TOOLS

    for tool in TOOLS:
        assert f"| `{tool.name}` |" in README
    (write,) = [tool for tool in TOOLS if tool.name == "write_memory"]
    assert all(f"`{name}`" in README for name in write.takes.model_fields)


def test_the_index_of_decisions_names_each_once_and_the_numbers_have_no_gap():
    decisions = PROJECT / "docs" / "decisions"
    files = sorted(file.name for file in decisions.glob("[0-9]*.md"))
    index = (decisions / "README.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"\]\(([^)]+)\)", index)) == files
    assert [int(name[:4]) for name in files] == list(range(1, len(files) + 1))


def test_the_newest_release_of_the_changelog_is_the_version_of_the_program():
    from hybrid_memory_mcp import __version__

    releases = re.findall(r"^## \[([^\]]+)\]", (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert releases[:2] == ["Unreleased", __version__]


@pytest.mark.parametrize("name", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_every_file_and_name_that_a_page_for_contributors_points_to_exists(name):
    page = (PROJECT / name).read_text(encoding="utf-8")
    missing = []
    for path, symbol in re.findall(r"`([\w./-]+/[\w.-]+\.py)`(?: `([\w.]+)`)?", page):
        found = [PROJECT / root / path for root in ("memory_core", "server", "prompts", "compat", ".")]
        text = next((file.read_text(encoding="utf-8") for file in found if file.is_file()), "")
        missing += [path] if not text else [f"{path} {one}" for one in symbol.split(".") if one not in text]
    assert missing == []


def test_the_readme_shows_lines_as_an_answer_has_them():
    from datetime import UTC, datetime

    from hybrid_memory.model import Kind, Memory, MemoryId, Scope, Tier
    from hybrid_memory.requests import Hit, ReadResult
    from hybrid_memory_mcp.mcp_api.tool_results import read_result

    def memory(memory_id, content, at, speaker=None):
        fixed = {
            "namespace": "default",
            "session": "s",
            "agent": "default",
            "kind": Kind.OBSERVATION,
            "tier": Tier.LONG_TERM,
        }
        told = {"id": MemoryId(memory_id), "content": content, "created_at": at, "speaker": speaker}
        return Memory(**fixed, **told, importance=0.5, content_hash="")

    new = memory(
        "06gzh21e6ndjkvr6d7pw",
        "The rehearsal is on Thursdays at 19:30 now.",
        datetime(2026, 1, 10, 9, tzinfo=UTC),
        "Ada",
    )
    old = memory("06gzg05yn3cs1q4mrk8e", "The rehearsal is on Tuesdays.", datetime(2025, 11, 3, 9, tzinfo=UTC))
    hits = (Hit(memory=new, score=1.0), Hit(memory=old, score=0.9, newer=new.id))
    answer = read_result(ReadResult(hits=hits, total=4, asked_at=new.created_at), 1500, Scope(session="s"), UTC)
    lines = answer.content[0].text.splitlines()
    assert "\n".join(lines[:2]) in README
    assert re.sub(r"\S+$", "", lines[2]) in README
