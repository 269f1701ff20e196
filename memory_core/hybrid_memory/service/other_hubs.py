"""What a service does about other hubs of its store: takes over what they wrote, counted and changed, and tells listeners.

When it does so is said by `following.Following`, which hears of them, and by reads that come upon what they wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from hybrid_memory.clock import MOST_CARRIED
from hybrid_memory.embedding.registry import embedder_of
from hybrid_memory.service.following import Announcements, Following
from hybrid_memory.service.rwlock import ReadWriteLock, shared

if TYPE_CHECKING:
    from datetime import datetime

    from hybrid_memory.encoding.text_encoder import TextEncoder
    from hybrid_memory.model import Memory, MemoryId
    from hybrid_memory.service.committing import Commits
    from hybrid_memory.settings import StoreSettings
    from hybrid_memory.store.writing import LogEntry

_USAGE_EVERY = timedelta(minutes=1)  # what other hubs counted meanwhile does not count here yet


class OtherHubs:
    """Keeps one service up with the other hubs of its store. Safe to call from several threads.

    ``forget`` lets go what else was made of the store's contents, where they are no longer the same.
    """

    following: Following

    def __init__(
        self,
        commits: Commits,
        encoder: TextEncoder,
        announcements: Announcements,
        settings: StoreSettings,
        lock: ReadWriteLock,
        *,
        now: datetime,
        forget: Callable[[], None],
    ) -> None:
        self.lock = lock
        self._store, self._indexes, self._time = commits.store, commits.indexes, commits.time
        self._encoder = encoder
        self._announcements = announcements
        self._settings = settings
        self._usage_taken_at = now
        self._forget = forget

    def begin_to_follow(self) -> Following:
        """Hear of other hubs from now on."""
        self.following = Following(
            self._store,
            self._announcements,
            catch_up=self._catch_up,
            exchange=self._exchange,
            change_embedder=self._change_embedder,
            marks=self._indexes.marks,
        )
        return self.following

    def note_followed(
        self, namespace: str, log: Sequence[LogEntry], memories: Mapping[MemoryId, Memory], head: int
    ) -> None:
        """Note what an index has followed; other hubs' clocks may be a little ahead of this one's."""
        if log:
            self._time.note(log[-1].at)
            self._announcements.tell(namespace, log, memories)
            return
        # It was loaded, and nobody has read when anything was written.
        self._announcements.tell_loaded(namespace, head)
        if self.following.has_heard and (last := self._store.last_write()) is not None:
            self._time.note(last)

    @shared
    def take_usage(self) -> None:
        """Take over now and then what other hubs have counted; recalls stand in no log."""
        now = self._time.now()
        if now - self._usage_taken_at >= _USAGE_EVERY:
            # Recalls wait before they are stored, and other hubs' clocks may be behind.
            self._indexes.take_usage_since(self._usage_taken_at - MOST_CARRIED - _USAGE_EVERY)
            self._usage_taken_at = now

    @shared
    def _catch_up(self, namespace: str, *, hinted: int = 0) -> bool:
        return self._indexes.catch_up_all(namespace, hinted=hinted)

    def _exchange(self) -> list[str]:
        """Let go what was read of the store; returns the namespaces that were loaded."""
        with self.lock.exclusive():
            loaded = self._indexes.let_all_go()
            self._store.take_over()
            self._encoder.follow_store(partial(embedder_of, settings=self._settings))
            self._forget()
        return loaded

    def _change_embedder(self) -> None:
        """Take the store's new embedder; the indexes are read again beforehand, while calls go on with the old one."""
        with self.lock.shared():
            pinned = self._store.embedder()
            if pinned is None or pinned[0] == self._encoder.identity:  # this hub has changed it itself
                return
        fresh = self._indexes.loaded_anew()
        with self.lock.exclusive():
            closing = self._indexes.exchange(fresh)
            self._encoder.follow_store(partial(embedder_of, settings=self._settings))
        for index in closing:
            index.close()
