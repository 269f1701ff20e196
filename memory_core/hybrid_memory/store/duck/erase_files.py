"""Erases for good in the database file of a store and in its copies: `FileEraser`.

Deleting a row leaves its bytes in the file, so each database is copied without them into a new file that takes its place: first the
backups and what lies in quarantine, the store itself last. An erasure that is killed is therefore not done, and is done again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, assert_never

from hybrid_memory.errors import StoreDamaged
from hybrid_memory.private_files import fsync_file, fsync_folder
from hybrid_memory.store.duck import tables
from hybrid_memory.store.duck.duckdb_errors import translated
from hybrid_memory.store.duck.files.database_copy import (
    copy_database,
    copy_with_log,
    open_session,
    remove_database,
    verify,
)
from hybrid_memory.store.duck.files.database_file import is_database, log_file, temp_folder
from hybrid_memory.store.duck.files.swap import hold_store, next_file, swap, work_file
from hybrid_memory.store.duck.own import DUCK, VECTOR_TABLES, append_to_closed_log
from hybrid_memory.store.duck.schema import migrate
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.store.erasing import CatchUpJob, ErasureJob, OnStep, Purged, PurgeJob, RedactionJob, RemainingState
from hybrid_memory.store.home_files import LOGS, SPOOLS, OtherCopies, find_copies, plain_files, unfinished_copies
from hybrid_memory.store.redaction_rules import redaction_log
from hybrid_memory.store.sql.purging import delete_memories, delete_namespace, plan_purge, selected_ids
from hybrid_memory.store.sql.readings import forget_readings_of
from hybrid_memory.store.sql.redacting import exchange_words, redact_words
from hybrid_memory.store.sql.rows import existing_ids
from hybrid_memory.store.transfer import PurgeSelection, RedactionPlan

if TYPE_CHECKING:
    from hybrid_memory.model import MemoryId
    from hybrid_memory.store.administration import WholeStore
    from hybrid_memory.store.duck.sql_session import SqlSession


# Of a namespace that is erased as a whole: what only a database file has.
_DELETE_NAMESPACE = (
    "DELETE FROM log_head WHERE namespace = ?",
    "UPDATE mark SET namespace = NULL, position = NULL, link = NULL WHERE namespace = ?",
)
_DELETE_VECTORS = Template("DELETE FROM $table WHERE namespace = ?")
_NEXT_STEP = "SELECT max(number) + 1 FROM mark"


class FileEraser:
    """Erases in the store of a database file, which nobody may have open, and in its copies alongside it; see `store.erasing.Eraser`."""

    needs_closed_store = True

    def __init__(self, path: Path) -> None:
        self._path = path

    def erase(
        self,
        make_job: Callable[[WholeStore], ErasureJob],
        now: datetime,
        *,
        actor: str,
        remaining_state: RemainingState,
        on_step: OnStep = lambda _: None,
        copies_too: bool = True,
    ) -> Purged:
        """Rewrite the store and its copies without what the job takes out. Killed at any moment, the store is the old or the new one."""
        path = self._path
        # Opened as a store first, so that what a killed process left to its journal is in the database file.
        store = DuckStore.open(path, _FixedClock(now))
        try:
            job = make_job(store)
        finally:
            store.close()
        with hold_store(path):
            work = _FileErasure(path, job, now, actor, remaining_state)
            try:
                rewritten, removed = work.rewrite_copies(on_step) if copies_too else work.remove_leavings()
                on_step("copies")
                erased = work.make_next(path)
                on_step("erased")
            except BaseException:
                remove_database(next_file(path), work_file(path))
                raise
            swap(path, None, on_step)
        return Purged(memories=erased, rewritten=rewritten, removed=removed)


def erase_in_copies(
    home: Path,
    job: ErasureJob,
    now: datetime,
    *,
    actor: str,
    remaining_state: RemainingState,
    on_step: OnStep,
    copies_too: bool,
) -> tuple[int, int]:
    """Erase in the backups and what else lies in a folder, for a store that lies elsewhere; returns how many were rewritten and removed."""
    path = home / "erasing.duckdb"  # names the files that are made meanwhile
    work = _FileErasure(path, job, now, actor, remaining_state)
    try:
        return work.rewrite_copies(on_step) if copies_too else work.remove_leavings()
    finally:
        remove_database(next_file(path), work_file(path))
        with suppress(OSError):
            temp_folder(path).rmdir()


@dataclass(frozen=True, slots=True)
class _FixedClock:
    """A clock that is at the moment that was given."""

    moment: datetime

    def now(self) -> datetime:
        return self.moment


@dataclass(frozen=True, slots=True)
class _FileErasure:
    """Erases the same from several database files; works alongside the store's own, where an interrupted one is tidied up."""

    path: Path
    job: ErasureJob
    now: datetime
    actor: str
    remaining_state: RemainingState

    def make_next(self, source: Path) -> int:
        """Make the next file of a database without what is erased; returns how many memories went or changed."""
        work, new = work_file(self.path), next_file(self.path)
        remove_database(work, new)
        copy_with_log(source, work)
        # Read whole first: what cannot be read would be left out below, and so be lost without a word.
        verify(work)
        with open_session(work, folder=self.path.parent) as session:
            migrate(session, self.now)
            erased = self._erase_rows(session)
            # Deleted rows leave their bytes in this file; the copy is written from the rows that are left.
            written = copy_database(session, new)
        remove_database(work)
        with translated():
            fsync_file(new)
        if verify(new) != written:
            raise StoreDamaged(
                "the new file does not hold what was written; the disk may be failing, nothing was purged"
            )
        return erased

    def rewrite_copies(self, on_step: OnStep) -> tuple[int, int]:
        """Exchange all copies for others without what is erased; returns how many were exchanged, and how many are no longer there."""
        copies = find_copies(self.path.parent)
        files = [*copies.backups, *(file for file in copies.set_aside if is_database(file))]
        rewritten = sum([self._rewrite(file, on_step) for file in files])
        return rewritten, self._remove_other_files(copies)

    def remove_leavings(self) -> tuple[int, int]:
        """Remove what logs and killed imports say, and leave the copies."""
        return 0, self._remove_other_files(OtherCopies((), ()))

    def _erase_rows(self, session: SqlSession) -> int:
        """Erase what the job says, in one transaction; returns how many memories went or changed."""
        session.begin()
        try:
            count = self._erase(session)
            session.commit()
        except BaseException:
            session.rollback()
            raise
        return count

    def _erase(self, session: SqlSession) -> int:
        job = self.job
        match job:
            case PurgeJob():
                # Another copy may hold more that belongs to the selection, such as versions that are gone from the store.
                return self._purge(session, job.selection, job.ids | plan_purge(session, job.selection).ids)
            case RedactionJob():
                return self._redact(session, job.namespace, job.plan)
            case CatchUpJob():
                count = sum(
                    self._purge(session, PurgeSelection(namespace=namespace, ids=gone), gone)
                    for namespace, gone in job.gone.items()
                    if gone
                )
                names = sorted({memory.namespace for memory in job.redacted})
                return count + sum(exchange_words(session, DUCK, name, job.redacted) for name in names)
            case _:
                assert_never(job)

    def _purge(self, session: SqlSession, selection: PurgeSelection, ids: Collection[MemoryId]) -> int:
        """Delete what was chosen, and every reference to it; of a namespace that is erased as a whole nothing stays."""
        namespace, step = selection.namespace, session.rows(_NEXT_STEP)[0][0]
        # A question says what its answer was about: what was asked goes with what was shown, wherever it was asked.
        forget_readings_of(session, {*ids, *selected_ids(session, selection)})
        if selection.everything:
            count = delete_namespace(session, namespace, self.now, step)
            for statement in _DELETE_NAMESPACE:
                session.change(statement, namespace)
            for (table,) in session.rows(VECTOR_TABLES):
                session.change(_DELETE_VECTORS.substitute(table=table), namespace)
            return count
        existing = frozenset(existing_ids(session, namespace, ids))
        log = delete_memories(
            session,
            DUCK,
            selection,
            existing,
            position=tables.read_head(session, namespace).position,
            at=self.now,
            actor=self.actor,
            remaining_state=self.remaining_state,
            written=step,
        )
        append_to_closed_log(session, namespace, log)
        return len(existing)

    def _redact(self, session: SqlSession, namespace: str, plan: RedactionPlan) -> int:
        changed = redact_words(session, DUCK, namespace, plan)
        head = tables.read_head(session, namespace).position
        append_to_closed_log(session, namespace, redaction_log(changed, head, self.now, self.actor))
        return len(changed)

    def _rewrite(self, file: Path, on_step: OnStep) -> int:
        """Exchange a copy for one without what is erased, or remove it where it is damaged; returns how many were exchanged."""
        try:
            self.make_next(file)
        except StoreDamaged:
            remove_database(next_file(self.path), work_file(self.path), file)
            return 0
        with translated():
            next_file(self.path).replace(file)
            log_file(file).unlink(missing_ok=True)
            fsync_folder(file.parent)
        on_step("copy")
        return 1

    def _remove_other_files(self, copies: OtherCopies) -> int:
        """Remove what is no database from quarantine, and what logs say; returns how many copies are no longer there."""
        home = self.path.parent
        with translated():
            for file in copies.set_aside:
                if file.exists() and not is_database(file):
                    file.unlink()
            # Of an import, a backup or a move that was killed.
            for file in (*plain_files(home / SPOOLS), *unfinished_copies(home)):
                file.unlink(missing_ok=True)
            for file in plain_files(home / LOGS):
                with file.open("r+b") as stream:
                    stream.truncate(0)
        return sum(not file.exists() for file in (*copies.backups, *copies.set_aside))
