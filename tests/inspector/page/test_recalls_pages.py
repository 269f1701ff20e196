"""The pages of what was asked, of sessions and of health: what is on them, and that stored text is inert there too."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from tests.server.services import SCOPE

from hybrid_memory.model import MemoryType, Scope
from hybrid_memory.requests import ReadRequest, ReadResult, Where
from hybrid_memory.service.reading_journal import Shown
from hybrid_memory.store.readings import Way

HOSTILE = "<img src=x onerror=alert(1)> {{ 7*7 }} </bdi><script>alert(2)</script> \u202egpj"
VALUE = re.compile(r' value="[^"]*"')
TAG = re.compile(r"<(img|script>alert|/bdi><script)", re.IGNORECASE)


@pytest.fixture(autouse=True)
def machine(tmp_path, monkeypatch):
    """A machine on which no assistant is."""
    for name in ("HOME", "XDG_CONFIG_HOME", "APPDATA", "LOCALAPPDATA", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("PATH", "")


def ask(page, question, *shown, way=Way.TOOL, **who):
    scope = Scope(session=who.get("session", "talk"), actor=who.get("client", "kite"))
    hits = page.service.as_hits(SCOPE, page.service.revealed(SCOPE, shown).values())
    request = ReadRequest(query=question, where=Where(tags=who.get("tags", ())))
    page.service.journal.note(
        scope,
        way,
        request,
        ReadResult(hits=hits, total=len(shown), recalled=shown[0] if shown else None),
        Shown(ids=shown, tokens=40),
        page.service.now(),
    )


@pytest.fixture
def told(page):
    one = page.remember("Ada lives in Porto.", memory_type=MemoryType.LONG_TERM)
    ask(page, "Where does Ada live?", one)
    ask(page, "When is Bo's wedding?")
    ask(page, "", one, way=Way.HOOK)
    return page


def test_what_was_asked_stands_with_what_was_shown(told):
    html = told.get("/recalls").text
    for words in ("Where does Ada live?", "Ada lives in Porto.", "What nothing answered", "got a brief"):
        assert words in html
    assert "2 questions" not in html
    assert "50 %" in html


def test_filters_of_the_address_hold_on_the_page(told):
    html = told.get("/recalls?unanswered=1").text
    assert html.count('class="reading"') == 1


def test_the_readings_of_a_conversation_are_under_its_title_and_not_its_id(page):
    session = "claude-code:d108ae34-9a1c-4a7b-8f0e-2f4f1f9f1f10"
    one = page.remember("Ada lives in Porto.", session=session)
    ask(page, "Where does Ada live?", one, session=session)
    notice = re.search(
        r'class="notice">Only in the conversation (.*?)\. <a', page.get(f"/recalls?session={session}").text
    )[1]
    assert "Ada lives in Porto" in notice
    assert "d108ae34" not in notice


def test_the_data_stands_beside_each_page(told):
    assert told.get("/recalls.json?q=porto").json()["total"] == 0
    assert told.get("/sessions.json").json()["total"] == 1
    assert told.get("/sessions/talk.json").json()["readings"] == 3
    assert told.get("/health.json").json()["counts"]["memories"] == 1


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/recalls", "Nobody has asked yet"),
        ("/sessions", "No conversations yet"),
        ("/health", "No assistant at this moment"),
    ],
)
def test_the_first_day_teaches(page, path, words):
    assert words in page.get(path).text


def test_a_session_is_told_in_its_course(told):
    html = told.get(f"/sessions/{SCOPE.session}").text
    assert "Ada lives in Porto." in html
    assert told.get("/sessions/nobody").status_code == 404


@pytest.mark.parametrize("name", ["a/b c", "50% done?", "#1", "x.json", "日記", HOSTILE])
def test_a_session_of_any_name_is_led_to_and_found(page, name):
    page.remember("Ada lives in Porto.", session=name)
    link = re.search(r'<h3><a href="([^"]+)"', page.get("/sessions").text)[1]
    assert page.get(link.replace("&amp;", "&")).status_code == 200


def test_hostile_questions_clients_sessions_and_texts_are_shown_as_text(page):
    one = page.remember(HOSTILE, session=HOSTILE)
    ask(page, HOSTILE, one, client=HOSTILE, session=HOSTILE, tags=(HOSTILE,))
    ask(page, HOSTILE + "?", client=HOSTILE, session=HOSTILE)
    for path in ("/recalls", "/sessions", f"/sessions/{quote(HOSTILE)}", f"/recalls?session={quote(HOSTILE)}"):
        answer = page.get(path)
        assert answer.status_code == 200
        assert not TAG.search(answer.text)
        assert "\u202e" not in VALUE.sub("", answer.text)  # what a filter sends has to be the name itself
        assert "&lt;img" in answer.text


def test_a_wrong_filter_is_named_with_what_to_give(page):
    answer = page.get("/recalls?way=dream")
    assert answer.status_code == 400
    assert "resource" in answer.text


def test_health_says_that_nothing_is_backed_up_only_where_there_is_a_file(page):
    assert "backup yet" not in page.get("/health").text
