"""Every view, in a real browser: nothing complains, nobody else is asked, and everybody can use it."""

from __future__ import annotations

import pytest
from tests.browser.conftest import PHONE, THEMES, WIDE

from hybrid_memory_mcp.inspector.table import VIEWS

pytestmark = pytest.mark.browser

MENU = [view.path for view in VIEWS if "{" not in view.path]


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("path", MENU)
def test_a_view_can_be_used_by_everybody_in_both_themes(visit, life, path, theme):
    seen = visit(life, theme=theme)
    seen.open(path)
    assert seen.violations() == []


@pytest.mark.parametrize("path", MENU)
def test_a_view_fits_a_phone(visit, life, path):
    seen = visit(life, size=PHONE)
    page = seen.open(path)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert seen.violations() == []


@pytest.mark.parametrize("path", MENU)
def test_a_view_of_the_first_day_teaches_instead_of_being_empty(visit, nothing_yet, path):
    seen = visit(nothing_yet, size=WIDE)
    page = seen.open(path)
    assert len(page.locator("main").inner_text().split()) > 12
    assert seen.violations() == []


@pytest.mark.parametrize("path", MENU)
def test_the_data_of_a_view_stands_beside_it(visit, life, path):
    seen = visit(life)
    view = next(one for one in VIEWS if one.path == path)
    answer = seen.open("/") and seen.page.request.get(life.base + view.data_path)
    assert answer.ok
    assert isinstance(answer.json(), dict)
