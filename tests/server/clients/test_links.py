"""The links add what the installer would, and stand in the page on installing."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from tests.tables import each

from hybrid_memory_mcp.clients.links import links

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "install.md").read_text("utf-8")
CONFIG = {"command": "uvx", "args": ["hybrid-memory-mcp"]}


def parameters(title):
    return {name: values[0] for name, values in parse_qs(urlsplit(links()[title]).query).items()}


@pytest.mark.parametrize("title", ["Cursor", "LM Studio"])
def test_a_link_with_base64_holds_the_entry(title):
    given = parameters(title)
    assert given["name"] == "memory"
    assert json.loads(base64.b64decode(given["config"])) == CONFIG


def test_kiros_link_holds_the_entry_as_json():
    assert json.loads(parameters("Kiro")["config"]) == CONFIG


def test_vs_codes_link_leads_to_its_own_scheme():
    scheme, _, query = parameters("VS Code")["url"].partition("?")
    assert scheme == "vscode:mcp/install"
    assert json.loads(unquote(query)) == {"name": "memory", "type": "stdio", **CONFIG}


def test_gooses_link_names_command_and_arguments():
    given = parameters("Goose")
    assert (given["cmd"], given["arg"]) == ("uvx", "hybrid-memory-mcp")


@each("title", list(links()))
def test_the_page_has_the_link(title):
    assert f"]({links()[title]})" in PAGE
