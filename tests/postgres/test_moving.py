"""A store moves between a folder and a PostgreSQL database, and is backed up and restored there."""

from __future__ import annotations

import errno
from contextlib import closing, contextmanager
from datetime import timedelta
from itertools import count

import pytest
from tests.core.admin.killed_process import also, killed_at
from tests.core.admin.sample_stores import exported, filled, opened, some
from tests.core.store.making import DIMENSIONS, always, put, vector

from hybrid_memory.admin.backup import create_backup
from hybrid_memory.admin.migrate import migrate
from hybrid_memory.errors import ConstraintViolation, InvalidInput, SchemaTooNew, StoreDamaged, StoreError
from hybrid_memory.language.text import content_hash
from hybrid_memory.model import MemoryId
from hybrid_memory.store.duck.files.database_copy import open_session
from hybrid_memory.store.moving import file_source, folder_target
from hybrid_memory.store.reprocessing import NewVector
from hybrid_memory.store.row_copy import MOVED_TABLES, row_sums
from hybrid_memory.store.writing import RequestKey, UndoRecord
from hybrid_memory.testing import START, FakeClock
from hybrid_memory_postgres import row_tables
from hybrid_memory_postgres.moving_store import database_source, database_target
from hybrid_memory_postgres.store import PostgresStore

pytestmark = [pytest.mark.postgres, pytest.mark.daily]

# What a database has alongside a store's contents, tables of another name, and what keeps the order of rows.
NOT_MOVED = {"migration", "hub", "lease", "moving", "role_namespace"}
OTHER_NAMES = {"namespace": "head"}
BESIDE = {"memory": {"place"}, "undo": {"place"}, "store": {"one_row", "erasures", "unwritten"}, "head": {"last_at"}}


@pytest.fixture
def source(tmp_path):
    """A store with something in every table."""
    with closing(filled(tmp_path / "source", some(23))) as store:
        store.write("default", RequestKey("r", 1), always(result={"a": 1}))
        store.write("野", None, always(undo=UndoRecord(id="u-1", body={"x": [1]}, action="pinned")))
        digest = content_hash("what elsewhere says")
        put(store, "elsewhere", namespace="野", created_at=START + timedelta(seconds=1), content_hash=digest)
        store.trim("default", 5)
        store.embedder_change.begin("e-2", DIMENSIONS * 2)
        doubled = [*vector(1), *vector(2)]
        store.embedder_change.add_vectors([NewVector("default", MemoryId("m3"), doubled)])
    return tmp_path / "source" / "memory.duckdb"


@contextmanager
def database_store(database):
    store = PostgresStore.open(database.conninfo, FakeClock())
    try:
        yield store
    finally:
        store.close()


def to_database(source, database, **options):
    with file_source(source) as one, database_target(database.conninfo, START) as other:
        return migrate(one, other, START, **options)


def to_folder(database, home, **options):
    with database_source(database.conninfo) as one, folder_target(home, START) as other:
        return migrate(one, other, START, **options)


def contents(home, place):
    with closing(opened(home)) as store:
        return exported(store, place, vectors=True)


def test_every_table_and_column_of_a_database_is_copied_or_known_to_be_none_of_its_contents(database):
    moved = {table.name: set(table.columns) for table in MOVED_TABLES}
    rows = database.rows(
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema()"
    )
    for name in {table for table, _ in rows} - NOT_MOVED:
        known = OTHER_NAMES.get(name, name)
        columns = {
            "namespace" if (name, column) == ("namespace", "name") else column
            for table, column in rows
            if table == name
        }
        columns = {"number" if (name, column) == ("store", "sync_number") else column for column in columns}
        assert columns - BESIDE.get(known, set()) == moved[known], name


def test_there_and_back_the_export_is_the_same_byte_by_byte(source, database, tmp_path):
    there = to_database(source, database)
    with database_store(database) as store:
        assert exported(store, tmp_path / "x", vectors=True) == contents(source.parent, tmp_path / "x")
    assert to_folder(database, tmp_path / "back") == there
    assert contents(tmp_path / "back", tmp_path / "x") == contents(source.parent, tmp_path / "x")


def test_there_and_back_every_row_is_the_same(source, database, tmp_path):
    to_database(source, database)
    to_folder(database, tmp_path / "back")
    with file_source(source) as one, file_source(tmp_path / "back" / "memory.duckdb") as other:
        # Opening counts no step of its own, and nothing else was written.
        assert row_sums(one.rows) == row_sums(other.rows)


