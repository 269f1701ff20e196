"""How a database is opened: as it is, or mended from what its write-ahead log and its journal still hold.

Order matters. Damaged files are copied to quarantine before anything is changed; what is known of the loss is stored there
before the journal is replaced; so a process that dies meanwhile leaves a store that the next one mends the same way.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from hybrid_memory.errors import (
    ConcurrentModification,
    ConstraintViolation,
    EngineUnavailable,
    HybridMemoryError,
    OutcomeUnknown,
    StoreDamaged,
)
from hybrid_memory.store.duck.duckdb_errors import DAMAGED, translated
from hybrid_memory.store.duck.files.database_file import connect, connect_untranslated, journal_file, log_file
from hybrid_memory.store.duck.recovery import quarantine
from hybrid_memory.store.duck.recovery.journal import (
    ExecutedStatement,
    Journal,
    JournalContents,
    JournalEnd,
    read_journal,
)
from hybrid_memory.store.duck.recovery.quarantine import RecoveryReport
from hybrid_memory.store.duck.recovery.wal import length_before_damage, scan_wal
from hybrid_memory.store.duck.schema import MIGRATIONS, done_migrations, migrate
from hybrid_memory.store.duck.sql_session import SqlSession
from hybrid_memory.store.duck.writer_cache import Mark, read_mark

_CHECKPOINT = "CHECKPOINT"
_AHEAD_AND_BACK = ("UPDATE mark SET number = number + 1", "UPDATE mark SET number = number - 1")
_ANY_ENTRY = "SELECT count(*) FROM (SELECT 1 FROM log UNION ALL SELECT 1 FROM entry LIMIT 1)"
_MARKED = 3
_REDO_BATCH = 200
_OF_THE_LOG = (
    "replaying WAL",
    "Corrupt WAL file",
    "Failed to read WAL",
    "WAL does not match",
    "Invalid WAL entry type",
)


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """What DuckDB is opened with; see `hybrid_memory.store.duck.files.database_file.connect`."""

    memory_limit: str | None = None
    threads: int = 1


@dataclass(frozen=True, slots=True)
class OpenedDatabase:
    """An open database with its journal, and what happened on the way if that must be told."""

    connection: duckdb.DuckDBPyConnection
    journal: Journal
    recovery: RecoveryReport | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundState:
    """What was there before and after DuckDB opened the file.

    ``number`` is that of the last write in the database. ``log_whole`` says that the write-ahead log ended with a commit,
    ``log_cut`` that it was mended; ``journal`` is None where none can be read, ``journal_there`` tells a file is there.
    """

    number: int
    log_whole: bool
    log_cut: bool
    journal: JournalContents | None
    journal_there: bool


@dataclass(frozen=True, slots=True)
class RecoveryPlan:
    """What to do: execute the journal's writes behind the database's last one, tell of damage, go on with the journal.

    ``lost`` acknowledged writes will still be missing, None when nobody can tell; ``damaged`` is None where there
    is nothing to tell.
    """

    redo: int
    lost: int | None
    damaged: str | None
    resume: bool


def plan_recovery(found: FoundState) -> RecoveryPlan:
    """Compare the database with its journal.

    A killed process leaves the log or the journal in the middle of its last entry, never both, and a database that is
    at most one write ahead of its journal; these are no damage.
    """
    journal = found.journal
    if journal is None or journal.is_foreign:
        return _without_journal(found)
    redo = max(journal.last - found.number, 0) if journal.base <= found.number else 0
    lost: int | None = max(journal.highest, journal.base, found.number) - (found.number + redo)
    gap = not journal.is_complete or found.number > journal.last + 1
    cut_at_both = journal.end is not JournalEnd.WHOLE and found.number <= journal.last
    if lost == 0 and ((not found.log_whole and (gap or journal.end is not JournalEnd.WHOLE)) or cut_at_both):
        lost = None
    resume = (
        journal.is_complete and journal.end is JournalEnd.WHOLE and journal.last == found.number and not found.log_cut
    )
    damaged = _damage(found, journal, telling=bool(redo or lost != 0))
    return RecoveryPlan(redo, lost, damaged, resume)


def _without_journal(found: FoundState) -> RecoveryPlan:
    lost = 0 if found.log_whole else None
    if not found.log_whole:
        return RecoveryPlan(
            0, lost, "the write-ahead log was damaged, and there is no journal to make up for it", resume=False
        )
    damaged = "the journal could not be read, or was another store's" if found.journal_there else None
    return RecoveryPlan(0, lost, damaged, resume=False)


def _damage(found: FoundState, journal: JournalContents, *, telling: bool) -> str | None:
    if found.log_cut:
        return "the write-ahead log was damaged"
    if not found.log_whole and telling:
        return "the write-ahead log was damaged or cut short"
    if journal.end is JournalEnd.DAMAGED:
        return "the journal was damaged"
    return "the database lacked writes that its journal has" if telling else None


def open_database(path: Path, now: datetime, settings: ConnectionSettings) -> OpenedDatabase:
    """Open or make the database; the caller holds the store's lock.

    Raises:
        StoreDamaged: the database file itself cannot be opened; nothing was changed.
        StoreFull, StoreReadOnly: there is no room, or no right, for what must be written first.
        StoreLocked, SchemaTooNew: as they say.
    """
    recovery = _Recovery(path, now, settings)
    connection = recovery.connect()
    try:
        return recovery.finish(connection)
    except (EngineUnavailable, OutcomeUnknown) as error:
        # DuckDB failed while nobody else was there to disturb it.
        connection.close()
        recovery.undo()
        raise StoreDamaged(DAMAGED) from error
    except StoreDamaged:
        connection.close()
        recovery.undo()
        raise
    except BaseException:
        connection.close()
        raise


class _Recovery:
    """One opening: what was found, and where it was kept."""

    def __init__(self, path: Path, now: datetime, settings: ConnectionSettings) -> None:
        self._path = path
        self._now = now
        self._settings = settings
        self._log = _content(log_file(path))
        self._journal = _content(journal_file(path))
        self._whole = scan_wal(self._log or b"").whole
        self._kept: Path | None = None
        self._changing = False

    def connect(self) -> duckdb.DuckDBPyConnection:
        """Open the file; a log that DuckDB refuses is cut before the damage, or put away whole."""
        try:
            return connect_untranslated(self._path, self._settings.memory_limit, self._settings.threads)
        except (duckdb.Error, RuntimeError, OSError) as error:
            if not self._log or not _about_the_log(error):
                return connect(self._path, self._settings.memory_limit, self._settings.threads)
            refusal = str(error)
        except HybridMemoryError:
            raise
        self._keep("log")
        length = length_before_damage(refusal, self._log)
        if length is not None:
            self._rewrite_log(self._log[:length])
            try:
                return connect_untranslated(self._path, self._settings.memory_limit, self._settings.threads)
            except (duckdb.Error, RuntimeError):
                pass
        self._rewrite_log(None)
        try:
            return connect(self._path, self._settings.memory_limit, self._settings.threads)
        except HybridMemoryError:
            self.undo()
            raise

    def finish(self, connection: duckdb.DuckDBPyConnection) -> OpenedDatabase:
        """Bring the database to its last acknowledged write and to the newest schema."""
        session = SqlSession(connection)
        try:
            done = done_migrations(session)
            mark = read_mark(session) if len(done) >= _MARKED else None
            todo, reading = self._plan(session, mark, known=bool(done))
            recovery = self._recover(session, mark, reading, todo)
            self._settle(mark, reading, recovery.lost if recovery is not None else todo.lost)
            migrate(session, self._now)
            mark = read_mark(session)
            journal = Journal(journal_file(self._path), mark.store)
            if todo.resume and reading is not None and len(done) == len(MIGRATIONS):
                with translated():
                    journal.resume(reading)
            elif recovery is not None or len(done) < len(MIGRATIONS):
                self._changing = True
                _write_out(session)
                with translated():
                    journal.remove()
            elif self._log:
                # Killed between a commit and its record. A checkpoint now could fail for want of room.
                journal.mark_incomplete()
            else:
                with translated():
                    journal.remove()
            return OpenedDatabase(connection, journal, recovery)
        finally:
            session.close()

    def undo(self) -> None:
        """Leave everything as it was found, since the database file is damaged itself and is for `doctor` to repair."""
        if self._kept is not None and not self._changing:
            self._rewrite_log(self._log)
            shutil.rmtree(self._kept, ignore_errors=True)

    def _plan(
        self, session: SqlSession, mark: Mark | None, *, known: bool
    ) -> tuple[RecoveryPlan, JournalContents | None]:
        cut = self._kept is not None
        if mark is None:
            # A store from before the journal, or one whose making was interrupted: then nothing was acknowledged.
            told = cut or (not self._whole and known and bool(session.rows(_ANY_ENTRY)[0][0]))
            return RecoveryPlan(0, None, "the write-ahead log was damaged" if told else None, resume=False), None
        reading = read_journal(self._journal, mark.store) if self._journal is not None else None
        found = FoundState(
            number=mark.number,
            log_whole=self._whole and not cut,
            log_cut=cut,
            journal=reading,
            journal_there=self._journal is not None,
        )
        return plan_recovery(found), reading

    def _recover(
        self, session: SqlSession, mark: Mark | None, reading: JournalContents | None, todo: RecoveryPlan
    ) -> RecoveryReport | None:
        if todo.damaged is None:
            return None
        folder = self._keep("writes")
        lost, restored = todo.lost, 0
        if mark is not None and reading is not None and todo.redo:
            restored = _redo(session, reading, mark.number)
            lost = None if lost is None else lost + todo.redo - restored
        told = self._told(todo.damaged, restored, lost)
        quarantine.write_report(folder, told)
        return told

    def _settle(self, mark: Mark | None, reading: JournalContents | None, lost: int | None) -> None:
        """Let a recovery that was killed no longer be told as a possible loss, where its journal shows that there was none."""
        if mark is None or reading is None or reading.is_foreign or self._journal is None:
            return
        complete = reading.is_complete and reading.end is JournalEnd.WHOLE and mark.number <= reading.last + 1
        if complete and lost == 0:
            quarantine.close_interrupted(self._path, journal_file(self._path).name, self._journal)

    def _keep(self, what: str) -> Path:
        """Keep what was found, once, with a report that holds if this process ends before the damage is mended."""
        if self._kept is None:
            files = {log_file(self._path).name: self._log, journal_file(self._path).name: self._journal}
            found = {name: content for name, content in files.items() if content is not None}
            begun = replace(self._told("a damaged store began to be mended", 0, None), unfinished=True)
            self._kept = quarantine.store_copies(self._path, found, what, self._now, begun)
        return self._kept

    def _told(self, damaged: str, restored: int, lost: int | None) -> RecoveryReport:
        at = f"{self._now.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
        folder = self._kept.name if self._kept is not None else ""
        return RecoveryReport(at=at, damaged=damaged, folder=folder, restored=restored, lost=lost)

    def _rewrite_log(self, content: bytes | None) -> None:
        with translated():
            file = log_file(self._path)
            if content is None:
                file.unlink(missing_ok=True)
                return
            handle = os.open(file, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
            with os.fdopen(handle, "r+b") as log:
                log.write(content)
                log.truncate()
                log.flush()
                os.fsync(handle)


def _redo(session: SqlSession, reading: JournalContents, number: int) -> int:
    """Execute the journal's writes behind ``number`` in order; returns how many could be.

    Raises:
        StoreError: they cannot be written now, or the database file is damaged too; they stay in the journal.
    """
    done = 0
    pending: list[Sequence[ExecutedStatement]] = []
    for _, steps in reading.steps_after(number):
        pending.append(steps)
        if len(pending) == _REDO_BATCH:
            executed = _execute(session, pending)
            done += executed
            if executed < len(pending):
                return done
            pending = []
    return done + _execute(session, pending)


def _write_out(session: SqlSession) -> None:
    """Move everything into the database file and remove the log, a torn one too.

    DuckDB leaves a log without a whole commit where it is until it writes into it, and an update to the same value it does not write.
    """
    _execute_all(session, [[(statement, ()) for statement in _AHEAD_AND_BACK]])
    session.rows(_CHECKPOINT)


def _execute(session: SqlSession, writes: Sequence[Sequence[ExecutedStatement]]) -> int:
    """Execute writes in one transaction, or one by one until the first that fails; returns how many were."""
    try:
        _execute_all(session, writes)
    except (ConstraintViolation, ConcurrentModification):
        if len(writes) == 1:
            return 0
    else:
        return len(writes)
    for at, one in enumerate(writes):
        if not _execute(session, [one]):
            return at
    return len(writes)


def _execute_all(session: SqlSession, writes: Sequence[Sequence[ExecutedStatement]]) -> None:
    session.begin()
    try:
        for steps in writes:
            for statement, values in steps:
                session.rows(statement, *values)
        session.commit()
    except BaseException:
        session.rollback()
        raise


def _content(file: Path) -> bytes | None:
    with translated():
        try:
            return file.read_bytes()
        except FileNotFoundError:
            return None


def _about_the_log(error: Exception) -> bool:
    text = str(error)
    return isinstance(error, (duckdb.InternalException, duckdb.FatalException)) or any(
        mark in text for mark in _OF_THE_LOG
    )
