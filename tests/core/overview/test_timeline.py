"""What a timeline holds, counts and shows first."""

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.core.speaking import remember

from hybrid_memory.clock import to_micros
from hybrid_memory.model import Kind, MemoryType, Origin, Tier, Trust
from hybrid_memory.overview.timeline import TimelineFilter, TimeOrder, timeline
from hybrid_memory.overview.times import STATES
from hybrid_memory.requests import ForgetRequest, MemoryState, UpdateRequest, Where
from hybrid_memory.testing import START

DAYS = st.integers(-5, 5).map(lambda days: START + timedelta(days=days))
LONG = {"memory_type": MemoryType.LONG_TERM}


@pytest.fixture
def told(service, scope):
    def told(order=TimeOrder.LEARNED, since=None, until=None, **wanted):
        rows = service.look(scope, lambda columns, now: timeline(columns, TimelineFilter(**wanted), now))
        ids = [rows.ids[int(place)] for place in rows.newest(order, since, until)]
        found = service.revealed(scope, ids)
        return [found[one].content for one in ids]

    return told


@pytest.fixture
def moves(service, scope, clock):
    """Berlin, then Lisbon five days before it was learned, then Porto; and something that was forgotten."""
    berlin = remember(service, scope, "Ada lives in Berlin", **LONG).id
    clock.advance(days=10)
    lisbon = remember(
        service, scope, "Ada lives in Lisbon", supersedes=berlin, occurred_at=clock.now() - timedelta(days=5), **LONG
    ).id
    clock.advance(days=10)
    porto = remember(service, scope, "Ada lives in Porto", supersedes=lisbon, tags=("home",), **LONG).id
    gym = remember(service, scope, "The climbing gym", origin=Origin.TOOL, **LONG).id
    service.forget(scope, ForgetRequest(ids=(gym,)))
    clock.advance(days=10)
    return {"berlin": berlin, "lisbon": lisbon, "porto": porto, "gym": gym}


@pytest.mark.usefixtures("moves")
def test_the_newest_come_first_and_what_was_forgotten_is_not_there(told):
    assert told() == ["Ada lives in Porto", "Ada lives in Lisbon", "Ada lives in Berlin"]


@pytest.mark.usefixtures("moves")
def test_what_was_forgotten_is_shown_to_who_asks_for_it(told):
    assert told(state=MemoryState.FORGOTTEN) == ["The climbing gym"]


@pytest.mark.usefixtures("moves")
@pytest.mark.parametrize(("day", "believed"), [(1, "Berlin"), (6, "Berlin"), (11, "Lisbon"), (21, "Porto")])
def test_a_moment_has_what_was_believed_then(told, day, believed):
    assert told(as_of=START + timedelta(days=day)) == [f"Ada lives in {believed}"]


@pytest.mark.usefixtures("moves")
@pytest.mark.parametrize(("day", "true"), [(1, "Berlin"), (6, "Lisbon"), (11, "Lisbon"), (21, "Porto")])
def test_a_moment_has_what_was_true_then_for_all_that_is_known_now(told, day, true):
    assert told(true_at=START + timedelta(days=day)) == [f"Ada lives in {true}"]


@pytest.mark.usefixtures("moves")
def test_both_moments_say_what_was_believed_of_another_time(told):
    """On day 6 she lived in Lisbon, and nobody had said so."""
    assert told(as_of=START + timedelta(days=6), true_at=START + timedelta(days=6)) == []
    assert told(as_of=START + timedelta(days=11), true_at=START + timedelta(days=6)) == ["Ada lives in Lisbon"]


@pytest.mark.usefixtures("moves")
def test_changes_are_what_took_the_place_of_something(told):
    assert told(changes=True) == ["Ada lives in Porto", "Ada lives in Lisbon"]


def test_a_correction_of_what_was_wrong_from_the_beginning_was_never_true(service, scope, clock, told):
    wrong = remember(service, scope, "Bo was born in May", occurred_at=START - timedelta(days=9), **LONG)
    clock.advance(days=1)
    service.update(scope, UpdateRequest(id=wrong.id, content="Bo was born in June"))
    assert told(true_at=START) == ["Bo was born in June"]


@pytest.mark.usefixtures("moves")
def test_a_facet_counts_what_its_other_values_would_show(service, scope):
    rows = service.look(
        scope,
        lambda columns, now: timeline(columns, TimelineFilter(state=MemoryState.CURRENT, tag="home"), now),
    )
    assert rows.facets["state"] == {"current": 1}
    assert rows.facets["tag"] == {"home": 1}
    rows = service.look(scope, lambda columns, now: timeline(columns, TimelineFilter(state=MemoryState.CURRENT), now))
    assert rows.facets["state"] == {"forgotten": 1, "superseded": 2, "current": 1}


@pytest.mark.usefixtures("moves")
@pytest.mark.parametrize(
    ("wanted", "count"),
    [
        ({"tier": Tier.LONG_TERM}, 3),
        ({"tier": Tier.SENSORY}, 0),
        ({"kind": Kind.OBSERVATION}, 3),
        ({"trust": Trust.AGENT}, 3),
        ({"session": "morning"}, 3),
        ({"session": "nobody"}, 0),
        ({"tag": "nothing"}, 0),
    ],
)
def test_filters_leave_what_fits(told, wanted, count):
    assert len(told(**wanted)) == count


@pytest.mark.usefixtures("moves")
def test_a_window_bounds_the_order_that_is_meant(told):
    since, until = to_micros(START + timedelta(days=4)), to_micros(START + timedelta(days=6))
    assert told(TimeOrder.LEARNED, since, until) == []
    assert told(TimeOrder.TRUE, since, until) == ["Ada lives in Lisbon"]


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    said=st.lists(st.tuples(DAYS, st.none() | DAYS), max_size=8),
    edges=st.lists(DAYS, max_size=5),
    order=st.sampled_from(TimeOrder),
)
def test_each_memory_is_counted_in_one_part(service, scope, clock, said, edges, order):
    scope = type(scope)(namespace=f"n{len(service.store.namespaces())}", session="s")
    moments = []
    for at, (learned, occurred) in enumerate(sorted(said, key=lambda one: one[0])):
        clock.set(learned)
        remember(service, scope, f"number {at}", occurred_at=occurred, **LONG)
        moments.append(to_micros(learned if order is TimeOrder.LEARNED else occurred or learned))
    bounds = np.array(sorted(map(to_micros, edges)), np.int64)
    rows = service.look(scope, lambda columns, now: timeline(columns, TimelineFilter(), now))
    counts = rows.counts(order, bounds)
    assert counts.shape == (len(bounds) + 1, len(STATES))
    for part, found in enumerate(counts.sum(axis=1)):
        begin = bounds[part - 1] if part else -(2**63)
        end = bounds[part] if part < len(bounds) else 2**63
        assert found == sum(begin <= one < end for one in moments)


@pytest.mark.usefixtures("moves")
def test_what_a_moment_believed_is_what_a_reading_of_that_moment_finds(service, scope, told):
    for day in range(31):
        moment = START + timedelta(days=day, hours=1)
        index = service._index_cache.get_all(scope.namespaces)
        found = service.revealed(scope, list(index.select(Where(as_of=moment), service.now())))
        assert sorted(told(as_of=moment)) == sorted(one.content for one in found.values())