def test_a_moved_store_goes_on_where_the_other_was(source, database):
    to_database(source, database)
    with database_store(database) as store, closing(opened(source.parent)) as other:
        for name in ("default", "野"):
            assert store.head(name) == other.head(name)
            assert store.check_log(name).problem is None
        assert store.info().embedder == other.info().embedder == "e-1"
        assert store.embedder_change.next_embedder() == other.embedder_change.next_embedder()
        assert store.hasher.terms("good morning") == other.hasher.terms("good morning")
        put(store, "later")
        assert store.head("default") == other.head("default") + 1
        assert store.check_log("default").problem is None
        assert store.result("default", RequestKey("r", 1)) == {"a": 1}


@pytest.mark.parametrize("chunks", [0, 3, 7])
def test_a_move_that_broke_off_is_gone_on_from_and_nobody_opens_it_meanwhile(source, database, chunks):
    done = []

    def stop(one, _total):
        done.append(one)
        if len(done) > chunks:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        to_database(source, database, on_progress=stop)
    with pytest.raises(StoreError, match="not whole yet"):
        PostgresStore.open(database.conninfo, FakeClock())
    assert to_database(source, database).memories == 24
    with database_store(database) as store:
        assert store.info().memories == 24


def test_a_database_of_a_later_version_is_not_moved_by_this_one(source, database, tmp_path):
    to_database(source, database)
    database.rows(
        "INSERT INTO migration (number, name, usable_from, applied_at) VALUES (999, 'later', 8, 1) RETURNING number"
    )
    with pytest.raises(SchemaTooNew), database_source(database.conninfo):
        pass


@pytest.mark.parametrize(
    "point", [*also("chunk:7", "begun", "chunk:1", "chunk:12", "copied", "compared", "checked", "finished")]
)
def test_a_move_into_a_database_that_is_killed_is_gone_on_from(source, database, tmp_path, point):
    assert killed_at("migrate", tmp_path / "unused", point, source, database.conninfo)
    if point == "finished":
        with pytest.raises(InvalidInput):
            to_database(source, database)
    else:
        with pytest.raises(StoreError, match="not whole yet"):
            PostgresStore.open(database.conninfo, FakeClock())
        to_database(source, database)
    with database_store(database) as store:
        assert exported(store, tmp_path / "x", vectors=True) == contents(source.parent, tmp_path / "x")


@pytest.mark.parametrize(
    "point", [*also("chunk:9", "begun", "chunk:1", "chunk:14", "copied", "compared", "checked", "finished")]
)
def test_a_move_out_of_a_database_that_is_killed_is_gone_on_from(source, database, tmp_path, point):
    to_database(source, database)
    home = tmp_path / "back"
    assert killed_at("migrate", home, point, database.conninfo)
    if point != "finished":
        assert not (home / "memory.duckdb").exists()
        to_folder(database, home)
    assert contents(home, tmp_path / "x") == contents(source.parent, tmp_path / "x")


def test_what_hubs_write_while_the_database_is_moved_changes_nothing_of_the_moment(source, database, tmp_path):
    to_database(source, database)
    with database_store(database) as store:
        before = exported(store, tmp_path / "x", vectors=True)
        writes = count()
        done = to_folder(database, tmp_path / "back", on_progress=lambda *_: put(store, f"late-{next(writes)}"))
        assert store.info().memories > 24
    assert done.memories == 24
    assert contents(tmp_path / "back", tmp_path / "x") == before


def test_a_database_with_memories_is_refused(source, database):
    with database_store(database) as store:
        put(store, "there")
    with pytest.raises(InvalidInput, match="holds memories already"):
        to_database(source, database)
    with database_store(database) as store:
        assert store.info().memories == 1


def test_a_store_that_was_only_opened_makes_room(source, database):
    with database_store(database) as store:
        store.pin_embedder("e-9", 4)
    assert to_database(source, database).memories == 24


def test_the_unfinished_move_of_another_store_is_refused(source, database, tmp_path):
    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        to_database(source, database, on_progress=stop)
    filled(tmp_path / "other", some(2)).close()
    with open_session(tmp_path / "other" / "memory.duckdb") as session:
        session.rows("UPDATE mark SET store = 'another'")
    with pytest.raises(InvalidInput, match="another store"):
        to_database(tmp_path / "other" / "memory.duckdb", database)


def test_what_the_database_does_not_hold_as_it_was_read_does_not_count(source, database, monkeypatch):
    from hybrid_memory_postgres.row_tables import PgRowTarget

    add = PgRowTarget.add
    monkeypatch.setattr(
        PgRowTarget,
        "add",
        lambda self, table, rows, number, mark: add(
            self, table, rows[1:] if table.name == "usage" else rows, number, mark
        ),
    )
    with pytest.raises(StoreDamaged, match="so it was removed"):
        to_database(source, database)
    monkeypatch.undo()
    assert to_database(source, database).memories == 24


def test_a_database_that_a_hub_uses_is_refused(source, database):
    database.rows(
        "INSERT INTO hub (id, name, version, schema, started_at, seen_at) "
        "SELECT 'x', 'kitchen', '1', 8, 0, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint RETURNING id"
    )
    with pytest.raises(InvalidInput, match="in use by a hub \\(kitchen\\)"):
        to_database(source, database)


