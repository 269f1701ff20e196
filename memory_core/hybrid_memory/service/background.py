"""Background work, one small step at a time: words encoded again, vectors that waited for their model, the change of the embedder.

`MemoryService.run_background_step` calls `BackgroundJobs.step` whenever the process is idle.

Where several hubs share a store, one at a time does each of these, under a lease, and another one goes on when it dies. None of them
changes the embedder by itself while others are there: their settings may want another one, and the vectors would be made again forever.

An `EmbedderChange` runs alongside reads and writes. Every new vector is stored as it is made, so a process that dies is
continued by the next one. Until the one moment of the switch the store answers with the former embedder. Memories written
meanwhile are found by the same search for what is missing; the last few get their vectors under the exclusive lock, so that
the switch leaves nothing out.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np

from hybrid_memory.embedding.background_embedder import BackgroundEmbedder
from hybrid_memory.embedding.registry import make_embedder
from hybrid_memory.encoding.text_encoder import embedded
from hybrid_memory.encoding.word_encoding import ENCODING, encode_words
from hybrid_memory.errors import ConcurrentModification, EmbedderUnavailable, InvalidInput
from hybrid_memory.requests import Progress
from hybrid_memory.retrieval.index import VectorSwap
from hybrid_memory.service.rwlock import ReadWriteLock, shared
from hybrid_memory.store.other_hubs import EMBEDDER_LEASE
from hybrid_memory.store.reprocessing import NewVector, Unembedded
from hybrid_memory.store.writing import WriteBatch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hybrid_memory.embedding.embedder import Embedder
    from hybrid_memory.encoding.text_encoder import TextEncoder
    from hybrid_memory.model import MemoryId
    from hybrid_memory.retrieval.index import NamespaceIndex
    from hybrid_memory.retrieval.index_cache import IndexCache
    from hybrid_memory.service.committing import Commits
    from hybrid_memory.service.rwlock import ReadWriteLock
    from hybrid_memory.store.base import Store
    from hybrid_memory.store.other_hubs import Lease
    from hybrid_memory.store.writing import WriteView

Backfill = Callable[[str], int]
"""Gives some memories of a namespace their vectors; returns how many."""

BATCH_MEMORIES = (
    256  # embedded in one step: large enough for a model's batches, small enough to stop between two of them
)
PAGE_MEMORIES = 4_096  # sorted by length at a time, because a model's batch takes as long as its longest text
WORDS_BEFORE_RELOAD = (
    4_000  # memories encoded again until the indexes are read again for the first time; then twice as many
)
SWITCH_MEMORIES = 16  # that may be left for the switch, during which every other call waits
LEASE_SECONDS = 15.0  # so long after its death the work of a hub goes on elsewhere
WORDS_LEASE = "words"
_OTHERS_CHECK_SECONDS = 5.0  # between two looks whether this hub has the store for itself by now
_MAX_PASSES = 8  # over the store; if then more than `SWITCH_MEMORIES` are left, the rest is left to the backfill
AT_OPENING = 2_000  # memories whose words are encoded again before an opening is over: half a second
_WORDS_AT_ONCE = 500  # memories a transaction, which other writers wait for
VECTORS_AT_ONCE = 64  # late vectors in one transaction: a batch of a model that does not hold up other calls for long


class BackgroundJobs:
    """Does the background work of one service. Safe in several threads: one works, the others hear that there is nothing to do.

    ``embedder_of`` makes the embedder of an identity.
    """

    def __init__(
        self,
        store: Store,
        index_cache: IndexCache,
        encoder: TextEncoder,
        lock: ReadWriteLock,
        backfill: Backfill,
        *,
        embedder_of: Callable[[str], Embedder] = make_embedder,
    ) -> None:
        self._embedder_of = embedder_of
        self._store = store
        self._index_cache = index_cache
        self._encoder = encoder
        self._lock = lock
        self._backfill = backfill
        self._busy = threading.Lock()
        self._change: EmbedderChange | None = None
        self._leftovers_dropped = False
        self._words_are_current = False
        self._words_changed = 0
        self._words_looks = 0
        self._words_told = WORDS_BEFORE_RELOAD
        self._others_looked_at = -_OTHERS_CHECK_SECONDS
        self._lease: Lease | None = None  # of a change of the embedder

    def step(self) -> bool:
        """Do one small piece, if there is any and nobody else does; returns whether there may be more.

        A missing model is no error here: there is nothing to do then.

        Raises:
            EmbedderUnavailable: the model to change to does not run.
            StoreError: the store cannot be read or written.
        """
        if not self._busy.acquire(blocking=False):
            return False
        try:
            return self._step()
        except BaseException:
            self._change = None
            self._give_back()
            raise
        finally:
            self._busy.release()

    def reembed(self, embedder: Embedder | None, progress: Callable[[Progress], None] | None) -> Progress:
        """Change the embedder now, to the wanted one when none is named; returns when all is done.

        Raises:
            EmbedderUnavailable: the model cannot be loaded or run.
            ConcurrentModification: another hub is changing it.
            StoreError: the store cannot be read or written.
        """
        with self._busy:
            if not self._take_lease():
                raise ConcurrentModification(
                    "another hub of this store is changing its embedder; `status` says how far that is"
                )
            chosen = embedder or self._encoder.target
            change = self._begin_change(chosen.loaded() if isinstance(chosen, BackgroundEmbedder) else chosen)
            self._change = change
            try:
                while change.step():
                    if progress is not None:
                        progress(change.progress())
            finally:
                self._change = None
                self._give_back()
            return change.progress()

    def look_at_words_again(self) -> None:
        """Look once more for words that are to be encoded again, and then read the indexes again, also where another hub encodes them.

        To be called when the store may hold such words that it did not hold before.
        """
        self._words_looks += 1
        self._words_changed = max(self._words_changed, 1)
        self._words_are_current = False

    def outdated_words(self) -> int:
        """Return how many memories an earlier version has encoded, and this one has not yet encoded again."""
        return 0 if self._words_are_current else self._store.reencoding.count(ENCODING)

    def progress(self) -> Progress | None:
        """Return how far a change of the embedder has come; also of one that an earlier process began."""
        change = self._change
        target = self._store.embedder_change.next_embedder()
        if target is None:
            return None
        speed = 0.0 if change is None else change.progress().per_second
        return Progress(embedder=target.identity, done=target.done, total=target.total, per_second=speed)

    def _step(self) -> bool:
        if self._index_cache.follows_old_words():
            self.look_at_words_again()
        if not self._words_are_current and self._reencode():
            return True
        if self._change is None:
            self._change = self._change_to_make()
        if self._change is not None:
            if not self._change.step():
                self._change = None
                self._give_back()
            return True
        if self._encoder.active() is None:
            return False
        return sum(self._backfill(namespace) for namespace in self._index_cache.loaded()) > 0

    def _change_to_make(self) -> EmbedderChange | None:
        """Return the change of the embedder that this hub is to begin, or to go on with, if any."""
        target = self._encoder.pending_change()
        if target is None and self._leftovers_dropped:
            return None
        if monotonic() - self._others_looked_at < _OTHERS_CHECK_SECONDS:
            return None
        if self._store.other_hubs():
            self._others_looked_at = monotonic()
            return self._left_by_another()
        if target is not None:
            return self._begin_change(target) if self._take_lease() else None
        if self._encoder.active() is self._encoder.target:
            self._leftovers_dropped = True
            if self._store.embedder_change.next_embedder() is not None:
                self._store.embedder_change.cancel()
        return None

    def _left_by_another(self) -> EmbedderChange | None:
        """Return the change that a command began in a hub which is gone, if its model is here; whoever is at work has the lease."""
        begun = self._store.embedder_change.next_embedder()
        if begun is None or not self._take_lease():
            return None
        try:
            embedder = self._embedder_of(begun.identity)
            if (embedder.identity, embedder.dimensions) == (begun.identity, begun.dimensions):
                return self._begin_change(embedder)
        except (EmbedderUnavailable, InvalidInput):
            pass
        self._give_back()
        return None

    def _take_lease(self) -> bool:
        self._lease = self._store.lease(EMBEDDER_LEASE, LEASE_SECONDS)
        return self._lease is not None

    def _give_back(self) -> None:
        lease, self._lease = self._lease, None
        if lease is not None:
            lease.release()

    def _reencode(self) -> bool:
        """Encode a batch of words again, which an earlier version has encoded; at the end, read the indexes again."""
        looks = self._words_looks
        lease = self._store.lease(WORDS_LEASE, LEASE_SECONDS)
        if lease is None:
            self._words_changed += 1  # by another hub, but they are to be read here as well
            return False
        if done := reencode(self._store):
            self._words_changed += done
            if self._words_changed >= self._words_told:
                # Not only at the end: until the indexes have the new words, old questions and new ones miss these memories.
                self._index_cache.reload()
                self._words_told *= 2
            return True
        if self._words_changed:
            self._index_cache.reload()
            self._words_changed = 0
        self._words_are_current = looks == self._words_looks
        lease.release()
        return False

    def _begin_change(self, embedder: Embedder) -> EmbedderChange:
        return EmbedderChange(self._store, self._index_cache, self._encoder, self._lock, embedder)


class EmbedderChange:
    """One change to ``embedder``. `step` does a batch; one thread at a time."""

    def __init__(
        self,
        store: Store,
        index_cache: IndexCache,
        encoder: TextEncoder,
        lock: ReadWriteLock,
        embedder: Embedder,
        *,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._store = store
        self._change = store.embedder_change
        self._index_cache = index_cache
        self._encoder = encoder
        self._lock = lock
        self._embedder = embedder
        self._clock = clock
        self._page: list[Unembedded] = []
        self._last_place = -1
        self._passes = 0
        self._embedded = 0
        self._started: float | None = None
        self.finished = False

    def step(self) -> bool:
        """Do one batch, or the switch; returns whether there is more to do.

        Raises:
            EmbedderUnavailable: the model cannot be loaded or run.
            StoreError: the store cannot be read or written; what was done before is kept.
        """
        if self.finished:
            return False
        if self._started is None:
            self._begin()
        batch = self._next_batch()
        if batch:
            self._embed(batch)
        else:
            self._end_pass()
        return not self.finished

    def progress(self) -> Progress:
        """Return how far it has come."""
        target = self._change.next_embedder()
        if target is None:
            total = self._store.info().memories
            return Progress(embedder=self._embedder.identity, done=total, total=total, per_second=self._speed())
        return Progress(embedder=target.identity, done=target.done, total=target.total, per_second=self._speed())

    def _begin(self) -> None:
        # In this order: an embedder knows its whole identity only when it is loaded, and the dimensions load it.
        dimensions = self._embedder.dimensions
        identity = self._embedder.identity
        if self._store.info().embedder is None:
            self._store.pin_embedder(identity, dimensions)
        pinned = self._store.info()
        if (pinned.embedder, pinned.dimensions) == (identity, dimensions):
            self._change.cancel()
            with self._lock.exclusive():
                self._encoder.switch_to(self._embedder)
            self.finished = True
        else:
            self._change.begin(identity, dimensions)
        self._started = self._clock()

    def _next_batch(self) -> Sequence[Unembedded]:
        if self.finished:
            return ()
        if not self._page:
            found = self._change.unembedded(self._last_place, PAGE_MEMORIES)
            if found:
                self._last_place = found[-1].place
            self._page = sorted(found, key=lambda memory: memory.length, reverse=True)
        batch, self._page = self._page[-BATCH_MEMORIES:], self._page[:-BATCH_MEMORIES]
        return batch

    def _embed(self, batch: Sequence[Unembedded]) -> None:
        memories = self._change.texts_at([one.place for one in batch])
        if not memories:
            return
        rows = zip(memories, embedded(memories, self._finite_vectors) or (), strict=True)
        self._change.add_vectors([NewVector(memory.namespace, memory.id, *vector) for memory, vector in rows])
        self._embedded += len(memories)

    def _finite_vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        # A model may give not-a-number for a text; a zero row is like nothing, and the text is not asked for again.
        return np.nan_to_num(self._embedder.embed(texts), nan=0, posinf=0, neginf=0)

    def _end_pass(self) -> None:
        """Begin another pass while many memories came in during this one; else switch."""
        if self.finished:
            return
        self._passes += 1
        self._last_place = -1
        if len(self._change.unembedded(-1, SWITCH_MEMORIES + 1)) <= SWITCH_MEMORIES or self._passes >= _MAX_PASSES:
            self._switch()

    def _switch(self) -> None:
        """Let the new vectors take the place of the old ones, in the store and in every loaded index."""
        # 1. Outside of the lock: read the new vectors of each index, which takes long.
        dimensions = self._embedder.dimensions
        swaps: dict[str, VectorSwap] = {}
        for namespace, index in self._index_cache.loaded().items():
            all_vectors = partial(self._change.all_vectors, namespace)
            some_vectors = partial(self._change.vectors, namespace)
            some_passages = partial(self._change.passages, namespace)
            swaps[namespace] = VectorSwap(index, dimensions, all_vectors, some_vectors, some_passages)
            swaps[namespace].catch_up()
        with self._lock.exclusive():
            # 2. Nobody writes now: embed what came in meanwhile, so that the switch leaves nothing out.
            rest = self._change.unembedded(-1, max(SWITCH_MEMORIES, BATCH_MEMORIES))
            if rest:
                self._embed(rest)
            # 3. An index that was loaded again since step 1 has no swap; it is dropped below and loaded with the new vectors.
            current = [swap for name, swap in swaps.items() if self._index_cache.get(name) is swap.index]
            for swap in current:
                swap.catch_up()
            # 4. The store first, in one transaction; then what is in memory.
            self._change.finish()
            close_calls = [swap.finish() for swap in current]
            close_calls += [index.close for index in self._index_cache.keep_only([swap.index for swap in current])]
            self._encoder.switch_to(self._embedder)
        self.finished = True
        # 5. Closing may wait for a thread, so it is done when the lock is free again.
        for close in close_calls:
            close()

    def _speed(self) -> float:
        elapsed = self._clock() - self._started if self._started is not None else 0.0
        return self._embedded / elapsed if elapsed > 0 else 0.0


def reencode(store: Store, limit: int = _WORDS_AT_ONCE) -> int:
    """Encode the words of some memories again, of older ones first; returns of how many, fewer than ``limit`` only at the end.

    Raises:
        StoreError: the store cannot be read or written; what was done before is kept.
    """
    done = 0
    while done < limit:
        wanted = min(_WORDS_AT_ONCE, limit - done)
        batch = store.reencoding.outdated(ENCODING, wanted)
        encoded = [
            (one, encode_words(one.content, one.speaker, one.when, one.key, hasher=store.hasher)) for one in batch
        ]
        store.reencoding.replace(encoded)
        done += len(batch)
        if len(batch) < wanted:
            break
    return done


class LateVectors:
    """Gives the memories of one service their vectors, a batch at a time. Safe to call from several threads."""

    def __init__(self, commits: Commits, encoder: TextEncoder, lock: ReadWriteLock) -> None:
        self.lock = lock
        self._commits = commits
        self._encoder = encoder

    @shared
    def give(self, namespace: str, limit: int = VECTORS_AT_ONCE) -> int:
        """Give some memories of a namespace their vectors; returns how many got one: none where another hub is at it."""
        index = self._commits.indexes.get(namespace)
        ids = index.without_vector(self._commits.time.now(), limit)
        # Without a model somebody else is to have it.
        if not ids or self._encoder.active() is None:
            return 0
        lease = self._commits.store.lease(f"vectors of {namespace}", LEASE_SECONDS)
        if lease is None:
            return 0
        done = 0
        try:
            done = self._embed(namespace, index, ids)
        finally:
            if done < limit:  # nothing is left to do, or it did not work
                lease.release()
        return done

    def _embed(self, namespace: str, index: NamespaceIndex, ids: Sequence[MemoryId]) -> int:
        vectors = self._encoder.vectors_for(self._commits.store.get(namespace, ids).values())
        if not vectors:
            return 0

        def embed(view: WriteView) -> WriteBatch:
            # Another hub may have erased one meanwhile.
            there = view.get([one.id for one in vectors])
            return WriteBatch(action="embed", actor="late work", vectors=tuple(v for v in vectors if v.id in there))

        self._commits.commit(namespace, None, embed)
        return len(index.vectors_of([one.id for one in vectors]))
