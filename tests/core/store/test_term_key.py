"""The key of a store's terms is made once, stays through everything that is done with the files, and is told to nobody."""

import json

import duckdb
import pytest
from tests.core.store.making import put

from hybrid_memory.admin.backup import create_backup, restore
from hybrid_memory.admin.export_import import export_store
from hybrid_memory.admin.purge import purge
from hybrid_memory.language.text import content_hash
from hybrid_memory.model import MemoryId
from hybrid_memory.settings import DATABASE
from hybrid_memory.store.duck.recovery.repair import _Rebuild
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.store.duck.term_key import read_term_key
from hybrid_memory.store.store_file import file_eraser
from hybrid_memory.store.transfer import PurgeSelection
from hybrid_memory.testing import START, FakeClock, FakeRandomSource


@pytest.fixture
def home(tmp_path):
    tmp_path.chmod(0o700)
    return tmp_path


def opened(home, seed=0):
    return DuckStore.open(home / DATABASE, FakeClock(), random_source=FakeRandomSource(seed))


def key_of(home):
    store = opened(home, seed=99)
    try:
        with store._engine.reading() as session:
            return read_term_key(session)
    finally:
        store.close()


def test_it_is_drawn_when_the_store_is_made_and_stays(home):
    opened(home, seed=7).close()
    assert key_of(home) == FakeRandomSource(7).bits(64)
    assert key_of(home) == key_of(home)


@pytest.mark.slow
def test_a_backup_has_it_and_a_purge_leaves_it(home):
    store = opened(home)
    for name in ("a", "b"):
        put(store, name, content_hash=content_hash(f"what {name} says"))
    backup = create_backup(store, home, START, keep=3)
    store.close()
    before = key_of(home)
    purge(file_eraser(home), PurgeSelection(namespace="default", ids=(MemoryId("a"),)), START, actor="tester")
    assert key_of(home) == before
    restore(home, backup.file, START)
    assert key_of(home) == before


@pytest.mark.slow
def test_a_repair_keeps_it(home):
    store = opened(home)
    put(store, "a", "b", encoding=5)
    store.close()
    before = key_of(home)
    _Rebuild(home / DATABASE, START, lambda *_: None).run()
    assert key_of(home) == before


def test_an_export_tells_nothing_of_it(home, tmp_path):
    store = opened(home)
    put(store, "a", "b", terms=(11, 22))
    export_store(store, tmp_path / "all.jsonl", on_progress=lambda *_: None)
    store.close()
    memories = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()[1:]]
    assert [one["terms"] for one in memories] == [[], []]


@pytest.mark.slow
def test_a_store_whose_key_is_lost_gets_another_and_all_is_encoded_anew(home):
    store = opened(home)
    put(store, "a", "b", encoding=5)
    store.close()
    with duckdb.connect(str(home / DATABASE)) as connection:
        connection.execute("DELETE FROM term_key")
    store = opened(home, seed=1)
    assert [one.encoding for one in store.get("default", [MemoryId("a"), MemoryId("b")]).values()] == [0, 0]
    store.close()
    assert key_of(home) == FakeRandomSource(1).bits(64)
