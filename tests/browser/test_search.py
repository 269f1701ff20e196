"""Search and brief in a real browser: live as one types, by keyboard, and what a newcomer finds out there."""

from __future__ import annotations

import json

import pytest
from tests.browser.conftest import PHONE, THEMES

pytestmark = [pytest.mark.browser, pytest.mark.daily]


def hits(page):
    return page.locator("#shown .card-words").all_inner_texts()


def test_hits_come_while_one_types(visit, life):
    page = visit(life).open("/search")
    page.locator(".field-q input").press_sequentially("who am i allergic to peanuts", delay=15)
    page.locator("#shown .card-words", has_text="allergic to peanuts").wait_for()

    assert page.evaluate("document.activeElement.name") == "q"
    assert "q=who+am+i" in page.url.replace("%20", "+")


def test_the_first_letters_in_the_field_at_the_top_lead_there(visit, life):
    page = visit(life).open("/")
    page.keyboard.press("/")
    page.keyboard.type("dentist")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=dentist*")

    assert "dentist" in hits(page)[0]


def test_what_it_believed_before_is_found_without_leaving_the_page(visit, life):
    page = visit(life).open("/search?q=Where+does+Ada+live%3F")
    replaced = page.locator("#out-replaced .card-words").all_inner_texts()

    assert hits(page)[0] == "Ada lives in Porto."
    assert {"Ada lives in Lisbon since March.", "Ada lives in Berlin."} <= set(replaced)


def test_what_was_forgotten_is_found_and_said_to_be_hidden(visit, life):
    page = visit(life).open("/search?q=climbing+gym")

    assert "gym" in page.locator("#out-forgotten .card-words").inner_text()
    assert "I want to join the climbing gym" not in page.locator("pre.answer").inner_text()


def test_a_score_is_explained_by_a_click(visit, life):
    page = visit(life).open("/search?q=Where+does+Ada+live%3F")
    page.locator("#shown .score summary").first.click()

    assert page.locator("#shown .score").first.get_by_text("Rare words and names count more.").is_visible()


def test_a_score_is_explained_by_keyboard_alone(visit, life):
    page = visit(life).open("/search?q=Where+does+Ada+live%3F")
    page.locator("#shown .score summary").first.focus()
    page.keyboard.press("Enter")

    assert page.locator("#shown .terms").first.is_visible()


def test_a_moment_in_the_past_changes_the_answer(visit, life):
    page = visit(life).open("/search?q=Where+does+Ada+live%3F")
    page.get_by_text("Narrow it down").click()
    page.get_by_label("As it was known on").fill("3 months ago")
    page.keyboard.press("Tab")
    page.wait_for_url("**as_of=*")

    assert "As it was known on" in page.locator("#results").inner_text()


def test_half_a_date_is_not_sent_and_a_wrong_one_is_said_to_be_wrong(visit, life):
    seen = visit(life)
    page = seen.open("/search?q=Ada")
    page.get_by_text("Narrow it down").click()
    page.get_by_label("Happened since").press_sequentially("somed", delay=20)
    page.wait_for_timeout(250)
    assert "since=" not in page.url
    page.keyboard.press("Tab")
    page.locator("#results", has_text="not a date").wait_for()
    seen.complaints[:] = [one for one in seen.complaints if "400" not in one]


def test_the_answer_on_the_page_is_the_one_in_its_data(visit, life):
    page = visit(life).open("/search?q=ferry")
    data = json.loads(page.evaluate("fetch('/search.json?q=ferry').then(answer => answer.text())"))

    assert page.locator("pre.answer").inner_text().strip() == data["answer"]["text"].strip()


@pytest.mark.parametrize("path", ["/search", "/search?q=Ada+Porto", "/brief?client=claude-code", "/brief?client=any"])
@pytest.mark.parametrize("theme", THEMES)
def test_search_and_brief_are_accessible(visit, life, path, theme):
    seen = visit(life, theme=theme)
    page = seen.open(path)
    page.evaluate("document.querySelectorAll('main details').forEach(one => one.open = true)")

    assert seen.violations() == []


@pytest.mark.parametrize("path", ["/search?q=Ada+Porto", "/brief?client=claude-code"])
def test_nothing_is_wider_than_a_phone(visit, life, path):
    page = visit(life, size=PHONE).open(path)
    page.evaluate("document.querySelectorAll('main details').forEach(one => one.open = true)")

    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_a_brief_tells_why_each_line_is_in_it(visit, life):
    page = visit(life).open("/brief?client=claude-code")
    line = page.locator(".brief-line", has_text="allergic to peanuts")

    assert "health" in line.locator(".brief-why").inner_text()
    assert "allergic to peanuts" in page.locator("pre.brief-text").inner_text()


def test_another_assistant_is_chosen_with_a_click(visit, life):
    page = visit(life).open("/brief?client=claude-code")
    page.get_by_role("link", name="Any other assistant").click()
    page.wait_for_url("**client=any*")

    assert "read_memories" in page.locator(".lead").inner_text()


def test_on_the_first_day_search_and_brief_teach(visit, nothing_yet):
    seen = visit(nothing_yet)

    assert seen.open("/search").get_by_text("Ask as you would ask a person").is_visible()
    assert seen.open("/brief?client=any").get_by_text("Say to your assistant").is_visible()


def test_what_is_forgotten_here_moves_to_what_is_not_shown(visit, own_life):
    page = visit(own_life).open("/search?q=Who+is+my+dentist%3F")
    card = page.locator("#shown .card", has_text="Dr. Bauer")
    card.get_by_role("button", name="Forget").click()
    page.locator("#out-forgotten .card", has_text="Dr. Bauer").wait_for()

    assert page.locator("#shown .card", has_text="Dr. Bauer").count() == 0
