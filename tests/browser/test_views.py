"""Every view, in a real browser: nothing complains, nobody else is asked, and everybody can use it."""

from __future__ import annotations

import pytest
from tests.browser.conftest import PHONE, THEMES, WIDE

from hybrid_memory_inspector.views.table import VIEWS

pytestmark = pytest.mark.browser

MENU = [view.path for view in VIEWS if "{" not in view.path]
ONE = ["/names/Ada", "/sessions/atlas-ferries", "/memories/{porto}"]
HANDHELD = {"width": 390, "height": 844}


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("path", MENU)
def test_a_view_can_be_used_by_everybody_in_both_themes(visit, life, path, theme):
    seen = visit(life, theme=theme)
    seen.open(path)
    assert seen.violations() == []


@pytest.mark.daily
@pytest.mark.parametrize("path", MENU)
def test_a_view_fits_a_phone(visit, life, path):
    seen = visit(life, size=PHONE)
    page = seen.open(path)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert seen.violations() == []


@pytest.mark.daily
@pytest.mark.parametrize("path", [*MENU, *ONE])
def test_each_button_holds_its_words_on_a_phone(visit, life, path):
    page = visit(life, size=HANDHELD).open(path.format(**life.ids))
    burst = "some => some.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.innerText)"
    assert page.locator("main .button:visible").evaluate_all(burst) == []


@pytest.mark.parametrize("path", ONE)
def test_the_page_of_one_thing_fits_a_phone(visit, life, path):
    seen = visit(life, size=PHONE)
    page = seen.open(path.format(**life.ids))
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert seen.violations() == []


@pytest.mark.daily
@pytest.mark.parametrize("path", ["/names", "/search", "/names?namespace=default"])
def test_the_head_leaves_a_phone_to_the_view(visit, life, path):
    page = visit(life, size=HANDHELD).open(path)
    assert page.locator(".top").bounding_box()["height"] <= 90
    assert page.evaluate("document.documentElement.scrollWidth") <= HANDHELD["width"]


@pytest.mark.daily
@pytest.mark.parametrize("path", MENU)
def test_the_menu_names_the_view_that_is_open_in_full(visit, life, path):
    name = visit(life).open(path).locator(".menu a[aria-current] > span").first
    assert name.evaluate(
        "one => one.scrollWidth <= one.clientWidth && getComputedStyle(one).textOverflow !== 'ellipsis'"
    )


@pytest.mark.daily
@pytest.mark.parametrize("path", ["/names", "/sessions"])
def test_the_labels_above_a_list_stand_on_one_line(visit, life, path):
    labels = visit(life).open(path).locator(".filters > .field > span")
    assert len({round(one.bounding_box()["y"]) for one in labels.all()}) == 1


@pytest.mark.daily
@pytest.mark.parametrize("path", MENU)
def test_a_view_of_the_first_day_teaches_instead_of_being_empty(visit, nothing_yet, path):
    seen = visit(nothing_yet, size=WIDE)
    page = seen.open(path)
    assert len(page.locator("main").inner_text().split()) > 12
    assert seen.violations() == []


@pytest.mark.daily
@pytest.mark.parametrize("path", MENU)
def test_the_data_of_a_view_stands_beside_it(visit, life, path):
    seen = visit(life)
    view = next(one for one in VIEWS if one.path == path)
    answer = seen.open("/") and seen.page.request.get(life.base + view.data_path)
    assert answer.ok
    assert isinstance(answer.json(), dict)
