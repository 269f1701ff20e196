"""Time in a real browser: what was learned when, what was believed before, and the handle that goes back."""

from __future__ import annotations

import re

import pytest
from tests.browser.conftest import PHONE, THEMES

pytestmark = [pytest.mark.browser, pytest.mark.daily]

WORDS = ".card-words"


def words(page):
    return page.locator(f"#results {WORDS}").all_inner_texts()


def pull(page, share):
    """Pull the handle of the timeline to a share of the picture, with the mouse."""
    box = page.locator("#scrub").bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] - 11, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + 11 + (box["width"] - 22) * share, middle, steps=8)
    page.wait_for_url(re.compile("as_of="))
    page.mouse.up()


def test_when_it_learned_that_ada_moved_and_what_it_believed_before_takes_two_actions(visit, life):
    page = visit(life).open("/")
    page.get_by_role("link", name="Timeline").first.click()
    page.get_by_role("link", name="only what changed").click()
    moved = page.locator(".moment-row", has_text="Ada lives in Porto.").first
    moved.wait_for()
    assert "before: Ada lives in Lisbon since March." in moved.inner_text()
    assert re.search(r"\d+ \w{3} 20\d\d", moved.locator(".rail").inner_text())


def test_the_same_from_a_question_takes_two_actions(visit, life):
    page = visit(life).open("/")
    page.get_by_role("searchbox", name="Search your memory").fill("Where does Ada live?")
    page.keyboard.press("Enter")
    page.locator(f"a[href^='/memories/{life.ids['porto']}']").first.click()
    page.wait_for_url(re.compile("/memories/"))
    lead = page.locator(".lead").inner_text()
    assert "Learned on" in lead
    assert "Believed before: Ada lives in Lisbon since March." in lead


def test_the_handle_goes_back_to_what_was_believed(visit, life):
    page = visit(life).open("/timeline")
    assert "Ada lives in Porto." not in words(page)[:1]
    pull(page, 0.15)
    page.locator("#results-title", has_text="Believed on").wait_for()
    page.locator(f"#results {WORDS}", has_text="Ada lives in Berlin.").wait_for()
    assert "Ada lives in Porto." not in words(page)


def test_the_keyboard_alone_goes_back_and_returns(visit, life):
    page = visit(life).open("/timeline")
    page.locator("#scrub").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.locator("#results-title", has_text="Believed on").wait_for()
    assert page.locator("#scrub").get_attribute("aria-valuetext") != "now"
    page.keyboard.press("End")
    page.locator("#results-title", has_text="By when it was learned").wait_for()
    assert "as_of" not in page.url


def test_a_moment_is_written_in_words(visit, life):
    page = visit(life).open("/timeline")
    page.get_by_role("textbox", name="A day").fill("100 days ago")
    page.keyboard.press("Enter")
    page.locator("#results-title", has_text="Believed on").wait_for()


def test_the_replay_runs_until_it_is_stopped(visit, life):
    page = visit(life).open("/timeline")
    page.keyboard.press("p")
    page.locator("#results-title", has_text="Believed on").wait_for()
    page.keyboard.press("p")
    assert page.get_by_role("button", name="Replay").is_visible()


def test_a_bar_opens_its_time_and_the_way_back_leads_back(visit, life):
    page = visit(life).open("/timeline")
    bars = page.locator(".plot a").count()
    page.locator(".plot a").first.click(force=True)
    page.wait_for_url(re.compile("from="))
    page.go_back()
    page.wait_for_function("many => document.querySelectorAll('.plot a').length === many", arg=bars)


def test_the_versions_of_a_memory_stand_below_each_other_word_by_word(visit, life):
    page = visit(life).open(f"/memories/{life.ids['porto']}")
    versions = page.locator(".version")
    assert versions.count() == 3
    assert versions.first.locator("del").inner_text() == "Lisbon since March"
    assert versions.first.locator("ins").inner_text() == "Porto"


def test_ten_memories_of_the_timeline_fit_a_screen_each_with_its_remarks_on_one_line(visit, life):
    page = visit(life, size={"width": 1280, "height": 800}).open("/timeline")
    page.locator(".moments").evaluate("one => { one.scrollIntoView(); scrollBy(0, -60) }")
    seen = """all => all.map(one => one.getBoundingClientRect()).filter(one => one.top >= 60 && one.bottom <= innerHeight)"""
    assert len(page.locator(".moments .card").evaluate_all(seen)) >= 10
    assert max(one.bounding_box()["height"] for one in page.locator(".moments .card-foot").all()) < 30


def test_the_keyboard_corrects_the_memory_whose_page_is_open(visit, life):
    page = visit(life).open(f"/memories/{life.ids['porto']}")
    page.keyboard.press("e")
    assert page.locator("dialog.ask textarea").input_value() == "Ada lives in Porto."


def test_the_keyboard_does_what_stands_behind_more_on_a_memory_s_own_page(visit, life):
    page = visit(life).open(f"/memories/{life.ids['porto']}")
    page.keyboard.press("o")
    page.locator("dialog.ask", has_text="It was true until").wait_for()


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", ["porto", "lisbon", "madrid", "insight", "gym", "clarinet"])
def test_the_page_of_a_memory_can_be_used_by_everybody(visit, life, theme, name):
    seen = visit(life, theme=theme)
    seen.open(f"/memories/{life.ids[name]}")
    assert seen.violations() == []


@pytest.mark.parametrize("path", ["/timeline?as_of=2026-01-01", "/memories/{porto}", "/insights?groups=1"])
def test_time_fits_a_phone(visit, life, path):
    seen = visit(life, size=PHONE)
    page = seen.open(path.format(porto=life.ids["porto"]))
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert seen.violations() == []


def test_very_long_and_hostile_memories_have_pages(visit, hostile):
    seen = visit(hostile)
    page = seen.open("/timeline")
    for href in page.locator("#results a[data-open]").evaluate_all(
        "all => all.slice(0, 3).map(one => one.getAttribute('href'))"
    ):
        seen.open(href)
        assert page.locator("h1").inner_text()
