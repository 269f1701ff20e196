"""What a model is shown: no more than helps, and each thing once."""

from dataclasses import replace

import numpy as np
import pytest
from tests.core.speaking import remember

from hybrid_memory.model import Origin
from hybrid_memory.requests import ReadRequest
from hybrid_memory.retrieval.index import NamespaceIndex


def concise(service, scope, query, **fields):
    return service.read(scope, ReadRequest(query=query, concise=True, **fields))


def texts_of(result):
    return [hit.memory.content for hit in result.hits]


@pytest.fixture
def falling_off(monkeypatch):
    """Let the fifth hit and all behind it score a tenth of the best."""
    search = NamespaceIndex.search

    def scored(self, query):
        ranking = search(self, query)
        scores = np.where(np.arange(len(ranking)) < 4, 1.0, 0.1).astype(np.float32)
        return replace(ranking, scores=scores, weak=np.zeros(len(ranking), np.bool_))

    monkeypatch.setattr(NamespaceIndex, "search", scored)


@pytest.fixture
def teas(service, scope):
    return [remember(service, scope, f"the tea number {number} is green").id for number in range(9)]


def test_a_concise_answer_ends_where_the_scores_fall_off(service, scope, teas, falling_off):
    found = concise(service, scope, "tea", limit=8)
    assert len(found.hits) == 4
    assert found.total == 9


def test_what_was_cut_is_behind_the_cursor(service, scope, teas, falling_off):
    first = concise(service, scope, "tea", limit=8)
    rest = concise(service, scope, "tea", limit=8, cursor=first.cursor_after(4))
    assert {hit.memory.id for hit in (*first.hits, *rest.hits)} == set(teas)


def test_a_program_that_asks_for_a_number_of_hits_gets_them(service, scope, teas, falling_off):
    assert len(service.read(scope, ReadRequest(query="tea", limit=8)).hits) == 8


def test_a_limit_is_never_exceeded(service, scope, teas, falling_off):
    assert len(concise(service, scope, "tea", limit=2).hits) == 2


def test_a_brief_is_not_cut(service, scope, teas):
    assert len(concise(service, scope, "", limit=9).hits) == 9


def test_of_near_copies_the_newest_is_shown_and_names_the_others(service, scope, clock):
    old = remember(service, scope, "Remember that the door code is 4711", session="one").id
    clock.advance(days=1)
    new = remember(service, scope, "The door code is 4711.", session="two").id
    remember(service, scope, "The garden door squeaks")
    found = concise(service, scope, "door code")
    assert found.hits[0].memory.id == new
    assert found.hits[0].repeats == (old,)
    assert old not in {hit.memory.id for hit in found.hits}


def test_a_copy_from_a_tool_does_not_take_the_place_of_what_the_user_said(service, scope, clock):
    said = remember(service, scope, "The account is 123", origin=Origin.USER).id
    clock.advance(days=1)
    remember(service, scope, "Note: the account is 123", origin=Origin.TOOL, session="other")
    (hit,) = concise(service, scope, "account").hits
    assert hit.memory.id == said


@pytest.mark.parametrize("differing", ["speaker", "occurred_at"])
def test_what_different_people_said_or_what_happened_twice_is_shown_twice(service, scope, clock, differing):
    values = {
        "speaker": ("Ada", "Bob"),
        "occurred_at": (clock.now().replace(year=2020), clock.now().replace(year=2021)),
    }
    for number, value in enumerate(values[differing]):
        remember(service, scope, "I ran the marathon" + "." * number, session=f"s{number}", **{differing: value})
    assert len(concise(service, scope, "marathon").hits) == 2


def test_pages_with_near_copies_show_each_thing_once(service, scope, clock):
    for number in range(12):
        remember(service, scope, f"the tea number {number} is green", session=f"a{number}")
        clock.advance(seconds=1)
    for number in range(0, 12, 3):
        remember(service, scope, f"Tea number {number} is green.", session=f"b{number}")
    seen, cursor = [], None
    while not seen or cursor:
        page = concise(service, scope, "tea green", limit=5, cursor=cursor)
        seen += [one for hit in page.hits for one in (hit.memory.id, *hit.repeats)]
        cursor = page.cursor_after(len(page.hits))
    assert len(seen) == len(set(seen)) == 16
