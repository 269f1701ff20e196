"""Opens a database; where writes are missing or a file is damaged, restores what log and journal still hold.

`open_database` is called by the engine, at the start and whenever DuckDB gave up, and by a repair. Its steps:

1. read log and journal as they are;
2. let DuckDB open the file; a log that it refuses is copied to quarantine, then cut where DuckDB says that it is damaged, or removed;
3. compare the number of the last write in the database with the journal (`plan_recovery`), since DuckDB shortens some damaged
   logs silently;
4. execute the journal's writes that are missing; where something is damaged, copy log and journal to quarantine first, and store
   a report;
5. bring the schema up to date; 6. go on with the journal, or empty the log and remove the journal.

Order matters. Damaged files are copied to quarantine before anything is changed; what is known of the loss is stored there
before the journal is replaced; so a process that dies meanwhile leaves a store that the next one repairs the same way.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from pathlib import Path

import duckdb

from hybrid_memory.clock import RandomSource, SystemRandomSource
from hybrid_memory.errors import (
    ConcurrentModification,
    ConstraintViolation,
    EngineUnavailable,
    HybridMemoryError,
    NotEnoughMemory,
    OutcomeUnknown,
    StoreDamaged,
)
from hybrid_memory.private_files import FILE_MODE, read_plain_file
from hybrid_memory.store.duck.catalogue import check_tables
from hybrid_memory.store.duck.duckdb_errors import DAMAGED, translated, translated_opening
from hybrid_memory.store.duck.files.database_file import connect, journal_file, log_file
from hybrid_memory.store.duck.recovery import quarantine
from hybrid_memory.store.duck.recovery.journal import (
    ExecutedStatement,
    Journal,
    JournalContents,
    read_journal,
)
from hybrid_memory.store.duck.recovery.quarantine import RecoveryReport
from hybrid_memory.store.duck.schema import MIGRATIONS, done_migrations, migrate
from hybrid_memory.store.duck.sql_session import SqlSession
from hybrid_memory.store.duck.term_key import ensure_term_key
from hybrid_memory.store.duck.writer_cache import Mark, read_mark

_CHECKPOINT = "CHECKPOINT"
_AHEAD_AND_BACK = ("UPDATE mark SET number = number + 1", "UPDATE mark SET number = number - 1")
_MARK_MIGRATION = 3  # the number of the migration that made the table "mark"; older stores have no journal
_DAMAGED_AT = re.compile(r"Corrupt WAL file: entry at byte position (\d+)")
_REDO_BATCH = 200  # writes executed in one transaction: one fsync for all, and little to repeat one by one if one fails


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """What a database is opened with; see `hybrid_memory.store.duck.files.database_file.connect`.

    ``random_source`` gives a store that has no key for its terms one.
    """

    memory_limit: str | None = None
    random_source: RandomSource = field(default_factory=SystemRandomSource)


@dataclass(frozen=True, slots=True)
class OpenedDatabase:
    """An open database with its journal."""

    connection: duckdb.DuckDBPyConnection
    journal: Journal


@dataclass(frozen=True, slots=True)
class RecoveryPlan:
    """What to do: execute ``redo`` writes of the journal, report damage, ``resume`` the journal or begin a new one.

    ``lost`` acknowledged writes will still be missing, None when nobody can tell; ``damaged`` is the words of the report,
    None where there is nothing to report.
    """

    redo: int
    lost: int | None
    damaged: str | None
    resume: bool


def plan_recovery(
    number: int, journal: JournalContents | None, *, log_there: bool, log_refused: bool, journal_there: bool
) -> RecoveryPlan:
    """Compare the database, whose last write is ``number``, with its journal, None where none can be read.

    ``log_there`` says that there was a write-ahead log, ``log_refused`` that DuckDB did not take it as it was, ``journal_there``
    that there is a file. A killed process leaves a journal that is one write ahead of the database, whole or in part; that is no damage.
    """
    if journal is None or journal.is_foreign:
        # The journal is made before the first write into a log. Without it nobody can tell whether DuckDB shortened that silently.
        is_unknown = log_refused or (log_there and number > 0)
        reason = "the journal could not be read, or was another store's" if journal_there else "the journal is missing"
        if log_refused:
            reason = "the write-ahead log was damaged, and there is no journal to make up for it"
        damaged = reason if journal_there or is_unknown else None
        return RecoveryPlan(0, None if is_unknown else 0, damaged, resume=False)
    # A journal that begins after the database's last write has a gap before it: nothing in it can be executed.
    redo = max(journal.last - number, 0) if journal.base <= number else 0
    known = max(journal.committed or 0, journal.highest, journal.base)
    lost: int | None = max(known - number - redo, 0)
    committed = journal.last if journal.committed is None else journal.committed
    # Without the number in the header, which earlier versions did not write, a journal that ends early does not say how far it went.
    is_vague = journal.committed is None and journal.ends_early
    journal_is_behind = number > journal.last
    if lost == 0 and (log_refused if journal_is_behind else is_vague):
        lost = None
    damaged = None
    if log_refused:
        damaged = "the write-ahead log was damaged"
    elif lost != 0 or number < committed:
        damaged = "the database lacked writes that its journal has"
    elif journal.last < committed:
        damaged = "the journal was damaged"
    resume = damaged is None and journal.committed is not None and journal.last == number + redo
    return RecoveryPlan(redo, lost, damaged, resume)


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
    except BaseException as error:
        connection.close()
        if isinstance(error, (NotEnoughMemory, StoreDamaged, EngineUnavailable, OutcomeUnknown)):
            recovery.restore_found_files()
        if isinstance(error, (EngineUnavailable, OutcomeUnknown)) and not isinstance(error, NotEnoughMemory):
            # DuckDB failed while nobody else was there to disturb it, so the file is damaged.
            raise StoreDamaged(DAMAGED) from error
        raise


class _Recovery:
    """One opening: what was found, and where it was kept."""

    def __init__(self, path: Path, now: datetime, settings: ConnectionSettings) -> None:
        self._path = path
        self._now = now
        self._settings = settings
        # Read before DuckDB opens the file: it shortens a torn log without a word.
        self._log = _read_if_there(log_file(path))
        self._journal = _read_if_there(journal_file(path))
        self._kept: Path | None = None
        self._is_changed = False

    def connect(self) -> duckdb.DuckDBPyConnection:
        """Open the file; a log that DuckDB refuses is cut before the damage, or removed."""
        try:
            with translated_opening():
                return connect(self._path, self._settings.memory_limit)
        except StoreDamaged as error:
            said = str(error.__context__)
            if not self._log or not is_about_log(error.__context__):
                raise
        self._keep_files("log")
        try:
            # What comes before the damage first, since the journal may lack it: a power cut leaves zeros behind what was synced.
            length = length_before_damage(said, self._log)
            for content in (None,) if length is None else (self._log[:length], None):
                self._rewrite_log(content)
                with suppress(StoreDamaged), translated_opening():
                    return connect(self._path, self._settings.memory_limit)
            raise StoreDamaged(DAMAGED)
        except HybridMemoryError:
            self.restore_found_files()
            raise

    def finish(self, connection: duckdb.DuckDBPyConnection) -> OpenedDatabase:
        """Bring the database to its last acknowledged write and to the newest schema."""
        session = SqlSession(connection)
        try:
            # Compare database and journal (step 3 of the module), restore what is missing and report it (step 4).
            done = done_migrations(session)
            mark = read_mark(session) if len(done) >= _MARK_MIGRATION else None
            was_damaged, resumable = self._recover(session, mark)
            # Step 5. The mark is read again, because the first opening of a store makes it.
            if mark is not None and self._journal is None and len(done) < len(MIGRATIONS):
                with translated():
                    begun = Journal(journal_file(self._path), mark.store)
                    begun.begin(mark.number)
                    begun.release()
            migrate(session, self._now)
            has_new_key = ensure_term_key(session, self._settings.random_source)
            check_tables(session)
            mark = read_mark(session)
            journal = Journal(journal_file(self._path), mark.store)
            is_migrated = has_new_key or len(done) < len(MIGRATIONS)
            # Step 6.
            if was_damaged or is_migrated:
                # What was executed again may be in no journal, so it must be in the database file before the journal goes.
                self._is_changed = True
                empty_log(session)
                with translated():
                    journal.remove()
            elif resumable is not None:
                # The usual way after a kill: the next write is appended.
                with translated():
                    journal.resume(resumable)
            elif not self._log:
                # The database file holds everything.
                with translated():
                    journal.remove()
            # Else the log has more than the journal, as a power cut leaves it; the engine empties it after the next write.
            return OpenedDatabase(connection, journal)
        finally:
            session.close()

    def restore_found_files(self) -> None:
        """Leave everything as it was found, since the database file is damaged itself and is for `doctor` to repair."""
        if self._kept is not None and not self._is_changed:
            self._rewrite_log(self._log)
            shutil.rmtree(self._kept, ignore_errors=True)

    def _recover(self, session: SqlSession, mark: Mark | None) -> tuple[bool, JournalContents | None]:
        """Execute the journal's missing writes and report damage; returns whether there was any, and the journal if it can be resumed."""
        # A store from before the journal has no mark, nor one whose making was interrupted: then nothing was acknowledged.
        number, content = (0, None) if mark is None else (mark.number, self._journal)
        journal = read_journal(content, mark.store) if mark is not None and content is not None else None
        plan = plan_recovery(
            number,
            journal,
            log_there=bool(self._log),
            log_refused=self._kept is not None,
            journal_there=content is not None,
        )
        kept = self._keep_files("writes") if plan.damaged is not None else None
        restored = _redo(session, journal, number) if journal is not None and plan.redo else 0
        lost = None if plan.lost is None else plan.lost + plan.redo - restored
        if kept is not None:
            quarantine.write_report(kept, self._report(plan.damaged or "", restored, lost))
        if journal is not None and journal.committed is not None and number <= journal.last and lost == 0:
            # Earlier recoveries of this journal that were killed reported that writes may be missing.
            quarantine.close_interrupted(self._path, journal_file(self._path).name, content or b"")
        return kept is not None, journal if plan.resume and restored == plan.redo else None

    def _keep_files(self, what: str) -> Path:
        """Copy what was found to quarantine, once, with a report that holds if this process ends before all is mended."""
        if self._kept is None:
            files = {log_file(self._path).name: self._log, journal_file(self._path).name: self._journal}
            found = {name: content for name, content in files.items() if content is not None}
            begun = replace(self._report("a damaged store began to be mended", 0, None), unfinished=True)
            self._kept = quarantine.store_copies(self._path, found, what, self._now, begun)
        return self._kept

    def _report(self, damaged: str, restored: int, lost: int | None) -> RecoveryReport:
        folder = self._kept.name if self._kept is not None else ""
        at = quarantine.report_time(self._now)
        return RecoveryReport(at=at, damaged=damaged, folder=folder, restored=restored, lost=lost)

    def _rewrite_log(self, content: bytes | None) -> None:
        """Give the log another content, or remove it.

        In place: the content is a beginning of what is there, or what a copy in quarantine holds, so a crash in between
        leaves a log that the next opening mends.
        """
        with translated():
            file = log_file(self._path)
            if content is None:
                file.unlink(missing_ok=True)
                return
            handle = os.open(file, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), FILE_MODE)
            with os.fdopen(handle, "r+b") as log:
                log.write(content)
                log.truncate()
                log.flush()
                os.fsync(handle)


