"""What a package index shows of the package, as it was built when this environment was made."""

import json
import re
from importlib.metadata import metadata
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
REPOSITORY = json.loads((PROJECT / "server.json").read_text(encoding="utf-8"))["repository"]["url"]
PACKAGE = metadata("hybrid-memory-mcp")
SHOWN = PACKAGE.json["description"]
URLS = dict(one.split(", ", 1) for one in PACKAGE.get_all("Project-URL"))


def leads_to(address):
    """Return the path in the repository that an address of ours leads to at the release's tag; None for another's address."""
    own = rf"(?:{REPOSITORY}/blob|https://raw.githubusercontent.com/hybrid-memory-mcp/hybrid-memory-mcp)/v{PACKAGE['Version']}/([^#]+)"
    found = re.match(own, address)
    return found and found[1]


def test_every_link_and_picture_of_the_readme_is_absolute():
    addresses = re.findall(r"\]\(([^)\s]+)", SHOWN)
    assert len(addresses) > 20
    assert [one for one in addresses if not one.startswith("https://")] == []


def test_links_of_the_readme_to_our_own_pages_lead_to_files_of_this_release():
    ours = [path for one in re.findall(r"\]\(([^)\s]+)", SHOWN) if (path := leads_to(one))]
    assert "docs/install.md" in ours
    assert [path for path in ours if not (PROJECT / path).exists()] == []


def test_pictures_are_fetched_as_they_are():
    pictures = re.findall(r"!\[[^\]]*\]\(([^)\s]+)", SHOWN)
    assert pictures
    assert [one for one in pictures if not one.startswith("https://raw.githubusercontent.com/")] == []


def test_an_index_is_given_no_diagram_that_it_cannot_draw():
    assert "mermaid" not in SHOWN


def test_the_readme_is_the_repositorys_in_all_else():
    for heading in re.findall(r"^## .*$", SHOWN, re.MULTILINE):
        assert heading in (PROJECT / "README.md").read_text(encoding="utf-8")


def test_an_index_links_home_pages_changes_issues_and_source():
    assert set(URLS) == {"Homepage", "Documentation", "Changelog", "Issues", "Source"}
    assert [url for url in URLS.values() if not url.startswith(REPOSITORY)] == []
    files = [url.partition("/blob/main/")[2] for url in URLS.values()]
    assert [file for file in files if not (PROJECT / file).exists()] == []


def test_every_licence_in_the_packages_is_among_the_licence_files():
    packages = ("memory_core", "server", "prompts", "extras")
    there = {
        str(file.relative_to(PROJECT))
        for package in packages
        for name in ("*NOTICE*", "*LICENSE*")
        for file in (PROJECT / package).rglob(name)
    }
    assert set(PACKAGE.get_all("License-File")) == there | {"LICENSE", "NOTICE"}
