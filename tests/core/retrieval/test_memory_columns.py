"""Filters and visibility, against a plain reading of their rules."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.core.retrieval.memories import NOW, at, index_of, memory, purge, put

from hybrid_memory.model import MEMORY_TYPE_OF, TRUST_ORDER, Kind, MemoryId, MemoryType, Tier, Trust
from hybrid_memory.requests import Where
from hybrid_memory.retrieval.arrays import GrowableRuns
from hybrid_memory.retrieval.memory_columns import MemoryColumns

MOMENT = st.integers(0, 6).map(at) | st.sampled_from(
    [datetime(2, 1, 1, tzinfo=UTC), datetime(1969, 12, 31, tzinfo=UTC)]
)
NAMES = [MemoryId(f"m{number}") for number in range(6)]
METADATA = st.dictionaries(
    st.sampled_from("pq"), st.one_of(st.sampled_from([1, 1.0, True, "1", None]), st.lists(st.just(2.0))), max_size=2
)


@st.composite
def memories(draw):
    made = []
    for number, name in enumerate(NAMES[: draw(st.integers(1, len(NAMES)))]):
        made.append(
            memory(
                name,
                minutes=draw(st.integers(0, 6)),
                session=draw(st.sampled_from(["s1", "s2"])),
                speaker=draw(st.sampled_from([None, "Ann", "Bob"])),
                tier=draw(st.sampled_from(Tier)),
                trust=draw(st.sampled_from(TRUST_ORDER)),
                tags=tuple(draw(st.sets(st.sampled_from("xyz")))),
                metadata=draw(METADATA),
                occurred_at=draw(st.none() | MOMENT),
                expires_at=draw(st.none() | MOMENT),
                forgotten_at=draw(st.none() | st.none() | MOMENT),
                superseded_by=draw(st.none() | st.none() | st.sampled_from([n for n in NAMES if n != NAMES[number]])),
            )
        )
    return made


@st.composite
def filters(draw):
    since, until = draw(st.none() | MOMENT), draw(st.none() | MOMENT)
    return Where(
        memory_type=draw(st.none() | st.sampled_from(MemoryType)),
        tags=tuple(draw(st.sets(st.sampled_from("xyz"), max_size=2))),
        metadata=draw(st.just({}) | METADATA),
        session=draw(st.sampled_from([None, "s1", "s2", "absent"])),
        speaker=draw(st.sampled_from([None, "Ann", "absent"])),
        since=since,
        until=until,
        as_of=draw(st.none() | MOMENT),
        min_trust=draw(st.none() | st.sampled_from(TRUST_ORDER)),
    )


def same_json(a, b):
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same_json, a, b))
    return a == b


def trusts(where, one):
    return where.min_trust is None or TRUST_ORDER.index(one.trust) >= TRUST_ORDER.index(where.min_trust)


def is_replaced(one, everything, where, back_to):
    """Return True if a version that the reader trusts came later, by the moment that is asked about."""
    seen = set()
    while one.superseded_by is not None:
        heir = everything.get(one.superseded_by)
        if heir is None or heir.id in seen:
            return True
        if trusts(where, heir) and (back_to is None or heir.created_at <= back_to):
            return True
        seen.add(heir.id)
        one = heir
    return False


def is_visible(one, everything, now, where):
    # A moment that has not come is now; what was written ahead of the clock is there.
    back_to = None if where.as_of is None or where.as_of >= now else where.as_of
    moment = back_to or now
    if one.forgotten_at is not None or (one.expires_at is not None and one.expires_at <= moment):
        return False
    return (back_to is None or one.created_at <= back_to) and not is_replaced(one, everything, where, back_to)


def passes(one, where):
    happened = one.occurred_at or one.created_at
    return (
        where.memory_type in (None, MEMORY_TYPE_OF[one.tier])
        and set(where.tags) <= set(one.tags)
        and all(key in one.metadata and same_json(one.metadata[key], value) for key, value in where.metadata.items())
        and where.session in (None, one.session)
        and where.speaker in (None, one.speaker)
        and (where.since is None or happened >= where.since)
        and (where.until is None or happened < where.until)
        and trusts(where, one)
    )


@pytest.mark.slow
@given(memories(), filters(), MOMENT)
def test_exactly_what_passes_every_filter_is_selected(made, where, now):
    everything = {one.id: one for one in made}
    wanted = {one.id for one in made if passes(one, where) and is_visible(one, everything, now, where)}
    assert set(index_of(*made).select(where, now)) == wanted


@pytest.mark.slow
@given(memories(), filters(), MOMENT)
def test_exactly_the_forgotten_that_pass_are_selected_for_restoring(made, where, now):
    wanted = {one.id for one in made if passes(one, where) and one.forgotten_at is not None}
    assert set(index_of(*made).select(where, now, forgotten=True)) == wanted


@pytest.mark.slow
@given(memories())
def test_what_is_selected_comes_newest_first(made):
    index = index_of(*made)
    created = {one.id: one.created_at for one in made}
    times = [created[one] for one in index.select(Where(), NOW)]
    assert times == sorted(times, reverse=True)


@pytest.mark.slow
@given(memories(), memories(), filters())
def test_a_changed_memory_is_filtered_by_its_new_state(before, after, where):
    index = index_of(*before)
    put(index, *after)
    created = {one.id: one.created_at for one in before}
    fresh = index_of(*before[len(after) :], *(changed(one, created) for one in after))
    assert set(index.select(where, NOW)) == set(fresh.select(where, NOW))


def changed(one, created):
    from dataclasses import replace

    return replace(one, created_at=created.get(one.id, one.created_at))


def test_a_memory_of_the_very_moment_is_known_as_of_it():
    index = index_of(memory("old", minutes=1, superseded_by="new"), memory("new", minutes=5))
    assert index.select(Where(as_of=at(1)), NOW) == ["old"]
    assert index.select(Where(as_of=at(4)), NOW) == ["old"]
    assert index.select(Where(as_of=at(5)), NOW) == ["new"]
    assert index.select(Where(as_of=at(0)), NOW) == []


def test_a_moment_to_come_is_like_now():
    index = index_of(memory("m", expires_at=NOW + timedelta(days=1)))
    assert index.select(Where(as_of=NOW + timedelta(days=2)), NOW) == ["m"]


def test_a_purged_memory_is_neither_found_nor_counted():
    index = index_of(memory("a", "cat", tags=("pet",)), memory("b", superseded_by="a"))
    purge(index, "a")
    assert index.select(Where(), NOW) == []
    assert index.tags() == []
    assert index.statistics(NOW).rows == 1


def test_what_a_purged_memory_replaced_stays_hidden():
    index = index_of(memory("old", superseded_by="new"), memory("new", minutes=3))
    purge(index, "new")
    assert index.select(Where(as_of=at(1)), NOW) == []
    assert index.newest_version(MemoryId("old")) == "old"


@pytest.mark.parametrize("value", [7, 7.0])
def test_numbers_of_equal_value_are_equal_metadata(value):
    index = index_of(memory("m", metadata={"n": 7}))
    assert index.select(Where(metadata={"n": value}), NOW) == ["m"]


def test_true_is_not_one():
    assert index_of(memory("m", metadata={"n": True})).select(Where(metadata={"n": 1}), NOW) == []


def test_trust_rises_in_its_order():
    index = index_of(*(memory(trust, trust=trust, minutes=n) for n, trust in enumerate(TRUST_ORDER)))
    assert index.select(Where(min_trust=Trust.USER), NOW) == ["confirmed", "user"]


def test_insights_are_counted():
    counted = index_of(memory("a", kind=Kind.INSIGHT), memory("b", kind=Kind.INSIGHT, forgotten_at=NOW), memory("c"))
    assert counted.statistics(NOW).insights == 1


RUNS = st.lists(st.lists(st.integers(-(2**31), 2**31 - 1), max_size=3), max_size=5)


@given(RUNS, RUNS, st.data())
def test_runs_of_rows_come_end_to_end_with_the_places_of_their_rows(first, later, data):
    runs = GrowableRuns()
    runs.extend(np.array([n for run in first for n in run], np.int32), np.cumsum([0, *map(len, first)]))
    for run in later:
        runs.append(run)
    held = [*first, *later]
    rows = data.draw(st.lists(st.integers(0, len(held) - 1), max_size=6)) if held else []
    places, values = runs.of(np.array(rows, np.intp))
    assert list(zip(places.tolist(), values.tolist(), strict=True)) == [
        (place, number) for place, row in enumerate(rows) for number in held[row]
    ]


def test_the_columns_know_the_days_that_a_row_speaks_of():
    columns = MemoryColumns()
    columns.add(memory("a", days=(20_000, 20_003)))
    columns.add(memory("b"))
    assert [part.tolist() for part in columns.days.of(np.array([1, 0]))] == [[1, 1], [20_000, 20_003]]
