"""The map and the names of a store: made behind, kept until something changes, and nothing of what was forgotten."""

from __future__ import annotations

import numpy as np
import pytest

from hybrid_memory.model import Scope
from hybrid_memory.requests import ForgetRequest, UpdateRequest, WriteRequest
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.testing import FakeClock, FakeRandomSource, HashEmbedder
from hybrid_memory_inspector.overview.overviews import overviews_of

SCOPE = Scope(session="s")
LONG = 60.0  # seconds; a test waits as long as it takes


@pytest.fixture
def service():
    clock = FakeClock()
    made = MemoryService(MemoryStore(clock), HashEmbedder(), clock=clock, random_source=FakeRandomSource(3))
    yield made
    made.close()


def say(service, *texts):
    return [service.write(SCOPE, WriteRequest(content=text)).id for text in texts]


def map_of(service):
    found = overviews_of(service).map(SCOPE, LONG)
    assert found is not None
    return found.value


def names_of(service):
    found = overviews_of(service).names(SCOPE, LONG)
    assert found is not None
    while not found.current:
        found = overviews_of(service).names(SCOPE, LONG)
    return [one.name for one in found.value]


def test_each_memory_is_a_point(service):
    ids = say(service, "Ada lives in Porto.", "We met Bo.", "The garden needs water.")

    rows = map_of(service).rows

    assert [rows.id_of(at) for at in range(len(rows))] == ids


def test_an_empty_memory_has_an_empty_map_and_no_names(service):
    assert len(map_of(service).rows) == 0
    assert names_of(service) == []


def test_a_replaced_memory_stays_on_the_map_with_its_end(service):
    (old,) = say(service, "We met Bo in Porto.")
    service.update(SCOPE, UpdateRequest(id=old, content="We met Bo in Lisbon."))

    drawn = map_of(service)

    assert len(drawn.rows) == 2
    assert drawn.rows.ended_at[0] == drawn.rows.written_at[1]


@pytest.mark.daily
@pytest.mark.slow
def test_memories_that_were_on_the_map_keep_their_places(service):
    say(service, *(f"Note {number} speaks of thing {number % 5}." for number in range(30)))
    before = map_of(service)
    say(service, "Another note of thing 3.")
    found = overviews_of(service).map(SCOPE, LONG)
    while found is None or not found.current:
        found = overviews_of(service).map(SCOPE, LONG)

    assert np.array_equal(found.value.points[:30], before.points)


def test_what_was_forgotten_is_neither_on_the_map_nor_among_the_names(service):
    ids = say(service, "Then Bo came.", "We saw Carla.")
    assert sorted(names_of(service)) == ["Bo", "Carla"]
    assert len(map_of(service).rows) == 2

    service.forget(SCOPE, ForgetRequest(ids=(ids[0],)))

    assert len(map_of(service).rows) == 1
    assert names_of(service) == ["Carla"]


def test_everything_about_a_name_is_found_in_any_case(service):
    (old, _) = say(service, "Then BO came to Porto.", "The robot is old.")
    new = service.update(SCOPE, UpdateRequest(id=old, content="Then Bo came to Lisbon.")).id

    about = overviews_of(service).about(SCOPE, "bo")

    assert [one.id for one in about.current] == [new]
    assert [one.id for one in about.former] == [old]
    assert dict(about.others) == {"Lisbon": 1, "Porto": 1}


def test_a_name_of_several_words_is_found_as_a_whole(service):
    say(service, "The bike is at Ponto Verde.", "Verde is green, and a ponto is a point.")

    assert overviews_of(service).about(SCOPE, "Ponto Verde").holding == 1


def test_a_name_that_nobody_knows_has_nothing(service):
    say(service, "Then Bo came.")

    about = overviews_of(service).about(SCOPE, "Zed")

    assert (about.current, about.former, about.others) == ((), (), ())


def test_the_names_of_another_namespace_stay_there(service):
    say(service, "Then Bo came.")
    service.write(Scope(session="s", namespace="other"), WriteRequest(content="We saw Carla."))

    assert names_of(service) == ["Bo"]
    assert overviews_of(service).about(SCOPE, "Carla").holding == 0
