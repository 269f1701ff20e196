"""Erases for good in the database file of a store and in its copies: `FileEraser`.

Deleting a row leaves its bytes in the file, so each database is copied without them into a new file that takes its place: first the
backups and what lies in quarantine, the store itself last. An erasure that is killed is therefore not done, and is done again.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from hybrid_memory.errors import StoreDamaged
from hybrid_memory.private_files import fsync_file, fsync_folder
from hybrid_memory.store.duck.duckdb_errors import translated
from hybrid_memory.store.duck.files.database_copy import copy_database, open_session, remove_database, verify
from hybrid_memory.store.duck.files.database_file import is_database, log_file, temp_folder
from hybrid_memory.store.duck.files.held_file import copy_with_log, hold_store
from hybrid_memory.store.duck.files.swap import next_file, swap, work_file
from hybrid_memory.store.duck.purge_rows import plan_purge, purge_rows
from hybrid_memory.store.duck.redact_rows import exchange_words, redact_rows
from hybrid_memory.store.duck.schema import migrate
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.store.erasing import CatchUpJob, ErasureJob, OnStep, Purged, PurgeJob, RedactionJob, RemainingState
from hybrid_memory.store.home_files import LOGS, SPOOLS, OtherCopies, find_copies, plain_files, unfinished_copies
from hybrid_memory.store.transfer import PurgeSelection

if TYPE_CHECKING:
    from hybrid_memory.store.duck.sql_session import SqlSession
    from hybrid_memory.store.whole import WholeStore


class FileEraser:
    """Erases in the store of a database file, which nobody may have open, and in its copies beside it; see `store.erasing.Eraser`."""

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
        """Write the store and its copies anew without what the job takes out. Killed at any moment, the store is the old or the new one."""
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
    """A clock that stands at the moment that was given."""

    moment: datetime

    def now(self) -> datetime:
        return self.moment


@dataclass(frozen=True, slots=True)
class _FileErasure:
    """Erases the same from several database files; works beside the store's own, where an interrupted one is tidied up."""

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
        job, at, actor = self.job, self.now, self.actor
        match job:
            case PurgeJob():
                # Another copy may hold more that belongs to the selection, such as versions that are gone from the store.
                ids = job.ids | plan_purge(session, job.selection).ids
                return purge_rows(session, job.selection, ids, at=at, actor=actor, remaining_state=self.remaining_state)
            case RedactionJob():
                return redact_rows(session, job.namespace, job.plan, at=at, actor=actor)
            case CatchUpJob():
                count = 0
                for namespace, gone in job.gone.items():
                    if gone:
                        named = PurgeSelection(namespace=namespace, ids=gone)
                        count += purge_rows(
                            session, named, gone, at=at, actor=actor, remaining_state=self.remaining_state
                        )
                return count + exchange_words(session, job.redacted)
            case _:
                assert_never(job)

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
