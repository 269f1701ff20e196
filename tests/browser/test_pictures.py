"""The pictures of the documentation, taken while the page is tested: ``PAGE_PICTURES=docs/figures just browser`` writes them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.browser.conftest import PHONE

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PICTURES = {
    "now": ("/", "light"),
    "search": ("/search?q=Where+does+Ada+live%3F", "light"),
    "timeline": ("/timeline", "dark"),
    "memory": ("/memories/{porto}", "light"),
    "names": ("/names/Ada", "light"),
    "sessions": ("/sessions", "light"),
    "insights": ("/insights", "light"),
    "map": ("/map", "dark"),
    "review": ("/review", "light"),
    "brief": ("/brief", "light"),
    "recalls": ("/recalls", "light"),
    "health": ("/health", "light"),
}
SIZE = {"width": 1280, "height": 800}
SETTLE_MS = 800  # what moves on the page has come to rest


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_of_each_view_is_taken(visit, life, tmp_path, name):
    path, theme = PICTURES[name]
    page = visit(life, theme=theme, size=SIZE).open(path.format(**life.ids))
    page.wait_for_timeout(SETTLE_MS)
    kept = Path(os.environ.get("PAGE_PICTURES") or tmp_path) / f"page-{name}.png"  # noqa: TID251 - no setting of the product
    page.screenshot(path=str(kept))
    assert kept.stat().st_size > 10_000


def test_a_picture_of_a_phone_is_taken(visit, life, tmp_path):
    page = visit(life, size=PHONE).open(f"/memories/{life.ids['porto']}")
    page.wait_for_timeout(SETTLE_MS)
    kept = Path(os.environ.get("PAGE_PICTURES") or tmp_path) / "page-phone.png"  # noqa: TID251 - as above
    page.screenshot(path=str(kept))
    assert kept.stat().st_size > 5_000
