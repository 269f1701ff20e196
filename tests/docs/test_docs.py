"""What the papers say about the house is true."""

import json
import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
README = (PROJECT / "README.md").read_text(encoding="utf-8")


def test_the_readme_names_the_two_commands_and_ci_runs_the_second():
    assert "pip install uv && uv run hybrid-memory-mcp demo" in README
    assert "pip install uv && uv run pytest" in README
    assert "pip install uv && uv run pytest" in (PROJECT / ".ci" / "run").read_text(encoding="utf-8")


def test_mcp_json_is_the_entry_that_the_readme_shows():
    config = json.loads((PROJECT / "mcp.json").read_text(encoding="utf-8"))
    shown = re.search(r"```json\n(.*?)```", README, re.DOTALL)
    assert shown is not None
    entry = json.loads("{" + shown.group(1) + "}")["memory"]
    ours = config["mcpServers"]["memory"]
    assert ours["command"] == entry["command"]
    assert [one for one in ours["args"] if one != "."] == [one for one in entry["args"] if not one.startswith("/path")]


@pytest.mark.parametrize(
    "page", sorted(PROJECT.glob("*.md")) + sorted((PROJECT / "docs").glob("*.md")), ids=lambda page: page.name
)
def test_every_link_between_our_pages_leads_somewhere(page):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_the_readme_lists_every_client_setting():
    from hybrid_memory.settings import PREFIX, ClientSettings

    for name in ClientSettings.model_fields:
        assert PREFIX + name.upper() in README


def test_every_file_fits_the_house_rule_of_400_lines():
    for folder in ("memory_core", "server", "prompts", "compat", "benchmarks", "tests"):
        for file in (PROJECT / folder).rglob("*.py"):
            assert len(file.read_text(encoding="utf-8").splitlines()) <= 400, file.name


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
