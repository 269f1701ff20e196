"""How a hub keeps up with others that write to the same store: indexes, caches and listeners follow, and decisions look first.

Word of a change comes from the store (`Store.follow`), or from nobody where it was lost: then a read or a write that comes upon the
change follows it. Whichever does, listeners hear of each change once.

`Following` belongs to one `MemoryService`. `up_to_date` and `with_known_vectors` wrap its decisions.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from hybrid_memory.errors import HybridMemoryError, LogTrimmed, StoreError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.model import Memory, MemoryId
    from hybrid_memory.retrieval.index import NamespaceIndex
    from hybrid_memory.store.base import Store
    from hybrid_memory.store.other_hubs import News
    from hybrid_memory.store.writing import Decision, LogEntry, WriteBatch, WriteView

Tell = Callable[[str, frozenset[str]], None]
"""Tells listeners in which sessions of a namespace something changed; in none: nobody knows where."""

FOLLOWED_INSIDE = 500  # changes, which a namespace's other writers wait for; more are followed before the transaction
_MOST_READ = 1000  # entries of the log, to tell of them; of more it is said that there are some
_RETRY_SECONDS = 0.5  # after the store could not be read
_REST = 3  # times what it took to follow some news, before more is followed
_MOST_REST_SECONDS = 0.025


class IndexBehind(Exception):
    """An index lacks more than can be followed while a transaction waits."""


def up_to_date(index: NamespaceIndex, decide: Decision, most: int = FOLLOWED_INSIDE) -> Decision:
    """Return a decision before which ``index`` follows what other hubs have written, up to the moment that the decision sees.

    Raises (the decision):
        IndexBehind: it lacks more than ``most`` changes, or holds some that the store has lost; nothing was decided.
    """

    def decide_on_the_newest(view: WriteView) -> WriteBatch:
        if index.head > view.head:  # an older copy of the store was put in its place
            raise IndexBehind
        if index.head < view.head:
            _catch_up_inside(index, view, most)
        return decide(view)

    return decide_on_the_newest


def _catch_up_inside(index: NamespaceIndex, view: WriteView, most: int) -> None:
    # The view's own connection is asked, and no lock but that of the index is taken: a transaction waits for nothing else.
    if view.head - index.head > most:
        raise IndexBehind
    try:
        log = view.changes(index.head)
    except LogTrimmed:
        raise IndexBehind from None
    ids = tuple(dict.fromkeys(entry.id for entry in log))
    index.apply(log, view.get(ids), view.vectors(ids), view.passages(ids))


def with_known_vectors(decide: Decision, identity: str | None) -> Decision:
    """Return a decision that stores no vector where another hub has changed the store's embedder, or made the store again without one.

    ``identity`` is that of the embedder which made the vectors. What is stored without one is found by its words, and gets its vector
    from late work.
    """
    if identity is None:
        return decide

    def decide_with_known_vectors(view: WriteView) -> WriteBatch:
        if view.embedder == identity:
            return decide(view)
        batch = decide(_WithoutVectors(view))
        inserts = tuple(replace(one, vector=None, passages=None) for one in batch.inserts)
        return replace(batch, inserts=inserts, vectors=())

    return decide_with_known_vectors


class _WithoutVectors:
    """A view whose vectors nobody sees: they cannot be compared with those at hand."""

    def __init__(self, view: WriteView) -> None:
        self._view = view

    def __getattr__(self, name: str) -> Any:
        return getattr(self._view, name)

    def vectors(self, ids: Iterable[MemoryId]) -> dict[MemoryId, NDArray[np.float32]]:
        """Return none."""
        del ids
        return {}


Read = Callable[[str, int, int], "News"]
"""Reads what the log of a namespace says behind a position, at most so many entries (`Store.news`)."""


class Announcements:
    """Tells listeners of each change once, whoever comes upon it first. Safe in several threads.

    ``read`` is asked where a write of this process comes before what others wrote earlier.
    """

    def __init__(self, tell: Tell, read: Read) -> None:
        self._tell = tell
        self._read = read
        self._told: dict[str, tuple[int, int]] = {}  # from where to where each namespace was told of
        self._lock = threading.Lock()

    def tell(self, namespace: str, log: Sequence[LogEntry], memories: Mapping[MemoryId, Memory]) -> None:
        """Tell of what a part of the log says and was not told of, and of what lies between that and what was told last."""
        if not log:
            return
        with self._lock:
            first, last = self._told.get(namespace, (log[0].position, log[0].position - 1))
            fresh = [entry for entry in log if not first <= entry.position <= last]
            self._told[namespace] = min(first, log[0].position), max(last, log[-1].position)
        if fresh and fresh[0].position > last + 1:
            self._tell_between(namespace, last, fresh[0].position)
        if fresh:
            self._tell_of(namespace, fresh, memories)

    def tell_loaded(self, namespace: str, head: int) -> None:
        """Tell that something changed up to the position that an index was loaded at; nothing where it is the first one."""
        with self._lock:
            if namespace not in self._told:
                self._told[namespace] = head + 1, head
                return
        self.tell_head(namespace, head)

    def tell_head(self, namespace: str, head: int, *, exactly: bool = False) -> None:
        """Tell that something changed up to a position, if that was not told; ``exactly`` reads what it was, where that can be known."""
        with self._lock:
            known = self._told.get(namespace)
            if known is not None and known[1] >= head:
                return
            self._told[namespace] = head if known is None else known[0], head
        if exactly and known is not None:
            self._tell_between(namespace, known[1], head + 1)
        else:
            self._tell(namespace, frozenset())

    def tell_everything(self, namespaces: Iterable[str]) -> None:
        """Tell that some namespaces are to be looked at again; positions mean something else from now on."""
        with self._lock:
            self._told.clear()
        for namespace in namespaces:
            self._tell(namespace, frozenset())

    def _tell_between(self, namespace: str, after: int, before: int) -> None:
        log: Sequence[LogEntry] = ()
        memories: Mapping[MemoryId, Memory] = {}
        with suppress(StoreError):  # callers that need the store report that it cannot be read
            news = self._read(namespace, after, _MOST_READ)
            log, memories = news.log, news.memories
        log = [entry for entry in log if entry.position < before]
        if log and log[-1].position == before - 1:
            self._tell_of(namespace, log, memories)
        else:
            self._tell(namespace, frozenset())

    def _tell_of(self, namespace: str, log: Sequence[LogEntry], memories: Mapping[MemoryId, Memory]) -> None:
        sessions = frozenset(memories[entry.id].session for entry in log if entry.id in memories)
        self._tell(namespace, sessions)
        if sessions and any(entry.id not in memories for entry in log):
            self._tell(namespace, frozenset())  # of a purged memory nobody knows the session any more


class CatchUp(Protocol):
    """Brings what is loaded of a namespace up to date."""

    def __call__(self, namespace: str, *, hinted: int = 0) -> bool:
        """Return whether anything is loaded; see `Following`."""
        ...


class Following:
    """Does in a thread of its own what follows from the news of a store; itself the `hybrid_memory.store.other_hubs.Follower`.

    ``catch_up`` brings what is loaded of a namespace up to date, to the position ``hinted`` too if its log reaches that far, and returns
    whether anything is loaded; ``exchange`` lets go all that was
    read of the store, ``change_embedder`` takes the store's new one; ``marks`` says up to where what is loaded was followed.
    """

    def __init__(
        self,
        store: Store,
        announcements: Announcements,
        *,
        catch_up: CatchUp,
        exchange: Callable[[], Iterable[str]],
        change_embedder: Callable[[], None],
        marks: Callable[[], Mapping[str, int]],
    ) -> None:
        self._announcements = announcements
        self._catch_up = catch_up
        self._exchange = exchange
        self._change_embedder = change_embedder
        self.marks = marks
        self._due: dict[str, int] = {}
        self._hinted: dict[str, int] = {}
        self._exchanged = self._embedder_changed = self._ended = self._busy = False
        self._waiting_since: float | None = None
        self._news = threading.Condition()
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None
        self._end = store.follow(self)

    def on_change(self, namespace: str, head: int) -> None:
        """Note that another hub has written."""
        with self._news:
            self._due[namespace] = max(self._due.get(namespace, 0), head)
            self._wake()

    def on_hint(self, namespace: str, position: int) -> None:
        """Note that another hub may have written."""
        with self._news:
            self._hinted[namespace] = max(self._hinted.get(namespace, 0), position)
            self._wake()

    def on_exchange(self) -> None:
        """Note that what is known of the store may be true no more."""
        with self._news:
            self._exchanged = True
            self._wake()

    def on_embedder(self) -> None:
        """Note that the store has another embedder."""
        with self._news:
            self._embedder_changed = True
            self._wake()

    @property
    def has_heard(self) -> bool:
        """Whether there ever was news: then others write to the store."""
        return self._thread is not None

    def waiting_seconds(self) -> float:
        """Return for how long there has been news that is not followed yet; 0 where there is none."""
        since = self._waiting_since
        return 0.0 if since is None else monotonic() - since

    def wait_until_done(self, timeout: float | None = None) -> bool:
        """Wait until all news that came was followed; returns False if that took longer. For tests."""
        with self._news:
            return self._news.wait_for(lambda: self._ended or not (self._has_news() or self._busy), timeout)

    def close(self) -> None:
        """Follow no longer."""
        self._end()
        with self._news:
            self._ended = True
            self._ending.set()
            self._news.notify_all()
        # The thread is not waited for: it may wait for a lock that whoever closes holds, and finds the store closed then.

    def _wake(self) -> None:
        # The first news begins the thread: a store that one hub has never does.
        if self._thread is None and not self._ended:
            self._thread = threading.Thread(target=self._follow, name="following", daemon=True)
            self._thread.start()
        if self._waiting_since is None:
            self._waiting_since = monotonic()
        self._news.notify_all()

    def _has_news(self) -> bool:
        return bool(self._due or self._hinted) or self._exchanged or self._embedder_changed

    def _follow(self) -> None:
        while True:
            with self._news:
                self._news.wait_for(lambda: self._ended or self._has_news())
                if self._ended:
                    return
                self._busy = True
                due, self._due = self._due, {}
                hinted, self._hinted = self._hinted, {}
                exchanged, self._exchanged = self._exchanged, False
                embedder, self._embedder_changed = self._embedder_changed, False
            began = monotonic()
            done = self._work(due, hinted, exchanged=exchanged, embedder=embedder)
            # Where there is much news, more of it is read at once: it takes a quarter of the time, whatever the machine is like.
            seconds = min(_REST * (monotonic() - began), _MOST_REST_SECONDS) if done else _RETRY_SECONDS
            with self._news:
                self._busy = False
                if done:  # what there is now came meanwhile
                    self._waiting_since = began if self._has_news() else None
                self._news.notify_all()
            self._ending.wait(seconds)

    def _work(self, due: dict[str, int], hinted: dict[str, int], *, exchanged: bool, embedder: bool) -> bool:
        """Do what is due; returns False if some of it could not be done now, and is due again."""
        done = True
        if exchanged or embedder:
            try:
                self._take_anew(due, exchanged=exchanged)
            except HybridMemoryError:
                done = False
                with self._news:
                    self._exchanged |= exchanged
                    self._embedder_changed |= embedder
        for namespace, position in hinted.items():
            # That cannot be read just now need not be tried again for a hint: what has changed is found by looking.
            with suppress(HybridMemoryError):
                self._catch_up(namespace, hinted=position)
        for namespace, head in due.items():
            try:
                # What an index was loaded with was followed by nobody.
                self._announcements.tell_head(namespace, head, exactly=self._catch_up(namespace))
            except HybridMemoryError:
                done = False
                with self._news:
                    self._due[namespace] = max(self._due.get(namespace, 0), head)
        return done

    def _take_anew(self, due: Iterable[str], *, exchanged: bool) -> None:
        if exchanged:
            self._announcements.tell_everything({*self._exchange(), *due})
        else:
            self._change_embedder()
