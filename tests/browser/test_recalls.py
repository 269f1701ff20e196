"""What was asked, sessions and health, in a real browser: answers that a newcomer finds, and the filters as one types."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.daily]


def test_what_nothing_answered_stands_at_the_head_of_recalls(visit, life):
    page = visit(life).open("/recalls")
    assert page.locator(".gap").first.inner_text().startswith("Who reported ticket ATLAS-4711?")


def test_who_was_shown_what_is_found_as_one_types(visit, life):
    page = visit(life).open("/recalls")
    page.get_by_label("Words of the question").press_sequentially("tests of")
    page.locator(".reading").nth(1).wait_for(state="detached")
    reading = page.locator(".reading").inner_text()
    assert reading.startswith("Claude Code\nasked")
    assert "uv run pytest" in reading
    assert "q=tests" in page.url


def test_a_question_leads_to_what_it_finds_today(visit, life):
    page = visit(life).open("/recalls?q=Ada+live")
    page.get_by_role("link", name="ask it today").last.click()
    page.wait_for_url("**/search**")
    assert "Porto" in page.locator("main").inner_text()


def test_a_session_is_opened_by_the_keyboard_alone(visit, life):
    page = visit(life).open("/sessions?q=atlas-setup")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/sessions/atlas-setup**")
    assert page.locator(".step").count() == 3


def test_a_session_with_questions_can_be_used_by_everybody(visit, life):
    for theme in ("light", "dark"):
        seen = visit(life, theme=theme)
        seen.open("/sessions/asking")
        assert seen.violations() == []


def test_every_row_is_checked_by_one_key(visit, life):
    page = visit(life).open("/health")
    page.keyboard.press("c")
    page.wait_for_url("**check=1**")
    assert "nothing is wrong" in page.locator(".checks").first.inner_text()
