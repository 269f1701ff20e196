"""The way into the page, many tabs, and what they hear when something changes or ends, in a real browser."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest
from tests.browser.conftest import serving
from tests.browser.test_foreign_pages import foreign_server

pytestmark = [pytest.mark.browser, pytest.mark.daily]

LIVE = "[data-live-state=on]"


def remember(home, text):
    command = [sys.executable, "-m", "hybrid_memory_mcp", "remember", text, "--home", str(home)]
    subprocess.run(command, check=True, capture_output=True, timeout=30, cwd=home.parent)


@pytest.fixture
def window(chromium):
    """A browser that has not been here, without the checks of `visit`: what is refused is a complaint of the browser's."""
    context = chromium.new_context()
    context.set_default_timeout(10_000)
    yield context
    context.close()


def follow_from_elsewhere(page, address):
    """Follow a link to an address that is on another site's page."""
    page.evaluate(
        "to => { const one = document.createElement('a'); one.href = to; one.textContent = 'go'; document.body.append(one) }",
        address,
    )
    page.get_by_role("link", name="go").click()
    page.wait_for_load_state("load")


def test_the_address_may_be_followed_from_another_sites_page(window, first_day):
    with foreign_server("127.0.0.1") as (origin, _):
        page = window.new_page()
        page.goto(origin)
        follow_from_elsewhere(page, first_day.address)
        page.wait_for_url(first_day.base + "/")
        page.wait_for_selector(LIVE)


def test_a_view_may_be_linked_from_another_sites_page(window, first_day):
    with foreign_server("127.0.0.1") as (origin, _):
        window.new_page().goto(first_day.address)
        page = window.new_page()
        page.goto(origin)
        follow_from_elsewhere(page, first_day.base + "/search?q=tea")
        page.get_by_role("link", name="If it is yours, open it from here").click()
        page.wait_for_selector(LIVE)
        assert page.url == first_day.base + "/search?q=tea"


def test_eight_tabs_are_all_live_over_one_connection(window, first_day):
    window.new_page().goto(first_day.address)
    tabs = [window.new_page() for _ in range(7)]
    for tab in tabs:
        tab.goto(first_day.base + "/")
        tab.wait_for_selector(LIVE)
    remember(first_day.home, "Ada lives in Porto")
    for tab in tabs:
        tab.get_by_text("Ada lives in Porto").first.wait_for()
    # The one that listens is closed; another one takes over, and misses nothing.
    window.pages[0].close()
    tabs.pop(0).close()
    remember(first_day.home, "The violin hangs in the hall")
    for tab in tabs:
        tab.get_by_text("The violin hangs in the hall").first.wait_for()


def test_a_page_that_one_comes_back_to_is_live_again(window, first_day):
    page = window.new_page()
    page.goto(first_day.address)
    page.wait_for_selector(LIVE)
    page.goto("about:blank")
    remember(first_day.home, "Ada lives in Porto")
    page.go_back()
    page.wait_for_selector(LIVE)
    page.get_by_text("Ada lives in Porto").first.wait_for()


def test_when_the_command_ends_every_tab_says_so(window, tmp_path):
    with serving(tmp_path / "memory") as served:
        tabs = [window.new_page(), window.new_page()]
        tabs[0].goto(served.address)
        tabs[1].goto(served.base + "/")
        for tab in tabs:
            tab.wait_for_selector(LIVE)
        served.process.send_signal(signal.SIGINT)
        for tab in tabs:
            tab.wait_for_selector("[data-live-state=off] >> text=ended")
