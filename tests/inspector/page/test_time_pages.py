"""The pages of time: the timeline, one memory, insights."""

from __future__ import annotations

import re
from datetime import timedelta
from html.parser import HTMLParser

import pytest
from tests.server.services import SCOPE

from hybrid_memory.model import MemoryType, Origin
from hybrid_memory.requests import ForgetRequest, Insight, ReadRequest, UpdateRequest
from hybrid_memory.service.reading_journal import Shown
from hybrid_memory.store.readings import Way

KEPT = {"memory_type": MemoryType.LONG_TERM, "origin": Origin.USER}
HOSTILE = "<img src=x onerror=alert(1)> \u202egnihtyna {{ 7*7 }} ](javascript:alert(1))"


@pytest.fixture
def moves(page):
    """Ada lived in Berlin; ten days later it is learned that she lives in Lisbon since five days."""
    berlin = page.remember("Ada lives in Berlin.", **KEPT)
    page.service.clock.advance(days=10)
    since = page.service.clock.now() - timedelta(days=5)
    lisbon = page.remember("Ada lives in Lisbon.", supersedes=berlin, occurred_at=since, **KEPT)
    page.service.clock.advance(days=10)
    return berlin, lisbon


def attributes_of(text):
    names = []
    parser = HTMLParser()
    parser.handle_starttag = lambda _, given: names.extend(name for name, _ in given)
    parser.feed(text)
    return names


def said(answer):
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", answer.text[answer.text.index("<main") :]))


@pytest.mark.parametrize("path", ["/timeline", "/insights", "/insights?groups=1"])
def test_the_first_day_teaches(page, path):
    assert "Say to your assistant" in said(page.get(path))


@pytest.mark.usefixtures("moves")
def test_the_timeline_tells_what_was_there_before(page):
    text = said(page.get("/timeline?changes=1"))
    assert "before: Ada lives in Berlin." in text


@pytest.mark.usefixtures("moves")
def test_a_day_shows_what_was_believed_then(page):
    text = said(page.get("/timeline?as_of=2026-01-16"))
    assert "Believed on Fri 16 Jan 2026" in text
    assert "1 replaced since" in text


@pytest.mark.usefixtures("moves")
def test_without_scripts_a_button_says_which_time_is_meant(page):
    assert "True on Fri 16 Jan 2026" in said(page.get("/timeline?as_of=2026-01-16&which=true_at"))


@pytest.mark.usefixtures("moves")
def test_the_picture_has_a_table_beside_it(page):
    assert page.get("/timeline").text.count('<th scope="row">') == 3


@pytest.mark.parametrize("name", [0, 1])
def test_each_version_leads_to_the_others(page, moves, name):
    text = page.get(f"/memories/{moves[name]}").text
    assert f'href="/memories/{moves[1 - name]}"' in text


def test_a_memory_says_at_its_head_when_it_was_learned_and_what_was_believed_before(page, moves):
    text = said(page.get(f"/memories/{moves[1]}"))
    assert "Learned on Tue 20 Jan 2026" in text
    assert "Believed before: Ada lives in Berlin. (learned on Sat 10 Jan 2026)" in text


def test_an_erased_memory_has_a_page(page):
    old = page.remember("Erased.", **KEPT)
    page.service.store._data.namespaces["default"].memories.pop(old)
    assert "This memory was erased" in said(page.get(f"/memories/{old}"))


def test_an_unknown_memory_is_not_found(page):
    assert page.get("/memories/abcdefghij").status_code == 404


def test_an_insight_says_what_became_of_its_ground(page, moves):
    page.service.store_insights(SCOPE, [Insight(text="Ada moves west.", evidence=moves)])
    assert "already past then" in said(page.get("/insights"))
    page.service.clock.advance(days=1)
    page.service.forget(SCOPE, ForgetRequest(ids=(moves[1],)))
    assert "its basis has changed" in said(page.get("/insights?evidence=changed"))


@pytest.mark.parametrize("path", ["/timeline", "/timeline?changes=1", "/insights", "/memories/{id}"])
def test_stored_text_does_nothing(page, path):
    first = page.remember(HOSTILE, tags=(HOSTILE,), source=HOSTILE, session=HOSTILE[:30], **KEPT)
    page.service.clock.advance(seconds=1)
    second = page.remember(HOSTILE + " more", supersedes=first, speaker=HOSTILE, **KEPT)
    page.service.store_insights(SCOPE, [Insight(text=HOSTILE, evidence=(first, second))])
    text = page.get(path.format(id=second)).text
    assert "<img src=x" not in text
    assert "\u202e" not in text
    assert not [name for name in attributes_of(text) if name == "style" or name.startswith("on")]


def test_a_parameter_that_is_markup_does_nothing(page):
    answer = page.get('/timeline?session="><script>alert(1)</script>&tag="><b>')
    assert answer.status_code == 200
    assert "<script>alert" not in answer.text


def test_a_memory_says_what_it_was_found_for(page, moves):
    service, request = page.service, ReadRequest(query="Where does <b>Ada</b> live?")
    found = service.read(SCOPE, request)
    service.journal.note(SCOPE, Way.TOOL, request, found, Shown(ids=(moves[1],), tokens=9), service.now())
    text = said(page.get(f"/memories/{moves[1]}"))
    assert "Questions that found it" in text
    assert "Where does &lt;b&gt;Ada&lt;/b&gt; live?" in text
    assert "place 1 of 1" in text


def test_briefs_that_showed_a_memory_are_no_questions(page, moves):
    service = page.service
    for _ in range(3):
        found = service.read(SCOPE, ReadRequest())
        service.journal.note(SCOPE, Way.HOOK, ReadRequest(), found, Shown(ids=(moves[1],), tokens=9), service.now())
    text = said(page.get(f"/memories/{moves[1]}"))
    assert "Shown 3 times without a question" in text
    assert "Questions that found it" not in text


def test_a_chain_of_many_versions_says_how_many_lie_between(page):
    last = page.remember("Build 0 is green.", **KEPT)
    for number in range(1, 50):
        page.service.clock.advance(hours=1)
        last = page.service.update(SCOPE, UpdateRequest(id=last, content=f"Build {number} is green.")).id
    assert "9 versions between" in said(page.get(f"/memories/{last}"))


def test_a_secret_is_shown_to_who_asks(page):
    key = "ghp_9fQ2mZ7Lr4Xc8Vb1Nw6Ty3Kd5Hs0JaP4xQ7z"
    one = page.remember(f"The key is {key}.", **KEPT)
    masked = page.get(f"/memories/{one}").text
    assert key not in masked
    assert f'href="/memories/{one}?reveal=1"' in masked
    assert key in page.get(f"/memories/{one}?reveal=1").text
