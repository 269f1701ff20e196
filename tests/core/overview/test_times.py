"""When a memory was true and believed: of one memory and of all rows at once."""

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.core.store.making import always, memory

from hybrid_memory.clock import to_micros
from hybrid_memory.model import Scope
from hybrid_memory.overview.times import STATES, row_times, times_of
from hybrid_memory.store.listing import state_of
from hybrid_memory.store.snapshots import NO_TIME
from hybrid_memory.store.writing import Insert
from hybrid_memory.testing import START

HOURS = st.integers(-6, 6).map(lambda hours: START + timedelta(hours=hours))
MAYBE = st.none() | HOURS
FIELDS = st.fixed_dictionaries(
    {
        "created_at": HOURS,
        "occurred_at": MAYBE,
        "expires_at": MAYBE,
        "forgotten_at": MAYBE,
        "by": st.sampled_from((None, "next", "elsewhere")),
    }
)


def day(number):
    return START + timedelta(days=number)


def said(name, at, **fields):
    return memory(name, created_at=day(at), **fields)


def test_what_is_current_has_no_end():
    times = times_of(said("a", 1), None, day(9))
    assert (times.learned, times.believed_until, times.true_from, times.true_until, times.ended) == (
        day(1),
        None,
        day(1),
        None,
        None,
    )


def test_what_was_replaced_was_true_until_the_newer_one_became_true_and_believed_until_that_was_learned():
    berlin, lisbon = said("a", 1, superseded_by="b"), said("b", 10, occurred_at=day(4))
    times = times_of(berlin, lisbon, day(20))
    assert (times.true_until, times.believed_until, times.ended) == (day(4), day(10), "changed")


def test_what_was_corrected_was_believed_for_a_time_and_nobody_says_until_when_it_was_true():
    wrong, right = said("a", 1, occurred_at=day(0), superseded_by="b"), said("b", 3, occurred_at=day(0))
    times = times_of(wrong, right, day(9))
    assert (times.true_until, times.believed_until, times.ended) == (None, day(3), "corrected")


def test_what_ran_out_is_over_and_still_believed():
    times = times_of(said("a", 1, expires_at=day(2)), None, day(3))
    assert (times.true_until, times.believed_until, times.ended) == (day(2), None, "over")


def test_what_was_forgotten_is_believed_no_longer():
    times = times_of(said("a", 1, forgotten_at=day(2)), None, day(3))
    assert (times.believed_until, times.ended) == (day(2), "forgotten")


def test_what_was_replaced_by_something_erased_has_an_end_of_which_nobody_knows_when():
    times = times_of(said("a", 1, superseded_by="b"), None, day(3))
    assert (times.believed_until, times.true_until, times.ended) == (None, None, "changed")


@pytest.mark.parametrize(("occurred", "stated"), [(None, False), (START, True)])
def test_it_is_known_whether_a_memory_names_its_own_time(occurred, stated):
    assert times_of(said("a", 1, occurred_at=occurred), None, day(3)).stated is stated


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(FIELDS, min_size=1, max_size=6))
def test_all_rows_at_once_say_what_one_memory_says(service, rows):
    namespace = f"n{len(service.store.namespaces())}"
    successors = {None: None, "elsewhere": "nobody"}
    stored = [
        memory(
            f"{namespace}-{at}",
            namespace=namespace,
            superseded_by=f"{namespace}-{(at + 1) % len(rows)}" if fields["by"] == "next" else successors[fields["by"]],
            **{name: value for name, value in fields.items() if name != "by"},
        )
        for at, fields in enumerate(rows)
    ]
    service.store.write(namespace, None, always(inserts=tuple(map(Insert, stored))))
    scope = Scope(namespace=namespace, session="s")
    found = service.look(scope, lambda columns, now: row_times(columns, np.arange(len(columns)), now))
    by_id = {one.id: one for one in stored}
    for at, one in enumerate(stored):
        times = times_of(one, by_id.get(one.superseded_by), service.now())
        ends = (times.believed_until, times.true_until)
        assert (found.learned[at], found.true_from[at]) == (to_micros(times.learned), to_micros(times.true_from))
        assert (found.believed_until[at], found.true_until[at]) == tuple(
            NO_TIME if end is None else to_micros(end) for end in ends
        )
        assert STATES[found.state[at]] is state_of(one, service.now())
        assert found.corrected[at] == (times.ended == "corrected" or _corrected(one, by_id))


def _corrected(one, by_id):
    later = by_id.get(one.superseded_by)
    return later is not None and (later.occurred_at or later.created_at) <= (one.occurred_at or one.created_at)
