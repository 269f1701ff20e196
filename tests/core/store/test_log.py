import pytest
from tests.core.store.making import DIMENSIONS, always, memory, move, put, rows, vector

from hybrid_memory.errors import LogTrimmed
from hybrid_memory.model import MemoryId, Tier, Usage
from hybrid_memory.store.writing import ChangeType, Insert, RecordUse
from hybrid_memory.testing import START


def test_a_new_namespace_has_nothing(store):
    assert (store.head("new"), store.changes("new", 0), store.get("new", [MemoryId("a")])) == (0, [], {})
    assert (rows(store.snapshot("new")), list(store.namespaces())) == ({}, [])


def test_every_change_is_announced_with_who_what_and_when(store, clock):
    put(store, "a")
    clock.advance(seconds=1)
    store.write("default", None, move("a", Tier.FADED))
    first, second = store.changes("default", 0)
    assert (first.change, first.id, first.rev, first.at, first.digest) == (ChangeType.INSERT, "a", 1, START, "hash-a")
    assert (second.change, second.rev, second.at) == (ChangeType.UPDATE, 2, clock.now())
    assert {(entry.actor, entry.action) for entry in (first, second)} == {("tester", "test")}


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6, 7])
def test_positions_have_no_gaps(store, count):
    put(store, *[f"m{number}" for number in range(count)])
    put(store, "last")
    assert [entry.position for entry in store.changes("default", 0)] == list(range(1, count + 2))
    assert [entry.id for entry in store.changes("default", 0)] == [*[f"m{number}" for number in range(count)], "last"]


def test_the_log_can_be_read_in_pages(store):
    put(store, "a", "b", "c")
    assert [entry.id for entry in store.changes("default", 0, 2)] == ["a", "b"]
    assert [entry.id for entry in store.changes("default", 2, 2)] == ["c"]
    assert store.changes("default", 3) == []


def test_positions_count_for_each_namespace_alone(store):
    put(store, "a")
    put(store, "a", "b", namespace="other")
    assert (store.head("default"), store.head("other")) == (1, 2)
    assert list(store.namespaces()) == ["default", "other"]


def test_foreign_memories_cannot_be_seen(store):
    put(store, "a", namespace="other")
    store.touch("other", [RecordUse(MemoryId("a"), START)])
    assert store.get("default", [MemoryId("a")]) == {}
    assert store.usage("default", [MemoryId("a")]) == {}
    assert rows(store.snapshot("default")) == {}
    seen = []
    store.write("default", None, lambda view: seen.append(view.get([MemoryId("a")])) or always()(view))
    assert seen == [{}]


def test_the_same_id_in_two_namespaces_is_two_memories(store):
    put(store, "a")
    put(store, "a", namespace="other", content="foreign")
    store.write("default", None, move("a", Tier.FADED))
    assert store.get("other", [MemoryId("a")])["a"] == memory("a", namespace="other", content="foreign")


def test_a_trimmed_log_says_so(store):
    put(store, "a", "b", "c")
    store.trim("default", 3)
    assert [entry.id for entry in store.changes("default", 2)] == ["c"]
    with pytest.raises(LogTrimmed):
        store.changes("default", 1)
    with pytest.raises(LogTrimmed):
        store.write("default", None, lambda view: view.changes(0) and always()(view))


def test_a_trim_never_goes_back_or_beyond_the_end(store):
    put(store, "a", "b")
    store.trim("default", 1_000)
    store.trim("default", 1)
    store.trim("nothing", 5)
    assert store.changes("default", 2) == []
    put(store, "c")
    assert [entry.id for entry in store.changes("default", 2)] == ["c"]
    with pytest.raises(LogTrimmed):
        store.changes("default", 1)


def test_news_are_the_log_with_the_memories_and_vectors_that_it_names(store):
    store.pin_embedder("one", DIMENSIONS)
    put(store, "before")
    store.write("default", None, always(inserts=(Insert(memory("a"), vector(1)), Insert(memory("b")))))
    news = store.news("default", 1)
    assert [entry.id for entry in news.log] == ["a", "b"]
    assert news.memories == store.get("default", [MemoryId("a"), MemoryId("b")])
    assert {id_: found.tolist() for id_, found in news.vectors.items()} == {"a": vector(1).tolist()}


def test_news_come_in_pages(store):
    put(store, "a", "b", "c")
    news = store.news("default", 1, 1)
    assert ([entry.id for entry in news.log], list(news.memories)) == (["b"], ["b"])
    assert store.news("default", 3).log == []
    assert store.news("nothing", 0).memories == {}


def test_news_show_a_memory_as_it_is_now(store):
    put(store, "a")
    store.write("default", None, move("a", Tier.FADED))
    assert store.news("default", 0, 1).memories[MemoryId("a")].tier is Tier.FADED


def test_news_of_a_trimmed_log_say_so(store):
    put(store, "a", "b", "c")
    store.trim("default", 3)
    with pytest.raises(LogTrimmed):
        store.news("default", 1)


def test_the_embedder_of_a_store_is_told_without_counting(store):
    assert store.embedder() is None
    store.pin_embedder("one", DIMENSIONS)
    assert store.embedder() == ("one", DIMENSIONS)
    seen = []
    store.write("default", None, lambda view: seen.append(view.embedder) or always()(view))
    assert seen == ["one"]


def test_a_store_that_nobody_follows_is_never_behind(store):
    assert store.behind_seconds() == 0


def test_touches_add_up_and_keep_the_latest_time(store, clock):
    put(store, "a", "b")
    early, late = START, START.replace(hour=23)
    store.touch(
        "default",
        [RecordUse(MemoryId("a"), late), RecordUse(MemoryId("a"), early, 2), RecordUse(MemoryId("none"), early)],
    )
    store.write("default", None, always(uses=(RecordUse(MemoryId("a"), early), RecordUse(MemoryId("b"), early))))
    found = store.usage("default", [MemoryId("a"), MemoryId("b"), MemoryId("none")])
    assert found == {"a": Usage(accessed_at=late, count=4), "b": Usage(accessed_at=early, count=1)}


def test_a_memory_can_be_touched_in_the_write_that_puts_it(store):
    store.write("default", None, always(inserts=(Insert(memory("a")),), uses=(RecordUse(MemoryId("a"), START),)))
    assert store.usage("default", [MemoryId("a")])["a"].count == 1


def test_touches_announce_nothing(store):
    put(store, "a")
    store.touch("default", [RecordUse(MemoryId("a"), START)])
    assert store.head("default") == 1


def test_info_counts_memories(store):
    put(store, "a", "b")
    put(store, "a", namespace="other")
    assert store.info().memories == 3