def _redo(session: SqlSession, contents: JournalContents, number: int) -> int:
    """Execute the journal's writes behind ``number`` in order; returns how many could be.

    Raises:
        StoreError: they cannot be written now, or the database file is damaged too; they stay in the journal.
    """
    done = 0
    writes = (steps for _, steps in contents.steps_after(number))
    while batch := list(islice(writes, _REDO_BATCH)):
        executed = _redo_batch(session, batch)
        done += executed
        if executed < len(batch):
            break
    return done


def _redo_batch(session: SqlSession, writes: Sequence[Sequence[ExecutedStatement]]) -> int:
    """Execute writes in one transaction, or one by one until the first that fails; returns how many were."""
    try:
        _execute(session, writes)
    except (ConstraintViolation, ConcurrentModification):
        if len(writes) == 1:
            return 0
    else:
        return len(writes)
    for number, write in enumerate(writes):
        if not _redo_batch(session, [write]):
            return number
    return len(writes)


def _execute(session: SqlSession, writes: Sequence[Sequence[ExecutedStatement]]) -> None:
    session.begin()
    try:
        for steps in writes:
            for statement, values in steps:
                session.rows(statement, *values)
        session.commit()
    except BaseException:
        session.rollback()
        raise


def empty_log(session: SqlSession) -> None:
    """Move everything into the database file and remove the log, a torn one too.

    DuckDB leaves a log without a whole commit where it is until it writes into it, and an update to the same value it
    does not write; so a number goes up and down.
    """
    _execute(session, [[(statement, ()) for statement in _AHEAD_AND_BACK]])
    session.rows(_CHECKPOINT)


def _read_if_there(file: Path) -> bytes | None:
    with translated():
        try:
            return read_plain_file(file)
        except FileNotFoundError:
            return None


def length_before_damage(message: str, log: bytes) -> int | None:
    """Return how many bytes of a log to keep that DuckDB refused with ``message``; None where it does not say.

    DuckDB shortens a log that ends within an entry to its last commit, but refuses zeros there. No commit ends with a zero.
    """
    # The message holds the path first, which may say anything.
    found = _DAMAGED_AT.findall(message)
    return len(log[: int(found[-1])].rstrip(b"\0")) if found else None


def is_about_log(error: BaseException | None) -> bool:
    """Return True if DuckDB may have failed for its log; cutting that is tried, and undone where it does not help."""
    return isinstance(error, (duckdb.InternalException, duckdb.FatalException)) or "WAL" in str(error)
