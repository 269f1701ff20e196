"""Putting memories right in a real browser: the queue, the dialogs, many at once, and undo of each; by keyboard."""

import shutil
from contextlib import suppress

import pytest
from tests.browser.conftest import THEMES, serving
from tests.browser.life import make_life

from hybrid_memory.model import MemoryType, Origin, Scope
from hybrid_memory.requests import WriteRequest
from hybrid_memory.service.memory_service import MemoryService

pytestmark = [pytest.mark.browser, pytest.mark.daily]


@pytest.fixture(scope="module")
def mended(tmp_path_factory):
    """The page of a life that is changed, and is as before after each test."""
    home = tmp_path_factory.mktemp("mended") / "memory"
    ids = make_life(home)
    with serving(home) as served:
        served.ids = ids
        yield served


def waiting(page):
    """Return the words of what waits."""
    return page.locator(".queue .card-words").all_inner_texts()


def on(page, memory_id):
    """Put the keyboard on a memory."""
    page.locator(f"#card-{memory_id}").focus()


def asked(page, memory_id, key):
    """Open a memory's dialog with a key; a list that is refreshed in between takes the focus, so a key may be lost."""
    from playwright.sync_api import TimeoutError as NotYet  # where it is not installed these tests are skipped

    dialog = page.locator("dialog.ask")
    for _ in range(4):
        on(page, memory_id)
        page.keyboard.press(key)
        with suppress(NotYet):
            dialog.wait_for(timeout=5_000)
            break
    return dialog


def toast(page, words):
    page.locator(".toast", has_text=words).last.wait_for()


def undo(page):
    page.keyboard.press("u")
    toast(page, "Undone")


def stands(page, memory_id):
    return page.evaluate("id => fetch(`/memories/${id}.json`).then((answer) => answer.json())", memory_id)["memory"]


@pytest.mark.parametrize("theme", THEMES)
def test_the_queue_has_no_barrier(visit, life, theme):
    seen = visit(life, theme=theme)
    page = seen.open("/review")
    assert seen.violations() == []
    page.locator("input[data-select]").first.check()
    page.locator("#bulk").wait_for()
    page.locator("details.more-acts summary").nth(1).click()
    assert seen.violations() == []
    page.locator("[data-action=edit]").first.click()
    page.locator("dialog.ask").wait_for()
    assert seen.violations() == []


def test_the_queue_fits_a_phone(visit, life):
    page = visit(life, size={"width": 360, "height": 740}).open("/review")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.locator("input[data-select]").first.check()
    page.locator("#bulk").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_one_key_each_goes_through_the_queue(visit, mended):
    page = visit(mended).open("/review")
    before = waiting(page)
    page.keyboard.press("j")
    page.keyboard.press("f")
    toast(page, "forgotten")
    page.wait_for_function("many => document.querySelectorAll('.queue .card').length === many", arg=len(before) - 1)
    assert waiting(page) == before[1:]
    undo(page)
    page.wait_for_function("many => document.querySelectorAll('.queue .card').length === many", arg=len(before))
    assert waiting(page) == before
    page.keyboard.press("n")
    page.keyboard.press("a")
    toast(page, "confirmed as true")
    undo(page)


def test_what_is_true_takes_the_place_of_what_it_contradicts_until_it_is_undone(visit, mended):
    page, ids = visit(mended).open("/review?reason=disputed"), mended.ids
    on(page, ids["madrid"])
    page.keyboard.press("a")
    toast(page, "confirmed")
    assert stands(page, ids["porto"])["state"] == "superseded"
    undo(page)
    assert stands(page, ids["porto"])["state"] == "current"


def test_words_are_corrected_split_and_ended_in_dialogs(visit, mended):
    page, ids = visit(mended).open("/review"), mended.ids
    madrid = ids["madrid"]
    for key, field, words, told in (
        ("e", "text", "Ada visits Madrid.", "1 memory corrected"),
        ("s", "parts", "Ada visits Madrid.\nJonas does too.", "One memory is 2 now"),
        ("o", None, "", "1 memory ended"),
    ):
        dialog = asked(page, madrid, key)
        if field:
            dialog.locator(f"[name={field}]").fill(words)
        page.keyboard.press("Control+Enter")
        toast(page, told)
        undo(page)
        page.locator(f"#card-{madrid} .card-words", has_text="Ada lives in Madrid.").wait_for()
    assert stands(page, madrid)["content"] == "Ada lives in Madrid."


