"""`OfflineReads`: a store whose reads go on for a while by what is in memory when the database cannot be reached (`offline_reads_seconds`).

Search structures are in memory anyway, but hold no contents. So with that setting the contents of each namespace whose structures are
loaded are kept alongside them, and follow them: whatever they read, is kept as it was read. Writes are never answered from here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from hybrid_memory.errors import EngineUnavailable, StoreError
from hybrid_memory.store.writing import PLAIN_CODEC

if TYPE_CHECKING:
    from hybrid_memory.model import Memory, MemoryId, Usage
    from hybrid_memory.store.base import Store
    from hybrid_memory.store.other_hubs import Follower
    from hybrid_memory.store.snapshots import Snapshot
    from hybrid_memory.store.writing import CommitResult, Decision, LogEntry, Prefetch, RequestKey, ResultCodec

_Value = TypeVar("_Value")

AWAY_SECONDS = 2.0
"""A database that has said nothing for so long is not waited for by reads; hubs hear of it several times a second."""
_CHUNK = 500  # memories that are read at once


class OfflineReads:
    """Stands before a store that can be away; all that is not said here goes to it unchanged.

    Reads are answered from memory for ``seconds`` after the store has last said where its logs end (`Store.behind_seconds`).
    """

    def __init__(self, store: Store, seconds: float) -> None:
        self._store = store
        self._seconds = seconds
        self._contents: dict[str, dict[MemoryId, Memory]] = {}
        self._heads: dict[str, int] = {}
        self._answers: dict[tuple[Any, ...], Any] = {}
        self._lock = threading.Lock()
        self._due: dict[str, set[MemoryId]] = {}
        """Namespaces whose contents are still being read, and what was erased of them meanwhile."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def offline_seconds(self) -> float | None:
        """Return how old that is by which reads are answered now; None while the database answers them."""
        behind = self._store.behind_seconds()
        return behind if AWAY_SECONDS < behind <= self._seconds else None

    def head(self, namespace: str) -> int:
        """Return the position of the last change that is known."""

        def ask() -> int:
            self._heads[namespace] = head = self._store.head(namespace)
            return head

        return self._read(ask, lambda: self._heads.get(namespace))

    def changes(self, namespace: str, after: int, limit: int = 1000) -> Sequence[LogEntry]:
        """Return log entries behind ``after``; none are known while the database is away."""
        return self._read(lambda: self._store.changes(namespace, after, limit), tuple)

    def get(self, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, Memory]:
        """Return the memories that exist; while the database is away, as they were last read."""
        wanted = list(ids)

        def ask() -> dict[MemoryId, Memory]:
            found = self._store.get(namespace, wanted)
            self._keep(namespace, wanted, found)
            return found

        return self._read(ask, lambda: self._kept(namespace, wanted))

    def usage(self, namespace: str, ids: Iterable[MemoryId]) -> dict[MemoryId, Usage]:
        """Return how the memories were used; nothing is known of it while the database is away."""
        wanted = list(ids)
        return self._read(lambda: self._store.usage(namespace, wanted), dict)

    def snapshot(self, namespace: str) -> Snapshot:
        """Return head and rows of one moment, and read the contents too, behind."""
        found = self._store.snapshot(namespace)
        self._heads[namespace] = found.head
        ids = [bytes(one).rstrip(b"\0").decode() for part in found.ids for one in part.tolist()]
        into: dict[MemoryId, Memory] = {}
        with self._lock:
            self._contents[namespace] = into
            self._due[namespace] = set()
        threading.Thread(
            target=self._load, args=(namespace, ids, into), name="hybrid-memory-contents", daemon=True
        ).start()
        return found

    def write(
        self,
        namespace: str,
        key: RequestKey | None,
        decide: Decision,
        codec: ResultCodec = PLAIN_CODEC,
        *,
        alone: bool = False,
        prefetch: Prefetch | None = None,
    ) -> CommitResult:
        """Write to the store itself, and keep what it has made of the memories."""
        written = self._store.write(namespace, key, decide, codec, alone=alone, prefetch=prefetch)
        self._keep(namespace, [entry.id for entry in written.log], written.memories)
        return written

    def follow(self, follower: Follower) -> Callable[[], None]:
        """Follow the store; what was kept is let go when what was read of it may be true no more."""
        return self._store.follow(_Forgetting(follower, self._forget))

    def info(self) -> Any:
        """Return what the store is and holds, as it last was."""
        return self._last("info", self._store.info)

    def embedder(self) -> tuple[str, int] | None:
        """Return the pinned embedder, as it last was."""
        return self._last("embedder", self._store.embedder)

    def namespaces(self) -> Sequence[str]:
        """Return the names of all namespaces, as they last were."""
        return self._last("namespaces", self._store.namespaces)

    def last_write(self) -> Any:
        """Return the time of the last change that is known."""
        return self._last("last_write", self._store.last_write)

    def _last(self, what: Any, ask: Callable[[], _Value]) -> _Value:
        key = (what,)

        def ask_and_keep() -> _Value:
            self._answers[key] = found = ask()
            return found

        def kept() -> _Value:
            if key not in self._answers:
                raise LookupError
            value: _Value = self._answers[key]
            return value

        return self._read(ask_and_keep, kept)

    def _read(self, ask: Callable[[], _Value], kept: Callable[[], _Value | None]) -> _Value:
        """Return what the store answers, or what is kept where it is away; asks it all the same where nothing is kept."""
        if self.offline_seconds() is not None and (found := self._from_memory(kept)) is not None:
            return found[0]
        try:
            return ask()
        except EngineUnavailable:
            if self._store.behind_seconds() <= self._seconds and (found := self._from_memory(kept)) is not None:
                return found[0]
            raise

    @staticmethod
    def _from_memory(kept: Callable[[], _Value | None]) -> tuple[_Value] | None:
        try:
            found = kept()
        except LookupError:
            return None
        return None if found is None else (found,)

    def _keep(self, namespace: str, asked: Sequence[MemoryId], found: Mapping[MemoryId, Memory]) -> None:
        with self._lock:
            held = self._contents.get(namespace)
            if held is None:
                return
            for one in asked:
                if one in found:
                    if one not in held or held[one].rev <= found[one].rev:  # a read may be told of after a later write
                        held[one] = found[one]
                else:
                    held.pop(one, None)
                    self._due.get(namespace, set()).add(one)

    def _kept(self, namespace: str, ids: Sequence[MemoryId]) -> dict[MemoryId, Memory] | None:
        """Return memories as they are kept; None where the contents of the namespace are not, or not yet all."""
        with self._lock:
            held = self._contents.get(namespace)
            if held is None or (namespace in self._due and any(one not in held for one in ids)):
                return None
            return {one: held[one] for one in ids if one in held}

    def _load(self, namespace: str, ids: Sequence[str], into: dict[MemoryId, Memory]) -> None:
        """Read the contents of memories that nobody has read meanwhile, as long as ``into`` is what is kept of the namespace."""
        try:
            for begin in range(0, len(ids), _CHUNK):
                wanted = [one for one in ids[begin : begin + _CHUNK] if one not in into]
                found = self._store.get(namespace, wanted)  # type: ignore[arg-type] # ids of the store's own
                with self._lock:
                    if self._contents.get(namespace) is not into:
                        return  # loaded again, or let go
                    for one in found.keys() - self._due[namespace]:
                        into.setdefault(one, found[one])
        except StoreError:
            return  # away before all was read: what was read serves
        with self._lock:
            if self._contents.get(namespace) is into:
                del self._due[namespace]

    def _forget(self) -> None:
        with self._lock:
            self._contents.clear()
            self._due.clear()
            self._answers.clear()
            self._heads.clear()


class _Forgetting:
    """A follower before whom what is kept is let go."""

    def __init__(self, follower: Follower, forget: Callable[[], None]) -> None:
        self._follower = follower
        self._forget = forget

    def __getattr__(self, name: str) -> Any:
        return getattr(self._follower, name)

    def on_change(self, namespace: str, head: int) -> None:
        """Pass it on."""
        self._follower.on_change(namespace, head)

    def on_hint(self, namespace: str, position: int) -> None:
        """Pass it on."""
        self._follower.on_hint(namespace, position)

    def on_exchange(self) -> None:
        """Let go what is kept, and pass it on."""
        self._forget()
        self._follower.on_exchange()

    def on_embedder(self) -> None:
        """Pass it on."""
        self._follower.on_embedder()

    def marks(self) -> Mapping[str, int]:
        """Return what the follower says."""
        return self._follower.marks()
