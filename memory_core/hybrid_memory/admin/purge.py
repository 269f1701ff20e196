"""Purge: erase memories and what was made from them, from every file of the store's folder.

Called by the operation ``purge`` of the command line, `purge` last: `check_selection`, a preview, `check_plan`, then `purge`.

Deleting a row leaves its bytes in the file, so each database is copied without them into a new file that takes its place:
first the backups and what lies in quarantine, the store itself last. A purge that is killed is therefore not done, and
is done again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from hybrid_memory.admin.backup import OnStep, copy_with_log, hold_store, list_backups
from hybrid_memory.admin.user_files import file_errors
from hybrid_memory.errors import ConfirmationNeeded, InvalidInput, NotFound, StoreDamaged
from hybrid_memory.private_files import fsync_file, fsync_folder
from hybrid_memory.settings import DATABASE
from hybrid_memory.store.duck.files.database_copy import copy_database, open_session, remove_database, verify
from hybrid_memory.store.duck.files.database_file import is_database, log_file
from hybrid_memory.store.duck.files.swap import next_file, swap, work_file
from hybrid_memory.store.duck.purge_rows import plan_purge, purge_rows
from hybrid_memory.store.duck.recovery.quarantine import QUARANTINE, REPORT
from hybrid_memory.store.duck.schema import migrate
from hybrid_memory.store.duck.store import DuckStore
from hybrid_memory.tiers.buffers import BufferEntry, Buffers, Item, decode_buffers, encode_buffers
from hybrid_memory.validation import check_name

if TYPE_CHECKING:
    from hybrid_memory.model import MemoryId
    from hybrid_memory.store.duck.sql_session import SqlSession
    from hybrid_memory.store.transfer import PurgePlan, PurgeSelection

Plan = TypeVar("Plan")
"""What is to be taken out of a store and its copies."""

SPOOLS = "imports"
"""The folder in a store's folder where an import has what it is about to store."""
_LOGS = "logs"  # the folder of the hub's logs, as in the server's relay/paths.py


