"""`server.json`, by which the MCP Registry knows the program."""

import json
import re
from pathlib import Path

import jsonschema
import pytest

PROJECT = Path(__file__).resolve().parents[2]
ENTRY = json.loads((PROJECT / "server.json").read_text(encoding="utf-8"))
SCHEMA = json.loads((PROJECT / "tests/data/schemas/server-2025-12-11.schema.json").read_text(encoding="utf-8"))


def test_it_is_valid():
    assert [error.message for error in jsonschema.Draft7Validator(SCHEMA).iter_errors(ENTRY)] == []


def test_it_names_the_schema_that_it_was_checked_with():
    assert ENTRY["$schema"] == SCHEMA["$id"]


@pytest.mark.parametrize("change", [{"description": "x" * 101}, {"name": "noslash"}, {"version": None}])
def test_the_schema_refuses_what_is_wrong(change):
    assert list(jsonschema.Draft7Validator(SCHEMA).iter_errors(ENTRY | change)) != []


def test_the_readme_proves_that_the_package_is_the_same_owners():
    readme = (PROJECT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"<!-- mcp-name: (\S+) -->", readme) == [ENTRY["name"]]


def test_the_name_is_that_of_the_repository():
    assert ENTRY["name"].removeprefix("io.github.") == ENTRY["repository"]["url"].removeprefix("https://github.com/")


def test_the_settings_that_it_offers_exist():
    from hybrid_memory.settings import PREFIX, ClientSettings

    known = {PREFIX + name.upper() for name in ClientSettings.model_fields}
    (package,) = ENTRY["packages"]
    assert {one["name"] for one in package["environmentVariables"]} <= known


def test_the_image_proves_the_same_name():
    assert f'io.modelcontextprotocol.server.name="{ENTRY["name"]}"' in (PROJECT / "Dockerfile").read_text(
        encoding="utf-8"
    )
