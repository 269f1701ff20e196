"""Search as a model sees it: the very answer of the tool, and what comes behind it."""

from __future__ import annotations

import itertools
from datetime import UTC, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp.types import TextContent

from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import MemoryType, Origin, Scope
from hybrid_memory.requests import ForgetRequest, ReadRequest, WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.testing import FakeClock, FakeRandomSource, HashEmbedder
from hybrid_memory_mcp.mcp_api.tools import TOOLS, CallContext
from hybrid_memory_mcp.views.search import load
from hybrid_memory_mcp.views.search_words import TITLES
from hybrid_memory_mcp.views.view import ViewRequest

KEY = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
PARKS = ("North", "South", "East", "West", "Castle", "River", "Mill", "Abbey", "Lake", "Harbour", "Hill", "Rose")


@pytest.fixture
def search(service, scope):
    def one(q="", **parameters):
        asked = ViewRequest(scope=scope, parameters={"q": q} | parameters, zone=UTC, home=Path("nowhere"))
        return load(service, asked)

    return one


@pytest.fixture
def answer(service, scope):
    """What the tool answers a model."""
    (tool,) = (one for one in TOOLS if one.name == "read_memories")

    def one(**arguments):
        result = tool.run(service, CallContext(scope, UTC), tool.takes.model_validate(arguments))
        return result.content[0].text if isinstance(result.content[0], TextContent) else "", result.structured_content

    return one


def left_out(found, reason):
    return [
        one["memory"]["content"]
        for group in found["left_out"]
        if group["reason"] == reason
        for one in group["memories"]
    ]


def contents(found):
    return [hit["memory"]["content"] for hit in found["hits"]]


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "Where does Ada live?"},
        {"query": "Where does Ada live?", "limit": 1},
        {"query": "Where does Ada live?", "token_budget": 100},
        {"query": "Ada", "where": {"memory_type": "long_term", "since": "2026-01-15"}},
        {"query": "Ada", "where": {"as_of": "2026-01-12"}},
        {"query": "Who is Zebedee's dentist?"},
        {"query": "zzz"},
    ],
)
def test_the_answer_is_the_one_that_a_model_gets_for_the_same_arguments(search, answer, say, moves, arguments):
    say("Bo lives in Ghent.", origin=Origin.TOOL)
    names = {"memory_type": "type", "token_budget": "budget"}
    flat = {key: value for key, value in arguments.items() if key not in ("query", "where")} | arguments.get(
        "where", {}
    )
    found = search(arguments["query"], **{names.get(name, name): str(value) for name, value in flat.items()})
    assert (found["answer"]["text"], found["answer"]["structured"]) == answer(**arguments)
    assert found["call"] == arguments


def test_a_search_on_the_page_is_no_recall(search, service, scope, moves):
    for _ in range(3):
        search("Where does Ada live?")
    service.flush_recalls()
    assert service.store.usage(scope.namespace, [moves["porto"]]) == {}


@pytest.mark.slow
def test_a_search_on_the_page_takes_no_others_pages_away(search, service, scope, say):
    for park in PARKS:
        say(f"{park} park is closed on Sundays.")
    first = service.read(scope, ReadRequest(query="closed park", limit=4))
    for number in range(33):
        search(f"closed park {number}")
    second = service.read(scope, ReadRequest(query="closed park", limit=4, cursor=first.cursor_after(4)))
    assert not {hit.memory.id for hit in first.hits} & {hit.memory.id for hit in second.hits}


def test_nothing_is_searched_without_a_question(search, moves):
    assert search()["hits"] == []
    assert search()["answer"] is None


def test_the_terms_of_a_score_sum_up_to_it_and_each_has_a_name_and_a_meaning(search, moves, say):
    say("Bo has lived in Porto since 2019.")
    for hit in search("Where did Ada live before Porto?")["hits"]:
        assert sum(term["value"] for term in hit["terms"]) == pytest.approx(hit["score"], abs=1e-2)
        assert all(term["title"] in TITLES.values() and term["means"] for term in hit["terms"])


def test_a_hit_says_which_words_brought_it(search, moves):
    hit = search("Where does Ada live?")["hits"][0]
    text = hit["memory"]["content"]
    assert [(one["word"], text[one["begin"] : one["end"]]) for one in hit["words"]] == [
        ("Ada", "Ada"),
        ("live", "lives"),
    ]
    assert "“Ada” and “lives”" in next(term["means"] for term in hit["terms"] if term["name"] == "lexical")


def test_a_replaced_memory_that_matches_is_told_with_the_place_it_would_have(search, moves):
    found = search("Ada Lisbon")
    assert "Lisbon" not in found["answer"]["text"]
    (group,) = (one for one in found["left_out"] if one["reason"] == "replaced")
    assert group["memories"][0]["memory"]["content"] == "Ada lives in Lisbon."
    assert group["memories"][0]["place"] == 1
    assert group["memories"][0]["newer"] == moves["porto"]


def test_a_forgotten_memory_that_matches_is_told_as_forgotten(search, service, scope, say):
    gone = say("I want to join the climbing gym.")
    say("I bought bread.")
    service.forget(scope, ForgetRequest(ids=(gone,)))
    found = search("climbing gym")
    assert "climbing" not in found["answer"]["text"]
    assert left_out(found, "forgotten") == ["I want to join the climbing gym."]


def test_an_expired_memory_that_matches_is_told_as_over(search, say, clock):
    say("The bridge is closed.", expires_at=clock.now() + timedelta(days=2))
    clock.advance(days=3)
    assert left_out(search("bridge closed"), "expired") == ["The bridge is closed."]