def test_a_dialog_says_what_is_wrong_and_keeps_the_words(visit, mended):
    seen, ids = visit(mended), mended.ids
    page = seen.open("/review")
    asked(page, ids["madrid"], "s").locator("[name=parts]").fill("Only one.")
    page.keyboard.press("Control+Enter")
    page.locator(".dialog-problem", has_text="different statements").wait_for()
    assert page.locator("dialog.ask [name=parts]").input_value() == "Only one."
    page.keyboard.press("Escape")
    # The browser notes each refused request as an error; that one was meant.
    assert all("400" in one for one in seen.complaints)
    seen.complaints.clear()


def test_many_are_changed_by_one_letter_and_undone_by_one(visit, mended):
    page = visit(mended).open("/review")
    before = waiting(page)
    page.locator("[data-select-all]").click()
    page.keyboard.press("w")
    toast(page, f"{len(before)} memories set aside as untrue")
    page.locator(".empty-title", has_text="Nothing waits").wait_for()
    undo(page)
    page.locator(".queue .card").first.wait_for()
    assert waiting(page) == before


@pytest.fixture
def repeated(life_store, tmp_path):
    """The page of a life in which a tool said one sentence three times."""
    home = tmp_path / "memory"
    shutil.copytree(life_store[0], home)
    service = MemoryService.open(home)
    for number in range(3):
        said = WriteRequest(content="Ferries sail daily.", origin=Origin.TOOL, memory_type=MemoryType.LONG_TERM)
        service.write(Scope(session=f"s{number}"), said)
    service.close()
    with serving(home) as served:
        yield served


def test_what_was_said_three_times_is_corrected_and_forgotten_at_once(visit, repeated):
    page = visit(repeated).open("/review?reason=untrusted")
    card = page.locator(".queue .card", has_text="said 3 times")
    card.focus()
    page.keyboard.press("e")
    page.locator("dialog.ask [name=text]").fill("Ferries sail on weekdays.")
    page.keyboard.press("Control+Enter")
    toast(page, "3 memories are one now")
    undo(page)
    card.locator("input[data-select]").check()
    page.keyboard.press("f")
    toast(page, "3 memories forgotten")


def test_many_become_one(visit, mended):
    page, ids = visit(mended).open("/review"), mended.ids
    page.locator("input[data-select]").nth(0).check()
    page.locator("input[data-select]").nth(2).check()
    page.keyboard.press("m")
    page.locator("dialog.ask textarea").fill("Ada lives in Madrid and played the clarinet.")
    page.keyboard.press("Control+Enter")
    toast(page, "2 memories are one now")
    assert stands(page, ids["madrid"])["state"] == "superseded"
    undo(page)
    assert stands(page, ids["madrid"])["state"] == "current"


def test_nothing_is_erased_but_by_typing_how_many_go(visit, own_life):
    seen, ids = visit(own_life), own_life.ids
    page = seen.open("/review")
    card = page.locator(f"#card-{ids['madrid']}")
    card.locator("summary").click()
    card.locator("[data-action=purge]").click()
    dialog = page.locator("dialog.ask")
    dialog.locator("[name=typed]").fill("7")
    dialog.locator("button.danger").click()
    page.locator(".dialog-problem", has_text="Type 1").wait_for()
    assert stands(page, ids["madrid"])["state"] == "current"
    dialog.locator("[name=typed]").fill("1")
    dialog.locator("button.danger").click()
    toast(page, "erased for good")
    page.locator(f"#card-{ids['madrid']}").wait_for(state="detached")
    assert b"Madrid" not in (own_life.home / "memory.duckdb").read_bytes()
    # Asking what would go is answered by 409, which the browser notes.
    assert all("409" in one for one in seen.complaints)
    seen.complaints.clear()


def test_without_scripts_the_buttons_work_too(visit, mended):
    seen = visit(mended, java_script_enabled=False)
    page = seen.open("/review")
    page.locator(".queue [data-action=forget]").first.click()
    page.locator("h1", has_text="Done").wait_for()
    page.locator("[data-action=undo]").click()
    assert "Undone" in page.locator("main").inner_text()
    page.locator("a", has_text="Back").click()
    assert page.url.endswith("/review")
    # Chromium passes the picture between two pages over where scripts are off, and says so.
    seen.complaints[:] = [one for one in seen.complaints if "Transition was aborted" not in one]
