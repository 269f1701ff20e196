"""What an earlier version has made of words is made again, at the opening or alongside the work, and a kill costs nothing."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from tests.core.store.making import always, memory
from tests.postgres.fixtures import POSTGRES

from hybrid_memory.encoding.word_encoding import ENCODING, with_encoded_words
from hybrid_memory.model import MemoryId, Scope
from hybrid_memory.requests import ReadRequest
from hybrid_memory.service import background
from hybrid_memory.service.memory_service import MemoryService
from hybrid_memory.settings import DATABASE
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.store.memory.store import MemoryStore
from hybrid_memory.store.writing import Insert
from hybrid_memory.testing import FakeClock, FakeRandomSource, HashEmbedder

STORES = Path(__file__).parents[1] / "data" / "stores"
SCOPE = Scope(session="s-1")
ORDER = "SELECT id FROM memory ORDER BY rowid"


def old(number):
    return memory(f"m{number:03}", content=f"Heron flies to Lisbon on {number + 1} May 2023.", terms=(number,))


def fill(store, count):
    store.write("default", None, always(inserts=tuple(Insert(old(number)) for number in range(count))))
    return store


def held(store):
    return list(store.get("default", [entry.id for entry in store.changes("default", 0)]).values())


@pytest.fixture(params=["memory", "duck", POSTGRES])
def store(request, tmp_path, open_postgres):
    if request.param == "postgres":
        opened = open_postgres(FakeClock())
    else:
        opened = (
            MemoryStore(FakeClock()) if request.param == "memory" else DuckStore.open(tmp_path / DATABASE, FakeClock())
        )
    yield opened
    opened.close()


@pytest.fixture
def service(store):
    return MemoryService(store, HashEmbedder(8), clock=FakeClock(), random_source=FakeRandomSource())


def test_everything_derived_is_as_if_it_were_written_now(store):
    fill(store, 7)
    assert background.reencode(store) == 7
    assert held(store) == [with_encoded_words(one, store.hasher) for one in held(store)]
    assert all(one.names and one.days for one in held(store))
    assert background.reencode(store) == 0


def test_a_part_can_be_done_and_the_next_call_goes_on(store, monkeypatch):
    fill(store, 7)
    monkeypatch.setattr(background, "_WORDS_AT_ONCE", 2)
    assert [background.reencode(store, 3) for _ in range(4)] == [3, 3, 1, 0]
    assert held(store) == [with_encoded_words(one, store.hasher) for one in held(store)]


def test_nothing_else_of_a_memory_changes_and_nobody_is_told(store):
    fill(store, 2)
    before, head = held(store), store.head("default")
    background.reencode(store)
    assert [with_encoded_words(one, store.hasher) for one in before] == held(store)
    assert store.head("default") == head


def test_a_memory_that_is_gone_or_has_moved_meanwhile_is_passed_over(store):
    fill(store, 2)
    found = store.reencoding.outdated(1, 9)
    encode = background.encode_words
    made = [(one, encode(one.content, one.speaker, one.when, hasher=store.hasher)) for one in found]
    store.reencoding.replace(made)
    store.reencoding.replace(made)
    assert held(store) == [with_encoded_words(one, store.hasher) for one in held(store)]


@pytest.mark.slow
def test_searches_know_the_new_words_when_the_background_work_is_done(service):
    fill(service.store, 3)
    lexical = service._index_cache.get("default")._lexical
    assert lexical.frequencies(service.store.hasher.terms("Lisbon")).tolist() == [0]
    while service.run_background_step():
        pass
    index = service._index_cache.get("default")
    held_by, named = index._lexical.name_frequencies(service.store.hasher.terms("Lisbon"))
    assert (held_by.tolist(), named.tolist()) == ([3], [3])
    assert [len(part) for part in index._columns.days.of(np.arange(3))] == [3, 3]


@pytest.mark.slow
def test_what_comes_later_with_words_of_an_earlier_version_is_found_too(service):
    service.read(SCOPE, ReadRequest(query="Lisbon"))
    while service.run_background_step():
        pass
    fill(service.store, 3)  # as a hub of an earlier version does
    service.read(SCOPE, ReadRequest(query="Lisbon"))
    while service.run_background_step():
        pass
    lexical = service._index_cache.get("default")._lexical
    assert lexical.frequencies(service.store.hasher.terms("Lisbon")).tolist() == [3]
    assert service.store.reencoding.count(ENCODING) == 0


@pytest.mark.slow
def test_the_status_says_how_many_memories_are_not_yet_found_by_words(service):
    fill(service.store, 3)
    assert service.status(SCOPE).notices[0].startswith("3 memories of an earlier version")
    while service.run_background_step():
        pass
    assert service.status(SCOPE).notices == ()


@pytest.mark.slow
def test_searches_know_the_new_words_of_many_memories_before_all_are_done(service, monkeypatch):
    monkeypatch.setattr(background, "_WORDS_AT_ONCE", 2)
    monkeypatch.setattr(service._background, "_words_told", 2)
    reencode = background.reencode
    monkeypatch.setattr(background, "reencode", lambda store: reencode(store, 2))
    fill(service.store, 6)
    found = []
    for _ in range(3):
        index = service._index_cache.get("default")
        found.append(index._lexical.frequencies(service.store.hasher.terms("Lisbon")).tolist())
        service.run_background_step()
    assert found == [[0], [2], [4]]


@pytest.mark.slow
def test_a_write_during_the_work_is_found_afterwards(service):
    fill(service.store, 2)
    service.read(SCOPE, ReadRequest(query="Lisbon"))
    assert service.run_background_step()
    service.store.write("default", None, always(inserts=(Insert(with_encoded_words(old(9), service.store.hasher)),)))
    while service.run_background_step():
        pass
    assert service._index_cache.get("default").size() == 3


@pytest.mark.slow
def test_an_old_store_is_up_to_date_when_it_is_open_and_its_rows_lie_in_the_same_order(tmp_path):
    tmp_path.chmod(0o700)
    (tmp_path / DATABASE).write_bytes(gzip.decompress((STORES / "schema-3.duckdb.gz").read_bytes()))
    plain = DuckStore.open(tmp_path / DATABASE, FakeClock())
    with plain._engine.reading() as session:
        order = session.rows(ORDER)
    plain.close()
    service = MemoryService.open(tmp_path, clock=FakeClock(), random_source=FakeRandomSource())
    try:
        assert held(service.store) == [with_encoded_words(one, service.store.hasher) for one in held(service.store)]
        with service.store._engine.reading() as session:
            assert session.rows(ORDER) == order
    finally:
        service.close()


@pytest.mark.slow
def test_a_killed_work_is_continued_by_the_next_opening(tmp_path, monkeypatch):
    fill(DuckStore.open(tmp_path / DATABASE, FakeClock()), 5).close()
    monkeypatch.setattr(background, "_WORDS_AT_ONCE", 2)
    broken = DuckStore.open(tmp_path / DATABASE, FakeClock())
    replace, calls = broken.reencoding.replace, []

    def failing(encoded):
        calls.append(encoded)
        if len(calls) == 2:
            raise KeyboardInterrupt
        replace(encoded)

    monkeypatch.setattr(broken.reencoding, "replace", failing)
    with pytest.raises(KeyboardInterrupt):
        background.reencode(broken)
    broken.close()
    service = MemoryService.open(tmp_path, clock=FakeClock(), random_source=FakeRandomSource())
    try:
        assert held(service.store) == [with_encoded_words(one, service.store.hasher) for one in held(service.store)]
        assert service.store.get("default", [MemoryId("m004")])
    finally:
        service.close()
