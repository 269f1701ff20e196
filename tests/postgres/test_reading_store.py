"""What is read of a store in PostgreSQL: the same as of the other stores, whatever is in its rows, and alongside other hubs."""

import gc
from dataclasses import replace
from datetime import timedelta
from itertools import count

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.core.store.hostile_rows import HARMLESS, UNREADABLE
from tests.core.store.making import DIMENSIONS, always, memory, patch, put, rows, vector
from tests.core.store.test_readings import EVER, questions, reading
from tests.core.store.test_reembedding import WIDE, wide
from tests.core.store.test_reviewing import ONE as REVIEWED

from hybrid_memory.errors import ConstraintViolation, StoreClosed, StoreDamaged
from hybrid_memory.model import EncodedWords, MemoryId
from hybrid_memory.requests import ListRequest
from hybrid_memory.store.joined_snapshot import joined
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.store.memory_fields import LISTS_OF_NUMBERS, MEMORY_FIELDS
from hybrid_memory.store.reprocessing import NewVector
from hybrid_memory.store.reviewing import ReviewRequest
from hybrid_memory.store.writing import Insert, RecordUse, WriteBatch
from hybrid_memory.testing import START, FakeClock, FakeRandomSource

pytest.importorskip("psycopg")
from hybrid_memory_postgres import snapshot as pg_snapshot
from hybrid_memory_postgres import vector_table
from hybrid_memory_postgres.store import PostgresStore
from hybrid_memory_postgres.term_key import ensure_term_key

pytestmark = pytest.mark.postgres

NOW = START + timedelta(days=1)
NUMBERS = count()
OPEN_MOMENTS = """
    SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'
"""
IDS = [MemoryId(f"m{number}") for number in range(3)]


@pytest.fixture
def open_store(database):
    opened = []

    def open_one(**more) -> PostgresStore:
        opened.append(PostgresStore.open(database.conninfo, FakeClock(), **more))
        return opened[-1]

    yield open_one
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store):
    return open_store()


def fill(store) -> None:
    store.pin_embedder("e", DIMENSIONS)
    inserts = [
        Insert(memory(f"m{n}", tags=("t",), metadata={"n": n}, terms=(n, 7), names=(n,), days=(20_000 + n,)), vector(n))
        for n in range(3)
    ]
    store.write("default", None, always(inserts=tuple(inserts)))
    store.touch("default", [RecordUse(IDS[1], START)])


def names(store, namespace="default") -> list[str]:
    snapshot = store.snapshot(namespace)
    found = [(batch.ids.tolist(), batch.unreadable.tolist()) for batch in snapshot.batches]
    assert [ids for ids, _ in found] == [ids.tolist() for ids in snapshot.ids]
    return sorted(id_.decode() for ids, wrong in found for id_, bad in zip(ids, wrong, strict=True) if not bad)


def test_rows_of_several_parts_and_namespaces_stay_aligned(store, monkeypatch):
    monkeypatch.setattr(pg_snapshot, "_CHUNK_ROWS", 5)
    monkeypatch.setattr(vector_table, "_PART_ROWS", 3)
    store.pin_embedder("e", DIMENSIONS)
    for number in range(23):
        namespace = "other" if number % 4 == 1 else "default"
        terms, session = tuple(range(number % 3)), f"s{number % 4}"
        speaker = (None, "Ada", "Bö")[number % 3]
        made = memory(f"m{number}", namespace=namespace, terms=terms, session=session, speaker=speaker)
        store.write(namespace, None, always(inserts=(Insert(made, vector(number) if number % 3 else None),)))
        store.touch(namespace, [RecordUse(MemoryId(f"m{number}"), START, number + 1)])
    for number in (0, 2, 22):
        store.write("default", None, patch(f"m{number}", lambda found: replace(found, tags=("new",))))
    found = rows(store.snapshot("default"))
    assert list(found) == [f"m{number}" for number in range(23) if number % 4 != 1]
    for name, values in found.items():
        number = int(name[1:])
        assert values["vector"] == (vector(number).tolist() if number % 3 else None)
        assert values["terms"] == list(range(number % 3))
        assert (values["session"], values["speaker"]) == (f"s{number % 4}", (None, "Ada", "Bö")[number % 3])
        assert values["tags"] == (("new",) if number in {0, 2, 22} else None)
        assert values["access_count"] == number + 1


def test_memories_of_many_words_come_in_smaller_parts(store, monkeypatch):
    monkeypatch.setattr(pg_snapshot, "_CHUNK_BYTES", 100)
    put(store, *(f"m{number}" for number in range(10)), terms=tuple(range(9)))
    sizes = [len(batch.ids) for batch in store.snapshot("default").batches]
    assert (sum(sizes), max(sizes)) == (10, 3)
    assert all(values["terms"] == list(range(9)) for values in rows(store.snapshot("default")).values())


