"""What the pages of the project say about it is true."""

import ast
import json
import re
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.tables import each

from hybrid_memory.embedding.registry import make_embedder
from hybrid_memory.model import Scope
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.testing import FakeClock, FakeRandomSource
from hybrid_memory_mcp.clients.table import CLIENTS
from hybrid_memory_mcp.mcp_api.tools import TOOLS, CallContext

PROJECT = Path(__file__).resolve().parents[2]
README = (PROJECT / "README.md").read_text(encoding="utf-8")
ANSWERS = (PROJECT / "docs" / "answers.md").read_text(encoding="utf-8")


def test_the_readme_names_the_commands_and_ci_runs_the_tests_as_it_says():
    assert "\npip install uv && uv run hybrid-memory-mcp demo\n" in README
    assert "\npip install uv && uv run pytest\n" in README
    assert "uv run pytest\n" in (PROJECT / ".ci" / "run").read_text(encoding="utf-8")


def test_mcp_json_depends_on_no_folder_and_the_page_shows_the_shape_and_the_full_path_that_print_shows():
    ours = json.loads((PROJECT / "mcp.json").read_text(encoding="utf-8"))["mcpServers"]["memory"]
    assert [ours["command"], *ours["args"]] == ["uv", "run", "--quiet", "--no-dev", "hybrid-memory-mcp"]
    shown = re.search(r"```json\n(.*?)```", (PROJECT / "docs" / "install.md").read_text(encoding="utf-8"), re.DOTALL)
    assert shown is not None
    entry = json.loads(shown.group(1))["mcpServers"]["memory"]
    assert list(entry) == ["command", "args"]
    assert Path(entry["command"]).is_absolute()


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


@each("page", sorted(PROJECT.glob("*.md")) + sorted((PROJECT / "docs").rglob("*.md")))
def test_every_link_between_our_pages_leads_somewhere(page):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_every_page_is_in_the_index():
    index = (PROJECT / "docs" / "README.md").read_text(encoding="utf-8")
    linked = set(re.findall(r"\]\(([^)#]+)\)", index))
    pages = {page.name for page in (PROJECT / "docs").glob("*.md")} - {"README.md"}
    assert pages <= linked


def lines_of(function):
    """Lines of a function without its docstring."""
    told = function.body[0] if ast.get_docstring(function, clean=False) is not None else None
    docstring = told.end_lineno - told.lineno + 1 if told else 0
    return function.end_lineno - function.lineno + 1 - docstring


@pytest.mark.slow
def test_every_function_fits_a_screen_of_60_lines():
    too_long = [
        f"{file.name}:{node.lineno} {node.name}"
        for folder in ("memory_core", "server", "prompts", "extras")
        for file in (PROJECT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and lines_of(node) > 60
    ]
    assert too_long == []


def test_the_page_on_templates_names_every_template():
    page = (PROJECT / "docs" / "templates.md").read_text(encoding="utf-8")
    for template in (PROJECT / "prompts" / "hybrid_memory_prompts").glob("*.j2"):
        assert f"`{template.name}`" in page


def test_the_page_of_what_an_assistant_sees_names_every_tool_and_every_argument_of_writing():
    for tool in TOOLS:
        assert f"| `{tool.name}` |" in ANSWERS
    (write,) = [tool for tool in TOOLS if tool.name == "write_memory"]
    assert all(f"`{name}`" in ANSWERS for name in write.takes.model_fields)


@each("client", CLIENTS)
def test_the_readme_tells_of_each_client_what_to_type_and_what_to_do_then(client):
    (row,) = [line for line in README.splitlines() if line.startswith("| ") and f": `{client.name}` |" in line]
    assert all(part in row for part in client.next_step.split("; ")[0].split(" and ")), client.next_step
    assert ("when the model calls" in row) == (client.hooks is None)


def test_the_index_of_decisions_names_each_once_and_no_two_share_a_number():
    decisions = PROJECT / "docs" / "decisions"
    files = sorted(file.name for file in decisions.glob("[0-9]*.md"))
    index = (decisions / "README.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"\]\(([^)]+)\)", index)) == files
    numbers = [name[:4] for name in files]
    assert sorted(set(numbers)) == numbers


def test_the_newest_release_of_the_changelog_is_the_version_of_the_program():
    from hybrid_memory_mcp import __version__

    releases = re.findall(r"^## \[([^\]]+)\]", (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert releases[:2] == ["Unreleased", __version__]


@pytest.mark.parametrize("name", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_every_file_and_name_that_a_page_for_contributors_points_to_exists(name):
    page = (PROJECT / name).read_text(encoding="utf-8")
    missing = []
    for path, symbol in re.findall(r"`([\w./-]+/[\w.-]+\.py)`(?: `([\w.]+)`)?", page):
        roots = ("memory_core", "server", "prompts", *(PROJECT / "extras").iterdir(), ".")
        found = [PROJECT / root / path for root in roots]
        text = next((file.read_text(encoding="utf-8") for file in found if file.is_file()), "")
        missing += [path] if not text else [f"{path} {one}" for one in symbol.split(".") if one not in text]
    assert missing == []


SAMPLES = re.findall(r"```text\n(.*?)\n```", ANSWERS, re.DOTALL)
_ID = re.compile(r"\b[0-9a-z]{20}\b")
DAY = datetime(2025, 11, 3, 9, tzinfo=UTC)


def with_numbers_for_ids(text):
    """A text with its ids replaced by the order in which they appear."""
    seen = list(dict.fromkeys(_ID.findall(text)))
    return _ID.sub(lambda found: f"#{seen.index(found[0])}", text)


def answer(written, **asked):
    """What read_memories says after memories were written, each with the days that lie before it."""
    clock = FakeClock(DAY)
    service = MemoryService(MemoryStore(clock), make_embedder("static"), clock=clock, random_source=FakeRandomSource(7))
    call = CallContext(Scope(session="s"), UTC)
    tools = {tool.name: tool for tool in TOOLS}

    def run(name, arguments):
        tool = tools[name]
        return tool.run(service, call, tool.takes.model_validate(arguments)).content[0].text

    try:
        for days, arguments in written:
            clock.advance(days=days)
            run("write_memory", arguments)
        return run("read_memories", asked)
    finally:
        service.close()


def test_the_page_shows_an_answer_as_it_is():
    written = (
        (0, {"content": "Rui's rehearsal is on Tuesdays."}),
        (68, {"content": "Rui's rehearsal was moved to Thursdays at 19:30."}),
    )
    question = "When is Rui's rehearsal?"
    assert with_numbers_for_ids(answer(written, query=question)) == with_numbers_for_ids(SAMPLES[0])
    assert question in ANSWERS


def test_the_page_shows_a_brief_as_it_is():
    written = (
        (0, {"content": "Rui plays the viola in the orchestra of Porto.", "pinned": True}),
        (2, {"content": "Rui is allergic to peanuts."}),
        (0, {"content": "Rui has to renew his passport by 31 January 2026."}),
    )
    assert with_numbers_for_ids(answer(written)) == with_numbers_for_ids(SAMPLES[1])
