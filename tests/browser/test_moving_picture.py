"""The README's picture in a real browser: it begins empty, and rests as it is shown to who wants no motion."""

import pytest
from tools.first_minute import PICTURE

pytestmark = [pytest.mark.browser]

FIRST = "document.getAnimations().forEach(one => { one.pause(); one.currentTime = 0 })"
LAST = "document.getAnimations().forEach(one => one.finish())"
LOOK = """[...document.querySelectorAll('svg *')].map(one => {
  const {opacity, transform, fill} = getComputedStyle(one);
  return [one.getAttribute('class'), opacity, transform, fill];
})"""


def look(chromium, motion, script=""):
    """How each element looks after a script, by a browser whose person wants motion or not."""
    context = chromium.new_context(viewport={"width": 760, "height": 520}, reduced_motion=motion)
    try:
        page = context.new_page()
        page.goto(PICTURE.as_uri())
        page.evaluate(script)
        return page.evaluate(LOOK)
    finally:
        context.close()


@pytest.fixture(scope="module")
def still(chromium):
    return look(chromium, "reduce", FIRST)


def of_kind(seen, kind):
    return {opacity for name, opacity, _, _ in seen if name is not None and kind in name.split()}


def test_without_motion_all_is_there_at_once(still):
    assert of_kind(still, "rise") == {"1"}
    assert of_kind(still, "cover") == {"0"}


def test_at_the_beginning_nothing_is_typed_and_nothing_is_known(chromium):
    seen = look(chromium, "no-preference", FIRST)
    assert of_kind(seen, "rise") == {"0"}
    assert of_kind(seen, "cover") == {"1"}


def test_at_the_end_it_looks_as_without_motion(chromium, still):
    assert look(chromium, "no-preference", LAST) == still
