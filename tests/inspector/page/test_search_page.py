"""The pages of search and brief: what is on them, and that stored text is inert there too."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.services import SCOPE

from hybrid_memory.model import MemoryType, Origin
from hybrid_memory.requests import ForgetRequest
from hybrid_memory_inspector.page.rendering import inert

TAGS = re.compile(r"</?(bdi|mark|span|details|summary)( [^<>]*)?>")
HOSTILE = '<img src=x onerror=alert(1)> Ada & "Bo" </bdi><script>alert(2)</script>'


@pytest.fixture
def told(page):
    page.remember("Ada lives in Porto.", memory_type=MemoryType.LONG_TERM, origin=Origin.USER)
    page.remember(HOSTILE, memory_type=MemoryType.LONG_TERM)
    return page


def test_a_search_shows_its_hits_their_reasons_and_the_answer(told):
    html = told.get("/search?q=Ada+Porto").text
    assert "<mark>Ada</mark>" in html
    assert "Found mostly by “Ada” and “Porto”" in html
    assert "The answer, word for word" in html
    assert "read_memories" in html


@pytest.mark.parametrize("path", ["/search?q=Ada+Bo+script", "/brief?client=any", "/brief?client=claude-code"])
def test_stored_text_is_inert_on_the_page(told, path):
    html = told.get(path).text
    assert "&lt;" in html
    for danger in ("<img", "<script>alert", "</bdi><script"):
        assert danger not in html


def test_the_data_stands_beside_the_page(told):
    found = told.get(f"/search.json?q={quote('Where does Ada live?')}").json()
    assert found["hits"][0]["memory"]["content"] == "Ada lives in Porto."
    assert told.get("/brief.json").json()["lines"]


def test_without_a_question_the_page_teaches(page):
    html = page.get("/search").text
    assert "Ask as you would ask a person" in html


def test_a_question_that_nothing_answers_says_so(page):
    assert "Nothing is shown for this" in page.get("/search?q=unicorns").text


def test_what_was_forgotten_is_shown_to_the_person_alone(told):
    gone = told.remember("Ada had a cat in Porto.", memory_type=MemoryType.LONG_TERM)
    told.service.forget(SCOPE, ForgetRequest(ids=(gone,)))
    html = told.get("/search?q=cat+in+Porto").text
    assert "Forgotten" in html
    assert "assistants do not get it" in html


def test_a_wrong_date_is_a_page_that_says_so(told):
    answer = told.get("/search?q=Ada&since=someday")
    assert answer.status_code == 400
    assert "is not a date" in answer.text


def test_the_brief_of_an_empty_memory_teaches(page):
    assert "No brief yet" in page.get("/brief").text


def test_a_brief_shows_each_line_with_its_reason(told):
    html = told.get("/brief?client=codex").text
    assert "Ada lives in Porto." in html
    assert "It says who" in html


@given(
    st.text('ab<&>"\u202e ', max_size=30),
    st.lists(st.integers(0, 30), max_size=6).map(sorted),
    st.sampled_from([None, 7]),
)
def test_marks_anywhere_in_a_text_let_nothing_out(text, places, cut):
    marks = [{"begin": begin, "end": end, "near": False} for begin, end in zip(places[::2], places[1::2], strict=False)]
    html = str(inert(text, cut, "/x", marks))
    assert "<" not in TAGS.sub("", html)
    assert html.count("<mark>") == html.count("</mark>")
