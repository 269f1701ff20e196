"""What this project assumes of DuckDB beyond its documentation, each held against the engine itself.

When one of these fails after an upgrade of DuckDB, its docstring says what would break.
"""

import struct

import duckdb
import pytest

from hybrid_memory.store.duck.files.database_file import FORMAT, is_database
from hybrid_memory.store.duck.recovery.open import is_about_log, length_before_damage

COMMITS = 3
ENTRIES_OF_A_COMMIT = 3


def connected(path):
    connection = duckdb.connect(str(path), config=dict(FORMAT))
    connection.execute("PRAGMA disable_checkpoint_on_shutdown")
    return connection


def log_of(path):
    return path.with_name(path.name + ".wal")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The database file and the log of a database with a few commits behind its last checkpoint."""
    path = tmp_path_factory.mktemp("log") / "a.duckdb"
    with connected(path) as connection:
        connection.execute("CREATE TABLE t (a INTEGER)")
        connection.execute("CHECKPOINT")
        for number in range(COMMITS):
            connection.execute("INSERT INTO t VALUES (?)", [number])
    return path.read_bytes(), log_of(path).read_bytes()


@pytest.fixture
def opened(tmp_path, files):
    """Open the database with another log; returns how many rows it has, or DuckDB's message."""

    def open_with(log):
        path = tmp_path / "a.duckdb"
        path.write_bytes(files[0])
        log_of(path).write_bytes(log)
        try:
            with connected(path) as connection:
                return connection.execute("SELECT count(*) FROM t").fetchone()[0]
        except duckdb.Error as error:
            return str(error)

    return open_with


def starts_of_entries(log):
    """Return where the entries of a log begin, counted back from its end."""
    found, offset = [], len(log) - 16 - 5
    while offset > 0 and struct.unpack_from("<Q", log, offset)[0] < len(log):
        found.append(offset)
        offset = next((at for at in range(offset - 17, 0, -1) if at + 16 + sized(log, at) == offset), 0)
    return found[::-1]


def sized(log, at):
    return struct.unpack_from("<Q", log, at)[0]


def changed(log, at, value):
    return log[:at] + bytes([value]) + log[at + 1 :]


def test_a_torn_log_is_shortened_without_a_word(opened, files):
    """Therefore the journal says how many writes there were. A log that DuckDB names as damaged at a place is cut there."""
    assert opened(files[1][:-3]) == COMMITS - 1


def test_a_size_beyond_the_end_of_the_log_drops_writes_without_a_word(opened, files):
    """Therefore an opening without errors proves nothing, and is compared with the journal."""
    first = starts_of_entries(files[1])[0]
    assert opened(changed(files[1], first + 1, 255)) == 0


@pytest.mark.parametrize("offset", [8, 16], ids=["checksum", "content"])
def test_the_message_about_a_damaged_entry_says_where_it_is(opened, files, offset):
    """Else nothing before the damage is kept of a log whose journal is missing."""
    start = starts_of_entries(files[1])[ENTRIES_OF_A_COMMIT]
    log = changed(files[1], start + offset, files[1][start + offset] ^ 1)
    refusal = opened(log)
    assert is_about_log(duckdb.IOException(refusal))
    assert opened(log[: length_before_damage(refusal, log)]) == 1


def test_zeros_behind_the_log_are_an_entry_that_is_refused(opened, files):
    """Therefore zeros before the place are cut off too: they would be refused again."""
    log = files[1] + bytes(64)
    refusal = opened(log)
    assert length_before_damage(refusal, log) == len(files[1])
    assert opened(files[1] + bytes(16)) != COMMITS


def test_a_commit_does_not_end_with_a_zero(files):
    """Else cutting off the zeros behind the last commit would cut into it."""
    assert files[1][-1] != 0


def test_the_log_of_another_database_is_refused(opened, tmp_path):
    """Format v1.5.0 is set for this. Else a log that a restore left behind would be executed in the restored file."""
    with connected(tmp_path / "b.duckdb") as other:
        other.execute("CREATE TABLE t (a INTEGER)")
        other.execute("INSERT INTO t VALUES (1)")
    assert is_about_log(duckdb.IOException(opened(log_of(tmp_path / "b.duckdb").read_bytes())))


def test_an_update_to_the_same_value_is_not_logged(tmp_path):
    """Therefore a recovery counts the mark up and down before its checkpoint, which removes a torn log."""
    path = tmp_path / "a.duckdb"
    with connected(path) as connection:
        connection.execute("CREATE TABLE t (a INTEGER)")
        connection.execute("INSERT INTO t VALUES (1)")
        connection.execute("CHECKPOINT")
        connection.execute("UPDATE t SET a = a")
        assert not log_of(path).exists()


def test_a_log_torn_before_its_first_commit_stays_when_the_database_is_opened_and_closed(opened, files, tmp_path):
    """Therefore a recovery makes DuckDB write into it; else the same loss would be reported at every opening."""
    torn = files[1][: starts_of_entries(files[1])[2]]
    assert opened(torn) == 0
    assert log_of(tmp_path / "a.duckdb").read_bytes() == torn


def test_a_checkpoint_removes_the_log(tmp_path):
    """The engine takes a log that became smaller for a checkpoint, and begins a new journal."""
    path = tmp_path / "a.duckdb"
    with connected(path) as connection:
        connection.execute("CREATE TABLE t (a INTEGER)")
        assert log_of(path).stat().st_size
        connection.execute("CHECKPOINT")
        assert not log_of(path).exists()


@pytest.mark.parametrize("statement", ["ATTACH ? AS other", "COPY FROM DATABASE ? TO memory"])
def test_a_file_or_a_database_cannot_be_a_parameter(statement):
    """Therefore `files/database_copy.py` and `recovery/repair.py` put quoted names into their statements."""
    with duckdb.connect(":memory:") as connection, pytest.raises(duckdb.Error):
        connection.execute(statement, ["a"])


def test_a_database_file_is_known_by_its_mark(files, tmp_path):
    """Else a purge would remove the databases in quarantine instead of rewriting them."""
    (tmp_path / "a").write_bytes(files[0])
    (tmp_path / "b").write_bytes(files[1])
    assert [is_database(tmp_path / name) for name in ("a", "b", "missing")] == [True, False, False]
