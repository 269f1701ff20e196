"""What is stored is shown as text and does nothing, whoever wrote it."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from tests.browser.hostile import NAMES, OUTSIDE, RAN, TEXTS

from hybrid_memory_inspector.views.table import VIEWS

pytestmark = pytest.mark.browser

MENU = [view.path for view in VIEWS if "{" not in view.path]
DONE = f"""() => ({{
    ran: window.{RAN} ?? null,
    made: [...document.querySelectorAll(
        'iframe, base, meta[http-equiv=refresh], [onclick], [onload], [onerror], [onmouseover], object, embed')]
        .map(one => one.outerHTML.slice(0, 200)),
    pictures: [...document.querySelectorAll('img, source, link, script')]
        .filter(one => !new URL(one.src || one.href || '', location).href.startsWith(location.origin))
        .map(one => one.outerHTML.slice(0, 200)),
    links: [...document.querySelectorAll('a[href], form[action]')]
        .filter(one => new URL(one.href || one.action, location).origin !== location.origin)
        .map(one => one.outerHTML.slice(0, 200)),
}})"""
NOTHING = {"ran": None, "made": [], "pictures": [], "links": []}


@pytest.mark.parametrize("path", MENU)
def test_no_view_lets_a_text_do_anything(visit, hostile, path):
    page = visit(hostile).open(path)
    page.wait_for_load_state("networkidle") if path != "/" else page.wait_for_timeout(500)
    assert page.evaluate(DONE) == NOTHING


def test_every_hostile_text_is_shown_as_text_on_its_own_page(visit, hostile):
    seen = visit(hostile)
    for text, memory_id in zip(TEXTS, hostile.ids, strict=True):
        page = seen.open(f"/memories/{memory_id}")
        assert page.evaluate(DONE) == NOTHING, text[:80]
        shown = " ".join(page.locator("main").inner_text().split())
        word = max(text[:300].split(), key=len, default="")[:40]
        plain = max(re.split(r"[^!-~]+", word), key=len)  # what is hidden in a text is there as a symbol
        assert plain[:20] in shown, text[:80]


@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_name_has_a_page_of_its_own(visit, hostile, name):
    page = visit(hostile).open(f"/names/{quote(name, safe='')}")
    assert page.evaluate(DONE) == NOTHING


def test_a_hostile_question_is_repeated_as_text(visit, hostile):
    seen = visit(hostile)
    for text in TEXTS:
        page = seen.open(f"/search?q={quote(text[:500])}")
        assert page.evaluate(DONE) == NOTHING, text[:80]


def test_a_text_of_100_000_characters_does_not_fill_the_page(visit, hostile):
    at = next(place for place, text in enumerate(TEXTS) if len(text) == 100_000)
    page = visit(hostile).open(f"/memories/{hostile.ids[at]}")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("document.documentElement.scrollHeight") < 20_000


def test_no_request_goes_to_where_a_text_points(visit, hostile):
    seen = visit(hostile)
    for path in MENU:
        seen.open(path)
    assert not [url for url in seen.requested if url.startswith(OUTSIDE)]
