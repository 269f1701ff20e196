"""A segment counts as a whole or not at all, under whatever name it arrives."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.store.making import memory
from tests.tables import each

from hybrid_memory.language.text import content_hash
from hybrid_memory.model import MemoryId
from hybrid_memory.store.syncing import ItemState
from hybrid_memory_sync.lines import ItemChange, MemoryChange
from hybrid_memory_sync.merge import State
from hybrid_memory_sync.segments import (
    NewerFormatError,
    NotWholeError,
    name_of,
    read_segment,
    segment_bytes,
)


def told(id_="m1", **values):
    made = memory(id_, content="The violin — 野.", **values)
    made = type(made)(
        **{name: getattr(made, name) for name in made.__slots__} | {"content_hash": content_hash(made.content)}
    )
    return MemoryChange(made.id, State(memory=made, stamps={"pinned": 7}))


CHANGES = [
    told(),
    MemoryChange(MemoryId("m2"), State(memory=None, gone=4)),
    ItemChange(("entry", "talk", "message", 3), ItemState({"text": "hello"}, 0)),
    ItemChange(("buffer", "s", "default", 0), ItemState(None, 9)),
]
NAME, DATA = segment_bytes("abc", 12, "default", CHANGES)


def test_what_was_written_is_read():
    segment = read_segment(DATA, name_of(NAME))
    assert (segment.machine, segment.namespace, segment.refused) == ("abc", "default", 0)
    found = [one.state.stamps if isinstance(one, MemoryChange) and one.state.memory else one for one in segment.changes]
    assert found == [{"pinned": 7}, *CHANGES[1:]]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, len(DATA) - 2))
def test_a_segment_that_is_cut_short_is_none(length):
    with pytest.raises(NotWholeError):
        read_segment(DATA[:length], name_of(NAME))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, len(DATA) - 2), st.integers(1, 255))
def test_a_segment_of_which_a_byte_was_changed_is_none(place, other):
    spoilt = DATA[:place] + bytes([DATA[place] ^ other]) + DATA[place + 1 :]
    with pytest.raises((NotWholeError, NewerFormatError)):
        read_segment(spoilt, name_of(NAME))


def test_other_line_ends_change_nothing():
    assert read_segment(DATA.replace(b"\n", b"\r\n"), name_of(NAME)) == read_segment(DATA, name_of(NAME))


@pytest.mark.parametrize("name", [NAME, NAME.replace(".jsonl", " (conflicted copy 2026-01-01).jsonl")])
def test_a_copy_under_a_longer_name_is_the_same_segment(name):
    assert name_of(name) == NAME.removesuffix(".jsonl")


@each("name", ["notes.jsonl", f".{NAME}.12.part", NAME + ".tmp", f"~{NAME}"])
def test_other_files_are_no_segments(name):
    assert name_of(name) is None


def test_a_segment_of_a_later_version_is_told_from_a_torn_one():
    later = DATA.replace(b'"version":1', b'"version":2', 1)
    with pytest.raises(NewerFormatError):
        read_segment(later, name_of(NAME))


def spoilt(**changes):
    line = json.loads(DATA.splitlines()[1])
    line["memory"] |= changes
    lines = [json.dumps(line).encode() + b"\n"]
    from hybrid_memory_sync.segments import rewritten

    return rewritten("abc", 1, "default", lines)


@each(
    "changes",
    [{"namespace": "other"}, {"importance": 7}, {"rev": -1}, {"id": ""}, {"extra": 1}],
)
def test_a_line_that_no_version_writes_is_passed_over(changes):
    name, data = spoilt(**changes)
    assert read_segment(data, name_of(name)).refused == 1
