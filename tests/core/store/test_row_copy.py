"""All rows of a store, copied into another one: every table, in the same order, gone on from after a kill."""

from __future__ import annotations

from contextlib import closing, contextmanager

import pytest
from hypothesis import HealthCheck, given, settings
from tests.core.admin.sample_stores import ITEMS, filled, some
from tests.core.store.making import DIMENSIONS, always, put

from hybrid_memory.store.duck import row_tables
from hybrid_memory.store.duck.files.database_copy import open_session
from hybrid_memory.store.duck.row_tables import DuckRows, DuckRowTarget
from hybrid_memory.store.duck.schema import migrate
from hybrid_memory.store.row_copy import MEMORY, MOVED_TABLES, Value, copy_rows, row_sums
from hybrid_memory.store.writing import RequestKey, UndoRecord
from hybrid_memory.testing import START

# What a store has alongside its contents, and tables that are moved under another name or as part of another one.
NOT_MOVED = {"migration"}
IN_OTHERS = {"mark": "store", "term_key": "store", "log_head": "head", "namespace": "head", "vector_1": "vector"}


@contextmanager
def new_file(path):
    with open_session(path) as session:
        migrate(session, START)
        yield session


def copied(source, path):
    with open_session(source, read_only=True) as old, new_file(path) as new:
        sums = copy_rows(DuckRows(old), DuckRowTarget(new))
        DuckRowTarget(new).finish()
        return sums, row_sums(DuckRows(new))


@pytest.fixture
def source(tmp_path):
    with closing(filled(tmp_path / "source", some(23))) as store:
        store.write("default", RequestKey("r", 1), always(result={"a": 1}))
        store.write("野", None, always(undo=UndoRecord(id="u-1", body={"x": [1]}, action="pinned")))
        put(store, "elsewhere", namespace="野")
        store.embedder_change.begin("e-2", DIMENSIONS * 2)
    return tmp_path / "source" / "memory.duckdb"


@pytest.mark.slow
def test_every_table_and_column_of_a_store_is_copied_or_known_to_be_none_of_its_contents(source):
    moved = {table.name: set(table.columns) for table in MOVED_TABLES}
    with open_session(source, read_only=True) as session:
        rows = session.rows("SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal")
    tables = {name: {column for table, column in rows if table == name} for name, _ in rows}
    assert len(tables) > len(moved)
    for name, columns in tables.items():
        if name in NOT_MOVED or name in IN_OTHERS or name.startswith("vector_"):
            continue
        assert moved[name] == columns, name


@pytest.mark.slow
def test_a_copy_has_the_same_sums(source, tmp_path):
    read, written = copied(source, tmp_path / "copy.duckdb")
    assert read == written
    assert (read["memory"][0], read["vector"][0], read["request"][0], read["undo"][0]) == (24, 23, 1, 1)
    assert (read["embedder"][0], read["head"][0], read["store"][0]) == (2, 2, 1)


@pytest.mark.slow
@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ITEMS)
def test_whatever_a_store_holds_is_copied(tmp_path_factory, items):
    folder = tmp_path_factory.mktemp("any")
    filled(folder / "source", items).close()
    read, written = copied(folder / "source" / "memory.duckdb", folder / "copy.duckdb")
    assert read == written


class Stubborn:
    """A target that fails after some chunks, as a kill would end it."""

    def __init__(self, target, chunks):
        self.target, self.left, self.added = target, chunks, []

    def marks(self, table):
        return self.target.marks(table)

    def clear(self, table):
        self.target.clear(table)

    def add(self, table, rows, number, mark):
        if not self.left:
            raise KeyboardInterrupt
        self.left -= 1
        self.added.append((table.name, number))
        self.target.add(table, rows, number, mark)


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(row_tables, "CHUNK_ROWS", 5)


@pytest.mark.slow
@pytest.mark.parametrize("chunks", [0, 1, 4, 9])
def test_a_copy_that_broke_off_is_gone_on_from(source, tmp_path, small_chunks, chunks):
    with open_session(source, read_only=True) as old, new_file(tmp_path / "copy.duckdb") as new:
        target = DuckRowTarget(new)
        first = Stubborn(target, chunks)
        with pytest.raises(KeyboardInterrupt):
            copy_rows(DuckRows(old), first)
        second = Stubborn(target, 1000)
        read = copy_rows(DuckRows(old), second)
        assert set(first.added).isdisjoint(second.added)
        assert read == row_sums(DuckRows(new)) == row_sums(DuckRows(old))


@pytest.mark.slow
def test_what_changed_in_the_source_meanwhile_is_copied_anew(source, tmp_path, small_chunks):
    with new_file(tmp_path / "copy.duckdb") as new:
        target = DuckRowTarget(new)
        with open_session(source, read_only=True) as old:
            copy_rows(DuckRows(old), target)
        with open_session(source) as old:
            old.rows("UPDATE memory SET rev = rev + 1 WHERE id = 'm7'")
            old.rows("DELETE FROM usage")
        with open_session(source, read_only=True) as old:
            again = Stubborn(target, 1000)
            read = copy_rows(DuckRows(old), again)
            assert {name for name, _ in again.added} == {"memory"}
            assert read == row_sums(DuckRows(new)) == row_sums(DuckRows(old))


@pytest.mark.slow
def test_progress_ends_at_the_number_of_all_rows(source, tmp_path):
    told = []
    with open_session(source, read_only=True) as old, new_file(tmp_path / "copy.duckdb") as new:
        copy_rows(DuckRows(old), DuckRowTarget(new), lambda *one: told.append(one))
        total = sum(DuckRows(old).counts().values())
    assert told[-1] == (total, total)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_another_order_of_memories_is_another_sum(source, tmp_path):
    with open_session(source, read_only=True) as old:
        rows = [row for part in DuckRows(old).chunks(MEMORY) for row in part]

    class Turned(DuckRows):
        def chunks(self, table):
            return iter([rows[::-1]]) if table is MEMORY else super().chunks(table)

    with open_session(source, read_only=True) as old:
        assert row_sums(Turned(old))["memory"] != row_sums(DuckRows(old))["memory"]


def test_lists_of_numbers_travel_as_bytes(source):
    places = [at for at, value in enumerate(MEMORY.columns.values()) if value is Value.NUMBERS]
    with open_session(source, read_only=True) as old:
        row = next(DuckRows(old).chunks(MEMORY))[0]
    assert [type(row[at]) for at in places] == [bytes, type(None), type(None)]
