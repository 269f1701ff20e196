"""Database files as the two ends of a move (`hybrid_memory.store.moving`): a copy that is read, and a folder that gets a store.

The new store is made in a file of its own alongside the database's place. What a kill leaves of it is gone on from; it has its name only
when it is whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from hybrid_memory.errors import InvalidInput, StoreDamaged, StoreError
from hybrid_memory.private_files import fsync_file
from hybrid_memory.settings import DATABASE
from hybrid_memory.store.duck.duck_transfer import contents_of
from hybrid_memory.store.duck.duckdb_errors import translated
from hybrid_memory.store.duck.files.database_copy import open_session, remove_database, verify
from hybrid_memory.store.duck.files.database_file import log_file
from hybrid_memory.store.duck.files.swap import hold_store, next_file, store_files, swap
from hybrid_memory.store.duck.restore_file import folder_for_replaced
from hybrid_memory.store.duck.row_tables import DuckRows, DuckRowTarget
from hybrid_memory.store.duck.schema import migrate
from hybrid_memory.store.duck.term_key import ensure_term_key
from hybrid_memory.store.home_files import UNFINISHED_MOVE
from hybrid_memory.store.moving import NOT_EMPTY
from hybrid_memory.store.row_copy import copy_rows, row_sums

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from datetime import datetime

    from hybrid_memory.clock import RandomSource
    from hybrid_memory.store.duck.sql_session import SqlSession
    from hybrid_memory.store.moving import MoveSource, MoveTarget
    from hybrid_memory.store.row_copy import RowSource, RowSums, RowTarget
    from hybrid_memory.store.transfer import StoreContents, TableSums

_IN_USE = """
    SELECT EXISTS (FROM memory) OR EXISTS (FROM log) OR EXISTS (FROM buffer) OR EXISTS (FROM conversation)
"""


@contextmanager
def file_source(file: Path) -> Iterator[MoveSource]:
    """Give the store in a file of the newest schema that nobody has open."""
    with open_session(file, read_only=True) as session:
        yield _FileMoment(session)


@contextmanager
def folder_target(home: Path, now: datetime) -> Iterator[MoveTarget]:
    """Give a folder as a place for a store; it is locked meanwhile."""
    path = home / DATABASE
    with hold_store(path):
        target = _FolderTarget(path, now)
        try:
            yield target
        finally:
            target.close()


def write_file(file: Path, source: RowSource, now: datetime) -> TableSums:
    """Write all rows of a store to a new database file, read it again, and return its sums; nothing is left of one that fails.

    Raises:
        StoreFull, StoreReadOnly: it could not be written.
        StoreDamaged: what was written cannot be read again.
    """
    try:
        with open_session(file) as session:
            migrate(session, now)
            target = DuckRowTarget(session)
            sums = copy_rows(source, target)
            target.finish()
        _compare(file, sums)
        return verify(file)
    except BaseException:
        remove_database(file)
        raise


def _compare(file: Path, sums: RowSums) -> None:
    with open_session(file, read_only=True) as session:
        if row_sums(DuckRows(session)) != sums:
            raise StoreDamaged("the copy does not hold what was read; the disk may be failing, the store is unchanged")


def upgraded(file: Path, now: datetime, random_source: RandomSource) -> None:
    """Bring a copy of a backup, which nobody has open, to the newest schema."""
    with open_session(file) as session:
        migrate(session, now)
        ensure_term_key(session, random_source)


class _FileMoment:
    def __init__(self, session: SqlSession) -> None:
        self._session = session
        self._rows = DuckRows(session)

    @property
    def rows(self) -> RowSource:
        return self._rows

    def contents(self) -> StoreContents:
        return contents_of(self._session, None, vectors=False)


class _FolderTarget:
    """The place of a database file; its lock is held."""

    def __init__(self, path: Path, now: datetime) -> None:
        self._path = path
        self._file = path.with_name(UNFINISHED_MOVE)
        self._now = now
        self._open: AbstractContextManager[SqlSession] | None = None
        self._rows: DuckRowTarget | None = None

    @property
    def rows(self) -> RowTarget:
        assert self._rows is not None, "begin first"  # noqa: S101 - a slip of the caller, not of a person
        return self._rows

    def begin(self, store_id: str) -> None:
        if self._path.exists() and not _is_empty(self._path):
            raise InvalidInput("TO", NOT_EMPTY)
        if self._file.exists() and not _is_of(self._file, store_id):
            remove_database(self._file)
        is_new = not self._file.exists()
        self._open = open_session(self._file)
        session = self._open.__enter__()
        if is_new:
            migrate(session, self._now)
        self._rows = DuckRowTarget(session)
        if is_new:
            self._rows.begin(store_id)

    @contextmanager
    def written(self) -> Iterator[MoveSource]:
        self.close()
        with open_session(self._file, read_only=True) as session:
            yield _FileMoment(session)

    def discard(self) -> None:
        self.close()
        remove_database(self._file)

    def finish(self, now: datetime) -> None:
        with open_session(self._file) as session:
            DuckRowTarget(session).finish()
        verify(self._file)
        new = next_file(self._path)
        with translated():
            fsync_file(self._file)
            log_file(self._file).unlink(missing_ok=True)
            self._file.replace(new)
        swap(self._path, folder_for_replaced(self._path, now) if store_files(self._path) else None, lambda _: None)

    def close(self) -> None:
        if self._open is not None:
            self._open.__exit__(None, None, None)
            self._open = None


def _is_empty(path: Path) -> bool:
    """Return whether nothing was ever remembered in a store; one that cannot be read is not empty."""
    try:
        with open_session(path, read_only=True) as session:
            return not session.rows(_IN_USE)[0][0]
    except StoreError:
        return False


def _is_of(file: Path, store_id: str) -> bool:
    """Return whether a file is the unfinished copy of a store."""
    try:
        with open_session(file) as session:
            return DuckRowTarget(session).begun_by() == store_id
    except StoreError:
        return False
