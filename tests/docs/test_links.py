"""Links between pages lead to a page, and to a heading on it; what a page shows as JSON or TOML is that."""

import json
import re
import tomllib
from functools import cache

from tests.docs.page_blocks import PROJECT, blocks_of
from tests.tables import each

PAGES = sorted(PROJECT.glob("*.md")) + sorted((PROJECT / "docs").rglob("*.md"))
_LINK = re.compile(r"\]\((?!https?:)([^)#]*)#([^)]+)\)")


@cache
def anchors_of(page):
    """Return the names by which GitHub knows the headings of a page."""
    text = re.sub(r"^(```|~~~).*?^\1", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    names = []
    for heading in re.findall(r"^#{1,6} (.+)$", text, re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip())
        name = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        names.append(f"{name}-{names.count(name)}" if name in names else name)
    return frozenset(names)


@each("page", PAGES)
def test_every_link_to_a_heading_leads_to_one(page):
    missing = []
    for target, anchor in _LINK.findall(page.read_text(encoding="utf-8")):
        found = (page.parent / target) if target else page
        if found.suffix == ".md" and anchor not in anchors_of(found.resolve()):
            missing.append(f"{target}#{anchor}")
    assert missing == []


def is_json(text):
    """Return True for JSON, whole or a part of an object, as a page shows an entry of a file."""
    for whole in (text, "{" + text + "}"):
        try:
            json.loads(whole)
        except ValueError:
            continue
        return True
    return False


@each("page", PAGES)
def test_what_a_page_shows_as_json_or_toml_can_be_read(page):
    for block in blocks_of(page):
        if block.language == "json":
            assert is_json(block.text), str(block)
        if block.language == "toml":
            tomllib.loads(block.text)
