"""Memories at hand: few, and never older than the index."""

from __future__ import annotations

from tests.core.retrieval.memories import index_of, memory, purge, put

from hybrid_memory.model import MemoryId
from hybrid_memory.retrieval.memory_cache import MemoryCache


class Reader:
    """A store that counts what it is asked for."""

    def __init__(self, *memories):
        self.memories = {one.id: one for one in memories}
        self.asked = []

    def __call__(self, ids):
        self.asked.append(list(ids))
        return {one: self.memories[one] for one in ids if one in self.memories}


def test_what_was_read_is_at_hand():
    held, read = MemoryCache(), Reader(memory("a"), memory("b"))
    assert list(held.get(["b", "absent", "a"], read)) == ["b", "a"]
    assert list(held.get(["a", "b"], read)) == ["a", "b"]
    assert read.asked == [["b", "absent", "a"]]


def test_a_change_is_seen_at_once():
    index, read = index_of(memory("a", "cat")), Reader()
    changed = memory("a", "cat", pinned=True, rev=2)
    put(index, changed)
    assert index.memories([MemoryId("a")], read) == {"a": changed}
    purge(index, "a")
    assert index.memories([MemoryId("a")], read) == {}
    assert read.asked == [["a"]]


def test_what_was_read_before_a_change_is_not_kept():
    held, old, new = MemoryCache(), memory("a"), memory("a", pinned=True, rev=2)

    def slow(ids):
        held.apply_changes(ids, {new.id: new})
        return {old.id: old}

    assert held.get(["a"], slow) == {"a": old}
    assert held.get(["a"], Reader()) == {"a": new}


def test_an_older_state_never_replaces_a_newer_one():
    held, old, new = MemoryCache(), memory("a"), memory("a", pinned=True, rev=2)
    held.apply_changes(["a"], {new.id: new})
    held.apply_changes(["a"], {old.id: old})
    assert held.get(["a"], Reader(new)) == {"a": new}


def test_the_oldest_make_room_and_long_ones_are_not_kept():
    held, read = MemoryCache(limit=2), Reader(*map(memory, "abc"), memory("long", "x" * 5_000))
    held.get(["a", "b", "c", "long"], read)
    held.get(["b", "c"], read)
    assert len(read.asked) == 1
    held.get(["a"], read)
    held.get(["long"], read)
    assert read.asked[1:] == [["a"], ["long"]]


def test_the_newest_are_read_beforehand():
    index, read = index_of(memory("a"), memory("b")), Reader(memory("a"), memory("b"))
    index._cache.clear()
    index.warm(read)
    index.memories([MemoryId("a"), MemoryId("b")], read)
    assert read.asked == [["a", "b"]]
