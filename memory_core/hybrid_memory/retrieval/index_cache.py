"""`IndexCache`: the search index of each namespace, loaded at first use and kept up to date with the store's log.

Namespaces that are read together have a joint index alongside those, which is let go when it was not read for long.

`MemoryService` asks `get` in every call and hands each commit to `apply`; `background` uses the rest.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hybrid_memory.errors import LogTrimmed
from hybrid_memory.retrieval.index import HNSW_FROM, NamespaceIndex
from hybrid_memory.retrieval.joint_index import JointIndex, behind
from hybrid_memory.secret_detection.masking import masked_memory

if TYPE_CHECKING:
    from hybrid_memory.model import Memory, MemoryId
    from hybrid_memory.store.base import Store
    from hybrid_memory.store.writing import CommitResult, LogEntry, RecordUse

_PAGE_ENTRIES = 1000  # of the log, read at a time
# Each joint index costs as much memory as the indexes of its namespaces together, and loading it some 10 ms a thousand memories.
_MOST_JOINT = 16
# A change that is followed costs about twelve times as much as a row that is loaded; alongside other calls it stays below a second.
_FOLLOWED_ANYWAY = 1000
_FOLLOWED_AT_MOST = 5000
_COST_OF_FOLLOWING = 12
_JOINT_IDLE_SECONDS = 900.0


Followed = Callable[[str, "Sequence[LogEntry]", "Mapping[MemoryId, Memory]", int], None]
"""Is called with a namespace, a part of its log, the memories that it names, and the position up to which an index has followed."""


def _nobody(namespace: str, log: Sequence[LogEntry], memories: Mapping[MemoryId, Memory], head: int) -> None:
    del namespace, log, memories, head


class IndexCache:
    """One `NamespaceIndex` a namespace, loaded at first use.

    ``dimensions`` gives the length of a vector when an index is made; None means that there are no vectors. ``hnsw_from`` is
    the number of memories above which a namespace gets an approximate index of its vectors. ``shown`` is what a reader may see of a memory.
    ``followed`` hears what was read of a namespace's log, in the thread that read it; of an index that was loaded, nothing but where
    it stands. ``encoding`` is the version of this program's encoding of words.
    """

    def __init__(
        self,
        store: Store,
        dimensions: Callable[[], int | None],
        hnsw_from: int = HNSW_FROM,
        shown: Callable[[Memory], Memory] = masked_memory,
        followed: Followed = _nobody,
        encoding: int = 0,
    ) -> None:
        self._store = store
        self._followed = followed
        self._shown = shown
        self._encoding = encoding
        self._dimensions = dimensions
        self._hnsw_from = hnsw_from
        self._indexes: dict[str, NamespaceIndex] = {}
        self._joint: dict[tuple[str, ...], JointIndex] = {}  # the one that was read last comes last
        self._read_at: dict[tuple[str, ...], float] = {}
        self._lock = threading.RLock()

    def get(self, namespace: str) -> NamespaceIndex:
        """Return the index of a namespace, at least as new as the store was when this was called."""
        with self._lock:
            index = self._indexes.get(namespace)
            if index is None:
                index = self._load(namespace)
        if index.head < self._store.head(namespace):
            index = self.catch_up(namespace)
        return index

    def get_all(self, namespaces: tuple[str, ...]) -> NamespaceIndex:
        """Return the index of namespaces that are read together, at least as new as the store was when this was called."""
        if len(namespaces) == 1:
            return self.get(namespaces[0])
        with self._lock:
            index = self._joint.pop(namespaces, None)
            if index is None or index.outdated:
                index = self._loaded_joint(namespaces)
            self._joint[namespaces] = index
            self._read_at[namespaces] = time.monotonic()
            while len(self._joint) > _MOST_JOINT:
                self._let_go(next(iter(self._joint)))
            for namespace in behind(index, self._store.head):
                index = self._catch_up_joint(index, namespace)
            return index

    def at_hand(self, namespace: str) -> NamespaceIndex:
        """Return an index that holds a namespace, a joint one rather than loading one of its own: to look memories up by id."""
        with self._lock:
            if namespace not in self._indexes:
                joint = next((one for names, one in self._joint.items() if namespace in names), None)
                if joint is not None:
                    return joint
        return self.get(namespace)

    def record_uses(self, namespace: str, uses: Sequence[RecordUse]) -> None:
        """Add to the usage of memories wherever they are held."""
        for index in self._holding(namespace):
            index.record_uses(uses)

    def take_usage_since(self, since: datetime) -> None:
        """Take over what other hubs have counted of the memories that are held."""
        for namespace in self.marks():
            usage = self._store.used_by_others(namespace, since)
            for index in self._holding(namespace) if usage else ():
                index.take_usage(usage)

    def _holding(self, namespace: str) -> list[NamespaceIndex]:
        with self._lock:
            found = [one for name, one in self._indexes.items() if name == namespace]
            return found + [one for names, one in self._joint.items() if namespace in names]

    def let_unused_go(self) -> None:
        """Let the joint indexes go that were not read for a quarter of an hour."""
        if not self._joint:
            return
        with self._lock:
            before = time.monotonic() - _JOINT_IDLE_SECONDS
            for namespaces in [one for one, at in self._read_at.items() if at < before]:
                self._let_go(namespaces)

    def loaded(self) -> dict[str, NamespaceIndex]:
        """Return the indexes that are there, by namespace."""
        with self._lock:
            return dict(self._indexes)

    def marks(self) -> dict[str, int]:
        """Return up to where each namespace has been followed by all that holds it; waits for nothing."""
        found = {namespace: index.head for namespace, index in list(self._indexes.items())}
        for joint in list(self._joint.values()):
            for namespace, head in list(joint.heads.items()):
                found[namespace] = min(head, found.get(namespace, head))
        return found

    def follows_old_words(self) -> bool:
        """Return whether an index has followed a memory whose words are to be encoded again."""
        return any(one.has_old_words for one in (*self._indexes.copy().values(), *self._joint.copy().values()))

    def keep_only(self, indexes: Collection[NamespaceIndex]) -> list[NamespaceIndex]:
        """Let all other indexes go and return them, to be closed; one that is needed again is loaded again."""
        with self._lock:
            dropped = [name for name, index in self._indexes.items() if index not in indexes]
            joint = list(self._joint.values())
            self._joint.clear()
            self._read_at.clear()
            return [*(self._indexes.pop(name) for name in dropped), *joint]

    def apply(self, namespace: str, written: CommitResult) -> None:
        """Apply a write of this process, or catch up when another came between."""
        if not written.log:
            return
        with self._lock:
            index = self._indexes.get(namespace)
            if index is not None:
                if index.head == written.log[0].position - 1:
                    index.apply(written.log, written.memories, written.vectors, written.passages)
                elif index.head < written.position:
                    self.catch_up(namespace)
            for joint in [one for names, one in self._joint.items() if namespace in names] if self._joint else ():
                if joint.heads[namespace] == written.log[0].position - 1:
                    joint.follow(namespace, written.log, written.memories, written.vectors, written.passages)
                elif joint.heads[namespace] < written.position:
                    self._catch_up_joint(joint, namespace)

    def catch_up(self, namespace: str) -> NamespaceIndex:
        """Apply what the store's log holds behind the index; reload when that is less work, or the log does not reach back that far."""
        with self._lock:
            index = self._indexes[namespace]
            if _is_far_behind(self._store.head(namespace) - index.head, index.size()):
                return self._exchanged(namespace, index)
            try:
                while (news := self._store.news(namespace, index.head, _PAGE_ENTRIES)).log:
                    index.apply(news.log, news.memories, news.vectors, news.passages)
                    self._followed(namespace, news.log, news.memories, index.head)
                    if len(news.log) < _PAGE_ENTRIES:
                        break
            except LogTrimmed:
                return self._exchanged(namespace, index)
            return index

    def catch_up_all(self, namespace: str, *, hinted: int = 0) -> bool:
        """Bring everything that holds a namespace up to what the store knows; returns whether anything does.

        For what is behind the position ``hinted`` the log is read, whether the store knows of so many changes or not.
        """
        with self._lock:
            is_loaded = namespace in self._indexes
            joint = [one for names, one in self._joint.items() if namespace in names]

            def is_behind(head: int) -> bool:
                return head < hinted or head < self._store.head(namespace)

            if is_loaded and is_behind(self._indexes[namespace].head):
                self.catch_up(namespace)
            for index in joint:
                if is_behind(index.heads[namespace]):
                    self._catch_up_joint(index, namespace)
            return is_loaded or bool(joint)

    def load_again(self, namespace: str, index: NamespaceIndex) -> None:
        """Bring an index up to date from the store's rows, whatever the log still tells; it goes on as it is meanwhile."""
        index.load(self._store.snapshot(namespace))
        self._followed(namespace, (), {}, index.head)

    def _exchanged(self, namespace: str, old: NamespaceIndex) -> NamespaceIndex:
        """Return an index loaded again in place of an old one."""
        fresh = self._load(namespace)
        old.close()
        return fresh

    def reload(self) -> None:
        """Read each index again from the store; calls go on with the old one meanwhile, and get one or the other."""
        for namespace, old in self.loaded().items():
            fresh = self._loaded_index(namespace)
            with self._lock:
                if self._indexes.get(namespace) is not old:
                    fresh.close()
                    continue
                self._indexes[namespace] = fresh
                self.catch_up(namespace)
            old.close()
        with self._lock:
            for namespaces in list(self._joint):
                self._let_go(namespaces)

    def loaded_anew(self) -> dict[str, NamespaceIndex]:
        """Return an index loaded again for each that is there; calls go on with the old ones."""
        return {namespace: self._loaded_index(namespace) for namespace in self.loaded()}

    def exchange(self, fresh: Mapping[str, NamespaceIndex]) -> list[NamespaceIndex]:
        """Let all indexes go, take these instead, and return those to be closed."""
        with self._lock:
            closing = self.keep_only(())
            self._indexes.update(fresh)
            return closing

    def let_all_go(self) -> list[str]:
        """Let all indexes go; returns the namespaces that were loaded."""
        with self._lock:
            namespaces = list(dict.fromkeys([*self._indexes, *(one for names in self._joint for one in names)]))
            closing = self.keep_only(())
        for index in closing:
            index.close()
        return namespaces

    def close(self) -> None:
        """Stop what runs in the background."""
        with self._lock:
            indexes = [*self._indexes.values(), *self._joint.values()]
        for index in indexes:
            index.close()

    def _load(self, namespace: str) -> NamespaceIndex:
        index = self._indexes[namespace] = self._loaded_index(namespace)
        self._followed(namespace, (), {}, index.head)
        return index

    def _catch_up_joint(self, index: JointIndex, namespace: str) -> JointIndex:
        """Apply what the log of one namespace holds behind a joint index; return the one loaded instead if the log is too short."""
        try:
            if _is_far_behind(self._store.head(namespace) - index.heads[namespace], index.size()):
                return self._loaded_anew(index)
            while (news := self._store.news(namespace, index.heads[namespace], _PAGE_ENTRIES)).log:
                index.follow(namespace, news.log, news.memories, news.vectors, news.passages)
                self._followed(namespace, news.log, news.memories, index.heads[namespace])
                if len(news.log) < _PAGE_ENTRIES:
                    break
        except LogTrimmed:
            return self._loaded_anew(index)
        return index

    def _loaded_anew(self, index: JointIndex) -> JointIndex:
        self._let_go(index.namespaces)
        fresh = self._joint[index.namespaces] = self._loaded_joint(index.namespaces)
        self._read_at[index.namespaces] = time.monotonic()
        for namespace, head in fresh.heads.items():
            self._followed(namespace, (), {}, head)
        return fresh

    def _let_go(self, namespaces: tuple[str, ...]) -> None:
        self._read_at.pop(namespaces, None)
        index = self._joint.pop(namespaces, None)
        if index is not None:
            index.close()

    def _loaded_index(self, namespace: str) -> NamespaceIndex:
        index = NamespaceIndex(self._store.hasher, self._dimensions(), **self._options())
        index.load(self._store.snapshot(namespace))
        threading.Thread(target=index.sort, name="sort terms", daemon=True).start()
        return index

    def _loaded_joint(self, namespaces: tuple[str, ...]) -> JointIndex:
        index = JointIndex(self._store.hasher, self._dimensions(), **self._options())
        index.load_all(self._store, namespaces)
        threading.Thread(target=index.sort, name="sort terms", daemon=True).start()
        return index

    def _options(self) -> dict[str, Any]:
        return {
            "make": self._store.vector_index,
            "hnsw_from": self._hnsw_from,
            "shown": self._shown,
            "encoding": self._encoding,
        }


def _is_far_behind(changes: int, size: int) -> bool:
    """Return whether an index of some memories is loaded again sooner than it follows so many changes, as after an import."""
    if changes <= _FOLLOWED_ANYWAY:
        return False
    return changes > _FOLLOWED_AT_MOST or changes * _COST_OF_FOLLOWING > size + changes