def test_snapshots_that_wait_to_be_read_keep_nobody_from_writing(open_store):
    store = open_store(size=1, wait_seconds=1.0)
    fill(store)
    begun = [store.snapshot("default") for _ in range(4)]
    next(iter(begun[0].batches))
    put(store, "new")
    assert [[len(batch.ids) for batch in one.batches] for one in begun] == [[], [3], [3], [3]]
    assert names(store) == ["m0", "m1", "m2", "new"]


def test_a_snapshot_that_is_given_up_is_over(store, database):
    fill(store)
    half_read = store.snapshot("default")
    next(iter(half_read.batches))
    open_before = database.rows(OPEN_MOMENTS)
    del half_read
    gc.collect()
    assert (open_before, database.rows(OPEN_MOMENTS)) == ([(2,)], [(0,)])


def test_after_closing_no_snapshot_is_begun(store):
    store.close()
    with pytest.raises(StoreClosed):
        store.snapshot("default")


def test_several_namespaces_are_joined_as_those_of_the_other_stores_are(store):
    found = []
    for one in (store, MemoryStore(FakeClock())):
        one.pin_embedder("e", DIMENSIONS)
        for number, (namespace, speaker) in enumerate([("one", "Ada"), ("two", None), ("one", None), ("two", "Bo")]):
            at = START + timedelta(minutes=number)
            made = memory(f"m{number}", namespace=namespace, speaker=speaker, created_at=at, session=f"s{number % 2}")
            one.write(namespace, None, always(inserts=(Insert(made, vector(number)),)))
        found.append(rows(joined([one.snapshot("one"), one.snapshot("two")])))
    assert list(found[0]) == list(found[1]) == ["m0", "m1", "m2", "m3"]
    assert found[0] == found[1]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(REVIEWED, min_size=1, max_size=8), st.integers(1, 8))
def test_the_same_memories_wait_for_a_person_as_in_the_other_stores(store, fields, limit):
    name = f"n{next(NUMBERS)}"  # of its own for each example: a database for each takes too long
    memories = [memory(f"m{number}", namespace=name, **one) for number, one in enumerate(fields)]
    wanted = ReviewRequest(now=NOW, secrets=frozenset({"m2"}), limit=limit)
    found = []
    for one in (MemoryStore(FakeClock()), store):
        batch = WriteBatch(action="test", actor="test", inserts=tuple(Insert(one) for one in memories))
        one.write(name, None, lambda _, batch=batch: batch)
        waiting = one.to_review([name, "other"], wanted)
        held = one.with_terms([name], {2, 3}, NOW, 5)
        found.append((list(waiting.items()), list(held)))
    assert found[0] == found[1]


def test_a_term_that_lies_across_two_others_is_none_of_a_memory(store):
    between = int.from_bytes(bytes([3, 4, 5, 6]), "little")
    one, two = (int.from_bytes(bytes(part), "little") for part in ([1, 2, 3, 4], [5, 6, 7, 8]))
    put(store, *(f"across{number}" for number in range(20)), terms=(one, two))
    put(store, "real", terms=(between,), created_at=START - timedelta(days=9))
    assert store.with_terms(["default"], {between}, NOW, 1) == [("default", "real")]
    assert len(store.with_terms(["default"], {one}, NOW, 7)) == 7


@pytest.mark.parametrize("text", ["\0", "a\0"])
def test_what_no_row_can_hold_is_not_found_rather_than_an_error(store, text):
    put(store, "a")
    assert store.list_memories(["default"], ListRequest(session=text), NOW) == ([], 0)
    assert store.ids_beginning(["default"], text, 9) == []
    assert store.linked_to(["default"], [MemoryId(text)], 9) == []
    assert store.undo_records(["default"], 9, text) == []


# Rows that no program of ours wrote


def sql_value(column: str, value):
    """Return a value as it can stand in a row; a list with holes becomes bytes that are no whole numbers."""
    kind = next(field.type for field in MEMORY_FIELDS if field.name == column)
    if kind in LISTS_OF_NUMBERS:
        return b"\x01\x02\x03" if None in value else np.array(value, "<i4").tobytes()
    return value


def can_stand(column: str, value) -> bool:
    """Whether PostgreSQL lets it into a row: no zero character, and a value where one must be."""
    required = column in {"encoding", "aspects"}
    return not (isinstance(value, str) and "\0" in value) and not (value is None and required)


def set_value(database, id_: str, column: str, value) -> None:
    database.rows(f"UPDATE memory SET {column} = %s WHERE id = %s", sql_value(column, value), id_)  # noqa: S608 - of the list


