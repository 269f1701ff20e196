"""Saves what can be read of a damaged database into a new one, for ``doctor --repair``.

The steps:

1. open and check the store: where nothing is damaged, nothing is changed;
2. copy all files to quarantine;
3. make a new database alongside the old one, and attach that, to be read only;
4. copy the rows of each table, in ever smaller pieces where some cannot be read;
5. execute the writes that the journal has behind the last one that was saved;
6. let the new file take the old one's place, check it, and store a report.

Until the sixth step the store is as it was, so a process that dies meanwhile costs nothing.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from string import Template
from typing import TypeAlias

import duckdb

from hybrid_memory.errors import EngineUnavailable, StoreDamaged, StoreError, StoreFull
from hybrid_memory.private_files import copy_private
from hybrid_memory.store.duck import tables
from hybrid_memory.store.duck.duckdb_errors import translated
from hybrid_memory.store.duck.engine import Engine
from hybrid_memory.store.duck.files.database_file import FORMAT, journal_file, log_file, size_on_disk
from hybrid_memory.store.duck.files.database_lock import DatabaseLock
from hybrid_memory.store.duck.recovery import quarantine
from hybrid_memory.store.duck.recovery.bad_rows import DELETE_ORPHANS, ROWS, SPAN_ROWS, put_aside
from hybrid_memory.store.duck.recovery.check import TABLES, check_store
from hybrid_memory.store.duck.recovery.journal import ExecutedStatement, read_journal, read_origin
from hybrid_memory.store.duck.recovery.open import ConnectionSettings, empty_log, open_database
from hybrid_memory.store.duck.recovery.quarantine import RecoveryReport
from hybrid_memory.store.duck.schema import migrate
from hybrid_memory.store.duck.sql_session import SqlSession
from hybrid_memory.store.duck.vector_tables import VectorTable
from hybrid_memory.store.duck.writer_cache import PinnedEmbedder, read_mark
from hybrid_memory.store.findings import Finding, Report, Severity, report_of
from hybrid_memory.store.home_files import QUARANTINE
from hybrid_memory.store.odd_rows import takes_all
from hybrid_memory.store.transfer import Refusal

AddFinding: TypeAlias = Callable[[Severity, str, str], None]

_SPARE_BYTES = 64 * 2**20  # alongside two copies of the database: room for the log of the new one

# Statements take no parameter for a file or a table. Tables are this program's constants and numbers of embedders.
_ATTACH = Template("ATTACH '$file' AS damaged (READ_ONLY)")
_TABLES_THERE = "SELECT table_name FROM duckdb_tables() WHERE database_name = 'damaged'"
_BOUNDS = Template("SELECT min(rowid), max(rowid), count(*) FROM damaged.$table")
_IDS = "SELECT DISTINCT id FROM damaged.memory WHERE rowid BETWEEN ? AND ?"
_WITH_KEY = frozenset({"namespace", "memory", "usage", "buffer", "request", "embedder", "conversation", "entry"})
_NAME = "SELECT system.main.current_database()"
# The columns are those of the new table, which the damaged one may have in another type, or not at all.
_COPY = Template("""
    INSERT $ignoring INTO $table ($columns) SELECT $values FROM damaged.$table WHERE rowid BETWEEN $$1 AND $$2 $filled
""")
# MATERIALIZED: with the other conditions alongside it DuckDB reads the table instead of the index, and with it the destroyed block.
_COPY_ONE = Template("""
    INSERT OR IGNORE INTO memory ($columns)
    WITH one AS MATERIALIZED (SELECT * FROM damaged.memory WHERE id = $$1) SELECT $values FROM one WHERE true $filled
""")
_COLUMNS = """
    SELECT new.column_name, new.data_type, new.is_nullable
    FROM duckdb_columns() AS new SEMI JOIN (
        SELECT column_name FROM duckdb_columns() WHERE database_name = 'damaged' AND table_name = $2
    ) USING (column_name)
    WHERE new.database_name = $1 AND new.table_name = $2 ORDER BY new.column_index