@dataclass(frozen=True, slots=True)
class OtherCopies:
    """The other files in the store's folder that may hold what is to be purged."""

    backups: tuple[Path, ...]
    set_aside: tuple[Path, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Purged:
    """What a purge did: memories that went, copies that were rewritten, and files that were removed because they could not be."""

    memories: int
    rewritten: int
    removed: int


def check_selection(selection: PurgeSelection) -> None:
    """Check that a selection is one of ids, session, forgotten or everything.

    Raises:
        InvalidInput: it is none or several.
    """
    check_name("namespace", selection.namespace)
    if selection.session is not None:
        check_name("session", selection.session)
    ways = [bool(selection.ids), selection.session is not None, selection.forgotten, selection.everything]
    if sum(ways) != 1:
        raise InvalidInput("ids", "name ids, a session, all that is forgotten or everything, and only one of these")


def check_plan(plan: PurgePlan, count: int | None) -> None:
    """Check that there is something to purge, and as much as was confirmed.

    Raises:
        NotFound: an id is not there, or nothing is.
        ConfirmationNeeded: it is not ``count`` memories.
    """
    if plan.missing:
        raise NotFound(f"ids: {', '.join(plan.missing)}: not in this namespace; nothing was purged")
    if plan.is_empty:
        raise NotFound("there is nothing of that in this namespace; nothing was purged")
    if count is not None and count != len(plan.ids):
        raise ConfirmationNeeded(len(plan.ids))


def find_copies(home: Path) -> OtherCopies:
    """Return the other files of a store's folder that may hold memories."""
    folder = home / QUARANTINE
    found = _plain_files(folder) if folder.is_dir() and not folder.is_symlink() else ()
    return OtherCopies(tuple(list_backups(home)), tuple(sorted(file for file in found if file.name != REPORT)))


def purge(
    home: Path,
    selection: PurgeSelection,
    now: datetime,
    *,
    actor: str,
    count: int | None = None,
    on_step: OnStep = lambda _: None,
) -> Purged:
    """Erase what was selected from the store of a folder, which nobody may have open, and from all its copies there.

    A copy that cannot be rewritten is removed. Killed at any moment, the store is the old one or the new one.

    Raises:
        InvalidInput, NotFound, ConfirmationNeeded: nothing was changed.
        StoreLocked: somebody has the store open.
        StoreFull: there is no room for the new files; the store is unchanged.
    """
    check_selection(selection)

    def make_plan(store: DuckStore) -> PurgePlan:
        plan = store.transfer.plan_purge(selection)
        check_plan(plan, count)
        return plan

    def erase(session: SqlSession, plan: PurgePlan) -> int:
        # Another copy may hold more that belongs to the selection, such as versions that are gone from the store.
        ids = plan.ids | plan_purge(session, selection).ids
        return purge_rows(session, selection, ids, at=now, actor=actor, remaining_state=remaining_state)

    return erase_everywhere(home, now, make_plan, erase, on_step)


def erase_everywhere(
    home: Path,
    now: datetime,
    make_plan: Callable[[DuckStore], Plan],
    erase: Callable[[SqlSession, Plan], int],
    on_step: OnStep,
    *,
    copies_too: bool = True,
) -> Purged:
    """Write the store of a folder, which nobody may have open, and all its copies there anew, without what ``erase`` takes out of each.

    Without ``copies_too`` the backups and what lies in quarantine stay as they are.

    ``make_plan`` looks at the open store first and raises where there is nothing to do; ``erase`` returns in how many memories it
    took something out.
    """
    path = home / DATABASE
    # Opened as a store first, so that what a killed process left to its journal is in the database file.
    store = DuckStore.open(path, _FixedClock(now))
    try:
        plan = make_plan(store)
    finally:
        store.close()
    with hold_store(path):
        file_purge = _FilePurge(path, now, lambda session: erase(session, plan))
        copies = find_copies(home) if copies_too else OtherCopies((), ())
        # The store itself goes last: killed before, the purge is not done, and doing it again finds what to erase.
        try:
            rewritten = sum([file_purge.rewrite(file, on_step) for file in copies.backups])
            rewritten += sum([file_purge.rewrite(file, on_step) for file in copies.set_aside if is_database(file)])
            removed = _remove_other_files(home, copies)
            on_step("copies")
            erased = file_purge.make_next(path)
            on_step("erased")
        except BaseException:
            remove_database(next_file(path), work_file(path))
            raise
        swap(path, None, on_step)
    return Purged(memories=erased, rewritten=rewritten, removed=removed)


@dataclass(frozen=True, slots=True)
class _FixedClock:
    """A clock that stands at the moment that was given."""

    moment: datetime

    def now(self) -> datetime:
        return self.moment


@dataclass(frozen=True, slots=True)
class _FilePurge:
    """Erases the same from several database files; works beside the store's own, where an interrupted one is tidied up."""

    path: Path
    now: datetime
    erase: Callable[[SqlSession], int]

    def make_next(self, source: Path) -> int:
        """Make the next file of a database without what is erased; returns how many memories went."""
        work, new = work_file(self.path), next_file(self.path)
        remove_database(work, new)
        copy_with_log(source, work)
        # Read whole first: what cannot be read would be left out below, and so be lost without a word.
        verify(work)
        with open_session(work, folder=self.path.parent) as session:
            migrate(session, self.now)
            erased = self.erase(session)
            # Deleted rows leave their bytes in this file; the copy is written from the rows that are left.
            written = copy_database(session, new)
        remove_database(work)
        with file_errors():
            fsync_file(new)
        if verify(new) != written:
            raise StoreDamaged(
                "the new file does not hold what was written; the disk may be failing, nothing was purged"
            )
        return erased

    def rewrite(self, file: Path, on_step: OnStep) -> int:
        """Exchange a copy for one without what is erased, or remove it where it is damaged; returns how many were exchanged."""
        try:
            self.make_next(file)
        except StoreDamaged:
            remove_database(next_file(self.path), work_file(self.path), file)
            return 0
        with file_errors():
            next_file(self.path).replace(file)
            log_file(file).unlink(missing_ok=True)
            fsync_folder(file.parent)
        on_step("copy")
        return 1


def _remove_other_files(home: Path, copies: OtherCopies) -> int:
    """Remove what is no database from quarantine, and what logs say; returns how many copies are no longer there."""
    with file_errors():
        for file in copies.set_aside:
            if file.exists() and not is_database(file):
                file.unlink()
        left = home / SPOOLS  # of an import that was killed
        for file in _plain_files(left) if left.is_dir() and not left.is_symlink() else ():
            file.unlink()
        logs = home / _LOGS
        for file in _plain_files(logs) if logs.is_dir() and not logs.is_symlink() else ():
            with file.open("r+b") as stream:
                stream.truncate(0)
    return sum(not file.exists() for file in (*copies.backups, *copies.set_aside))


def _plain_files(folder: Path) -> Iterator[Path]:
    for file in folder.rglob("*"):
        if file.is_file() and not file.is_symlink():
            yield file


def remaining_state(state: str, ids: frozenset[MemoryId]) -> str | None:
    """Return a buffer's state without some memories; None where nothing is left or it cannot be read."""
    try:
        buffers = decode_buffers(state)
    except StoreDamaged:
        return None
    left = Buffers(
        sensory=tuple(one for one in buffers.sensory if one.id not in ids),
        short_term=tuple(_entry_without(one, ids) for one in buffers.short_term if one.item.id not in ids),
    )
    if left == buffers:
        return state
    return encode_buffers(left) if left != Buffers() else None


def _entry_without(entry: BufferEntry, ids: frozenset[MemoryId]) -> BufferEntry:
    enhancers: tuple[Item, ...] = tuple(one for one in entry.enhancers if one.id not in ids)
    return replace(entry, enhancers=enhancers)
