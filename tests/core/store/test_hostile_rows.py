"""A row is an input: whatever is in the file, one bad row takes no other along."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.core.store.empty_database import lay_empty
from tests.core.store.hostile_rows import HARMLESS, UNREADABLE, change_rows, set_values
from tests.core.store.making import DIMENSIONS, always, memory, patch, put, vector

from hybrid_memory.errors import ConstraintViolation
from hybrid_memory.model import MemoryId, Tier
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.store.writing import BufferState, Insert, RecordUse, RequestKey
from hybrid_memory.testing import START, FakeClock

KEY = RequestKey("relay", 1)


@cache
def _small_store() -> bytes:
    """Return the file of a small store, which is made once."""
    with tempfile.TemporaryDirectory() as folder:
        path = lay_empty(Path(folder) / "home")
        _fill(DuckStore.open(path, FakeClock()))
        return path.read_bytes()


def _fill(duck) -> None:
    duck.pin_embedder("e", DIMENSIONS)
    inserts = [
        Insert(memory(f"m{n}", tags=("t",), metadata={"n": n}, terms=(n, 7), names=(n,), days=(20_000 + n,)), vector(n))
        for n in range(3)
    ]
    duck.write("default", KEY, always(inserts=tuple(inserts), result={"done": 1}))
    duck.write("default", None, always(buffers=(BufferState("s-1", "default", "{}", START),)))
    duck.touch("default", [RecordUse(MemoryId("m1"), START)])
    duck.put_entry("default", "talk", "message", {"text": "one"})
    duck.put_entry("default", "talk", "message", {"text": "two"})
    duck.close()


@pytest.fixture
def laid(path, open_duck):
    """Give a function that changes the file of a small store and opens it again."""
    lay_empty(path.parent).write_bytes(_small_store())

    def reopen(statement: str = "", *values: Any):
        if statement:
            change_rows(path, statement, values)
        return open_duck()

    return reopen


def names(store) -> list[str]:
    snapshot = store.snapshot("default")
    columns = [(batch.ids.tolist(), batch.unreadable.tolist()) for batch in snapshot.batches]
    assert [ids for ids, _ in columns] == [ids.tolist() for ids in snapshot.ids]
    assert list(snapshot.vectors)
    return sorted(id_.decode() for ids, wrong in columns for id_, bad in zip(ids, wrong, strict=True) if not bad)


def goes_on(store, *others: str) -> None:
    """Check that the other memories are read and changed, and new ones are written."""
    ids = [MemoryId(name) for name in ("m0", "m1", "m2")]
    assert sorted(store.get("default", ids)) == sorted(others)
    assert names(store) == sorted(others)
    assert sorted(one.id for one in _members(store)) == sorted(others)
    for name in others:
        store.write("default", None, patch(name, lambda one: replace(one, importance=0.25)))
    put(store, "new")
    assert store.changes("default", store.head("default") - 1)[0].id == "new"
    items = list(store.transfer.export_items(None, vectors=True).items)
    assert len([one for one in items if hasattr(one, "memory")]) == len(others) + 1


def _members(store):
    found = []
    store.write(
        "default", None, lambda view: found.extend(view.members("s-1", "default", Tier.SENSORY)) or always()(view)
    )
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("column", "value"), [one for one in UNREADABLE if one[0] != "id"][::25])
def test_a_row_that_is_no_memory_is_left_out_and_all_others_go_on(laid, path, column, value):
    set_values(path, {"m1": (column, value)})
    store = laid()
    goes_on(store, "m0", "m2")
    assert any("1 memory cannot be read" in notice for notice in store.info().notices)


@pytest.mark.slow
@pytest.mark.parametrize("id_", [value for column, value in UNREADABLE if column == "id"])
def test_an_id_that_no_column_can_hold_is_left_out(laid, id_):
    store = laid("UPDATE memory SET id = ? WHERE id = 'm1'", id_)
    goes_on(store, "m0", "m2")


def test_all_columns_may_be_wrong_at_once(laid, path):
    set_values(path, *({"m1": one} for one in dict(UNREADABLE).items() if one[0] != "id"))
    goes_on(laid(), "m0", "m2")


@pytest.mark.slow
@pytest.mark.parametrize(("column", "value"), HARMLESS[::12])
def test_a_row_of_odd_values_is_a_memory_all_the_same(laid, path, column, value):
    set_values(path, {"m1": (column, value)})
    store = laid()
    assert MemoryId("m1") in store.get("default", [MemoryId("m1")])
    assert names(store) == ["m0", "m1", "m2"]
    assert not store.info().notices


@pytest.mark.slow
def test_columns_and_rows_agree_on_what_is_a_memory(laid, path):
    """The search structures look at columns, everybody else at rows: each value of the lists in a row of its own."""
    store = laid()
    cases = [one for one in (*UNREADABLE, *HARMLESS) if one[0] != "id"]
    put(store, *[f"case-{number}" for number in range(len(cases))])
    store.close()
    set_values(path, {f"case-{number}": case for number, case in enumerate(cases)})
    store = laid()
    decoded = set(store.get("default", [MemoryId(f"case-{number}") for number in range(len(cases))]))
    assert set(names(store)) - {"m0", "m1", "m2"} == decoded
    assert decoded == {f"case-{number}" for number, case in enumerate(cases) if case in HARMLESS}
    assert str(len(cases) - len(HARMLESS)) in store.info().notices[0]


@pytest.mark.slow
@pytest.mark.parametrize("hole", ["NULL", "nan", "-inf"])
def test_a_vector_that_is_none_is_as_one_that_is_missing(laid, hole):
    store = laid("UPDATE vector_1 SET vec = ?::VARCHAR::FLOAT[8] WHERE id = 'm1'", f"[{hole}, 0, 0, 0, 0, 0, 0, 0]")
    ids = [MemoryId(name) for name in ("m0", "m1", "m2")]
    assert sorted(store.vectors("default", ids)) == ["m0", "m2"]
    found = [one for batch in store.snapshot("default").vectors for one in batch.ids.tolist()]
    assert sorted(found) == [b"m0", b"m2"]
    goes_on(store, "m0", "m1", "m2")


@pytest.mark.slow
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE usage SET accessed_at = 9223372036854775807",
        "UPDATE usage SET count = 9223372036854775807",
        "UPDATE usage SET count = -9223372036854775808",
        "UPDATE log SET made_at = 9223372036854775807",
        "UPDATE log SET made_at = -9223372036854775808",
        "UPDATE log SET change = 'bogus'",
        "UPDATE log SET rev = 9223372036854775807",
        "INSERT INTO log SELECT * REPLACE (9223372036854775807 AS position) FROM log LIMIT 1",
        "INSERT INTO log SELECT * REPLACE (-5 AS position) FROM log LIMIT 1",
        "UPDATE buffer SET touched_at = 9223372036854775807",
        "UPDATE buffer SET state = 'bogus'",
        "UPDATE request SET made_at = 9223372036854775807",
        "UPDATE request SET position = -1",
        "INSERT INTO namespace VALUES ('default', 9223372036854775807)",
        "UPDATE conversation SET last = 9223372036854775807",
        "UPDATE entry SET number = 9223372036854775807 WHERE number = 2",
    ],
)
def test_what_stands_beside_the_memories_stops_nobody(laid, statement):
    store = laid(statement)
    goes_on(store, "m0", "m1", "m2")
    store.touch("default", [RecordUse(MemoryId("m1"), START + timedelta(days=1))])
    assert store.usage("default", [MemoryId("m1")])[MemoryId("m1")].count >= 1
    assert store.buffer("default", "s-1", "default") is not None
    assert store.write("default", KEY, always()).replayed
    assert store.put_entry("default", "other", "message", {"text": "three"}) == 1
    assert store.entries("default", "talk", "message")[0].body == {"text": "one"}


def test_a_message_that_cannot_be_read_is_left_out(laid):
    store = laid("UPDATE entry SET body = '[' WHERE number = 1")
    assert [one.number for one in store.entries("default", "talk", "message")] == [2]
    assert store.put_entry("default", "talk", "message", {"text": "three"}) == 3


def test_a_conversation_that_was_counted_beyond_all_numbers_goes_on(laid):
    store = laid("UPDATE conversation SET last = 9223372036854775807")
    assert store.put_entry("default", "talk", "message", {"text": "three"}) == 3


@pytest.mark.slow
@pytest.mark.parametrize("result", ["{", "[]", '{"a":NaN}'])
def test_a_result_that_cannot_be_read_is_told_and_not_done_again(laid, result):
    store = laid("UPDATE request SET result = ?", result)
    with pytest.raises(ConstraintViolation, match="done before"):
        store.write("default", KEY, always())
    with pytest.raises(ConstraintViolation, match="done before"):
        store.result("default", KEY)
    goes_on(store, "m0", "m1", "m2")


def test_new_rows_of_a_store_are_never_such_that_it_could_not_read_them(store):
    for wrong in (
        {"importance": float("nan")},
        {"rev": 2**62},
        {"aspects": -1},
        {"days": (2**31 - 1,)},
        {"metadata": json.loads('{"a":' * 100 + "1" + "}" * 100)},
        {"id": MemoryId("x" * 201)},
        {"id": MemoryId("")},
    ):
        with pytest.raises(ConstraintViolation):
            put(store, "m", **wrong)