"""
_EMBEDDERS = "SELECT abs(number), identity, dimensions FROM embedder"
_NO_MARK = "DELETE FROM mark"
_NEW_MARK = "INSERT INTO mark (store, number) VALUES (coalesce(?, uuid()::VARCHAR), ?)"
_ADVANCE = "UPDATE mark SET number = ?"
_CHECKPOINT = "CHECKPOINT"
_VECTOR_TABLE = re.compile(r"(CREATE TABLE )?vector_(\d+)")


def repair(path: Path, now: datetime, settings: ConnectionSettings, refusal: Refusal = takes_all) -> Report:
    """Mend a store that nobody has open; returns what was done, what is lost, and what an examination finds afterwards.

    Raises:
        StoreLocked: somebody has it open.
        StoreFull, StoreReadOnly: there is no room for the copies; nothing was changed.
        SchemaTooNew: a later version of this program wrote it.
    """
    lock = DatabaseLock(path)
    lock.take()
    try:
        return _Repair(path, now, settings, refusal).run()
    finally:
        lock.release()


class _Repair:
    """One repair, under the store's lock."""

    def __init__(self, path: Path, now: datetime, settings: ConnectionSettings, refusal: Refusal) -> None:
        self._path = path
        self._refusal = refusal
        self._now = now
        self._settings = settings
        self._findings: list[Finding] = []
        self._saved_all = True

    def run(self) -> Report:
        report = self._open_and_check()
        if report is not None and report.sound:
            return report
        if self._put_rows_aside():
            report = self._open_and_check()
            if report is not None and not _is_damaged(report):
                return report_of([*self._findings, *report.findings], report.rows)
        elif report is not None and not _is_damaged(report):
            return report  # what is told concerns the disk or the clock, and no row
        folder = self._copy_to_quarantine()
        _Rebuild(self._path, self._now, self._add_finding).run()
        self._saved_all = all(finding.severity is Severity.NOTE for finding in self._findings)
        self._put_rows_aside()
        report = self._open_and_check()
        self._write_report(folder)
        after = report.findings if report is not None else ()
        return report_of([*self._findings, *after], report.rows if report is not None else None)

    def _add_finding(self, severity: Severity, what: str, remedy: str = "") -> None:
        self._findings.append(Finding(severity, what, remedy))

    def _open_and_check(self) -> Report | None:
        """Open and check the store; None when it cannot be opened."""
        try:
            engine = Engine(self._path, None, lambda: open_database(self._path, self._now, self._settings))
        except (StoreDamaged, EngineUnavailable):
            return None
        try:
            return check_store(engine, self._now, mark_seen=False, refusal=self._refusal)
        finally:
            with suppress(StoreError):
                engine.close()

    def _put_rows_aside(self) -> bool:
        """Take out what no reader can use; returns whether there was any. A store that cannot be opened has to wait for that."""
        try:
            opened = open_database(self._path, self._now, self._settings)
        except (StoreDamaged, EngineUnavailable):
            return False
        session = SqlSession(opened.connection)
        try:
            counts, folder, mended = put_aside(session, self._path, self._now, self._refusal)
            # Rows that are lost or mended no longer fit the chain of the audit log; the log tells that it begins again.
            anew = tables.anchor_chains(session, self._now)
            if counts or anew or mended:
                # What was taken out is in no journal, so it must be in the database file before the journal goes.
                empty_log(session)
                with translated():
                    opened.journal.remove()
        except (StoreDamaged, EngineUnavailable):
            return False
        finally:
            session.close()
            with suppress(duckdb.Error):
                opened.connection.close()
        for table, count in counts.items():
            rows = "1 row" if count == 1 else f"{count} rows"
            self._add_finding(Severity.NOTE, f"{rows} of the table {table}: put aside in {QUARANTINE}/{folder}/{ROWS}")
        for what in mended:
            self._add_finding(Severity.NOTE, f"{what}; `repair` in the log says which")
        return bool(counts or anew or mended)

    def _copy_to_quarantine(self) -> Path:
        """Copy all files to quarantine."""
        with translated():
            needed = 2 * size_on_disk(self._path) + _SPARE_BYTES
            if shutil.disk_usage(self._path.parent).free < needed:
                raise StoreFull(
                    f"a repair needs {needed // 2**20} MiB of free space for copies; nothing was changed. Make room and "
                    "try again"
                )
            folder = quarantine.create_folder(self._path, "repair", self._now)
            for file in (self._path, log_file(self._path), journal_file(self._path)):
                if file.exists():
                    copy_private(file, folder / file.name)
            return folder

    def _write_report(self, folder: Path) -> None:
        summary = "; ".join(finding.what for finding in self._findings) or "nothing had to be changed"
        recovery = RecoveryReport(
            at=quarantine.report_time(self._now),
            damaged=f"the store was repaired: {summary}",
            folder=folder.name,
            lost=0 if self._saved_all else None,
        )
        quarantine.write_report(folder, recovery)


