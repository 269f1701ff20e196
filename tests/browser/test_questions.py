"""What a newcomer asks, answered from the page alone in at most three actions: a click, a key, or words typed with Enter."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.daily]

MOST = 3


@dataclass
class Newcomer:
    """Somebody before the page, whose actions are counted."""

    page: Any
    actions: int = 0

    def click(self, role: str, name: str | re.Pattern[str]) -> None:
        """Click what is called so."""
        self.actions += 1
        self.page.get_by_role(role, name=name).first.click()
        self.page.wait_for_load_state("load")

    def ask(self, text: str) -> None:
        """Type into the field that every page has, and press Enter."""
        self.actions += 1
        field = self.page.get_by_role("searchbox").first
        field.fill(text)
        field.press("Enter")
        self.page.wait_for_url("**/search?**")

    def open(self, text: str) -> None:
        """Click the words of a memory."""
        self.actions += 1
        self.page.locator("main article").filter(has_text=text).get_by_text(text, exact=False).first.click()
        self.page.wait_for_url("**/memories/*")

    def reads(self) -> str:
        """Return what is on the page, on one line."""
        assert self.actions <= MOST
        return " ".join(self.page.locator("main").inner_text().split())


@pytest.fixture
def newcomer(visit, life):
    return Newcomer(visit(life).open("/"))


def test_when_did_it_learn_that_ada_moved_and_what_did_it_believe_before(newcomer):
    newcomer.ask("Where does Ada live?")
    newcomer.open("Ada lives in Porto.")
    read = newcomer.reads()
    assert re.search(r"Learned on \w+ \d+ \w+ 20\d\d by Claude Code", read)
    assert re.search(r"Believed before: Ada lives in Lisbon since March", read)


def test_why_does_it_not_believe_that_ada_lives_in_madrid(newcomer):
    newcomer.ask("Does Ada live in Madrid?")
    newcomer.open("Ada lives in Madrid.")
    read = newcomer.reads()
    assert "not trusted" in read
    assert "This one is trusted more and still holds" in read


def test_what_does_it_know_about_maria(newcomer):
    newcomer.click("link", re.compile("^People and things"))
    newcomer.click("link", re.compile("^Maria"))
    read = newcomer.reads()
    assert "birthday on 14 November" in read
    assert "Ghent to study medicine" in read


def test_what_was_it_asked_that_it_could_not_answer(newcomer):
    newcomer.click("link", re.compile("^Recalls"))
    newcomer.click("checkbox", re.compile("only what nothing answered"))
    newcomer.page.get_by_text("Which ingredient must I avoid").wait_for(state="detached")
    assert "ATLAS-4711" in newcomer.reads()


def test_what_is_an_assistant_told_at_the_start_and_why(newcomer):
    newcomer.click("link", re.compile("^Brief"))
    read = newcomer.reads()
    assert re.search(r"My passport must be renewed before 30 April.{0,200}pinned", read, re.IGNORECASE)
