"""`Commits`: one decision in the store's transaction, and what follows from it: the index, the time, the listeners.

Every write of a service goes this way: those of `MemoryService`, and those of the other modules of this folder.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from hybrid_memory.errors import StoreError
from hybrid_memory.ids import new_id
from hybrid_memory.service.following import FOLLOWED_INSIDE, IndexBehind, up_to_date, with_known_vectors
from hybrid_memory.store.writing import PLAIN_CODEC, Prefetch

if TYPE_CHECKING:
    from datetime import datetime

    from hybrid_memory.clock import RandomSource
    from hybrid_memory.encoding.text_encoder import TextEncoder
    from hybrid_memory.model import MemoryId
    from hybrid_memory.retrieval.index import NamespaceIndex
    from hybrid_memory.retrieval.index_cache import IndexCache
    from hybrid_memory.service.following import Announcements
    from hybrid_memory.service.service_time import ServiceTime
    from hybrid_memory.store.base import Store
    from hybrid_memory.store.writing import CommitResult, Decision, RequestKey, ResultCodec


class Commits:
    """The commits of one service. Safe to call from several threads, under the service's shared lock.

    ``indexes`` are what decisions look things up in, ``time`` is that by which they are made.
    """

    def __init__(
        self,
        store: Store,
        indexes: IndexCache,
        encoder: TextEncoder,
        announcements: Announcements,
        time: ServiceTime,
        random_source: RandomSource,
    ) -> None:
        self.store = store
        self.indexes = indexes
        self.time = time
        self._encoder = encoder
        self._announcements = announcements
        self._random_source = random_source

    def commit(
        self,
        namespace: str,
        key: RequestKey | None,
        decide: Decision,
        codec: ResultCodec = PLAIN_CODEC,
        *,
        index: NamespaceIndex | None = None,
        prefetch: Prefetch | None = None,
    ) -> CommitResult:
        """Run a decision in the store's transaction, then let index, caches and listeners follow.

        ``index`` is what the decision looks things up in: it is as new as the transaction before that. ``prefetch`` is what it is likely
        to ask the store for. What raises has changed nothing, but for `OutcomeUnknown`: once it is committed, nothing that fails alongside
        it is told.
        """
        decide = with_known_vectors(decide, self._encoder.identity)
        if index is None:
            written = self.store.write(namespace, key, decide, codec, prefetch=prefetch)
        else:
            written = self._decide_up_to_date(namespace, key, decide, codec, index)
        if not written.replayed:
            self.time.note(written.at)
        with suppress(StoreError):  # the index reads what it lacks when it is asked next
            self.indexes.apply(namespace, written)
        self._announcements.tell(namespace, written.log, written.memories)
        return written

    def commit_act(self, namespace: str, decide: Decision, index: NamespaceIndex) -> CommitResult:
        """Commit what no request can repeat, with the index that its decision looks things up in."""
        return self.commit(namespace, None, decide, index=index)

    def new_id(self, now: datetime) -> MemoryId:
        """Return an id for a memory that is made at a time."""
        return new_id(now, self._random_source)

    def _decide_up_to_date(
        self, namespace: str, key: RequestKey | None, decide: Decision, codec: ResultCodec, index: NamespaceIndex
    ) -> CommitResult:
        most = FOLLOWED_INSIDE
        while True:
            try:
                prefetch = Prefetch(after=index.head)
                deciding = up_to_date(index, decide, most)
                return self.store.write(namespace, key, deciding, codec, alone=True, prefetch=prefetch)
            except IndexBehind:
                self.indexes.load_again(namespace, index)
                most *= 10  # where others write faster than an index is loaded, the rest is followed inside
