"""Listing memories by filters, and finding ids by their beginning: both stores do what `store/listing.py` says."""

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.core.store.making import always, memory, put
from tests.tables import each

from hybrid_memory.errors import InvalidInput, NotFound
from hybrid_memory.ids import whole_id
from hybrid_memory.model import Kind, Origin, Tier, Trust
from hybrid_memory.requests import ListRequest, MemoryState
from hybrid_memory.store.listing import is_listed, state_of
from hybrid_memory.store.writing import Insert
from hybrid_memory.testing import START

TAGS = ("a", ",", '"', "a b", "[", "ü")
HOURS = st.integers(-3, 3).map(lambda hours: START + timedelta(hours=hours))
FIELDS = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(Kind),
        "tier": st.sampled_from(Tier),
        "origin": st.sampled_from(Origin),
        "trust": st.sampled_from(Trust),
        "session": st.sampled_from(("s-1", "s-2")),
        "tags": st.lists(st.sampled_from(TAGS), max_size=3, unique=True).map(tuple),
        "pinned": st.booleans(),
        "created_at": HOURS,
        "occurred_at": st.none() | HOURS,
        "expires_at": st.none() | HOURS,
        "forgotten_at": st.none() | HOURS,
        "superseded_by": st.none() | st.just("m-0"),
    }
)
WANTED = st.builds(
    ListRequest,
    state=st.none() | st.sampled_from(MemoryState),
    kind=st.none() | st.sampled_from(Kind),
    tier=st.none() | st.sampled_from(Tier),
    origin=st.none() | st.sampled_from(Origin),
    trust=st.none() | st.sampled_from(Trust),
    session=st.none() | st.just("s-1"),
    tags=st.lists(st.sampled_from(TAGS), max_size=2, unique=True).map(tuple),
    since=st.none() | HOURS,
    until=st.none() | HOURS,
    pinned=st.booleans(),
    limit=st.integers(1, 4),
    offset=st.integers(0, 3),
)


@pytest.mark.slow
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(FIELDS, min_size=4, max_size=8), asked=st.lists(WANTED, min_size=8, max_size=8))
def test_a_page_holds_what_passes_all_filters_those_written_last_first(store, rows, asked):
    namespace = f"n{len(store.namespaces())}"
    stored = [memory(f"{namespace}-{at}", namespace=namespace, **fields) for at, fields in enumerate(rows)]
    store.write(namespace, None, always(inserts=tuple(map(Insert, stored))))
    for wanted in asked:
        fits = [each for each in reversed(stored) if is_listed(each, wanted, START)]
        fits.sort(key=lambda each: each.created_at, reverse=True)
        page, total = store.list_memories((namespace,), wanted, START)
        assert total == len(fits)
        assert [id_ for _, id_ in page] == [each.id for each in fits][wanted.offset : wanted.offset + wanted.limit]


def test_several_namespaces_are_listed_as_one_and_others_not_at_all(store):
    for namespace in ("here", "mine", "theirs"):
        put(store, f"of-{namespace}", namespace=namespace)
    page, total = store.list_memories(("here", "mine"), ListRequest(), START)
    assert (set(page), total) == ({("here", "of-here"), ("mine", "of-mine")}, 2)
    assert store.ids_beginning(("here", "mine"), "of-", 9) == ["of-here", "of-mine"]


def test_ids_are_found_by_their_beginning_as_many_as_are_wanted(store):
    put(store, "abcdef1", "abcdef2", "abcdeg")
    assert store.ids_beginning(("default",), "abcdef", 9) == ["abcdef1", "abcdef2"]
    assert store.ids_beginning(("default",), "abc", 1) == ["abcdef1"]
    assert store.ids_beginning(("default",), "%", 9) == []


@each(
    "fields, state",
    [
        ({}, MemoryState.CURRENT),
        ({"expires_at": START}, MemoryState.EXPIRED),
        ({"expires_at": START, "superseded_by": "x"}, MemoryState.SUPERSEDED),
        ({"superseded_by": "x", "forgotten_at": START}, MemoryState.FORGOTTEN),
    ],
)
def test_of_several_states_the_first_counts(fields, state):
    assert state_of(memory("m", **fields), START) is state


def whole(given_, *ids):
    return whole_id(given_, lambda text, limit: sorted(each for each in ids if each.startswith(text))[:limit])


def test_the_beginning_of_one_id_alone_names_it():
    assert whole("abcdef", "abcdefgh", "abcdxxxx") == "abcdefgh"
    assert whole(" ABCDEF… ", "abcdefgh") == "abcdefgh"


def test_an_id_that_is_the_beginning_of_another_names_itself():
    assert whole("abcdef", "abcdef", "abcdefgh") == "abcdef"


def test_the_beginning_of_several_is_refused_with_some_of_them():
    with pytest.raises(InvalidInput, match=r"abcdef1, abcdef2, abcdef3, abcdef4, \.\.\."):
        whole("abcdef", *(f"abcdef{at}" for at in range(1, 7)))


def test_a_beginning_that_could_be_a_slip_is_refused():
    with pytest.raises(InvalidInput, match="first 6 characters"):
        whole("abcde", "abcdefgh")


def test_the_beginning_of_no_id_is_told():
    with pytest.raises(NotFound):
        whole("abcdef", "xyz")


@pytest.mark.slow
@pytest.mark.parametrize("link", ["superseded_by", "supersedes", "duplicate_of", "disputes", "parents"])
def test_who_names_a_memory_is_found_whatever_for(store, link):
    put(store, "named")
    put(store, "naming", **{link: ("other", "named") if link == "parents" else "named"})
    put(store, "naming-another", **{link: ("other",) if link == "parents" else "other"})
    assert store.linked_to(("default",), ["named"], 9) == [("default", "naming")]
    assert store.linked_to(("elsewhere",), ["named"], 9) == []


def test_of_those_who_name_memories_the_newest_are_found(store):
    put(store, "first", parents=("a",))
    put(store, "second", disputes="b", created_at=START + timedelta(hours=1))
    assert store.linked_to(("default",), ["a", "b"], 9) == [("default", "second"), ("default", "first")]
    assert store.linked_to(("default",), ["a", "b"], 1) == [("default", "second")]
    assert store.linked_to(("default",), [], 9) == []


@pytest.mark.parametrize(
    ("wanted", "listed"),
    [(ListRequest(), ["b", "a"]), (ListRequest(kind=Kind.EPISODE), ["c", "b"]), (ListRequest(tier=Tier.FADED), ["c"])],
)
def test_episodes_are_listed_where_they_are_asked_for(store, wanted, listed):
    put(store, "a")
    put(store, "b", kind=Kind.EPISODE, tier=Tier.LONG_TERM)
    put(store, "c", kind=Kind.EPISODE, tier=Tier.FADED)
    assert [id_ for _, id_ in store.list_memories(["default"], wanted, START)[0]] == listed
