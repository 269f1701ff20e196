"""A move brings a whole store elsewhere, where it counts only when it is whole and the same."""

from __future__ import annotations

from contextlib import closing

import pytest
from tests.core.admin.killed_process import also, killed_at
from tests.core.admin.sample_stores import exported, filled, opened, some
from tests.core.store.making import put

from hybrid_memory.admin.migrate import migrate
from hybrid_memory.clock import SystemClock
from hybrid_memory.errors import InvalidInput, StoreDamaged, StoreLocked
from hybrid_memory.store.duck.files.database_copy import open_session
from hybrid_memory.store.moving import copy_of_folder, file_source, folder_target
from hybrid_memory.testing import START


@pytest.fixture
def home(tmp_path):
    return tmp_path / "to"


@pytest.fixture
def source(tmp_path):
    filled(tmp_path / "source", some(20)).close()
    return tmp_path / "source" / "memory.duckdb"


def moved(source, home, **options):
    with file_source(source) as one, folder_target(home, START) as other:
        return migrate(one, other, START, **options)


def contents(home, place):
    with closing(opened(home)) as store:
        return exported(store, place, vectors=True)


def names(home):
    return sorted(file.name for file in home.iterdir())


@pytest.mark.slow
def test_a_moved_store_exports_the_same_byte_by_byte(source, home, tmp_path):
    done = moved(source, home)
    assert (done.memories, done.namespaces) == (20, ("default",))
    assert contents(home, tmp_path / "x") == contents(source.parent, tmp_path / "x")


@pytest.mark.slow
def test_a_moved_store_goes_on_where_the_other_was(source, home):
    moved(source, home)
    with closing(opened(home)) as store, closing(opened(source.parent)) as other:
        assert store.head("default") == other.head("default")
        assert store.hasher.terms("good morning") == other.hasher.terms("good morning")
        put(store, "later")
        assert store.check_log("default").problem is None


@pytest.mark.slow
def test_a_place_with_memories_is_refused_and_stays_as_it_is(source, home, tmp_path):
    filled(home, some(2)).close()
    before = contents(home, tmp_path / "x")
    with pytest.raises(InvalidInput, match="holds memories already"):
        moved(source, home)
    assert contents(home, tmp_path / "x") == before


@pytest.mark.slow
def test_an_empty_store_makes_room(source, home):
    opened(home).close()
    assert moved(source, home).memories == 20
    assert len(list((home / "quarantine").iterdir())) == 1


def test_a_place_in_use_is_refused(source, home):
    with closing(opened(home)), pytest.raises(StoreLocked):
        moved(source, home)


@pytest.mark.slow
def test_what_is_not_the_same_afterwards_does_not_count(source, home, monkeypatch):
    from hybrid_memory.admin import migrate as module

    monkeypatch.setattr(module, "row_sums", lambda *_: {})
    with pytest.raises(StoreDamaged, match="so it was removed"):
        moved(source, home)
    assert names(home) == ["memory.lock"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "point", ["chunk:5", *also("begun", "chunk:1", "chunk:9", "copied", "compared", "checked", "finished")]
)
def test_a_move_that_is_killed_is_not_done_and_is_gone_on_from(source, home, tmp_path, point):
    assert killed_at("migrate", home, point, source)
    finished = point == "finished"
    assert ("memory.duckdb" in names(home)) == finished
    if finished:
        with pytest.raises(InvalidInput):
            moved(source, home)
    else:
        moved(source, home)
    assert contents(home, tmp_path / "x") == contents(source.parent, tmp_path / "x")
    assert "memory.moving" not in names(home)


@pytest.mark.slow
@pytest.mark.parametrize("id_", ["another", "the same"])
def test_the_unfinished_move_of_a_store_that_says_something_else_is_begun_anew(source, home, tmp_path, id_):
    filled(tmp_path / "other", some(3)).close()
    if id_ == "another":
        with open_session(tmp_path / "other" / "memory.duckdb") as session:
            session.rows("UPDATE mark SET store = 'another'")
    assert killed_at("migrate", home, "copied", tmp_path / "other" / "memory.duckdb")
    assert moved(source, home).memories == 20
    assert contents(home, tmp_path / "x") == contents(source.parent, tmp_path / "x")


@pytest.mark.slow
def test_a_store_that_nobody_has_open_is_copied_for_a_move(source, tmp_path):
    copy = source.parent / "backups" / "copy.duckdb"
    copy.parent.mkdir()
    copy_of_folder(source.parent, SystemClock(), copy)
    assert moved(copy, tmp_path / "to").memories == 20
