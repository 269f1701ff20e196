from dataclasses import replace

import pytest
from tests.core.speaking import remember

from hybrid_memory.requests import ReadRequest, Where
from hybrid_memory.retrieval.index import NamespaceIndex


@pytest.fixture
def nothing_known(monkeypatch):
    search = NamespaceIndex.search
    monkeypatch.setattr(NamespaceIndex, "search", lambda self, query: replace(search(self, query), unknown=True))


def test_a_reading_says_that_nothing_is_known_where_the_ranking_does(service, scope, nothing_known):
    remember(service, scope, "the tea is green")
    assert service.read(scope, ReadRequest(query="tea")).unknown


def test_of_what_stands_nearest_to_something_unknown_three_are_shown(service, scope, nothing_known):
    for number in range(6):
        remember(service, scope, f"the tea is green {number}")
    found = service.read(scope, ReadRequest(query="tea", limit=8))
    assert len(found.hits) == 3
    assert found.total == 6


def test_who_goes_on_after_something_unknown_gets_the_page_that_was_asked_for(service, scope, nothing_known):
    for number in range(9):
        remember(service, scope, f"the tea is green {number}")
    first = service.read(scope, ReadRequest(query="tea", limit=5))
    rest = service.read(scope, ReadRequest(query="tea", limit=5, cursor=first.cursor_after(3)))
    assert len(rest.hits) == 5


def test_a_brief_makes_no_claim(service, scope, nothing_known):
    remember(service, scope, "the tea is green")
    assert not service.read(scope, ReadRequest()).unknown


def test_a_filter_that_leaves_nothing_claims_nothing(service, scope):
    remember(service, scope, "Yolanda's flat is on the third floor.")
    question = "Who is Zorana's dentist?"
    assert service.read(scope, ReadRequest(query=question)).unknown
    assert not service.read(scope, ReadRequest(query=question, where=Where(tags=("none",)))).unknown