def test_a_database_without_a_store_or_with_half_of_one_is_no_source(source, database, tmp_path):
    with pytest.raises(StoreError, match="no hub has ever opened it"):
        to_folder(database, tmp_path / "back")

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        to_database(source, database, on_progress=stop)
    with pytest.raises(StoreError, match="not whole yet"):
        to_folder(database, tmp_path / "back")


def test_a_zero_character_is_named_and_nothing_is_lost(source, database):
    with open_session(source) as session:
        session.rows("UPDATE memory SET content = 'a' || chr(0) || 'b' WHERE id = 'm5'")
    with pytest.raises(ConstraintViolation, match="the memory m5 holds a zero character"):
        to_database(source, database)


def test_small_chunks_keep_the_order_of_storing(source, database, monkeypatch):
    monkeypatch.setattr(row_tables, "CHUNK_ROWS", 4)
    monkeypatch.setattr("hybrid_memory.store.duck.row_tables.CHUNK_ROWS", 4)
    to_database(source, database)
    places = database.rows("SELECT id FROM memory ORDER BY place")
    assert [id_ for (id_,) in places] == [*(f"m{n}" for n in range(23)), "elsewhere"]


def test_a_backup_of_a_database_is_a_file_that_a_folder_can_be_restored_from(source, database, tmp_path):
    to_database(source, database)
    with database_store(database) as store:
        made = create_backup(store, tmp_path / "home", START, keep=3)
        before = exported(store, tmp_path / "x", vectors=True)
    assert (made.memories, made.file.parent) == (24, tmp_path / "home" / "backups")
    from hybrid_memory.admin.backup import restore

    restore(tmp_path / "fresh", made.file, START)
    assert contents(tmp_path / "fresh", tmp_path / "x") == before


def restored(store, home, backup):
    return store.restorer(home).restore(backup, START, refusal=lambda _: None)


def test_a_database_is_restored_from_a_backup_and_what_was_there_is_put_aside(source, database, tmp_path):
    to_database(source, database)
    home = tmp_path / "home"
    with database_store(database) as store:
        made = create_backup(store, home, START, keep=3)
        before = exported(store, tmp_path / "x", vectors=True)
        put(store, "later")
        present = exported(store, tmp_path / "x", vectors=True)
        done = restored(store, home, made.file)
        assert (done.memories, done.embedder) == (24, None)
    with database_store(database) as store:
        assert exported(store, tmp_path / "x", vectors=True) == before
        put(store, "after")
        assert store.check_log("default").problem is None
    assert contents(done.aside, tmp_path / "x") == present


def test_a_restore_that_fails_leaves_the_database_as_it_was(source, database, tmp_path, monkeypatch):
    to_database(source, database)
    home = tmp_path / "home"
    with database_store(database) as store:
        made = create_backup(store, home, START, keep=3)
        put(store, "later")
        before = exported(store, tmp_path / "x", vectors=True)

        def stop(step):
            if step == "replaced":
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            store.restorer(home).restore(made.file, START, refusal=lambda _: None, on_step=stop)
        assert exported(store, tmp_path / "x", vectors=True) == before


@pytest.mark.parametrize("at", ["aside", "replaced"])
def test_a_restore_that_fails_leaves_nothing_in_quarantine_that_says_it_was_done(source, database, tmp_path, at):
    to_database(source, database)
    home = tmp_path / "home"

    def stop(step):
        if step == at:
            raise KeyboardInterrupt

    with database_store(database) as store:
        made = create_backup(store, home, START, keep=3)
        with pytest.raises(KeyboardInterrupt):
            store.restorer(home).restore(made.file, START, refusal=lambda _: None, on_step=stop)
    assert list((home / "quarantine").iterdir()) == []


def test_a_restore_that_cannot_put_the_store_aside_leaves_no_half_copy(source, database, tmp_path, monkeypatch):
    to_database(source, database)
    home = tmp_path / "home"

    def full(file, *_):
        file.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "no space")

    with database_store(database) as store:
        made = create_backup(store, home, START, keep=3)
        monkeypatch.setattr("hybrid_memory.store.duck.moving_files.write_file", full)
        with pytest.raises(OSError, match="no space"):
            restored(store, home, made.file)
    assert list((home / "quarantine").iterdir()) == []


def test_a_restore_gives_the_store_a_new_id_so_that_other_hubs_notice(source, database, tmp_path):
    to_database(source, database)
    before = database.rows("SELECT id FROM store")
    with database_store(database) as store:
        made = create_backup(store, tmp_path / "home", START, keep=3)
        restored(store, tmp_path / "home", made.file)
    assert database.rows("SELECT id FROM store") != before
