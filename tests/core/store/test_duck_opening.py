import os
import stat
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta

import duckdb
import pytest
from tests.core.store.making import always, one, put

from hybrid_memory.clock import MOST_CARRIED
from hybrid_memory.errors import SchemaTooNew, StoreDamaged, StoreLocked, StoreReadOnly
from hybrid_memory.model import MemoryId
from hybrid_memory.store.duck.schema import MIGRATIONS, Migration, migrate
from hybrid_memory.store.duck.sql_session import SqlSession
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.store.writing import RequestKey
from hybrid_memory.testing import START

OPENS = """
import sys
from pathlib import Path
from hybrid_memory.clock import SystemClock
from hybrid_memory.errors import StoreLocked
from hybrid_memory.store.duck.store import DuckStore
try:
    store = DuckStore.open(Path(sys.argv[1]), SystemClock())
except StoreLocked as error:
    print(error.pid, error)
else:
    print("open", flush=True)
    sys.stdin.read()
"""


def child(path):
    return subprocess.Popen(
        [sys.executable, "-c", OPENS, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def mode(file):
    return stat.S_IMODE(file.stat().st_mode)


@pytest.mark.slow
def test_a_second_process_is_refused_and_told_who_has_the_store(duck, path):
    with child(path) as other:
        out, _ = other.communicate(timeout=60)
    assert out.startswith(f"{os.getpid()} the memory store is in use by process {os.getpid()}")


@pytest.mark.slow
def test_a_store_of_a_killed_process_can_be_opened_at_once(open_duck, path):
    with child(path) as other:
        assert other.stdout.readline() == "open\n"
        with pytest.raises(StoreLocked) as caught:
            open_duck()
        assert caught.value.pid == other.pid
        other.kill()
        other.wait()
    put(open_duck(), "a")


def test_a_second_store_of_the_same_process_is_refused(duck, path, clock):
    with pytest.raises(StoreLocked) as caught:
        DuckStore.open(path, clock)
    assert caught.value.pid == os.getpid()
    put(duck, "a")


def test_a_closed_store_can_be_opened_again(open_duck):
    first = open_duck()
    put(first, "a")
    first.close()
    second = open_duck()
    put(second, "b")
    assert [entry.position for entry in second.changes("default", 0)] == [1, 2]


@pytest.mark.parametrize(("back", "told"), [(MOST_CARRIED, START), (timedelta(days=1), START - timedelta(days=1))])
def test_over_a_restart_time_runs_backwards_only_with_a_clock_that_was_set_back_far(open_duck, clock, back, told):
    first = open_duck()
    put(first, "a")
    first.close()
    clock.set(START - back)
    assert open_duck().write("default", RequestKey("r", 1), always()).at == told


def test_numbers_of_a_conversation_go_on_after_a_restart(open_duck):
    first = open_duck()
    first.put_entry("default", "c", "message", {})
    first.remove_entries("default", "c", "message")
    first.close()
    assert open_duck().put_entry("default", "c", "message", {}) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such rights")
def test_folder_and_files_are_private_whatever_the_umask_says(open_duck, path):
    before = os.umask(0)
    try:
        store = open_duck()
        put(store, "a")
        modes = {file.name: mode(file) for file in path.parent.iterdir()}
        files = ["memory.duckdb", "memory.duckdb.wal", "memory.journal", "memory.lock", "memory.pid"]
        assert (mode(path.parent), modes) == (0o700, dict.fromkeys(files, 0o600) | {"memory.tmp": 0o700})
        store._engine._connection.execute("CHECKPOINT")
        put(store, "b")
        assert {mode(file) for file in path.parent.iterdir() if file.is_file()} == {0o600}
    finally:
        os.umask(before)


def test_a_closed_store_leaves_the_database_and_the_lock_file_only(open_duck, path):
    open_duck().close()
    assert {file.name for file in path.parent.iterdir()} == {"memory.duckdb", "memory.lock"}


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such rights")
def test_a_folder_that_was_there_keeps_its_rights(open_duck, path):
    path.parent.mkdir(mode=0o755)
    path.parent.chmod(0o755)
    open_duck()
    assert mode(path.parent) == 0o755


def test_a_folder_that_is_a_file_is_refused(open_duck, path):
    path.parent.write_text("")
    with pytest.raises(StoreReadOnly):
        open_duck()


@pytest.mark.skipif(getattr(os, "geteuid", int)() == 0, reason="nothing is forbidden to root")
def test_a_folder_that_cannot_be_written_is_refused(open_duck, path):
    path.parent.mkdir(mode=0o500)
    with pytest.raises(StoreReadOnly):
        open_duck()


@pytest.mark.parametrize("content", [b"", b"garbage" * 1000])
def test_a_file_that_is_no_database_is_refused_and_left_alone(open_duck, path, content):
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(StoreDamaged):
        open_duck()
    assert path.read_bytes() == content


def test_a_damaged_file_is_refused_with_what_to_do_and_left_alone(open_duck, path):
    open_duck().close()
    damaged = bytearray(path.read_bytes())
    damaged[100] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(StoreDamaged) as caught:
        open_duck()
    assert path.read_bytes() == bytes(damaged)
    assert "hybrid-memory-mcp doctor --repair" in str(caught.value)
    assert str(path) not in str(caught.value)


def test_a_file_of_sqlite_is_refused_and_left_alone(open_duck, path):
    content = b"SQLite format 3\0" + bytes(5000)
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(StoreDamaged):
        open_duck()
    assert path.read_bytes() == content


def test_a_folder_in_the_files_place_is_refused(open_duck, path):
    path.mkdir(parents=True)
    with pytest.raises(StoreReadOnly):
        open_duck()


def test_another_programs_database_is_refused_and_left_alone(open_duck, path):
    path.parent.mkdir()
    with duckdb.connect(str(path)) as other:
        other.execute("CREATE TABLE theirs (a INTEGER)")
    with pytest.raises(StoreDamaged):
        open_duck()
    with duckdb.connect(str(path)) as other:
        assert other.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("theirs",)]


def test_a_store_of_a_later_version_is_refused(open_duck, path):
    open_duck().close()
    with duckdb.connect(str(path)) as later:
        later.execute("INSERT INTO migration VALUES (99, 'later', 0)")
    with pytest.raises(SchemaTooNew):
        open_duck()


def test_a_refused_opening_lets_the_lock_go(open_duck, path):
    path.parent.mkdir()
    path.write_bytes(b"garbage")
    with pytest.raises(StoreDamaged):
        open_duck()
    path.unlink()
    put(open_duck(), "a")


def test_a_migration_that_fails_leaves_neither_tables_nor_record():
    with duckdb.connect(":memory:") as connection:
        session = SqlSession(connection)
        migrate(session, START)
        last = MIGRATIONS[-1].number
        broken = Migration(last + 1, "broken", ("CREATE TABLE half (a INTEGER)", "SELECT * FROM missing"))
        with pytest.raises(StoreDamaged):
            migrate(session, START, (*MIGRATIONS, broken))
        assert session.rows("SELECT max(number) FROM migration") == [(last,)]
        assert session.rows("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'half'") == [(0,)]
        whole = replace(broken, statements=broken.statements[:1])
        assert migrate(session, START, (*MIGRATIONS, whole)) == last + 1
        named = [(one.number, one.name) for one in (*MIGRATIONS, broken)]
        assert session.rows("SELECT number, name FROM migration ORDER BY number") == named


def test_a_migration_runs_once():
    with duckdb.connect(":memory:") as connection:
        session = SqlSession(connection)
        migrate(session, START)
        migrate(session, START)
        assert session.rows("SELECT count(*) FROM migration") == [(len(MIGRATIONS),)]


def test_a_store_of_the_first_version_becomes_one_of_this_version(open_duck, path):
    path.parent.mkdir()
    with duckdb.connect(str(path), config={"storage_compatibility_version": "v1.5.0"}) as connection:
        session = SqlSession(connection)
        migrate(session, START, MIGRATIONS[:1])
    store = open_duck()
    put(store, "a", "b")
    assert store.info().schema_version == len(MIGRATIONS)
    assert set(store.get("default", [MemoryId("a"), MemoryId("b"), MemoryId("c")])) == {"a", "b"}


def test_size_counts_the_file_and_its_log(duck, path):
    put(duck, "a")
    wal = path.with_name("memory.duckdb.wal")
    assert duck.info().bytes_on_disk == path.stat().st_size + wal.stat().st_size
    assert one(duck, "a").id == "a"
