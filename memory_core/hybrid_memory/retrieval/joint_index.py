"""`JointIndex`: the search index of several namespaces that are read together, as if their memories lay in one.

A project's memories and those of the person at work in it are ranked by one set of statistics, so a page is the same as that of one
namespace with all of them. `IndexCache` loads it when it is first asked for and lets it go when nobody reads it; the namespaces
themselves, to which writes go, have indexes of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from hybrid_memory.retrieval.arrays import GrowableArray
from hybrid_memory.retrieval.index import NamespaceIndex
from hybrid_memory.store.joined_snapshot import joined
from hybrid_memory.store.writing import ChangeType

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hybrid_memory.model import Memory, MemoryId
    from hybrid_memory.store.base import Store
    from hybrid_memory.store.writing import LogEntry


class JointIndex(NamespaceIndex):
    """One index of several ``namespaces``. Where two have a memory of one id, that of the first is here.

    It is ``outdated`` when such a one was purged: the other is not here, and only loading again brings it.
    """

    namespaces: tuple[str, ...]
    heads: dict[str, int]
    outdated = False
    _of_first: GrowableArray[np.bool_]  # whether a row is of the first namespace
    _has_doubles = False

    def load_all(self, store: Store, namespaces: tuple[str, ...]) -> None:
        """Load all memories of some namespaces."""
        snapshots = [store.snapshot(namespace) for namespace in namespaces]
        whole = joined(snapshots)
        (ids,) = whole.ids
        self.load(whole)
        self.namespaces = namespaces
        self.heads = {namespace: one.head for namespace, one in zip(namespaces, snapshots, strict=True)}
        self._of_first = GrowableArray(np.bool_)
        self._of_first.extend(np.isin(ids, np.concatenate([*snapshots[0].ids, ids[:0]])))
        self._has_doubles = sum(len(part) for one in snapshots for part in one.ids) > len(ids)

    def follow(
        self,
        namespace: str,
        log: Sequence[LogEntry],
        memories: Mapping[MemoryId, Memory],
        vectors: Mapping[MemoryId, NDArray[np.float32]],
        passages: Mapping[MemoryId, bytes],
    ) -> None:
        """Follow the log of one of the namespaces, as `NamespaceIndex.apply` does."""
        with self._lock:
            fresh = [entry for entry in log if entry.position > self.heads[namespace]]
            is_first = namespace == self.namespaces[0]
            shown = [entry for entry in fresh if self._may_change(entry, is_first=is_first)]
            self._follow(shown, memories, vectors, passages)
            self._of_first.fill(len(self._columns) - len(self._of_first), is_first)
            if fresh:
                self.heads[namespace] = fresh[-1].position

    def _may_change(self, entry: LogEntry, *, is_first: bool) -> bool:
        """Return True unless the memory here under the entry's id is that of another namespace, which goes before."""
        row = self._columns.row_of(entry.id)
        if row is None or row >= len(self._of_first) or bool(self._of_first.values[row]) == is_first:
            self.outdated |= is_first and self._has_doubles and entry.change is ChangeType.PURGE
            return True
        self._has_doubles = True
        if not is_first or entry.change is ChangeType.PURGE:
            return False
        self._of_first.values[row] = True
        return True


def behind(index: JointIndex, head: Callable[[str], int]) -> list[str]:
    """Return the namespaces of which the store has changes that are not in an index."""
    return [namespace for namespace, seen in index.heads.items() if seen < head(namespace)]
