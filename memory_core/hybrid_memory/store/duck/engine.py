"""Who may use the open database when: readers at any time, one writer, and nobody after close."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

import duckdb

from hybrid_memory.errors import Refused, StoreClosed
from hybrid_memory.store.duck.connect import keep_private, temp_folder
from hybrid_memory.store.duck.errors import translated
from hybrid_memory.store.duck.lock import OwnLock
from hybrid_memory.store.duck.memo import Memo, load_memo
from hybrid_memory.store.duck.session import Session

_Item = TypeVar("_Item")

_COUNT = "SELECT count(*) FROM memory"
_LARGE = 50_000


class Transaction(NamedTuple):
    """The one write transaction: a session for its changes, one that reads the state before it, and the memo.

    The two see the same moment until the first change, because nobody else can write. The memo may be changed along
    with the rows; it is dropped when the transaction fails.
    """

    changes: Session
    reads: Session
    memo: Memo


class Engine:
    """Gives out sessions on one open database. Each reader has its own; there is one write transaction at a time."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path, lock: OwnLock) -> None:
        self.path = path
        self._connection = connection
        self._lock = lock
        self._gate = threading.Condition()
        self._running = 0
        self._closed = False
        self._writer = threading.Lock()
        self._writing_thread: int | None = None
        self._memo: Memo | None = None
        self._heads: dict[str, int] | None = None
        self._changes: Session | None = None
        self._reads: Session | None = None
        self._open_sessions: weakref.WeakSet[Session] = weakref.WeakSet()

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Give a session in which each statement sees the newest committed state."""
        with self.running():
            session = Session(self._connection)
            try:
                yield session
            finally:
                session.close()

    @contextmanager
    def moment(self) -> Iterator[Session]:
        """Give a session in which all statements see one moment."""
        with self.reading() as session:
            session.begin()
            yield session

    def lasting_moment(self) -> Session:
        """Return a session in one moment that outlives this call; `stepping` closes it."""
        session = Session(self._connection)
        self._open_sessions.add(session)
        session.begin()
        return session

    def stepping(self, session: Session, items: Iterator[_Item]) -> Iterator[_Item]:
        """Yield items that are read from a lasting session, each in a call of its own, and close it at the end."""
        try:
            while True:
                with self.running():
                    item = next(items, None)
                if item is None:
                    return
                yield item
        finally:
            session.close()

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Give the write transaction: committed when the block ends, undone when anything is raised."""
        with self.running(), self._alone():
            reads = self._reads or Session(self._connection)
            changes = self._changes or Session(self._connection, for_changes=True, large=_is_large(reads))
            try:
                self._changes, self._reads = changes, reads
                changes.begin()
                if self._memo is None:
                    self._memo = load_memo(reads)
                yield Transaction(changes, reads, self._memo)
                changes.commit()
                self._heads = {name: head.position for name, head in self._memo.heads.items()}
            except BaseException:
                self._memo = None
                self._heads = None
                self._changes = self._reads = None
                changes.rollback()
                changes.close()
                reads.close()
                raise
            with suppress(OSError):
                keep_private(self.path)

    def committed_head(self, namespace: str) -> int | None:
        """Return a namespace's head as of the last commit here, the only writer; None when that is not known."""
        heads = self._heads
        return None if heads is None else heads.get(namespace, 0)

    def never_asked(self, relay: str, number: int) -> bool:
        """Say whether a request is known never to have been done, without asking the database."""
        with self.running():
            memo = self._memo
            return memo is not None and number not in memo.requests.get(relay, ())

    @contextmanager
    def running(self) -> Iterator[None]:
        """Mark a call as running, so that `close` waits for it."""
        with self._gate:
            if self._closed:
                raise StoreClosed("the memory store is closed; open it again")
            self._running += 1
        try:
            yield
        finally:
            with self._gate:
                self._running -= 1
                self._gate.notify_all()

    def close(self) -> None:
        """Refuse new calls, wait for running ones, write everything out and let file and lock go."""
        if self._writing_thread == threading.get_ident():
            raise Refused("a decision cannot close the store that it decides for")
        with self._gate:
            if self._closed:
                return
            self._closed = True
            self._gate.wait_for(lambda: self._running == 0)
        try:
            for session in [*self._open_sessions, *filter(None, (self._changes, self._reads))]:
                session.close()
            with translated():
                self._connection.close()
            with suppress(OSError):
                temp_folder(self.path).rmdir()
        finally:
            self._lock.release()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if self._writing_thread == threading.get_ident():
            raise Refused("a decision cannot write; give the changes back as its result")
        with self._writer:
            self._writing_thread = threading.get_ident()
            try:
                yield
            finally:
                self._writing_thread = None


def _is_large(session: Session) -> bool:
    return bool(session.rows(_COUNT)[0][0] > _LARGE)
