"""Copies of a whole database: made from an open one, and read whole afterwards.

Used by backup, restore and purge. A copy and its original have the same `TableSums`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from string import Template

import duckdb

from hybrid_memory.errors import SchemaTooNew, StoreDamaged, StoreError
from hybrid_memory.private_files import copy_private
from hybrid_memory.store.duck.duckdb_errors import DAMAGED, translated, translated_opening
from hybrid_memory.store.duck.files.database_file import keep_private, log_file, plain_connection
from hybrid_memory.store.duck.schema import MIGRATIONS
from hybrid_memory.store.duck.sql_session import SqlSession
from hybrid_memory.store.transfer import TableSums

# DuckDB 1.5 takes no parameters in these statements; names and paths are quoted by `_quote_name` and `_quote_text`.
_ATTACH = Template("ATTACH $file AS copy_of_all (STORAGE_VERSION 'v1.5.0')")
_COPY = Template("COPY FROM DATABASE $source TO copy_of_all")
# Connections of a store make no checkpoint when they let a database go.
_CHECKPOINT = "CHECKPOINT copy_of_all"
_DETACH = "DETACH DATABASE IF EXISTS copy_of_all"
_CURRENT_DATABASE = "SELECT current_database()"
_COPIED_TABLES = """
    SELECT table_name FROM duckdb_tables() WHERE database_name = 'copy_of_all' AND NOT internal ORDER BY table_name
"""
_TABLES = "SELECT table_name FROM duckdb_tables() WHERE NOT internal ORDER BY table_name"
_TABLE_SUM = Template("SELECT count(*), coalesce(sum(hash(one)), 0) FROM $table AS one")
_DONE_MIGRATIONS = "SELECT number FROM migration ORDER BY number"


def copy_database(session: SqlSession, file: Path) -> TableSums:
    """Copy the session's database into a new file and return the sums of what was written.

    The copy is one moment, made alongside readers and the writer; what was deleted before is not in it. Nothing is left of
    one that fails.
    """
    source = session.rows(_CURRENT_DATABASE)[0][0]
    try:
        session.rows(_DETACH)  # one that a failure left attached
        session.rows(_ATTACH.substitute(file=_quote_text(str(file))))
        with translated():
            keep_private(file)
        session.rows(_COPY.substitute(source=_quote_name(source)))
        tables = [name for (name,) in session.rows(_COPIED_TABLES)]
        sums = _table_sums(session, tables, prefix="copy_of_all.")
        session.rows(_CHECKPOINT)
        session.rows(_DETACH)
    except BaseException:
        with suppress(StoreError):
            session.rows(_DETACH)
        remove_database(file)
        raise
    return sums


def verify(file: Path) -> TableSums:
    """Read every value of a database file that nobody has open, and return the sums; the file is not changed.

    Raises:
        StoreDamaged: it cannot be read whole, or is none of this program's.
        SchemaTooNew: a later version of this program wrote it.
    """
    with open_session(file, read_only=True) as session:
        try:
            tables = [name for (name,) in session.rows(_TABLES)]
            if "migration" not in tables or "memory" not in tables:
                raise StoreDamaged("the file holds no memories of this program; nothing was changed")
            done = [number for (number,) in session.rows(_DONE_MIGRATIONS)]
            known = [migration.number for migration in MIGRATIONS]
            if done and done[-1] > known[-1]:
                raise SchemaTooNew("the file was written by a later version of this program; upgrade to use it")
            if not done or done != known[: len(done)]:
                raise StoreDamaged(DAMAGED)
            return _table_sums(session, tables)
        except duckdb.Error:
            raise StoreDamaged(DAMAGED) from None


def copy_with_log(source: Path, target: Path) -> None:
    """Copy a database file that nobody has open, with the writes of its log in it."""
    with translated():
        copy_private(source, target)
        if not log_file(source).is_file():
            return
        copy_private(log_file(source), log_file(target))
    # Opening executes the log, closing moves it into the file.
    with open_session(target):
        pass


@contextmanager
def open_session(file: Path, *, read_only: bool = False, folder: Path | None = None) -> Iterator[SqlSession]:
    """Give a session on a database file that nobody has open; it may write new databases into ``folder``."""
    with translated_opening():
        connection = plain_connection(file, read_only=read_only, folder=folder)
    session = SqlSession(connection)
    try:
        yield session
    finally:
        session.close()
        with translated():
            connection.close()
        if not read_only:
            with suppress(OSError):
                keep_private(file)


def remove_database(*files: Path) -> None:
    """Remove database files and their logs, where they exist."""
    with translated():
        for file in files:
            file.unlink(missing_ok=True)
            log_file(file).unlink(missing_ok=True)


def _table_sums(session: SqlSession, tables: Sequence[str], prefix: str = "") -> TableSums:
    found = {}
    for table in tables:
        count, total = session.rows(_TABLE_SUM.substitute(table=prefix + _quote_name(table)))[0]
        found[table] = (int(count), int(total))
    return found


def _quote_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _quote_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
