"""The views map and names as data, and the points as bytes."""

from __future__ import annotations

import struct

import pytest

from hybrid_memory.errors import InvalidInput, NotFound
from hybrid_memory_inspector.views.map import MAGIC, NEVER, points
from hybrid_memory_inspector.views.names import load_one
from hybrid_memory_mcp.views.view import ViewRequest


@pytest.fixture
def drawn(look):
    """Returns a view once it is made."""

    def drawn(name, **parameters):
        found = look(name, wait="1", **parameters)
        while not (found["ready"] and found.get("current", True)):
            found = look(name, wait="1", **parameters)
        return found

    return drawn


@pytest.fixture
def about(service, scope):
    """Returns everything about a name."""
    return lambda name: load_one(service, ViewRequest(scope=scope, parameters={"name": name}))


def test_the_map_tells_its_regions_and_how_many_memories_are_on_it(moves, drawn):
    found = drawn("map")

    assert (found["count"], found["live"]) == (3, 1)
    assert sum(one["count"] for one in found["regions"]) == found["live"]
    assert [one["content"] for one in found["memories"]] == ["Ada lives in Porto."]


def test_an_empty_map_is_ready(drawn):
    assert drawn("map")["count"] == 0


def test_a_question_names_the_points_that_match(moves, say, drawn):
    say("The garden needs water.")

    found = drawn("map", q="garden water")

    assert found["matches"][0] == 3
    assert found["memories"][0]["content"] == "The garden needs water."


def test_a_region_that_is_not_there_is_refused(moves, look, drawn):
    drawn("map")
    with pytest.raises(NotFound):
        look("map", wait="1", region="99")


def test_memories_are_told_by_their_ids_and_forgotten_ones_are_not(moves, look):
    found = look("map", ids=f"{moves['berlin']},nobody")

    assert [one["id"] for one in found["memories"]] == [moves["berlin"]]


def test_secrets_on_the_map_are_masked_unless_they_are_asked_for(say, look):
    told = say("The API key is sk-proj-9fQ2mZ7Lr4Xc8Vb1Nw6Ty3Kd5Hs0Ja for the project.")

    assert "sk-proj" not in look("map", ids=told)["memories"][0]["content"]
    assert "sk-proj" in look("map", ids=told, reveal="1")["memories"][0]["content"]


def test_the_points_are_bytes_with_the_end_of_what_was_replaced(moves, drawn, service, scope):
    drawn("map")
    given = points(service, ViewRequest(scope=scope))

    count, width, cells, first, last, _, _ = struct.unpack_from("<7I", given, 4)
    came = struct.unpack_from("<3I", given, 32)
    ended = struct.unpack_from("<3I", given, 44)
    assert given[:4] == MAGIC
    assert (count, came[0], came[2]) == (3, first, last)
    assert ended == (came[1], came[2], NEVER)
    assert len(given) == 32 + count * (17 + width) + cells * cells


def test_names_are_told_with_how_often_and_when(moves, say, drawn):
    say("We met Carla in Porto.")

    found = drawn("names")

    carla = next(one for one in found["names"] if one["name"] == "Carla")
    assert carla["count"] == 1
    assert carla["first"] == carla["last"]


def test_names_are_kept_by_how_they_begin(say, drawn):
    say("We met Carla Nunes in Porto.")

    assert [one["name"] for one in drawn("names", q="nun")["names"]] == ["Carla Nunes"]


def test_an_order_that_is_none_is_refused(look):
    with pytest.raises(InvalidInput):
        look("names", order="colour")


def test_everything_about_a_name_tells_what_held_and_until_when(moves, about):
    found = about("Ada")

    assert [one["content"] for one in found["current"]] == ["Ada lives in Porto."]
    lisbon, berlin = found["former"]
    assert (lisbon["until"], lisbon["replaced_by"]) == (found["current"][0]["since"], moves["porto"])
    assert berlin["until"] == lisbon["since"]
    assert {one["name"] for one in found["others"]} == {"Berlin", "Lisbon", "Porto"}


def test_a_name_that_nobody_knows_is_a_page_that_says_so(about):
    assert about("Zed")["total"] == 0


def test_no_name_at_all_is_refused(about):
    with pytest.raises(InvalidInput):
        about(" ")
