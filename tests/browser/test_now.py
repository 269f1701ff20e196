"""The shell of the page and the view Now: by keyboard alone, in both themes, and while memories come in."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from tests.browser.conftest import PHONE

pytestmark = [pytest.mark.browser, pytest.mark.daily]


def test_the_first_page_leads_with_what_is_new_and_what_needs_the_person(visit, life):
    page = visit(life).open("/")

    first, second = page.locator("main h2").all_inner_texts()[:2]
    assert (first, second[:9]) == ("Learned last", "Needs you")
    assert "Ada lives in Madrid." in page.locator(".clash").inner_text()


def test_parts_of_memory_that_are_empty_take_no_room(visit, nothing_yet):
    assert visit(nothing_yet).open("/").locator(".lane").count() == 0


def test_one_key_leads_from_what_needs_the_person_to_review(visit, life):
    page = visit(life).open("/")
    page.keyboard.press("r")
    page.wait_for_url("**/review*")


def test_a_question_mark_shows_the_keys(visit, life):
    page = visit(life).open("/")
    page.keyboard.press("?")

    assert page.get_by_role("dialog").get_by_text("Undo what was just done").is_visible()
    page.keyboard.press("Escape")
    assert page.get_by_role("dialog").count() == 0


def test_letters_lead_to_the_views(visit, life):
    page = visit(life).open("/")
    page.keyboard.press("g")
    page.keyboard.press("t")
    page.wait_for_url("**/timeline*")


def test_j_and_enter_open_a_memory(visit, life):
    page = visit(life).open("/")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/memories/*")


def test_the_palette_finds_a_view_by_a_part_of_its_name(visit, life):
    page = visit(life).open("/")
    page.keyboard.press("Control+k")
    page.keyboard.type("insi")
    page.keyboard.press("Enter")
    page.wait_for_url("**/insights*")


def test_letters_do_nothing_for_who_has_switched_them_off(visit, life):
    page = visit(life).open("/")
    page.keyboard.press("?")
    page.locator("[data-single-keys]").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("?")

    assert page.get_by_role("dialog").count() == 0


def test_letters_typed_into_the_search_are_words(visit, life):
    page = visit(life).open("/")
    page.keyboard.press("/")
    page.keyboard.type("g t?")

    assert page.locator(".top-search input").input_value() == "g t?"


def test_the_theme_that_was_chosen_stays(visit, life):
    page = visit(life, theme="light").open("/")
    page.keyboard.press("D")
    page.reload()

    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"


def test_times_are_exact_for_who_asks(visit, life):
    page = visit(life).open("/")
    page.keyboard.press("T")

    assert re.search(r"\d\d:\d\d:\d\d", page.locator(".news time").first.inner_text())


def test_the_first_tab_skips_to_what_is_shown(visit, life):
    page = visit(life).open("/")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    assert page.evaluate("document.activeElement.id") == "view"


def test_a_phone_has_the_menu_behind_a_button(visit, life):
    page = visit(life, size=PHONE).open("/")
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("navigation", name="Views").get_by_role("link", name="Timeline").click()
    page.wait_for_url("**/timeline*")


def test_what_comes_in_is_seen_while_the_page_is_open(visit, own_life):
    page = visit(own_life).open("/")
    environment = os.environ | {"HYBRID_MEMORY_HOME": str(own_life.home), "HOME": str(own_life.home.parent)}  # noqa: TID251 - for the process
    command = [sys.executable, "-m", "hybrid_memory_mcp", "remember", "The harbour festival is on the third of May."]
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=30, cwd=own_life.home.parent)

    page.locator(".news", has_text="The harbour festival").wait_for()
    assert page.locator(".event").first.inner_text().startswith("Learned")