def test_columns_and_rows_agree_on_what_is_a_memory(open_store, database):
    """The search structures look at columns, everybody else at rows: each value of the lists in a row of its own."""
    store = open_store()
    cases = [one for one in (*UNREADABLE, *HARMLESS) if one[0] != "id" and can_stand(*one)]
    ids = [MemoryId(f"case-{number}") for number in range(len(cases))]
    put(store, *ids)
    for id_, case in zip(ids, cases, strict=True):
        set_value(database, id_, *case)
    decoded = set(store.get("default", ids))
    assert set(names(store)) == decoded
    assert decoded == {id_ for id_, case in zip(ids, cases, strict=True) if case in HARMLESS}
    assert str(len(cases) - len(decoded)) in store.info().notices[0]


def test_an_id_that_no_column_can_hold_is_left_out(store, database):
    fill(store)
    for id_, odd in (("m1", ""), ("m2", "long" * 500)):
        database.rows("UPDATE memory SET id = %s WHERE id = %s", odd, id_)
        database.rows("UPDATE vector SET id = %s WHERE id = %s", odd, id_)
    assert names(store) == ["m0"]
    assert list(store.snapshot("default").vectors)


@pytest.mark.parametrize(
    "hole", [b"", b"\0" * 4 * DIMENSIONS + b"\0", np.full(DIMENSIONS, np.nan, "<f4").tobytes(), b"\0" * 4]
)
def test_a_vector_that_is_none_is_as_one_that_is_missing(store, database, hole):
    fill(store)
    database.rows("UPDATE vector SET vec = %s WHERE id = 'm1'", hole)
    assert sorted(store.vectors("default", IDS)) == ["m0", "m2"]
    found = [one for batch in store.snapshot("default").vectors for one in batch.ids.tolist()]
    assert sorted(found) == [b"m0", b"m2"]
    assert names(store) == IDS


@pytest.mark.parametrize("column", ["accessed_at", "count"])
@pytest.mark.parametrize("value", [2**63 - 1, -(2**63)])
def test_uses_beyond_all_counting_stop_nobody(store, database, column, value):
    fill(store)
    database.rows(f"UPDATE usage SET {column} = %s", value)  # noqa: S608 - of the list
    assert names(store) == IDS


@pytest.mark.parametrize("stored", ["[", "{}", '"work"', '["work"', '["a","work'])
def test_tags_that_are_no_list_stop_no_list_of_memories(store, database, stored):
    put(store, "a", "b", tags=("work",))
    database.rows("UPDATE memory SET tags = %s, parents = %s WHERE id = 'a'", stored, stored)
    page, _ = store.list_memories(["default"], ListRequest(tags=("work",)), NOW)
    assert ("default", "b") in page
    assert store.linked_to(["default"], [MemoryId("other")], 9) == []


def test_an_undo_that_cannot_be_read_is_left_out(store, database):
    database.rows(
        "INSERT INTO undo (namespace, id, made_at, actor, action, body) VALUES ('default', 'u', 0, '', '', '[')"
    )
    assert store.undo_records(["default"], 9) == []


# The journal of readings


def test_readings_of_two_hubs_are_numbered_as_one(open_store):
    first, second = open_store(), open_store()
    for number in range(6):
        (first, second)[number % 2].readings.add([reading(str(number))], keep=10, since=EVER)
    assert questions(first) == questions(second) == ["5", "4", "3", "2", "1", "0"]
    assert [one.number for one in first.readings.latest()] == [6, 5, 4, 3, 2, 1]


def test_the_journal_keeps_to_its_bounds(store):
    store.readings.add([reading("old", at=START - timedelta(days=9)), reading("new")], keep=10, since=EVER)
    store.readings.add([reading("newest")], keep=10, since=START - timedelta(days=1))
    assert questions(store) == ["newest", "new"]
    store.readings.add([reading(text) for text in "fghij"], keep=2, since=EVER)
    assert questions(store) == ["j", "i"]


def test_a_hub_that_keeps_no_journal_leaves_that_of_the_others(open_store):
    keeping, forgetful = open_store(), open_store()
    keeping.readings.add([reading("asked here")], keep=10, since=EVER)
    forgetful.readings.add([reading("asked there")], keep=0, since=EVER)
    assert questions(keeping) == ["asked here"]


def test_a_namespace_that_is_read_a_lot_pushes_out_nothing_of_another(store):
    store.readings.add([reading("old", namespace="quiet", at=START - timedelta(days=9))], keep=2, since=EVER)
    store.readings.add([reading(text) for text in "abc"], keep=2, since=START)
    assert questions(store) == ["c", "b", "old"]
    store.readings.add([], keep=2, since=START)
    assert questions(store) == ["c", "b"]


def test_another_hub_s_change_of_a_reading_is_seen(store, database):
    store.readings.add([reading("a secret"), reading("b", namespace="other")], keep=10, since=EVER)
    assert questions(store, ["default"]) == ["a secret"]
    database.rows("UPDATE reading SET question = 'masked' WHERE question = 'a secret'")
    assert (questions(store, ["default"]), questions(store)) == (["masked"], ["b", "masked"])


