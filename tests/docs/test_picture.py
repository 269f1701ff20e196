"""The picture of the README and the text below it are what the program does."""

import re

import pytest
from tools.first_minute import PICTURE, SAID, play, shown_in_readme

_ID = re.compile(r"\b[0-9a-z]{20}\b")


@pytest.fixture(scope="module")
def seen():
    return play()


@pytest.mark.tools
def test_the_readme_shows_what_the_program_gives_a_new_conversation(seen):
    assert _ID.sub("ID", shown_in_readme()) == _ID.sub("ID", seen.text())


@pytest.mark.tools
def test_at_a_question_about_somebody_comes_what_is_known_of_them_alone(seen):
    assert len(_ID.findall(seen.at_prompt)) == 1
    assert "peanuts" in seen.at_prompt


@pytest.mark.tools
def test_what_is_no_statement_is_not_kept(seen):
    assert seen.kept == "Memory: 3 kept"
    assert SAID[-1] not in seen.brief


def test_the_picture_has_nothing_fetched():
    picture = PICTURE.read_text(encoding="utf-8")
    assert re.findall(r"url\((?!#)|href|@import|@font-face", picture) == []
