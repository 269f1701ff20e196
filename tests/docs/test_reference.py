"""The pages of docs/reference are what the code says."""

import re

from tests.tables import each
from tools.reference.__main__ import FOLDER
from tools.reference.commands import commands
from tools.reference.markdown import table
from tools.reference.pages import pages

from hybrid_memory.settings import OWN_NOTES, PREFIX, ClientSettings, StoreSettings
from hybrid_memory_mcp.mcp_api.tools import TOOLS

MADE = pages()


@each("name", sorted(MADE.keys() | {file.name for file in FOLDER.glob("*.md")}))
def test_a_page_of_the_reference_is_what_the_code_says(name):
    there = FOLDER / name
    is_current = there.is_file() and there.read_text(encoding="utf-8") == MADE.get(name)
    assert is_current, "run: uv run python -m tools.reference"


def test_every_command_has_a_section_and_a_line():
    for path, _ in commands():
        assert f"\n### {path}\n" in MADE["commands.md"]
        assert f"| [`{path}`](#" in MADE["commands.md"]


def test_every_command_says_what_it_does():
    assert [path for path, command in commands() if not command.help] == []


def test_every_setting_is_there_with_its_variable():
    for name in [*ClientSettings.model_fields, *StoreSettings.model_fields]:
        assert name in {"hooks", *OWN_NOTES} or f"`{PREFIX}{name.upper()}`" in MADE["settings.md"]


def test_every_tool_is_there_with_every_argument_that_a_model_is_told_of():
    for tool in TOOLS:
        section = MADE["tools.md"].split(f"\n## {tool.name}\n", 1)[1].split("\n## ", 1)[0]
        assert all(f"| `{name}` |" in section for name in tool.listed.input_schema["properties"])


def test_no_page_tells_of_this_machine():
    assert not re.search(r"/(home|root|tmp|work)/| at 0x[0-9a-f]{6}", "".join(MADE.values()))


def test_a_cell_of_a_table_is_one_cell():
    assert table(("what",), [("one | two\nthree",)]).endswith("| one \\| two three |\n")


def test_a_table_without_a_row_is_nothing():
    assert table(("what",), []) == ""