@pytest.mark.parametrize("text", ["\ud800", "a\0b"])
def test_a_question_that_cannot_be_kept_is_refused(store, text):
    with pytest.raises(ConstraintViolation):
        store.readings.add([reading(text)], keep=10, since=EVER)


# What hubs share: the key of the terms, encoding again, the embedder


def test_all_hubs_have_the_key_that_the_first_one_drew(open_store):
    hubs = [open_store(random_source=FakeRandomSource(seed)) for seed in range(3)]
    assert len({one.hasher.terms("a word") for one in hubs}) == 1


def test_a_store_whose_key_is_lost_gets_another_and_all_is_encoded_anew(open_store, database):
    put(open_store(), "a", encoding=7)
    database.rows("UPDATE store SET term_key = NULL")
    assert open_store().reencoding.count(7) == 1


@pytest.mark.parametrize("change", ["DELETE FROM store", "UPDATE store SET term_key = 'none'"])
def test_a_store_that_does_not_know_itself_is_not_opened(open_store, database, change):
    store = open_store()
    database.rows(change)
    with pytest.raises(StoreDamaged):
        ensure_term_key(store.connections, FakeRandomSource())


def encoded(number: int) -> EncodedWords:
    return EncodedWords(terms=(number,), names=(), days=(20_000,), aspects=1, encoding=9)


def test_words_are_encoded_anew_but_not_those_that_changed_meanwhile(open_store):
    first, second = open_store(), open_store()
    put(first, "a", "b", "c", speaker="Ada", encoding=8)
    waiting = first.reencoding.outdated(9, 10)
    assert [one.id for one in waiting] == ["a", "b", "c"]
    second.write("default", None, patch("b", lambda one: replace(one, speaker="Bo")))
    first.reencoding.replace([(one, encoded(number)) for number, one in enumerate(waiting)])
    found = first.get("default", [MemoryId(name) for name in "abc"])
    assert {id_: (one.encoding, one.terms) for id_, one in found.items()} == {
        "a": (9, (0,)),
        "b": (8, (1, -2, 3)),
        "c": (9, (2,)),
    }
    assert first.reencoding.count(9) == 1


def test_words_that_were_encoded_for_a_store_whose_place_a_backup_took_are_not_stored(open_store, database):
    store = open_store()
    put(store, "a", encoding=8)
    waiting = store.reencoding.outdated(9, 10)
    database.rows("UPDATE store SET id = 'another'")
    store.reencoding.replace([(waiting[0], encoded(1))])
    assert store.reencoding.count(9) == 1


def test_what_is_written_for_a_store_whose_place_a_backup_took_is_encoded_anew(open_store, database):
    store = open_store()
    database.rows("UPDATE store SET id = 'another'")
    put(store, "a", encoding=8)
    assert store.get("default", [MemoryId("a")])["a"].encoding == 0


def test_a_change_of_the_embedder_by_one_hub_is_every_hub_s(open_store):
    first, second = open_store(), open_store()
    fill(first)
    first.embedder_change.begin("new", WIDE)
    second.embedder_change.begin("new", WIDE)
    second.embedder_change.add_vectors([NewVector("default", IDS[0], wide(1))])
    assert (first.embedder_change.next_embedder().done, first.vectors("default", IDS[:1])[IDS[0]].size) == (
        1,
        DIMENSIONS,
    )
    second.embedder_change.finish()
    assert first.vectors("default", IDS)[IDS[0]].tolist() == wide(1).tolist()
    with pytest.raises(ConstraintViolation):
        first.embedder_change.add_vectors([NewVector("default", IDS[1], wide(1))])


def test_vectors_of_former_embedders_do_not_stay(store, database):
    fill(store)
    store.embedder_change.begin("new", WIDE)
    store.embedder_change.add_vectors([NewVector("default", IDS[0], wide(1))])
    store.embedder_change.finish()
    assert database.rows("SELECT count(*), min(id) FROM vector") == [(1, "m0")]
    store.embedder_change.begin("newer", DIMENSIONS)
    store.embedder_change.add_vectors([NewVector("default", IDS[0], vector(1))])
    store.embedder_change.cancel()
    assert database.rows("SELECT count(*), min(embedder) FROM vector") == [(1, 2)]


def test_vectors_that_a_crash_left_are_not_taken_for_those_of_the_next_embedder(store, database):
    fill(store)
    database.rows("INSERT INTO vector (embedder, namespace, id, vec) SELECT 2, namespace, id, vec FROM vector")
    store.embedder_change.begin("new", DIMENSIONS)
    assert store.embedder_change.next_embedder().done == 0
    assert len(store.embedder_change.unembedded(-1, 9)) == 3