class _Rebuild:
    """Fills a new database from the rows of a damaged one."""

    def __init__(self, path: Path, now: datetime, add_finding: AddFinding) -> None:
        self._path = path
        self._new = path.with_name(path.name + ".new")
        self._now = now
        self._add_finding = add_finding
        self._readable = True

    def run(self) -> None:
        """Make the new database and let it take the damaged one's place."""
        with translated():
            self._remove_new()
        self._connect()
        migrate(self._session, self._now)
        if not self._attach():
            # The log may be what cannot be replayed into the damaged file; its writes are in the journal.
            log_file(self._path).unlink(missing_ok=True)
            self._readable = self._attach()
        if not self._readable:
            self._add_finding(Severity.ERROR, "DuckDB cannot open the database file at all", "restore a backup")
        # The migrations made a mark of their own; the store keeps its id and its number, or the journal would be foreign.
        self._session.rows(_NO_MARK)
        damaged_tables = {name for (name,) in self._session.rows(_TABLES_THERE)}
        for table in TABLES if self._readable else ():
            if table in damaged_tables:
                self._copy_table(table)
        vectors = self._copy_vectors()
        self._redo_journal(vectors)
        for table in ("usage", *(f"vector_{number}" for number in vectors)):
            self._session.rows(DELETE_ORPHANS.substitute(table=table))
        # Without a log the new database is one file, which one rename exchanges.
        self._session.rows(_CHECKPOINT)
        self._session.close()
        with translated():
            self._connection.close()
            self._new.chmod(0o600)
            self._new.replace(self._path)
            log_file(self._path).unlink(missing_ok=True)

    def _connect(self) -> None:
        with translated():
            self._connection = duckdb.connect(str(self._new), config=dict(FORMAT))
        self._session = SqlSession(self._connection)

    def _attach(self) -> bool:
        try:
            self._session.rows(self._attach_statement())
        except StoreError:
            self._reopen(attach=False)
            return False
        return True

    def _attach_statement(self) -> str:
        return _ATTACH.substitute(file=str(self._path).replace("'", "''"))

    def _copy_table(self, table: str) -> None:
        """Copy what can be read of a table."""
        try:
            low, high, count = self._session.rows(_BOUNDS.substitute(table=table))[0]
        except StoreError:
            self._reopen()
            self._add_finding(Severity.ERROR, f"nothing of the table {table} can be read", "restore a backup")
            return
        copied = self._copy_span(table, low // SPAN_ROWS, high // SPAN_ROWS) if count else 0
        if copied < count:
            self._add_finding(
                Severity.ERROR, f"{count - copied} of {count} rows of the table {table} are lost", "restore a backup"
            )
        else:
            self._add_finding(Severity.NOTE, f"all {count} rows of the table {table} were saved", "")

    def _copy_span(self, table: str, first: int, last: int) -> int:
        """Copy pieces of a table, halving a span that cannot be read; returns how many rows could be copied."""
        try:
            return self._session.change(
                _COPY.substitute(table=table, **self._columns(table)),
                first * SPAN_ROWS,
                (last + 1) * SPAN_ROWS - 1,
            )
        except StoreError:
            self._reopen()
        if first < last:
            middle = (first + last) // 2
            return self._copy_span(table, first, middle) + self._copy_span(table, middle + 1, last)
        return self._copy_by_id(first) if table == "memory" else 0

    def _copy_by_id(self, piece: int) -> int:
        """Copy memories one by one: what is found by the index is read without its neighbours."""
        try:
            ids = self._session.rows(_IDS, piece * SPAN_ROWS, (piece + 1) * SPAN_ROWS - 1)
        except StoreError:
            self._reopen()
            return 0
        statement = _COPY_ONE.substitute(self._columns("memory"))
        return sum(self._copy_one(statement, id_) for (id_,) in ids)

    def _copy_one(self, statement: str, id_: str) -> int:
        try:
            return self._session.change(statement, id_)
        except StoreError:
            self._reopen()
            return 0

    def _columns(self, table: str) -> dict[str, str]:
        """Return what both tables have as parts of a statement; a value that does not fit its column is left out with its row."""
        columns = self._session.rows(_COLUMNS, self._session.rows(_NAME)[0][0], table)
        values = {f'"{name}"': f'TRY_CAST("{name}" AS {sql})' for name, sql, _ in columns}
        needed = [
            f'AND TRY_CAST("{name}" AS {sql}) IS NOT NULL' for name, sql, is_nullable in columns if not is_nullable
        ]
        ignoring = "OR IGNORE" if table in _WITH_KEY else ""  # of rows with one key, the first
        return {
            "ignoring": ignoring,
            "columns": ", ".join(values),
            "values": ", ".join(values.values()),
            "filled": " ".join(needed),
        }

    def _copy_vectors(self) -> set[int]:
        """Copy the vectors; those that cannot be read are made again when the store is used."""
        numbers = set()
        for embedder in self._session.rows(_EMBEDDERS):
            pinned = PinnedEmbedder(*embedder)
            VectorTable(pinned).create(self._session)
            self._copy_table(f"vector_{pinned.number}")
            numbers.add(pinned.number)
        return numbers

    def _redo_journal(self, vectors: set[int]) -> None:
        """Execute what the journal has and the rows do not; a write that fails is left out."""
        file = journal_file(self._path)
        content = file.read_bytes() if file.exists() else b""
        store, base = read_origin(content) or (None, 0)
        try:
            mark = read_mark(self._session)
        except StoreError:
            self._session.rows(_NO_MARK)  # one that nobody could count on from
            self._session.rows(_NEW_MARK, store, base)
            mark = read_mark(self._session)
        reading = read_journal(content, mark.store)
        if reading is None or reading.is_foreign:
            return
        done = failed = 0
        for number, steps in reading.steps_after(mark.number):
            if self._execute(_usable_statements(steps, vectors)):
                done += 1
            else:
                failed += 1
            # After a write that failed, too: the ones behind it may not depend on it.
            self._session.rows(_ADVANCE, number)
        if done:
            self._add_finding(
                Severity.NOTE, f"{done} {'write was' if done == 1 else 'writes were'} restored from the journal", ""
            )
        if failed:
            self._add_finding(
                Severity.ERROR, f"{failed} writes of the journal could not be done again", "restore a backup"
            )

    def _execute(self, steps: Sequence[ExecutedStatement]) -> bool:
        self._session.begin()
        try:
            for statement, values in steps:
                self._session.rows(statement, *values)
            self._session.commit()
        except StoreFull:
            raise
        except StoreError:
            self._session.rollback()
            return False
        return True

    def _reopen(self, *, attach: bool = True) -> None:
        """Open both databases again: after a block that cannot be read, DuckDB 1.5 gives up or loops forever."""
        self._session.close()
        with suppress(duckdb.Error):
            self._connection.close()
        self._connect()
        if attach:
            self._attach()

    def _remove_new(self) -> None:
        for file in (self._new, log_file(self._new)):
            file.unlink(missing_ok=True)


def _usable_statements(steps: Sequence[ExecutedStatement], vectors: set[int]) -> list[ExecutedStatement]:
    """Leave out what concerns vectors of a table that could not be saved."""
    usable = []
    for statement, values in steps:
        found = _VECTOR_TABLE.search(statement)
        if found and found[1]:
            vectors.add(int(found[2]))
        if not found or int(found[2]) in vectors:
            usable.append((statement, values))
    return usable


def _is_damaged(report: Report) -> bool:
    return any(finding.severity is Severity.ERROR for finding in report.findings)
