"""The picture of the README is what the program does."""

import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tools.first_minute import CONVERSATIONS, PICTURE, days_of, play
from tools.moving_picture import Day, Remembered, Typed, moving_picture

_ID = re.compile(r"\b[0-9a-z]{20}\b")
_SVG = "{http://www.w3.org/2000/svg}"
LARGEST = 60_000  # bytes
LONGEST = 22  # seconds


@pytest.fixture(scope="module")
def seen():
    return play()


@pytest.fixture(scope="module")
def picture():
    return PICTURE.read_text(encoding="utf-8")


@pytest.mark.tools
def test_the_picture_is_what_the_program_does_in_every_run(seen, picture):
    assert moving_picture(days_of(seen)) == picture


@pytest.mark.tools
def test_at_a_question_about_somebody_comes_what_is_known_of_them_alone(seen):
    assert len(_ID.findall(seen.at_prompt)) == 1
    assert "peanuts" in seen.at_prompt


@pytest.mark.tools
def test_what_is_no_statement_is_not_kept(seen):
    assert seen.days[0].kept == ("Memory: 1 kept",) * 3 + ("",)
    assert CONVERSATIONS[0].texts[-1] not in seen.days[1].brief


@pytest.mark.tools
def test_a_correction_is_in_the_next_brief_in_the_place_of_what_it_corrects(seen):
    tuesday, wednesday = ([words for _, words in seen.days[at].remembered()] for at in (1, 2))
    assert set(tuesday) - set(wednesday) == {"We deploy on Tuesdays, never on Fridays"}
    assert set(wednesday) - set(tuesday) == {"We deploy on Wednesdays, never on Fridays"}


def shown(svg):
    """The lines of text of a picture, in their order, and what a screen reader reads of it."""
    root = ET.fromstring(svg)  # noqa: S314 - our own
    return ["".join(one.itertext()) for one in root.iter(f"{_SVG}text")], root.findtext(f"{_SVG}desc")


def test_the_picture_has_nothing_fetched_and_no_script(picture):
    assert re.findall(r"url\((?!#)|href|@import|@font-face|<script|\bon[a-z]+=", picture) == []


def test_the_picture_is_small(picture):
    assert len(picture.encode()) < LARGEST


def test_the_picture_comes_to_rest_in_good_time(picture):
    assert max(map(float, re.findall(r"animation-delay:([\d.]+)s", picture))) < LONGEST


def test_who_wants_no_motion_gets_none(picture):
    assert "@media(prefers-reduced-motion:reduce){*{animation:none!important}}" in picture


def test_every_message_of_the_run_is_in_the_picture_and_in_its_description(picture):
    lines, described = shown(picture)
    typed = [text for one in CONVERSATIONS for text in one.texts]
    assert [line.removeprefix("› ") for line in lines if line.startswith("› ")] == typed
    assert all(text in described for text in typed)


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=40)
DAYS = st.builds(
    Day,
    WORDS,
    WORDS,
    st.one_of(st.just(""), WORDS),
    st.lists(st.builds(Remembered, WORDS, WORDS, st.booleans(), st.booleans()), max_size=3).map(tuple),
    st.lists(st.builds(Typed, WORDS, st.one_of(st.just(""), WORDS)), max_size=3).map(tuple),
)


@pytest.mark.slow
@given(st.lists(DAYS, min_size=1, max_size=3).map(tuple))
def test_whatever_is_typed_and_remembered_is_shown_as_it_is(days):
    lines, _ = shown(moving_picture(days))
    wanted = [f"› {said.text}" for day in days for said in day.typed]
    wanted += [f'"{one.words}"' for day in days for one in day.remembered]
    wanted += [one for day in days for one in (day.loaded, *(said.answer for said in day.typed)) if one]
    assert set(wanted) <= set(lines)
