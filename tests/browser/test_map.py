"""The map and the names in a real browser: the picture, its points by mouse and keys, at another time, and what can be done there."""

from __future__ import annotations

import pytest
from tests.browser.conftest import PHONE, THEMES

pytestmark = [pytest.mark.browser, pytest.mark.daily]

MAP = "main canvas[data-points]"


@pytest.fixture
def on_map(visit):
    """Opens the map and waits until it is drawn."""

    def on_map(served, path="/map", **given):
        page = visit(served, **given).open(path)
        page.wait_for_selector(MAP)
        return page

    return on_map


def frames(page):
    return int(page.locator(MAP).get_attribute("data-frames"))


def card(page):
    return page.locator(".map-card")


def pixels_of(page, selector):
    """Return how many different colours a canvas shows."""
    return page.locator(selector).evaluate(
        """canvas => new Set(new Uint32Array(
            canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size"""
    )


@pytest.mark.parametrize("theme", THEMES)
def test_memories_lie_on_land_in_both_themes(on_map, life, theme):
    page = on_map(life, theme=theme)

    assert pixels_of(page, ".map-back") > 8
    assert pixels_of(page, ".map-front") > 8


def test_the_legend_names_the_regions_by_their_words(on_map, life):
    page = on_map(life)

    assert "Atlas" in " ".join(page.locator(".map-legend").all_inner_texts())


def test_keys_reach_each_memory_and_open_it(on_map, life):
    page = on_map(life)
    page.locator(MAP).focus()
    page.keyboard.press("j")
    card(page).get_by_role("link", name="Open").wait_for()
    first = card(page).locator(".map-card-words").inner_text()
    page.keyboard.press("j")
    page.wait_for_selector(f".map-card-words:not(:text-is({first!r}))")
    page.keyboard.press("Enter")
    page.wait_for_url("**/memories/*")


def test_arrows_and_plus_move_the_map(on_map, life):
    page = on_map(life)
    page.locator(MAP).focus()
    before = frames(page)
    for key in ("+", "ArrowLeft", "-", "0"):
        page.keyboard.press(key)
        page.wait_for_selector(f"main canvas[data-frames]:not([data-frames='{before}'])")
        before = frames(page)


def test_a_question_brings_its_memories_out(on_map, life):
    page = on_map(life)
    page.locator(".map-tools [name=q]").fill("where does Ada live")
    page.get_by_text("match", exact=False).first.wait_for()
    page.locator(".map-tools [name=q]").fill("")
    page.locator(".map-status").wait_for(state="hidden")


def test_an_address_with_a_question_shows_what_matches(on_map, life):
    page = on_map(life, "/map?q=Ada")
    page.locator(".map-status").get_by_text("match").wait_for()


def test_the_slider_shows_what_was_known_then(on_map, life):
    page = on_map(life)
    slider = page.get_by_label("What was known when")
    slider.focus()
    slider.press("Home")

    assert page.locator(".map-when").inner_text().endswith("then")
    assert "now" not in page.locator(".map-when").inner_text()


def test_the_growth_of_the_memory_is_played_and_stopped(on_map, life):
    page = on_map(life)
    page.get_by_role("button", name="Play").click()
    page.locator(".map-when").get_by_text("then").wait_for()
    page.get_by_role("button", name="Stop").click()
    assert page.get_by_role("button", name="Play").is_visible()


def test_drawing_around_memories_selects_them_and_forgetting_can_be_undone(on_map, own_life):
    page = on_map(own_life)
    page.locator(MAP).focus()
    page.keyboard.press("j")
    card(page).get_by_role("button", name="Select").click()
    page.locator("#bulk").get_by_text("1 selected").wait_for()
    page.locator("#bulk").get_by_role("button", name="Forget").click()
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("1 selected").wait_for(state="hidden")


def test_a_group_of_the_legend_can_be_hidden(on_map, life):
    page = on_map(life)
    group = page.locator(".map-group").first
    before = page.locator(".map-when").inner_text()
    group.click()

    assert group.get_attribute("aria-pressed") == "false"
    assert page.locator(".map-when").inner_text() != before


@pytest.mark.parametrize("colour", ["age", "tier", "trust", "kind"])
def test_the_map_is_coloured_by_other_things(on_map, life, colour):
    page = on_map(life)
    page.locator("[name=colour]").select_option(colour)

    assert page.locator(".map-legend li").count() >= 1


def test_the_list_below_is_that_of_a_region(on_map, life):
    page = on_map(life)
    page.locator(".map-regions a").first.click()
    page.wait_for_url("**region=0**")
    assert page.locator(".rows .row").count() >= 1


def test_the_map_moves_by_finger_on_a_phone(on_map, life):
    page = on_map(life, size=PHONE)

    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_hostile_texts_and_names_on_the_map_are_text(on_map, hostile):
    page = on_map(hostile)
    page.locator(MAP).focus()
    for _ in range(8):
        page.keyboard.press("j")
        card(page).locator(".map-card-words").wait_for()
    assert card(page).locator("script, img, b, iframe, svg").count() == 0


def test_names_lead_to_what_held_and_until_when(visit, life):
    page = visit(life).open("/names")
    page.get_by_role("link", name="Ada", exact=True).click()
    page.wait_for_url("**/names/Ada*")

    told = page.locator(".name-time").inner_text()
    assert "Ada lives in Lisbon" in told
    assert "until" in told


def test_names_are_kept_as_one_types(visit, life):
    page = visit(life).open("/names")
    page.get_by_label("Begins with").fill("mar")
    page.get_by_text("1 name", exact=True).wait_for()
    assert page.locator(".name-link").all_inner_texts() == ["Maria"]
