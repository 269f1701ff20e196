"""Approximate search of very many vectors: an HNSW index alongside the matrix, which proposes rows that are then checked.

The index is never told of deletions or changes. Rows that it does not hold, because they are newer or have another vector
by now, are scanned; rows that are not to be found drop out; and when over a tenth of its entries are dead it is built again
alongside searches, which are exact meanwhile.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.errors import StoreError

if TYPE_CHECKING:
    from hybrid_memory.retrieval.vectors import Matrix
    from hybrid_memory.store.base import VectorIndex

Mask = NDArray[np.bool_]
VectorIndexFactory = Callable[[int], "VectorIndex | None"]

_BUILD_CHUNK = 10_240  # rows copied at a time while an index is built
_ADD_CHUNK = 256  # rows that go into a finished graph at a time; each takes more than a millisecond
_MAX_UNINDEXED = 4_096  # rows that are scanned alongside the index; more are added to it
_MAX_DEAD_SHARE = 0.1  # of the entries of an index; with more it is built again
_MIN_MASK_SHARE = 0.5  # a mask with fewer of the rows would leave too few of those that the index proposes
_MIN_FETCHED = (
    1024  # rows that the index is asked for at least: with half of them recall at ten is below .98 (decision 0020), and
)
_OVERFETCH = 4  # how many times as many as are wanted: some are not to be found any more
_CLOSE_TIMEOUT_SECONDS = 10.0  # a chunk that is being added ends long before

log = logging.getLogger(__name__)


class ApproximateSearch:
    """Proposes rows of a matrix of more than ``begins`` rows. ``lock`` guards the matrix; calls come with it held."""

    def __init__(self, matrix: Matrix, lock: threading.RLock, make: VectorIndexFactory, begins: int) -> None:
        self._matrix = matrix
        self._lock = lock
        self._make = make
        self._begins = begins
        self._index: VectorIndex | None = None
        self._building: VectorIndex | None = None
        self._indexed: Mask = np.zeros(0, np.bool_)
        self._entries = 0
        self._stale: set[int] = set()
        self._thread: threading.Thread | None = None
        self._off = False

    @property
    def ready(self) -> bool:
        """Whether there is an index to ask."""
        return self._index is not None

    def mark_changed(self, row: int) -> None:
        """Note that a row has another vector than it had, or none."""
        if row < len(self._indexed):
            self._indexed[row] = False
        if self._thread is not None:
            self._stale.add(row)

    def candidates(self, vector: NDArray[np.float32], count: int, mask: Mask) -> NDArray[np.intp] | None:
        """Return rows of the mask among which are most of the ``count`` nearest; None where only a scan is sure enough.

        That is without an index, for a mask that leaves out half of the rows, and where fewer than ``count`` remain.
        """
        if self._index is None or self._off or np.count_nonzero(mask) < _MIN_MASK_SHARE * len(mask):
            return None
        try:
            proposed = self._index.nearest(vector, max(_OVERFETCH * count, _MIN_FETCHED))
        except StoreError as error:
            self._give_up(error)
            return None
        allowed = mask & self._matrix.has
        rows = np.union1d(proposed[allowed[proposed]], self._unindexed(allowed))
        return rows if len(rows) >= count else None

    def maintain(self, live: Mask) -> None:
        """Begin in the background what is to be done: a first index, a new one, or adding rows that are not in it."""
        if self._off or self._thread is not None or len(live) <= self._begins or not self._matrix.dimensions:
            return
        wanted = live & self._matrix.has
        missing = self._unindexed(wanted)
        live_entries = int(np.count_nonzero(wanted)) - len(missing)
        if self._index is None or self._entries - live_entries > _MAX_DEAD_SHARE * self._entries:
            self._begin(self._build, np.flatnonzero(wanted))
        elif len(missing) > _MAX_UNINDEXED:
            self._begin(self._extend, missing)

    def wait(self) -> None:
        """Wait for what is running in the background; not with the lock held."""
        thread = self._thread
        if thread is not None:
            thread.join()

    def close(self) -> None:
        """Stop everything; no more is begun. Not with the lock held."""
        with self._lock:
            self._off = True
            thread, indexes = self._thread, [index for index in (self._index, self._building) if index is not None]
            self._index = None
        for index in indexes:
            index.close()
        if thread is not None and thread is not threading.current_thread():
            thread.join(_CLOSE_TIMEOUT_SECONDS)

    def _unindexed(self, rows: Mask) -> NDArray[np.intp]:
        missing = rows.copy()
        missing[: len(self._indexed)] &= ~self._indexed
        return np.flatnonzero(missing)

    def _begin(self, work: Callable[[NDArray[np.intp]], None], rows: NDArray[np.intp]) -> None:
        self._stale.clear()
        self._thread = threading.Thread(target=self._run, args=(work, rows), name="vector index", daemon=True)
        self._thread.start()

    def _run(self, work: Callable[[NDArray[np.intp]], None], rows: NDArray[np.intp]) -> None:
        try:
            work(rows)
        except StoreError as error:
            with self._lock:
                self._give_up(error)
        finally:
            with self._lock:
                self._thread = None

    def _give_up(self, error: StoreError) -> None:
        if not self._off:
            log.warning("the vector index failed (%s): search stays exact and slower", type(error).__name__)
        self._off = True
        self._index = None

    def _build(self, rows: NDArray[np.intp]) -> None:
        made = self._make(self._matrix.dimensions)
        if made is None:
            self._off = True
            return
        with self._lock:
            # Both at once would take their memory twice; searches are exact until the new one is there.
            old, self._index, self._building = self._index, None, made
        if old is not None:
            old.close()
        for chunk in _chunks(rows, _BUILD_CHUNK):
            self._add(made, chunk)
        _give_way()
        made.build()
        with self._lock:
            indexed = np.zeros(len(self._matrix.has), np.bool_)
            indexed[rows] = True
            indexed[list(self._stale)] = False
            self._indexed, self._entries = indexed, len(rows)
            self._index, self._building = made, None
        if self._closed():
            made.close()

    def _closed(self) -> bool:
        return self._off

    def _extend(self, rows: NDArray[np.intp]) -> None:
        index = self._index
        for chunk in _chunks(rows, _ADD_CHUNK):
            if index is None or self._off:
                return
            self._add(index, chunk)
            with self._lock:
                indexed = np.zeros(len(self._matrix.has), np.bool_)
                indexed[: len(self._indexed)] = self._indexed
                indexed[chunk] = True
                indexed[list(self._stale)] = False
                self._indexed = indexed
                self._entries += len(chunk)

    def _add(self, index: VectorIndex, rows: NDArray[np.intp]) -> None:
        with self._lock:
            vectors = self._matrix.gather(rows)
        if not self._off:
            index.add(rows, vectors)


def _chunks(rows: NDArray[np.intp], size: int) -> list[NDArray[np.intp]]:
    return [rows[at : at + size] for at in range(0, len(rows), size)]


def _give_way() -> None:
    """Let everything else go before this thread, where the system counts that for a thread (Linux).

    Only before the engine builds, which takes minutes without Python's lock: a thread that gives way must not hold it for long.
    """
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)
