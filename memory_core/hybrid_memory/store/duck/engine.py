"""The open database, shared by all calls of a store: sessions for readers, one write transaction at a time, closing.

`DuckStore` and its parts take a session from `Engine.reading` or `Engine.snapshot`, the write transaction from
`Engine.transaction`. Before each commit the engine appends the write to the journal (`recovery.journal`); when DuckDB gives up
the database after a failure of its own, the next call opens it again.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

import duckdb

from hybrid_memory.errors import (
    ConstraintViolation,
    EngineUnavailable,
    OutcomeUnknown,
    StoreClosed,
    StoreDamaged,
    StoreError,
    StoreRemoved,
)
from hybrid_memory.private_files import FILE_MODE
from hybrid_memory.store.duck.duckdb_errors import REMOVED, translated
from hybrid_memory.store.duck.files.database_file import OTHERS, log_file, temp_folder
from hybrid_memory.store.duck.files.database_lock import DatabaseLock
from hybrid_memory.store.duck.recovery.open import OpenedDatabase
from hybrid_memory.store.duck.sql_session import SqlSession
from hybrid_memory.store.duck.writer_cache import WriterCache, load_writer_cache

_Item = TypeVar("_Item")

_COUNT = "SELECT count(*) FROM memory"
_ALIVE = "SELECT 1"
_ADVANCE = "UPDATE mark SET number = ?"
_ADVANCE_WITH_HEAD = "UPDATE mark SET number = ?, namespace = ?, position = ?, link = ?"
_CHECKPOINT = "CHECKPOINT"
_LARGE_STORE_MEMORIES = 50_000  # above, a plan with the optimizer pays for itself; see `SqlSession`
# With a longer one a checkpoint lets the journal begin again, so that opening reads no more than this.
_MAX_JOURNAL_BYTES = 64 * 2**20


class Transaction(NamedTuple):
    """The one write transaction: a session for its changes, one that reads the state before it, and the writer's cache.

    The two see the same moment until the first change, because nobody else can write. The cache may be changed along
    with the rows; it is dropped when the transaction fails.
    """

    changes: SqlSession
    reads: SqlSession
    cache: WriterCache


class Engine:
    """Gives out sessions on one open database. Each reader has its own; there is one write transaction at a time.

    ``unreadable`` are the memories, by namespace and id, that readers came upon and had to leave out.
    """

    def __init__(self, path: Path, lock: DatabaseLock | None, open_again: Callable[[], OpenedDatabase]) -> None:
        """Open the database; ``open_again`` does that, now and whenever DuckDB gives it up after a failure of its own.

        ``lock`` is released by `close`; None says that the caller goes on holding it.
        """
        self.path = path
        self._log_file = log_file(path)
        self._open_again = open_again
        self.unreadable: set[tuple[str, str]] = set()
        self._log_size = 0
        self._must_reopen = False
        self._longest_journal = 0
        self._cache: WriterCache | None = None
        self.heads: dict[str, int] = {}
        """Heads of namespaces as of the last commit here, the only writer; each commit and each failure brings another dictionary."""
        self._adopt(open_again())
        self._lock = lock
        self._state_changed = threading.Condition()
        self._operations = 0
        self._closed = False
        self._write_lock = threading.Lock()
        self._writing_thread: int | None = None
        self._changes: SqlSession | None = None
        self._reads: SqlSession | None = None
        self._open_sessions: weakref.WeakSet[SqlSession] = weakref.WeakSet()

    @contextmanager
    def reading(self) -> Iterator[SqlSession]:
        """Give a session in which each statement sees the newest committed state."""
        with self.operation():
            session = self._session()
            try:
                yield session
            finally:
                session.close()

    def _session(self) -> SqlSession:
        return SqlSession(self._connection, unreadable=self.unreadable)

    @contextmanager
    def snapshot(self) -> Iterator[SqlSession]:
        """Give a session in which all statements see one moment."""
        with self.reading() as session:
            session.begin()
            yield session

    def open_snapshot(self) -> SqlSession:
        """Return a session in one moment that outlives this call; `iterate` closes it."""
        session = self._session()
        self._open_sessions.add(session)
        session.begin()
        return session

    def iterate(self, session: SqlSession, items: Iterator[_Item]) -> Iterator[_Item]:
        """Yield items that are read from a lasting session, each in a call of its own, and close it at the end."""
        try:
            while True:
                with self.operation():
                    item = next(items, None)
                if item is None:
                    return
                yield item
        finally:
            session.close()

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Give the write transaction: committed when the block ends, undone when anything is raised."""
        with self.operation(), self._writer_lock():
            if self._is_removed():
                raise StoreRemoved(REMOVED)
            # 1. Two sessions that are kept from write to write, and what the writer knows without asking the database.
            reads = self._reads or self._session()
            changes = self._changes or SqlSession(self._connection, for_changes=True, large=_is_large_store(reads))
            try:
                self._changes, self._reads = changes, reads
                changes.begin()
                if self._cache is None:
                    self._cache = load_writer_cache(reads)
                yield Transaction(changes, reads, self._cache)
                # 2. Each write that changes anything gets the next number, by which opening compares database and journal.
                if changes.executed:
                    self._cache.mark += 1
                    self._advance(changes, self._cache)
                    with translated():
                        self.journal.append(self._cache.mark, changes.executed)
                changes.commit()
                # 3. From here on the write is durable.
                self.heads = {name: head.position for name, head in self._cache.heads.items()}
            except BaseException as error:
                if not isinstance(error, OutcomeUnknown):
                    self.journal.take_back()
                # The cache may hold what was not written; the sessions may be in a transaction that failed.
                self._cache = None
                self.heads = {}
                self._changes = self._reads = None
                changes.rollback()
                changes.close()
                reads.close()
                raise
            # 4. DuckDB may have made a new write-ahead log, after a checkpoint of its own.
            before, self._log_size = self._log_size, self._private_log_size()
            if changes.executed:
                self._confirm_in_journal(self._cache.mark, changes, has_new_log=self._log_size < before)

    @staticmethod
    def _advance(changes: SqlSession, cache: WriterCache) -> None:
        """Store the number of the write, and the head of the log to which it was the last to add."""
        head = cache.heads.get(cache.marked) if cache.marked is not None else None
        if cache.marked is None or head is None or not head.link:
            changes.change(_ADVANCE, cache.mark)
        else:
            changes.change(_ADVANCE_WITH_HEAD, cache.mark, cache.marked, head.position, head.link)

    def _private_log_size(self) -> int:
        """Return the size of the write-ahead log, and take the rights of others from a new one."""
        try:
            found = self._log_file.stat()
            if found.st_mode & OTHERS:
                self._log_file.chmod(FILE_MODE)
        except OSError:
            return _size(self._log_file)
        return found.st_size

    def _confirm_in_journal(self, number: int, changes: SqlSession, *, has_new_log: bool) -> None:
        """Note that a write is committed; after a checkpoint, which made the log shorter, the journal begins again.

        Nothing that fails here undoes the write: it is durable. A checkpoint that fails, as on a full disk, costs more than a
        write; so it is tried again only when the journal has grown by as much again.
        """
        self.journal.confirm()
        if has_new_log:
            self._begin_journal(number, changes)
            return
        if self.journal.bytes < self._longest_journal:
            return
        self._longest_journal = self.journal.bytes + _MAX_JOURNAL_BYTES
        try:
            changes.rows(_CHECKPOINT)
        except StoreError:
            self._must_reopen = not self._alive()
        else:
            self._log_size = 0
            self._begin_journal(number, changes)

    def _begin_journal(self, number: int, changes: SqlSession) -> None:
        """Begin the journal after the last write, or with it where it is in the new log alone; where that fails, the old one goes on."""
        self._longest_journal = _MAX_JOURNAL_BYTES
        try:
            if self._log_size:
                self.journal.begin(number - 1)
                self.journal.append(number, changes.executed)
                self.journal.confirm()
            else:
                self.journal.begin(number)
        except OSError:
            self.journal.take_back()

    def is_new_request(self, relay: str, number: int) -> bool:
        """Return True if a request is known never to have been done, without asking the database."""
        with self.operation():
            cache = self._cache
            return cache is not None and number not in cache.requests.get(relay, ())

    @contextmanager
    def operation(self) -> Iterator[None]:
        """Mark a call as running, so that `close` waits for it; the first call after a failure of DuckDB opens it again.

        Raises:
            StoreClosed: it is closed.
            StoreError: it cannot be opened again, or not while other calls are still failing.
        """
        with self._state_changed:
            if self._closed:
                raise StoreClosed("the memory store is closed; open it again")
            if self._must_reopen:
                self._reopen()
            self._operations += 1
        try:
            yield
        except StoreDamaged:
            # After a block that cannot be read, DuckDB 1.5 may loop forever over what it has of it.
            self._must_reopen = True
            raise
        except StoreError:
            self._must_reopen = self._must_reopen or not self._alive()
            raise
        finally:
            with self._state_changed:
                self._operations -= 1
                self._state_changed.notify_all()

    def close(self) -> None:
        """Refuse new calls, wait for running ones, write everything out and let file and lock go."""
        if self._writing_thread == threading.get_ident():
            raise ConstraintViolation("a decision cannot close the store that it decides for")
        with self._state_changed:
            if self._closed:
                return
            self._closed = True
            self._state_changed.wait_for(lambda: self._operations == 0)
        try:
            self._close_sessions()
            self._last_checkpoint()
            with translated():
                self._connection.close()
            with suppress(OSError):
                temp_folder(self.path).rmdir()
            self._close_journal()
        finally:
            if self._lock is not None:
                self._lock.release()

    def _alive(self) -> bool:
        """Return True if DuckDB still answers; after a fatal error, such as a full disk in a checkpoint, it never does."""
        try:
            self._connection.cursor().execute(_ALIVE).fetchall()
        except duckdb.Error:
            return False
        return True

    def _reopen(self) -> None:
        if self._operations:
            raise EngineUnavailable("the database engine stopped; what was acknowledged is intact, try again")
        self._close_sessions()
        with suppress(duckdb.Error):
            self._connection.close()
        self.journal.release()
        self._adopt(self._open_again())
        self._must_reopen = False

    def _adopt(self, opened: OpenedDatabase) -> None:
        self._connection = opened.connection
        self.journal = opened.journal
        self._longest_journal = self.journal.bytes + _MAX_JOURNAL_BYTES
        self._log_size = _size(self._log_file)
        # A log that no journal repeats is emptied after the next write.
        is_alone = self._log_size > 0 and self.journal.bytes == 0
        self._longest_journal = 0 if is_alone else max(self._longest_journal, _MAX_JOURNAL_BYTES)
        with translated():
            self._identity = _identity(self.path)
        self._cache = None
        self.heads = {}

    def _is_removed(self) -> bool:
        """Return True if the open file is not the one that is at its path any more: what is written would be gone with it."""
        try:
            return _identity(self.path) != self._identity
        except (FileNotFoundError, NotADirectoryError):
            return True
        except OSError:
            return False  # nobody knows; DuckDB will say what is wrong

    def _close_sessions(self) -> None:
        for session in [*self._open_sessions, *filter(None, (self._changes, self._reads))]:
            session.close()
        self._changes = self._reads = None

    def _last_checkpoint(self) -> None:
        """Move all writes into the database file; where that fails they stay in the write-ahead log, as durable."""
        if self._must_reopen:
            return
        with suppress(StoreError):
            session = SqlSession(self._connection)
            session.rows(_CHECKPOINT)
            session.close()

    def _close_journal(self) -> None:
        """Remove the journal if closing has moved all writes into the database file, which DuckDB does not promise."""
        self.journal.release()
        if not _size(self._log_file):
            with suppress(OSError):
                self.journal.remove()

    @contextmanager
    def _writer_lock(self) -> Iterator[None]:
        if self._writing_thread == threading.get_ident():
            raise ConstraintViolation("a decision cannot write; give the changes back as its result")
        with self._write_lock:
            self._writing_thread = threading.get_ident()
            try:
                yield
            finally:
                self._writing_thread = None


def _identity(file: Path) -> tuple[int, int]:
    """Return what tells a file from any other that comes to stand at its place."""
    found = file.stat()
    return found.st_dev, found.st_ino


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _is_large_store(session: SqlSession) -> bool:
    return bool(session.rows(_COUNT)[0][0] > _LARGE_STORE_MEMORIES)
