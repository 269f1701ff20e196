"""The index as a follower of the store: the log, the snapshot and the questions that need no ranking."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.retrieval.memories import (
    NOW,
    START,
    at,
    entry,
    index_of,
    memory,
    purge,
    put,
    snapshot_of,
    vector_of,
)

from hybrid_memory.clock import to_micros
from hybrid_memory.model import Kind, MemoryId, MemoryType, Tier
from hybrid_memory.requests import Where
from hybrid_memory.retrieval.index import NamespaceIndex
from hybrid_memory.retrieval.query import SearchQuery
from hybrid_memory.retrieval.question import parse_question
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.store.snapshots import NO_TIME
from hybrid_memory.store.writing import Insert, RecordUse, SetTier, Update, WriteBatch
from hybrid_memory.testing import HASHER, FakeClock

WORDS = ("cat dog?", "dog bird", "bird tree cat", "tree?")
FILTERS = (
    lambda _: Where(),
    lambda _: Where(session="s1"),
    lambda _: Where(tags=("x",)),
    lambda now: Where(as_of=now - timedelta(minutes=3)),
)
QUERIES = ("", "cat", "dog tree", "absent")


def answers(index, now):
    """Return all that an index says of which it must be sure."""
    said = {"head": index.head, "statistics": index.statistics(now), "tags": index.tags(), "speakers": index.speakers()}
    for number, where in enumerate(FILTERS):
        said[str(number)] = sorted(index.select(where(now), now))
    said["like"] = sorted(one for one, _ in index.similar(vector_of("cat dog?"), k=99, floor=0.3, now=now))
    said["repeats"] = index.repeats(memory("x", WORDS[0]).content_hash, now)
    said["reflection"] = sorted(index.reflection_rows(Where(), now).ids)
    said["key"] = index.key_holders("s1", "k", now)
    return said


def scores(index, now):
    """Return the scores of all questions, which may differ in the last bits."""
    said = {}
    for number, where in enumerate(FILTERS):
        for query in QUERIES:
            ranking = index.search(
                SearchQuery(
                    question=parse_question(query, now, HASHER), vector=vector_of(query), where=where(now), now=now
                )
            )
            said |= {
                (number, query, one): score for one, score in zip(ranking.ids, ranking.scores.tolist(), strict=True)
            }
    return said


def assert_alike(index, other, now):
    assert answers(index, now) == answers(other, now)
    assert scores(index, now) == pytest.approx(scores(other, now), rel=1e-4, abs=1e-5)


@st.composite
def steps(draw):
    """Return what to do to a store: (operation, which memory, free choices)."""
    kinds = st.sampled_from(["put", "put", "put", "move", "patch", "touch"])
    return draw(st.lists(st.tuples(kinds, st.integers(0, 9), st.integers(0, 99)), min_size=1, max_size=14))


def decide(step, held, now):
    """Return the operations of one step on the memories held so far."""
    kind, which, choice = step
    plain = WriteBatch(action="write", actor="t")
    if kind == "put" or not held:
        made = memory(
            f"m{len(held)}",
            WORDS[choice % 4],
            created_at=now,
            session=("s1", "s2")[choice % 2],
            speaker=(None, "Ann")[choice % 3 == 0],
            tier=(Tier.SHORT_TERM, Tier.WORKING, Tier.FADED)[choice % 3],
            key="k" if choice % 3 == 1 else None,
            tags=("x",) if choice % 5 == 0 else (),
            metadata={"n": choice % 2} if choice % 7 == 0 else {},
        )
        return replace(plain, inserts=(Insert(made, vector_of(made.content) if choice % 4 else None),))
    one = held[which % len(held)]
    if kind == "move":
        return replace(plain, tier_changes=(SetTier(one.id, tuple(Tier)[choice % 6]),))
    if kind == "touch":
        return replace(plain, uses=(RecordUse(one.id, now),))
    heir = held[choice % len(held)].id
    changes = (
        {"forgotten_at": now},
        {"superseded_by": None if heir == one.id else heir},
        {"tags": ("x", "y")},
        {"session": "s2", "key": None},
        {"expires_at": now + timedelta(minutes=choice % 3), "reflected_at": now},
    )[choice % 5]
    return replace(plain, updates=(Update(replace(one, **changes)),))


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(steps(), st.integers(0, 14))
def test_following_the_log_leads_to_the_state_of_a_fresh_snapshot(todo, loaded_after):
    clock = FakeClock()
    store = MemoryStore(clock)
    store.pin_embedder("hash-1", 16)
    followed = NamespaceIndex(HASHER, 16)
    held = []
    for number, step in enumerate(todo):
        clock.advance(seconds=60)
        written = store.write("test", None, lambda view, step=step, held=held: decide(step, held, view.now))
        followed.apply(written.log, written.memories, written.vectors)
        if number == loaded_after:
            followed.load(store.snapshot("test"))
        known = {one.id: one for one in held} | dict(written.memories)
        held = list(known.values())
    fresh = NamespaceIndex(HASHER, 16)
    fresh.load(store.snapshot("test"))
    assert_alike(followed, fresh, clock.now())


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=8), st.integers(1, 4))
def test_a_snapshot_may_come_in_batches_of_any_size(contents, size):
    made = [
        memory(f"m{n}", text, minutes=n, tags=("x",), superseded_by=f"m{n + 2}" if n % 3 == 0 else None)
        for n, text in enumerate(contents)
    ]
    vectors = {one.id: vector_of(one.content) for one in made}
    index = NamespaceIndex(HASHER, 16)
    index.load(snapshot_of(made, vectors, len(made), size))
    assert_alike(index, index_of(*made), NOW)


def test_entries_that_are_known_are_passed_over():
    index = index_of(memory("a", "cat"))
    index.apply([entry(1, "a")], {MemoryId("a"): memory("a", "cat", forgotten_at=NOW)}, {})
    assert index.select(Where(), NOW) == ["a"]
    assert index.head == 1


def test_an_entry_whose_memory_was_purged_since_moves_the_head_alone():
    index = index_of(memory("a"))
    index.apply([entry(2, "gone")], {}, {})
    assert (index.head, index.statistics(NOW).rows) == (2, 1)


def test_purging_something_unknown_changes_nothing():
    index = index_of(memory("a"))
    purge(index, "absent")
    assert index.select(Where(), NOW) == ["a"]


def test_a_vector_may_follow_later():
    index = index_of(memory("a", "cat"), vectors=False)
    assert index.statistics(NOW).pending == 1
    put(index, memory("a", "cat", rev=2))
    assert index.statistics(NOW).pending == 0
    assert index.similar(vector_of("cat"), k=1, floor=0.9, now=NOW)[0][0] == "a"


def test_a_vector_of_another_length_counts_as_missing():
    index = index_of(memory("a", "cat"), vectors=False)
    index.apply([entry(2, "a")], {MemoryId("a"): memory("a", "cat")}, {MemoryId("a"): np.ones(5, np.float32)})
    assert index.statistics(NOW).pending == 1
    assert index.similar(np.ones(5, np.float32), k=1, floor=-1, now=NOW) == []


def test_a_scan_gives_all_that_pass_the_filters_with_their_cosine_and_last_recall():
    index = index_of(memory("a", "dog"), memory("b", "cat", tags=("x",)), memory("c", "cat", tags=("x",)))
    index.record_uses([RecordUse(MemoryId("b"), NOW)])
    found = index.scan(vector_of("cat"), Where(), NOW)
    assert found.ids == ["b", "c", "a"]
    assert found.cosines.tolist() == pytest.approx([1.0, 1.0, float(vector_of("cat") @ vector_of("dog"))])
    assert found.accessed_at.tolist() == [to_micros(NOW), NO_TIME, NO_TIME]
    assert index.scan(vector_of("cat"), Where(tags=("x",)), NOW).ids == ["b", "c"]


@pytest.mark.parametrize("vector", [None, np.ones(5, np.float32)])
def test_a_scan_without_a_fitting_vector_gives_the_newest_first(vector):
    index = index_of(memory("a", "dog"), memory("b", "cat"))
    found = index.scan(vector, Where(), NOW)
    assert (found.ids, found.cosines.tolist()) == (["b", "a"], [0.0, 0.0])


def test_the_first_vector_decides_the_dimensions_where_none_are_given():
    index = NamespaceIndex(HASHER, None)
    put(index, memory("a", "cat"), vectors=False)
    put(index, memory("b", "dog"))
    assert [one for one, _ in index.similar(vector_of("dog"), k=5, floor=0.9, now=NOW)] == ["b"]


def test_a_purged_vector_is_wiped():
    index = index_of(memory("a", "cat"))
    purge(index, "a")
    assert not index._matrix.values.any()


def test_the_most_alike_come_first_and_none_below_the_floor():
    index = index_of(
        memory("a", "cat dog"), memory("b", "cat"), memory("c", "tree"), memory("d", "cat", forgotten_at=NOW)
    )
    near = index.similar(vector_of("cat"), k=5, floor=0.4, now=NOW)
    assert [one for one, _ in near] == ["b", "a"]
    assert near[0][1] == pytest.approx(1, abs=1e-5)
    assert index.similar(vector_of("cat"), k=1, floor=0.4, now=NOW) == near[:1]
    assert index.similar(vector_of("cat"), k=0, floor=0.4, now=NOW) == []


def test_repeats_are_live_and_come_oldest_first():
    index = index_of(
        memory("late", "Cat", minutes=9), memory("early", "cat ", minutes=1), memory("gone", "cat", forgotten_at=NOW)
    )
    assert index.repeats(memory("x", "CAT").content_hash, NOW) == ["early", "late"]
    assert index.repeats("absent", NOW) == []


def test_a_key_belongs_to_a_session_and_to_working_memory():
    working = {"tier": Tier.WORKING, "key": "goal"}
    index = index_of(
        memory("old", minutes=1, **working),
        memory("new", minutes=2, **working),
        memory("elsewhere", minutes=3, session="s2", **working),
        memory("kept", minutes=4, tier=Tier.LONG_TERM, key="goal"),
    )
    assert index.key_holders("s1", "goal", NOW) == ["new", "old"]
    assert index.key_holders("s2", "goal", NOW) == ["elsewhere"]
    assert index.key_holders("s3", "goal", NOW) == []
    assert index.key_holders("s1", "other", NOW) == []


def test_a_key_that_expired_or_was_given_up_holds_nothing():
    index = index_of(memory("a", tier=Tier.WORKING, key="goal", expires_at=at(5)))
    assert index.key_holders("s1", "goal", at(4)) == ["a"]
    assert index.key_holders("s1", "goal", at(5)) == []
    put(index, memory("a", tier=Tier.WORKING, key=None))
    assert index.key_holders("s1", "goal", at(4)) == []


def test_the_newest_version_ends_the_chain():
    index = index_of(memory("a", superseded_by="b"), memory("b", superseded_by="c"), memory("c"))
    assert [index.newest_version(MemoryId(one)) for one in "abc"] == ["c", "c", "c"]
    assert index.newest_version(MemoryId("absent")) == "absent"


def test_a_circle_of_versions_ends():
    index = index_of(memory("a", superseded_by="b"), memory("b", superseded_by="a"))
    assert index.newest_version(MemoryId("a")) in {"a", "b"}


def test_statistics_count_each_sort():
    index = index_of(
        memory("a"),
        memory("b", tier=Tier.LONG_TERM, session="s2"),
        memory("c", forgotten_at=NOW),
        memory("d", superseded_by="a"),
        memory("e", expires_at=START),
    )
    counted = index.statistics(NOW)
    assert (counted.rows, counted.live, counted.forgotten, counted.superseded, counted.sessions) == (5, 2, 1, 1, 2)
    assert counted.tiers == dict.fromkeys(map(str, Tier), 0) | {"short_term": 1, "long_term": 1}


def test_sessions_come_latest_first():
    index = index_of(
        memory("a", session="Alpha", minutes=5), memory("b", session="beta"), memory("c", session="alps", minutes=9)
    )
    assert index.sessions() == ["alps", "Alpha", "beta"]
    assert index.sessions("al", 1) == ["alps"]
    assert index.sessions("ALP") == ["alps", "Alpha"]


def test_tags_and_speakers_come_most_used_first():
    index = index_of(
        memory("a", tags=("x", "y"), speaker="Ann"),
        memory("b", tags=("y",), speaker="Bob"),
        memory("c", tags=("z",), speaker="Bob"),
        memory("d", tags=("z", "w"), speaker="Ann", forgotten_at=NOW),
    )
    assert index.tags() == ["y", "x", "z"]
    assert index.speakers() == ["Bob", "Ann"]
    assert index.speakers("a") == ["Ann"]


def test_pinned_memories_come_newest_first():
    index = index_of(memory("a", pinned=True), memory("b"), memory("c", pinned=True, minutes=3))
    assert index.pinned(NOW) == ["c", "a"]


def test_reflection_sees_live_observations_and_summaries_that_were_no_evidence_yet():
    index = index_of(
        memory("b", "cat", minutes=2),
        memory("a", "dog", minutes=1, kind=Kind.SUMMARY),
        memory("i", kind=Kind.INSIGHT),
        memory("t", kind=Kind.TASK),
        memory("r", reflected_at=NOW),
        memory("f", forgotten_at=NOW),
    )
    rows = index.reflection_rows(Where(), NOW)
    assert rows.ids == ("a", "b")
    assert rows.vectors.shape == (2, 16)
    assert np.allclose(rows.vectors[1], vector_of("cat"))
    assert rows.has_vector.all()


def test_reflection_on_an_empty_index_is_empty():
    assert NamespaceIndex(HASHER, None).reflection_rows(Where(), NOW).ids == ()


def test_touches_of_unknown_memories_are_passed_over():
    index = index_of(memory("a"))
    index.record_uses([RecordUse(MemoryId("absent"), NOW), RecordUse(MemoryId("a"), NOW, 2)])
    assert index._columns.access_count.values.tolist() == [2]


def test_a_type_is_filtered_by_its_tiers():
    index = index_of(*(memory(tier, tier=tier, minutes=n) for n, tier in enumerate(Tier)))
    assert index.select(Where(memory_type=MemoryType.SHORT_TERM), NOW) == ["faded", "short_term", "sensory"]


@pytest.mark.slow
def test_searches_and_writes_from_several_threads_agree():
    index = index_of(memory("first", "cat"))
    failures = []

    def read():
        try:
            for _ in range(60):
                ranking = index.search(
                    SearchQuery(question=parse_question("cat", NOW, HASHER), vector=vector_of("cat"), now=NOW)
                )
                assert len(ranking.ids) == len(ranking.scores) == len(ranking.weak)
        except Exception as error:  # noqa: BLE001 - reported by the main thread
            failures.append(error)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(120):
        put(index, memory(f"m{number}", "cat dog", minutes=number))
    for reader in readers:
        reader.join()
    assert not failures
    assert index.statistics(NOW).live == 121


def test_where_some_ids_stand_is_found_at_once():
    index = index_of(memory("a"), memory("b", minutes=1), memory("c", minutes=2))
    assert index.select(Where(), NOW).places(["a", "c", "nobody"]) == {"c": 0, "a": 2}


def test_what_tells_of_the_user_is_chosen_by_aspect_importance_and_time():
    told = [memory(f"t{n}", aspects=4, minutes=n, importance=n / 10) for n in range(6)]
    rest = [memory(f"r{n}", minutes=10 + n) for n in range(6)]
    index = index_of(*told, *rest, memory("tagged", tags=("Allergy",)), memory("weighty", importance=0.9))
    found = index.telling(Where(), NOW, wanted=((4, 2),), newest=3)
    assert found == ["r5", "r4", "r3", "t5", "t4", "weighty", "tagged"]