def test_what_was_learned_after_the_moment_asked_about_is_told_as_later(search, moves):
    found = search("Where does Ada live?", as_of="2026-01-12")
    assert contents(found) == ["Ada lives in Berlin."]
    assert set(left_out(found, "later")) == {"Ada lives in Lisbon.", "Ada lives in Porto."}


def test_what_stands_behind_the_first_ones_is_told(search, say):
    for park in PARKS:
        say(f"{park} park is closed on Sundays.")
    found = search("closed park", limit="5")
    assert len(found["hits"]) == 5
    (group,) = (one for one in found["left_out"] if one["reason"] == "limit")
    assert group["count"] == len(PARKS) - 5
    assert not {*left_out(found, "limit")} & {*contents(found)}


def test_what_has_no_room_in_the_budget_is_told(search, say):
    for park in PARKS:
        say(f"{park} park is closed on Sundays, and on the evenings before holidays of the town.")
    found = search("closed park", budget="300")
    assert 0 < len(found["hits"]) < 8
    assert len(left_out(found, "budget")) == 8 - len(found["hits"])
    assert found["answer"]["tokens"]["structured"] <= 300


def test_nothing_is_both_shown_and_left_out(search, moves, say):
    say("Ada lives in Porto.", origin=Origin.TOOL)
    found = search("Where does Ada live?", limit="2")
    shown = [hit["memory"]["id"] for hit in found["hits"]]
    others = [one["memory"]["id"] for group in found["left_out"] for one in group["memories"]]
    assert len({*shown, *others}) == len(shown) + len(others)


def test_a_word_that_no_memory_holds_is_named(search, moves):
    found = search("Where does Ada play the bassoon?")
    assert "bassoon" in found["understood"]["unheld"]
    assert next(one for one in found["understood"]["words"] if one["word"] == "Ada")["held"] == 1


def test_a_time_in_the_question_is_told(search, moves):
    (time,) = search("Where did Ada live in January 2026?")["understood"]["times"]
    assert (time["first"], time["last"]) == ("2026-01-01", "2026-01-31")


def test_that_nothing_is_known_is_told(search, moves):
    found = search("Who is Zebedee's dentist?")
    assert found["answer"]["unknown"]
    assert found["notes"]


def test_secrets_are_masked_in_what_is_shown_and_what_is_left_out(search, service, scope, say):
    say(f"The token of the tile server is {KEY}")
    service.forget(scope, ForgetRequest(ids=(say(f"The old token of the tile server is {KEY}"),)))
    found = search("token of the tile server")
    assert KEY not in str(found)
    assert left_out(found, "forgotten")


def test_who_asks_to_see_secrets_is_shown_them_but_not_in_the_answer(search, say):
    say(f"The token of the tile server is {KEY}")
    found = search("token of the tile server", reveal="1")
    assert KEY in found["hits"][0]["memory"]["content"]
    assert KEY not in found["answer"]["text"]


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("since", "someday"), ("limit", "many"), ("type", "nonsense"), ("trust", "7"), ("budget", "3")],
)
def test_a_wrong_filter_is_named_as_the_address_has_it(search, moves, parameter, value):
    with pytest.raises(InvalidInput) as caught:
        search("Ada", **{parameter: value})
    assert caught.value.field == parameter


def test_a_question_of_endless_length_is_refused(search):
    with pytest.raises(InvalidInput, match="at most 2,000"):
        search("x" * 2001)


def test_filters_hold(search, say):
    say("Tea is in the left cupboard.", tags=("kitchen",), session="home")
    say("Tea with Maria on Sunday.", session="maria")
    assert contents(search("tea", tags="kitchen")) == ["Tea is in the left cupboard."]
    assert contents(search("tea", session="maria")) == ["Tea with Maria on Sunday."]
    assert search()["choices"]["tags"] == ["kitchen"]


def test_a_project_and_its_person_are_searched_together(service, search, scope):
    person = Scope(namespace="me", session="s")
    service.write(person, WriteRequest(content="I prefer tabs.", memory_type=MemoryType.LONG_TERM))
    both = Scope(namespace="project:x", personal="me", session="s")
    service.write(both, WriteRequest(content="The project prefers spaces.", memory_type=MemoryType.LONG_TERM))
    found = load(service, ViewRequest(scope=both, parameters={"q": "prefer tabs or spaces"}))
    assert {hit["memory"]["namespace"] for hit in found["hits"]} == {"me", "project:x"}


WORDS = (
    "Ada",
    "lives",
    "Porto",
    "東京",
    "天気",
    "BUG-12",
    "naïve",
    "and",
    "Ада",
    "أحب",
    "🙂",
    "cafe\u0301",
    "\u202eevil",
    "",
)


@pytest.mark.slow
@settings(max_examples=10)
@given(st.lists(st.sampled_from(WORDS), max_size=7), st.lists(st.sampled_from(WORDS), min_size=1, max_size=4))
def test_any_words_in_any_script_are_marked_within_the_text_and_apart(said, asked):
    clock = FakeClock()
    service = MemoryService(MemoryStore(clock), HashEmbedder(), clock=clock, random_source=FakeRandomSource(3))
    scope = Scope(session="s")
    service.write(scope, WriteRequest(content=f"x {' '.join(said)}", memory_type=MemoryType.LONG_TERM))
    found = load(service, ViewRequest(scope=scope, parameters={"q": " ".join(asked)}))
    for hit in found["hits"]:
        places = [(one["begin"], one["end"]) for one in hit["words"]]
        assert places == sorted(places)
        assert all(begin < end <= len(hit["memory"]["content"]) for begin, end in places)
        assert all(before[1] <= after[0] for before, after in itertools.pairwise(places))
    service.close()
